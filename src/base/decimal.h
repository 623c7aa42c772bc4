/* SPDX-License-Identifier: MIT
 *
 * decimal.h - decimal numbers in text, taken exactly: digits, and digits behind a point. No sign, no
 * exponent, no locale, no floating point.
 */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* whole + frac / frac_den. Digits behind the 18th after the point are dropped. */
struct decimal {
    int64_t whole;
    int64_t frac, frac_den; /* 0 <= frac < frac_den, a power of ten */
    bool has_point;
    bool is_huge; /* `whole` does not fit and is INT64_MAX */
};

bool decimal_is_digit(char c);

/* Take one from *s, which is moved behind it. False: there is no digit, or none behind the point. */
bool decimal_take(const char **s, struct decimal *ret);

/* Take exactly n <= 9 digits from *s. */
bool decimal_take_fixed(const char **s, int n, int *ret);

/* d * unit, rounded to nearest. False: it does not fit. unit > 0 */
bool decimal_times(const struct decimal *d, int64_t unit, int64_t *ret);

#endif
