/* SPDX-License-Identifier: MIT
 *
 * shape.c - what a frame of a window looks like, and whether every run that the window touches gives the same.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/dtype.h"
#include "base/size.h"
#include "tensor/window_parts.h"

static bool is_picture(const struct params *p)
{
    return strcmp(p->media, "video") == 0;
}

static bool is_sound(const struct params *p)
{
    return strcmp(p->media, "audio") == 0;
}

int window_like(const struct window *w, const struct params *p, struct picture *ret,
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
        w->shape.pixfmt = w->spec.for_format == SWT_FORMAT_Y4M ? y4m_pixel(stored)
                                                               : convert_default(stored);
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
    int rc = window_like(w, w->params, &p, reterr);
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
    if (s->has_norm && s->n_norm > 1 && s->n_norm != w->shape.pixfmt->n_comps)
        return err_set(reterr, SWT_E_USAGE, "--norm has %d values, and %s has %d components",
                       s->n_norm, w->shape.pixfmt->name, w->shape.pixfmt->n_comps);
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

/* Decoded sound; without it only what the index says of the packets. */
static int held_sound_shape(struct window *w)
{
    w->info.n_dims = 1;
    w->info.is_converted = 1;
    if (!window_holds_sound(w))
        return 0;
    w->info.dtype = w->spec.dtype != SWT_DTYPE_NONE ? w->spec.dtype : SWT_F32;
    w->info.shape[w->info.n_dims++] = w->info.channels = w->sound.channels;
    w->info.rate = (struct swt_ratio){w->sound.rate_hz, 1};
    w->info.frame_bytes = (uint64_t)w->sound.channels * dtype_get(w->info.dtype)->bytes;
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
    if (w->kind == SEG_KIND_PACKETS)
        return held_sound_shape(w);
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
    int rc = window_like(w, p, &pic, reterr);
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
            struct store_run run;
            const struct params *p;
            int rc = store_reader_run(w->reader, f, &run, reterr);
            if (rc >= 0)
                rc = store_reader_params(w->reader, f, &p, reterr);
            if (rc >= 0 && run.base_frame != w->run_base)
                rc = run_fits(w, p, f, reterr);
            if (rc < 0)
                return rc;
            f = run.end_frame > f ? run.end_frame : f + 1;
        }
    }
    return 0;
}

int window_shape(struct window *w, struct swt_diag *reterr)
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
    return window_holds_sound(w) ? 0 : check_runs(w, reterr);
}
