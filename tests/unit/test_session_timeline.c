/* SPDX-License-Identifier: MIT
 *
 * test_session_timeline.c - source ticks to the recording's line: restarts, missing time stamps, drift of sound.
 */
#include "t.h"

#include "base/soundline.h"
#include "session/timeline.h"

#define NONE INT64_MIN
static const struct swt_ratio ts90k = {1, 90000};

TEST(place__starts_at_the_offset_of_the_input)
{
    struct timeline t;
    struct timeline_stream s;
    bool jumped;
    timeline_init(&t, -INT64_C(1400000000)); /* a transport stream that starts at 1.4 s */
    timeline_stream_init(&s, &t, ts90k, 40000000);
    CHECK_INT(timeline_place(&t, &s, 126000, 126000, &jumped), 0);
    CHECK_INT(timeline_place(&t, &s, 129600, 129600, &jumped), 40000000);
    CHECK(!jumped);
}

TEST(place__uses_decode_time_or_the_step_where_time_is_missing)
{
    struct timeline t;
    struct timeline_stream s;
    bool jumped;
    timeline_init(&t, 5);
    timeline_stream_init(&s, &t, ts90k, 100);
    CHECK_INT(timeline_place(&t, &s, NONE, NONE, &jumped), 0);
    CHECK_INT(timeline_place(&t, &s, NONE, NONE, &jumped), 100);
    CHECK_INT(timeline_place(&t, &s, NONE, 9, &jumped), 100005);
}

TEST(place__reordered_pictures_are_no_restart)
{
    struct timeline t;
    struct timeline_stream s;
    bool jumped;
    timeline_init(&t, 0);
    timeline_stream_init(&s, &t, (struct swt_ratio){1, 25}, 40000000);
    const int64_t pts[] = {0, 4, 2, 1, 3}, dts[] = {-2, -1, 0, 1, 2};
    for (int i = 0; i < 5; i++) {
        CHECK_INT(timeline_place(&t, &s, pts[i], dts[i], &jumped), pts[i] * 40000000);
        CHECK(!jumped);
    }
}

TEST(place__a_clock_that_restarts_goes_on_behind_the_latest_end_for_all_streams)
{
    struct timeline t;
    struct timeline_stream video, sound;
    bool jumped;
    timeline_init(&t, 0);
    timeline_stream_init(&video, &t, ts90k, 40000000);
    timeline_stream_init(&sound, &t, ts90k, 0);
    (void)timeline_place(&t, &video, 180000, 180000, &jumped); /* 2.0 s */
    timeline_reached(&t, INT64_C(2040000000));
    (void)timeline_place(&t, &sound, 181800, 181800, &jumped); /* 2.02 s */
    timeline_reached(&t, INT64_C(2060000000));
    CHECK_INT(timeline_place(&t, &video, 0, 0, &jumped), INT64_C(2060000000));
    CHECK(jumped);
    CHECK_INT(timeline_place(&t, &sound, 900, 900, &jumped),
              INT64_C(2070000000)); /* the same offset */
    CHECK(jumped);
    CHECK_INT(timeline_place(&t, &video, 3600, 3600, &jumped), INT64_C(2100000000));
    CHECK(!jumped);
}

TEST(sound__is_continuous_through_rounded_time_stamps)
{
    struct soundline s = {.rate_hz = 48000};
    bool gap;
    for (int64_t i = 0; i < 1000; i++) {
        int64_t exact = i * 1024 * INT64_C(1000000000) / 48000;
        int64_t ms = (exact + 500000) / 1000000 * 1000000; /* as Matroska rounds */
        int64_t at = soundline_next(&s, ms, &gap);
        CHECK(!gap);
        CHECK(at - exact >= 0 && at - exact <= 1);
        soundline_add(&s, 1024);
    }
}

TEST(sound__a_hole_is_a_gap_and_an_overlap_is_not_followed)
{
    struct soundline s = {.rate_hz = 48000};
    bool gap;
    CHECK_INT(soundline_next(&s, 250000000, &gap), 250000000);
    soundline_add(&s, 480);
    CHECK_INT(soundline_next(&s, 760000000, &gap), 760000000);
    CHECK(gap);
    soundline_add(&s, 480);
    CHECK_INT(soundline_next(&s, 100000000, &gap), 770000000);
    CHECK(!gap);
    CHECK_INT(soundline_next(&s, NONE, &gap), 770000000);
}

T_MAIN(RUN(place__starts_at_the_offset_of_the_input)
           RUN(place__uses_decode_time_or_the_step_where_time_is_missing)
               RUN(place__reordered_pictures_are_no_restart)
                   RUN(place__a_clock_that_restarts_goes_on_behind_the_latest_end_for_all_streams)
                       RUN(sound__is_continuous_through_rounded_time_stamps)
                           RUN(sound__a_hole_is_a_gap_and_an_overlap_is_not_followed))
