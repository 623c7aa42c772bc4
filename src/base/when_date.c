/* SPDX-License-Identifier: MIT
 *
 * when_date.c - ISO 8601 dates that carry their zone. Without a zone a date means different instants on
 * different machines, and on some days two or none, so it is refused. TZ is never looked at.
 */
#include "base/when.h"

#include <stdbool.h>

#include "base/decimal.h"

#define NS_SECOND INT64_C(1000000000)

struct date {
    int year, month, day, hour, minute, second;
    int64_t frac_ns;  /* 0..NS_SECOND */
    int64_t offset_s; /* of the zone, east of Greenwich */
};

static int no_zone(struct swt_diag *reterr)
{
    return err_set(reterr, SWT_E_USAGE,
                   "a date needs a zone: add Z (UTC) or an offset such as +02:00");
}

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

static bool take_char(const char **s, char c)
{
    if (**s != c)
        return false;
    (*s)++;
    return true;
}

static int take_day(const char **s, struct date *d, struct swt_diag *reterr)
{
    if (!decimal_take_fixed(s, 4, &d->year) || !take_char(s, '-') ||
        !decimal_take_fixed(s, 2, &d->month) || !take_char(s, '-') ||
        !decimal_take_fixed(s, 2, &d->day))
        return err_set(reterr, SWT_E_USAGE, "not a date: write 2026-11-30T14:00:00Z");
    if (d->month < 1 || d->month > 12)
        return err_set(reterr, SWT_E_USAGE, "no such date: months are 01 to 12");
    if (d->day < 1 || d->day > days_in(d->year, d->month))
        return err_set(reterr, SWT_E_USAGE, "no such date: %04d-%02d has %d days", d->year,
                       d->month, days_in(d->year, d->month));
    return 0;
}

/* [T ]HH:MM[:SS[.fraction]] */
static int take_time(const char **s, struct date *d, struct swt_diag *reterr)
{
    bool has_time = take_char(s, 'T') || take_char(s, 't') || take_char(s, ' ');
    struct decimal seconds = {.frac_den = 1};
    bool is_fine = has_time && decimal_take_fixed(s, 2, &d->hour) && take_char(s, ':') &&
                   decimal_take_fixed(s, 2, &d->minute);
    if (is_fine && take_char(s, ':')) {
        const char *look = *s;
        is_fine = decimal_take_fixed(&look, 2, &d->second) && !decimal_is_digit(*look) &&
                  decimal_take(s, &seconds);
    }
    if (!is_fine)
        return err_set(reterr, SWT_E_USAGE,
                       "a date needs a time of day and a zone: write 2026-11-30T14:00:00Z");
    if (d->hour > 23 || d->minute > 59 || d->second > 59)
        return err_set(reterr, SWT_E_USAGE,
                       "no such time of day: hours are 00 to 23, minutes and seconds 00 to 59");
    seconds.whole = 0;
    (void)decimal_times(&seconds, NS_SECOND, &d->frac_ns); /* at most one second */
    return 0;
}

/* Z, +HH:MM, +HHMM or +HH, and nothing after it. */
static int take_zone(const char **s, struct date *d, struct swt_diag *reterr)
{
    int hours = 0, minutes = 0;
    bool is_west = **s == '-';
    if (**s == 0)
        return no_zone(reterr);
    if (**s == ' ')
        return err_set(reterr, SWT_E_USAGE,
                       "a space where the zone should be, was it a '+'? write Z, +02:00 or -07:00");
    bool is_fine = take_char(s, 'Z') || take_char(s, 'z');
    if (!is_fine && (take_char(s, '+') || take_char(s, '-'))) {
        is_fine = decimal_take_fixed(s, 2, &hours);
        if (is_fine && **s)
            is_fine = (take_char(s, ':'), decimal_take_fixed(s, 2, &minutes));
    }
    if (!is_fine || **s || hours > 23 || minutes > 59)
        return err_set(reterr, SWT_E_USAGE,
                       "not a zone: write Z (UTC) or an offset such as +02:00 or -07:00");
    d->offset_s = (hours * 60 + minutes) * (is_west ? -60 : 60);
    return 0;
}

/* Days since 1970-01-01 in the proleptic Gregorian calendar: whole years of March to February, so that
 * the leap day is the last of its year. */
static int64_t days_since_1970(const struct date *d)
{
    int64_t year = d->year - (d->month <= 2) + 400; /* not negative */
    int64_t month = (d->month + 9) % 12;            /* since March */
    int64_t day_of_year = (153 * month + 2) / 5 + d->day - 1;
    int64_t days = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year;
    return days - 719468 - 146097; /* 0000-03-01 to 1970-01-01; the 400 years added above */
}

int when_date(const char *text, int64_t *ret_wall_ns, struct swt_diag *reterr)
{
    struct date d = {.year = 0};
    int rc = take_day(&text, &d, reterr);
    if (rc == 0 && *text == 0)
        rc = err_set(reterr, SWT_E_USAGE,
                     "a date needs a time of day and a zone: write 2026-11-30T14:00:00Z");
    if (rc == 0)
        rc = take_time(&text, &d, reterr);
    if (rc == 0)
        rc = take_zone(&text, &d, reterr);
    if (rc < 0)
        return rc;
    int64_t seconds = days_since_1970(&d) * 86400 + d.hour * 3600 + d.minute * 60 + d.second;
    int64_t ns;
    if (__builtin_mul_overflow(seconds - d.offset_s, NS_SECOND, &ns) ||
        __builtin_add_overflow(ns, d.frac_ns, ret_wall_ns))
        return err_set(reterr, SWT_E_USAGE, "a date outside the years 1678 to 2261");
    return 0;
}
