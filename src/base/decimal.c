/* SPDX-License-Identifier: MIT
 *
 * decimal.c - the digits behind every number that people type.
 */
#include "base/decimal.h"

#include "base/size.h"

#define FRAC_DEN_MAX INT64_C(1000000000000000000) /* the largest power of ten in 63 bits */

bool decimal_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool push_digit(int64_t *v, char c)
{
    return !__builtin_mul_overflow(*v, 10, v) && !__builtin_add_overflow(*v, c - '0', v);
}

bool decimal_take(const char **s, struct decimal *ret)
{
    const char *at = *s;
    struct decimal d = {.frac_den = 1};
    if (!decimal_is_digit(*at))
        return false;
    for (; decimal_is_digit(*at); at++)
        d.is_huge = d.is_huge || !push_digit(&d.whole, *at);
    if (d.is_huge)
        d.whole = INT64_MAX;
    d.has_point = *at == '.';
    if (d.has_point && !decimal_is_digit(*++at))
        return false;
    for (; d.has_point && decimal_is_digit(*at); at++) {
        if (d.frac_den == FRAC_DEN_MAX)
            continue;
        d.frac = d.frac * 10 + (*at - '0');
        d.frac_den *= 10;
    }
    *s = at;
    *ret = d;
    return true;
}

bool decimal_take_fixed(const char **s, int n, int *ret)
{
    int v = 0;
    const char *at = *s;
    for (int i = 0; i < n; i++, at++) {
        if (!decimal_is_digit(*at))
            return false;
        v = v * 10 + (*at - '0');
    }
    *s = at;
    *ret = v;
    return true;
}

bool decimal_times(const struct decimal *d, int64_t unit, int64_t *ret)
{
    int64_t whole, part = size_scale(d->frac, unit, d->frac_den); /* at most unit */
    return !d->is_huge && !__builtin_mul_overflow(d->whole, unit, &whole) &&
           !__builtin_add_overflow(whole, part, ret);
}
