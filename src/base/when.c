/* SPDX-License-Identifier: MIT
 *
 * when.c - places, lengths and durations. Dates are in when_date.c, sizes and rates in when_amount.c.
 */
#include "base/when.h"

#include <stdbool.h>
#include <string.h>

#include "base/decimal.h"

#define UNITS "ns us ms s m h d w"

#define NS_SECOND INT64_C(1000000000)
#define NS_MINUTE (60 * NS_SECOND)
#define NS_HOUR   (60 * NS_MINUTE)
#define NS_DAY    (24 * NS_HOUR)

static const struct unit {
    const char *name;
    int64_t ns;
} units[] = {
    /* ascending */
    {"ns", 1},        {"us", 1000},   {"ms", 1000000}, {"s", NS_SECOND},
    {"m", NS_MINUTE}, {"h", NS_HOUR}, {"d", NS_DAY},   {"w", 7 * NS_DAY},
};
#define N_UNITS (sizeof units / sizeof units[0])

static int too_long(struct swt_diag *reterr)
{
    return err_set(reterr, SWT_E_USAGE, "a time that is too long: at most 292 years");
}

/* ---- spans: "1m30s", "00:01:02.5" ---------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int bad_unit(const char *at, struct swt_diag *reterr)
{
    int n = 0;
    while (is_letter(at[n]) && n < 16)
        n++;
    if (*at == 0)
        return err_set(reterr, SWT_E_USAGE, "a time needs a unit after each number (%s)", UNITS);
    if (*at == ' ')
        return err_set(reterr, SWT_E_USAGE, "no spaces in a time: write 10s, 1m30s");
    if (n == 0)
        return err_set(reterr, SWT_E_USAGE,
                       "a number or a time cannot go on with '%s': write 64, 10s, 1m30s", at);
    return err_set(reterr, SWT_E_USAGE, "'%.*s' is not a unit of time (%s)", n, at, UNITS);
}

/* The unit at *s, which is moved behind it; NULL if there is none. */
static const struct unit *take_unit(const char **s)
{
    size_t n = 0;
    while (is_letter((*s)[n]))
        n++;
    for (size_t i = 0; i < N_UNITS; i++)
        if (n == strlen(units[i].name) && strncmp(units[i].name, *s, n) == 0) {
            *s += n;
            return &units[i];
        }
    return NULL;
}

/* Numbers with units, larger ones first. */
static int parse_units(const char *s, int64_t *ret_ns, struct swt_diag *reterr)
{
    int64_t sum = 0, part;
    const struct unit *last = NULL;
    while (*s) {
        struct decimal d;
        if (!decimal_take(&s, &d))
            return err_set(reterr, SWT_E_USAGE, "not a time: write 10s, 250ms, 1m30s, 00:01:02.5");
        const struct unit *unit = take_unit(&s);
        if (!unit)
            return bad_unit(s, reterr);
        if (last && unit >= last)
            return err_set(reterr, SWT_E_USAGE, "larger units come first, each once: 1h30m");
        if (d.has_point && *s)
            return err_set(reterr, SWT_E_USAGE, "only the last part of a time may have a point");
        if (!decimal_times(&d, unit->ns, &part) || __builtin_add_overflow(sum, part, &sum))
            return too_long(reterr);
        last = unit;
    }
    *ret_ns = sum;
    return 0;
}

/* Two digits below 60 at *s. */
static bool take_sixty(const char **s, int *ret)
{
    return decimal_take_fixed(s, 2, ret) && *ret < 60 && !decimal_is_digit(**s);
}

/* HH:MM:SS[.fraction] or MM:SS[.fraction]; `s` has a colon. */
static int parse_clock(const char *s, int64_t *ret_ns, struct swt_diag *reterr)
{
    bool has_hours = strchr(strchr(s, ':') + 1, ':') != NULL;
    struct decimal lead, tail;
    int minutes = 0, seconds;
    bool is_fine = decimal_take(&s, &lead) && !lead.has_point && *s++ == ':';
    if (is_fine && has_hours)
        is_fine = take_sixty(&s, &minutes) && *s++ == ':';
    const char *look = s;
    if (!is_fine || !take_sixty(&look, &seconds) || !decimal_take(&s, &tail) || *s)
        return err_set(
            reterr, SWT_E_USAGE,
            "not a time: write HH:MM:SS or MM:SS, with two digits below 60 each: 00:01:02.5");
    int64_t lead_ns, minutes_ns = minutes * NS_MINUTE, tail_ns;
    if (!decimal_times(&lead, has_hours ? NS_HOUR : NS_MINUTE, &lead_ns) ||
        !decimal_times(&tail, NS_SECOND, &tail_ns) ||
        __builtin_add_overflow(lead_ns, minutes_ns + tail_ns, ret_ns))
        return too_long(reterr);
    return 0;
}

static int parse_span(const char *s, int64_t *ret_ns, struct swt_diag *reterr)
{
    return strchr(s, ':') ? parse_clock(s, ret_ns, reterr) : parse_units(s, ret_ns, reterr);
}

/* ---- what a word is ------------------------------------------------------------------------------ */

/* Four digits and a dash. */
static bool looks_like_date(const char *s)
{
    int year;
    return decimal_take_fixed(&s, 4, &year) && *s == '-';
}

/* 1 a bare integer, 0 something else, SWT_E_USAGE a number that is no count. */
static int parse_count(const char *s, int64_t *ret, struct swt_diag *reterr)
{
    struct decimal d;
    if (!decimal_take(&s, &d) || *s)
        return 0;
    if (d.has_point)
        return err_set(reterr, SWT_E_USAGE,
                       "a bare number counts frames and has no point; a time needs a unit: 1.5s");
    if (d.is_huge)
        return err_set(reterr, SWT_E_USAGE, "a number of frames that is too large");
    *ret = d.whole;
    return 1;
}

static bool parse_name(const char *text, struct swt_pos *ret_pos)
{
    static const struct {
        const char *name;
        enum swt_pos_kind kind;
    } names[] = {{"start", SWT_POS_START}, {"end", SWT_POS_END}, {"now", SWT_POS_NOW}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, text) == 0) {
            *ret_pos = (struct swt_pos){names[i].kind, 0};
            return true;
        }
    return false;
}

static int parse_date_pos(const char *text, struct swt_pos *ret_pos, struct swt_diag *reterr)
{
    int64_t ns;
    int rc = when_date(text, &ns, reterr);
    if (rc == 0)
        *ret_pos = (struct swt_pos){SWT_POS_WALL, ns};
    return rc;
}

int when_pos(const char *text, struct swt_pos *ret_pos, struct swt_diag *reterr)
{
    bool is_back = *text == '-';
    const char *s = text + is_back;
    int64_t value;
    if (parse_name(text, ret_pos))
        return 0;
    if (!decimal_is_digit(*s))
        return err_set(
            reterr, SWT_E_USAGE,
            "not a place: give a frame (64), a time (10s, 00:01:02.5), a date "
            "(2026-11-30T14:00:00Z), start, end or now; -64 and -2s count back from the end");
    if (looks_like_date(s))
        return is_back ? err_set(reterr, SWT_E_USAGE, "a date cannot count back from the end")
                       : parse_date_pos(s, ret_pos, reterr);
    int is_count = parse_count(s, &value, reterr);
    int rc = is_count == 0 ? parse_span(s, &value, reterr) : is_count;
    if (rc < 0)
        return rc;
    if (is_count)
        *ret_pos = (struct swt_pos){is_back ? SWT_POS_FRAME_BACK : SWT_POS_FRAME, value};
    else
        *ret_pos = (struct swt_pos){is_back ? SWT_POS_TIME_BACK : SWT_POS_TIME, value};
    return 0;
}

int when_length(const char *text, struct swt_length *ret_length, struct swt_diag *reterr)
{
    int64_t value;
    if (*text == '-')
        return err_set(reterr, SWT_E_USAGE, "a length cannot be negative");
    if (!decimal_is_digit(*text))
        return err_set(reterr, SWT_E_USAGE,
                       "not a length: give frames (64) or a time (10s, 1m30s)");
    if (looks_like_date(text))
        return err_set(reterr, SWT_E_USAGE,
                       "a date is not a length: give frames (64) or a time (10s)");
    int is_count = parse_count(text, &value, reterr);
    int rc = is_count == 0 ? parse_span(text, &value, reterr) : is_count;
    if (rc < 0)
        return rc;
    if (value == 0)
        return err_set(reterr, SWT_E_USAGE, "a length must be more than 0");
    *ret_length = (struct swt_length){is_count ? SWT_LENGTH_FRAMES : SWT_LENGTH_TIME, value};
    return 0;
}

int when_duration(const char *text, int64_t *ret_ns, struct swt_diag *reterr)
{
    const char *s = text;
    struct decimal d;
    if (*text == '-')
        return err_set(reterr, SWT_E_USAGE, "a duration cannot be negative");
    if (!decimal_is_digit(*text) || looks_like_date(text))
        return err_set(reterr, SWT_E_USAGE, "not a duration: write 10s, 250ms, 1m30s, 00:01:02.5");
    if (decimal_take(&s, &d) && *s == 0)
        return err_set(reterr, SWT_E_USAGE, "a duration needs a unit (%s): write %ss", UNITS, text);
    return parse_span(text, ret_ns, reterr);
}
