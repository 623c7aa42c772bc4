/* SPDX-License-Identifier: MIT
 *
 * resize.h - which samples of a row or column make one of another length, with what weights. Applying them
 * is in rows.c.
 */
#ifndef TENSOR_RESIZE_H
#define TENSOR_RESIZE_H

#include "tensor/arena.h"
#include "tensor/convert.h"

enum resize_kind {
    RESIZE_NEAREST,
    RESIZE_AREA, /* share of each sample under the result's square */
    RESIZE_BILINEAR, /* triangle, stretched to the scale when it makes smaller, as PIL and torchvision do */
    RESIZE_BICUBIC, /* the same with the cubic of a = -0.5 */
    RESIZE_CHROMA /* the same with the cubic of a = -0.6, as swscale: from one subsampling to another */
};

enum resize_kind resize_kind_of(enum swt_filter filter);

/* Result i = sum over k of w[i * n_taps + k] * sample[first[i] + k]. */
struct axis {
    int n_src, n_dst,
        n_taps; /* n_taps: a multiple of `step`, the last ones may have weight 0 and lie outside */
    bool is_pick; /* nearest: result i is sample[first[i]], there are no weights */
    int32_t *first;
    int32_t *w;   /* for rows_wide_* */
    int16_t *w16; /* with the sum `one16` */
};

/* From samples start .. start + length of a line of n_src, as real numbers, n_dst ones. What lies outside the
 * line has no weight. NULL where nothing changes or memory is short: see arena->is_full. */
struct axis *axis_new(enum resize_kind kind, int n_src, double start, double length, int n_dst,
                      int step, int32_t one16, struct arena *arena);

#endif
