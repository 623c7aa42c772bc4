/* SPDX-License-Identifier: MIT
 *
 * Unit tests of tensors being written: segments and seams, sessions, runs, groups, sums, full disks, the
 * lock, and what is left after the writer is killed.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "store_t.h"

#define ODD_BYTES UINT64_C(151875)  /* 225 x 225 x 3 */
#define FRAME_NS  INT64_C(40000000) /* 25 frames a second */

static char folder[64];
static struct store_dir *dir;
static struct store_writer *writer;
static struct params params;

static void begin(const char *base)
{
    char path[PATH_MAX];
    folder_make(base, folder);
    path_join(folder, "r.swt", path);
    if (store_dir_create(path, clock_boot_ns(), &dir, NULL) < 0)
        abort();
}

static void end(void)
{
    store_writer_abandon(&writer);
    store_dir_close(&dir);
    params_done(&params);
    folder_remove(folder);
}

static struct store_writer_spec spec_of(uint64_t segment_bytes, int64_t sync_ns)
{
    return (struct store_writer_spec){.name = "video",
                                      .kind = SEG_KIND_TENSOR,
                                      .segment_bytes = segment_bytes,
                                      .sync_ns = sync_ns};
}

/* Append frames first .. first + n - 1 of the test stream in one call. */
static int put(uint64_t first, uint64_t n, uint64_t frame_bytes, int64_t time_ns)
{
    uint8_t *data = frames_make(first, n, frame_bytes);
    struct store_item item = item_at(time_ns);
    uint64_t stored = 0;
    int r = store_writer_frames(writer, &item, data, n, &stored, NULL);
    free(data);
    return r < 0 ? r : stored == n ? 0 : -EIO;
}

static int open_rows(uint64_t segment_bytes, uint64_t frame_bytes, int64_t rate, int64_t sync_ns)
{
    struct store_writer_spec spec = spec_of(segment_bytes, sync_ns);
    int r = store_writer_open(dir, &spec, &writer, NULL);
    params_rows(&params, frame_bytes, rate);
    return r < 0 ? r : store_writer_format(writer, &params, NULL);
}

static uint64_t visible(void)
{
    struct store_writer_state state;
    store_writer_state(writer, &state);
    return state.frames;
}

/* ---- segments, seams, sessions ---------------------------------------------------------------------- */

static void check_odd_run(const char *base)
{
    begin(base);
    uint64_t n = 0;
    for (int session = 0; session < 2; session++) {
        CHECK_INT(open_rows(3 * ODD_BYTES, ODD_BYTES, 25, 1000000000), 0);
        for (int call = 0; call < 4; call++, n += 2)
            CHECK_INT(put(n, 2, ODD_BYTES, (int64_t)n * FRAME_NS), 0);
        CHECK_INT(visible(), n);
        CHECK_INT(store_writer_close(&writer, NULL), 0);
    }
    static const uint64_t bases[] = {0, 3, 6, 8, 11, 14};
    CHECK_INT(seg_count(dir, "video"), 6);
    for (size_t i = 0; i < 6; i++) {
        struct seg_view v;
        CHECK(seg_view(dir, "video", i, &v));
        CHECK_INT(v.file.super.base_frame, bases[i]);
        CHECK_INT(v.file.super.base_entry, bases[i]);
        CHECK_INT(v.file.super.run_base_frame, 0);
        CHECK_INT(v.file.super.run_no, 0);
        CHECK_INT(v.file.super.session_no, i / 3);
        CHECK_INT(v.file.super.segment_no, i);
        CHECK_INT(v.file.super.past_bytes, bases[i] * ODD_BYTES);
        CHECK_INT(v.file.super.past_end_ns, i == 0 ? INT64_MIN : (int64_t)bases[i] * FRAME_NS);
        CHECK_INT(v.extent.frames, (i < 5 ? bases[i + 1] : 16) - bases[i]);
        CHECK_INT(v.file.slot.is_sealed, 1);
        CHECK_INT(v.file.slot.frames, v.extent.frames);
        CHECK(seg_bytes_are_right(&v));
        /* what was never published is gone, to the page */
        uint64_t data_end = v.file.super.data_off + v.extent.data_bytes;
        CHECK(v.file.file_bytes >= data_end && v.file.file_bytes <= size_up(data_end, 4096));
        seg_view_done(&v);
    }
    end();
}

TEST(odd_frames__one_run_over_segments_and_sessions)
{
    check_odd_run("/tmp");
}

TEST(odd_frames__the_same_in_tmpfs)
{
    check_odd_run("/dev/shm");
}

TEST(large_call__is_cut_over_segments)
{
    begin("/tmp");
    CHECK_INT(open_rows(10 * 5000, 5000, 25, 1000000000), 0);
    CHECK_INT(put(0, 57, 5000, 0), 0);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    CHECK_INT(seg_count(dir, "video"), 6);
    for (size_t i = 0; i < 6; i++) {
        struct seg_view v;
        CHECK(seg_view(dir, "video", i, &v));
        CHECK_INT(v.extent.frames, i < 5 ? 10 : 7);
        CHECK_INT(v.entries[0].time_ns, (int64_t)i * 10 * FRAME_NS);
        CHECK(seg_bytes_are_right(&v));
        seg_view_done(&v);
    }
    end();
}

TEST(segment_ns__ends_segments_by_media_time)
{
    begin("/tmp");
    struct store_writer_spec spec = spec_of(0, 1000000000);
    spec.segment_ns = 10 * FRAME_NS;
    CHECK_INT(store_writer_open(dir, &spec, &writer, NULL), 0);
    params_rows(&params, 5000, 25);
    CHECK_INT(store_writer_format(writer, &params, NULL), 0);
    CHECK_INT(put(0, 25, 5000, 0), 0);
    CHECK_INT(put(25, 1, 5000, 40 * FRAME_NS), 0); /* after a gap */
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    static const uint64_t bases[] = {0, 10, 20, 25};
    CHECK_INT(seg_count(dir, "video"), 4);
    for (size_t i = 0; i < 4; i++) {
        struct seg_view v;
        CHECK(seg_view(dir, "video", i, &v));
        CHECK_INT(v.file.super.base_frame, bases[i]);
        seg_view_done(&v);
    }
    end();
}

/* ---- runs -------------------------------------------------------------------------------------------- */

TEST(format__another_one_begins_a_run_and_the_same_goes_on)
{
    begin("/tmp");
    CHECK_INT(open_rows(0, 5000, 25, 1000000000), 0);
    CHECK_INT(put(0, 3, 5000, 0), 0);
    CHECK_INT(store_writer_format(writer, &params, NULL), 0); /* equal: nothing happens */
    CHECK_INT(put(3, 1, 5000, 3 * FRAME_NS), 0);
    struct params other;
    params_rows(&other, 6000, 25);
    CHECK_INT(store_writer_format(writer, &other, NULL), 0);
    CHECK_INT(store_writer_format(writer, &params, NULL),
              0); /* back before a frame came: no run at all */
    CHECK_INT(put(4, 1, 5000, 4 * FRAME_NS), 0);
    CHECK_INT(store_writer_format(writer, &other, NULL), 0);
    CHECK_INT(put(0, 2, 6000, 5 * FRAME_NS), 0);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    CHECK_INT(open_rows(0, 6000, 25, 1000000000), 0); /* equal to the last: the run goes on */
    CHECK_INT(put(2, 1, 6000, 7 * FRAME_NS), 0);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    static const uint64_t bases[] = {0, 5, 7}, run_bases[] = {0, 5, 5}, runs[] = {0, 1, 1};
    CHECK_INT(seg_count(dir, "video"), 3);
    for (size_t i = 0; i < 3; i++) {
        struct seg_view v;
        CHECK(seg_view(dir, "video", i, &v));
        CHECK_INT(v.file.super.base_frame, bases[i]);
        CHECK_INT(v.file.super.run_base_frame, run_bases[i]);
        CHECK_INT(v.file.super.run_no, runs[i]);
        CHECK(seg_bytes_are_right(&v));
        seg_view_done(&v);
    }
    end();
}

/* ---- groups of small frames --------------------------------------------------------------------------- */

TEST(small_frames__are_grouped_to_4_kib)
{
    begin("/tmp");
    CHECK_INT(open_rows(0, 8, 48000, 1000000000), 0);
    for (uint64_t n = 0; n < 1536; n += 96)
        CHECK_INT(put(n, 96, 8, size_frames_ns((int64_t)n, params.rate)), 0);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    struct seg_view v;
    CHECK(seg_view(dir, "video", 0, &v));
    CHECK(seg_bytes_are_right(&v));
    CHECK_INT(v.extent.frames, 1536);
    CHECK_INT(v.n, 3);
    for (uint64_t k = 0; k < 3; k++) {
        CHECK_INT(v.entries[k].pos, k * 512);
        CHECK_INT(v.entries[k].len, 512);
        CHECK_INT(v.entries[k].time_ns, size_frames_ns((int64_t)k * 512, params.rate));
    }
    seg_view_done(&v);
    end();
}

TEST(small_frames__the_helper_publishes_after_10_ms)
{
    begin("/tmp");
    CHECK_INT(open_rows(0, 28, 100, 1000000000), 0);
    int64_t began_ns = clock_mono_ns();
    CHECK_INT(put(0, 1, 28, 0), 0);
    uint64_t at_once = visible();
    bool is_early = clock_mono_ns() - began_ns < 9000000;
    while (visible() == 0 && clock_mono_ns() - began_ns < INT64_C(5000000000))
        (void)usleep(500);
    int64_t waited_ns = clock_mono_ns() - began_ns;
    if (is_early)
        CHECK_INT(at_once, 0);
    CHECK_INT(visible(), 1);
    CHECK(waited_ns >= 10000000 - 1000000);
    CHECK(waited_ns < 1000000000);
    CHECK_INT(put(1, 1, 28, 10000000), 0);
    CHECK_INT(store_writer_flush(writer, NULL), 0);
    CHECK_INT(visible(), 2);
    end();
}

TEST(small_frames__a_gap_a_drop_and_a_jump_each_begin_an_entry)
{
    begin("/tmp");
    CHECK_INT(open_rows(0, 8, 1000, 1000000000), 0);
    uint8_t *data = frames_make(0, 30, 8);
    uint64_t stored;
    struct store_item item = item_at(0);
    CHECK_INT(store_writer_frames(writer, &item, data, 10, &stored, NULL), 0);
    item.time_ns = 10000000 + 1; /* rounding: goes on */
    CHECK_INT(store_writer_frames(writer, &item, data + 80, 5, &stored, NULL), 0);
    item.time_ns = 20000000;
    item.flags = SEG_FLAG_GAP;
    item.dropped_before = 5;
    CHECK_INT(store_writer_frames(writer, &item, data + 120, 5, &stored, NULL), 0);
    item.time_ns = 25000000;
    item.flags = SEG_FLAG_DAMAGED;
    item.dropped_before = 0;
    CHECK_INT(store_writer_frames(writer, &item, data + 160, 5, &stored, NULL), 0);
    item.time_ns = 31000000; /* a millisecond late */
    CHECK_INT(store_writer_frames(writer, &item, data + 200, 5, &stored, NULL), 0);
    free(data);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    struct seg_view v;
    CHECK(seg_view(dir, "video", 0, &v));
    static const uint32_t lens[] = {15, 5, 5, 5};
    static const uint32_t flags[] = {0, SEG_FLAG_GAP, SEG_FLAG_DAMAGED, SEG_FLAG_DAMAGED};
    static const int64_t times[] = {0, 20000000, 25000000, 31000000};
    CHECK_INT(v.n, 4);
    for (uint64_t k = 0; k < 4; k++) {
        CHECK_INT(v.entries[k].len, lens[k]);
        CHECK_INT(v.entries[k].flags, flags[k]);
        CHECK_INT(v.entries[k].time_ns, times[k]);
        CHECK_INT(v.entries[k].dropped_before, k == 1 ? 5 : 0);
    }
    CHECK_INT(v.extent.gaps, 1);
    CHECK_INT(v.extent.dropped, 5);
    CHECK_INT(v.extent.damaged, 10);
    CHECK(seg_bytes_are_right(&v));
    seg_view_done(&v);
    end();
}

TEST(small_frames__in_tiny_segments_stay_one_run)
{
    begin("/tmp");
    uint64_t n = 0;
    for (int session = 0; session < 3; session++) {
        CHECK_INT(open_rows(3000, 28, 0, 0), 0);
        for (int call = 0; call < 20; call++, n += 11)
            CHECK_INT(put(n, 11, 28, (int64_t)n), 0);
        CHECK_INT(visible(), n);
        CHECK_INT(store_writer_close(&writer, NULL), 0);
    }
    uint64_t seen = 0;
    for (size_t i = 0; i < seg_count(dir, "video"); i++) {
        struct seg_view v;
        CHECK(seg_view(dir, "video", i, &v));
        CHECK_INT(v.file.super.base_frame, seen);
        CHECK(seg_bytes_are_right(&v));
        seen += v.extent.frames;
        seg_view_done(&v);
    }
    CHECK_INT(seen, n);
    end();
}

TEST(times__that_go_back_are_moved_and_flagged)
{
    begin("/tmp");
    CHECK_INT(open_rows(0, 5000, 25, 1000000000), 0);
    CHECK_INT(put(0, 2, 5000, 0), 0);
    CHECK_INT(put(2, 1, 5000, -5), 0);
    CHECK_INT(put(3, 1, 5000, INT64_MIN), 0);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    struct seg_view v;
    CHECK(seg_view(dir, "video", 0, &v));
    for (uint64_t k = 0; k < 4; k++) {
        CHECK_INT(v.entries[k].time_ns, (int64_t)k * FRAME_NS);
        CHECK_INT(v.entries[k].flags, k < 2 ? 0 : SEG_FLAG_DISCONT);
    }
    seg_view_done(&v);
    end();
}

/* ---- sums -------------------------------------------------------------------------------------------- */

TEST(sums__of_earlier_segments_are_in_each_superblock)
{
    begin("/tmp");
    for (int session = 0; session < 2; session++) {
        CHECK_INT(open_rows(2 * 5000, 5000, 25, 1000000000), 0);
        for (int k = 0; k < 4; k++) {
            uint8_t *data = frames_make(0, 1, 5000);
            uint64_t stored;
            struct store_item item = item_at((session * 4 + k) * 2 * FRAME_NS);
            item.flags = k == 0 ? 0u : (uint32_t)(SEG_FLAG_GAP | SEG_FLAG_CORRUPT);
            item.dropped_before = (uint32_t)k;
            CHECK_INT(store_writer_frames(writer, &item, data, 1, &stored, NULL), 0);
            free(data);
        }
        CHECK_INT(store_writer_close(&writer, NULL), 0);
    }
    static const uint64_t gaps[] = {0, 1, 3, 4}, dropped[] = {0, 1, 6, 7};
    for (size_t i = 0; i < 4; i++) {
        struct seg_view v;
        CHECK(seg_view(dir, "video", i, &v));
        const struct super *s = &v.file.super;
        CHECK_INT(s->past_gaps, gaps[i]);
        CHECK_INT(s->past_damaged, gaps[i]);
        CHECK_INT(s->past_dropped, dropped[i]);
        CHECK_INT(s->past_disconts, 0);
        CHECK_INT(s->past_bytes, i * 10000);
        CHECK_INT(s->stream_first_ns, i == 0 ? INT64_MIN : 0);
        CHECK_INT(s->past_end_ns, i == 0 ? INT64_MIN : ((int64_t)i * 4 - 1) * FRAME_NS);
        seg_view_done(&v);
    }
    end();
}

/* ---- the lock, sync, leftovers ------------------------------------------------------------------------ */

TEST(lock__a_second_writer_is_told_who_holds_it)
{
    begin("/tmp");
    CHECK_INT(open_rows(0, 5000, 25, 1000000000), 0);
    struct store_writer_spec spec = spec_of(0, 0);
    struct store_writer *second = NULL;
    struct swt_diag diag = {0};
    CHECK_INT(store_writer_open(dir, &spec, &second, &diag), SWT_E_BUSY);
    CHECK(second == NULL);
    char pid[32];
    (void)snprintf(pid, sizeof pid, "process %ld:", (long)getpid());
    CHECK(strstr(diag.text, pid) != NULL);
    CHECK_STR(diag.stream, "video");
    CHECK_INT(put(0, 1, 5000, 0), 0); /* the first goes on */
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    CHECK_INT(store_writer_open(dir, &spec, &writer, NULL), 0);
    end();
}

TEST(kind__another_one_is_refused)
{
    begin("/tmp");
    CHECK_INT(open_rows(0, 5000, 25, 1000000000), 0);
    store_writer_abandon(&writer);
    struct store_writer_spec spec = spec_of(0, 0);
    spec.kind = SEG_KIND_PACKETS;
    CHECK_INT(store_writer_open(dir, &spec, &writer, NULL), SWT_E_UNSUPPORTED);
    end();
}

TEST(sync_0__each_call_is_durable_when_it_returns)
{
    begin("/tmp");
    CHECK_INT(open_rows(3 * 100 * 8, 8, 1000, 0), 0);
    struct store_writer_state state;
    for (uint64_t n = 0; n < 1000; n += 100) {
        CHECK_INT(put(n, 100, 8, (int64_t)n * 1000000), 0);
        store_writer_state(writer, &state);
        CHECK_INT(state.frames, n + 100);
        CHECK_INT(state.durable_frames, n + 100);
    }
    struct seg_view v;
    CHECK(seg_view(dir, "video", seg_count(dir, "video") - 1, &v));
    CHECK_INT(v.file.super.base_frame + v.file.slot.frames, 1000);
    CHECK_INT(v.file.slot.is_sealed, 0);
    seg_view_done(&v);
    end();
}

TEST(sync__the_helper_writes_slots)
{
    begin("/tmp");
    CHECK_INT(open_rows(0, 5000, 25, 20000000), 0);
    CHECK_INT(put(0, 3, 5000, 0), 0);
    struct store_writer_state state = {0};
    for (int i = 0; i < 5000 && state.durable_frames < 3; i++) {
        (void)usleep(1000);
        store_writer_state(writer, &state);
    }
    CHECK_INT(state.durable_frames, 3);
    struct seg_view v;
    CHECK(seg_view(dir, "video", 0, &v));
    CHECK_INT(v.file.slot.frames, 3);
    CHECK_INT(v.file.slot.data_bytes, 15000);
    CHECK_INT(v.file.slot.is_sealed, 0);
    seg_view_done(&v);
    end();
}

TEST(open__removes_what_a_killed_session_left_without_an_entry)
{
    begin("/tmp");
    CHECK_INT(open_rows(2 * 5000, 5000, 25, 1000000000), 0);
    CHECK_INT(put(0, 4, 5000, 0), 0);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    char seg[PATH_MAX], from[PATH_MAX + 32], to[PATH_MAX + 32];
    path_join(dir->path, "video/seg", seg);
    (void)snprintf(from, sizeof from, "%s/.new-segment", seg);
    int fd = open(from, O_WRONLY | O_CREAT, 0600);
    CHECK(fd >= 0 && write(fd, "half", 4) == 4);
    (void)close(fd);
    /* the last segment loses its entries and slots, as if the power had gone before the first sync */
    (void)snprintf(to, sizeof to, "%s/00000000000000000002.swt", seg);
    struct seg_view v;
    CHECK(seg_view(dir, "video", 1, &v));
    static const uint8_t zeros[8192];
    fd = open(to, O_WRONLY);
    CHECK(fd >= 0 && io_pwrite_all(fd, zeros, 8192, 4096) == 0);
    CHECK(io_pwrite_all(fd, zeros, 128, v.file.super.index_off) == 0);
    (void)close(fd);
    seg_view_done(&v);
    CHECK_INT(open_rows(2 * 5000, 5000, 25, 1000000000), 0);
    CHECK_INT(visible(), 2);
    CHECK(access(from, F_OK) != 0);
    CHECK_INT(seg_count(dir, "video"), 1);
    CHECK_INT(put(2, 2, 5000, 2 * FRAME_NS), 0);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    CHECK(seg_view(dir, "video", 1, &v));
    CHECK_INT(v.file.super.base_frame, 2);
    CHECK(seg_bytes_are_right(&v));
    seg_view_done(&v);
    end();
}

TEST(close__without_a_frame_leaves_no_segment)
{
    begin("/tmp");
    CHECK_INT(open_rows(0, 5000, 25, 1000000000), 0);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    CHECK_INT(seg_count(dir, "video"), 0);
    store_dir_discard(dir);
    CHECK(access(dir->path, F_OK) != 0);
    end();
}

/* ---- full disk ---------------------------------------------------------------------------------------- */

/* A file size limit stands for the full disk: fallocate and pwrite fail at it like at the disk's end. */
TEST(full_disk__what_does_not_fit_is_an_error_and_the_writer_goes_on)
{
    begin("/tmp");
    (void)signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, limit;
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 1 << 20;
    CHECK_INT(open_rows(8 << 20, ODD_BYTES, 25, 1000000000), 0);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    uint8_t *data = frames_make(0, 20, ODD_BYTES);
    struct store_item item = item_at(0);
    uint64_t stored = 0;
    struct swt_diag diag = {0};
    int r = store_writer_frames(writer, &item, data, 20, &stored, &diag);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_INT(r, -EFBIG);
    CHECK(stored == 6);
    CHECK_INT(visible(), stored);
    item.time_ns = (int64_t)stored * FRAME_NS;
    uint64_t more = 0;
    CHECK_INT(
        store_writer_frames(writer, &item, data + stored * ODD_BYTES, 20 - stored, &more, NULL), 0);
    free(data);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    struct seg_view v;
    CHECK(seg_view(dir, "video", 0, &v));
    CHECK_INT(v.extent.frames, 20);
    CHECK(seg_bytes_are_right(&v));
    seg_view_done(&v);
    end();
}

/* ---- killed ------------------------------------------------------------------------------------------- */

/* The child appends as fast as it can and says how many frames were committed, until it is killed. */
static void child_writes(int pipe_fd, uint64_t from, uint64_t frame_bytes)
{
    if (open_rows(7 * frame_bytes, frame_bytes, 0, 5000000) < 0)
        _exit(1);
    for (uint64_t n = from;; n++) {
        if (put(n, 1, frame_bytes, (int64_t)n) < 0 || store_writer_flush(writer, NULL) < 0 ||
            write(pipe_fd, &n, sizeof n) != sizeof n)
            _exit(1);
    }
}

static void check_killed(uint64_t frame_bytes)
{
    begin("/tmp");
    uint64_t n = 0;
    for (int round = 0; round < 8; round++) {
        int ends[2];
        CHECK_INT(pipe(ends), 0);
        pid_t pid = fork();
        if (pid == 0)
            child_writes(ends[1], n, frame_bytes);
        CHECK(pid > 0);
        (void)close(ends[1]);
        uint64_t last = n, told;
        for (int i = 0; i < 20 + round * 3 && read(ends[0], &told, sizeof told) == sizeof told; i++)
            last = told + 1;
        CHECK_INT(kill(pid, SIGKILL), 0);
        CHECK_INT(waitpid(pid, NULL, 0), pid);
        while (read(ends[0], &told, sizeof told) == sizeof told)
            last = told + 1;
        (void)close(ends[0]);
        CHECK_INT(open_rows(7 * frame_bytes, frame_bytes, 0, 1000000000), 0);
        CHECK(visible() >= last);
        CHECK(visible() <= last + 1);
        n = visible();
        CHECK_INT(store_writer_close(&writer, NULL), 0);
    }
    CHECK(n > 100);
    uint64_t seen = 0;
    for (size_t i = 0; i < seg_count(dir, "video"); i++) {
        struct seg_view v;
        CHECK(seg_view(dir, "video", i, &v));
        CHECK_INT(v.file.super.base_frame, seen);
        CHECK_INT(v.file.super.run_base_frame, 0);
        CHECK(seg_bytes_are_right(&v));
        seen += v.extent.frames;
        seg_view_done(&v);
    }
    CHECK_INT(seen, n);
    end();
}

TEST(killed__nothing_committed_is_lost_large_frames)
{
    check_killed(ODD_BYTES);
}

TEST(killed__nothing_committed_is_lost_small_frames)
{
    check_killed(28);
}

T_MAIN(
    RUN(odd_frames__one_run_over_segments_and_sessions) RUN(odd_frames__the_same_in_tmpfs) RUN(
        large_call__is_cut_over_segments) RUN(segment_ns__ends_segments_by_media_time)
        RUN(format__another_one_begins_a_run_and_the_same_goes_on) RUN(
            small_frames__are_grouped_to_4_kib) RUN(small_frames__the_helper_publishes_after_10_ms)
            RUN(small_frames__a_gap_a_drop_and_a_jump_each_begin_an_entry)
                RUN(small_frames__in_tiny_segments_stay_one_run) RUN(
                    times__that_go_back_are_moved_and_flagged)
                    RUN(sums__of_earlier_segments_are_in_each_superblock) RUN(
                        lock__a_second_writer_is_told_who_holds_it)
                        RUN(kind__another_one_is_refused) RUN(
                            sync_0__each_call_is_durable_when_it_returns)
                            RUN(sync__the_helper_writes_slots) RUN(
                                open__removes_what_a_killed_session_left_without_an_entry)
                                RUN(close__without_a_frame_leaves_no_segment) RUN(
                                    full_disk__what_does_not_fit_is_an_error_and_the_writer_goes_on)
                                    RUN(killed__nothing_committed_is_lost_large_frames)
                                        RUN(killed__nothing_committed_is_lost_small_frames))
