/* SPDX-License-Identifier: MIT
 *
 * when_amount.c - sizes in bytes and rates.
 */
#include "base/when.h"

#include <stdbool.h>
#include <string.h>

#include "base/decimal.h"
#include "base/size.h"

#define BYTE_UNITS "B kB MB GB TB, or KiB MiB GiB TiB for powers of 1024"

static const struct unit {
    const char *name;
    int64_t bytes;
} units[] = {
    {"B", 1},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", INT64_C(1000000000000)},
    {"PB", INT64_C(1000000000000000)},
    {"KiB", INT64_C(1) << 10},
    {"MiB", INT64_C(1) << 20},
    {"GiB", INT64_C(1) << 30},
    {"TiB", INT64_C(1) << 40},
    {"PiB", INT64_C(1) << 50},
};

int when_bytes(const char *text, uint64_t *ret_bytes, struct swt_diag *reterr)
{
    const char *s = text;
    struct decimal d;
    int64_t bytes, unit = 0;
    if (!decimal_take(&s, &d))
        return err_set(reterr, SWT_E_USAGE, "not a size: write 512MiB, 16GB");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].name, s) == 0)
            unit = units[i].bytes;
    if (*s == 0)
        return err_set(reterr, SWT_E_USAGE, "a size needs a unit (%s)", BYTE_UNITS);
    if (*s == ' ')
        return err_set(reterr, SWT_E_USAGE, "no spaces in a size: write 512MiB, 16GB");
    if (unit == 0)
        return err_set(reterr, SWT_E_USAGE, "'%s' is not a unit of size (%s)", s, BYTE_UNITS);
    if (unit == 1 && d.frac != 0)
        return err_set(reterr, SWT_E_USAGE, "a size is whole bytes");
    if (!decimal_times(&d, unit, &bytes))
        return err_set(reterr, SWT_E_USAGE, "a size that is too large: at most 8191 PiB");
    *ret_bytes = (uint64_t)bytes;
    return 0;
}

static int not_a_rate(struct swt_diag *reterr)
{
    return err_set(reterr, SWT_E_USAGE, "not a rate: write 30, 30000/1001 or 29.97");
}

/* "N/D": *s is behind N. */
static int take_den(const char *s, struct decimal *num, int64_t *ret_den, struct swt_diag *reterr)
{
    struct decimal den;
    if (!decimal_take(&s, &den) || *s || den.has_point || num->has_point)
        return not_a_rate(reterr);
    if (den.whole == 0)
        return err_set(reterr, SWT_E_USAGE, "a rate cannot be divided by 0");
    *ret_den = den.whole;
    return 0;
}

int when_ratio(const char *text, struct swt_ratio *ret_ratio, struct swt_diag *reterr)
{
    const char *s = text;
    struct decimal d;
    int64_t num, den;
    if (!decimal_take(&s, &d) || (*s && *s != '/'))
        return not_a_rate(reterr);
    den = d.frac_den;
    int rc = *s ? take_den(s + 1, &d, &den, reterr) : 0;
    if (rc < 0)
        return rc;
    bool fits = !d.is_huge && !__builtin_mul_overflow(d.whole, d.frac_den, &num) &&
                !__builtin_add_overflow(num, d.frac, &num);
    struct swt_ratio r = fits ? size_reduce(num, den) : (struct swt_ratio){INT64_MAX, 1};
    if (r.num == 0)
        return err_set(reterr, SWT_E_USAGE, "a rate must be more than 0");
    if (r.num > INT32_MAX || r.den > INT32_MAX)
        return err_set(reterr, SWT_E_USAGE,
                       "a rate whose parts pass 2147483647: write a fraction such as 30000/1001");
    *ret_ratio = r;
    return 0;
}
