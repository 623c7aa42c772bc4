/* SPDX-License-Identifier: MIT
 *
 * Unit tests of packets being written: when pictures become visible, where segments end, side data, and what
 * a new session or format means for decoders.
 */
#include <errno.h>

#include "store/reorder.h"
#include "store_t.h"

static char folder[64];
static struct store_dir *dir;
static struct store_writer *writer;
static struct params params;

static int begin_with(uint64_t segment_bytes, int64_t segment_ns)
{
    struct store_writer_spec spec = {.name = "video",
                                     .kind = SEG_KIND_PACKETS,
                                     .segment_bytes = segment_bytes,
                                     .segment_ns = segment_ns,
                                     .sync_ns = 1000000000};
    int r = store_writer_open(dir, &spec, &writer, NULL);
    params_h264(&params, 25);
    return r < 0 ? r : store_writer_format(writer, &params, NULL);
}

static int begin(uint64_t segment_bytes, int64_t segment_ns)
{
    char path[PATH_MAX];
    folder_make("/tmp", folder);
    path_join(folder, "r.swt", path);
    int r = store_dir_create(path, clock_boot_ns(), &dir, NULL);
    return r < 0 ? r : begin_with(segment_bytes, segment_ns);
}

static void end(void)
{
    store_writer_abandon(&writer);
    store_dir_close(&dir);
    params_done(&params);
    folder_remove(folder);
}

/* A packet of `n` bytes at pts and dts in ticks of 40 ms. */
static int put(int64_t pts, int64_t dts, uint32_t flags, size_t n)
{
    uint8_t *data = frames_make((uint64_t)(pts + 1000), 1, n);
    struct store_item item = item_at(pts * 40000000);
    item.src_pts = pts;
    item.dts_delta = (int32_t)(dts - pts);
    item.duration = 1;
    item.flags = flags;
    struct iovec pieces[2] = {{data, n / 3}, {data + n / 3, n - n / 3}};
    int r = store_writer_packet(writer, &item, pieces, 2, 0, NULL);
    free(data);
    return r;
}

static struct store_writer_state state(void)
{
    struct store_writer_state s;
    store_writer_state(writer, &s);
    return s;
}

/* ---- visible ------------------------------------------------------------------------------------------ */

TEST(b_frames__become_visible_when_none_can_come_before)
{
    CHECK_INT(begin(0, 0), 0);
    /* display I0 B1 B2 P3 B4 B5 P6, decode I0 P3 B1 B2 P6 B4 B5; dts = pts - 1 at the earliest */
    static const struct {
        int64_t pts, dts;
        uint64_t visible;
    } packets[] = {{0, -1, 0}, {3, 0, 1}, {1, 1, 2}, {2, 2, 3}, {6, 3, 4}, {4, 4, 5}, {5, 5, 6}};
    for (size_t i = 0; i < 7; i++) {
        CHECK_INT(put(packets[i].pts, packets[i].dts, i == 0 ? SEG_FLAG_KEY : 0, 100), 0);
        CHECK_INT(state().entries, i + 1);
        CHECK_INT(state().frames, packets[i].visible);
    }
    CHECK_INT(state().last_ns, 6 * 40000000);
    CHECK_INT(state().end_ns, 7 * 40000000);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    CHECK_INT(begin_with(0, 0), 0);
    CHECK_INT(state().frames, 7);
    CHECK_INT(state().durable_frames, 7);
    CHECK_INT(state().end_ns, 7 * 40000000);
    end();
}

TEST(no_b_frames__are_visible_at_once)
{
    CHECK_INT(begin(0, 0), 0);
    for (int64_t i = 0; i < 100; i++) {
        CHECK_INT(put(i, i, i % 10 == 0 ? SEG_FLAG_KEY : 0, 50), 0);
        CHECK_INT(state().frames, i + 1);
    }
    end();
}

TEST(nopic__is_stored_and_not_counted)
{
    CHECK_INT(begin(0, 0), 0);
    CHECK_INT(put(0, 0, SEG_FLAG_KEY | SEG_FLAG_NOPIC, 100), 0);
    CHECK_INT(put(0, 0, 0, 100), 0);
    CHECK_INT(put(0, 0, SEG_FLAG_NOPIC, 100), 0);
    CHECK_INT(put(1, 1, 0, 100), 0);
    CHECK_INT(state().frames, 2);
    CHECK_INT(state().entries, 4);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    struct seg_view v;
    CHECK(seg_view(dir, "video", 0, &v));
    static const uint32_t pics[] = {0, 0, 1, 1};
    for (size_t i = 0; i < 4; i++) {
        CHECK_INT(v.entries[i].pos, i * 100);
        CHECK_INT(v.entries[i].pics_before, pics[i]);
    }
    CHECK_INT(v.extent.frames, 2);
    CHECK(v.entries[0].flags &
          SEG_FLAG_CONTINUES); /* a key that shows nothing does not begin a segment */
    seg_view_done(&v);
    end();
}

TEST(late_picture__is_moved_behind_the_visible_ones)
{
    CHECK_INT(begin(0, 0), 0);
    CHECK_INT(put(10, 10, SEG_FLAG_KEY, 100), 0);
    CHECK_INT(put(10, 10, 0, 100), 0);
    CHECK_INT(put(3, 3, 0, 100), 0);
    CHECK_INT(put(11, 11, 0, 100), 0);
    CHECK_INT(state().frames, 4);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    CHECK_INT(begin_with(0, 0), 0);
    CHECK_INT(put(2, 2, SEG_FLAG_KEY, 100), 0);
    CHECK_INT(state().frames, 5);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    struct seg_view v;
    CHECK(seg_view(dir, "video", 0, &v));
    static const int64_t times[] = {400000000, 400000001, 400000002, 440000000};
    for (size_t i = 0; i < 4; i++) {
        CHECK_INT(v.entries[i].time_ns, times[i]);
        CHECK_INT(v.entries[i].flags & SEG_FLAG_DISCONT, i == 1 || i == 2 ? SEG_FLAG_DISCONT : 0);
    }
    seg_view_done(&v);
    CHECK(seg_view(dir, "video", 1, &v));
    CHECK_INT(v.entries[0].time_ns, 440000001);
    CHECK_INT(v.entries[0].flags, SEG_FLAG_KEY | SEG_FLAG_DISCONT | SEG_FLAG_FRESH);
    seg_view_done(&v);
    end();
}

/* Sources whose decode times say nothing: no more than STORE_REORDER pictures ever wait. */
TEST(reorder__at_most_64_wait)
{
    CHECK_INT(begin(0, 0), 0);
    for (int64_t i = 0; i < 100; i++) {
        CHECK_INT(put(i, i - 1000, 0, 10), 0);
        CHECK_INT(state().frames, i < STORE_REORDER ? 0 : i + 1 - STORE_REORDER);
    }
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    end();
}

/* Against the slow model: keep all times, sort, and count those up to the decode time. */
TEST(reorder__random_pyramids_agree_with_sorting)
{
    srand(7);
    struct reorder r;
    for (int round = 0; round < 200; round++) {
        int64_t pts[64], shown = INT64_MIN;
        reorder_init(&r, shown);
        int n = 1 + rand() % 60, window = 1 + rand() % 16;
        for (int i = 0; i < n; i++)
            pts[i] = i * 10;
        for (int i = 0; i < n; i++) { /* decode order: shuffled within windows */
            int j = i + rand() % (window < n - i ? window : n - i);
            int64_t t = pts[i];
            pts[i] = pts[j];
            pts[j] = t;
        }
        uint64_t n_visible = 0;
        for (int i = 0; i < n; i++) {
            int64_t dts = INT64_MAX;
            for (int k = i + 1; k < n; k++)
                dts = pts[k] < dts ? pts[k] : dts;
            dts = dts == INT64_MAX ? dts : dts - 10; /* every later picture is shown after it */
            reorder_put(&r, pts[i]);
            n_visible += reorder_take(&r, dts, 0);
            uint64_t expected = 0;
            for (int k = 0; k <= i; k++)
                expected += pts[k] <= dts;
            CHECK_INT(n_visible, expected);
            CHECK_INT(r.n, i + 1 - (int)expected);
        }
        CHECK_INT(reorder_take_all(&r), 0);
    }
}

/* ---- segments ----------------------------------------------------------------------------------------- */

static int check_begins(const uint64_t *entries, const uint32_t *flags, size_t n)
{
    if (seg_count(dir, "video") != n)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct seg_view v;
        bool ok = seg_view(dir, "video", i, &v) && v.file.super.base_entry == entries[i] &&
                  v.file.super.base_frame == entries[i] && v.n > 0 &&
                  v.entries[0].flags == flags[i] && v.entries[0].pos == 0 &&
                  v.entries[0].pics_before == 0;
        seg_view_done(&v);
        if (!ok)
            return (int)i + 1;
    }
    return 0;
}

TEST(rotation__waits_for_a_key)
{
    CHECK_INT(begin(1000, 0), 0);
    for (int64_t i = 0; i < 40; i++)
        CHECK_INT(put(i, i, i % 12 == 0 ? SEG_FLAG_KEY : 0, 100), 0);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    static const uint64_t entries[] = {0, 12, 24, 36};
    static const uint32_t flags[] = {SEG_FLAG_KEY | SEG_FLAG_FRESH, SEG_FLAG_KEY, SEG_FLAG_KEY,
                                     SEG_FLAG_KEY};
    CHECK_INT(check_begins(entries, flags, 4), 0);
    end();
}

TEST(rotation__cuts_at_twice_the_limit)
{
    CHECK_INT(begin(1000, 0), 0);
    for (int64_t i = 0; i < 45; i++)
        CHECK_INT(put(i, i, i == 0 ? SEG_FLAG_KEY : 0, 100), 0);
    CHECK_INT(put(45, 45, SEG_FLAG_KEY, 5000), 0); /* larger than any segment */
    CHECK_INT(put(46, 46, 0, 100), 0);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    static const uint64_t entries[] = {0, 20, 40, 45, 46};
    static const uint32_t flags[] = {SEG_FLAG_KEY | SEG_FLAG_FRESH, SEG_FLAG_CONTINUES,
                                     SEG_FLAG_CONTINUES, SEG_FLAG_KEY, SEG_FLAG_CONTINUES};
    CHECK_INT(check_begins(entries, flags, 5), 0);
    end();
}

TEST(rotation__by_time)
{
    CHECK_INT(begin(0, 10 * 40000000), 0);
    for (int64_t i = 0; i < 60; i++)
        CHECK_INT(put(i, i, i % 6 == 0 && i < 20 ? SEG_FLAG_KEY : 0, 100), 0);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    static const uint64_t entries[] = {0, 12, 32, 52};
    static const uint32_t flags[] = {SEG_FLAG_KEY | SEG_FLAG_FRESH, SEG_FLAG_KEY,
                                     SEG_FLAG_CONTINUES, SEG_FLAG_CONTINUES};
    CHECK_INT(check_begins(entries, flags, 4), 0);
    end();
}

TEST(format__a_change_shows_all_and_begins_fresh)
{
    CHECK_INT(begin(0, 0), 0);
    CHECK_INT(put(0, -2, SEG_FLAG_KEY, 100), 0);
    CHECK_INT(put(2, -1, 0, 100), 0);
    CHECK_INT(state().frames, 0);
    struct params other;
    params_h264(&other, 25);
    other.width = 128;
    CHECK_INT(store_writer_format(writer, &other, NULL), 0);
    CHECK_INT(state().frames, 2);
    CHECK_INT(put(3, 3, SEG_FLAG_KEY, 100), 0);
    CHECK_INT(put(4, 4, 0, 100), 0);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    static const uint64_t entries[] = {0, 2};
    static const uint32_t flags[] = {SEG_FLAG_KEY | SEG_FLAG_FRESH, SEG_FLAG_KEY | SEG_FLAG_FRESH};
    CHECK_INT(check_begins(entries, flags, 2), 0);
    end();
}

/* ---- payload ------------------------------------------------------------------------------------------- */

TEST(side_data__follows_with_its_total_size)
{
    CHECK_INT(begin(0, 0), 0);
    uint8_t bytes[] = "packet", side[] = "12345678side data";
    struct iovec pieces[] = {{bytes, 6}, {side, 17}};
    struct store_item item = item_at(0);
    CHECK_INT(store_writer_packet(writer, &item, pieces, 2, 17, NULL), 0);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    struct seg_view v;
    CHECK(seg_view(dir, "video", 0, &v));
    CHECK_INT(v.entries[0].len, 27);
    CHECK(v.entries[0].flags & SEG_FLAG_SIDE);
    uint8_t got[27];
    CHECK_INT(io_pread_all(v.file.fd, got, 27, v.file.super.data_off), 0);
    CHECK_MEM(got, "packet12345678side data\x11\0\0\0", 27);
    CHECK_INT(v.entries[0].crc_payload, crc32c(0, got, 27));
    seg_view_done(&v);
    end();
}

TEST(empty_packet__is_kept)
{
    CHECK_INT(begin(0, 0), 0);
    struct store_item item = item_at(0);
    item.flags = SEG_FLAG_KEY;
    CHECK_INT(store_writer_packet(writer, &item, NULL, 0, 0, NULL), 0);
    CHECK_INT(put(1, 1, 0, 10), 0);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    struct seg_view v;
    CHECK(seg_view(dir, "video", 0, &v));
    CHECK_INT(v.n, 2);
    CHECK_INT(v.entries[0].len, 0);
    seg_view_done(&v);
    end();
}

T_MAIN(RUN(b_frames__become_visible_when_none_can_come_before) RUN(no_b_frames__are_visible_at_once)
           RUN(nopic__is_stored_and_not_counted) RUN(late_picture__is_moved_behind_the_visible_ones)
               RUN(reorder__at_most_64_wait) RUN(reorder__random_pyramids_agree_with_sorting)
                   RUN(rotation__waits_for_a_key) RUN(rotation__cuts_at_twice_the_limit)
                       RUN(rotation__by_time) RUN(format__a_change_shows_all_and_begins_fresh)
                           RUN(side_data__follows_with_its_total_size) RUN(empty_packet__is_kept))
