/* SPDX-License-Identifier: MIT
 *
 * exhaust.h - all cuts of small sessions instead of some cuts of large ones.
 */
#ifndef CRASH_EXHAUST_H
#define CRASH_EXHAUST_H

#include <stdbool.h>
#include <stdint.h>

struct exhaust_figures {
    uint64_t workloads, points, sampled; /* sampled: points with more mixes than were tried */
    uint64_t cuts, images, sessions;     /* images: different ones; sessions: behind them */
    uint64_t failed;
};
/* `most`: mixes that are tried of one point. `is_long`: also of sessions that go on behind another one. */
void exhaust_run(uint64_t most, bool is_long, struct exhaust_figures *ret);

#endif
