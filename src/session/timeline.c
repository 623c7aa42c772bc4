/* SPDX-License-Identifier: MIT
 *
 * timeline.c - source ticks to the recording's line. Pure arithmetic.
 */
#include "session/timeline.h"

#include "base/size.h"

#define BACK_NS \
    INT64_C(500000000) /* decode time this far back means that the source's clock restarted */

void timeline_init(struct timeline *t, int64_t offset_ns)
{
    *t = (struct timeline){.offset_ns = offset_ns, .end_ns = INT64_MIN};
}

void timeline_stream_init(struct timeline_stream *s, const struct timeline *t,
                          struct swt_ratio base, int64_t step_ns)
{
    *s = (struct timeline_stream){.base = base,
                                  .epoch = t->epoch,
                                  .offset_ns = t->offset_ns,
                                  .last_raw_ns = INT64_MIN,
                                  .step_ns = step_ns};
}

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? INT64_MIN / 4 : INT64_MAX / 4;
    return sum;
}

/* Join a stream whose clock went back: to the offset another stream of the input has found already, else so that
 * this packet follows the latest end. */
static void rejoin(struct timeline *t, struct timeline_stream *s, int64_t raw_ns)
{
    if (s->epoch == t->epoch) {
        t->epoch++;
        t->offset_ns = t->end_ns == INT64_MIN ? s->offset_ns : add(t->end_ns, -raw_ns);
    }
    s->epoch = t->epoch;
    s->offset_ns = t->offset_ns;
}

int64_t timeline_place(struct timeline *t, struct timeline_stream *s, int64_t pts, int64_t dts,
                       bool *ret_jumped)
{
    int64_t order = dts != INT64_MIN ? dts : pts, shown = pts != INT64_MIN ? pts : dts;
    int64_t raw_ns = order != INT64_MIN            ? size_ticks_ns(order, s->base)
                     : s->last_raw_ns != INT64_MIN ? add(s->last_raw_ns, s->step_ns)
                                                   : -s->offset_ns;
    *ret_jumped = s->last_raw_ns != INT64_MIN && raw_ns < add(s->last_raw_ns, -BACK_NS);
    if (*ret_jumped)
        rejoin(t, s, raw_ns);
    s->last_raw_ns = raw_ns;
    return add(shown != INT64_MIN ? size_ticks_ns(shown, s->base) : raw_ns, s->offset_ns);
}

void timeline_reached(struct timeline *t, int64_t end_ns)
{
    t->end_ns = end_ns > t->end_ns ? end_ns : t->end_ns;
}
