/* SPDX-License-Identifier: MIT
 *
 * soundline.c - times of decoded sound. Pure arithmetic.
 */
#include "base/soundline.h"

#include "base/size.h"

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? INT64_MIN / 4 : INT64_MAX / 4;
    return sum;
}

static int64_t line_ns(const struct soundline *s)
{
    return add(s->anchor_ns, size_scale(s->n, INT64_C(1000000000), s->rate_hz));
}

int64_t soundline_next(struct soundline *s, int64_t want_ns, bool *ret_gap)
{
    int64_t next = s->is_started ? line_ns(s) : want_ns == INT64_MIN ? s->anchor_ns : want_ns;
    *ret_gap = s->is_started && want_ns != INT64_MIN && want_ns > add(next, SOUNDLINE_DRIFT_NS);
    if (!s->is_started || *ret_gap) {
        s->anchor_ns = *ret_gap ? want_ns : next;
        s->n = 0;
        s->is_started = true;
    }
    return line_ns(s);
}

void soundline_add(struct soundline *s, int64_t n)
{
    s->n += n;
}
