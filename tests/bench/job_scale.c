/* SPDX-License-Identifier: MIT
 *
 * job_scale.c - the cost of a window in recordings of 1 hour, 1 day and 30 days of simulated video: 30 frames a
 * second of 8 bytes, each its own number, in segments so small that 30 days are 10,000 of them.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "bench.h"

#define FPS           30
#define SEG_FRAMES    7776 /* 30 days in 10,000 segments */
#define RANDOM_PLACES 400
#define NEEDED        (INT64_C(6) << 30)

enum length { HOUR, DAY, MONTH, N_LENGTHS };
static const char *const names[] = {"1 hour", "1 day", "30 days, 10,000 segments"};
static const char *const files[] = {"hour.swt", "day.swt", "month.swt"};
static const int64_t frames[] = {3600 * FPS, 86400 * FPS, INT64_C(2592000) * FPS};
static const enum length lengths[] = {HOUR, DAY, MONTH};

static struct swt_recording *open_rec[N_LENGTHS];

/* 10,000 segments are 20,000 syncs and more; what they cost to make is not what is measured. In memory where
 * there is room, else in the scratch folder. */
static char folder[64];

static const char *where(const struct bench *b, enum length l)
{
    static char path[4][600];
    static unsigned i;
    char *p = path[i++ % 4];
    (void)snprintf(p, sizeof path[0], "%s/%s", folder[0] ? folder : b->dir, files[l]);
    return p;
}

static void choose_folder(const struct bench *b)
{
    struct statvfs v;
    const char *name = strrchr(b->dir, '/');
    folder[0] = 0;
    if (!name || b->memory < NEEDED || statvfs("/dev/shm", &v) < 0 ||
        (int64_t)(v.f_bavail * v.f_frsize) < NEEDED)
        return;
    (void)snprintf(folder, sizeof folder, "/dev/shm%.40s", name);
    if (mkdir(folder, 0700) < 0)
        folder[0] = 0;
}

static int64_t build(const struct bench *b, enum length l)
{
    static uint64_t row[SEG_FRAMES];
    struct swt_append_spec spec;
    struct swt_append *a = NULL;
    struct swt_diag diag;
    int64_t t0 = now_ns();
    swt_append_spec_init(&spec);
    spec.path = where(b, l);
    spec.stream = "video";
    spec.dtype = SWT_U64;
    spec.rate = (struct swt_ratio){FPS, 1};
    spec.segment_bytes = sizeof row;
    spec.sync_ns = INT64_C(3600000000000);
    int rc = swt_append_open(&spec, &a, &diag);
    for (int64_t i = 0; rc >= 0 && i < frames[l]; i += SEG_FRAMES) {
        int64_t n = frames[l] - i < SEG_FRAMES ? frames[l] - i : SEG_FRAMES;
        for (int64_t k = 0; k < n; k++)
            row[k] = (uint64_t)(i + k);
        rc = swt_append_frames(a, row, n, INT64_MIN, NULL, &diag);
    }
    if (rc >= 0)
        rc = swt_append_close(&a, &diag);
    if (rc < 0)
        die("building %s: %s", files[l], diag.text);
    return now_ns() - t0;
}

static int check_rows(const char *who, const uint64_t *row, int64_t first)
{
    for (int64_t i = 0; i < WINDOW; i++)
        if (row[i] != (uint64_t)(first + i))
            return wrong("%s: frame %llu where %lld belongs", who, (unsigned long long)row[i],
                         (long long)(first + i));
    return 0;
}

/* One window, opened, read and closed. */
static int one(const char *who, struct swt_recording *r, const struct swt_window_spec *spec,
               int64_t first)
{
    uint64_t row[WINDOW];
    struct swt_window *w = NULL;
    struct swt_diag diag;
    int rc = swt_window_open(r, spec, &w, &diag);
    if (rc >= 0)
        rc = swt_window_read(w, 0, WINDOW, row, sizeof row, &diag);
    swt_window_close(&w);
    return rc < 0 ? swt_failed(who, rc, &diag) : check_rows(who, row, first);
}

static struct swt_window_spec newest(void)
{
    struct swt_window_spec s;
    swt_window_spec_init(&s);
    s.select = SWT_SELECT_LAST;
    s.length = (struct swt_length){SWT_LENGTH_FRAMES, WINDOW};
    return s;
}

static int run_newest(struct bench *b, struct contestant *c, int round, double *ret)
{
    (void)b;
    (void)round;
    enum length l = *(const enum length *)c->arg;
    struct swt_window_spec spec = newest();
    int64_t t0 = now_ns();
    for (int i = 0; i < RANDOM_PLACES; i++)
        if (one(c->name, open_rec[l], &spec, frames[l] - WINDOW) < 0)
            return -1;
    ret[0] = (double)(now_ns() - t0) / RANDOM_PLACES;
    return 0;
}

/* The same places twice in a freshly opened recording: first touch and warm. */
static int run_places(struct bench *b, struct contestant *c, int round, double *ret, bool by_time)
{
    enum length l = *(const enum length *)c->arg;
    struct swt_recording *r = NULL;
    struct swt_diag diag;
    int rc = swt_recording_open(where(b, l), &r, &diag);
    if (rc < 0)
        return swt_failed(files[l], rc, &diag);
    for (int pass = 0; rc >= 0 && pass < MAX_VALUES; pass++) {
        uint64_t state = (uint64_t)round;
        int64_t t0 = now_ns();
        for (int i = 0; rc >= 0 && i < RANDOM_PLACES; i++) {
            int64_t at = (int64_t)random_below(&state, (uint64_t)(frames[l] - WINDOW));
            struct swt_window_spec spec;
            at -= by_time ? at % FPS : 0;
            spec = range_spec(at, WINDOW);
            if (by_time)
                spec.from = (struct swt_pos){SWT_POS_TIME, at / FPS * 1000000000};
            rc = one(c->name, r, &spec, at);
        }
        ret[pass] = (double)(now_ns() - t0) / RANDOM_PLACES;
    }
    swt_recording_close(&r);
    return rc < 0 ? -1 : 0;
}

static int run_frames(struct bench *b, struct contestant *c, int round, double *ret)
{
    return run_places(b, c, round, ret, false);
}

static int run_times(struct bench *b, struct contestant *c, int round, double *ret)
{
    return run_places(b, c, round, ret, true);
}

/* Opening, then the first window: the newest. */
static int run_open(struct bench *b, struct contestant *c, int round, double *ret)
{
    (void)round;
    enum length l = *(const enum length *)c->arg;
    struct swt_window_spec spec = newest();
    struct swt_recording *r = NULL;
    struct swt_stream_info info;
    struct swt_diag diag;
    int64_t t0 = now_ns();
    int rc = swt_recording_open(where(b, l), &r, &diag);
    int64_t t1 = now_ns();
    if (rc < 0)
        return swt_failed(files[l], rc, &diag);
    rc = one(c->name, r, &spec, frames[l] - WINDOW);
    ret[0] = (double)(t1 - t0);
    ret[1] = (double)(now_ns() - t1);
    if (rc == 0 && (swt_recording_stream(r, 0, &info, &diag) < 0 || info.frames != frames[l] ||
                    (l == MONTH && info.segments < 10000)))
        rc = wrong("%s: %lld frames in %llu segments", files[l], (long long)info.frames,
                   (unsigned long long)info.segments);
    swt_recording_close(&r);
    return rc;
}

static int run_command(struct bench *b, struct contestant *c, int round, double *ret)
{
    (void)round;
    enum length l = *(const enum length *)c->arg;
    uint64_t row[WINDOW + 1];
    double v[5];
    for (size_t i = 0; i < 5; i++) {
        const char *argv[] = {b->swt, "window", where(b, l), "--last", "64", NULL};
        struct output o = {.buf = (uint8_t *)row, .cap = sizeof row};
        if (run_process(argv, &o) < 0 || check_rows(c->name, row, frames[l] - WINDOW) < 0)
            return -1;
        v[i] = (double)o.total_ns;
    }
    ret[0] = median(v, 5);
    return 0;
}

static void table_of(struct bench *b, const char *job, const char *title, run_fn *run,
                     const char *first, const char *second)
{
    struct table t = {
        .job = job, .title = title, .unit = "us", .unit_ns = 1e3, .value_name = {first, second}};
    static char text[8][64];
    static size_t n_text;
    for (int l = 0; l < N_LENGTHS; l++)
        (void)table_add(&t, names[l], run, &lengths[l]);
    if (run == run_open) {
        table_claim(&t,
                    (struct claim){"opening 10,000 segments", MONTH, 0, -1, 0, false, false, 50e6});
        table_claim(&t, (struct claim){"their newest window", MONTH, 1, -1, 0, false, false, 5e6});
    } else if (run != run_command) { /* a process opens the recording, which has its own target */
        for (int v = 0; v < (second ? 2 : 1); v++) {
            char *s = text[n_text++ % 8];
            (void)snprintf(s, sizeof text[0], "%s%s%s, 30 days to 1 hour", title, first ? ", " : "",
                           !first ? ""
                           : v    ? second
                                  : first);
            table_claim(&t, (struct claim){s, MONTH, v, HOUR, v, false, false, 1.2});
        }
    }
    table_run(b, &t);
}

void job_scale(struct bench *b)
{
    struct swt_diag diag;
    choose_folder(b);
    for (int l = 0; l < N_LENGTHS; l++) {
        int64_t ns = build(b, lengths[l]);
        (void)fprintf(stderr, "scale: %s built in %.1f s\n", names[l], (double)ns / 1e9);
        if (swt_recording_open(where(b, lengths[l]), &open_rec[l], &diag) < 0)
            die("%s: %s", files[l], diag.text);
    }
    table_of(b, "scale", "newest 64", run_newest, NULL, NULL);
    table_of(b, "scale", "64 by number", run_frames, "first touch", "again");
    table_of(b, "scale", "64 by time", run_times, "first touch", "again");
    table_of(b, "scale", "newest 64, whole process", run_command, NULL, NULL);
    table_of(b, "scale", "opening", run_open, "swt_recording_open", "then the newest 64");
    for (int l = 0; l < N_LENGTHS; l++) {
        swt_recording_close(&open_rec[l]);
        remove_tree(where(b, lengths[l]));
    }
    if (folder[0])
        (void)rmdir(folder);
}
