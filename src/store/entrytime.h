/* SPDX-License-Identifier: MIT
 *
 * entrytime.h - times of the frames inside one index entry. Pure; shared by recovery, reader and
 * writer.
 */
#ifndef STORE_ENTRYTIME_H
#define STORE_ENTRYTIME_H

#include "base/size.h"
#include "format/check.h"

/* What of the params block times need. */
struct entry_clock {
    struct swt_ratio base; /* seconds a tick of entry.duration; num 0: unknown */
    struct swt_ratio rate; /* frames a second; num 0: none */
};

static inline struct entry_clock entry_clock_of(const struct params *p)
{
    struct swt_ratio none = {0, 1};
    return (struct entry_clock){
        p->time_base.num > 0 && p->time_base.den > 0 && p->time_base.num < INT64_C(1000000000)
            ? p->time_base
            : none,
        p->rate.num > 0 && p->rate.den > 0 && p->rate.den < INT64_C(1000000000) ? p->rate : none,
    };
}

/* Sum that stops at the ends of the line: times come from disk. */
static inline int64_t entry_ns_add(int64_t a, int64_t b)
{
    int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? INT64_MAX : INT64_MIN + 1;
    return sum;
}

/* Duration of all frames of an entry; 0 if nothing says. `n` frames. */
static inline int64_t entry_duration_ns(const struct entry *e, uint64_t n,
                                        const struct entry_clock *c)
{
    if (e->duration > 0 && c->base.num > 0)
        return size_ticks_ns((int64_t)e->duration, c->base);
    return size_frames_ns((int64_t)n, c->rate);
}

/* Time of frame k of a tensor entry, 0 <= k < len. */
static inline int64_t entry_frame_ns(const struct entry *e, uint64_t k, const struct entry_clock *c)
{
    if (k == 0)
        return e->time_ns;
    if (c->rate.num > 0)
        return entry_ns_add(e->time_ns, size_frames_ns((int64_t)k, c->rate));
    return entry_ns_add(e->time_ns,
                        size_scale(entry_duration_ns(e, e->len, c), (int64_t)k, (int64_t)e->len));
}

#endif
