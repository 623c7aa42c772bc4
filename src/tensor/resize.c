/* SPDX-License-Identifier: MIT
 *
 * resize.c - weights of separable resizing. Positions are sample centres: result i looks at
 * start + (i + 1/2) * length / n_dst.
 */
#include "tensor/resize.h"

#include <math.h>

#include "tensor/rows.h"

enum resize_kind resize_kind_of(enum swt_filter filter)
{
    switch (filter) {
    case SWT_FILTER_NEAREST:
        return RESIZE_NEAREST;
    case SWT_FILTER_AREA:
        return RESIZE_AREA;
    case SWT_FILTER_BICUBIC:
        return RESIZE_BICUBIC;
    case SWT_FILTER_BILINEAR:
        break;
    }
    return RESIZE_BILINEAR;
}

/* Half the width of the filter at scale 1. */
static double reach_of(enum resize_kind kind)
{
    return kind == RESIZE_AREA ? 0.5 : kind == RESIZE_BILINEAR ? 1 : 2;
}

/* What a result at `center` takes of the sample that covers x .. x + 1. */
static double weight_at(enum resize_kind kind, double x, double center, double scale)
{
    double stretch = scale < 1 ? 1 : scale, d = fabs(x + 0.5 - center) / stretch;

    if (kind == RESIZE_AREA) {
        double low = fmax(x, center - scale / 2), high = fmin(x + 1, center + scale / 2);

        return high > low ? high - low : 0;
    }
    if (kind == RESIZE_BILINEAR)
        return d < 1 ? 1 - d : 0;
    return pixel_cubic(d, kind == RESIZE_BICUBIC ? -0.5 : -0.6);
}

/* The samples low .. high - 1 that the filter covers, whether or not they exist. */
static void cover(enum resize_kind kind, double center, double scale, int *ret_low, int *ret_high)
{
    double reach = kind == RESIZE_AREA ? scale / 2 : reach_of(kind) * (scale < 1 ? 1 : scale);

    *ret_low = (int)floor(kind == RESIZE_AREA ? center - reach : center - reach + 0.5);
    *ret_high = (int)(kind == RESIZE_AREA ? ceil(center + reach) : floor(center + reach + 0.5));
}

static int clamp(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* Weights of one result into w[0 .. n_taps - 1]; the number of samples, the first of which is *ret_first.
 * Samples outside the line have no weight; with RESIZE_CHROMA, the outermost one stands for them. */
static int weigh(enum resize_kind kind, const struct axis *a, double center, double scale,
                 double *w, int32_t *ret_first)
{
    int low, high, first, n;
    double sum = 0;

    cover(kind, center, scale, &low, &high);
    if (kind == RESIZE_CHROMA && scale < 1 && pixel_tap_is_lost(center - 0.5, low))
        low++;
    first = clamp(low, a->n_src);
    n = clamp(high - 1, a->n_src) - first + 1;
    n = n > a->n_taps ? a->n_taps : n < 1 ? 1 : n;
    for (int k = 0; k < n; k++)
        w[k] = 0;
    for (int x = low; x < high; x++) {
        int k = clamp(x, a->n_src) - first;
        double weight = weight_at(kind, x, center, scale);

        if (k < n && (kind == RESIZE_CHROMA || (x >= 0 && x < a->n_src)))
            sum += weight, w[k] += weight;
    }
    if (sum <= 0) /* wholly outside the line: its edge */
        w[0] = 1;
    *ret_first = first;
    return n;
}

static void plan_pick(struct axis *a, double start, double length)
{
    for (int i = 0; i < a->n_dst; i++) {
        int at = (int)floor(start +
                            (i + 0.5) * length / a->n_dst); /* exact where it is a whole number */

        a->first[i] = at < 0 ? 0 : at >= a->n_src ? a->n_src - 1 : at;
    }
}

static void plan_weights(struct axis *a, enum resize_kind kind, double start, double scale,
                         double *real, int32_t *fixed, int32_t one16)
{
    for (int i = 0; i < a->n_dst; i++) {
        size_t at = (size_t)i * (size_t)a->n_taps;
        int n = weigh(kind, a, start + (i + 0.5) * scale, scale, real, &a->first[i]);

        pixel_weights(real, n, 1 << ROWS_WIDE_BITS, a->w + at);
        pixel_weights(real, n, one16, fixed);
        for (int k = 0; k < n; k++) /* a lone sample's 32768 is one too many */
            a->w16[at + (size_t)k] = (int16_t)(fixed[k] > INT16_MAX ? INT16_MAX : fixed[k]);
    }
}

struct axis *axis_new(enum resize_kind kind, int n_src, double start, double length, int n_dst,
                      int step, int32_t one16, struct arena *arena)
{
    double scale = length / n_dst, *real;
    struct axis *a;
    int32_t *fixed;
    size_t n_weights;

    if (start == 0 && scale == 1 && n_src == n_dst)
        return NULL;
    a = arena_take(arena, 1, sizeof *a);
    if (!a)
        return NULL;
    *a = (struct axis){
        .n_src = n_src, .n_dst = n_dst, .n_taps = 1, .is_pick = kind == RESIZE_NEAREST};
    a->first = arena_take(arena, (size_t)n_dst, sizeof *a->first);
    if (a->is_pick && a->first)
        plan_pick(a, start, length);
    if (a->is_pick || !a->first)
        return a;
    a->n_taps = (int)ceil(2 * reach_of(kind) * (scale < 1 ? 1 : scale)) + 1;
    a->n_taps = (a->n_taps + step - 1) / step * step;
    n_weights = (size_t)n_dst * (size_t)a->n_taps;
    a->w = arena_take(arena, n_weights, sizeof *a->w);
    a->w16 = arena_take(arena, n_weights, sizeof *a->w16);
    real = arena_take(arena, (size_t)a->n_taps, sizeof *real);
    fixed = arena_take(arena, (size_t)a->n_taps, sizeof *fixed);
    if (!arena->is_full)
        plan_weights(a, kind, start, scale, real, fixed, one16);
    return a;
}
