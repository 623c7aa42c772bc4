/* SPDX-License-Identifier: MIT
 *
 * reorder.h - when a picture of a packet stream becomes visible: as soon as none that is shown before it
 * can still arrive. Pure.
 */
#ifndef STORE_REORDER_H
#define STORE_REORDER_H

#include "store/store.h"

struct reorder {
    int n;                              /* pictures that wait */
    int64_t waiting[STORE_REORDER + 1]; /* their times, latest first */
    int64_t shown_ns;                   /* of the last visible picture; INT64_MIN: none */
};

void reorder_init(struct reorder *r, int64_t shown_ns);
/* A picture at `time_ns`, after every visible one, has arrived. */
void reorder_put(struct reorder *r, int64_t time_ns);
/* Decoding has come to `dts_ns`: pictures up to there can have no predecessor any more. `slack_ns`: how far
 * rounding may set times of the same tick apart. Returns how many became visible. */
uint64_t reorder_take(struct reorder *r, int64_t dts_ns, int64_t slack_ns);
/* All of them: the session or the run ends. */
uint64_t reorder_take_all(struct reorder *r);

#endif
