/* SPDX-License-Identifier: MIT
 *
 * Unit tests of a writer whose disk fails or whose process dies: this program's own fdatasync, fallocate,
 * pwrite, renameat and so on stand before libc's and fail, or end the process, on demand.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "store_t.h"

/* Calls to come that fail with the error; negative: all of them. */
struct fault {
    _Atomic int errnum, skip, count;
};
static struct fault sync_fault, reserve_fault, write_fault;
static _Atomic int n_syncs;

static bool fails(struct fault *f)
{
    if (atomic_load(&f->count) == 0)
        return false;
    if (atomic_load(&f->skip) > 0) {
        atomic_fetch_sub(&f->skip, 1);
        return false;
    }
    if (atomic_load(&f->count) > 0)
        atomic_fetch_sub(&f->count, 1);
    errno = atomic_load(&f->errnum);
    return true;
}

static void fault_set(struct fault *f, int errnum, int skip, int count)
{
    atomic_store(&f->errnum, errnum);
    atomic_store(&f->skip, skip);
    atomic_store(&f->count, count);
}

/* The process dies at the call with this number, counted from 1; 0: it does not. */
static _Atomic int dies_at, n_calls;

/* Is this the last call? Then the caller may still do half of it. */
static bool is_last_call(void)
{
    return atomic_fetch_add(&n_calls, 1) + 1 == atomic_load(&dies_at);
}

/* At once and silently, as by SIGKILL: a sanitizer's _exit first sleeps a second. */
static void die(int status)
{
    (void)syscall(SYS_exit_group, status);
}

static void maybe_die(void)
{
    if (is_last_call())
        die(77);
}

int fdatasync(int fd)
{
    maybe_die();
    atomic_fetch_add(&n_syncs, 1);
    return fails(&sync_fault) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
    maybe_die();
    return (int)syscall(SYS_fsync, fd);
}

int fallocate(int fd, int mode, off_t off, off_t n)
{
    maybe_die();
    return fails(&reserve_fault) ? -1 : (int)syscall(SYS_fallocate, fd, mode, off, n);
}

int ftruncate(int fd, off_t n)
{
    maybe_die();
    return (int)syscall(SYS_ftruncate, fd, n);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    maybe_die();
    return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

int unlinkat(int fd, const char *name, int flags)
{
    maybe_die();
    return (int)syscall(SYS_unlinkat, fd, name, flags);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t off)
{
    if (is_last_call()) {
        (void)syscall(SYS_pwrite64, fd, data, n / 2, off);
        die(77);
    }
    return fails(&write_fault) ? -1 : (ssize_t)syscall(SYS_pwrite64, fd, data, n, off);
}

ssize_t pwritev(int fd, const struct iovec *pieces, int n, off_t off)
{
    if (is_last_call()) {
        (void)syscall(SYS_pwrite64, fd, pieces[0].iov_base, pieces[0].iov_len / 2, off);
        die(77);
    }
    return fails(&write_fault) ? -1 : (ssize_t)syscall(SYS_pwritev, fd, pieces, n, off, 0);
}

#define FRAME_BYTES UINT64_C(9000)

static char folder[64];
static struct store_dir *dir;
static struct store_writer *writer;
static struct params params;
static char logged[1024];

static void note(void *arg, enum swt_log_level level, const char *room, const char *text)
{
    (void)arg, (void)room;
    if (level <= SWT_LOG_WARNING)
        (void)snprintf(logged, sizeof logged, "%s", text);
}

static int session(int64_t sync_ns)
{
    struct store_writer_spec spec = {.name = "video",
                                     .kind = SEG_KIND_TENSOR,
                                     .segment_bytes = 4 * FRAME_BYTES,
                                     .sync_ns = sync_ns,
                                     .log = {note, NULL}};
    int r = store_writer_open(dir, &spec, &writer, NULL);
    params_rows(&params, FRAME_BYTES, 25);
    return r < 0 ? r : store_writer_format(writer, &params, NULL);
}

static int begin(int64_t sync_ns)
{
    char path[PATH_MAX];
    logged[0] = '\0';
    folder_make("/dev/shm", folder); /* the faults are ours, a disk would only be slower */
    path_join(folder, "r.swt", path);
    int r = store_dir_create(path, clock_boot_ns(), &dir, NULL);
    return r < 0 ? r : session(sync_ns);
}

static void end(void)
{
    fault_set(&sync_fault, 0, 0, 0);
    fault_set(&reserve_fault, 0, 0, 0);
    fault_set(&write_fault, 0, 0, 0);
    store_writer_abandon(&writer);
    store_dir_close(&dir);
    params_done(&params);
    folder_remove(folder);
}

static int put(uint64_t first, uint64_t n)
{
    uint8_t *data = frames_make(first, n, FRAME_BYTES);
    struct store_item item = item_at((int64_t)first * 40000000);
    uint64_t stored = 0;
    int r = store_writer_frames(writer, &item, data, n, &stored, NULL);
    free(data);
    return r < 0 ? r : stored == n ? 0 : -EIO;
}

static struct store_writer_state state(void)
{
    struct store_writer_state s;
    store_writer_state(writer, &s);
    return s;
}

/* All segments follow each other, hold the right bytes, and hold `n` frames in all. */
static bool stream_is_whole(uint64_t n)
{
    uint64_t seen = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < seg_count(dir, "video"); i++) {
        struct seg_view v;
        ok = seg_view(dir, "video", i, &v) && v.file.super.base_frame == seen &&
             seg_bytes_are_right(&v);
        seen += v.extent.frames;
        seg_view_done(&v);
    }
    return ok && seen == n;
}

TEST(sync__a_failure_freezes_durable_and_begins_a_segment)
{
    CHECK_INT(begin(0), 0);
    CHECK_INT(put(0, 2), 0);
    CHECK_INT(state().durable_frames, 2);
    fault_set(&sync_fault, EIO, 0, 1);
    CHECK_INT(put(2, 1), 0);
    CHECK_INT(state().durable_frames, 2);
    CHECK(strstr(logged, "from 2 on") != NULL);
    CHECK_INT(put(3, 2), 0); /* synced, but behind frames that may be lost */
    CHECK_INT(state().durable_frames, 2);
    CHECK_INT(state().frames, 5);
    CHECK_INT(store_writer_close(&writer, NULL), -EIO);
    struct seg_view v;
    CHECK(seg_view(dir, "video", 0, &v));
    CHECK_INT(v.extent.frames, 3);
    CHECK_INT(v.file.slot.frames, 2); /* what was synced before stays promised */
    CHECK_INT(v.file.slot.is_sealed, 0);
    seg_view_done(&v);
    CHECK(seg_view(dir, "video", 1, &v));
    CHECK_INT(v.file.super.base_frame, 3);
    CHECK_INT(v.file.slot.is_sealed, 1);
    seg_view_done(&v);
    CHECK(stream_is_whole(5));
    CHECK_INT(session(0), 0);
    CHECK_INT(put(5, 3), 0);
    CHECK_INT(state().durable_frames, 8); /* another session, synced anew */
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    CHECK(stream_is_whole(8));
    end();
}

TEST(sync__a_failed_segment_is_never_synced_again)
{
    CHECK_INT(begin(0), 0);
    fault_set(&sync_fault, EIO, 0, 1);
    CHECK_INT(put(0, 1), 0);
    atomic_store(&n_syncs, 0);
    CHECK_INT(store_writer_close(&writer, NULL), -EIO);
    CHECK_INT(atomic_load(&n_syncs), 0);
    end();
}

TEST(sync__the_helper_freezes_too)
{
    CHECK_INT(begin(5000000), 0);
    fault_set(&sync_fault, EIO, 0, 1);
    CHECK_INT(put(0, 1), 0);
    for (int i = 0; i < 5000 && atomic_load(&sync_fault.count) != 0; i++)
        (void)usleep(1000);
    CHECK_INT(put(1, 1), 0);
    (void)usleep(30000);
    CHECK_INT(state().durable_frames, 0);
    CHECK_INT(store_writer_close(&writer, NULL), -EIO);
    CHECK(stream_is_whole(2));
    end();
}

/* Every error of the disk-full kind, at every reservation in turn: an error, or a smaller step; never a
 * broken stream. */
TEST(reserve__no_space_at_any_call_keeps_the_stream_whole)
{
    for (int skip = 0; skip < 12; skip++) {
        for (int count = 1; count <= 16; count += 15) {
            CHECK_INT(begin(1000000000), 0);
            fault_set(&reserve_fault, skip % 2 ? ENOSPC : EDQUOT, skip, count);
            for (uint64_t n = 0, tries = 0; n < 20 && tries < 200; tries++) {
                int r = put(n, 1);
                if (r == 0)
                    n++;
                else
                    CHECK(r == -ENOSPC || r == -EDQUOT);
            }
            CHECK_INT(state().frames, 20);
            CHECK_INT(store_writer_close(&writer, NULL), 0);
            CHECK(stream_is_whole(20));
            end();
        }
    }
}

TEST(reserve__interrupted_is_tried_again)
{
    CHECK_INT(begin(1000000000), 0);
    fault_set(&reserve_fault, EINTR, 0, 3);
    CHECK_INT(put(0, 3), 0);
    CHECK_INT(atomic_load(&reserve_fault.count), 0);
    end();
}

TEST(reserve__where_it_does_not_exist_files_grow)
{
    CHECK_INT(begin(1000000000), 0);
    fault_set(&reserve_fault, EOPNOTSUPP, 0, -1);
    for (uint64_t n = 0; n < 20; n += 2)
        CHECK_INT(put(n, 2), 0);
    CHECK(strstr(logged, "reserve") != NULL);
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    CHECK(stream_is_whole(20));
    end();
}

/* The k-th write fails, for every k: nothing is published that is not there, and the writer goes on. */
TEST(write__no_space_at_any_call_keeps_the_stream_whole)
{
    int n_failed = 0;
    for (int skip = 0; skip < 60; skip++) {
        CHECK_INT(begin(0), 0);
        fault_set(&write_fault, ENOSPC, skip, 1);
        int n_errors = 0;
        for (uint64_t n = 0; n < 12;) {
            int r = put(n, 1);
            if (r == 0)
                n++;
            else
                CHECK(r == -ENOSPC && ++n_errors == 1);
        }
        CHECK_INT(state().frames, 12);
        n_failed += n_errors;
        int r = store_writer_close(&writer, NULL);
        CHECK(r == 0 || (r == -ENOSPC && n_errors == 0)); /* or it was a slot's write */
        CHECK(stream_is_whole(12));
        CHECK_INT(session(0), 0);
        CHECK_INT(state().frames, 12);
        end();
    }
    CHECK(n_failed > 20);
}

/* ---- death at any call ----------------------------------------------------------------------------------- */

/* Two sessions, several segments, a call that spans some; what was committed is told as it is. */
static void live(_Atomic uint64_t *told)
{
    for (int k = 0; k < 2; k++) {
        if (session(0) < 0)
            die(1);
        for (int call = 0; call < 3; call++) {
            uint64_t n = state().frames;
            if (put(n, call == 1 ? 6 : 1) < 0)
                die(1);
            atomic_store(told, state().frames);
        }
        if (store_writer_close(&writer, NULL) < 0)
            die(1);
    }
    die(0);
}

/* Exit status of a child that dies at call `at`. */
static int live_and_die(int at, _Atomic uint64_t *told)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        atomic_store(&n_calls, 0);
        atomic_store(&dies_at, at);
        live(told);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        abort();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(death__at_any_call_loses_nothing_committed)
{
    _Atomic uint64_t *told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                  -1, 0);
    CHECK(told != MAP_FAILED);
    int at = 0, status = 77;
    while (status == 77) {
        at++;
        atomic_store(told, 0);
        CHECK_INT(begin(0), 0);
        store_writer_abandon(&writer);
        status = live_and_die(at, told);
        CHECK(status == 77 || status == 0);
        CHECK_INT(session(0), 0);
        uint64_t n = state().frames;
        CHECK(n >= atomic_load(told));
        CHECK_INT(put(n, 3), 0);
        CHECK_INT(store_writer_close(&writer, NULL), 0);
        CHECK(stream_is_whole(n + 3));
        end();
    }
    CHECK(at > 100);
    (void)munmap((void *)told, 4096);
}

T_MAIN(RUN(sync__a_failure_freezes_durable_and_begins_a_segment)
           RUN(sync__a_failed_segment_is_never_synced_again) RUN(sync__the_helper_freezes_too)
               RUN(reserve__no_space_at_any_call_keeps_the_stream_whole)
                   RUN(reserve__interrupted_is_tried_again)
                       RUN(reserve__where_it_does_not_exist_files_grow)
                           RUN(write__no_space_at_any_call_keeps_the_stream_whole)
                               RUN(death__at_any_call_loses_nothing_committed))
