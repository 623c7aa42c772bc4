/* SPDX-License-Identifier: MIT
 *
 * plan.c - which frames: turns a selection into pieces of frame numbers and padding. Reads the index only;
 * what the frames look like is not decided here.
 */
#include "tensor/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/size.h"

/* What the selection is resolved against. */
struct view {
    struct store_reader *reader;
    int64_t first, end;   /* frames kept */
    struct store_times t; /* only where the selection speaks of time */
    struct swt_ratio rate;
    bool is_sound;
};

/* A span of the stream before padding: frames a .. b - 1, and how many are missing on each side. */
struct span {
    int64_t a, b;
    int64_t missing_before, missing_after;
};

int plan_add(struct plan *p, enum plan_kind kind, int64_t first, int64_t n)
{
    if (n <= 0)
        return 0;
    struct plan_piece *last = p->n_pieces ? &p->pieces[p->n_pieces - 1] : NULL;
    p->n_frames += n;
    p->n_valid += kind == PLAN_FRAMES ? n : 0;
    if (last && last->kind == kind &&
        (kind == PLAN_FRAMES ? last->first + last->n * p->stride == first : last->first == first)) {
        last->n += n;
        return 0;
    }
    if (p->n_pieces == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 8;
        struct plan_piece *more = realloc(p->pieces, cap * sizeof *more);
        if (!more)
            return -ENOMEM;
        p->pieces = more;
        p->cap = cap;
    }
    p->pieces[p->n_pieces++] = (struct plan_piece){kind, first, n};
    return 0;
}

void plan_done(struct plan *plan)
{
    free(plan->pieces);
    *plan = (struct plan){0};
}

const struct plan_piece *plan_at(const struct plan *plan, int64_t i, int64_t *ret_within)
{
    const struct plan_piece *piece = plan->pieces;
    while (i >= piece->n)
        i -= piece++->n;
    *ret_within = i;
    return piece;
}

static int missing(const struct view *v, struct swt_diag *reterr)
{
    struct store_times t;
    char span[64] = "";
    if (v->first == v->end)
        return err_set(reterr, SWT_E_NO_WINDOW, "the stream has no frames yet");
    if (store_reader_times(v->reader, &t, NULL) >= 0 && t.first_ns != INT64_MIN)
        (void)snprintf(span, sizeof span, ", from %.9gs to %.9gs", (double)t.first_ns / 1e9,
                       (double)t.end_ns / 1e9);
    return err_set(reterr, SWT_E_NO_WINDOW,
                   "the window asked for is not there: frames %" PRId64 " to %" PRId64
                   " are kept%s (--edge trim gives what there is)",
                   v->first, v->end - 1, span);
}

/* A range without frames: of a stream that has not come so far, or written the wrong way round. */
static int backwards(const struct view *v, const struct swt_window_spec *spec,
                     struct swt_diag *reterr)
{
    bool is_open = spec->to.kind == SWT_POS_END || spec->to.kind == SWT_POS_NONE ||
                   spec->to.kind == SWT_POS_NOW;
    if (is_open && v->first == v->end && spec->edge == SWT_EDGE_TRIM)
        return 0;
    return is_open ? missing(v, reterr)
                   : err_set(reterr, SWT_E_USAGE, "the range ends before it begins");
}

static int find_time(const struct view *v, int64_t ns, int64_t *ret_frame, struct swt_diag *reterr)
{
    uint64_t frame = 0;
    int rc = store_reader_find_time(v->reader, ns, &frame, reterr);
    *ret_frame = (int64_t)frame;
    return rc;
}

static int find_wall(const struct view *v, int64_t ns, int64_t *ret_frame, struct swt_diag *reterr)
{
    uint64_t frame = 0;
    int rc = store_reader_find_wall(v->reader, ns, &frame, reterr);
    *ret_frame = (int64_t)frame;
    return rc;
}

static bool is_time(enum swt_pos_kind kind)
{
    return kind == SWT_POS_TIME || kind == SWT_POS_TIME_BACK;
}

static int64_t pos_ns(const struct view *v, struct swt_pos pos)
{
    if (pos.kind == SWT_POS_TIME)
        return pos.value;
    int64_t ns;
    return __builtin_sub_overflow(v->t.end_ns, pos.value, &ns) ? INT64_MIN : ns;
}

/* First frame at or after a place; may lie outside what is kept when it was given as a number. */
static int pos_frame(const struct view *v, struct swt_pos pos, int64_t *ret_frame,
                     struct swt_diag *reterr)
{
    switch (pos.kind) {
    case SWT_POS_FRAME:
        *ret_frame = pos.value;
        return 0;
    case SWT_POS_FRAME_BACK:
        *ret_frame = __builtin_sub_overflow(v->end, pos.value, ret_frame) ? INT64_MIN : *ret_frame;
        return 0;
    case SWT_POS_TIME:
    case SWT_POS_TIME_BACK:
        return find_time(v, pos_ns(v, pos), ret_frame, reterr);
    case SWT_POS_WALL:
        return find_wall(v, pos.value, ret_frame, reterr);
    case SWT_POS_NOW:
        return find_wall(v, clock_wall_ns(), ret_frame, reterr);
    case SWT_POS_START:
        *ret_frame = v->first;
        return 0;
    case SWT_POS_NONE:
    case SWT_POS_END:
        break;
    }
    *ret_frame = v->end;
    return 0;
}

/* Frames that would fill a stretch of time, at least one for any stretch. */
static int64_t frames_in(const struct view *v, int64_t ns)
{
    if (ns <= 0)
        return 0;
    int64_t n = v->rate.num > 0 ? size_scale(ns, v->rate.num, v->rate.den * INT64_C(1000000000))
                                : 0;
    return n > 0 || v->is_sound ? n : 1;
}

/* Clip a span of frame numbers to what is kept and count what is missing. */
static void clip(const struct view *v, struct span *s)
{
    int64_t n = s->b - s->a;
    if (s->a < v->first)
        s->missing_before += (v->first < s->b ? v->first : s->b) - s->a;
    if (s->b > v->end) {
        int64_t from = s->a > v->end ? s->a : v->end;
        s->missing_after += s->b - from;
    }
    if (s->a >= v->end && n > 0)
        s->missing_after = n;
    s->a = s->a < v->first ? v->first : s->a > v->end ? v->end : s->a;
    s->b = s->b > v->end ? v->end : s->b < s->a ? s->a : s->b;
}

/* Give a..b-1 with the stride, padded as the edge says. */
static int emit(const struct view *v, const struct swt_window_spec *spec, const struct span *s,
                struct plan *p, struct swt_diag *reterr)
{
    if ((s->missing_before || s->missing_after) && spec->edge == SWT_EDGE_ERROR)
        return missing(v, reterr);
    if (s->a >= s->b && spec->edge == SWT_EDGE_REPEAT && s->missing_before + s->missing_after > 0)
        return missing(v, reterr);
    bool pad = spec->edge == SWT_EDGE_REPEAT || spec->edge == SWT_EDGE_ZERO;
    enum plan_kind kind = spec->edge == SWT_EDGE_REPEAT ? PLAN_REPEAT : PLAN_ZERO;
    int64_t n = s->b > s->a ? (s->b - s->a - 1) / p->stride + 1 : 0;
    int rc = 0;
    if (pad)
        rc = plan_add(p, kind, kind == PLAN_REPEAT ? s->a : 0, s->missing_before);
    if (rc >= 0)
        rc = plan_add(p, PLAN_FRAMES, s->a, n);
    if (rc >= 0 && pad)
        rc = plan_add(p, kind, kind == PLAN_REPEAT ? s->b - 1 : 0, s->missing_after);
    return rc < 0 ? err_set(reterr, rc, "out of memory") : 0;
}

static int plan_last_frames(const struct view *v, const struct swt_window_spec *spec,
                            struct plan *p, struct swt_diag *reterr)
{
    int64_t want = spec->length.value, have = v->end - v->first;
    int64_t fit = have > 0 ? (have - 1) / p->stride + 1 : 0;
    int64_t n = want < fit ? want : fit;
    struct span s = {.b = v->end, .missing_before = want - n};
    s.a = n > 0 ? v->end - ((n - 1) * p->stride + 1) : v->end;
    return emit(v, spec, &s, p, reterr);
}

/* Rate of the run that sounds at a time: runs of one stream may differ. */
static int sound_run(const struct view *v, int64_t ns, struct swt_ratio *ret_rate,
                     uint64_t *ret_run_base, struct swt_diag *reterr)
{
    int64_t frame = 0;
    struct store_frame f;
    const struct params *params;
    int rc = v->first < v->end ? find_time(v, ns, &frame, reterr) : 0;
    if (rc < 0 || v->first == v->end)
        return rc;
    frame = frame < v->end ? frame : v->end - 1;
    rc = store_reader_frame(v->reader, (uint64_t)frame, &f, reterr);
    if (rc >= 0)
        rc = store_reader_params(v->reader, (uint64_t)frame, &params, reterr);
    if (rc < 0)
        return rc;
    *ret_rate = params->rate.num > 0 ? params->rate : *ret_rate;
    *ret_run_base = f.run_base_frame;
    return 0;
}

/* The index must be whole around a place that was found by time: a frame that cannot be read might be the one. */
static int check_place(const struct view *v, int64_t frame, struct swt_diag *reterr)
{
    struct store_frame f;
    for (int64_t i = frame - 1; i <= frame; i++) {
        int rc = i >= v->first && i < v->end
                     ? store_reader_frame(v->reader, (uint64_t)i, &f, reterr)
                     : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Sound between two times: slot i stands for time a_ns + i / rate; holes become zeros. */
static int plan_sound_time(const struct view *v, const struct swt_window_spec *spec, int64_t a_ns,
                           int64_t b_ns, struct plan *p, struct swt_diag *reterr)
{
    struct swt_ratio rate = v->rate;
    uint64_t run_base = 0;
    int rc = sound_run(v, a_ns, &rate, &run_base, reterr);
    if (rc < 0)
        return rc;
    int64_t half = size_scale(1, rate.den * INT64_C(500000000), rate.num);
    int64_t n = size_scale(b_ns - a_ns, rate.num, rate.den * INT64_C(1000000000));
    int64_t frame = 0, slot = 0;
    struct span s = {0};
    if (v->first < v->end && a_ns + half < v->t.first_ns)
        s.missing_before = frames_in(v, v->t.first_ns - a_ns);
    if (v->first == v->end || b_ns > v->t.end_ns + half)
        s.missing_after = v->first == v->end ? n : frames_in(v, b_ns - v->t.end_ns);
    if ((s.missing_before || s.missing_after) && spec->edge == SWT_EDGE_ERROR)
        return missing(v, reterr);
    bool trim = spec->edge == SWT_EDGE_TRIM || spec->edge == SWT_EDGE_ERROR;
    rc = find_time(v, a_ns > INT64_MIN + half ? a_ns - half : a_ns, &frame, reterr);
    while (rc >= 0 && slot < n && frame < v->end) {
        struct store_frame f;
        rc = store_reader_frame(v->reader, (uint64_t)frame, &f, reterr);
        if (rc < 0)
            return rc;
        int64_t at = size_scale(f.time_ns - a_ns, rate.num, rate.den * INT64_C(1000000000));
        if (at >= n)
            break;
        if (f.run_base_frame != run_base)
            return err_set(reterr, SWT_E_RUNS,
                           "the window crosses a format change at frame %" PRIu64
                           ": take each part alone",
                           f.run_base_frame);
        if (at > slot && !(trim && p->n_frames == 0))
            rc = plan_add(p, PLAN_ZERO, 0, at - slot);
        slot = at > slot ? at : slot;
        uint64_t gap = 0;
        int64_t run_end = (int64_t)f.run_end_frame < v->end ? (int64_t)f.run_end_frame : v->end;
        int64_t stop = frame + (n - slot) < run_end ? frame + (n - slot) : run_end;
        int found = rc < 0 ? rc
                           : store_reader_find_gap(v->reader, (uint64_t)frame, (uint64_t)(stop - 1),
                                                   &gap, reterr);
        if (found < 0)
            return found;
        int64_t to = found ? (int64_t)gap : stop;
        rc = plan_add(p, PLAN_FRAMES, frame, to - frame);
        slot += to - frame;
        frame = to;
    }
    if (rc >= 0 && slot < n && !trim)
        rc = plan_add(p, PLAN_ZERO, 0, n - slot);
    return rc < 0 && rc == -ENOMEM ? err_set(reterr, rc, "out of memory") : rc;
}

static int plan_time_range(const struct view *v, const struct swt_window_spec *spec, int64_t a_ns,
                           int64_t b_ns, struct plan *p, struct swt_diag *reterr)
{
    if (b_ns <= a_ns)
        return backwards(v, spec, reterr);
    if (b_ns > INT64_MAX / 2 || a_ns < INT64_MIN / 2)
        return missing(v, reterr);
    if (v->is_sound && p->stride == 1 && v->rate.num > 0)
        return plan_sound_time(v, spec, a_ns, b_ns, p, reterr);
    struct span s = {0};
    if (v->first == v->end)
        s.missing_after = frames_in(v, b_ns - a_ns);
    else {
        s.missing_before = a_ns < v->t.first_ns ? frames_in(v, v->t.first_ns - a_ns) : 0;
        s.missing_after = b_ns > v->t.end_ns ? frames_in(v, b_ns - v->t.end_ns) : 0;
    }
    int rc = find_time(v, a_ns, &s.a, reterr);
    if (rc >= 0)
        rc = find_time(v, b_ns, &s.b, reterr);
    if (rc >= 0)
        rc = check_place(v, s.a, reterr);
    if (rc >= 0)
        rc = check_place(v, s.b, reterr);
    if (rc < 0)
        return rc;
    if (s.a == s.b && !s.missing_before && !s.missing_after)
        return err_set(reterr, SWT_E_NO_WINDOW, "no frame begins between %.9gs and %.9gs",
                       (double)a_ns / 1e9, (double)b_ns / 1e9);
    return emit(v, spec, &s, p, reterr);
}

/* Time of a place that is given as frame, start or end, so that it can be joined with a time. */
static int edge_ns(const struct view *v, struct swt_pos pos, int64_t *ret_ns,
                   struct swt_diag *reterr)
{
    int64_t frame = 0;
    if (is_time(pos.kind)) {
        *ret_ns = pos_ns(v, pos);
        return 0;
    }
    int rc = pos_frame(v, pos, &frame, reterr);
    if (rc < 0)
        return rc;
    *ret_ns = v->t.end_ns;
    if (frame >= v->end)
        return frame > v->end ? missing(v, reterr) : 0;
    struct store_frame f;
    rc = store_reader_frame(v->reader, (uint64_t)(frame < v->first ? v->first : frame), &f, reterr);
    if (rc >= 0)
        *ret_ns = f.time_ns;
    return rc;
}

static int plan_range(const struct view *v, const struct swt_window_spec *spec, struct plan *p,
                      struct swt_diag *reterr)
{
    int64_t a_ns, b_ns;
    struct span s = {0};
    if (spec->length.kind == SWT_LENGTH_TIME || is_time(spec->from.kind) ||
        is_time(spec->to.kind)) {
        int rc = edge_ns(v, spec->from, &a_ns, reterr);
        if (rc >= 0 && spec->length.kind == SWT_LENGTH_FRAMES) {
            rc = pos_frame(v, spec->from, &s.a, reterr);
        } else {
            if (rc >= 0 && spec->length.kind == SWT_LENGTH_TIME)
                b_ns = __builtin_add_overflow(a_ns, spec->length.value, &b_ns) ? INT64_MAX : b_ns;
            else if (rc >= 0)
                rc = edge_ns(v, spec->to, &b_ns, reterr);
            return rc < 0 ? rc : plan_time_range(v, spec, a_ns, b_ns, p, reterr);
        }
        if (rc < 0)
            return rc;
        if (a_ns < v->t.first_ns)
            return missing(v, reterr);
    } else {
        int rc = pos_frame(v, spec->from, &s.a, reterr);
        if (rc < 0)
            return rc;
    }
    if (spec->length.kind == SWT_LENGTH_FRAMES) {
        int64_t reach;
        if (__builtin_mul_overflow(spec->length.value - 1, p->stride, &reach) ||
            __builtin_add_overflow(s.a, reach, &s.b) || s.b == INT64_MAX)
            return missing(v, reterr);
        s.b++;
    } else {
        int rc = pos_frame(v, spec->to, &s.b, reterr);
        if (rc < 0)
            return rc;
    }
    if (s.b <= s.a)
        return backwards(v, spec, reterr);
    if (s.a < 0)
        return missing(v, reterr);
    clip(v, &s);
    s.missing_before = (s.missing_before + p->stride - 1) / p->stride;
    s.missing_after = (s.missing_after + p->stride - 1) / p->stride;
    return emit(v, spec, &s, p, reterr);
}

/* The frame on display at a place. */
static int at_frame(const struct view *v, struct swt_pos pos, int64_t *ret_frame,
                    struct swt_diag *reterr)
{
    int rc;
    if (is_time(pos.kind)) {
        int64_t ns = pos_ns(v, pos);
        if (v->first == v->end || ns < v->t.first_ns || ns >= v->t.end_ns)
            return missing(v, reterr);
        rc = find_time(v, ns + 1, ret_frame, reterr);
        if (rc >= 0)
            rc = check_place(v, *ret_frame, reterr);
        *ret_frame -= 1;
        return rc;
    }
    if (pos.kind == SWT_POS_WALL || pos.kind == SWT_POS_NOW) {
        int64_t ns = pos.kind == SWT_POS_NOW ? clock_wall_ns() : pos.value;
        rc = find_wall(v, ns + (ns < INT64_MAX), ret_frame, reterr);
        *ret_frame -= 1;
    } else {
        rc = pos_frame(v, pos, ret_frame, reterr);
        *ret_frame -= pos.kind == SWT_POS_END;
    }
    if (rc >= 0 && (*ret_frame < v->first || *ret_frame >= v->end))
        return missing(v, reterr);
    return rc;
}

static int plan_list(const struct view *v, const struct swt_window_spec *spec, struct plan *p,
                     struct swt_diag *reterr)
{
    for (size_t i = 0; i < spec->n_frames; i++) {
        int64_t f = spec->frames[i];
        int rc = 0;
        if (f >= v->first && f < v->end)
            rc = plan_add(p, PLAN_FRAMES, f, 1);
        else if (spec->edge == SWT_EDGE_ERROR ||
                 (spec->edge == SWT_EDGE_REPEAT && v->first == v->end))
            return missing(v, reterr);
        else if (spec->edge == SWT_EDGE_ZERO)
            rc = plan_add(p, PLAN_ZERO, 0, 1);
        else if (spec->edge == SWT_EDGE_REPEAT)
            rc = plan_add(p, PLAN_REPEAT, f < v->first ? v->first : v->end - 1, 1);
        if (rc < 0)
            return err_set(reterr, rc, "out of memory");
    }
    return 0;
}

static int check_gaps(const struct view *v, const struct plan *p, struct swt_diag *reterr)
{
    for (size_t i = 0; i < p->n_pieces; i++) {
        const struct plan_piece *piece = &p->pieces[i];
        uint64_t gap;
        if (piece->kind == PLAN_ZERO)
            return err_set(reterr, SWT_E_GAP, "sound is missing inside the window");
        int64_t last = piece->first + (piece->n - 1) * p->stride;
        int rc = store_reader_find_gap(v->reader, (uint64_t)piece->first, (uint64_t)last, &gap,
                                       reterr);
        if (rc < 0)
            return rc;
        if (rc > 0)
            return err_set(reterr, SWT_E_GAP, "a gap lies before frame %" PRIu64, gap);
    }
    return 0;
}

static int resolve(const struct view *v, const struct swt_window_spec *spec, struct plan *p,
                   struct swt_diag *reterr)
{
    int64_t frame;
    int rc;
    switch (spec->select) {
    case SWT_SELECT_LAST:
        if (spec->length.kind == SWT_LENGTH_FRAMES)
            return plan_last_frames(v, spec, p, reterr);
        return plan_time_range(v, spec, v->t.end_ns - spec->length.value, v->t.end_ns, p, reterr);
    case SWT_SELECT_RANGE:
        return plan_range(v, spec, p, reterr);
    case SWT_SELECT_AT:
        rc = at_frame(v, spec->from, &frame, reterr);
        return rc < 0 ? rc : plan_add(p, PLAN_FRAMES, frame, 1);
    case SWT_SELECT_FRAMES:
        return plan_list(v, spec, p, reterr);
    case SWT_SELECT_NONE:
        break;
    }
    return err_set(reterr, SWT_E_USAGE, "no frames were selected");
}

static bool uses_time(const struct swt_window_spec *spec)
{
    switch (spec->select) {
    case SWT_SELECT_LAST:
        return spec->length.kind == SWT_LENGTH_TIME;
    case SWT_SELECT_RANGE:
        return spec->length.kind == SWT_LENGTH_TIME || is_time(spec->from.kind) ||
               is_time(spec->to.kind);
    case SWT_SELECT_AT:
        return is_time(spec->from.kind);
    case SWT_SELECT_FRAMES:
    case SWT_SELECT_NONE:
        break;
    }
    return false;
}

int plan_resolve(struct store_reader *reader, const struct store_reader_state *state,
                 const struct swt_window_spec *spec, struct swt_ratio rate, bool is_sound,
                 struct plan *plan, struct swt_diag *reterr)
{
    struct view v = {.reader = reader,
                     .first = (int64_t)state->first_frame,
                     .end = (int64_t)state->end_frame,
                     .rate = rate,
                     .is_sound = is_sound};
    *plan = (struct plan){
        .pieces = plan->pieces, .cap = plan->cap, .stride = spec->stride > 0 ? spec->stride : 1};
    int rc = uses_time(spec) ? store_reader_times(reader, &v.t, reterr) : 0;
    if (rc >= 0)
        rc = resolve(&v, spec, plan, reterr);
    return rc >= 0 && spec->no_gaps ? check_gaps(&v, plan, reterr) : rc;
}
