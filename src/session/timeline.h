/* SPDX-License-Identifier: MIT
 *
 * timeline.h - source ticks to the recording's line: one offset per input, shared by its streams, so that sound
 * and picture stay in step when the source's clock restarts. Pure arithmetic; the caller brings the clock.
 */
#ifndef SESSION_TIMELINE_H
#define SESSION_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "swt.h"

/* Of one input. One thread. */
struct timeline {
    int64_t offset_ns; /* recording time = source time + offset */
    unsigned epoch;    /* rises when the source's clock restarts */
    int64_t end_ns;    /* latest end of any of its streams on the line; INT64_MIN none yet */
};

/* Of one stream of that input. */
struct timeline_stream {
    struct swt_ratio base; /* seconds a tick */
    unsigned epoch;
    int64_t offset_ns;
    int64_t last_raw_ns; /* newest decode time seen, on the source's clock; INT64_MIN none yet */
    int64_t step_ns;     /* used where the source gives no time at all */
};

void timeline_init(struct timeline *t, int64_t offset_ns);
void timeline_stream_init(struct timeline_stream *s, const struct timeline *t,
                          struct swt_ratio base, int64_t step_ns);

/* Recording time of a packet or frame. `pts`, `dts` in ticks or INT64_MIN. `ret_jumped`: the source's clock went
 * back, and this packet was joined to the end of what came before. */
int64_t timeline_place(struct timeline *t, struct timeline_stream *s, int64_t pts, int64_t dts,
                       bool *ret_jumped);

/* A frame that ends at `end_ns` has been placed. */
void timeline_reached(struct timeline *t, int64_t end_ns);

#endif
