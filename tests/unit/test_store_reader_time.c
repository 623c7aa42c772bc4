/* SPDX-License-Identifier: MIT
 *
 * test_store_reader_time.c - tensor streams: media time, wall time, gaps and sums against linear searches.
 */
#include "base/size.h"
#include "segmaker.h"
#include "store/store.h"
#include "t.h"

#define SECOND INT64_C(1000000000)

static struct store_reader *open_reader(struct maker *m)
{
    struct store_reader *r = NULL;
    struct swt_diag d = {0};
    if (store_reader_open(m->dir, MAKER_STREAM, &r, &d) < 0)
        printf("# %d %s: %s\n", d.code, d.path, d.text);
    return r;
}

/* Ten frames of a second each, with one entry damaged. */
static void ten_with_damage(struct maker *m, uint64_t entry)
{
    maker_open(m, SEG_KIND_TENSOR);
    maker_run(m, 100, (struct swt_ratio){1, 1});
    maker_segment(m, 1 << 16);
    for (int i = 0; i < 10; i++)
        maker_frames(m, 1, (i + 5) * SECOND, 0, 0);
    uint64_t off = m->super.index_off + entry * SEG_ENTRY_BYTES + 16;
    maker_end(m, true);
    maker_flip(m, 0, off);
}

TEST(time__damaged_first_entry_leaves_only_its_own_time_unknown)
{
    AUTO(maker_close) struct maker m;
    struct store_times t;
    struct store_totals sums;
    ten_with_damage(&m, 0);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m);
    CHECK(r);
    CHECK_INT(store_reader_times(r, &t, NULL), 0);
    CHECK_INT(t.first_ns, INT64_MIN);
    CHECK_INT(t.last_ns, 14 * SECOND);
    CHECK_INT(t.end_ns, 15 * SECOND);
    CHECK_INT(store_reader_totals(r, &sums, NULL), 0);
    CHECK_INT(sums.times.first_ns, INT64_MIN);
    CHECK_INT(sums.times.end_ns, 15 * SECOND);
}

TEST(time__damaged_last_entry_is_an_error_and_totals_go_on)
{
    AUTO(maker_close) struct maker m;
    struct swt_diag d = {0};
    struct store_times t;
    struct store_totals sums;
    ten_with_damage(&m, 9);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m);
    CHECK(r);
    CHECK_INT(store_reader_times(r, &t, &d), SWT_E_CORRUPT);
    CHECK_INT(d.frame, 9);
    CHECK_INT(store_reader_totals(r, &sums, NULL), 0);
    CHECK_INT(sums.times.first_ns, 5 * SECOND);
    CHECK_INT(sums.times.last_ns, INT64_MIN);
    CHECK_INT(sums.times.end_ns, INT64_MIN);
    CHECK_INT(sums.runs, 1);
}

static uint64_t first_at_or_after(const int64_t *times, uint64_t n, int64_t ns)
{
    uint64_t k = 0;
    while (k < n && times[k] < ns)
        k++;
    return k;
}

/* Sound: groups of samples over several segments, with a gap now and then. */
TEST(time__sound_in_groups)
{
    AUTO(maker_close) struct maker m;
    static int64_t times[40000];
    const struct swt_ratio rate = {44100, 1};
    int64_t begin = -SECOND / 3; /* before zero */
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 4, rate);
    for (int s = 0; s < 7; s++) {
        maker_segment(&m, 1 << 16);
        for (int e = 0; e < 9; e++) {
            uint32_t n = 1 + (uint32_t)(maker_mix((uint64_t)(s * 9 + e)) % 600);
            bool gap = s + e > 0 && maker_mix((uint64_t)(s * 31 + e)) % 5 == 0;
            begin += gap ? SECOND : 0;
            for (uint32_t k = 0; k < n; k++)
                times[m.frames + k] = begin + size_frames_ns(k, rate);
            int64_t length = size_frames_ns(n, rate);
            maker_frames(&m, n, begin, (uint32_t)length, gap ? SEG_FLAG_GAP : 0);
            begin += length;
        }
        maker_end(&m, s < 6);
    }
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m);
    CHECK(r);
    for (uint64_t k = 0; k < m.frames; k++) {
        struct store_frame f;
        CHECK_INT(store_reader_frame(r, k, &f, NULL), 0);
        CHECK_INT(f.time_ns, times[k]);
        CHECK(f.entry.pos <= k && k < f.entry.pos + f.entry.len);
    }
    for (int64_t t = times[0] - SECOND; t < begin + SECOND; t += SECOND / 137) {
        uint64_t at = 0;
        CHECK_INT(store_reader_find_time(r, t, &at, NULL), 0);
        CHECK_INT(at, first_at_or_after(times, m.frames, t));
    }
    for (uint64_t k = 0; k < m.frames; k += 371) { /* exactly on a frame, and 1 ns beside */
        uint64_t at = 0;
        CHECK_INT(store_reader_find_time(r, times[k], &at, NULL), 0);
        CHECK_INT(at, k);
        CHECK_INT(store_reader_find_time(r, times[k] + 1, &at, NULL), 0);
        CHECK_INT(at, k + 1);
    }
    struct store_totals t;
    CHECK_INT(store_reader_totals(r, &t, NULL), 0);
    CHECK_INT(t.times.first_ns, times[0]);
    CHECK_INT(t.times.last_ns, times[m.frames - 1]);
    CHECK_INT(t.times.end_ns, begin);
    CHECK_INT(t.gaps, m.past_gaps);
    uint64_t gaps = 0, at = 0;
    while (store_reader_find_gap(r, at, m.frames - 1, &at, NULL) == 1) {
        CHECK(times[at] - times[at - 1] > SECOND);
        gaps++;
    }
    CHECK_INT(gaps, m.past_gaps);
    CHECK(gaps > 5);
}

TEST(time__without_a_rate_is_interpolated_by_the_duration)
{
    AUTO(maker_close) struct maker m;
    struct store_frame f;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 10, (struct swt_ratio){0, 1});
    maker_segment(&m, 1 << 16);
    maker_frames(&m, 4, 100, 40, 0);
    maker_frames(&m, 3, 200, 0, 0); /* nothing known: all at once */
    maker_end(&m, true);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m);
    CHECK(r);
    CHECK_INT(store_reader_frame(r, 3, &f, NULL), 0);
    CHECK_INT(f.time_ns, 130);
    CHECK_INT(store_reader_frame(r, 6, &f, NULL), 0);
    CHECK_INT(f.time_ns, 200);
    uint64_t at = 0;
    CHECK_INT(store_reader_find_time(r, 111, &at, NULL), 0);
    CHECK_INT(at, 2);
    CHECK_INT(store_reader_find_time(r, 131, &at, NULL), 0);
    CHECK_INT(at, 4);
}

/* ---- wall time ------------------------------------------------------------------------------------- */

static void anchor(struct maker *m, int64_t boot_ns, int64_t wall_ns)
{
    struct anchor a = {.boot_ns = boot_ns, .wall_ns = wall_ns};
    memcpy(a.boot_id, m->super.boot_id, 16);
    maker_must(dir_anchor_append(m->stream_fd, &a) == 0, "anchor");
}

/* Frames a second apart, captured as their time says (segmaker.h). */
static void seconds(struct maker *m, int n)
{
    for (int i = 0; i < n; i++)
        maker_frames(m, 1, (int64_t)m->frames * SECOND, (uint32_t)SECOND, 0);
}

#define WALL_0 (1700000000 * SECOND)

/* By the definition: the last place where wall time rises over `ns`. */
static uint64_t model_wall(const int64_t *walls, uint64_t n, int64_t ns)
{
    for (uint64_t k = n; k-- > 0;) {
        if (walls[k] >= ns && (k == 0 || walls[k - 1] < ns))
            return k;
    }
    return n;
}

static bool walls_are_found(struct store_reader *r, uint64_t n)
{
    static int64_t walls[1000];
    for (uint64_t k = 0; k < n; k++) {
        struct store_frame f;
        if (store_reader_frame(r, k, &f, NULL) < 0)
            return false;
        walls[k] = f.wall_ns;
    }
    for (int64_t t = -2 * SECOND; t < 700 * SECOND; t += SECOND / 3) {
        uint64_t at = 0;
        if (store_reader_find_wall(r, WALL_0 + t, &at, NULL) < 0)
            return false;
        if (at != model_wall(walls, n, WALL_0 + t)) {
            printf("# %" PRId64 ": %" PRIu64 " not %" PRIu64 "\n", t, at,
                   model_wall(walls, n, WALL_0 + t));
            return false;
        }
    }
    return true;
}

TEST(wall__clock_that_never_steps)
{
    AUTO(maker_close) struct maker m;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 100, (struct swt_ratio){1, 1});
    maker_segment(&m, 1 << 16);
    anchor(&m, 0, WALL_0);
    anchor(&m, 60 * SECOND, WALL_0 + 60 * SECOND + 1000); /* slewed, not stepped */
    anchor(&m, 120 * SECOND, WALL_0 + 120 * SECOND - 1000);
    seconds(&m, 100);
    maker_end(&m, true);
    maker_segment(&m, 1 << 16);
    seconds(&m, 80);
    maker_end(&m, true);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m);
    CHECK(r);
    CHECK(walls_are_found(r, 180));
}

TEST(wall__instant_that_occurred_twice_is_its_last_pass)
{
    AUTO(maker_close) struct maker m;
    uint64_t at = 0;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 100, (struct swt_ratio){1, 1});
    maker_segment(&m, 1 << 16);
    anchor(&m, 0, WALL_0);
    anchor(&m, 299 * SECOND, WALL_0 + 299 * SECOND);
    anchor(&m, 300 * SECOND, WALL_0 + 200 * SECOND); /* set back by 100 s */
    anchor(&m, 399 * SECOND, WALL_0 + 299 * SECOND);
    anchor(&m, 400 * SECOND, WALL_0 + 500 * SECOND); /* and forward by 200 s */
    seconds(&m, 250);
    maker_end(&m, true);
    maker_segment(&m, 1 << 16);
    seconds(&m, 300);
    maker_end(&m, true);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m);
    CHECK(r);
    CHECK(walls_are_found(r, 550));
    CHECK_INT(store_reader_find_wall(r, WALL_0 + 250 * SECOND, &at, NULL), 0);
    CHECK_INT(at, 350);
    CHECK_INT(store_reader_find_wall(r, WALL_0 + 100 * SECOND, &at, NULL), 0);
    CHECK_INT(at, 100);
}

TEST(wall__two_boots)
{
    AUTO(maker_close) struct maker m;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 100, (struct swt_ratio){1, 1});
    maker_segment(&m, 1 << 16);
    anchor(&m, 0, WALL_0);
    seconds(&m, 100);
    maker_end(&m, true);
    maker_segment(&m, 1 << 16); /* the machine was started anew: another id, another offset */
    struct seg_super bytes;
    m.super.boot_id[3] ^= 1;
    super_encode(&m.super, &bytes);
    CHECK_INT(io_pwrite_all(m.fd, &bytes, sizeof bytes, 0), 0);
    anchor(&m, 0, WALL_0 + 400 * SECOND);
    seconds(&m, 50);
    maker_end(&m, true);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m);
    CHECK(r);
    struct store_frame f;
    CHECK_INT(store_reader_frame(r, 99, &f, NULL), 0);
    CHECK_INT(f.wall_ns, WALL_0 + 99 * SECOND);
    CHECK_INT(store_reader_frame(r, 100, &f, NULL), 0);
    CHECK_INT(f.wall_ns, WALL_0 + 500 * SECOND);
    CHECK(walls_are_found(r, 150));
}

TEST(wall__no_anchors_no_wall_time)
{
    AUTO(maker_close) struct maker m;
    struct store_frame f;
    uint64_t at = 0;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 100, (struct swt_ratio){1, 1});
    maker_segment(&m, 1 << 16);
    seconds(&m, 10);
    maker_end(&m, true);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m);
    CHECK(r);
    CHECK_INT(store_reader_frame(r, 5, &f, NULL), 0);
    CHECK_INT(f.wall_ns, INT64_MIN);
    CHECK_INT(store_reader_find_wall(r, WALL_0, &at, NULL), 0);
    CHECK_INT(at, 10);
}

T_MAIN(RUN(time__sound_in_groups) RUN(time__without_a_rate_is_interpolated_by_the_duration)
           RUN(wall__clock_that_never_steps) RUN(wall__instant_that_occurred_twice_is_its_last_pass)
               RUN(wall__two_boots) RUN(wall__no_anchors_no_wall_time)
                   RUN(time__damaged_first_entry_leaves_only_its_own_time_unknown)
                       RUN(time__damaged_last_entry_is_an_error_and_totals_go_on))
