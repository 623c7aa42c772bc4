/* SPDX-License-Identifier: MIT
 *
 * track_picture.c - decoded pictures on their way into a tensor stream: upright, converted if asked for, at their
 * own times or on a grid of --fps.
 */
#include "session/track.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/size.h"

/* ---- format -------------------------------------------------------------------------------------- */

static void as_picture(const struct track *t, const struct media_frame *f, struct picture *ret)
{
    const struct params *p = &t->stream->params;
    *ret = (struct picture){.pixfmt = f->pixfmt,
                            .width = f->width,
                            .height = f->height,
                            .matrix = f->matrix[0] ? f->matrix : p->matrix,
                            .range = f->range[0] ? f->range : p->range,
                            .rotation = p->rotation,
                            .hflip = p->hflip};
    memcpy(ret->plane, f->plane, sizeof ret->plane);
    memcpy(ret->stride, f->stride, sizeof ret->stride);
}

static void copy_name(char *dst, size_t cap, const char *a, const char *b)
{
    (void)snprintf(dst, cap, "%s", a[0] ? a : b);
}

/* Colour tags stay true only while the pixels stay YUV of the source. */
static void set_tags(struct params *out, const struct params *in, const struct media_frame *f,
                     const struct pixfmt *pixfmt)
{
    copy_name(out->primaries, sizeof out->primaries, f->primaries, in->primaries);
    copy_name(out->transfer, sizeof out->transfer, f->transfer, in->transfer);
    copy_name(out->chroma, sizeof out->chroma, f->chroma, in->chroma);
    copy_name(out->matrix, sizeof out->matrix, f->matrix, in->matrix);
    copy_name(out->range, sizeof out->range, f->range, in->range);
    if (pixfmt->is_rgb) {
        out->matrix[0] = out->chroma[0] = '\0';
        (void)snprintf(out->range, sizeof out->range, "pc");
    }
}

static int out_params(struct track *t, const struct media_frame *f, const struct pixfmt *pixfmt)
{
    const struct params *in = &t->stream->params;
    const struct convert_shape *shape = converter_shape(t->converter);
    struct params *out = &t->out;
    params_done(out);
    params_init(out);
    (void)snprintf(out->media, sizeof out->media, "video");
    (void)snprintf(out->pixel, sizeof out->pixel, "%s", pixfmt->name);
    (void)snprintf(out->field_order, sizeof out->field_order, "%s", in->field_order);
    set_tags(out, in, f, pixfmt);
    out->time_base = in->time_base;
    out->rate = t->spec->fps.num > 0 ? t->spec->fps : in->rate;
    out->width = shape->width;
    out->height = shape->height;
    out->sar = f->sar.num > 0 ? f->sar : in->sar;
    if (in->rotation % 180 != 0 && out->sar.num > 0)
        out->sar = (struct swt_ratio){out->sar.den, out->sar.num};
    out->dtype = shape->dtype;
    out->n_dims = shape->n_dims;
    memcpy(out->shape, shape->shape, sizeof shape->shape);
    out->frame_bytes = shape->bytes;
    return 0;
}

static int begin(struct track *t, const struct media_frame *f, const struct picture *p,
                 struct swt_diag *reterr)
{
    if (t->converter && converter_fits(t->converter, p))
        return 0;
    struct convert_spec spec = {.width = t->spec->width, .height = t->spec->height};
    if (t->spec->pixel && strcmp(t->spec->pixel, "stored") != 0 &&
        !(spec.pixfmt = pixfmt_find(t->spec->pixel)))
        return err_set(reterr, SWT_E_USAGE, "'%s' is not a pixel format swt knows", t->spec->pixel);
    converter_free(&t->converter);
    int rc = converter_new(p, &spec, &t->converter, reterr);
    if (rc < 0)
        return rc;
    uint8_t *more = realloc(t->picture, (size_t)converter_shape(t->converter)->bytes);
    if (!more)
        return err_set(reterr, -ENOMEM, "out of memory");
    t->picture = more;
    rc = out_params(t, f, spec.pixfmt ? spec.pixfmt : p->pixfmt);
    return rc < 0 ? rc : sink_format(t->tensor, &t->out, reterr);
}

/* ---- storing ------------------------------------------------------------------------------------- */

/* Store the converted picture at its time; times rise strictly. */
static int store(struct track *t, struct store_item *item, struct swt_diag *reterr)
{
    if (t->tensor_done || item->time_ns >= atomic_load(&t->limits->end_ns))
        return 0;
    if (t->last_ns != INT64_MIN && item->time_ns <= t->last_ns) {
        item->time_ns = t->last_ns + 1;
        item->flags |= SEG_FLAG_DISCONT;
    }
    if (t->gap_before)
        item->flags |= SEG_FLAG_GAP;
    int rc = sink_frames(t->tensor, item, t->picture, 1, reterr);
    if (rc < 0)
        return rc;
    t->gap_before = false;
    t->last_ns = item->time_ns;
    t->n_stored++;
    if (t->frames_limit > 0 && t->n_stored >= (uint64_t)t->frames_limit) {
        int64_t length = item->duration ? size_ticks_ns(item->duration, t->out.time_base)
                                        : size_frames_ns(1, t->out.rate);
        if (item->time_ns + length < atomic_load(&t->limits->end_ns))
            atomic_store(&t->limits->end_ns, item->time_ns + (length > 0 ? length : 1));
        t->tensor_done = true;
    }
    return 0;
}

static int64_t grid(const struct track *t)
{
    return t->grid_ns + size_frames_ns(t->grid_n, t->spec->fps);
}

/* --fps: give the picture on display to every grid point before `until_ns`. */
static int fill_grid(struct track *t, int64_t until_ns, struct swt_diag *reterr)
{
    while (t->has_held && !t->tensor_done && grid(t) < until_ns) {
        struct store_item item = t->held;
        item.time_ns = grid(t);
        item.duration = 0;
        int rc = store(t, &item, reterr);
        if (rc < 0)
            return rc;
        t->held.flags &= ~(uint32_t)(SEG_FLAG_DISCONT | SEG_FLAG_GAP);
        t->grid_n++;
    }
    return 0;
}

static void item_of(const struct track *t, const struct media_frame *f, struct store_item *ret)
{
    const struct in_flight *in = &t->flight[(f->tag >= 0 ? f->tag : 0) % TRACK_IN_FLIGHT];
    uint32_t flags = (in->flags & (SEG_FLAG_DISCONT | SEG_FLAG_CORRUPT)) |
                     (f->is_corrupt ? SEG_FLAG_DAMAGED : 0u) |
                     (f->is_interlaced ? SEG_FLAG_INTERLACED : 0u) |
                     (f->is_top_first ? SEG_FLAG_TOP_FIRST : 0u);
    *ret = (struct store_item){.time_ns = in->time_ns,
                               .src_pts = in->src_pts,
                               .capture_ns = in->capture_ns,
                               .duration = in->duration,
                               .flags = flags | SEG_FLAG_KEY};
}

int track_picture(struct track *t, const struct media_frame *f, struct swt_diag *reterr)
{
    struct picture p;
    struct store_item item;
    if (t->tensor_done)
        return 0;
    if (!f->pixfmt)
        return err_set(reterr, SWT_E_UNSUPPORTED,
                       "pixel format '%s' is not one swt can store; --store packets keeps it",
                       f->pixel_name);
    item_of(t, f, &item);
    if (f->is_corrupt && item.time_ns < t->key_ns)
        return 0; /* a leading picture of an open group: nobody could have shown it */
    int rc = t->spec->fps.num > 0 ? fill_grid(t, item.time_ns, reterr) : 0;
    as_picture(t, f, &p);
    if (rc >= 0)
        rc = begin(t, f, &p, reterr);
    if (rc < 0)
        return rc;
    converter_run(t->converter, &p, t->picture);
    if (t->spec->fps.num == 0)
        return store(t, &item, reterr);
    if (!t->has_held)
        t->grid_ns = item.time_ns;
    t->held = item;
    t->has_held = true;
    return 0;
}

int track_picture_end(struct track *t, struct swt_diag *reterr)
{
    if (!t->has_held)
        return 0;
    int64_t length = t->held.duration ? size_ticks_ns(t->held.duration, t->out.time_base)
                                      : t->place.step_ns;
    return fill_grid(t, t->held.time_ns + (length > 0 ? length : 1), reterr);
}
