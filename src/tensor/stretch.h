/* SPDX-License-Identifier: MIT
 *
 * stretch.h - rows of chroma at luma's size, as words for rows_rgb8 or deeper for rows_deep_rgb.
 */
#ifndef TENSOR_STRETCH_H
#define TENSOR_STRETCH_H

#include "tensor/colour.h"

/* For columns x .. x + n - 1 of pictures shaped like `shape`. */
void stretch_init(struct colour_stretch *t, const struct source *shape, int x, int n, bool is_deep,
                  struct arena *arena);
void stretch_begin(struct colour_stretch *t);
/* Chroma of luma row y: int16_t with 7 fractional bits of 8, or int32_t with 12 of 16. Valid until the next. */
void stretch_row(struct colour_stretch *t, const struct source *s, int y, int x, int n,
                 const void **ret_u, const void **ret_v);

#endif
