/* SPDX-License-Identifier: MIT
 *
 * test_base_when.c - the words of the command line: places, lengths, durations, dates, sizes, rates; what
 * is refused is refused with a text that helps.
 */
#include "base/when.h"
#include "t.h"

#define S     INT64_C(1000000000)
#define M     (60 * S)
#define H     (60 * M)
#define D     (24 * H)
#define NS(n) INT64_C(n)

struct span_case {
    const char *text;
    int64_t ns;
};

static const struct span_case spans[] = {
    {"10s", 10 * S},
    {"250ms", S / 4},
    {"1m30s", 90 * S},
    {"00:01:02.5", 62 * S + S / 2},
    {"1h", H},
    {"2d", 2 * D},
    {"1w", 7 * D},
    {"7ns", 7},
    {"3us", 3000},
    {"1.5s", 1500000000},
    {"0.1s", 100000000},
    {"0.3s", 300000000},
    {"1w2d3h4m5s6ms7us8ns", 9 * D + 3 * H + 4 * M + 5 * S + 6007008},
    {"1m0.25s", 60250000000},
    {"90m", 90 * M},
    {"90:00", 90 * M},
    {"01:02", 62 * S},
    {"100:00:00", 100 * H},
    {"11184.810650s", NS(11184810650000)},
    {"0.123456789s", 123456789},
    {"0.1234567894s", 123456789},
    {"0.1234567895s", 123456790},
    {"0.4ns", 0},
    {"0.5ns", 1},
    {"0.00000000000000000000000000001s", 0},
    {"0.99999999999999999999999999999s", S},
    {"9223372036854775807ns", INT64_MAX},
    {"9223372036.854775807s", INT64_MAX},
    {"15250w", NS(15250) * 7 * D},
    {"0s", 0},
};

TEST(duration__is_exact)
{
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        int64_t ns = -1;
        if (when_duration(spans[i].text, &ns, NULL) != 0 || ns != spans[i].ns)
            T_FAIL("%s is %" PRId64 ", not %" PRId64, spans[i].text, ns, spans[i].ns);
    }
}

TEST(place_and_length__take_the_same_spans)
{
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        struct swt_pos pos;
        struct swt_length length;
        char back[64];
        CHECK_INT(when_pos(spans[i].text, &pos, NULL), 0);
        CHECK_INT(pos.kind, SWT_POS_TIME);
        CHECK_INT(pos.value, spans[i].ns);
        snprintf(back, sizeof back, "-%s", spans[i].text);
        CHECK_INT(when_pos(back, &pos, NULL), 0);
        CHECK_INT(pos.kind, SWT_POS_TIME_BACK);
        CHECK_INT(pos.value, spans[i].ns);
        int want = spans[i].ns > 0 ? 0 : SWT_E_USAGE;
        CHECK_INT(when_length(spans[i].text, &length, NULL), want);
        if (want == 0) {
            CHECK_INT(length.kind, SWT_LENGTH_TIME);
            CHECK_INT(length.value, spans[i].ns);
        }
    }
}

TEST(place__bare_integer_counts_frames)
{
    static const struct {
        const char *text;
        enum swt_pos_kind kind;
        int64_t value;
    } cases[] = {
        {"0", SWT_POS_FRAME, 0},
        {"64", SWT_POS_FRAME, 64},
        {"0064", SWT_POS_FRAME, 64},
        {"1748779200", SWT_POS_FRAME, 1748779200},
        {"9223372036854775807", SWT_POS_FRAME, INT64_MAX},
        {"-64", SWT_POS_FRAME_BACK, 64},
        {"-0", SWT_POS_FRAME_BACK, 0},
        {"start", SWT_POS_START, 0},
        {"end", SWT_POS_END, 0},
        {"now", SWT_POS_NOW, 0},
        {"-2s", SWT_POS_TIME_BACK, 2 * S},
        {"-00:00:02", SWT_POS_TIME_BACK, 2 * S},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct swt_pos pos = {SWT_POS_NONE, -1};
        int rc = when_pos(cases[i].text, &pos, NULL);
        if (rc != 0 || pos.kind != cases[i].kind || pos.value != cases[i].value)
            T_FAIL("%s: rc %d, kind %d, value %" PRId64, cases[i].text, rc, (int)pos.kind,
                   pos.value);
    }
}

TEST(length__bare_integer_counts_frames)
{
    struct swt_length length;
    CHECK_INT(when_length("64", &length, NULL), 0);
    CHECK_INT(length.kind, SWT_LENGTH_FRAMES);
    CHECK_INT(length.value, 64);
}

/* A refused word and a part of what must be said about it. */
struct refusal {
    const char *text, *says;
};

static bool is_one_line(const char *text)
{
    return text[0] && !strpbrk(text, "\n\r\t");
}

#define CHECK_REFUSED(call, refusal)                                                           \
    do {                                                                                       \
        if ((call) != SWT_E_USAGE || diag.code != SWT_E_USAGE || !is_one_line(diag.text) ||    \
            !strstr(diag.text, (refusal).says))                                                \
            T_FAIL("'%s' says \"%s\", not \"%s\"", (refusal).text, diag.text, (refusal).says); \
    } while (0)

static const struct refusal bad_spans[] = {
    {"64x", "'x' is not a unit of time"},
    {"10 s", "no spaces"},
    {"10s ", "not a time"},
    {"10sec", "'sec' is not a unit"},
    {"10S", "'S' is not a unit"},
    {"1m30", "needs a unit after each number"},
    {"30s1m", "larger units come first"},
    {"1s2s", "larger units come first"},
    {"1.5m30s", "only the last part"},
    {"1.s", "not a time"},
    {"1..5s", "not a time"},
    {"1,5s", "cannot go on"},
    {"1e3s", "'e' is not a unit"},
    {"0x10", "'x' is not a unit"},
    {"1m-30s", "not a time"},
    {"10000d1000000h10000w", "larger units"},
    {"9223372036854775808ns", "too long"},
    {"9223372036.854775808s", "too long"},
    {"99999999999999999999s", "too long"},
    {"15251w", "too long"},
    {"2562048:00:00", "too long"},
    {"1:2:3", "HH:MM:SS"},
    {"00:60:00", "below 60"},
    {"00:00:60", "below 60"},
    {"00:00:5", "HH:MM:SS"},
    {"00:00:005", "HH:MM:SS"},
    {"00:00:00:01", "HH:MM:SS"},
    {"00:00:", "HH:MM:SS"},
    {"1.5:00", "HH:MM:SS"},
    {"00:01:02.", "HH:MM:SS"},
    {"00:01:02s", "HH:MM:SS"},
    {"00:01:+2", "HH:MM:SS"},
};

TEST(time__that_is_none_is_refused_with_help)
{
    for (size_t i = 0; i < sizeof bad_spans / sizeof bad_spans[0]; i++) {
        struct swt_diag diag = {.code = 0};
        struct swt_pos pos;
        struct swt_length length;
        int64_t ns;
        CHECK_REFUSED(when_pos(bad_spans[i].text, &pos, &diag), bad_spans[i]);
        CHECK_REFUSED(when_length(bad_spans[i].text, &length, &diag), bad_spans[i]);
        CHECK_REFUSED(when_duration(bad_spans[i].text, &ns, &diag), bad_spans[i]);
    }
}

TEST(place__that_is_none_is_refused_with_help)
{
    static const struct refusal bad[] = {
        {"", "not a place"},
        {"-", "not a place"},
        {"--5", "not a place"},
        {"+64", "not a place"},
        {" 64", "not a place"},
        {"64 ", "no spaces"},
        {"first", "not a place"},
        {"END", "not a place"},
        {"-end", "not a place"},
        {".5s", "not a place"},
        {"1.5", "counts frames and has no point"},
        {"-1.5", "counts frames and has no point"},
        {"9223372036854775808", "too large"},
        {"-2026-11-30T14:00:00Z", "cannot count back"},
        {"12-15", "cannot go on"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct swt_diag diag = {.code = 0};
        struct swt_pos pos;
        CHECK_REFUSED(when_pos(bad[i].text, &pos, &diag), bad[i]);
    }
}

TEST(length__of_nothing_or_less_is_refused_with_help)
{
    static const struct refusal bad[] = {
        {"0", "more than 0"},
        {"0s", "more than 0"},
        {"00:00:00", "more than 0"},
        {"-5", "negative"},
        {"-5s", "negative"},
        {"", "not a length"},
        {"end", "not a length"},
        {"1.5", "no point"},
        {"2026-11-30T14:00:00Z", "a date is not a length"},
        {"9223372036854775808", "too large"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct swt_diag diag = {.code = 0};
        struct swt_length length;
        CHECK_REFUSED(when_length(bad[i].text, &length, &diag), bad[i]);
    }
}

TEST(duration__needs_a_unit)
{
    static const struct refusal bad[] = {
        {"10", "write 10s"},
        {"1.5", "write 1.5s"},
        {"0", "needs a unit"},
        {"-1s", "negative"},
        {"now", "not a duration"},
        {"", "not a duration"},
        {"2026-11-30T14:00:00Z", "not a duration"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct swt_diag diag = {.code = 0};
        int64_t ns;
        CHECK_REFUSED(when_duration(bad[i].text, &ns, &diag), bad[i]);
    }
}

TEST(date__with_zone_is_an_instant)
{
    static const struct span_case dates[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2025-03-30T00:59:59.5Z", NS(1743296399500000000)},
        {"2025-10-26T02:30:00+02:00", 1761438600 * S},
        {"2025-10-26T02:30:00+01:00", 1761442200 * S},
        {"2025-06-01T12:00:00.123456789Z", NS(1748779200123456789)},
        {"2025-06-01T17:30:00+05:30", 1748779200 * S},
        {"2025-06-01T05:00:00-07:00", 1748779200 * S},
        {"2025-06-01T05:00:00-0700", 1748779200 * S},
        {"2025-06-01T05:00:00-07", 1748779200 * S},
        {"2025-06-01t12:00:00z", 1748779200 * S},
        {"2025-06-01 12:00:00Z", 1748779200 * S},
        {"2025-06-01T12:00Z", 1748779200 * S},
        {"1969-12-31T23:59:59Z", -S},
        {"1969-12-31T23:59:59.25Z", -S + S / 4},
        {"2038-01-19T03:14:08Z", 2147483648 * S},
        {"2024-02-29T00:00:00Z", 1709164800 * S},
        {"2000-02-29T00:00:00Z", 951782400 * S},
        {"1900-03-01T00:00:00Z", -2203891200 * S},
        {"2026-11-30T14:00:00Z", 1796047200 * S},
        {"2262-04-11T23:47:16.854775807Z", INT64_MAX},
    };
    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++) {
        struct swt_pos pos = {SWT_POS_NONE, -1};
        int rc = when_pos(dates[i].text, &pos, NULL);
        if (rc != 0 || pos.kind != SWT_POS_WALL || pos.value != dates[i].ns)
            T_FAIL("%s is %" PRId64 ", not %" PRId64, dates[i].text, pos.value, dates[i].ns);
    }
}

TEST(date__without_zone_or_impossible_is_refused_with_help)
{
    static const struct refusal bad[] = {
        {"2025-10-26T02:30:00", "needs a zone"},
        {"2025-03-30T02:30:00", "needs a zone"},
        {"2025-06-01T12:00:00", "needs a zone"},
        {"2025-06-01", "a time of day and a zone"},
        {"2025-06-01Z", "a time of day and a zone"},
        {"2025-02-29T00:00:00Z", "2025-02 has 28 days"},
        {"1900-02-29T00:00:00Z", "1900-02 has 28 days"},
        {"2025-06-31T00:00:00Z", "2025-06 has 30 days"},
        {"2025-06-00T00:00:00Z", "has 30 days"},
        {"2025-13-01T00:00:00Z", "months are 01 to 12"},
        {"2025-00-01T00:00:00Z", "months are 01 to 12"},
        {"2025-06-01T25:00:00Z", "hours are 00 to 23"},
        {"2025-06-01T24:00:00Z", "hours are 00 to 23"},
        {"2025-06-01T12:60:00Z", "minutes and seconds 00 to 59"},
        {"2025-06-01T12:00:60Z", "minutes and seconds 00 to 59"},
        {"2025-06-01T12:00:00 02:00", "was it a '+'?"},
        {"2025-06-01T12:00:00 CET", "where the zone should be"},
        {"2025-06-01T12:00:00CET", "not a zone"},
        {"2025-06-01T12:00:00+24:00", "not a zone"},
        {"2025-06-01T12:00:00+02:60", "not a zone"},
        {"2025-06-01T12:00:00+2", "not a zone"},
        {"2025-06-01T12:00:00Zulu", "not a zone"},
        {"2025-06-01T12:00:00.Z", "a time of day"},
        {"2025-06-01T12Z", "a time of day"},
        {"2025-6-1T12:00:00Z", "not a date"},
        {"2025-06", "not a date"},
        {"1677-01-01T00:00:00Z", "outside the years"},
        {"2262-04-11T23:47:16.854775808Z", "outside the years"},
        {"9999-12-31T23:59:59Z", "outside the years"},
        {"0000-01-01T00:00:00Z", "outside the years"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct swt_diag diag = {.code = 0};
        struct swt_pos pos;
        CHECK_REFUSED(when_pos(bad[i].text, &pos, &diag), bad[i]);
    }
}

/* The calendar walked day by day, as the slow and obvious model. */
TEST(date__every_day_follows_the_one_before)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t expected = -92 * 365 - 22; /* days from 1878-01-01 to 1970-01-01: 22 leap days */
    for (int year = 1878; year < 2262; year++)
        for (int month = 1; month <= 12; month++) {
            bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            int n = days[month - 1] + (month == 2 && is_leap);
            for (int day = 1; day <= n; day++, expected++) {
                char text[64];
                int64_t ns = 0;
                snprintf(text, sizeof text, "%04d-%02d-%02dT00:00:00Z", year, month, day);
                if (when_date(text, &ns, NULL) != 0 || ns != expected * D)
                    T_FAIL("%s is %" PRId64 ", not %" PRId64, text, ns, expected * D);
            }
        }
}

TEST(bytes__are_exact)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"512MiB", 512ull << 20},
        {"16GB", 16000000000},
        {"1B", 1},
        {"0B", 0},
        {"1kB", 1000},
        {"1KB", 1000},
        {"1KiB", 1024},
        {"1.5GiB", 3ull << 29},
        {"0.1KiB", 102},
        {"2TB", 2000000000000},
        {"1TiB", 1ull << 40},
        {"8191PiB", 8191ull << 50},
        {"1PB", 1000000000000000},
        {"9223372036854775807B", INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t bytes = 77;
        if (when_bytes(cases[i].text, &bytes, NULL) != 0 || bytes != cases[i].bytes)
            T_FAIL("%s is %" PRIu64 ", not %" PRIu64, cases[i].text, bytes, cases[i].bytes);
    }
}

TEST(bytes__that_are_none_are_refused_with_help)
{
    static const struct refusal bad[] = {
        {"", "not a size"},
        {"-1MiB", "not a size"},
        {"MiB", "not a size"},
        {"1000", "needs a unit"},
        {"1.5", "needs a unit"},
        {"512M", "'M' is not a unit of size"},
        {"512mib", "MiB"},
        {"512 MiB", "no spaces"},
        {"50%", "'%' is not a unit of size"},
        {"1.5B", "whole bytes"},
        {"8192PiB", "too large"},
        {"9223372036854775808B", "too large"},
        {"1MiB ", "not a unit"},
        {"99999999999999999999GB", "too large"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct swt_diag diag = {.code = 0};
        uint64_t bytes;
        CHECK_REFUSED(when_bytes(bad[i].text, &bytes, &diag), bad[i]);
    }
}

TEST(ratio__is_exact_and_in_lowest_terms)
{
    static const struct {
        const char *text;
        int64_t num, den;
    } cases[] = {
        {"30", 30, 1},
        {"30000/1001", 30000, 1001},
        {"29.97", 2997, 100},
        {"23.976", 2997, 125},
        {"60/2", 30, 1},
        {"0.5", 1, 2},
        {"30.000", 30, 1},
        {"1/2147483647", 1, INT32_MAX},
        {"2147483647", INT32_MAX, 1},
        {"4294967294/2", INT32_MAX, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct swt_ratio r = {-1, -1};
        if (when_ratio(cases[i].text, &r, NULL) != 0 || r.num != cases[i].num ||
            r.den != cases[i].den)
            T_FAIL("%s is %" PRId64 "/%" PRId64, cases[i].text, r.num, r.den);
    }
}

TEST(ratio__that_is_none_is_refused_with_help)
{
    static const struct refusal bad[] = {
        {"", "not a rate"},
        {"0", "more than 0"},
        {"0/5", "more than 0"},
        {"30/0", "divided by 0"},
        {"-30", "not a rate"},
        {"30fps", "not a rate"},
        {"30/", "not a rate"},
        {"30.5/2", "not a rate"},
        {"30/2.5", "not a rate"},
        {"30/1/1", "not a rate"},
        {"30 ", "not a rate"},
        {"2147483648", "2147483647"},
        {"29.97002997", "30000/1001"},
        {"99999999999999999999", "2147483647"},
        {"0.0000000000000000000001", "more than 0"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct swt_diag diag = {.code = 0};
        struct swt_ratio r;
        CHECK_REFUSED(when_ratio(bad[i].text, &r, &diag), bad[i]);
    }
}

T_MAIN(RUN(duration__is_exact) RUN(place_and_length__take_the_same_spans)
           RUN(place__bare_integer_counts_frames) RUN(length__bare_integer_counts_frames)
               RUN(time__that_is_none_is_refused_with_help)
                   RUN(place__that_is_none_is_refused_with_help)
                       RUN(length__of_nothing_or_less_is_refused_with_help)
                           RUN(duration__needs_a_unit) RUN(date__with_zone_is_an_instant)
                               RUN(date__without_zone_or_impossible_is_refused_with_help)
                                   RUN(date__every_day_follows_the_one_before) RUN(bytes__are_exact)
                                       RUN(bytes__that_are_none_are_refused_with_help)
                                           RUN(ratio__is_exact_and_in_lowest_terms)
                                               RUN(ratio__that_is_none_is_refused_with_help))
