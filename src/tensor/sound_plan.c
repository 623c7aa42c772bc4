/* SPDX-License-Identifier: MIT
 *
 * sound_plan.c - which samples of encoded sound: decodes the stretch that a selection names and plans the window over
 * it.
 */
#include "tensor/sound_plan.h"

#include <errno.h>
#include <inttypes.h>

#include "base/size.h"

#define END_MARGIN_NS INT64_C(1000000000) /* packets' times and samples' times differ by less */

/* A stretch of time, open where the selection says start or end. */
struct stretch {
    int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: open */
    int64_t n;              /* samples wanted, 0 = by the times */
    bool is_last;           /* the newest n */
    int64_t skip;           /* by number: so many samples of the stream come before; -1 = by time */
};

static int not_by_time(struct swt_diag *reterr)
{
    return err_set(reterr, SWT_E_USAGE,
                   "encoded sound is chosen with --last, or --from and --to: both times, or both "
                   "sample numbers");
}

static int edge_ns(struct swt_pos pos, int64_t end_ns, int64_t *ret_ns, struct swt_diag *reterr)
{
    if (pos.kind == SWT_POS_START)
        *ret_ns = INT64_MIN;
    else if (pos.kind == SWT_POS_END)
        *ret_ns = INT64_MAX;
    else if (pos.kind == SWT_POS_TIME)
        *ret_ns = pos.value;
    else if (pos.kind != SWT_POS_TIME_BACK || __builtin_sub_overflow(end_ns, pos.value, ret_ns))
        return not_by_time(reterr);
    return 0;
}

static int64_t ns_of(int64_t samples, const struct params *p)
{
    return size_scale(samples, p->rate.den * INT64_C(1000000000), p->rate.num);
}

static int range(const struct swt_window_spec *spec, const struct params *p,
                 const struct store_times *t, struct stretch *s, struct swt_diag *reterr)
{
    int rc = edge_ns(spec->from, t->end_ns, &s->from_ns, reterr);
    if (rc < 0)
        return rc;
    if (spec->length.kind == SWT_LENGTH_NONE) {
        rc = edge_ns(spec->to, t->end_ns, &s->to_ns, reterr);
    } else {
        int64_t from = s->from_ns == INT64_MIN ? t->first_ns : s->from_ns;
        int64_t length = spec->length.kind == SWT_LENGTH_TIME ? spec->length.value
                                                              : ns_of(spec->length.value, p);
        s->n = spec->length.kind == SWT_LENGTH_FRAMES ? spec->length.value : 0;
        if (__builtin_add_overflow(from, length, &s->to_ns))
            return err_set(reterr, SWT_E_NO_WINDOW, "the sound is not that long");
    }
    if (rc >= 0 && s->to_ns <= s->from_ns)
        return err_set(reterr, SWT_E_USAGE, "the range ends before it begins");
    return rc;
}

/* Samples by number are counted from the first of the stream, so that decoding begins there. */
static int numbered(const struct swt_window_spec *spec, const struct params *p,
                    const struct store_times *t, struct stretch *s, struct swt_diag *reterr)
{
    int64_t a = spec->from.kind == SWT_POS_FRAME ? spec->from.value : 0, b = 0;
    bool is_number = spec->from.kind == SWT_POS_FRAME || spec->from.kind == SWT_POS_START;
    if (spec->length.kind == SWT_LENGTH_FRAMES)
        is_number = is_number && !__builtin_add_overflow(a, spec->length.value, &b);
    else if (spec->to.kind == SWT_POS_FRAME)
        b = spec->to.value;
    else
        is_number = is_number && spec->to.kind == SWT_POS_END;
    if (!is_number)
        return not_by_time(reterr);
    if (b != 0 && b <= a)
        return err_set(reterr, SWT_E_USAGE, "the range ends before it begins");
    s->skip = a;
    s->n = b != 0 ? b - a : 0;
    int64_t end_ns;
    if (b != 0 && !__builtin_add_overflow(t->first_ns + END_MARGIN_NS, ns_of(b, p), &end_ns))
        s->to_ns = end_ns;
    return 0;
}

static bool has_number(const struct swt_window_spec *spec)
{
    return spec->from.kind == SWT_POS_FRAME || spec->to.kind == SWT_POS_FRAME;
}

static int choose(const struct swt_window_spec *spec, const struct params *p,
                  const struct store_times *t, struct stretch *s, struct swt_diag *reterr)
{
    if (p->rate.num <= 0 || spec->stride > 1)
        return not_by_time(reterr);
    if (spec->select == SWT_SELECT_RANGE && has_number(spec))
        return numbered(spec, p, t, s, reterr);
    if (spec->select == SWT_SELECT_RANGE)
        return range(spec, p, t, s, reterr);
    if (spec->select != SWT_SELECT_LAST)
        return not_by_time(reterr);
    bool is_time = spec->length.kind == SWT_LENGTH_TIME;
    int64_t length = is_time ? spec->length.value : ns_of(spec->length.value, p);
    s->n = is_time ? size_scale(length, p->rate.num, p->rate.den * INT64_C(1000000000))
                   : spec->length.value;
    s->is_last = true;
    if (__builtin_sub_overflow(t->end_ns - END_MARGIN_NS, length, &s->from_ns) ||
        s->from_ns < t->first_ns)
        s->from_ns = INT64_MIN;
    return 0;
}

/* Samples 0 .. n - 1 of the sound fill places at .. of a window of `want`. */
static int lay_out(const struct sound *s, const struct swt_window_spec *spec, int64_t want,
                   int64_t skip, int64_t at, struct plan *plan, struct swt_diag *reterr)
{
    int64_t n = s->n - skip < want - at ? s->n - skip : want - at;
    int64_t after = want - at - n;
    bool pad = spec->edge == SWT_EDGE_ZERO || spec->edge == SWT_EDGE_REPEAT;
    if ((at > 0 || after > 0) && spec->edge == SWT_EDGE_ERROR)
        return err_set(reterr, SWT_E_NO_WINDOW,
                       "%" PRId64 " of %" PRId64
                       " samples are there (--edge trim gives what there is)",
                       n, want);
    enum plan_kind kind = spec->edge == SWT_EDGE_REPEAT ? PLAN_REPEAT : PLAN_ZERO;
    int rc = pad ? plan_add(plan, kind, kind == PLAN_REPEAT ? skip : 0, at) : 0;
    if (rc >= 0)
        rc = plan_add(plan, PLAN_FRAMES, skip, n);
    if (rc >= 0 && pad)
        rc = plan_add(plan, kind, kind == PLAN_REPEAT ? s->n - 1 : 0, after);
    return rc < 0 ? err_set(reterr, rc, "out of memory") : 0;
}

static int plan_over(const struct sound *s, const struct swt_window_spec *spec,
                     const struct stretch *w, struct plan *plan, struct swt_diag *reterr)
{
    const int64_t second = INT64_C(1000000000);
    *plan = (struct plan){.pieces = plan->pieces, .cap = plan->cap, .stride = 1};
    if (w->is_last)
        return s->n >= w->n ? lay_out(s, spec, w->n, s->n - w->n, 0, plan, reterr)
                            : lay_out(s, spec, w->n, 0, w->n - s->n, plan, reterr);
    if (w->skip >= 0) {
        int64_t there = s->n > w->skip ? s->n - w->skip : 0;
        return lay_out(s, spec, w->n ? w->n : there, s->n - there, 0, plan, reterr);
    }
    int64_t at = w->from_ns == INT64_MIN ? 0
                                         : size_scale(s->first_ns - w->from_ns, s->rate_hz, second);
    int64_t want = w->n;
    if (want == 0 && w->to_ns == INT64_MAX)
        want = at + s->n;
    else if (want == 0)
        want = size_scale(w->to_ns - (w->from_ns == INT64_MIN ? s->first_ns : w->from_ns),
                          s->rate_hz, second);
    return lay_out(s, spec, want, at < 0 ? -at : 0, at < 0 ? 0 : at, plan, reterr);
}

int sound_plan(struct store_reader *reader, const struct swt_window_spec *spec,
               const struct params *params, const struct log_to *log, struct sound *ret_sound,
               struct plan *plan, struct swt_diag *reterr)
{
    struct store_times t;
    struct stretch w = {.from_ns = INT64_MIN, .to_ns = INT64_MAX, .skip = -1};
    AUTO(sound_done) struct sound s = {0};
    int rc = store_reader_times(reader, &t, reterr);
    if (rc >= 0)
        rc = choose(spec, params, &t, &w, reterr);
    if (rc >= 0)
        rc = sound_decode(reader, w.from_ns, w.to_ns, log, &s, reterr);
    if (rc >= 0 && s.n == 0)
        return err_set(reterr, SWT_E_NO_WINDOW, "there is no sound in that stretch");
    if (rc >= 0)
        rc = plan_over(&s, spec, &w, plan, reterr);
    if (rc < 0)
        return rc;
    sound_done(ret_sound);
    *ret_sound = s;
    s = (struct sound){0};
    return 0;
}
