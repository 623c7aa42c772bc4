/* SPDX-License-Identifier: MIT
 *
 * colour.c - decides per component how it is made, once, and then makes rows. What a sample becomes is in
 * pixel.h, the loops are in rows.c; turning chroma into RGB is in stretch.c.
 */
#include "tensor/colour.h"

#include <string.h>

#include "tensor/rows.h"
#include "tensor/stretch.h"

static bool is_yuv(const struct pixfmt *f)
{
    return !f->is_rgb && f->n_comps >= 3;
}

static bool is_full_yuv(const struct pixfmt *f, const char *range)
{
    return !strcmp(range, "pc") || !strcmp(range, "jpeg") || !strcmp(range, "full") ||
           !strncmp(f->name, "yuvj", 4);
}

bool colour_spec_init(struct colour_spec *spec, const struct picture *p, const struct pixfmt *to)
{
    const char *matrix = p->matrix ? p->matrix : "", *range = p->range ? p->range : "";

    *spec = (struct colour_spec){.from = p->pixfmt, .to = to};
    if (is_yuv(p->pixfmt))
        spec->is_full_from = is_full_yuv(p->pixfmt, range);
    else
        spec->is_full_from = p->pixfmt->is_rgb || strcmp(range, "tv") != 0;
    if (is_yuv(to))
        spec->is_full_to = is_full_yuv(to, "") || (is_yuv(p->pixfmt) && spec->is_full_from);
    else
        spec->is_full_to = true;
    if (!is_yuv(p->pixfmt) && !to->is_rgb && to->n_comps < 3 && !p->pixfmt->is_rgb)
        spec->is_full_to = spec->is_full_from; /* gray stays as it is */

    bool is_needed = p->pixfmt->is_rgb != to->is_rgb && (is_yuv(p->pixfmt) || p->pixfmt->is_rgb);

    if (pixel_matrix_find(p->pixfmt->is_rgb ? "" : matrix, &spec->matrix))
        return true;
    return pixel_matrix_find("", &spec->matrix) && !is_needed;
}

int colour_depth(const struct pixfmt *f, int comp)
{
    return f->comp[comp].depth < 8 ? 8 : f->comp[comp].depth;
}

/* One component out of one: a copy where nothing changes. */
static void plan_same(struct colour_comp *c, const struct source *shape, int from, bool is_chroma,
                      bool is_full_from, bool is_full_to, int depth, struct arena *arena)
{
    int from_depth = shape->comp[from].depth;

    c->from = from;
    c->kind = COLOUR_COPY;
    if (from_depth == depth && is_full_from == is_full_to)
        return;
    c->kind = COLOUR_SUM;
    c->sum = pixel_sum_same(is_chroma, is_full_from, from_depth, is_full_to, depth);
    if (shape->comp[from].is_word)
        return;
    c->table = arena_take(arena, 256, sizeof *c->table);
    for (unsigned i = 0; c->table && i < 256; i++)
        c->table[i] = pixel_sum_of(&c->sum, i, 0, 0);
}

static void plan_fill(struct colour_comp *c, int value)
{
    c->kind = COLOUR_FILL;
    c->fill = (uint16_t)value;
}

/* Component `to` of the target. */
static void plan_comp(struct colour_comp *c, const struct colour_spec *spec,
                      const struct source *shape, int to, struct arena *arena)
{
    const struct pixfmt *f = spec->from, *t = spec->to;
    int depth = colour_depth(t, to);
    bool is_alpha = t->has_alpha && to == t->n_comps - 1,
         is_chroma = is_yuv(t) && (to == 1 || to == 2);

    if (is_alpha && f->has_alpha) {
        plan_same(c, shape, f->n_comps - 1, false, true, true, depth, arena);
    } else if (is_alpha) {
        plan_fill(c, (1 << depth) - 1);
    } else if (t->is_rgb && is_yuv(f)) {
        c->kind = COLOUR_RGB;
    } else if (f->is_rgb && !t->is_rgb) {
        const int depths[3] = {shape->comp[0].depth, shape->comp[1].depth, shape->comp[2].depth};

        c->kind = COLOUR_MATRIX;
        c->sum = pixel_sum_of_rgb(spec->matrix, depths, to, spec->is_full_to, depth);
    } else if (is_chroma && !is_yuv(f)) {
        plan_fill(c, 1 << (depth - 1));
    } else {
        plan_same(c, shape, f->n_comps < 3 ? 0 : to, is_chroma, spec->is_full_from,
                  spec->is_full_to, depth, arena);
    }
}

void colour_init(struct colour *c, const struct colour_spec *spec, const struct source *shape,
                 const int *which, int n_which, int x, int n, struct arena *arena)
{
    int depth = shape->comp[0].depth, to_depth = colour_depth(spec->to, which[0]);

    *c = (struct colour){.n_comps = n_which, .x = x, .n = n, .is_word = to_depth > 8};
    for (int i = 0; i < n_which; i++)
        plan_comp(&c->comp[i], spec, shape, which[i], arena);
    for (int i = 0; i < 3; i++)
        c->scratch[i] = arena_take(arena, (size_t)n, sizeof **c->scratch);
    if (c->comp[0].kind != COLOUR_RGB)
        return;
    if (c->is_word)
        c->rgb = pixel_rgb_init(spec->matrix, spec->is_full_from, depth, to_depth);
    else
        c->rgb8 = pixel_rgb8_init(spec->matrix, spec->is_full_from, depth);
    stretch_init(&c->stretch, shape, x, n, c->is_word, arena);
}

bool colour_can_widen(const struct colour *c, const struct source *shape)
{
    return c->comp[0].kind == COLOUR_RGB && !c->is_word && !shape->comp[0].is_word;
}

void colour_begin(struct colour *c)
{
    stretch_begin(&c->stretch);
}

/* Three components at once. */
static void rgb_row(struct colour *c, const struct source *s, int y, void *const store[4])
{
    const struct source_comp *luma = &s->comp[0];
    const void *u, *v, *row;
    int up = 16 - luma->depth;

    stretch_row(&c->stretch, s, y, c->x, c->n, &u, &v);
    if (c->is_word) {
        row = source_row_words(luma, y, c->x, c->n, c->scratch[0]);
        rows_deep_rgb(&c->rgb, row, up, u, v, c->n, store[0], store[1], store[2]);
        return;
    }
    row = source_row(luma, y, c->x, c->n, c->scratch[0]);
    if (luma->is_word)
        rows_rgb8_words(&c->rgb8, row, up, u, v, c->n, store[0], store[1], store[2]);
    else if (c->is_rgb_wide)
        rows_rgb8_wide(&c->rgb8, row, u, v, c->n, store[0], store[1], store[2]);
    else
        rows_rgb8(&c->rgb8, row, u, v, c->n, store[0], store[1], store[2]);
}

static void sum_row(const struct colour *c, const struct colour_comp *k, const struct source *s,
                    int y, void *store)
{
    const uint16_t *in[3];

    if (k->table) {
        rows_table(k->table, source_row(&s->comp[k->from], y, c->x, c->n, c->scratch[0]), c->n,
                   c->is_word, store);
    } else if (k->kind == COLOUR_SUM) {
        rows_sum_one(&k->sum, source_row_words(&s->comp[k->from], y, c->x, c->n, c->scratch[0]),
                     c->n, c->is_word, store);
    } else {
        for (int i = 0; i < 3; i++)
            in[i] = source_row_words(&s->comp[i], y, c->x, c->n, c->scratch[i]);
        rows_sum(&k->sum, in, c->n, c->is_word, store);
    }
}

void colour_row(struct colour *c, const struct source *s, int y, void *const store[4],
                const void *ret_row[4])
{
    for (int i = 0; i < c->n_comps; i++) {
        struct colour_comp *k = &c->comp[i];

        ret_row[i] = store[i];
        if (k->kind == COLOUR_COPY)
            ret_row[i] = source_row(&s->comp[k->from], y, c->x, c->n, store[i]);
        else if (k->kind == COLOUR_FILL)
            rows_fill(k->fill, c->n, c->is_word, store[i]);
        else if (k->kind != COLOUR_RGB)
            sum_row(c, k, s, y, store[i]);
        else if (!i)
            rgb_row(c, s, y, store);
    }
}
