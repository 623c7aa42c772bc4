/* SPDX-License-Identifier: MIT
 *
 * convert.c - plans a conversion as one or two chains of rows (chroma of a subsampled target has its own)
 * and runs them. The steps are in the files that it includes.
 */
#include "tensor/convert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "tensor/chain.h"
#include "tensor/pack.h"

struct rect {
    int x, y, width, height;
};

struct converter {
    struct picture like; /* planes are not used; matrix and range point to the copies below */
    char matrix[SWT_FORMAT_CAP], range[SWT_FORMAT_CAP];
    struct convert_shape shape;
    bool is_identity, is_turned;
    struct turn turn;
    struct chain chain[2];
    int n_chains;
    struct pack pack;
    struct arena arena;
};

/* What the planning functions below share. */
struct plan {
    struct convert_spec spec; /* with defaults filled in */
    struct rect crop;         /* of the upright picture */
    struct source shape;      /* of the upright picture, no data */
    struct colour_spec colour;
    int log2_cw, log2_ch; /* of the upright picture */
};

static int ceil_shift(int n, int log2)
{
    return (n + (1 << log2) - 1) >> log2;
}

static void copy_tag(char to[SWT_FORMAT_CAP], const char *from)
{
    size_t n = strnlen(from ? from : "", SWT_FORMAT_CAP - 1);

    memcpy(to, from ? from : "", n);
    to[n] = '\0';
}

/* ---- checking and filling in what was asked for ---- */

static int check_picture(const struct picture *p, struct swt_diag *reterr)
{
    if (!p->pixfmt || !pixfmt_bytes(p->pixfmt, p->width, p->height))
        return err_set(reterr, SWT_E_UNSUPPORTED, "a picture of %dx%d cannot be converted",
                       p->width, p->height);
    if (p->rotation != 0 && p->rotation != 90 && p->rotation != 180 && p->rotation != 270)
        return err_set(reterr, SWT_E_UNSUPPORTED, "a picture turned by %d degrees", p->rotation);
    return 0;
}

static int check_spec(const struct convert_spec *s, struct swt_diag *reterr)
{
    const char *name = s->pixfmt->name;

    if (!pack_is_tensor(s->pixfmt)) {
        if (s->is_chw || s->has_norm || s->dtype != SWT_U8)
            return err_set(
                reterr, SWT_E_UNSUPPORTED,
                "%s is given as bytes, without layout, norm or dtype: --pixel rgb24 has them",
                name);
        return 0;
    }
    if (!dtype_get(s->dtype)->bytes)
        return err_set(reterr, SWT_E_USAGE, "not a dtype");
    if (s->has_norm && !dtype_get(s->dtype)->is_float)
        return err_set(reterr, SWT_E_USAGE,
                       "--norm gives fractions: --dtype f32, f16 or bf16, not %s",
                       dtype_get(s->dtype)->name);
    for (int i = 0; s->has_norm && i < s->pixfmt->n_comps; i++)
        if (!(s->std[i] > 0 || s->std[i] < 0))
            return err_set(reterr, SWT_E_USAGE, "--norm: a deviation of 0");
    return 0;
}

static int plan_crop(struct plan *p, int width, int height, struct swt_diag *reterr)
{
    struct convert_spec *s = &p->spec;

    p->crop = (struct rect){0, 0, width, height};
    if (s->crop_width || s->crop_height) {
        int w = s->crop_width ? s->crop_width : width, h = s->crop_height ? s->crop_height : height;
        int x = s->crop_x < 0 ? (width - w) / 2 : s->crop_x,
            y = s->crop_y < 0 ? (height - h) / 2 : s->crop_y;

        if (w < 1 || h < 1 || w > width || h > height || x > width - w || y > height - h)
            return err_set(reterr, SWT_E_USAGE,
                           "--crop %dx%d+%d+%d reaches outside the picture of %dx%d", w, h, x, y,
                           width, height);
        p->crop = (struct rect){x, y, w, h};
    }
    s->width = s->width ? s->width : p->crop.width;
    s->height = s->height ? s->height : p->crop.height;
    if (!pixfmt_bytes(s->pixfmt, s->width, s->height))
        return err_set(reterr, SWT_E_USAGE, "a size of %dx%d: 1 to 65536 each", s->width,
                       s->height);
    return 0;
}

/* Sizes and depths of the components after turning. */
static void plan_upright(struct plan *p, const struct picture *like)
{
    bool is_tall = like->rotation == 90 || like->rotation == 270;

    source_of(like, &p->shape);
    p->log2_cw = is_tall ? like->pixfmt->log2_ch : like->pixfmt->log2_cw;
    p->log2_ch = is_tall ? like->pixfmt->log2_cw : like->pixfmt->log2_ch;
    for (int i = 0; is_tall && i < p->shape.n_comps; i++) {
        struct source_comp *c = &p->shape.comp[i];
        int width = c->width;

        c->width = c->height;
        c->height = width;
    }
}

static int plan_init(struct plan *p, const struct picture *like, const struct convert_spec *spec,
                     struct swt_diag *reterr)
{
    int r = check_picture(like, reterr);

    if (r < 0)
        return r;
    *p = (struct plan){.spec = *spec};
    if (!p->spec.pixfmt)
        p->spec.pixfmt = like->pixfmt;
    if (p->spec.dtype == SWT_DTYPE_NONE)
        p->spec.dtype = pack_is_tensor(p->spec.pixfmt) && p->spec.pixfmt->comp[0].depth > 8
                            ? SWT_U16
                            : SWT_U8;
    r = check_spec(&p->spec, reterr);
    if (r < 0)
        return r;
    plan_upright(p, like);
    r = plan_crop(p, p->shape.comp[0].width, p->shape.comp[0].height, reterr);
    if (r < 0)
        return r;
    if (!colour_spec_init(&p->colour, like, p->spec.pixfmt))
        return err_set(
            reterr, SWT_E_UNSUPPORTED,
            "colours of the matrix %s cannot be converted to %s: --pixel stored keeps them",
            like->matrix, p->spec.pixfmt->name);
    return 0;
}

/* ---- chains ---- */

static enum resize_kind kind_of(const struct plan *p)
{
    bool is_resized = p->spec.width != p->crop.width || p->spec.height != p->crop.height;

    return is_resized ? resize_kind_of(p->spec.filter) : RESIZE_CHROMA;
}

/* The whole of the crop, in the grid of luma or RGB. */
static struct chain_spec luma_chain(const struct plan *p)
{
    return (struct chain_spec){.x = p->crop.x,
                               .y = p->crop.y,
                               .width = p->crop.width,
                               .height = p->crop.height,
                               .length_x = p->crop.width,
                               .length_y = p->crop.height,
                               .out_width = p->spec.width,
                               .out_height = p->spec.height,
                               .kind = kind_of(p)};
}

/* Where a cropped span of luma lies in the grid of chroma. Chroma covers the whole picture, stretched a
 * little where a side is odd; a mere crop moves it by half a sample at most and never stretches it. */
static void chroma_span(int at, int n, int n_luma, int n_chroma, int log2, int to_log2, int n_out,
                        int *ret_at, int *ret_n, double *ret_start, double *ret_length)
{
    int end = ceil_shift(at + n, log2);

    *ret_at = at >> log2;
    *ret_n = (end > n_chroma ? n_chroma : end) - *ret_at;
    *ret_start = (double)at / (1 << log2) - *ret_at;
    if (n == n_luma)
        *ret_length = n_chroma;
    else if (log2 == to_log2 && ceil_shift(n, log2) == n_out)
        *ret_length = n_out;
    else
        *ret_length = (double)n / (1 << log2);
}

static struct chain_spec chroma_chain(const struct plan *p)
{
    const struct pixfmt *f = p->colour.from, *t = p->colour.to;
    struct chain_spec c = luma_chain(p);
    const struct source_comp *luma = &p->shape.comp[0];

    c.which[0] = 1;
    c.which[1] = 2;
    c.n_comps = 2;
    c.out_width = ceil_shift(p->spec.width, t->log2_cw);
    c.out_height = ceil_shift(p->spec.height, t->log2_ch);
    if (f->is_rgb)
        return c;
    if (f->n_comps < 3) { /* gray: the same everywhere, nothing to resize */
        c.x = c.y = 0;
        c.length_x = c.width = c.out_width;
        c.length_y = c.height = c.out_height;
        return c;
    }
    chroma_span(p->crop.x, p->crop.width, luma->width, p->shape.comp[1].width, p->log2_cw,
                t->log2_cw, c.out_width, &c.x, &c.width, &c.start_x, &c.length_x);
    chroma_span(p->crop.y, p->crop.height, luma->height, p->shape.comp[1].height, p->log2_ch,
                t->log2_ch, c.out_height, &c.y, &c.height, &c.start_y, &c.length_y);
    return c;
}

static void plan_chains(struct converter *c, const struct plan *p)
{
    const struct pixfmt *t = p->spec.pixfmt;
    bool is_yuv = !t->is_rgb && t->n_comps >= 3;
    struct chain_spec spec = luma_chain(p);

    for (int i = 0; i < t->n_comps; i++)
        if (!is_yuv || (i != 1 && i != 2))
            spec.which[spec.n_comps++] = i;
    chain_init(&c->chain[c->n_chains++], &p->colour, &p->shape, &spec, &c->arena);
    if (!is_yuv)
        return;
    spec = chroma_chain(p);
    chain_init(&c->chain[c->n_chains++], &p->colour, &p->shape, &spec, &c->arena);
}

/* ---- the converter ---- */

static void plan_shape(struct converter *c, const struct plan *p)
{
    const struct pixfmt *f = p->spec.pixfmt;
    struct convert_shape *s = &c->shape;

    *s = (struct convert_shape){
        .dtype = p->spec.dtype, .width = p->spec.width, .height = p->spec.height};
    if (pack_is_tensor(f)) {
        pack_init_tensor(&c->pack, f, s->width, s->height, &p->spec, &c->arena);
        s->n_dims = 3;
        s->shape[0] = p->spec.is_chw ? f->n_comps : s->height;
        s->shape[1] = p->spec.is_chw ? s->height : s->width;
        s->shape[2] = p->spec.is_chw ? s->width : f->n_comps;
    } else {
        pack_init_picture(&c->pack, f, s->width, s->height);
        s->n_dims = 1;
        s->shape[0] = (int64_t)c->pack.bytes;
    }
    s->bytes = c->pack.bytes;
}

static bool plan_is_identity(const struct plan *p, const struct picture *like)
{
    const struct convert_spec *s = &p->spec;
    const struct pixfmt *f = s->pixfmt;
    bool is_deep = f->comp[0].depth > 8;

    return f == like->pixfmt && !like->rotation && !like->hflip && s->width == like->width &&
           s->height == like->height && p->crop.width == like->width &&
           p->crop.height == like->height && !s->has_norm && (!s->is_chw || f->n_comps == 1) &&
           (!pack_is_tensor(f) || s->dtype == (is_deep ? SWT_U16 : SWT_U8));
}

int converter_new(const struct picture *like, const struct convert_spec *spec,
                  struct converter **ret, struct swt_diag *reterr)
{
    AUTO(converter_free) struct converter *c = calloc(1, sizeof *c);
    struct plan p;
    int r;

    if (!c)
        return err_set(reterr, -ENOMEM, "out of memory");
    r = plan_init(&p, like, spec, reterr);
    if (r < 0)
        return r;
    c->like = *like;
    copy_tag(c->matrix, like->matrix);
    copy_tag(c->range, like->range);
    c->like.matrix = c->matrix;
    c->like.range = c->range;
    c->is_identity = plan_is_identity(&p, like);
    c->is_turned = like->rotation || like->hflip;
    plan_shape(c, &p);
    if (c->is_turned)
        turn_init(&c->turn, like, &c->arena);
    if (!c->is_identity)
        plan_chains(c, &p);
    if (c->arena.is_full)
        return err_set(reterr, -ENOMEM, "out of memory for a picture of %dx%d", like->width,
                       like->height);
    *ret = c;
    c = NULL;
    return 0;
}

void converter_free(struct converter **c)
{
    if (!c || !*c)
        return;
    arena_done(&(*c)->arena);
    free(*c);
    *c = NULL;
}

const struct convert_shape *converter_shape(const struct converter *c)
{
    return &c->shape;
}

bool converter_is_identity(const struct converter *c)
{
    return c->is_identity;
}

bool converter_fits(const struct converter *c, const struct picture *p)
{
    const struct picture *l = &c->like;

    return l->pixfmt == p->pixfmt && l->width == p->width && l->height == p->height &&
           l->rotation == p->rotation && l->hflip == p->hflip &&
           !strncmp(l->matrix, p->matrix ? p->matrix : "", SWT_FORMAT_CAP - 1) &&
           !strncmp(l->range, p->range ? p->range : "", SWT_FORMAT_CAP - 1);
}

static void copy_tight(const struct picture *p, uint8_t *out)
{
    for (int i = 0; i < p->pixfmt->n_planes; i++) {
        uint64_t n = pixfmt_row_bytes(p->pixfmt, i, p->width);
        int rows = pixfmt_rows(p->pixfmt, i, p->height);

        for (int y = 0; y < rows; y++, out += n)
            memcpy(out, p->plane[i] + (ptrdiff_t)y * p->stride[i], n);
    }
}

void converter_run(struct converter *c, const struct picture *p, uint8_t *out)
{
    struct source s;
    const void *row[4];

    if (c->is_identity) {
        copy_tight(p, out);
        return;
    }
    source_of(p, &s);
    if (c->is_turned)
        turn_run(&c->turn, &s);
    pack_begin(&c->pack, out);
    for (int i = 0; i < c->n_chains; i++) {
        struct chain *chain = &c->chain[i];

        chain_begin(chain);
        for (int r = 0; r < chain->spec.out_height; r++) {
            chain_row(chain, &s, r, row);
            pack_row(&c->pack, chain->spec.which, chain->spec.n_comps, row, r,
                     chain->spec.out_width, out);
        }
    }
}

const struct pixfmt *convert_default(const struct pixfmt *stored)
{
    bool is_deep = stored->comp[0].depth > 8;

    if (stored->n_comps < 3)
        return pixfmt_find(is_deep ? "gray16" : "gray");
    return pixfmt_find(is_deep ? "rgb48" : "rgb24");
}

void picture_tight(const struct pixfmt *f, int width, int height, const uint8_t *data,
                   struct picture *ret)
{
    *ret = (struct picture){
        .pixfmt = f, .width = width, .height = height, .matrix = "", .range = ""};
    for (int i = 0; i < f->n_planes; i++) {
        ret->plane[i] = data;
        ret->stride[i] = (int)pixfmt_row_bytes(f, i, width);
        data += pixfmt_row_bytes(f, i, width) * (uint64_t)pixfmt_rows(f, i, height);
    }
}
