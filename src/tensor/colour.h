/* SPDX-License-Identifier: MIT
 *
 * colour.h - rows of the target's components out of a source's: copied, put to another depth or range, or
 * through a matrix. Sizes stay as they are, but for chroma that is stretched on its way to RGB.
 */
#ifndef TENSOR_COLOUR_H
#define TENSOR_COLOUR_H

#include "tensor/pixel.h"
#include "tensor/source.h"

/* Everything that decides what a sample becomes. */
struct colour_spec {
    const struct pixfmt *from, *to;
    bool is_full_from, is_full_to; /* range */
    struct pixel_matrix matrix;
};

/* Matrix and ranges of a conversion of pictures like p. False: a matrix that is needed and not known. */
bool colour_spec_init(struct colour_spec *spec, const struct picture *p, const struct pixfmt *to);

struct colour_comp {
    enum { COLOUR_COPY, COLOUR_SUM, COLOUR_MATRIX, COLOUR_FILL, COLOUR_RGB } kind;
    int from; /* component of the source */
    struct pixel_sum sum;
    uint16_t fill;
    uint16_t *table; /* of sum, for sources of 8 bits and less */
};

/* Chroma stretched to luma's columns x .. x + n - 1. */
struct colour_stretch {
    bool is_double, is_across, is_down, is_deep;
    int first, end; /* columns of chroma that are needed; may lie outside */
    int n_pairs;    /* is_double */
    struct pixel_taps
        *across; /* of each column; is_double: of an even and an odd one far from the edge */
    struct pixel_taps *edge; /* is_double: of the columns that differ from those, 0 .. n_edge - 1 */
    int n_edge;
    struct pixel_taps *down;    /* of each row of the picture */
    const void *slot[2][4];     /* rows of chroma in use, by row modulo 4 */
    int slot_row[2][4];         /* which they are, -1 none */
    uint16_t *slot_store[2][4]; /* where those lie that could not be used in place */
    void *column[2], *line[2];  /* after stretching down, after stretching across */
};

struct colour {
    int n_comps;
    int x, n; /* columns that are made */
    bool is_word;
    bool
        is_rgb_wide; /* set by who wants red, green, blue as rows_widen gives them; see colour_can_widen */
    struct colour_comp comp[4];
    struct pixel_rgb8 rgb8;
    struct pixel_rgb rgb;
    struct colour_stretch stretch;
    uint16_t *scratch[3];
};

/* Bits that a target's component is made with; fewer than 8 are left to whoever writes the result. */
int colour_depth(const struct pixfmt *f, int comp);

/* Components `which` of spec->to, from pictures shaped like `shape`, for columns x .. x + n - 1. */
void colour_init(struct colour *c, const struct colour_spec *spec, const struct source *shape,
                 const int *which, int n_which, int x, int n, struct arena *arena);

/* Can red, green and blue be made wide at no cost? */
bool colour_can_widen(const struct colour *c, const struct source *shape);

/* Forget the picture before. */
void colour_begin(struct colour *c);

/* Row y of each component: in place, or written to store[i]. Samples are uint16_t if c->is_word. */
void colour_row(struct colour *c, const struct source *s, int y, void *const store[4],
                const void *ret_row[4]);

#endif
