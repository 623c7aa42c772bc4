/* SPDX-License-Identifier: MIT
 *
 * chain.h - rows of some components of the target, all of one size: made by colour.c, held as long as they
 * are needed, resized. A picture is never held as a whole.
 */
#ifndef TENSOR_CHAIN_H
#define TENSOR_CHAIN_H

#include "tensor/colour.h"
#include "tensor/resize.h"

struct chain_spec {
    int which[4], n_comps;   /* of the target */
    int x, y, width, height; /* what of the source's grid may be used */
    double start_x, start_y; /* what of that becomes the result, */
    double length_x, length_y;
    int out_width, out_height; /* of this size */
    enum resize_kind kind;
};

struct chain {
    struct chain_spec spec;
    struct colour colour;
    struct axis *across, *down; /* NULL: as it is */
    bool is_fast;               /* 8 bits, few taps: through 16-bit words */
    bool is_across_first;
    int up; /* words of weights down are halved so often, as a cubic has some above 1 at edges */
    int32_t max[4];       /* largest value of each component */
    int n_slots, next;    /* rows held; the row that is made next, counted from spec.y */
    bool is_kept_as_made; /* rows held are colour.c's; else words, or resized across */
    uint8_t *made[4];     /* a row for colour.c where it is not the row held */
    uint8_t *store[4];    /* n_slots rows of each component */
    size_t store_stride;
    const void **slot[4]; /* where each row held lies */
    const void **taps;    /* rows of one result */
    void *middle;         /* a row between the two passes: int16_t or, if not fast, int32_t */
    void *out[4];
};

void chain_init(struct chain *c, const struct colour_spec *colour, const struct source *shape,
                const struct chain_spec *spec, struct arena *arena);

/* A new picture. */
void chain_begin(struct chain *c);

/* Row r of the result, in order from 0; valid until the next. */
void chain_row(struct chain *c, const struct source *s, int r, const void *ret_row[4]);

#endif
