/* SPDX-License-Identifier: MIT
 *
 * reader_seg.c - the segments of a stream as a reader sees them: the list of names, what has been opened,
 * a bounded number of descriptors, a bounded cache of index entries, and the searches by number. Frames
 * and times are reader.c's.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/size.h"
#include "store/reader.h"

#define MTIME_GRAIN_NS \
    INT64_C(20000000) /* coarsest step of a directory's mtime: two ticks at 100 Hz */

/* ---- saying what is wrong -------------------------------------------------------------------------- */

int rseg_corrupt(const struct store_reader *r, uint64_t base, int64_t offset, int64_t frame,
                 struct swt_diag *reterr, const char *fmt, ...)
{
    char path[SEGFILE_PATH_CAP], text[512];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof text, fmt, args) < 0)
        text[0] = 0;
    va_end(args);
    (void)err_at(reterr, SWT_E_CORRUPT, segfile_path(r->seg_fd, base, path, sizeof path), offset,
                 "%s", text);
    err_stream(reterr, r->meta.name);
    err_frame(reterr, frame);
    return SWT_E_CORRUPT;
}

/* ---- the list -------------------------------------------------------------------------------------- */

static void fd_close(struct store_reader *r, struct rseg *seg)
{
    for (size_t i = 0; i < r->n_open; i++) {
        if (r->open[i] == seg) {
            r->open[i] = r->open[--r->n_open];
            break;
        }
    }
    io_close(&seg->fd);
}

static void seg_free(struct store_reader *r, struct rseg *seg)
{
    if (!seg)
        return;
    if (r->totals_seg == seg)
        r->totals_seg = NULL;
    if (r->hit.seg == seg)
        r->hit.seg = NULL;
    fd_close(r, seg);
    free(seg);
}

void rseg_done(struct store_reader *r)
{
    for (size_t i = 0; i < r->n; i++)
        seg_free(r, r->segs[i]);
    free(r->segs);
    free(r->bases);
    r->segs = NULL;
    r->bases = NULL;
    r->n = 0;
}

void rseg_drop_from(struct store_reader *r, size_t n)
{
    for (size_t i = n; i < r->n; i++)
        seg_free(r, r->segs[i]);
    r->n = n < r->n ? n : r->n;
}

/* A file that held no frame may have been replaced by one of the same name. */
static bool is_same_file(const struct store_reader *r, const struct rseg *seg)
{
    char name[32];
    struct stat st;
    segfile_name(seg->base, name);
    return fstatat(r->seg_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == seg->ino &&
           st.st_dev == seg->dev;
}

/* Carry over what is open into the new list; both ascend. */
static bool merge(struct store_reader *r, const uint64_t *bases, struct rseg **segs, size_t n)
{
    bool changed = n != r->n;
    size_t j = 0;
    for (size_t i = 0; i < r->n; i++) {
        while (j < n && bases[j] < r->bases[i])
            j++;
        bool is_kept = j < n && bases[j] == r->bases[i];
        changed = changed || !is_kept;
        /* only the newest can have been empty, hence replaced */
        if (is_kept && r->segs[i] && (i + 1 < r->n || is_same_file(r, r->segs[i]))) {
            segs[j] = r->segs[i];
        } else {
            changed = changed || r->segs[i];
            seg_free(r, r->segs[i]);
        }
    }
    return changed;
}

int rseg_list(struct store_reader *r, bool *ret_changed, struct swt_diag *reterr)
{
    struct stat st;
    uint64_t *bases = NULL;
    size_t n = 0;
    int64_t now = clock_wall_ns();
    if (fstat(r->seg_fd, &st) < 0)
        return err_errno(reterr, errno, r->path, "list segments");
    int rc = segfile_list(r->seg_fd, &bases, &n);
    if (rc < 0)
        return err_errno(reterr, -rc, r->path, "list segments");
    struct rseg **segs = calloc(n ? n : 1, sizeof(struct rseg *));
    if (!segs) {
        free(bases);
        return err_errno(reterr, ENOMEM, r->path, "list segments");
    }
    *ret_changed = merge(r, bases, segs, n);
    free(r->bases);
    free(r->segs);
    r->bases = bases;
    r->segs = segs;
    r->n = n;
    r->listed_mtime = st.st_mtim;
    r->listed_wall_ns = now;
    return 0;
}

int rseg_list_if_changed(struct store_reader *r, bool *ret_changed, struct swt_diag *reterr)
{
    struct stat st;
    *ret_changed = false;
    if (fstat(r->seg_fd, &st) < 0)
        return err_errno(reterr, errno, r->path, "list segments");
    bool is_same = st.st_mtim.tv_sec == r->listed_mtime.tv_sec &&
                   st.st_mtim.tv_nsec == r->listed_mtime.tv_nsec;
    /* a change within the same step of the clock as the listing leaves no trace in the mtime */
    int64_t mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    bool is_old = r->listed_wall_ns - mtime_ns > MTIME_GRAIN_NS;
    return is_same && is_old ? 0 : rseg_list(r, ret_changed, reterr);
}

/* ---- opening --------------------------------------------------------------------------------------- */

static void close_oldest_fd(struct store_reader *r)
{
    struct rseg *oldest = r->open[0];
    for (size_t i = 1; i < r->n_open; i++) {
        if (r->open[i]->used < oldest->used)
            oldest = r->open[i];
    }
    fd_close(r, oldest);
}

static void fd_keep(struct store_reader *r, struct rseg *seg, struct segfile *f)
{
    if (r->n_open == READER_FDS)
        close_oldest_fd(r);
    seg->fd = f->fd;
    f->fd = -1; /* moved */
    r->open[r->n_open++] = seg;
}

/* A missing file has been pruned, or the list is old. */
static int open_failed(const struct store_reader *r, int rc, struct swt_diag *reterr)
{
    if (rc == -ENOENT)
        return -ESTALE;
    err_stream(reterr, r->meta.name);
    return rc;
}

static int seg_open(struct store_reader *r, uint64_t base, struct segfile *ret,
                    struct swt_diag *reterr)
{
    AUTO(segfile_close) struct segfile f = {.fd = -1};
    int rc = segfile_open(r->seg_fd, base, r->meta.uuid, &f, reterr);
    if (rc < 0)
        return open_failed(r, rc, reterr);
    if (f.super.kind != r->meta.kind)
        return rseg_corrupt(r, base, 28, -1, reterr, "segment is of another kind than its stream");
    *ret = f;
    f.fd = -1; /* moved */
    return 0;
}

int rseg_take(struct store_reader *r, size_t i, struct segfile *f, struct swt_diag *reterr)
{
    struct rseg *seg = calloc(1, sizeof *seg);
    if (!seg)
        return err_errno(reterr, ENOMEM, r->path, "open segment");
    *seg = (struct rseg){.base = f->base,
                         .dev = f->dev,
                         .ino = f->ino,
                         .fd = -1,
                         .used = ++r->stamp,
                         .file_bytes = f->file_bytes,
                         .super = f->super,
                         .slot = f->slot,
                         .run_end = UINT64_MAX};
    if (f->slot.is_sealed && f->super.kind == SEG_KIND_TENSOR)
        seg->real_end = f->super.base_frame + f->slot.frames;
    fd_keep(r, seg, f);
    r->segs[i] = seg;
    return 0;
}

int rseg_get(struct store_reader *r, size_t i, struct rseg **ret_seg, struct swt_diag *reterr)
{
    AUTO(segfile_close) struct segfile f = {.fd = -1};
    int rc = 0;
    if (!r->segs[i]) {
        rc = seg_open(r, r->bases[i], &f, reterr);
        if (rc == 0)
            rc = rseg_take(r, i, &f, reterr);
    }
    if (rc == 0)
        *ret_seg = r->segs[i];
    return rc;
}

int rseg_fd(struct store_reader *r, struct rseg *seg, struct swt_diag *reterr)
{
    seg->used = ++r->stamp;
    if (seg->fd >= 0)
        return seg->fd;
    AUTO(segfile_close) struct segfile f = {.fd = -1};
    int rc = seg_open(r, seg->base, &f, reterr);
    if (rc < 0)
        return rc;
    if (f.ino != seg->ino || f.dev != seg->dev || f.super.salt != seg->super.salt)
        return -ESTALE;
    seg->file_bytes = f.file_bytes;
    seg->slot = f.slot;
    fd_keep(r, seg, &f);
    return seg->fd;
}

int rseg_reaches(struct store_reader *r, struct rseg *seg, uint64_t bytes, struct swt_diag *reterr)
{
    struct stat st;
    char name[32];
    segfile_name(seg->base, name);
    int rc = seg->fd >= 0 ? fstat(seg->fd, &st)
                          : fstatat(r->seg_fd, name, &st, AT_SYMLINK_NOFOLLOW);
    if (rc < 0 && errno == ENOENT)
        return -ESTALE;
    if (rc < 0)
        return err_errno(reterr, errno, r->path, "stat segment");
    if (st.st_ino != seg->ino || st.st_dev != seg->dev)
        return -ESTALE;
    seg->file_bytes = (uint64_t)st.st_size;
    return bytes <= seg->file_bytes;
}

/* ---- entries --------------------------------------------------------------------------------------- */

/* The block, or the one of its set that gives way to it: then `used` is 0. */
static struct rblock *block_find(struct store_reader *r, uint64_t salt, uint64_t no)
{
    struct rblock *set = &r->blocks[(salt + no) % READER_SETS * READER_WAYS], *oldest = set;
    for (struct rblock *b = set; b < set + READER_WAYS; b++) {
        if (b->used && b->salt == salt && b->no == no)
            return b;
        if (b->used < oldest->used)
            oldest = b;
    }
    oldest->used = 0;
    oldest->salt = salt;
    oldest->no = no;
    return oldest;
}

/* What the file does not have reads as zeros, which no checksum fits. */
static int block_read(struct store_reader *r, struct rseg *seg, struct rblock *b)
{
    uint64_t first = b->no * READER_BLOCK_ENTRIES, left = seg->super.index_cap - first;
    size_t n = left < READER_BLOCK_ENTRIES ? (size_t)left : READER_BLOCK_ENTRIES;
    int fd = rseg_fd(r, seg, NULL);
    if (fd < 0)
        return fd;
    b->used = 0;
    ssize_t got = segfile_read_some(fd, b->entries, n * SEG_ENTRY_BYTES,
                                    seg->super.index_off + first * SEG_ENTRY_BYTES);
    if (got < 0)
        return (int)got;
    memset((uint8_t *)b->entries + got, 0, sizeof b->entries - (size_t)got);
    b->used = ++r->stamp;
    return 0;
}

int rseg_entry(struct store_reader *r, struct rseg *seg, uint64_t k, struct entry *ret_entry)
{
    if (k >= seg->super.index_cap)
        return 0;
    struct rblock *b = block_find(r, seg->super.salt, k / READER_BLOCK_ENTRIES);
    const struct seg_entry *e = &b->entries[k % READER_BLOCK_ENTRIES];
    uint64_t entry_no = seg->super.base_entry + k;
    if (b->used && entry_decode(e, &seg->super, entry_no, ret_entry)) {
        b->used = ++r->stamp;
        return 1;
    } /* else: not there, or read when the entry was not written yet, or damaged */
    int rc = block_read(r, seg, b);
    return rc < 0 ? rc : entry_decode(e, &seg->super, entry_no, ret_entry);
}

int rseg_entries(struct store_reader *r, size_t i, struct rseg *seg, uint64_t *ret_n)
{
    uint64_t end = r->end_entry;
    if (seg->slot.is_sealed) {
        end = seg->super.base_entry + seg->slot.entries;
    } else if (i + 1 < r->n && r->meta.kind == SEG_KIND_PACKETS) {
        end = r->bases[i + 1];
    } else if (i + 1 < r->n) {
        struct rseg *next = NULL;
        int rc = rseg_get(r, i + 1, &next, NULL);
        if (rc < 0 && rc != SWT_E_CORRUPT)
            return rc;
        if (rc == 0)
            end = next->super.base_entry;
    }
    if (end > r->end_entry)
        end = r->end_entry;
    uint64_t n = end > seg->super.base_entry ? end - seg->super.base_entry : 0;
    *ret_n = n < seg->super.index_cap ? n : seg->super.index_cap;
    return 0;
}

/* ---- searches -------------------------------------------------------------------------------------- */

uint64_t rseg_guess(uint64_t lo, uint64_t hi, int64_t x_lo, int64_t x_hi, int64_t x, unsigned round)
{
    uint64_t width = hi - lo, at = width / 2;
    int64_t part, whole;
    bool is_known = round % 3 < 2 && width <= INT64_MAX &&
                    !__builtin_sub_overflow(x, x_lo, &part) &&
                    !__builtin_sub_overflow(x_hi, x_lo, &whole);
    if (is_known && part >= 0 && whole > 0)
        at = part < whole ? (uint64_t)size_scale_down(part, (int64_t)width, whole) : width - 1;
    return lo + at;
}

size_t rseg_by_base(struct store_reader *r, uint64_t base)
{
    const uint64_t *b = r->bases;
    size_t lo = 0, hi = r->n - 1;
    if (r->found < hi && b[r->found] <= base && base < b[r->found + 1])
        return r->found;
    if (b[hi] <= base)
        lo = hi;
    for (unsigned round = 0; lo < hi; round++) {
        size_t at = rseg_guess(lo, hi, (int64_t)b[lo], (int64_t)b[hi], (int64_t)base, round);
        if (b[at + 1] <= base)
            lo = at + 1;
        else if (b[at] > base)
            hi = at;
        else
            lo = hi = at;
    }
    r->found = lo;
    return lo;
}

/* The first segment in at .. end - 1 that is not damaged; `end` if none. */
static int next_readable(struct store_reader *r, size_t at, size_t end, size_t *ret_i,
                         struct rseg **ret_seg, struct swt_diag *reterr)
{
    for (; at < end; at++) {
        struct swt_diag why = {0};
        int rc = rseg_get(r, at, ret_seg, &why);
        if (rc == 0)
            break;
        if (rc != SWT_E_CORRUPT) {
            if (reterr)
                *reterr = why;
            return rc;
        }
    }
    *ret_i = at;
    return 0;
}

int rseg_by_number(struct store_reader *r, rseg_number *get, uint64_t x, size_t *ret_i,
                   struct swt_diag *reterr)
{
    size_t lo = 0, hi = r->n, best = 0;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2, at = mid;
        struct rseg *seg = NULL;
        int rc = next_readable(r, mid, hi, &at, &seg, reterr);
        if (rc < 0)
            return rc;
        if (at < hi && get(&seg->super) <= x) {
            best = at;
            lo = at + 1;
        } else {
            hi = mid;
        }
    }
    *ret_i = best;
    return 0;
}

static uint64_t number_run(const struct super *s)
{
    return s->run_no;
}

/* Does the newest segment go on with the run? */
static bool run_goes_on(struct store_reader *r, const struct rseg *seg)
{
    struct rseg *newest = NULL;
    return rseg_get(r, r->n - 1, &newest, NULL) == 0 && newest->super.run_no == seg->super.run_no;
}

int rseg_run_end(struct store_reader *r, struct rseg *seg, uint64_t *ret_end,
                 struct swt_diag *reterr)
{
    size_t last = 0;
    if (seg->run_end == UINT64_MAX && !run_goes_on(r, seg)) {
        int rc = rseg_by_number(r, number_run, seg->super.run_no, &last, reterr);
        struct rseg *next = NULL;
        size_t at = last + 1;
        if (rc == 0)
            rc = next_readable(r, at, r->n, &at, &next, reterr);
        if (rc < 0)
            return rc;
        /* one that is still empty can be replaced by one that goes on with the run */
        if (at < r->n && next->super.run_base_frame < r->end_frame)
            seg->run_end = next->super.run_base_frame;
    }
    *ret_end = seg->run_end < r->end_frame ? seg->run_end : r->end_frame;
    return 0;
}

/* ---- what is missing ------------------------------------------------------------------------------- */

/* What lies between segment i and the next, if that is where entry k would be: 0 nothing is missing. */
static int say_missing(struct store_reader *r, size_t i, const struct rseg *seg, uint64_t k,
                       int64_t frame, struct swt_diag *reterr)
{
    struct rseg *next = NULL;
    struct swt_diag why = {0};
    if (i + 1 == r->n)
        return 0;
    int rc = rseg_get(r, i + 1, &next, &why);
    if (rc == SWT_E_CORRUPT && r->meta.kind == SEG_KIND_PACKETS &&
        k >= r->bases[i + 1] - seg->super.base_entry) {
        err_frame(&why, frame);
        if (reterr)
            *reterr = why;
        return rc;
    }
    if (rc < 0 || next->super.segment_no <= seg->super.segment_no + 1)
        return 0;
    return rseg_corrupt(r, seg->base, -1, frame, reterr,
                        "%" PRIu64 " segment(s) missing between %020" PRIu64 ".swt and %020" PRIu64
                        ".swt",
                        next->super.segment_no - seg->super.segment_no - 1, seg->base, next->base);
}

/* Where the frames of a segment end whose successor is missing: found by reading, once. */
static int find_real_end(struct store_reader *r, struct rseg *seg, struct swt_diag *reterr)
{
    struct segfile_extent x;
    int fd = rseg_fd(r, seg, reterr);
    if (fd < 0)
        return fd;
    struct segfile f = {.fd = fd, .base = seg->base, .super = seg->super, .slot = seg->slot};
    int rc = segfile_reach(&f, 0, &x, reterr);
    if (rc == 0)
        seg->real_end = seg->super.base_frame + x.frames;
    return rc;
}

int rseg_has_frames(struct store_reader *r, size_t i, struct rseg *seg, uint64_t end_frame,
                    struct swt_diag *reterr)
{
    struct rseg *next = NULL;
    if (i + 1 == r->n || end_frame <= seg->real_end)
        return 0;
    int rc = rseg_get(r, i + 1, &next, NULL);
    if (rc < 0)
        return rc == SWT_E_CORRUPT ? 0 : rc;
    if (next->super.segment_no <= seg->super.segment_no + 1)
        return 0;
    rc = seg->real_end == 0 ? find_real_end(r, seg, reterr) : 0;
    if (rc < 0 || end_frame <= seg->real_end)
        return rc;
    return say_missing(r, i, seg, 0, (int64_t)seg->real_end, reterr);
}

int rseg_lost_entry(struct store_reader *r, size_t i, uint64_t k, int64_t frame,
                    struct swt_diag *reterr)
{
    bool changed = false;
    struct rseg *seg = NULL;
    int rc = rseg_list_if_changed(r, &changed, reterr);
    if (rc < 0 || changed)
        return rc < 0 ? rc : -ESTALE;
    rc = rseg_get(r, i, &seg, reterr);
    if (rc == 0)
        rc = say_missing(r, i, seg, k, frame, reterr);
    if (rc < 0)
        return rc;
    return rseg_corrupt(r, seg->base, (int64_t)(seg->super.index_off + k * SEG_ENTRY_BYTES), frame,
                        reterr, "index entry %" PRIu64 " is damaged", seg->super.base_entry + k);
}
