/* SPDX-License-Identifier: MIT
 *
 * test_store_reader.c - tensor streams read back: flat maps, frames, recovery, live growth, damage. The
 * recordings are made by segmaker.h. Times are test_store_reader_time.c's.
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "segmaker.h"
#include "store/control.h"
#include "store/store.h"
#include "t.h"

#define RATE_30  ((struct swt_ratio){30, 1})
#define FRAME_NS INT64_C(33333333)

static void frames_one_by_one(struct maker *m, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        maker_frames(m, 1, (int64_t)m->frames * FRAME_NS, (uint32_t)FRAME_NS, SEG_FLAG_KEY);
}

/* Segments of `n` frames each, the last one as a crash leaves it. */
static void segments_of(struct maker *m, uint64_t n_segments, uint64_t n)
{
    for (uint64_t i = 0; i < n_segments; i++) {
        maker_segment(m, n * m->params.frame_bytes);
        frames_one_by_one(m, n);
        maker_end(m, i + 1 < n_segments);
    }
}

static struct store_reader *open_reader(struct maker *m, struct store_reader_state *ret_state)
{
    struct store_reader *r = NULL;
    struct swt_diag d = {0};
    if (store_reader_open(m->dir, MAKER_STREAM, &r, &d) < 0 ||
        store_reader_refresh(r, ret_state, &d) < 0) {
        printf("# %d %s: %s\n", d.code, d.path, d.text);
        store_reader_close(&r);
    }
    return r;
}

/* Map a window and compare it: the first wrong frame, or UINT64_MAX. */
static uint64_t wrong_frame(struct store_reader *r, const struct maker *m, uint64_t first,
                            uint64_t n)
{
    const void *data = NULL;
    struct swt_diag d = {0};
    uint64_t fb = m->params.frame_bytes, base = m->run_base_frame;
    if (store_reader_map(r, first, n, &data, &d) < 0) {
        printf("# map %d %s: %s\n", d.code, d.path, d.text);
        return first;
    }
    size_t at = maker_differs(m->runs - 1, (first - base) * fb, data, (size_t)(n * fb));
    return at == n * fb ? UINT64_MAX : first + at / fb;
}

/* ---- maps ------------------------------------------------------------------------------------------ */

static void check_windows(uint64_t frame_bytes, uint64_t n_frames, uint64_t longest, int n_windows)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, frame_bytes, RATE_30);
    while (m.frames < n_frames) {
        uint64_t n = 1 + maker_mix(m.frames * 3 + frame_bytes) % longest;
        maker_segment(&m, n * frame_bytes + maker_mix(m.frames) % (4 * frame_bytes));
        frames_one_by_one(&m, n);
        maker_end(&m, true);
    }
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.end_frame, m.frames);
    CHECK_INT(s.bytes, m.frames * frame_bytes);
    for (int i = 0; i < n_windows; i++) {
        uint64_t first = maker_mix((uint64_t)i) % m.frames;
        uint64_t n = 1 + maker_mix((uint64_t)i + 99) % 64;
        n = n < m.frames - first ? n : m.frames - first;
        CHECK_INT(wrong_frame(r, &m, first, n), UINT64_MAX);
        CHECK_INT(store_reader_check(r, first, n, NULL), 0);
    }
    const void *all = NULL, *some = NULL;
    CHECK_INT(wrong_frame(r, &m, 0, m.frames), UINT64_MAX);
    CHECK_INT(store_reader_map(r, 0, m.frames, &all, NULL), 0);
    CHECK_INT(store_reader_map(r, m.frames - 1, 1, &some, NULL), 0);
    CHECK((const uint8_t *)some - (const uint8_t *)all ==
          (ptrdiff_t)((m.frames - 1) * frame_bytes));
}

TEST(map__frames_of_225x225x3_in_segments_of_1_to_29)
{
    check_windows(225 * 225 * 3, 150, 29, 80);
}

TEST(map__tiny_frames_with_many_segments_in_one_page)
{
    check_windows(7, 300, 3, 300);
}

TEST(map__frames_larger_than_a_seam)
{
    check_windows(100003, 60, 2, 60);
}

TEST(map__frames_of_whole_seams)
{
    check_windows(65536, 90, 5, 90);
}

/* Windows from the end to the beginning: every segment is mapped before the one it follows. */
TEST(map__backwards)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 30001, RATE_30);
    for (int i = 0; i < 40; i++)
        segments_of(&m, 1, 1 + (uint64_t)i % 4);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    for (uint64_t f = m.frames; f-- > 0;)
        CHECK_INT(wrong_frame(r, &m, f, 1), UINT64_MAX);
    CHECK_INT(wrong_frame(r, &m, 0, m.frames), UINT64_MAX);
}

TEST(map__outside_is_no_window_and_across_runs_names_both)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct swt_diag d = {0};
    const void *data = NULL;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, RATE_30);
    segments_of(&m, 3, 4);
    maker_run(&m, 600, RATE_30);
    segments_of(&m, 2, 5);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.end_frame, 22);
    CHECK_INT(store_reader_map(r, 20, 3, &data, &d), SWT_E_NO_WINDOW);
    CHECK_INT(store_reader_map(r, UINT64_MAX, UINT64_MAX, &data, &d), SWT_E_NO_WINDOW);
    CHECK_INT(store_reader_map(r, 3, UINT64_MAX, &data, &d), SWT_E_NO_WINDOW);
    CHECK_INT(store_reader_map(r, 11, 2, &data, &d), SWT_E_RUNS);
    CHECK(strstr(d.text, "run 0") && strstr(d.text, "run 1") && strstr(d.text, "frame 12"));
    CHECK_INT(store_reader_map(r, 0, 12, &data, &d), 0);
    CHECK_INT(maker_differs(0, 0, data, 12 * 5000), 12 * 5000);
    CHECK_INT(wrong_frame(r, &m, 12, 10), UINT64_MAX);
    struct store_frame f;
    CHECK_INT(store_reader_frame(r, 11, &f, NULL), 0);
    CHECK_INT(f.run_end_frame, 12);
    CHECK_INT(f.run_no, 0);
    CHECK_INT(store_reader_frame(r, 13, &f, NULL), 0);
    CHECK_INT(f.run_base_frame, 12);
    CHECK_INT(f.run_end_frame, 22);
    const struct params *a = NULL, *b = NULL;
    CHECK_INT(store_reader_params(r, 0, &a, NULL), 0);
    CHECK_INT(store_reader_params(r, 21, &b, NULL), 0);
    CHECK_INT(a->frame_bytes, 5000);
    CHECK_INT(b->frame_bytes, 600);
    struct store_totals t;
    CHECK_INT(store_reader_totals(r, &t, NULL), 0);
    CHECK_INT(t.runs, 2);
}

/* What a reader borrowed stays, also when retention has unlinked it; new windows of it are refused. */
TEST(map__outlives_unlink)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct swt_diag d = {0};
    const void *data = NULL;
    char name[32];
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 20000, RATE_30);
    segments_of(&m, 5, 6);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    AUTO(store_reader_close) struct store_reader *untouched = open_reader(&m, &s);
    CHECK(r && untouched);
    CHECK_INT(store_reader_map(r, 0, 10, &data, NULL), 0);
    segfile_name(0, name);
    int fd = openat(m.seg_fd, name, O_RDWR);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    CHECK_INT(fcntl(fd, F_OFD_GETLK, &lock), 0);
    CHECK_INT(lock.l_type, F_RDLCK); /* the lease is there for retention to see */
    (void)close(fd);
    CHECK_INT(unlinkat(m.seg_fd, name, 0), 0);
    segfile_name(6, name);
    CHECK_INT(unlinkat(m.seg_fd, name, 0), 0);
    CHECK_INT(maker_differs(0, 0, data, 200000), 200000);
    CHECK_INT(store_reader_map(untouched, 5, 4, &data, &d), SWT_E_NO_WINDOW);
    CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
    CHECK_INT(store_reader_map(r, 5, 4, &data, &d), SWT_E_NO_WINDOW);
    CHECK_INT(s.first_frame, 12);
    CHECK_INT(s.end_frame, 30);
    CHECK_INT(s.segments, 3);
    CHECK_INT(s.bytes, 18 * 20000);
    CHECK_INT(s.first_entry, 12);
    CHECK_INT(wrong_frame(r, &m, 12, 18), UINT64_MAX);
}

TEST(map__with_little_address_space_maps_the_window_alone)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct rlimit old, low;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 1 << 20, RATE_30);
    segments_of(&m, 4, 16);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(getrlimit(RLIMIT_AS, &old), 0);
    low = old;
    low.rlim_cur = 48 << 20;
    char line[256];
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fgets(line, sizeof line, f));
    (void)fclose(f);
    low.rlim_cur += strtoull(line, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
    CHECK_INT(setrlimit(RLIMIT_AS, &low), 0);
    uint64_t bad = wrong_frame(r, &m, 30, 8);
    CHECK_INT(setrlimit(RLIMIT_AS, &old), 0);
    CHECK_INT(bad, UINT64_MAX);
}

/* ---- recovery -------------------------------------------------------------------------------------- */

TEST(recover__serves_the_unbroken_prefix)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, RATE_30);
    maker_segment(&m, 100 * 5000);
    frames_one_by_one(&m, 10);
    maker_slot(&m, false);
    frames_one_by_one(&m, 20);
    uint64_t data_off = m.super.data_off;
    maker_end(&m, false);
    maker_flip(&m, 0, data_off + 25 * 5000 + 17); /* not promised: the prefix ends before it */
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.end_frame, 25);
    CHECK_INT(s.end_entry, 25);
    CHECK_INT(s.durable_frames, 10);
    CHECK(!s.is_live);
    CHECK_INT(wrong_frame(r, &m, 0, 25), UINT64_MAX);
    struct store_totals t;
    CHECK_INT(store_reader_totals(r, &t, NULL), 0);
    CHECK_INT(t.times.last_ns, 24 * FRAME_NS);
    CHECK_INT(t.times.end_ns, 25 * FRAME_NS);
}

TEST(recover__a_promised_frame_that_is_damaged_is_an_error_not_an_end)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct swt_diag d = {0};
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, RATE_30);
    maker_segment(&m, 100 * 5000);
    frames_one_by_one(&m, 10);
    maker_slot(&m, false);
    frames_one_by_one(&m, 5);
    uint64_t data_off = m.super.data_off, index_off = m.super.index_off;
    maker_end(&m, false);
    maker_flip(&m, 0, data_off + 3 * 5000);
    maker_flip(&m, 0, index_off + 7 * 64 + 20);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.end_frame, 15);
    CHECK_INT(store_reader_check(r, 0, 3, &d), 0);
    CHECK_INT(store_reader_check(r, 0, 5, &d), SWT_E_CORRUPT);
    CHECK_INT(d.frame, 3);
    CHECK_INT(d.offset, data_off + 3 * 5000);
    CHECK_STR(d.stream, MAKER_STREAM);
    CHECK(strstr(d.path, "/seg/00000000000000000000.swt"));
    struct store_frame f;
    CHECK_INT(store_reader_frame(r, 7, &f, &d), SWT_E_CORRUPT);
    CHECK_INT(d.frame, 7);
    CHECK_INT(d.offset, index_off + 7 * 64);
    CHECK_INT(store_reader_frame(r, 6, &f, &d), 0);
    CHECK_INT(store_reader_frame(r, 8, &f, &d), 0);
    CHECK_INT(f.entry_no, 8);
    CHECK_INT(store_reader_check(r, 8, 7, &d), 0);
}

TEST(recover__grouped_entries_found_beside_damaged_ones)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct swt_diag d = {0};
    struct store_frame f;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 8, (struct swt_ratio){48000, 1});
    maker_segment(&m, 1 << 20);
    for (uint32_t i = 0; i < 64; i++)
        maker_frames(&m, 100 + i, 0, 0, 0);
    uint64_t index_off = m.super.index_off;
    maker_end(&m, true);
    maker_flip(&m, 0, index_off + 32 * 64); /* the entry bisection looks at first */
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    uint64_t at = 0;
    for (uint32_t i = 0; i < 64; at += 100 + i, i++) {
        CHECK_INT(store_reader_frame(r, at + i, &f, &d), i == 32 ? SWT_E_CORRUPT : 0);
        if (i != 32)
            CHECK_INT(f.entry_no, i);
    }
}

TEST(open__truncated_file_is_an_error_not_a_fault)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct swt_diag d = {0};
    const void *data = NULL;
    char name[32];
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, RATE_30);
    segments_of(&m, 3, 20);
    segfile_name(20, name);
    int fd = openat(m.seg_fd, name, O_RDWR);
    uint64_t data_off = m.super.data_off;
    CHECK_INT(ftruncate(fd, (off_t)(data_off + 7 * 5000 + 100)), 0);
    (void)close(fd);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.end_frame, 60);
    CHECK_INT(store_reader_map(r, 15, 20, &data, &d), SWT_E_CORRUPT);
    CHECK(strstr(d.path, "00000000000000000020.swt"));
    CHECK(d.frame >= 20 && d.frame <= 27);
    CHECK_INT(store_reader_map(r, 0, 20, &data, &d), 0);
    CHECK_INT(wrong_frame(r, &m, 40, 20), UINT64_MAX);
}

TEST(open__damaged_superblock_in_the_middle_harms_only_its_frames)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct swt_diag d = {0};
    const void *data = NULL;
    struct store_frame f;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, RATE_30);
    segments_of(&m, 3, 20);
    maker_flip(&m, 20, 100);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(store_reader_map(r, 25, 2, &data, &d), SWT_E_CORRUPT);
    CHECK_INT(store_reader_frame(r, 25, &f, &d), SWT_E_CORRUPT);
    CHECK(strstr(d.path, "00000000000000000020.swt"));
    CHECK_STR(d.stream, MAKER_STREAM);
    CHECK_INT(wrong_frame(r, &m, 0, 20), UINT64_MAX);
    CHECK_INT(wrong_frame(r, &m, 40, 20), UINT64_MAX);
    CHECK_INT(wrong_frame(r, &m, 0, 20), UINT64_MAX);
    uint64_t at = 0;
    CHECK_INT(store_reader_find_time(r, 50 * FRAME_NS, &at, &d), 0);
    CHECK_INT(at, 50);
}

TEST(open__damaged_newest_superblock_is_named)
{
    AUTO(maker_close) struct maker m;
    struct store_reader *r = NULL;
    struct swt_diag d = {0};
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, RATE_30);
    segments_of(&m, 3, 20);
    maker_flip(&m, 40, 100);
    CHECK_INT(store_reader_open(m.dir, MAKER_STREAM, &r, &d), SWT_E_CORRUPT);
    CHECK(strstr(d.path, "00000000000000000040.swt"));
    CHECK_STR(d.stream, MAKER_STREAM);
    CHECK(!r);
}

TEST(open__missing_segment_in_the_middle_is_named)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct swt_diag d = {0};
    struct store_frame f;
    const void *data = NULL;
    char name[32];
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, RATE_30);
    segments_of(&m, 3, 20);
    segfile_name(20, name);
    CHECK_INT(unlinkat(m.seg_fd, name, 0), 0);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.first_frame, 0);
    CHECK_INT(s.end_frame, 60);
    CHECK_INT(store_reader_frame(r, 25, &f, &d), SWT_E_CORRUPT);
    CHECK(strstr(d.text, "1 segment(s) missing"));
    CHECK_INT(d.frame, 25);
    CHECK_INT(store_reader_check(r, 19, 2, &d), SWT_E_CORRUPT);
    CHECK_INT(store_reader_map(r, 18, 10, &data, &d), SWT_E_CORRUPT);
    CHECK_INT(wrong_frame(r, &m, 0, 20), UINT64_MAX);
    CHECK_INT(wrong_frame(r, &m, 40, 20), UINT64_MAX);
}

/* The file has room for what is missing: its zeros are not given out. */
TEST(map__missing_segment_behind_one_with_room)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct swt_diag d = {0};
    const void *data = NULL;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, RATE_30);
    maker_segment(&m, 400 * 5000);
    frames_one_by_one(&m, 20);
    CHECK_INT(ftruncate(m.fd, (off_t)(m.super.data_off + m.super.data_cap)), 0);
    maker_slot(&m, true); /* unsealed it would be the end of the stream after a power cut */
    (void)close(m.fd);
    m.fd = -1;
    m.segments++;
    segments_of(&m, 2, 20);
    CHECK_INT(unlinkat(m.seg_fd, "00000000000000000020.swt", 0), 0);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(store_reader_map(r, 30, 2, &data, &d), SWT_E_CORRUPT);
    CHECK_INT(d.frame, 20);
    CHECK(strstr(d.text, "1 segment(s) missing"));
    CHECK_INT(store_reader_map(r, 10, 40, &data, &d), SWT_E_CORRUPT);
    CHECK_INT(wrong_frame(r, &m, 0, 20), UINT64_MAX);
    CHECK_INT(wrong_frame(r, &m, 40, 20), UINT64_MAX);
}

TEST(open__foreign_names_are_skipped)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, RATE_30);
    segments_of(&m, 2, 4);
    static const char *const names[] = {"README",
                                        ".new-segment",
                                        "00000000000000000004.swt~",
                                        "0000000000000000009.swt",
                                        "99999999999999999999.swt",
                                        "0000000000000000000x.swt",
                                        "00000000000000000005.bak"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)close(openat(m.seg_fd, names[i], O_CREAT | O_WRONLY, 0644));
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.segments, 2);
    CHECK_INT(s.end_frame, 8);
    CHECK_INT(wrong_frame(r, &m, 0, 8), UINT64_MAX);
}

TEST(open__not_a_file_under_a_segments_name)
{
    AUTO(maker_close) struct maker m;
    struct store_reader *r = NULL;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, RATE_30);
    segments_of(&m, 1, 4);
    CHECK_INT(mkdirat(m.seg_fd, "00000000000000000004.swt", 0755), 0);
    CHECK_INT(store_reader_open(m.dir, MAKER_STREAM, &r, NULL), SWT_E_CORRUPT);
    CHECK_INT(unlinkat(m.seg_fd, "00000000000000000004.swt", AT_REMOVEDIR), 0);
    CHECK_INT(mkfifoat(m.seg_fd, "00000000000000000004.swt", 0644), 0);
    CHECK_INT(store_reader_open(m.dir, MAKER_STREAM, &r, NULL), SWT_E_CORRUPT);
    CHECK_INT(unlinkat(m.seg_fd, "00000000000000000004.swt", 0), 0);
    CHECK_INT(symlinkat("00000000000000000000.swt", m.seg_fd, "00000000000000000004.swt"), 0);
    CHECK(store_reader_open(m.dir, MAKER_STREAM, &r, NULL) < 0);
}

TEST(open__stream_without_segments_is_empty)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct store_totals t;
    uint64_t at = 7;
    maker_open(&m, SEG_KIND_TENSOR);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.end_frame, 0);
    CHECK_INT(store_reader_totals(r, &t, NULL), 0);
    CHECK_INT(t.times.last_ns, INT64_MIN);
    CHECK_INT(store_reader_find_time(r, 0, &at, NULL), 0);
    CHECK_INT(at, 0);
    CHECK_INT(store_reader_wait(r, 0, 1000000000, NULL), 0);
    CHECK_INT(store_reader_open(m.dir, "nobody", &r, NULL), SWT_E_NO_STREAM);
}

/* A session that was killed before its first commit leaves an empty segment; the next one replaces it. */
TEST(refresh__empty_newest_replaced_under_the_same_name)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, RATE_30);
    segments_of(&m, 2, 10);
    maker_segment(&m, 50000);
    maker_end(&m, false);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.end_frame, 20);
    CHECK_INT(s.segments, 3);
    CHECK_INT(wrong_frame(r, &m, 5, 15), UINT64_MAX);
    CHECK_INT(unlinkat(m.seg_fd, "00000000000000000020.swt", 0), 0);
    m.sessions++;
    m.segments--;
    segments_of(&m, 1, 7);
    CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
    CHECK_INT(s.end_frame, 27);
    CHECK_INT(wrong_frame(r, &m, 5, 22), UINT64_MAX);
    CHECK_INT(store_reader_check(r, 0, 27, NULL), 0);
}

/* ---- live ------------------------------------------------------------------------------------------ */

static void publish(struct maker *m, struct control *c)
{
    control_publish(c, m->entries, m->frames);
}

TEST(live__a_second_and_a_third_segment_appear)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct control c = {0};
    const void *old = NULL, *now = NULL;
    int lock = -1;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 225 * 225 * 3, RATE_30);
    CHECK_INT(dir_stream_lock(m.stream_fd, MAKER_STREAM, &lock, NULL), 0);
    CHECK_INT(control_create(m.stream_fd, lock, m.meta.uuid, NULL, 0644, &c, NULL), 0);
    control_begin(&c, 0, 0, 0);
    maker_segment(&m, 40 * m.params.frame_bytes);
    frames_one_by_one(&m, 3);
    publish(&m, &c);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK(s.is_live);
    CHECK_INT(s.writer_pid, getpid());
    CHECK_INT(s.end_frame, 3);
    CHECK_INT(store_reader_map(r, 0, 3, &old, NULL), 0);
    for (int round = 0; round < 12; round++) {
        frames_one_by_one(&m, 2); /* not published: not there */
        CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
        CHECK_INT(s.end_frame, m.frames - 2);
        publish(&m, &c);
        CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
        CHECK_INT(s.end_frame, m.frames);
        CHECK_INT(wrong_frame(r, &m, m.frames - 3, 3), UINT64_MAX);
        if (round % 2 == 0) {
            maker_end(&m, true);
            maker_segment(&m, (uint64_t)(5 + round) * m.params.frame_bytes);
            CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
            frames_one_by_one(&m, 1);
            publish(&m, &c);
            CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
            CHECK_INT(wrong_frame(r, &m, m.frames - 4, 4), UINT64_MAX);
        }
    }
    CHECK_INT(wrong_frame(r, &m, 0, m.frames), UINT64_MAX);
    CHECK_INT(store_reader_map(r, 0, m.frames, &now, NULL), 0);
    CHECK(now == old); /* the array grows where it is */
    uint64_t visible = m.frames;
    frames_one_by_one(&m, 1); /* written, never published, then the end: recovery finds it */
    maker_end(&m, false);
    CHECK_INT(store_reader_wait(r, visible, 20000000, NULL), 0);
    control_end(&c, m.stream_fd);
    (void)close(lock);
    CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
    CHECK(!s.is_live);
    CHECK_INT(s.end_frame, visible + 1);
    CHECK_INT(wrong_frame(r, &m, 0, m.frames), UINT64_MAX);
    CHECK_INT(store_reader_wait(r, visible, 0, NULL), 1);
}

TEST(live__killed_writer_is_noticed_and_its_successor_followed)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct control c = {0}, c2 = {0};
    int lock = -1;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, RATE_30);
    CHECK_INT(dir_stream_lock(m.stream_fd, MAKER_STREAM, &lock, NULL), 0);
    CHECK_INT(control_create(m.stream_fd, lock, m.meta.uuid, NULL, 0644, &c, NULL), 0);
    control_begin(&c, 0, 0, 0);
    maker_segment(&m, 400 * 5000);
    frames_one_by_one(&m, 5);
    publish(&m, &c);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK(s.is_live);
    (void)munmap(c.page, CONTROL_BYTES); /* its file stays, as after kill -9 */
    c.page = NULL;
    (void)close(lock);
    CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
    CHECK(!s.is_live);
    CHECK_INT(s.end_frame, 5);
    maker_end(&m, false);
    m.sessions++;
    CHECK_INT(dir_stream_lock(m.stream_fd, MAKER_STREAM, &lock, NULL), 0);
    CHECK_INT(control_create(m.stream_fd, lock, m.meta.uuid, NULL, 0644, &c2, NULL), 0);
    control_begin(&c2, m.entries, m.frames, 0);
    maker_segment(&m, 400 * 5000);
    frames_one_by_one(&m, 2);
    publish(&m, &c2);
    CHECK_INT(store_reader_wait(r, 5, 1000000000, NULL), 1);
    CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
    CHECK(s.is_live);
    CHECK_INT(s.end_frame, 7);
    CHECK_INT(wrong_frame(r, &m, 0, 7), UINT64_MAX);
    struct store_totals t;
    CHECK_INT(store_reader_totals(r, &t, NULL), 0);
    CHECK_INT(t.sessions, 2);
    control_end(&c2, m.stream_fd);
    control_end(&c, m.stream_fd);
    (void)close(lock);
}

TEST(live__without_a_page_is_polled)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    int lock = -1;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, RATE_30);
    CHECK_INT(dir_stream_lock(m.stream_fd, MAKER_STREAM, &lock, NULL), 0);
    maker_segment(&m, 400 * 5000);
    frames_one_by_one(&m, 5);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK(s.is_live);
    CHECK_INT(s.end_frame, 5);
    frames_one_by_one(&m, 2);
    CHECK_INT(store_reader_wait(r, 5, 1000000000, NULL), 1);
    CHECK_INT(wrong_frame(r, &m, 0, 7), UINT64_MAX);
    (void)close(lock);
}

/* A page that promises more than its segments can hold is not believed. */
TEST(live__page_beyond_the_segments_capacity)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct control c = {0};
    struct store_frame f;
    const void *data = NULL;
    int lock = -1;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, RATE_30);
    CHECK_INT(dir_stream_lock(m.stream_fd, MAKER_STREAM, &lock, NULL), 0);
    CHECK_INT(control_create(m.stream_fd, lock, m.meta.uuid, NULL, 0644, &c, NULL), 0);
    maker_segment(&m, 10 * 5000);
    frames_one_by_one(&m, 10);
    control_begin(&c, 5000, 5000, 0);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.end_frame, 5000);
    CHECK_INT(store_reader_map(r, 0, 5000, &data, NULL), SWT_E_CORRUPT);
    CHECK_INT(store_reader_map(r, 4000, 1, &data, NULL), SWT_E_CORRUPT);
    CHECK_INT(store_reader_frame(r, 4000, &f, NULL), SWT_E_CORRUPT);
    CHECK_INT(wrong_frame(r, &m, 0, 10), UINT64_MAX);
    control_end(&c, m.stream_fd);
    (void)close(lock);
}

/* ---- scale ----------------------------------------------------------------------------------------- */

TEST(scale__ten_thousand_segments_open_at_once)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 600, RATE_30);
    segments_of(&m, 10000, 2);
    int64_t begin = clock_mono_ns();
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    int64_t opened = clock_mono_ns();
    CHECK(r);
    CHECK_INT(s.end_frame, 20000);
    CHECK_INT(wrong_frame(r, &m, 20000 - 64, 64), UINT64_MAX);
    int64_t mapped = clock_mono_ns();
    uint64_t at = 0;
    CHECK_INT(store_reader_find_time(r, 12345 * FRAME_NS, &at, NULL), 0);
    int64_t found = clock_mono_ns();
    CHECK_INT(at, 12345);
    printf("# 10,000 segments: open %.2f ms, last window (32 segments) %.2f ms, time %.2f ms\n",
           (double)(opened - begin) / 1e6, (double)(mapped - opened) / 1e6,
           (double)(found - mapped) / 1e6);
    CHECK(opened - begin < INT64_C(500000000)); /* ten times the target: a loaded machine passes */
    int fds = 0;
    for (int fd = 0; fd < 1024; fd++)
        fds += fcntl(fd, F_GETFD) >= 0;
    CHECK(fds < 100);
}

T_MAIN(
    RUN(map__frames_of_225x225x3_in_segments_of_1_to_29) RUN(
        map__tiny_frames_with_many_segments_in_one_page) RUN(map__frames_larger_than_a_seam)
        RUN(map__frames_of_whole_seams) RUN(map__backwards)
            RUN(map__outside_is_no_window_and_across_runs_names_both) RUN(map__outlives_unlink) RUN(
                map__with_little_address_space_maps_the_window_alone)
                RUN(recover__serves_the_unbroken_prefix) RUN(
                    recover__a_promised_frame_that_is_damaged_is_an_error_not_an_end)
                    RUN(recover__grouped_entries_found_beside_damaged_ones) RUN(
                        open__truncated_file_is_an_error_not_a_fault)
                        RUN(open__damaged_superblock_in_the_middle_harms_only_its_frames) RUN(
                            open__damaged_newest_superblock_is_named)
                            RUN(open__missing_segment_in_the_middle_is_named) RUN(
                                map__missing_segment_behind_one_with_room)
                                RUN(open__foreign_names_are_skipped) RUN(
                                    open__not_a_file_under_a_segments_name)
                                    RUN(open__stream_without_segments_is_empty) RUN(
                                        refresh__empty_newest_replaced_under_the_same_name)
                                        RUN(live__a_second_and_a_third_segment_appear) RUN(
                                            live__killed_writer_is_noticed_and_its_successor_followed)
                                            RUN(live__without_a_page_is_polled)
                                                RUN(live__page_beyond_the_segments_capacity)
                                                    RUN(scale__ten_thousand_segments_open_at_once))
