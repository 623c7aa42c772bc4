/* SPDX-License-Identifier: MIT
 *
 * size.c - exact scaling of 64-bit integers by a fraction, through 128-bit products. No floating
 * point.
 */
#include "base/size.h"

#include <assert.h>

__extension__ typedef __int128 wide;

static int64_t saturate(wide x)
{
    if (x > INT64_MAX)
        return INT64_MAX;
    return x < INT64_MIN ? INT64_MIN : (int64_t)x;
}

int64_t size_scale(int64_t x, int64_t num, int64_t den)
{
    assert(den > 0);
    wide product = (wide)x * num; /* at most 2^126, so adding half of den fits */
    wide half = den / 2;
    return saturate((product < 0 ? product - half : product + half) / den);
}

int64_t size_scale_down(int64_t x, int64_t num, int64_t den)
{
    assert(den > 0);
    wide product = (wide)x * num;
    wide quotient = product / den; /* towards zero */
    return saturate(quotient - (product % den < 0));
}

int64_t size_scale_up(int64_t x, int64_t num, int64_t den)
{
    assert(den > 0);
    wide product = (wide)x * num;
    wide quotient = product / den;
    return saturate(quotient + (product % den > 0));
}

struct swt_ratio size_reduce(int64_t num, int64_t den)
{
    if (num == 0 || den == 0)
        return (struct swt_ratio){0, 1};
    uint64_t a = num < 0 ? 0 - (uint64_t)num : (uint64_t)num;
    uint64_t b = den < 0 ? 0 - (uint64_t)den : (uint64_t)den;
    uint64_t n = a, d = b;
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    bool is_negative = (num < 0) != (den < 0);
    wide top = is_negative ? -(wide)(n / a) : (wide)(n / a);
    return (struct swt_ratio){saturate(top), saturate((wide)(d / a))};
}
