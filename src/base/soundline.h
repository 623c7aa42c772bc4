/* SPDX-License-Identifier: MIT
 *
 * soundline.h - times of decoded sound: continuous by sample count, begun anew only where the time stamps have run away.
 * Used where sound is recorded and where it is decoded again, so that both give the same times. Pure arithmetic.
 */
#ifndef BASE_SOUNDLINE_H
#define BASE_SOUNDLINE_H

#include <stdbool.h>
#include <stdint.h>

/* Continuity is decided by accumulated drift, not by each rounded time stamp. */
#define SOUNDLINE_DRIFT_NS INT64_C(20000000)

struct soundline {
    int64_t anchor_ns; /* time of sample 0 of this stretch */
    int64_t n;         /* samples placed since */
    int64_t rate_hz;
    bool is_started;
};

/* Time of the next block's first sample, whose time stamp says `want_ns` (INT64_MIN: none). `ret_gap`: time is
 * missing before it. A time stamp that lies before what is already there is not followed. */
int64_t soundline_next(struct soundline *s, int64_t want_ns, bool *ret_gap);
/* `n` samples have been placed. */
void soundline_add(struct soundline *s, int64_t n);

#endif
