/* SPDX-License-Identifier: MIT
 *
 * test_session_hold.c - packets held back at the start and at the end of a session. The decoder that is asked about
 * leading pictures is not needed here: end-to-end tests have real open groups.
 */
#include "t.h"

#include "session/hold.h"

static const struct log_to quiet;

static struct store_item item(int64_t time_ns, bool key)
{
    return (struct store_item){.time_ns = time_ns, .flags = key ? SEG_FLAG_KEY : 0};
}

static int push(struct hold *h, int64_t time_ns, bool key)
{
    struct store_item it = item(time_ns, key);
    struct media_packet p = {.data = (const uint8_t *)"x", .n_data = 1};
    return hold_push(h, &it, &p);
}

TEST(start__the_key_waits_for_the_picture_after_it)
{
    struct hold h;
    struct params p = {0};
    CHECK_INT(hold_init(&h, 0), 0);
    CHECK(hold_wants(&h));
    CHECK_INT(push(&h, 100, true), 0);
    CHECK(!hold_is_ready(&h, &p, 90, &quiet));
    CHECK_INT(push(&h, 140, false), 0);
    CHECK(hold_is_ready(&h, &p, 100, &quiet));
    CHECK_INT(h.n, 2);
    hold_clear(&h);
    CHECK(!hold_wants(&h));
    CHECK_INT(h.passed, 2);
    hold_done(&h);
}

TEST(start__packets_before_the_first_key_show_nothing)
{
    struct hold h;
    struct params p = {0};
    CHECK_INT(hold_init(&h, 0), 0);
    CHECK_INT(push(&h, 10, false), 0);
    CHECK_INT(push(&h, 20, true), 0);
    CHECK_INT(push(&h, 30, false), 0);
    CHECK(hold_is_ready(&h, &p, 30, &quiet));
    CHECK(h.queue[0].item.flags & SEG_FLAG_NOPIC);
    CHECK(!(h.queue[1].item.flags & SEG_FLAG_NOPIC));
    hold_done(&h);
}

TEST(end__of_reordered_pictures_the_earliest_are_given)
{
    struct hold h;
    struct params p = {0};
    /* I0 P4 b2 b1 b3 P8: three wanted are 0 1 2 */
    const int64_t pts[] = {0, 4, 2, 1, 3, 8}, dts[] = {-2, -1, 0, 1, 2, 3};
    CHECK_INT(hold_init(&h, 3), 0);
    int at = 0;
    for (; at < 6; at++) {
        CHECK(hold_wants(&h));
        CHECK_INT(push(&h, pts[at], at == 0), 0);
        if (hold_is_ready(&h, &p, dts[at], &quiet))
            break;
    }
    CHECK_INT(at, 4); /* dts 2: nothing before picture 2 can come any more */
    CHECK(h.is_full);
    CHECK_INT(h.last_ns, 2);
    CHECK_INT(h.n, 4); /* picture 3 at the end is not needed, 4 is, undisplayed */
    CHECK(h.queue[1].item.flags & SEG_FLAG_NOPIC);
    hold_clear(&h);
    CHECK_INT(h.passed, 3);
    hold_done(&h);
}

TEST(end__input_shorter_than_the_limit_gives_all)
{
    struct hold h;
    struct params p = {0};
    CHECK_INT(hold_init(&h, 10), 0);
    CHECK_INT(push(&h, 0, true), 0);
    CHECK_INT(push(&h, 1, false), 0);
    CHECK(!hold_is_ready(&h, &p, 1, &quiet));
    CHECK(hold_is_ready(&h, &p, INT64_MAX, &quiet));
    CHECK_INT(h.n, 2);
    CHECK(!h.is_full);
    hold_done(&h);
}

T_MAIN(RUN(start__the_key_waits_for_the_picture_after_it)
           RUN(start__packets_before_the_first_key_show_nothing)
               RUN(end__of_reordered_pictures_the_earliest_are_given)
                   RUN(end__input_shorter_than_the_limit_gives_all))
