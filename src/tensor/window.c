/* SPDX-License-Identifier: MIT
 *
 * window.c - a selection of one stream as one tensor. Joins the plan (which frames), the store (stored bytes) or
 * the decoder (packets), and the converter. Which bytes a file format wants around it is not decided here.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tensor/sound_plan.h"
#include "tensor/window_parts.h"

void window_close(struct window **window)
{
    struct window *w = *window;
    if (!w)
        return;
    plan_done(&w->plan);
    plan_done(&w->spare);
    converter_free(&w->converter);
    decode_free(&w->decode);
    sound_done(&w->sound);
    free(w);
    *window = NULL;
}

const struct swt_window_info *window_info(const struct window *w)
{
    return &w->info;
}

const struct params *window_params(const struct window *w)
{
    return w->params;
}

bool window_is_whole(const struct window *w)
{
    return window_is_planes_first(w);
}

enum seg_kind window_kind(const struct window *w)
{
    return w->kind;
}

/* Encoded sound is decoded when the window is opened, unless only its index is wanted. */
static bool wants_decoded_sound(const struct window *w)
{
    return w->kind == SEG_KIND_PACKETS && window_is_sound(w) &&
           w->spec.for_format != SWT_FORMAT_NDJSON;
}

/* Packets of sound are counted and timed like pictures. */
static int resolve(struct window *w, const struct store_reader_state *state, struct plan *plan,
                   struct swt_diag *reterr)
{
    if (wants_decoded_sound(w))
        return sound_plan(w->reader, &w->spec, w->params, &w->log, &w->sound, plan, reterr);
    bool is_sound = window_is_sound(w), is_samples = is_sound && w->kind == SEG_KIND_TENSOR;
    struct swt_ratio rate = is_samples || !is_sound ? w->params->rate : (struct swt_ratio){0, 1};
    return plan_resolve(w->reader, state, &w->spec, rate, is_samples, plan, reterr);
}

static int64_t first_real(const struct plan *plan)
{
    for (size_t i = 0; i < plan->n_pieces; i++)
        if (plan->pieces[i].kind != PLAN_ZERO)
            return plan->pieces[i].first;
    return -1;
}

/* The first frame's run decides what the window looks like. */
static int enter_first_run(struct window *w, struct swt_diag *reterr)
{
    struct store_run run;
    int64_t first = first_real(&w->plan);
    if (first < 0 || window_holds_sound(w))
        return 0;
    int rc = store_reader_run(w->reader, (uint64_t)first, &run, reterr);
    if (rc >= 0)
        rc = store_reader_params(w->reader, (uint64_t)first, &w->params, reterr);
    if (rc >= 0)
        w->run_base = run.base_frame;
    return rc;
}

int window_open(struct store_reader *reader, const char *name, const struct swt_window_spec *spec,
                struct window **ret_window, struct swt_diag *reterr)
{
    AUTO(window_close) struct window *w = calloc(1, sizeof *w);
    struct store_reader_state state;
    if (!w)
        return err_set(reterr, -ENOMEM, "out of memory");
    w->reader = reader;
    w->spec = *spec;
    w->log = (struct log_to){spec->log, spec->log_arg};
    (void)snprintf(w->info.stream, sizeof w->info.stream, "%s", name);
    int rc = store_reader_refresh(reader, &state, reterr);
    if (rc >= 0)
        rc = store_reader_params(
            reader, state.end_frame > state.first_frame ? state.end_frame - 1 : state.end_frame,
            &w->params, reterr);
    if (rc < 0)
        return rc;
    w->kind = state.kind;
    w->end_frame = state.end_frame;
    rc = resolve(w, &state, &w->plan, reterr);
    w->spec.frames = NULL;
    w->spec.n_frames = 0;
    if (rc >= 0)
        rc = enter_first_run(w, reterr);
    if (rc >= 0)
        rc = window_shape(w, reterr);
    if (rc < 0)
        return rc;
    *ret_window = w;
    w = NULL;
    return 0;
}

/* ---- again --------------------------------------------------------------------------------------- */

static void swap_plans(struct window *w)
{
    struct plan p = w->plan;
    w->plan = w->spare;
    w->spare = p;
}

/* The new plan lies in the run of the old one, so that the shape of a frame is as it was. */
static int same_run(struct window *w, bool *ret_same, struct swt_diag *reterr)
{
    int64_t first = first_real(&w->plan);
    struct store_run run;
    *ret_same = true;
    if (first < 0 || window_holds_sound(w))
        return 0;
    int rc = store_reader_run(w->reader, (uint64_t)first, &run, reterr);
    const struct plan_piece *last = &w->plan.pieces[w->plan.n_pieces - 1];
    int64_t end = plan_frame(&w->plan, last, last->n - 1);
    *ret_same = rc >= 0 && run.base_frame == w->run_base && end < (int64_t)run.end_frame;
    return rc;
}

/* Shape anew for the plan as it is now. */
static int reshape(struct window *w, struct swt_diag *reterr)
{
    int rc = enter_first_run(w, reterr);
    if (rc < 0)
        return rc;
    converter_free(&w->converter);
    return window_shape(w, reterr);
}

static void set_counts(struct window *w)
{
    w->info.n_frames = w->info.shape[window_is_planes_first(w) ? 1 : 0] = w->plan.n_frames;
    w->info.n_valid = w->plan.n_valid;
    w->info.bytes = (uint64_t)w->plan.n_frames * w->info.frame_bytes;
}

int window_refresh(struct window *w, struct swt_diag *reterr)
{
    bool same = true;
    struct store_reader_state state;
    if (w->spec.select == SWT_SELECT_FRAMES)
        return 0;
    int rc = store_reader_refresh(w->reader, &state, reterr);
    if (rc >= 0)
        rc = resolve(w, &state, &w->spare, reterr);
    if (rc < 0)
        return rc;
    swap_plans(w);
    rc = same_run(w, &same, reterr);
    if (rc >= 0 && !same)
        rc = reshape(w, reterr);
    if (rc < 0) {
        swap_plans(w);
        return rc;
    }
    set_counts(w);
    w->end_frame = state.end_frame;
    return 0;
}

int window_wait(struct window *w, int64_t timeout_ns, struct swt_diag *reterr)
{
    return store_reader_wait(w->reader, w->end_frame, timeout_ns, reterr);
}

int window_entry(struct window *w, int64_t i, struct store_frame *ret, struct swt_diag *reterr)
{
    int64_t within;
    if (i < 0 || i >= w->info.n_frames)
        return err_set(reterr, -EINVAL, "frame %" PRId64 " lies outside the window", i);
    const struct plan_piece *piece = plan_at(&w->plan, i, &within);
    if (piece->kind != PLAN_FRAMES || window_holds_sound(w))
        return err_set(reterr, SWT_E_NO_WINDOW,
                       "frame %" PRId64 " of the window is not one of the stream", i);
    return store_reader_frame(w->reader, (uint64_t)plan_frame(&w->plan, piece, within), ret,
                              reterr);
}

int window_frame(struct window *w, int64_t i, struct swt_frame_info *ret, struct swt_diag *reterr)
{
    struct store_frame f;
    int rc = window_entry(w, i, &f, reterr);
    *ret = (struct swt_frame_info){.frame = -1, .src_pts = INT64_MIN, .wall_ns = INT64_MIN};
    if (rc == SWT_E_NO_WINDOW)
        return 0;
    if (rc < 0)
        return rc;
    bool is_first = f.entry.pos == f.frame || w->kind == SEG_KIND_PACKETS;
    ret->frame = (int64_t)f.frame;
    ret->pts_ns = f.time_ns;
    ret->wall_ns = f.wall_ns;
    ret->src_pts = f.entry.src_pts;
    ret->is_valid = 1;
    ret->is_key = (f.entry.flags & SEG_FLAG_KEY) != 0;
    ret->is_gap = is_first && (f.entry.flags & SEG_FLAG_GAP) != 0;
    ret->is_discontinuity = is_first && (f.entry.flags & SEG_FLAG_DISCONT) != 0;
    ret->is_damaged = (f.entry.flags & (SEG_FLAG_DAMAGED | SEG_FLAG_CORRUPT)) != 0;
    ret->dropped_before = is_first ? f.entry.dropped_before : 0;
    return 0;
}
