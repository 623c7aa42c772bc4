/* SPDX-License-Identifier: MIT
 *
 * pack.h - rows of components into the result: a picture's tight memory layout, or a tensor of any element
 * type and layout. The last step of a conversion.
 */
#ifndef TENSOR_PACK_H
#define TENSOR_PACK_H

#include "tensor/arena.h"
#include "tensor/convert.h"

/* Where a component goes: element (x, y) at offset + y * row_step + x * step. */
struct pack_comp {
    uint64_t offset, row_step;
    uint32_t step;
    uint8_t shift;        /* left, e.g. 6 in p010 */
    uint8_t depth;        /* that the rows come with */
    uint8_t narrow;       /* > 0: bits of a field in a word, to be or-ed in */
    const uint8_t *table; /* element of each value, NULL: the value itself */
};

struct pack {
    int n_comps;
    bool is_word;      /* rows are uint16_t */
    int element_bytes; /* of the result */
    int interleaved;   /* 3 or 4: bytes of all components side by side, in `order`; else 0 */
    int order[4];      /* component at each place */
    int fill;          /* >= 0: bytes that no component covers */
    uint64_t bytes;
    struct pack_comp comp[4];
};

/* Is a format given as [H, W, C], with elements of its own, rather than as bytes? */
bool pack_is_tensor(const struct pixfmt *f);

/* Into the memory layout of `f`. */
void pack_init_picture(struct pack *p, const struct pixfmt *f, int width, int height);

/* Into elements: `spec` has dtype (never NONE), layout and norm. */
void pack_init_tensor(struct pack *p, const struct pixfmt *f, int width, int height,
                      const struct convert_spec *spec, struct arena *arena);

void pack_begin(const struct pack *p, uint8_t *out);

/* Row y of components `which`; rows of chroma count for themselves. */
void pack_row(const struct pack *p, const int *which, int n_which, const void *const row[4], int y,
              int n, uint8_t *out);

#endif
