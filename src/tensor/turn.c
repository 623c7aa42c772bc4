/* SPDX-License-Identifier: MIT
 *
 * turn.c - mirrors and turns the components of a picture in steps of 90 degrees.
 */
#include "tensor/source.h"

#define TURN_ROWS 16 /* source rows taken together, so that turned rows fill cache lines */

void turn_init(struct turn *t, const struct picture *p, struct arena *arena)
{
    struct source s;

    source_of(p, &s);
    *t = (struct turn){.rotation = p->rotation, .hflip = p->hflip, .n_comps = s.n_comps};
    t->scratch = arena_take(arena, (size_t)p->width * TURN_ROWS, 2);
    for (int i = 0; i < s.n_comps; i++)
        t->plane[i] = arena_take(arena, (size_t)s.comp[i].width * (size_t)s.comp[i].height,
                                 s.comp[i].is_word ? 2 : 1);
}

/* Where sample (0, 0) goes, and how far the next one of a row and of a column is, in samples. */
struct turn_map {
    ptrdiff_t origin, dx, dy;
};

static struct turn_map turn_map_of(const struct turn *t, int width, int height)
{
    ptrdiff_t w = width, h = height;
    struct turn_map m = {0, 1, w};

    if (t->rotation == 90)
        m = (struct turn_map){h - 1, h, -1};
    else if (t->rotation == 180)
        m = (struct turn_map){w * h - 1, -1, -w};
    else if (t->rotation == 270)
        m = (struct turn_map){(w - 1) * h, -h, 1};
    if (t->hflip) {
        m.origin += (w - 1) * m.dx;
        m.dx = -m.dx;
    }
    return m;
}

static void scatter(const void *const *rows, int n_rows, bool is_word, int width, struct turn_map m,
                    void *out)
{
    for (int x = 0; x < width; x++) {
        ptrdiff_t at = m.origin + x * m.dx;

        for (int k = 0; k < n_rows; k++, at += m.dy) {
            if (is_word)
                ((uint16_t *)out)[at] = ((const uint16_t *)rows[k])[x];
            else
                ((uint8_t *)out)[at] = ((const uint8_t *)rows[k])[x];
        }
    }
}

static void turn_comp(const struct turn *t, struct source_comp *c, uint8_t *plane)
{
    struct turn_map m = turn_map_of(t, c->width, c->height);
    bool is_tall = t->rotation == 90 || t->rotation == 270;
    const void *rows[TURN_ROWS];
    size_t bytes = c->is_word ? 2 : 1;

    for (int y = 0; y < c->height; y += TURN_ROWS) {
        int n = c->height - y < TURN_ROWS ? c->height - y : TURN_ROWS;

        for (int k = 0; k < n; k++)
            rows[k] = source_row(c, y + k, 0, c->width,
                                 (uint8_t *)t->scratch + (size_t)k * (size_t)c->width * 2);
        scatter(rows, n, c->is_word, c->width, m, plane);
        m.origin += m.dy * n;
    }
    if (is_tall) {
        int width = c->width;

        c->width = c->height;
        c->height = width;
    }
    c->data = plane;
    c->stride = (ptrdiff_t)((size_t)c->width * bytes);
    c->step = (uint8_t)bytes;
    c->shift = 0;
    c->is_plain = true;
}

void turn_run(const struct turn *t, struct source *s)
{
    for (int i = 0; i < t->n_comps; i++)
        turn_comp(t, &s->comp[i], t->plane[i]);
}
