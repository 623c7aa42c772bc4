/* SPDX-License-Identifier: MIT
 *
 * chain.c - a ring of source rows as long as the filter, and the two passes of resizing. Down comes first, as
 * it shrinks the work of the second where it shrinks the picture. With bicubic, across comes first and is
 * rounded and clipped in between, as in PIL and torchvision: its overshoot makes the order visible.
 */
#include "tensor/chain.h"

#include "tensor/rows.h"

#define CHAIN_FAST_TAPS   32 /* more, and what 16-bit products lose could add up to a visible step */
#define CHAIN_DOWN_STEP   4
#define CHAIN_ACROSS_STEP 16

static bool has_weights(const struct axis *a)
{
    return a && !a->is_pick;
}

static void init_rows(struct chain *c, struct arena *arena)
{
    size_t width = (size_t)(c->is_across_first ? c->spec.out_width : c->spec.width);
    size_t bytes = c->colour.is_word || (c->is_fast && has_weights(c->down)) ? 2 : 1;

    c->n_slots = has_weights(c->down) ? c->down->n_taps : 1;
    c->is_kept_as_made = !c->is_across_first && !(c->is_fast && has_weights(c->down));
    c->store_stride = (width * bytes + ARENA_SLACK - 1) / ARENA_SLACK * ARENA_SLACK;
    for (int i = 0; i < c->spec.n_comps; i++) {
        if (!c->is_kept_as_made)
            c->made[i] = arena_take(arena, (size_t)c->spec.width, 2);
        c->store[i] = arena_take(arena, (size_t)c->n_slots, c->store_stride);
        c->slot[i] = arena_take(arena, (size_t)c->n_slots, sizeof **c->slot);
        c->out[i] = arena_take(arena, (size_t)c->spec.out_width, 2);
    }
    c->taps = arena_take(arena, (size_t)c->n_slots, sizeof *c->taps);
    if (width < (size_t)c->spec.width)
        width = (size_t)c->spec.width;
    if (c->across) /* taps of weight 0 are read past the end */
        width += (size_t)c->across->n_taps;
    c->middle = arena_take(arena, width, sizeof(int32_t));
}

void chain_init(struct chain *c, const struct colour_spec *colour, const struct source *shape,
                const struct chain_spec *spec, struct arena *arena)
{
    *c = (struct chain){.spec = *spec};
    colour_init(&c->colour, colour, shape, spec->which, spec->n_comps, spec->x, spec->width, arena);
    for (int i = 0; i < spec->n_comps; i++)
        c->max[i] = (1 << colour_depth(colour->to, spec->which[i])) - 1;
    c->up = spec->kind == RESIZE_BICUBIC || spec->kind == RESIZE_CHROMA;
    c->down = axis_new(spec->kind, spec->height, spec->start_y, spec->length_y, spec->out_height,
                       CHAIN_DOWN_STEP, 32768 >> c->up, arena);
    c->across = axis_new(spec->kind, spec->width, spec->start_x, spec->length_x, spec->out_width,
                         CHAIN_ACROSS_STEP, 16384, arena);
    c->is_fast = !c->colour.is_word && (!c->down || c->down->n_taps <= CHAIN_FAST_TAPS);
    c->is_across_first = spec->kind == RESIZE_BICUBIC && c->down && c->across;
    c->colour.is_rgb_wide = c->is_fast && has_weights(c->down) && !c->is_across_first &&
                            colour_can_widen(&c->colour, shape);
    init_rows(c, arena);
}

void chain_begin(struct chain *c)
{
    c->next = 0;
    colour_begin(&c->colour);
}

/* The pass across of a row as colour.c makes it. */
static void cross(struct chain *c, int i, const void *row, void *out)
{
    static const int32_t whole = 1 << ROWS_WIDE_BITS;
    const struct axis *a = c->across;
    bool is_word = c->colour.is_word;

    if (c->is_fast) {
        rows_down_one(row, c->spec.width, c->middle);
        rows_across(c->middle, a->first, a->w16, a->n_taps, a->n_dst, out);
    } else {
        rows_wide_down(&row, is_word, &whole, 1, c->spec.width, c->middle);
        rows_wide_across(c->middle, a->first, a->w, a->n_taps, a->n_dst, c->max[i], is_word, out);
    }
}

/* Does colour.c make component i in the form that the ring holds? */
static bool is_kept_as_made(const struct chain *c, int i)
{
    return c->is_kept_as_made || (c->colour.is_rgb_wide && c->colour.comp[i].kind == COLOUR_RGB);
}

/* Row `made` of component i in the form that the ring holds. */
static const void *keep(struct chain *c, int i, const void *made, void *store)
{
    bool is_words = c->is_fast && has_weights(c->down);

    if (is_kept_as_made(c, i))
        return made;
    if (c->is_across_first) {
        cross(c, i, made, is_words ? c->out[i] : store);
        made = c->out[i];
    }
    if (is_words)
        rows_widen(made, c->is_across_first ? c->spec.out_width : c->spec.width, store);
    return store;
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
            store[i] = is_kept_as_made(c, i) ? c->store[i] + (size_t)k * c->store_stride
                                             : c->made[i];
        colour_row(&c->colour, s, c->spec.y + c->next, store, row);
        for (int i = 0; i < c->spec.n_comps; i++)
            c->slot[i][k] = keep(c, i, row[i], c->store[i] + (size_t)k * c->store_stride);
    }
}

/* The taps of component i, the ones past the end of the picture with weight 0. */
static void collect(struct chain *c, int i, int first, int last)
{
    for (int t = 0; t < c->n_slots; t++)
        c->taps[t] = c->slot[i][(first + t > last ? last : first + t) % c->n_slots];
}

/* The pass down of collected rows for result r, and what is left of the pass across. */
static void descend(struct chain *c, int r, int i)
{
    const struct axis *down = c->down, *a = c->is_across_first ? NULL : c->across;
    size_t at = (size_t)r * (size_t)down->n_taps;
    int width = c->is_across_first ? c->spec.out_width : c->spec.width;
    bool is_word = c->colour.is_word;

    if (c->is_fast) {
        rows_down((const int16_t *const *)c->taps, down->w16 + at, down->n_taps, c->up, width,
                  c->middle);
        if (a)
            rows_across(c->middle, a->first, a->w16, a->n_taps, a->n_dst, c->out[i]);
        else
            rows_across_none(c->middle, width, c->out[i]);
        return;
    }
    rows_wide_down(c->taps, is_word, down->w + at, down->n_taps, width, c->middle);
    if (a)
        rows_wide_across(c->middle, a->first, a->w, a->n_taps, a->n_dst, c->max[i], is_word,
                         c->out[i]);
    else
        rows_wide_none(c->middle, width, c->max[i], is_word, c->out[i]);
}

void chain_row(struct chain *c, const struct source *s, int r, const void *ret_row[4])
{
    int first = c->down ? c->down->first[r] : r, last = first + c->n_slots - 1;

    if (last >= c->spec.height)
        last = c->spec.height - 1;
    make_rows(c, s, first, last);
    for (int i = 0; i < c->spec.n_comps; i++) {
        ret_row[i] = c->slot[i][first % c->n_slots];
        if (has_weights(c->down)) {
            collect(c, i, first, last);
            descend(c, r, i);
        } else if (has_weights(c->across)) {
            cross(c, i, ret_row[i], c->out[i]);
        } else if (c->across) {
            rows_pick(ret_row[i], c->across->first, c->across->n_dst, c->colour.is_word, c->out[i]);
        } else {
            continue;
        }
        ret_row[i] = c->out[i];
    }
}
