/* SPDX-License-Identifier: MIT
 *
 * data.c - frames that betray themselves: each begins and ends with its number, and between lie bytes that
 * depend on it, so that a lost, torn, stale or swapped one is found by a sum. Also the stream on disk.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define RING  16
#define WORDS (FRAME_BYTES / 8)

static uint64_t ring[RING][WORDS];
static uint64_t ring_sum[RING]; /* without first and last word */

int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void die(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)fputs("bench: ", stderr);
    (void)vfprintf(stderr, fmt, ap);
    (void)fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

int wrong(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)fputs("bench: WRONG: ", stderr);
    (void)vfprintf(stderr, fmt, ap);
    (void)fputc('\n', stderr);
    va_end(ap);
    return -1;
}

void *must_alloc(size_t bytes)
{
    void *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!p)
        die("out of memory for %zu bytes", bytes);
    memset(p, 1, bytes); /* real pages, before anything is timed */
    return p;
}

const char *in_dir(const struct bench *b, const char *name)
{
    static char path[8][512];
    static unsigned i;
    char *p = path[i++ % 8];
    if (snprintf(p, sizeof path[0], "%s/%s", b->dir, name) >= (int)sizeof path[0])
        die("path too long: %s/%s", b->dir, name);
    return p;
}

uint64_t random_below(uint64_t *state, uint64_t n)
{
    uint64_t x = (*state += UINT64_C(0x9E3779B97F4A7C15)); /* splitmix64 */
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (x ^ (x >> 31)) % n;
}

/* ---- frames ------------------------------------------------------------------------------------------ */

/* Instructions as wide as the machine has: with narrow ones a core does not read as fast as memory gives. */
#ifdef __x86_64__
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif
typedef uint64_t vec __attribute__((vector_size(64)));

WIDE static uint64_t sum_wide(const void *data, size_t bytes)
{
    const uint8_t *p = data;
    vec a = {0}, b = {0}, c = {0}, d = {0}, v[4];
    uint64_t s = 0, w;
    size_t i = 0;
    for (; i + sizeof v <= bytes; i += sizeof v) {
        memcpy(&v[0], p + i, sizeof v[0]);
        memcpy(&v[1], p + i + sizeof v[0], sizeof v[1]);
        memcpy(&v[2], p + i + 2 * sizeof v[0], sizeof v[2]);
        memcpy(&v[3], p + i + 3 * sizeof v[0], sizeof v[3]);
        a += v[0];
        b += v[1];
        c += v[2];
        d += v[3];
    }
    for (; i + 8 <= bytes; i += 8) {
        memcpy(&w, p + i, 8);
        s += w;
    }
    a += b + c + d;
    for (int k = 0; k < 8; k++)
        s += a[k];
    return s;
}

uint64_t sum_words(const void *data, size_t bytes)
{
    return sum_wide(data, bytes);
}

void frames_init(const struct bench *b)
{
    uint64_t state = 1;
    for (int r = 0; r < RING; r++) {
        for (size_t i = 0; i < WORDS; i++)
            ring[r][i] = random_below(&state, UINT64_MAX);
        ring_sum[r] = sum_words(&ring[r][1], (WORDS - 2) * 8);
    }
    FILE *f = fopen(in_dir(b, "ring.raw"), "wb");
    if (!f || fwrite(ring, 1, sizeof ring, f) != sizeof ring || fclose(f) != 0)
        die("%s: %s", in_dir(b, "ring.raw"), strerror(errno));
}

const void *frame_make(int64_t no)
{
    uint64_t *f = ring[no % RING];
    f[0] = f[WORDS - 1] = (uint64_t)no;
    return f;
}

uint64_t window_sum(int64_t first, int64_t n)
{
    uint64_t s = 0;
    for (int64_t i = first; i < first + n; i++)
        s += ring_sum[i % RING] + 2 * (uint64_t)i;
    return s;
}

int stamps_check(const char *who, const void *data, int64_t first, int64_t n)
{
    const uint8_t *p = data;
    for (int64_t i = 0; i < n; i++, p += FRAME_BYTES) {
        int64_t a, z;
        memcpy(&a, p, 8);
        memcpy(&z, p + FRAME_BYTES - 8, 8);
        if (a != first + i || z != first + i)
            return wrong("%s gave frame %lld / %lld where %lld belongs", who, (long long)a,
                         (long long)z, (long long)(first + i));
    }
    return 0;
}

int window_check_sum(const char *who, const void *data, int64_t first, int64_t n, uint64_t sum)
{
    if (sum != window_sum(first, n))
        return wrong("%s: bytes of frames %lld to %lld are not those that were stored", who,
                     (long long)first, (long long)(first + n - 1));
    return stamps_check(who, data, first, n);
}

int window_check(const char *who, const void *data, int64_t first, int64_t n)
{
    return window_check_sum(who, data, first, n, sum_words(data, (size_t)n * FRAME_BYTES));
}

/* ---- the stream on disk ------------------------------------------------------------------------------ */

int swt_failed(const char *what, int rc, const struct swt_diag *diag)
{
    return wrong("%s: %s: %s", what, swt_strerror(rc), diag->text);
}

struct swt_window_spec range_spec(int64_t first, int64_t n)
{
    struct swt_window_spec s;
    swt_window_spec_init(&s);
    s.select = SWT_SELECT_RANGE;
    s.from = (struct swt_pos){SWT_POS_FRAME, first};
    s.length = (struct swt_length){SWT_LENGTH_FRAMES, n};
    return s;
}

int write_raw(struct bench *b, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return wrong("%s: %s", path, strerror(errno));
    for (int64_t i = 0; i < b->frames; i++)
        if (write(fd, frame_make(i), FRAME_BYTES) != FRAME_BYTES)
            die("%s: %s", path, strerror(errno));
    int rc = fsync(fd);
    (void)close(fd);
    return rc < 0 ? wrong("fsync: %s", strerror(errno)) : 0;
}

int write_recording(struct bench *b, const char *path)
{
    struct swt_append_spec spec;
    struct swt_append *a = NULL;
    struct swt_diag diag;
    swt_append_spec_init(&spec);
    spec.path = path;
    spec.stream = "video";
    spec.dtype = SWT_U8;
    spec.n_dims = 3;
    spec.shape[0] = spec.shape[1] = 224;
    spec.shape[2] = 3;
    spec.rate = (struct swt_ratio){30, 1};
    int rc = swt_append_open(&spec, &a, &diag);
    for (int64_t i = 0; rc >= 0 && i < b->frames; i++)
        rc = swt_append_frames(a, frame_make(i), 1, INT64_MIN, NULL, &diag);
    if (rc < 0) {
        (void)swt_append_close(&a, NULL);
        return swt_failed("append", rc, &diag);
    }
    rc = swt_append_close(&a, &diag);
    return rc < 0 ? swt_failed("append close", rc, &diag) : 0;
}

void have_raw(struct bench *b)
{
    if (access(in_dir(b, "data.raw"), F_OK) < 0 && write_raw(b, in_dir(b, "data.raw")) < 0)
        exit(1);
}

void have_recording(struct bench *b)
{
    if (access(in_dir(b, "data.swt"), F_OK) < 0 && write_recording(b, in_dir(b, "data.swt")) < 0)
        exit(1);
}

/* ---- files ------------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void remove_tree(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int drop_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)ftw;
    int fd = type == FTW_F ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return 0;
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    (void)close(fd);
    return 0;
}

void drop_cache(const char *path)
{
    (void)nftw(path, drop_one, 16, FTW_PHYS);
}

static int read_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    static char buf[1 << 20];
    (void)st;
    (void)ftw;
    int fd = type == FTW_F ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return 0;
    while (read(fd, buf, sizeof buf) > 0)
        ;
    (void)close(fd);
    return 0;
}

void read_all(const char *path)
{
    (void)nftw(path, read_one, 16, FTW_PHYS);
}
