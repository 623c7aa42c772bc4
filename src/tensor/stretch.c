/* SPDX-License-Identifier: MIT
 *
 * stretch.c - the loop around pixel_chroma_taps: which rows and columns of chroma a row of luma needs.
 */
#include "tensor/stretch.h"

#include <string.h>

#include "tensor/rows.h"

#define STRETCH_EDGE \
    4 /* columns, even: at twice the size these have taps before the first sample */

static int clamp(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static struct pixel_taps *taps_of(int n_src, int n_dst, int first, int n, struct arena *arena)
{
    struct pixel_taps *taps = arena_take(arena, (size_t)n, sizeof *taps);

    for (int i = 0; taps && i < n; i++)
        taps[i] = pixel_chroma_taps(n_src, n_dst, first + i);
    return taps;
}

/* Which columns of chroma are needed, and how they are stretched. */
static void init_across(struct colour_stretch *t, int n_chroma, int n_luma, int x, int n,
                        struct arena *arena)
{
    t->first = x;
    t->end = x + n;
    t->is_across = n_chroma != n_luma;
    t->is_double = 2 * n_chroma == n_luma;
    if (t->is_double) {
        t->n_pairs = (x + n + 1) / 2 - x / 2;
        t->first = x / 2 - 2;
        t->end = x / 2 + t->n_pairs + 2;
        t->n_edge = n_luma < STRETCH_EDGE ? n_luma : STRETCH_EDGE;
        t->edge = taps_of(n_chroma, n_luma, 0, t->n_edge, arena);
        t->across = taps_of(n_chroma, n_luma, STRETCH_EDGE, 2, arena);
    } else if (t->is_across) {
        t->across = taps_of(n_chroma, n_luma, x, n, arena);
        if (!t->across)
            return;
        t->first = t->across[0].first;
        t->end = t->across[n - 1].first + 4;
    }
}

void stretch_init(struct colour_stretch *t, const struct source *shape, int x, int n, bool is_deep,
                  struct arena *arena)
{
    const struct source_comp *luma = &shape->comp[0], *chroma = &shape->comp[1];
    size_t bytes = is_deep ? sizeof(int32_t) : sizeof(int16_t);

    *t = (struct colour_stretch){.is_deep = is_deep, .is_down = chroma->height != luma->height};
    init_across(t, chroma->width, luma->width, x, n, arena);
    if (t->is_down)
        t->down = taps_of(chroma->height, luma->height, 0, luma->height, arena);
    for (int p = 0; p < 2; p++) {
        t->column[p] = arena_take(arena, (size_t)(t->end - t->first), bytes);
        t->line[p] = arena_take(arena, (size_t)n + 2, bytes);
        for (int k = 0; k < 4; k++)
            t->slot_store[p][k] = arena_take(arena, (size_t)(t->end - t->first), sizeof(uint16_t));
    }
}

void stretch_begin(struct colour_stretch *t)
{
    memset(t->slot_row, -1, sizeof t->slot_row);
}

/* Columns a .. a + n - 1 of a row of chroma, fetched once while it is in use. */
static const void *slot_row(struct colour_stretch *t, const struct source_comp *c, int p, int row,
                            int a, int n)
{
    int k = row & 3;

    if (t->slot_row[p][k] != row) {
        uint16_t *store = t->slot_store[p][k];

        t->slot[p][k] = t->is_deep ? source_row_words(c, row, a, n, store)
                                   : source_row(c, row, a, n, store);
        t->slot_row[p][k] = row;
    }
    return t->slot[p][k];
}

static void down(struct colour_stretch *t, const struct source_comp *c, const void *const row[4],
                 int y, int n, void *out)
{
    const int16_t *w = t->is_down ? t->down[y].w : NULL;
    const uint8_t *const bytes[4] = {row[0], row[1], row[2], row[3]};
    const uint16_t *const words[4] = {row[0], row[1], row[2], row[3]};
    int up = 16 - c->depth;

    if (t->is_deep && w)
        rows_deep_down(words, w, up, n, out);
    else if (t->is_deep)
        rows_deep_plain(words[0], up, n, out);
    else if (c->is_word && w)
        rows_chroma_down_words(words, w, up, n, out);
    else if (c->is_word)
        rows_chroma_plain_words(words[0], up, n, out);
    else if (w)
        rows_chroma_down(bytes, w, n, out);
    else
        rows_chroma_plain(bytes[0], n, out);
}

/* Repeat the outermost samples of columns a .. b - 1 into those that lie outside the picture. */
static void repeat_edges(const struct colour_stretch *t, int a, int b, void *column)
{
    int32_t *deep = column;
    int16_t *words = column;

    for (int i = t->first; i < t->end; i++) {
        if (i == a)
            i = b;
        if (i == t->end)
            break;
        if (t->is_deep)
            deep[i - t->first] = deep[(i < a ? a : b - 1) - t->first];
        else
            words[i - t->first] = words[(i < a ? a : b - 1) - t->first];
    }
}

/* Pairs of columns from x on, then those at the edge anew. */
static const void *double_across(const struct colour_stretch *t, const void *column, int x, int n,
                                 void *line)
{
    const int16_t *even = t->across[0].w, *odd = t->across[1].w;
    int n_edge = x + n < t->n_edge ? n : t->n_edge - x, skip = x % 2;

    if (t->is_deep)
        rows_deep_double(column, even, odd, t->n_pairs, line);
    else
        rows_chroma_double(column, even, odd, t->n_pairs, line);
    if (n_edge > 0 && t->is_deep)
        rows_deep_across(column, t->edge + x, t->first, n_edge, (int32_t *)line + skip);
    else if (n_edge > 0)
        rows_chroma_across(column, t->edge + x, t->first, n_edge, (int16_t *)line + skip);
    return t->is_deep ? (const void *)((int32_t *)line + skip)
                      : (const void *)((int16_t *)line + skip);
}

static const void *stretch_comp(struct colour_stretch *t, const struct source_comp *c, int p, int y,
                                int x, int n)
{
    int a = t->first < 0 ? 0 : t->first, b = t->end > c->width ? c->width : t->end;
    size_t bytes = t->is_deep ? sizeof(int32_t) : sizeof(int16_t);
    const void *row[4];

    for (int k = 0; k < 4; k++)
        row[k] = slot_row(t, c, p, t->is_down ? clamp(t->down[y].first + k, c->height) : y, a,
                          b - a);
    down(t, c, row, y, b - a, (uint8_t *)t->column[p] + (size_t)(a - t->first) * bytes);
    if (!t->is_across)
        return t->column[p];
    repeat_edges(t, a, b, t->column[p]);
    if (t->is_double)
        return double_across(t, t->column[p], x, n, t->line[p]);
    if (t->is_deep)
        rows_deep_across(t->column[p], t->across, t->first, n, t->line[p]);
    else
        rows_chroma_across(t->column[p], t->across, t->first, n, t->line[p]);
    return t->line[p];
}

void stretch_row(struct colour_stretch *t, const struct source *s, int y, int x, int n,
                 const void **ret_u, const void **ret_v)
{
    *ret_u = stretch_comp(t, &s->comp[1], 0, y, x, n);
    *ret_v = stretch_comp(t, &s->comp[2], 1, y, x, n);
}
