/* SPDX-License-Identifier: MIT
 *
 * job_append.c - J1: append the stream one frame at a time, durable at the end. What was written is read back
 * and checked, outside the time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

static void fresh(const char *path)
{
    remove_tree(path);
    sync(); /* what was there before is not paid for now */
}

static int check_raw(const struct bench *b, const char *path)
{
    size_t bytes = (size_t)b->frames * FRAME_BYTES;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *p = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (fd >= 0)
        (void)close(fd);
    if (p == MAP_FAILED)
        return wrong("%s: %s", path, strerror(errno));
    int rc = window_check("the floor", p, 0, b->frames);
    (void)munmap(p, bytes);
    return rc;
}

static int check_window(struct swt_recording *r, int64_t first, int64_t n)
{
    struct swt_window_spec spec = range_spec(first, n);
    struct swt_window *w = NULL;
    struct swt_diag diag;
    const void *data;
    int rc = swt_window_open(r, &spec, &w, &diag);
    if (rc >= 0)
        rc = swt_window_map(w, &data, &diag);
    int good = rc < 0 ? swt_failed("read back", rc, &diag)
                      : window_check("swt append", data, first, n);
    swt_window_close(&w);
    return good;
}

static int check_recording(const struct bench *b, const char *path)
{
    struct swt_recording *r = NULL;
    struct swt_diag diag;
    struct swt_stream_info info;
    int rc = swt_recording_open(path, &r, &diag);
    if (rc >= 0)
        rc = swt_recording_stream(r, 0, &info, &diag);
    if (rc < 0) {
        swt_recording_close(&r);
        return swt_failed("read back", rc, &diag);
    }
    int good = 0;
    if (info.frames != b->frames || info.durable_frames != b->frames)
        good = wrong("swt append: %lld frames kept and %lld durable of %lld",
                     (long long)info.frames, (long long)info.durable_frames, (long long)b->frames);
    for (int64_t i = 0; good == 0 && i < b->frames; i += 1000)
        good = check_window(r, i, b->frames - i < 1000 ? b->frames - i : 1000);
    swt_recording_close(&r);
    return good;
}

static int run_floor(struct bench *b, struct contestant *c, int round, double *ret)
{
    (void)c;
    (void)round;
    const char *path = in_dir(b, "data.raw");
    fresh(path);
    int64_t t0 = now_ns();
    if (write_raw(b, path) < 0)
        return -1;
    ret[0] = (double)(now_ns() - t0);
    return check_raw(b, path);
}

static int run_swt(struct bench *b, struct contestant *c, int round, double *ret)
{
    (void)c;
    (void)round;
    const char *path = in_dir(b, "data.swt");
    fresh(path);
    int64_t t0 = now_ns();
    if (write_recording(b, path) < 0)
        return -1;
    ret[0] = (double)(now_ns() - t0);
    return check_recording(b, path);
}

static int run_peer(struct bench *b, struct contestant *c, int round, double *ret)
{
    (void)round;
    const char *module = c->arg;
    fresh(in_dir(b, strcmp(module, "numpy") == 0  ? "data.mm"
                    : strcmp(module, "h5py") == 0 ? "data.h5"
                                                  : "data.zarr"));
    struct peer *p = peer_start(b, module, c->skipped, sizeof c->skipped);
    if (!p)
        return 0;
    int rc = peer_ask(p, &ret[0], "append %lld", (long long)b->frames);
    peer_stop(&p);
    remove_tree(in_dir(b, "data.mm")); /* the same bytes as data.raw, which serves later jobs */
    return rc;
}

void job_append(struct bench *b)
{
    static char title[120];
    (void)snprintf(title, sizeof title,
                   "append %lld frames of %u bytes one at a time, durable at the end",
                   (long long)b->frames, FRAME_BYTES);
    struct table t = {
        .peer_s = 150, .job = "J1", .title = title, .unit = "s", .unit_ns = 1e9, .is_speed = true};
    (void)table_add(&t, "C write + fsync", run_floor, NULL);
    (void)table_add(&t, "swt_append, index and CRC32C", run_swt, NULL);
    table_add(&t, "numpy.memmap + flush", run_peer, "numpy")->is_peer = true;
    table_add(&t, "h5py, chunks of 1 frame", run_peer, "h5py")->is_peer = true;
    table_add(&t, "zarr, 16 frames buffered by hand", run_peer, "zarr")->is_peer = true;
    table_claim(
        &t, (struct claim){"speed of swt_append to write + fsync", 1, 0, 0, 0, true, true, 0.9});
    table_run(b, &t);
}
