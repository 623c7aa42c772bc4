/* SPDX-License-Identifier: MIT
 *
 * job_windows.c - J2 and J3: random windows of a stream on disk, from the page cache and from the device.
 * Only reading a window is timed; its bytes are checked after each.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

#define WARM_WINDOWS 223 /* a round; 2,000 and a few in nine */
#define COLD_WINDOWS 100 /* a round, none touched twice in it */
#define MAX_STARTS   256

static int64_t starts[MAX_STARTS];
static size_t n_starts;
static uint8_t *buf;

struct source {
    struct bench *b;
    const uint8_t *map; /* data.raw */
    int fd, direct_fd;
    struct swt_recording *recording;
};

static struct source src;

/* One way of having a window: `in_place` says its bytes are summed as part of the job. */
struct way {
    int (*get)(const struct way *way, int64_t first, const void **ret_data, struct swt_window **w);
    bool in_place, unchecked;
};

static int by_memcpy(const struct way *way, int64_t first, const void **ret, struct swt_window **w)
{
    (void)way;
    (void)w;
    memcpy(buf, src.map + (size_t)first * FRAME_BYTES, WINDOW_BYTES);
    *ret = buf;
    return 0;
}

static int by_map(const struct way *way, int64_t first, const void **ret, struct swt_window **w)
{
    (void)way;
    (void)w;
    *ret = src.map + (size_t)first * FRAME_BYTES;
    return 0;
}

/* Told which bytes come next, the kernel reads them in few large pieces. */
static int by_advice(const struct way *way, int64_t first, const void **ret, struct swt_window **w)
{
    size_t at = (size_t)first * FRAME_BYTES, skip = at % 4096;
    (void)madvise((void *)(uintptr_t)(src.map + at - skip), WINDOW_BYTES + skip, MADV_WILLNEED);
    return by_map(way, first, ret, w);
}

static int by_pread(const struct way *way, int64_t first, const void **ret, struct swt_window **w)
{
    (void)way;
    (void)w;
    size_t done = 0;
    while (done < WINDOW_BYTES) {
        ssize_t got = pread(src.fd, buf + done, WINDOW_BYTES - done,
                            (off_t)((size_t)first * FRAME_BYTES + done));
        if (got <= 0)
            return wrong("pread: %s", strerror(errno));
        done += (size_t)got;
    }
    *ret = buf;
    return 0;
}

/* O_DIRECT wants whole blocks: the window with what lies around it. */
static int by_direct(const struct way *way, int64_t first, const void **ret, struct swt_window **w)
{
    (void)way;
    (void)w;
    size_t at = (size_t)first * FRAME_BYTES, skip = at % 4096;
    size_t n = (skip + WINDOW_BYTES + 4095) / 4096 * 4096;
    ssize_t got = pread(src.direct_fd, buf, n, (off_t)(at - skip));
    if (got < (ssize_t)(skip + WINDOW_BYTES))
        return wrong("pread with O_DIRECT: %s", strerror(errno));
    *ret = buf + skip;
    return 0;
}

static int by_swt(const struct way *way, int64_t first, const void **ret, struct swt_window **w)
{
    struct swt_window_spec spec = range_spec(first, WINDOW);
    struct swt_diag diag;
    spec.unchecked = way->unchecked;
    int rc = swt_window_open(src.recording, &spec, w, &diag);
    if (rc >= 0 && way->in_place)
        rc = swt_window_map(*w, ret, &diag);
    else if (rc >= 0)
        rc = swt_window_read(*w, 0, WINDOW, buf, WINDOW_BYTES, &diag);
    if (rc < 0)
        return swt_failed("window", rc, &diag);
    if (!way->in_place)
        *ret = buf;
    return 0;
}

/* Time of all windows of the round, divided by their number. */
static int run_windows(const char *name, const struct way *way, double *ret)
{
    int64_t spent = 0;
    for (size_t i = 0; i < n_starts; i++) {
        const void *data = NULL;
        struct swt_window *w = NULL;
        uint64_t sum = 0;
        int64_t t0 = now_ns();
        int rc = way->get(way, starts[i], &data, &w);
        if (rc == 0 && way->in_place)
            sum = sum_words(data, WINDOW_BYTES);
        if (rc == 0 && !way->in_place) /* a copy outlives its window */
            swt_window_close(&w);
        spent += now_ns() - t0;
        if (rc == 0 && !way->in_place)
            sum = sum_words(data, WINDOW_BYTES);
        if (rc == 0)
            rc = window_check_sum(name, data, starts[i], WINDOW, sum);
        t0 = now_ns();
        swt_window_close(&w);
        spent += now_ns() - t0;
        if (rc < 0)
            return -1;
    }
    *ret = (double)spent / (double)n_starts;
    return 0;
}

/* ---- peers: the starts go in a file -------------------------------------------------------------------- */

struct peer_state {
    const char *module, *file;
    struct peer *p;
};
static struct peer_state peers[] = {
    {"numpy", "data.raw", NULL}, {"h5py", "data.h5", NULL}, {"zarr", "data.zarr", NULL}};

static void peers_start(struct table *t, const char *const *names, run_fn *run)
{
    double ns;
    for (size_t i = 0; i < 3; i++) {
        struct contestant *c = table_add(t, names[i], run, &peers[i]);
        c->is_peer = true;
        peers[i].p = peer_start(src.b, peers[i].module, c->skipped, sizeof c->skipped);
        if (peers[i].p && access(in_dir(src.b, peers[i].file), F_OK) < 0 &&
            peer_ask(peers[i].p, &ns, "append %lld", (long long)src.b->frames) < 0)
            (void)snprintf(c->skipped, sizeof c->skipped, "could not write its file");
    }
}

static void peers_end(void)
{
    for (size_t i = 0; i < 3; i++)
        peer_stop(&peers[i].p);
}

static int peer_windows(struct peer_state *s, double *ret)
{
    double ns;
    if (peer_ask(s->p, ret, "windows starts") < 0)
        return -1;
    *ret /= (double)n_starts;
    (void)ns;
    return 0;
}

/* ---- rounds ------------------------------------------------------------------------------------------- */

static void write_starts(const struct bench *b)
{
    FILE *f = fopen(in_dir(b, "starts"), "wb");
    if (!f || fwrite(starts, sizeof *starts, n_starts, f) != n_starts || fclose(f) != 0)
        die("%s: %s", in_dir(b, "starts"), strerror(errno));
}

static void random_starts(const struct bench *b, int round)
{
    uint64_t state = (uint64_t)round + 17;
    n_starts = WARM_WINDOWS;
    for (size_t i = 0; i < n_starts; i++)
        starts[i] = (int64_t)random_below(&state, (uint64_t)(b->warm_frames - WINDOW + 1));
    write_starts(b);
}

/* Places on a grid, so that no window of a round has been touched by another. */
static void scattered_starts(const struct bench *b, int round)
{
    uint64_t state = (uint64_t)round + 99;
    static int64_t grid[JOB_FRAMES / WINDOW];
    size_t n = (size_t)(b->frames / WINDOW);
    for (size_t i = 0; i < n; i++)
        grid[i] = (int64_t)i * WINDOW;
    n_starts = n / 2 < COLD_WINDOWS ? n / 2 : COLD_WINDOWS;
    for (size_t i = 0; i < n_starts; i++) {
        size_t j = i + random_below(&state, n - i);
        starts[i] = grid[j];
        grid[j] = grid[i];
    }
    write_starts(b);
}

static void map_open(void)
{
    size_t bytes = (size_t)src.b->frames * FRAME_BYTES;
    src.map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, src.fd, 0);
    if (src.map == MAP_FAILED)
        die("mmap: %s", strerror(errno));
}

static void map_close(void)
{
    if (src.map)
        (void)munmap((void *)(uintptr_t)src.map, (size_t)src.b->frames * FRAME_BYTES);
    src.map = NULL;
}

static void recording_open(void)
{
    struct swt_diag diag;
    int rc = swt_recording_open(in_dir(src.b, "data.swt"), &src.recording, &diag);
    if (rc < 0)
        die("%s: %s", in_dir(src.b, "data.swt"), diag.text);
}

static void source_open(struct bench *b)
{
    src.b = b;
    buf = must_alloc(WINDOW_BYTES + 8192);
    have_raw(b);
    have_recording(b);
    src.fd = open(in_dir(b, "data.raw"), O_RDONLY | O_CLOEXEC);
    src.direct_fd = open(in_dir(b, "data.raw"), O_RDONLY | O_CLOEXEC | O_DIRECT);
    if (src.fd < 0)
        die("%s: %s", in_dir(b, "data.raw"), strerror(errno));
}

static int run_warm(struct bench *b, struct contestant *c, int round, double *ret)
{
    random_starts(b, round);
    return run_windows(c->name, c->arg, ret);
}

static int run_warm_peer(struct bench *b, struct contestant *c, int round, double *ret)
{
    struct peer_state *s = (struct peer_state *)(uintptr_t)c->arg;
    double ns;
    if (round == 0) {
        read_all(in_dir(b, s->file));
        if (peer_ask(s->p, &ns, "open %lld", (long long)b->frames) < 0)
            return -1;
    }
    random_starts(b, round);
    return peer_windows(s, ret);
}

static const struct way way_memcpy = {by_memcpy, false, false};
static const struct way way_map = {by_map, true, false};
static const struct way way_advice = {by_advice, true, false};
static const struct way way_pread = {by_pread, false, false};
static const struct way way_direct = {by_direct, false, false};
static const struct way way_read = {by_swt, false, false};
static const struct way way_unchecked = {by_swt, false, true};
static const struct way way_place = {by_swt, true, false};

void job_windows(struct bench *b)
{
    static const char *const names[] = {"numpy.memmap, copied", "h5py, copied", "zarr, copied"};
    struct table t = {.peer_s = 45,
                      .job = "J2",
                      .title = "random windows of 64 frames, warm",
                      .unit = "ms a window",
                      .unit_ns = 1e6,
                      .is_speed = true};
    source_open(b);
    read_all(in_dir(b, "data.raw"));
    read_all(in_dir(b, "data.swt"));
    map_open();
    recording_open();
    (void)table_add(&t, "C mmap + memcpy", run_warm, &way_memcpy);
    (void)table_add(&t, "swt_window_read, CRC verified", run_warm, &way_read);
    (void)table_add(&t, "swt_window_read, unchecked", run_warm, &way_unchecked);
    (void)table_add(&t, "swt_window_map, every byte read", run_warm, &way_place);
    (void)table_add(&t, "C mmap, every byte read", run_warm, &way_map);
    peers_start(&t, names, run_warm_peer);
    table_claim(
        &t, (struct claim){"copied, CRC verified, to mmap + memcpy", 1, 0, 0, 0, true, true, 0.75});
    table_claim(
        &t, (struct claim){"copied, unchecked, to mmap + memcpy", 2, 0, 0, 0, true, true, 0.97});
    table_claim(&t, (struct claim){"in place, every byte read, to mmap + memcpy", 3, 0, 0, 0, true,
                                   true, 1.5});
    table_run(b, &t);
    swt_recording_close(&src.recording);
    map_close();
    peers_end();
}

/* ---- cold --------------------------------------------------------------------------------------------- */

static int run_cold(struct bench *b, struct contestant *c, int round, double *ret)
{
    const struct way *way = c->arg;
    bool is_swt = way->get == by_swt;
    scattered_starts(b, round);
    drop_cache(in_dir(b, is_swt ? "data.swt" : "data.raw"));
    if (is_swt)
        recording_open();
    else
        map_open();
    int rc = way == &way_direct && src.direct_fd < 0 ? wrong("no O_DIRECT here")
                                                     : run_windows(c->name, way, ret);
    swt_recording_close(&src.recording);
    map_close();
    return rc;
}

static int run_cold_peer(struct bench *b, struct contestant *c, int round, double *ret)
{
    struct peer_state *s = (struct peer_state *)(uintptr_t)c->arg;
    double ns;
    scattered_starts(b, round);
    drop_cache(in_dir(b, s->file));
    if (peer_ask(s->p, &ns, "open %lld", (long long)b->frames) < 0)
        return -1;
    int rc = peer_windows(s, ret);
    return peer_ask(s->p, &ns, "close") < 0 ? -1 : rc;
}

void job_cold(struct bench *b)
{
    static const char *const names[] = {"numpy.memmap, copied", "h5py, copied", "zarr, copied"};
    struct table t = {.peer_s = 70,
                      .job = "J3",
                      .title = "random windows of 64 frames, cold",
                      .unit = "ms a window",
                      .unit_ns = 1e6,
                      .is_speed = true};
    source_open(b);
    sync(); /* dirty pages cannot be dropped */
    (void)table_add(&t, "C pread", run_cold, &way_pread);
    (void)table_add(&t, "swt_window_read, CRC verified", run_cold, &way_read);
    (void)table_add(&t, "swt_window_map, every byte read", run_cold, &way_place);
    (void)table_add(&t, "C mmap, every byte read", run_cold, &way_map);
    (void)table_add(&t, "C mmap + WILLNEED, every byte read", run_cold, &way_advice);
    if (src.direct_fd >= 0)
        (void)table_add(&t, "C pread with O_DIRECT", run_cold, &way_direct);
    peers_start(&t, names, run_cold_peer);
    table_claim(&t, (struct claim){"copied, CRC verified, to pread", 1, 0, 0, 0, true, true, 1.2});
    table_claim(&t,
                (struct claim){"in place, every byte read, to pread", 2, 0, 0, 0, true, true, 1.2});
    table_run(b, &t);
    peers_end();
}
