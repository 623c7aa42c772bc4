/* SPDX-License-Identifier: MIT
 *
 * window.c - a selection of one stream as one tensor. Joins the plan (which frames), the store (stored bytes) or
 * the decoder (packets), and the converter. Which bytes a file format wants around it is not decided here.
 */
#include "tensor/window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/dtype.h"
#include "base/size.h"
#include "tensor/convert.h"
#include "tensor/decode.h"

struct window {
    struct store_reader *reader; /* borrowed */
    struct swt_window_spec spec;
    struct log_to log;
    struct plan plan, spare; /* spare: the next one is made here, then they change places */
    uint64_t end_frame;      /* of the stream, as the plan saw it */
    enum seg_kind kind;
    const struct params *params; /* of the run being converted; borrowed from the reader */
    uint64_t run_base;           /* first frame of that run */
    struct convert_spec shape;
    struct converter *converter; /* pictures only; owned */
    struct decode *decode;       /* packets only; owned */
    struct swt_window_info info;
};

void window_close(struct window **window)
{
    struct window *w = *window;
    if (!w)
        return;
    plan_done(&w->plan);
    plan_done(&w->spare);
    converter_free(&w->converter);
    decode_free(&w->decode);
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

enum seg_kind window_kind(const struct window *w)
{
    return w->kind;
}

static bool is_picture(const struct params *p)
{
    return strcmp(p->media, "video") == 0;
}

static bool is_sound(const struct params *p)
{
    return strcmp(p->media, "audio") == 0;
}

/* ---- shape --------------------------------------------------------------------------------------- */

/* A picture of the run as the index describes it; a packet's real picture may yet differ. */
static int like(const struct window *w, const struct params *p, struct picture *ret,
                struct swt_diag *reterr)
{
    const struct pixfmt *f = pixfmt_find(p->pixel);
    if (!f)
        return err_set(reterr, SWT_E_UNSUPPORTED, "pixel format '%s' is not one swt can convert",
                       p->pixel);
    *ret = (struct picture){.pixfmt = f,
                            .width = p->width,
                            .height = p->height,
                            .matrix = p->matrix,
                            .range = p->range};
    if (w->kind == SEG_KIND_PACKETS) {
        ret->rotation = p->rotation;
        ret->hflip = p->hflip;
    }
    return 0;
}

/* Planar formats that y4m can hold: the stored one, or the nearest. */
static const struct pixfmt *y4m_pixel(const struct pixfmt *stored)
{
    if (!stored->is_rgb && !stored->has_alpha && !stored->is_packed)
        return stored;
    if (stored->n_comps == 1)
        return stored;
    return pixfmt_find(stored->is_rgb ? "yuv444p" : "yuv420p");
}

static int wanted_pixel(struct window *w, const struct pixfmt *stored, struct swt_diag *reterr)
{
    const char *name = w->spec.pixel;
    if (name && strcmp(name, "stored") == 0)
        w->shape.pixfmt = stored;
    else if (name)
        w->shape.pixfmt = pixfmt_find(name);
    else
        w->shape.pixfmt = w->spec.for_y4m ? y4m_pixel(stored) : convert_default(stored);
    if (!w->shape.pixfmt)
        return err_set(reterr, SWT_E_USAGE, "'%s' is not a pixel format swt knows", name);
    if (!name && stored->has_alpha && !w->shape.pixfmt->has_alpha)
        (void)snprintf(w->info.note, sizeof w->info.note,
                       "the stream has an alpha channel, which is left out: --pixel rgba gives it");
    return 0;
}

static int picture_shape(struct window *w, struct swt_diag *reterr)
{
    struct picture p;
    int rc = like(w, w->params, &p, reterr);
    if (rc >= 0)
        rc = wanted_pixel(w, p.pixfmt, reterr);
    if (rc < 0)
        return rc;
    const struct swt_window_spec *s = &w->spec;
    w->shape.width = s->width;
    w->shape.height = s->height;
    w->shape.filter = s->filter;
    w->shape.crop_width = s->crop_width;
    w->shape.crop_height = s->crop_height;
    w->shape.crop_x = s->crop_x;
    w->shape.crop_y = s->crop_y;
    w->shape.dtype = s->dtype;
    w->shape.is_chw = s->layout != SWT_LAYOUT_THWC;
    w->shape.has_norm = s->has_norm;
    memcpy(w->shape.mean, s->mean, sizeof w->shape.mean);
    memcpy(w->shape.std, s->std, sizeof w->shape.std);
    rc = converter_new(&p, &w->shape, &w->converter, reterr);
    if (rc < 0)
        return rc;
    const struct convert_shape *out = converter_shape(w->converter);
    w->info.n_dims = 1 + out->n_dims;
    memcpy(w->info.shape + 1, out->shape, (size_t)out->n_dims * sizeof out->shape[0]);
    w->info.dtype = out->dtype;
    w->info.width = out->width;
    w->info.height = out->height;
    w->info.frame_bytes = out->bytes;
    w->info.is_converted = w->kind == SEG_KIND_PACKETS || !converter_is_identity(w->converter);
    (void)snprintf(w->info.pixel, sizeof w->info.pixel, "%s", w->shape.pixfmt->name);
    return 0;
}

static int element_shape(struct window *w, struct swt_diag *reterr)
{
    const struct params *p = w->params;
    const struct swt_window_spec *s = &w->spec;
    if (s->width || s->crop_width || s->pixel || s->has_norm || s->layout != SWT_LAYOUT_THWC)
        return err_set(
            reterr, SWT_E_USAGE,
            "'%s' holds no pictures: --size, --crop, --pixel, --layout and --norm do not apply",
            w->info.stream);
    if (w->kind == SEG_KIND_PACKETS) {
        w->info.n_dims = 1;
        w->info.is_converted = 1;
        return 0;
    }
    enum swt_dtype out = s->dtype != SWT_DTYPE_NONE ? s->dtype : is_sound(p) ? SWT_F32 : p->dtype;
    uint64_t n = 1;
    w->info.n_dims = 1;
    if (is_sound(p)) {
        n = (uint64_t)p->channels;
        w->info.shape[w->info.n_dims++] = p->channels;
    } else {
        for (int i = 0; i < p->n_dims; i++) {
            w->info.shape[w->info.n_dims++] = p->shape[i];
            if (!size_mul(n, (uint64_t)p->shape[i], &n))
                return err_set(reterr, SWT_E_CORRUPT, "shape of the stream overflows");
        }
    }
    w->info.dtype = out;
    if (!size_mul(n, dtype_get(out)->bytes, &w->info.frame_bytes))
        return err_set(reterr, SWT_E_CORRUPT, "shape of the stream overflows");
    w->info.is_converted = out != p->dtype;
    return 0;
}

static void describe(const struct params *p, char *text, size_t cap)
{
    if (is_picture(p))
        (void)snprintf(text, cap, "%dx%d %s", p->width, p->height, p->pixel);
    else if (is_sound(p))
        (void)snprintf(text, cap, "%" PRId64 " Hz %d channels %s", p->rate.num, p->channels,
                       dtype_get(p->dtype)->name);
    else
        (void)snprintf(text, cap, "%s, %" PRIu64 " bytes a frame", dtype_get(p->dtype)->name,
                       p->frame_bytes);
}

static int runs_differ(const struct params *a, const struct params *b, uint64_t at,
                       struct swt_diag *reterr)
{
    char from[80], to[80];
    describe(a, from, sizeof from);
    describe(b, to, sizeof to);
    return err_set(reterr, SWT_E_RUNS,
                   "the window crosses a format change at frame %" PRIu64
                   ": %s before, %s from there on (%s)",
                   at, from, to,
                   is_picture(a) ? "--size and --pixel make them equal" : "take each part alone");
}

/* Would frames of run `p` come out in the shape of this window? */
static int run_fits(struct window *w, const struct params *p, uint64_t at, struct swt_diag *reterr)
{
    if (strcmp(p->media, w->params->media) != 0)
        return runs_differ(w->params, p, at, reterr);
    if (!is_picture(p)) {
        bool same = p->frame_bytes == w->params->frame_bytes && p->dtype == w->params->dtype &&
                    p->rate.num == w->params->rate.num && p->rate.den == w->params->rate.den;
        return same ? 0 : runs_differ(w->params, p, at, reterr);
    }
    struct picture pic;
    struct converter *c AUTO(converter_free) = NULL;
    int rc = like(w, p, &pic, reterr);
    if (rc >= 0)
        rc = converter_new(&pic, &w->shape, &c, reterr);
    if (rc < 0)
        return rc;
    const struct convert_shape *a = converter_shape(w->converter), *b = converter_shape(c);
    bool same = a->bytes == b->bytes && a->dtype == b->dtype && a->width == b->width &&
                a->height == b->height;
    return same ? 0 : runs_differ(w->params, p, at, reterr);
}

/* Every run that the plan touches must give the same shape. */
static int check_runs(struct window *w, struct swt_diag *reterr)
{
    for (size_t i = 0; i < w->plan.n_pieces; i++) {
        const struct plan_piece *piece = &w->plan.pieces[i];
        if (piece->kind != PLAN_FRAMES)
            continue;
        uint64_t last = (uint64_t)(piece->first + (piece->n - 1) * w->plan.stride);
        for (uint64_t f = (uint64_t)piece->first; f <= last;) {
            struct store_frame frame;
            const struct params *p;
            int rc = store_reader_frame(w->reader, f, &frame, reterr);
            if (rc >= 0)
                rc = store_reader_params(w->reader, f, &p, reterr);
            if (rc >= 0 && frame.run_base_frame != w->run_base)
                rc = run_fits(w, p, f, reterr);
            if (rc < 0)
                return rc;
            f = frame.run_end_frame > f ? frame.run_end_frame : f + 1;
        }
    }
    return 0;
}

static int64_t first_real(const struct plan *plan)
{
    for (size_t i = 0; i < plan->n_pieces; i++)
        if (plan->pieces[i].kind != PLAN_ZERO)
            return plan->pieces[i].first;
    return -1;
}

static int fill_info(struct window *w, struct swt_diag *reterr)
{
    const struct params *p = w->params;
    struct swt_window_info *info = &w->info;
    info->n_frames = info->shape[0] = w->plan.n_frames;
    info->n_valid = w->plan.n_valid;
    (void)snprintf(info->media, sizeof info->media, "%s", p->media);
    info->rate = p->rate;
    info->channels = p->channels;
    int rc = is_picture(p) ? picture_shape(w, reterr) : element_shape(w, reterr);
    if (rc < 0)
        return rc;
    if (!size_mul(info->frame_bytes, (uint64_t)info->n_frames, &info->bytes) ||
        info->bytes > INT64_MAX)
        return err_set(reterr, SWT_E_USAGE,
                       "a window of %" PRId64 " frames of %" PRIu64 " bytes is too large",
                       info->n_frames, info->frame_bytes);
    if (w->spec.layout == SWT_LAYOUT_CTHW && info->n_dims == 4) {
        info->shape[0] = info->shape[1];
        info->shape[1] = w->plan.n_frames;
        info->is_converted = 1;
    }
    return check_runs(w, reterr);
}

/* Frames of encoded sound are packets: they are counted and timed like pictures. */
static int resolve(struct window *w, struct plan *plan, struct swt_diag *reterr)
{
    bool is_samples = is_sound(w->params) && w->kind == SEG_KIND_TENSOR;
    struct swt_ratio rate = is_samples || !is_sound(w->params) ? w->params->rate
                                                               : (struct swt_ratio){0, 1};
    return plan_resolve(w->reader, &w->spec, rate, is_samples, plan, reterr);
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
    rc = resolve(w, &w->plan, reterr);
    w->spec.frames = NULL;
    w->spec.n_frames = 0;
    int64_t first = first_real(&w->plan);
    if (rc >= 0 && first >= 0) {
        struct store_frame f;
        rc = store_reader_frame(reader, (uint64_t)first, &f, reterr);
        if (rc >= 0)
            rc = store_reader_params(reader, (uint64_t)first, &w->params, reterr);
        w->run_base = rc < 0 ? 0 : f.run_base_frame;
    }
    if (rc >= 0)
        rc = fill_info(w, reterr);
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
    struct store_frame f;
    *ret_same = true;
    if (first < 0)
        return 0;
    int rc = store_reader_frame(w->reader, (uint64_t)first, &f, reterr);
    const struct plan_piece *last = &w->plan.pieces[w->plan.n_pieces - 1];
    int64_t end = plan_frame(&w->plan, last, last->n - 1);
    *ret_same = rc >= 0 && f.run_base_frame == w->run_base && end < (int64_t)f.run_end_frame;
    return rc;
}

/* Shape anew for the plan as it is now; the first frame's run decides. */
static int reshape(struct window *w, struct swt_diag *reterr)
{
    int64_t first = first_real(&w->plan);
    struct store_frame f;
    int rc = store_reader_frame(w->reader, (uint64_t)first, &f, reterr);
    if (rc >= 0)
        rc = store_reader_params(w->reader, f.frame, &w->params, reterr);
    if (rc < 0)
        return rc;
    w->run_base = f.run_base_frame;
    converter_free(&w->converter);
    return fill_info(w, reterr);
}

static void set_counts(struct window *w)
{
    bool planes_first = w->spec.layout == SWT_LAYOUT_CTHW && w->info.n_dims == 4;
    w->info.n_frames = w->info.shape[planes_first ? 1 : 0] = w->plan.n_frames;
    w->info.n_valid = w->plan.n_valid;
    w->info.bytes = (uint64_t)w->plan.n_frames * w->info.frame_bytes;
}

int window_refresh(struct window *w, struct swt_diag *reterr)
{
    bool same = true;
    struct store_reader_state state;
    if (w->spec.select == SWT_SELECT_FRAMES)
        return 0;
    int rc = resolve(w, &w->spare, reterr);
    if (rc < 0)
        return rc;
    swap_plans(w);
    rc = same_run(w, &same, reterr);
    if (rc >= 0 && !same)
        rc = reshape(w, reterr);
    if (rc >= 0)
        rc = store_reader_refresh(w->reader, &state, reterr);
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

/* ---- filling ------------------------------------------------------------------------------------- */

/* The converter for the run of a frame; made anew where the run changes. */
static int enter_run(struct window *w, const struct store_frame *f, struct swt_diag *reterr)
{
    if (f->run_base_frame == w->run_base)
        return 0;
    const struct params *p;
    int rc = store_reader_params(w->reader, f->frame, &p, reterr);
    if (rc < 0)
        return rc;
    w->params = p;
    w->run_base = f->run_base_frame;
    if (!is_picture(p))
        return 0;
    struct picture pic;
    rc = like(w, p, &pic, reterr);
    converter_free(&w->converter);
    return rc < 0 ? rc : converter_new(&pic, &w->shape, &w->converter, reterr);
}

/* Stored bytes of frames a .. a + n - 1 of one run, checked. */
static int stored(struct window *w, uint64_t a, uint64_t n, const void **ret_data,
                  struct swt_diag *reterr)
{
    int rc = store_reader_map(w->reader, a, n, ret_data, reterr);
    if (rc >= 0 && !w->spec.unchecked)
        rc = store_reader_check(w->reader, a, n, reterr);
    return rc;
}

static void convert_stored(struct window *w, const uint8_t *data, uint64_t n, uint8_t *out)
{
    const struct params *p = w->params;
    if (!is_picture(p)) {
        size_t elements = (size_t)(n * (p->frame_bytes / dtype_get(p->dtype)->bytes));
        (void)convert_elements(p->dtype, data, w->info.dtype, out, elements, is_sound(p));
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

/* Frame numbers a, a + stride, … n of them into `out`. */
static int fill_frames(struct window *w, uint64_t a, int64_t n, uint8_t *out,
                       struct swt_diag *reterr)
{
    while (n > 0) {
        struct store_frame f;
        int rc = store_reader_frame(w->reader, a, &f, reterr);
        if (rc >= 0)
            rc = enter_run(w, &f, reterr);
        if (rc < 0)
            return rc;
        int64_t step = 1;
        if (w->kind == SEG_KIND_PACKETS) {
            rc = decode_one(w, &f, out, reterr);
        } else {
            const void *data;
            int64_t left = (int64_t)(f.run_end_frame - a);
            if (w->plan.stride == 1 && left > 1)
                step = n < left ? n : left;
            rc = stored(w, a, (uint64_t)step, &data, reterr);
            if (rc >= 0 && !w->info.is_converted)
                memcpy(out, data, (size_t)((uint64_t)step * w->info.frame_bytes));
            else if (rc >= 0)
                convert_stored(w, data, (uint64_t)step, out);
        }
        if (rc < 0)
            return rc;
        n -= step;
        a += (uint64_t)(step * w->plan.stride);
        out += (uint64_t)step * w->info.frame_bytes;
    }
    return 0;
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

static bool is_planes_first(const struct window *w)
{
    return w->spec.layout == SWT_LAYOUT_CTHW && w->info.n_dims == 4;
}

int window_can_read(const struct window *w, struct swt_diag *reterr)
{
    if (w->kind == SEG_KIND_PACKETS && !is_picture(w->params))
        return err_set(reterr, SWT_E_UNSUPPORTED,
                       "'%s' holds encoded sound; take the window of its decoded stream",
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
    if (rc < 0 || !is_planes_first(w))
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
    struct store_frame f;
    uint64_t a = (uint64_t)plan_frame(&w->plan, piece, within);
    int rc = store_reader_frame(w->reader, a, &f, reterr);
    if (rc < 0)
        return rc;
    uint64_t n = (uint64_t)(piece->n - within), fit = max_bytes / w->info.frame_bytes;
    n = n < f.run_end_frame - a ? n : f.run_end_frame - a;
    n = n > fit ? (fit ? fit : 1) : n;
    rc = stored(w, a, n, ret_data, reterr);
    *ret_n = rc < 0 ? 0 : (int64_t)n;
    return rc;
}

int window_entry(struct window *w, int64_t i, struct store_frame *ret, struct swt_diag *reterr)
{
    int64_t within;
    if (i < 0 || i >= w->info.n_frames)
        return err_set(reterr, -EINVAL, "frame %" PRId64 " lies outside the window", i);
    const struct plan_piece *piece = plan_at(&w->plan, i, &within);
    if (piece->kind != PLAN_FRAMES)
        return err_set(reterr, SWT_E_NO_WINDOW, "frame %" PRId64 " of the window is padding", i);
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
