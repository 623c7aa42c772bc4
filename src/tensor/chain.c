/* SPDX-License-Identifier: MIT
 *
 * chain.c - a ring of source rows as long as the filter, and the two passes of resizing: down first, as it
 * shrinks the work of the second where it shrinks the picture.
 */
#include "tensor/chain.h"

#include "tensor/rows.h"

#define CHAIN_FAST_TAPS   32 /* more, and what 16-bit products lose could add up to a visible step */
#define CHAIN_DOWN_STEP   4
#define CHAIN_ACROSS_STEP 8

static void init_rows(struct chain *c, struct arena *arena)
{
    size_t width = (size_t)c->spec.width, bytes = c->colour.is_word ? 2 : 1;

    c->n_slots = c->down && !c->down->is_pick ? c->down->n_taps : 1;
    c->store_stride = (width * bytes + ARENA_SLACK - 1) / ARENA_SLACK * ARENA_SLACK;
    for (int i = 0; i < c->spec.n_comps; i++) {
        c->store[i] = arena_take(arena, (size_t)c->n_slots, c->store_stride);
        c->slot[i] = arena_take(arena, (size_t)c->n_slots, sizeof **c->slot);
        c->out[i] = arena_take(arena, (size_t)c->spec.out_width, bytes);
    }
    c->taps = arena_take(arena, (size_t)c->n_slots, sizeof *c->taps);
    /* taps of weight 0 are read past the end */
    c->middle = arena_take(arena, width + (c->across ? (size_t)c->across->n_taps : 0),
                           sizeof(int32_t));
}

void chain_init(struct chain *c, const struct colour_spec *colour, const struct source *shape,
                const struct chain_spec *spec, struct arena *arena)
{
    *c = (struct chain){.spec = *spec};
    colour_init(&c->colour, colour, shape, spec->which, spec->n_comps, spec->x, spec->width, arena);
    for (int i = 0; i < spec->n_comps; i++)
        c->max[i] = (1 << colour_depth(colour->to, spec->which[i])) - 1;
    c->down = axis_new(spec->kind, spec->height, spec->start_y, spec->length_y, spec->out_height,
                       CHAIN_DOWN_STEP, 32768, arena);
    c->across = axis_new(spec->kind, spec->width, spec->start_x, spec->length_x, spec->out_width,
                         CHAIN_ACROSS_STEP, 16384, arena);
    c->is_fast = !c->colour.is_word && (!c->down || c->down->n_taps <= CHAIN_FAST_TAPS);
    init_rows(c, arena);
}

void chain_begin(struct chain *c)
{
    c->next = 0;
    colour_begin(&c->colour);
}

/* Make source rows up to `last`, and none before `first`. */
static void make_rows(struct chain *c, const struct source *s, int first, int last)
{
    void *store[4];
    const void *row[4];

    if (c->next < first)
        c->next = first;
    for (; c->next <= last; c->next++) {
        int k = c->next % c->n_slots;

        for (int i = 0; i < c->spec.n_comps; i++)
            store[i] = c->store[i] + (size_t)k * c->store_stride;
        colour_row(&c->colour, s, c->spec.y + c->next, store, row);
        for (int i = 0; i < c->spec.n_comps; i++)
            c->slot[i][k] = row[i];
    }
}

/* The taps of component i, the ones past the end of the picture with weight 0. */
static void collect(struct chain *c, int i, int first, int last)
{
    for (int t = 0; t < c->n_slots; t++)
        c->taps[t] = c->slot[i][(first + t > last ? last : first + t) % c->n_slots];
}

static void resize_fast(struct chain *c, int r, int i)
{
    int width = c->spec.width;

    if (c->down)
        rows_down((const uint8_t *const *)c->taps,
                  c->down->w16 + (size_t)r * (size_t)c->down->n_taps, c->down->n_taps, width,
                  c->middle);
    else
        rows_down_one(c->taps[0], width, c->middle);
    if (c->across)
        rows_across(c->middle, c->across->first, c->across->w16, c->across->n_taps,
                    c->across->n_dst, c->out[i]);
    else
        rows_across_none(c->middle, width, c->out[i]);
}

static void resize_wide(struct chain *c, int r, int i)
{
    static const int32_t whole = 32768;
    const int32_t *w = c->down ? c->down->w + (size_t)r * (size_t)c->down->n_taps : &whole;
    bool is_word = c->colour.is_word;

    rows_wide_down(c->taps, is_word, w, c->n_slots, c->spec.width, c->middle);
    if (c->across)
        rows_wide_across(c->middle, c->across->first, c->across->w, c->across->n_taps,
                         c->across->n_dst, c->max[i], is_word, c->out[i]);
    else
        rows_wide_none(c->middle, c->spec.width, c->max[i], is_word, c->out[i]);
}

void chain_row(struct chain *c, const struct source *s, int r, const void *ret_row[4])
{
    const struct axis *down = c->down, *across = c->across;
    int first = down ? down->first[r] : r, last = first + c->n_slots - 1;

    if (last >= c->spec.height)
        last = c->spec.height - 1;
    make_rows(c, s, first, last);
    for (int i = 0; i < c->spec.n_comps; i++) {
        ret_row[i] = c->slot[i][first % c->n_slots];
        if (!across && (!down || down->is_pick))
            continue;
        collect(c, i, first, last);
        if (across && across->is_pick)
            rows_pick(c->taps[0], across->first, across->n_dst, c->colour.is_word, c->out[i]);
        else if (c->is_fast)
            resize_fast(c, r, i);
        else
            resize_wide(c, r, i);
        ret_row[i] = c->out[i];
    }
}
