/* SPDX-License-Identifier: MIT
 *
 * fill.c - frames of a window into the caller's buffer: from the map, from the decoder, from decoded sound.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/dtype.h"
#include "base/size.h"
#include "tensor/window_parts.h"

#define CONVERTED_BYTES (256 << 10) /* at a time */

/* ---- stored and decoded ------------------------------------------------------------------------------------- */

/* The converter for the run of a frame; made anew where the run changes. */
static int enter_run(struct window *w, uint64_t frame, uint64_t run_base, struct swt_diag *reterr)
{
    if (run_base == w->run_base)
        return 0;
    const struct params *p;
    int rc = store_reader_params(w->reader, frame, &p, reterr);
    if (rc < 0)
        return rc;
    w->params = p;
    w->run_base = run_base;
    if (!window_is_picture(w))
        return 0;
    struct picture pic;
    rc = window_like(w, p, &pic, reterr);
    converter_free(&w->converter);
    return rc < 0 ? rc : converter_new(&pic, &w->shape, &w->converter, reterr);
}

static void convert_stored(struct window *w, const uint8_t *data, uint64_t n, uint8_t *out)
{
    const struct params *p = w->params;
    if (!window_is_picture(w)) {
        size_t elements = (size_t)(n * (p->frame_bytes / dtype_get(p->dtype)->bytes));
        (void)convert_elements(p->dtype, data, w->info.dtype, out, elements, window_is_sound(w));
        return;
    }
    const struct pixfmt *f = pixfmt_find(p->pixel);
    for (uint64_t i = 0; i < n; i++) {
        struct picture pic;
        picture_tight(f, p->width, p->height, data + i * p->frame_bytes, &pic);
        pic.matrix = p->matrix;
        pic.range = p->range;
        converter_run(w->converter, &pic, out + i * w->info.frame_bytes);
    }
}

/* A decoded picture as the converter wants it; the run's params stand in for tags the decoder left open. */
static void decoded_picture(const struct window *w, const struct media_frame *m,
                            struct picture *ret)
{
    *ret = (struct picture){.pixfmt = m->pixfmt,
                            .width = m->width,
                            .height = m->height,
                            .matrix = m->matrix[0] ? m->matrix : w->params->matrix,
                            .range = m->range[0] ? m->range : w->params->range,
                            .rotation = w->params->rotation,
                            .hflip = w->params->hflip};
    memcpy(ret->plane, m->plane, sizeof ret->plane);
    memcpy(ret->stride, m->stride, sizeof ret->stride);
}

/* The decoder may give another size or format than the stream's header said: same result, or an error. */
static int fit_converter(struct window *w, const struct picture *p, const struct store_frame *f,
                         struct swt_diag *reterr)
{
    if (converter_fits(w->converter, p))
        return 0;
    struct converter *c AUTO(converter_free) = NULL;
    int rc = converter_new(p, &w->shape, &c, reterr);
    if (rc < 0)
        return rc;
    if (converter_shape(c)->bytes != w->info.frame_bytes ||
        converter_shape(c)->dtype != w->info.dtype)
        return err_set(reterr, SWT_E_RUNS,
                       "frame %" PRIu64
                       " is %dx%d %s, other than the window's first (--size makes them equal)",
                       f->frame, p->width, p->height, p->pixfmt->name);
    converter_free(&w->converter);
    w->converter = c;
    c = NULL;
    return 0;
}

static int decode_one(struct window *w, const struct store_frame *f, uint8_t *out,
                      struct swt_diag *reterr)
{
    struct media_frame m;
    struct picture p;
    int rc = w->decode ? 0 : decode_new(w->reader, &w->log, &w->decode);
    if (rc >= 0)
        rc = decode_frame(w->decode, f, &m, reterr);
    if (rc < 0)
        return rc;
    if (!m.pixfmt)
        return err_set(reterr, SWT_E_UNSUPPORTED, "pixel format '%s' is not one swt can convert",
                       m.pixel_name);
    decoded_picture(w, &m, &p);
    rc = fit_converter(w, &p, f, reterr);
    if (rc >= 0)
        converter_run(w->converter, &p, out);
    return rc;
}

/* Samples of decoded sound. */
static void fill_held(const struct window *w, int64_t first, int64_t n, uint8_t *out)
{
    const struct sound *s = &w->sound;
    size_t in_bytes = (size_t)s->channels * dtype_get(s->dtype)->bytes;
    (void)convert_elements(s->dtype, s->samples + (size_t)first * in_bytes, w->info.dtype, out,
                           (size_t)n * (size_t)s->channels, true);
}

/* Frames a .. a + n - 1 of one run. Converted in pieces that stay in the cache between check and conversion. */
static int fill_run(struct window *w, uint64_t a, int64_t n, uint8_t *out, struct swt_diag *reterr)
{
    if (!w->info.is_converted)
        return store_reader_copy(w->reader, a, (uint64_t)n, !w->spec.unchecked, out, reterr);
    int64_t fit = CONVERTED_BYTES / (int64_t)w->params->frame_bytes;
    for (int64_t step; n > 0; n -= step, a += (uint64_t)step) {
        const void *data;
        step = n < fit ? n : fit > 1 ? fit : 1;
        int rc = store_reader_peek(w->reader, a, (uint64_t)step, !w->spec.unchecked, &data, reterr);
        if (rc < 0)
            return rc;
        convert_stored(w, data, (uint64_t)step, out);
        out += (uint64_t)step * w->info.frame_bytes;
    }
    return 0;
}

/* Frame numbers a, a + stride, … n of them into `out`. */
static int fill_stored(struct window *w, uint64_t a, int64_t n, uint8_t *out,
                       struct swt_diag *reterr)
{
    while (n > 0) {
        struct store_run run;
        int rc = store_reader_run(w->reader, a, &run, reterr);
        if (rc >= 0)
            rc = enter_run(w, a, run.base_frame, reterr);
        if (rc < 0)
            return rc;
        int64_t left = (int64_t)(run.end_frame - a);
        int64_t step = w->plan.stride > 1 ? 1 : n < left ? n : left;
        rc = fill_run(w, a, step, out, reterr);
        if (rc < 0)
            return rc;
        n -= step;
        a += (uint64_t)(step * w->plan.stride);
        out += (uint64_t)step * w->info.frame_bytes;
    }
    return 0;
}

static int fill_decoded(struct window *w, uint64_t a, int64_t n, uint8_t *out,
                        struct swt_diag *reterr)
{
    for (int64_t i = 0; i < n; i++) {
        struct store_frame f;
        int rc = store_reader_frame(w->reader, a + (uint64_t)(i * w->plan.stride), &f, reterr);
        if (rc >= 0)
            rc = enter_run(w, f.frame, f.run_base_frame, reterr);
        if (rc >= 0)
            rc = decode_one(w, &f, out + (uint64_t)i * w->info.frame_bytes, reterr);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int fill_frames(struct window *w, uint64_t a, int64_t n, uint8_t *out,
                       struct swt_diag *reterr)
{
    if (window_holds_sound(w)) {
        fill_held(w, (int64_t)a, n, out);
        return 0;
    }
    return w->kind == SEG_KIND_PACKETS ? fill_decoded(w, a, n, out, reterr)
                                       : fill_stored(w, a, n, out, reterr);
}

static int fill_piece(struct window *w, const struct plan_piece *piece, int64_t within, int64_t n,
                      uint8_t *out, struct swt_diag *reterr)
{
    uint64_t bytes = w->info.frame_bytes;
    if (piece->kind == PLAN_ZERO) {
        memset(out, 0, (size_t)((uint64_t)n * bytes));
        return 0;
    }
    if (piece->kind == PLAN_FRAMES)
        return fill_frames(w, (uint64_t)plan_frame(&w->plan, piece, within), n, out, reterr);
    int rc = fill_frames(w, (uint64_t)piece->first, 1, out, reterr);
    for (int64_t i = 1; rc >= 0 && i < n; i++)
        memcpy(out + (uint64_t)i * bytes, out, bytes);
    return rc;
}

static int fill(struct window *w, int64_t first, int64_t n, uint8_t *out, struct swt_diag *reterr)
{
    while (n > 0) {
        int64_t within;
        const struct plan_piece *piece = plan_at(&w->plan, first, &within);
        int64_t step = n < piece->n - within ? n : piece->n - within;
        int rc = fill_piece(w, piece, within, step, out, reterr);
        if (rc < 0) {
            err_stream(reterr, w->info.stream);
            return rc;
        }
        first += step;
        n -= step;
        out += (uint64_t)step * w->info.frame_bytes;
    }
    return 0;
}

/* [T][C][HW] to [C][T][HW]. */
static void planes_first(const uint8_t *src, int64_t n, int64_t channels, size_t plane,
                         uint8_t *dst)
{
    for (int64_t t = 0; t < n; t++)
        for (int64_t c = 0; c < channels; c++)
            memcpy(dst + (size_t)(c * n + t) * plane, src + (size_t)(t * channels + c) * plane,
                   plane);
}

static int fill_planes_first(struct window *w, void *buf, struct swt_diag *reterr)
{
    int64_t n = w->info.n_frames, channels = w->info.shape[0];
    uint8_t *tmp = malloc(w->info.bytes ? w->info.bytes : 1);
    if (!tmp)
        return err_set(reterr, -ENOMEM, "out of memory for a window of %" PRIu64 " bytes",
                       w->info.bytes);
    int rc = fill(w, 0, n, tmp, reterr);
    if (rc >= 0 && channels > 0)
        planes_first(tmp, n, channels, (size_t)(w->info.frame_bytes / (uint64_t)channels), buf);
    free(tmp);
    return rc;
}

int window_can_read(const struct window *w, struct swt_diag *reterr)
{
    if (w->kind == SEG_KIND_PACKETS && !window_is_picture(w) && !window_holds_sound(w))
        return err_set(reterr, SWT_E_UNSUPPORTED, "'%s' was opened for its index only",
                       w->info.stream);
    return 0;
}

int window_read(struct window *w, int64_t first, int64_t n, void *buf, size_t cap,
                struct swt_diag *reterr)
{
    if (first < 0 || n < 0 || first > w->info.n_frames || n > w->info.n_frames - first)
        return err_set(reterr, -EINVAL, "frames %" PRId64 " to %" PRId64 " lie outside the window",
                       first, first + n);
    if ((uint64_t)n * w->info.frame_bytes > cap)
        return err_set(reterr, -ENOBUFS, "the buffer is too small: %" PRIu64 " bytes are needed",
                       (uint64_t)n * w->info.frame_bytes);
    int rc = window_can_read(w, reterr);
    if (rc < 0 || !window_is_planes_first(w))
        return rc < 0 ? rc : fill(w, first, n, buf, reterr);
    if (n != w->info.n_frames)
        return err_set(reterr, SWT_E_UNSUPPORTED, "layout CTHW is read as a whole window");
    return fill_planes_first(w, buf, reterr);
}

int window_map(struct window *w, const void **ret_data, struct swt_diag *reterr)
{
    const struct plan *p = &w->plan;
    if (w->info.is_converted || p->n_pieces != 1 || p->pieces[0].kind != PLAN_FRAMES ||
        (p->stride != 1 && p->n_frames > 1))
        return err_set(reterr, SWT_E_UNSUPPORTED,
                       "this window is not one stretch of stored bytes: read it");
    return store_reader_map(w->reader, (uint64_t)p->pieces[0].first, (uint64_t)p->n_frames,
                            ret_data, reterr);
}

int window_peek(struct window *w, int64_t first, uint64_t max_bytes, const void **ret_data,
                int64_t *ret_n, struct swt_diag *reterr)
{
    int64_t within;
    *ret_n = 0;
    if (w->info.is_converted || w->plan.stride != 1 || first >= w->info.n_frames)
        return 0;
    const struct plan_piece *piece = plan_at(&w->plan, first, &within);
    if (piece->kind != PLAN_FRAMES)
        return 0;
    struct store_run run;
    uint64_t a = (uint64_t)plan_frame(&w->plan, piece, within);
    int rc = store_reader_run(w->reader, a, &run, reterr);
    if (rc < 0)
        return rc;
    uint64_t n = (uint64_t)(piece->n - within), fit = max_bytes / w->info.frame_bytes;
    n = n < run.end_frame - a ? n : run.end_frame - a;
    n = n > fit ? (fit ? fit : 1) : n;
    rc = store_reader_peek(w->reader, a, n, !w->spec.unchecked, ret_data, reterr);
    *ret_n = rc < 0 ? 0 : (int64_t)n;
    return rc;
}
