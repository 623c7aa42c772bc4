/* SPDX-License-Identifier: MIT
 *
 * job_live.c - J4: a writer at 240 frames a second and a reader, two processes: the time from "append
 * returned" to "the reader has the newest 64". Both put times into one shared file.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define FPS    240
#define LIVE   (WINDOW + 360) /* frames: the first window, then 1.5 s */
#define GIVEUP INT64_C(20000000000)

static int64_t *times; /* [0..LIVE): append returned; [LIVE..2 LIVE): the reader has it */

static void *share(const char *path, size_t bytes)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    void *p = fd < 0 || ftruncate(fd, (off_t)bytes) < 0
                  ? MAP_FAILED
                  : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        die("%s: %s", path, strerror(errno));
    (void)close(fd);
    return p;
}

static void sleep_until(int64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* Frame i is due: the first window at once, the rest evenly from when the reader has noted that one. */
static void pace(int64_t i)
{
    static int64_t start;
    int64_t giveup = now_ns() + GIVEUP;
    while (i == WINDOW && !*(volatile int64_t *)&times[LIVE + WINDOW - 1] && now_ns() < giveup)
        sleep_until(now_ns() + 1000000);
    if (i == WINDOW)
        start = now_ns() + 20000000;
    if (i >= WINDOW)
        sleep_until(start + (i - WINDOW) * 1000000000 / FPS);
}

/* The reader has frames up to `end`: note it for those it had not. The first word of each frame is read,
 * before the clock is: a pointer alone is no window. */
static int note(const char *who, const void *data, int64_t *seen, int64_t end)
{
    const uint8_t *p = data;
    int64_t bad = -1;
    for (int64_t i = 0; i < WINDOW; i++) {
        int64_t no;
        memcpy(&no, p + (size_t)i * FRAME_BYTES, 8);
        if (no != end - WINDOW + i)
            bad = no;
    }
    int64_t t = now_ns();
    if (bad >= 0)
        return wrong("%s: frame %lld in the window that ends at %lld", who, (long long)bad,
                     (long long)end);
    for (; *seen < end; ++*seen)
        times[LIVE + *seen] = t;
    return 0;
}

/* ---- the floor: a mapped file, a counter, a futex ------------------------------------------------------ */

struct word {
    _Atomic uint64_t count;
    _Atomic uint32_t seq;
};
static struct word *word;
static uint8_t *flat;

static int floor_writer(const struct bench *b)
{
    (void)b;
    for (int64_t i = 0; i < LIVE; i++) {
        pace(i);
        memcpy(flat + (size_t)i * FRAME_BYTES, frame_make(i), FRAME_BYTES);
        atomic_store_explicit(&word->count, (uint64_t)i + 1, memory_order_release);
        (void)atomic_fetch_add_explicit(&word->seq, 1, memory_order_release);
        (void)syscall(SYS_futex, &word->seq, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
        times[i] = now_ns();
    }
    return 0;
}

static int floor_reader(const struct bench *b)
{
    int64_t seen = 0, giveup = now_ns() + GIVEUP;
    int fd = open(in_dir(b, "live.raw"), O_RDONLY | O_CLOEXEC);
    const uint8_t *map = mmap(NULL, (size_t)LIVE * FRAME_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return wrong("live.raw: %s", strerror(errno));
    while (seen < LIVE && now_ns() < giveup) {
        uint32_t seq = atomic_load_explicit(&word->seq, memory_order_acquire);
        int64_t end = (int64_t)atomic_load_explicit(&word->count, memory_order_acquire);
        if (end == seen || end < WINDOW) {
            struct timespec t = {1, 0};
            (void)syscall(SYS_futex, &word->seq, FUTEX_WAIT, seq, &t, NULL, 0);
        } else if (note("the floor", map + (size_t)(end - WINDOW) * FRAME_BYTES, &seen, end) < 0) {
            return -1;
        }
    }
    return seen == LIVE ? 0 : wrong("the floor stopped at frame %lld", (long long)seen);
}

/* ---- swt ---------------------------------------------------------------------------------------------- */

static int swt_writer(const struct bench *b)
{
    struct swt_append_spec spec;
    struct swt_append *a = NULL;
    struct swt_diag diag;
    swt_append_spec_init(&spec);
    spec.path = in_dir(b, "live.swt");
    spec.stream = "video";
    spec.dtype = SWT_U8;
    spec.n_dims = 3;
    spec.shape[0] = spec.shape[1] = 224;
    spec.shape[2] = 3;
    spec.rate = (struct swt_ratio){FPS, 1};
    int rc = swt_append_open(&spec, &a, &diag);
    for (int64_t i = 0; rc >= 0 && i < LIVE; i++) {
        pace(i);
        rc = swt_append_frames(a, frame_make(i), 1, INT64_MIN, NULL, &diag);
        times[i] = now_ns();
    }
    if (rc >= 0)
        rc = swt_append_close(&a, &diag);
    else
        (void)swt_append_close(&a, NULL);
    return rc < 0 ? swt_failed("live append", rc, &diag) : 0;
}

static struct swt_window *open_live(const struct bench *b, struct swt_recording **r)
{
    struct swt_window_spec spec;
    struct swt_window *w = NULL;
    struct swt_diag diag;
    int64_t giveup = now_ns() + GIVEUP;
    swt_window_spec_init(&spec);
    spec.stream = "video";
    spec.select = SWT_SELECT_LAST;
    spec.length = (struct swt_length){SWT_LENGTH_FRAMES, WINDOW};
    while (now_ns() < giveup) {
        int rc = swt_recording_open(in_dir(b, "live.swt"), r, &diag);
        if (rc >= 0)
            rc = swt_window_open(*r, &spec, &w, &diag);
        if (rc >= 0)
            return w;
        swt_recording_close(r);
        sleep_until(now_ns() + 5000000);
    }
    (void)wrong("live window: %s", diag.text);
    return NULL;
}

static int swt_reader(const struct bench *b)
{
    struct swt_recording *r = NULL;
    struct swt_window *w = open_live(b, &r);
    struct swt_diag diag = {0};
    const void *data;
    int64_t seen = 0, giveup = now_ns() + GIVEUP;
    int rc = w ? 0 : -1;
    for (bool is_first = true; rc >= 0 && seen < LIVE && now_ns() < giveup; is_first = false) {
        int64_t newest = -1;
        if (!is_first)
            rc = swt_window_wait(w, 1000000000, &diag);
        if (rc >= 0)
            rc = swt_window_refresh(w, &diag);
        if (rc >= 0)
            rc = swt_window_map(w, &data, &diag);
        if (rc < 0) {
            (void)swt_failed("live window", rc, &diag);
            break;
        }
        /* which frames they are they say themselves; note() sees that they follow each other */
        memcpy(&newest, (const uint8_t *)data + (WINDOW_BYTES - FRAME_BYTES), sizeof newest);
        if (newest < WINDOW - 1 || newest >= LIVE || note("swt", data, &seen, newest + 1) < 0)
            rc = -1;
    }
    swt_window_close(&w);
    swt_recording_close(&r);
    return rc < 0 || seen == LIVE ? rc : wrong("swt stopped at frame %lld", (long long)seen);
}

/* ---- two processes ------------------------------------------------------------------------------------ */

static pid_t fork_role(const struct bench *b, int (*role)(const struct bench *b))
{
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        die("fork: %s", strerror(errno));
    if (pid == 0)
        _exit(role(b) < 0 ? 1 : 0);
    return pid;
}

static int ended_well(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* p50 and p99 over the frames that came in time, one by one. */
static void latencies(double *ret)
{
    double v[LIVE];
    size_t n = 0;
    for (int64_t i = WINDOW; i < LIVE; i++)
        v[n++] = (double)(times[LIVE + i] > times[i] ? times[LIVE + i] - times[i] : 1);
    ret[0] = median(v, n);
    ret[1] = v[n * 99 / 100];
}

static int run_pair(struct bench *b, int (*writer)(const struct bench *),
                    int (*reader)(const struct bench *), double *ret)
{
    memset(times, 0, 2 * LIVE * sizeof *times);
    pid_t w = fork_role(b, writer), r = fork_role(b, reader);
    int rc = ended_well(w);
    if (ended_well(r) < 0 || rc < 0)
        return -1;
    latencies(ret);
    return 0;
}

static int run_floor(struct bench *b, struct contestant *c, int round, double *ret)
{
    (void)c;
    (void)round;
    size_t bytes = (size_t)LIVE * FRAME_BYTES;
    flat = share(in_dir(b, "live.raw"), bytes);
    word->count = 0;
    int rc = run_pair(b, floor_writer, floor_reader, ret);
    (void)munmap(flat, bytes);
    remove_tree(in_dir(b, "live.raw"));
    return rc;
}

static int run_swt(struct bench *b, struct contestant *c, int round, double *ret)
{
    (void)c;
    (void)round;
    int rc = run_pair(b, swt_writer, swt_reader, ret);
    remove_tree(in_dir(b, "live.swt"));
    return rc;
}

static const char *module; /* of the peer whose roles run now */

static int exec_peer(const struct bench *b, const char *what)
{
    char n[16], fps[16];
    (void)snprintf(n, sizeof n, "%d", LIVE);
    (void)snprintf(fps, sizeof fps, "%d", FPS);
    (void)execl("/usr/bin/python3", "python3", b->peers, module, b->dir, what, n, fps,
                (char *)NULL);
    return -1;
}

static int peer_writer(const struct bench *b)
{
    return exec_peer(b, "live-write");
}

static int peer_reader(const struct bench *b)
{
    return exec_peer(b, "live-read");
}

static int run_peer(struct bench *b, struct contestant *c, int round, double *ret)
{
    module = c->arg;
    if (round == 0) {
        struct peer *p = peer_start(b, module, c->skipped, sizeof c->skipped);
        peer_stop(&p);
        if (c->skipped[0])
            return 0;
    }
    int64_t *count = share(in_dir(b, "live.count"), 4096);
    int rc = run_pair(b, peer_writer, peer_reader, ret);
    (void)munmap(count, 4096);
    remove_tree(in_dir(b, "live.mm"));
    remove_tree(in_dir(b, "live.h5"));
    remove_tree(in_dir(b, "live.zarr"));
    return rc;
}

void job_live(struct bench *b)
{
    struct table t = {
        .peer_s = 60,
        .job = "J4",
        .title = "live, 240 fps: from 'append returned' to 'reader has the newest 64'",
        .unit = "us",
        .unit_ns = 1e3,
        .value_name = {"p50", "p99"}};
    times = share(in_dir(b, "live.times"), 2 * LIVE * sizeof *times);
    word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (word == MAP_FAILED)
        die("mmap: %s", strerror(errno));
    (void)table_add(&t, "C mmap + futex, view", run_floor, NULL);
    (void)table_add(&t, "swt wait + refresh + map, view", run_swt, NULL);
    table_add(&t, "numpy.memmap + counter (spinning), copied", run_peer, "numpy")->is_peer = true;
    table_add(&t, "h5py SWMR (spinning), copied", run_peer, "h5py")->is_peer = true;
    table_add(&t, "zarr + counter (spinning), copied", run_peer, "zarr")->is_peer = true;
    table_claim(&t, (struct claim){"p50, time to the C floor", 1, 0, 0, 0, false, false, 1.3});
    table_claim(&t, (struct claim){"p99, time to the C floor", 1, 1, 0, 1, false, false, 1.3});
    table_claim(&t, (struct claim){"p50, how far below numpy.memmap", 1, 0, 2, 0, true, true, 20});
    table_run(b, &t);
}
