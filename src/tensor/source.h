/* SPDX-License-Identifier: MIT
 *
 * source.h - the components of a picture as rows of plain samples, whatever the memory layout, and turned
 * upright. Knows positions and bits, not colours.
 */
#ifndef TENSOR_SOURCE_H
#define TENSOR_SOURCE_H

#include "tensor/arena.h"
#include "tensor/convert.h"

/* One component: sample (x, y) lies at data + y * stride + x * step. */
struct source_comp {
    const uint8_t *data;
    ptrdiff_t stride;
    int width, height;
    uint8_t step, shift, depth;
    bool is_word;  /* samples of more than 8 bits: rows are uint16_t */
    bool is_plain; /* rows can be used where they lie */
};

struct source {
    int n_comps;
    struct source_comp comp[4];
};

/* Components of a picture where they lie. */
void source_of(const struct picture *p, struct source *ret);

/* Samples x .. x + n - 1 of row y, uint8_t or uint16_t; in place if they can be, else copied to `scratch`
 * (n * 2 bytes). */
const void *source_row(const struct source_comp *c, int y, int x, int n, void *scratch);

/* The same, always uint16_t. */
const uint16_t *source_row_words(const struct source_comp *c, int y, int x, int n,
                                 uint16_t *scratch);

/* Turning a picture upright. Each component gets a plane of its own. */
struct turn {
    int rotation;
    bool hflip;
    int n_comps;
    uint8_t *plane[4];
    void *scratch;
};

/* Planes for pictures like p, out of the arena. */
void turn_init(struct turn *t, const struct picture *p, struct arena *arena);
/* `s` becomes the turned picture. */
void turn_run(const struct turn *t, struct source *s);

#endif
