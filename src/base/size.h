/* SPDX-License-Identifier: MIT
 *
 * size.h - overflow-checked arithmetic for sizes that come from disk, network or a user, and exact
 * scaling of times. Every function says with its return value whether the result fits.
 */
#ifndef BASE_SIZE_H
#define BASE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "swt.h"

static inline bool size_add(uint64_t a, uint64_t b, uint64_t *ret_sum)
{
    return !__builtin_add_overflow(a, b, ret_sum);
}

static inline bool size_mul(uint64_t a, uint64_t b, uint64_t *ret_product)
{
    return !__builtin_mul_overflow(a, b, ret_product);
}

/* Up to a multiple of `step` (a power of two); saturates at the largest multiple. */
static inline uint64_t size_up(uint64_t x, uint64_t step)
{
    return x > UINT64_MAX - (step - 1) ? ~(step - 1) : (x + step - 1) & ~(step - 1);
}

static inline uint64_t size_down(uint64_t x, uint64_t step)
{
    return x & ~(step - 1);
}

/* x * num / den, rounded to nearest, halves away from zero; saturates. den > 0. */
int64_t size_scale(int64_t x, int64_t num, int64_t den);

/* The same rounded down (towards minus infinity) and up. */
int64_t size_scale_down(int64_t x, int64_t num, int64_t den);
int64_t size_scale_up(int64_t x, int64_t num, int64_t den);

/* Time of `ticks` of a time base, and of frame k at a rate, in ns. */
static inline int64_t size_ticks_ns(int64_t ticks, struct swt_ratio base)
{
    return size_scale(ticks, base.num * INT64_C(1000000000), base.den);
}

static inline int64_t size_frames_ns(int64_t frames, struct swt_ratio rate)
{
    return rate.num > 0 ? size_scale(frames, rate.den * INT64_C(1000000000), rate.num) : 0;
}

/* Lowest terms; {0, 1} stays. */
struct swt_ratio size_reduce(int64_t num, int64_t den);

#endif
