/* SPDX-License-Identifier: MIT
 *
 * reader_map.c - the bytes of a run as one array: address space is reserved once, and segments are mapped
 * into it where the run's flat addresses put them. The mapping is the lease: what is mapped stays readable
 * until close, whatever retention unlinks.
 *
 * Why the pieces fit. Segment k is mapped from its seam, that is from the 64 KiB boundary at or below its
 * first byte, up to the boundary above its last. A seam holds the same bytes as the run has there, so that
 * when k + 1 is mapped over the tail of k, nothing changes under anybody who reads; and k that is mapped
 * after k + 1 ends where that one's seam begins. So a window needs only the segments that hold its frames.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/size.h"
#include "store/reader.h"

#define RESERVE_LEAST (UINT64_C(64) << 30) /* design.md, Storage 3 */
#define RESERVE_MOST  (UINT64_C(1) << 40)
#define HUGE_BYTES    (UINT64_C(2) << 20) /* addresses are congruent to flat addresses modulo this */

/* ---- address space --------------------------------------------------------------------------------- */

void map_done(struct store_reader *r)
{
    for (struct rmap *m = r->maps, *next; m; m = next) {
        next = m->next;
        (void)munmap(m->raw, m->raw_bytes); /* cannot fail on what mmap gave */
        free(m);
    }
    r->maps = NULL;
}

static int count_map(struct store_reader *r, struct swt_diag *reterr)
{
    if (r->n_maps >= r->max_maps)
        return err_at(reterr, -ENOMEM, r->path, -1,
                      "%" PRIu64
                      " mappings are in use, half of vm.max_map_count: close the reader, or "
                      "raise that limit",
                      r->n_maps);
    r->n_maps++;
    return 0;
}

/* Reserve `bytes` for flat addresses from `flat` on. NULL: no such room. */
static struct rmap *reserve(struct store_reader *r, uint64_t run_no, uint64_t flat, uint64_t bytes,
                            bool is_run)
{
    uint64_t raw_bytes = 0;
    if (!size_add(bytes, HUGE_BYTES, &raw_bytes))
        return NULL;
    void *raw = mmap(NULL, raw_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                     0);
    if (raw == MAP_FAILED)
        return NULL;
    struct rmap *m = calloc(1, sizeof *m);
    if (!m) {
        (void)munmap(raw, raw_bytes); /* cannot fail */
        return NULL;
    }
    uint64_t shift = (flat - (uint64_t)(uintptr_t)raw) % HUGE_BYTES;
    *m = (struct rmap){.next = r->maps,
                       .raw = raw,
                       .raw_bytes = raw_bytes,
                       .addr = (uint8_t *)raw + shift,
                       .bytes = bytes,
                       .run_no = run_no,
                       .flat = flat,
                       .is_run = is_run};
    r->maps = m;
    r->n_maps++;
    return m;
}

/* A stretch of flat addresses of the run of `seg`. */
struct span {
    uint64_t from, to;
};

static bool holds(const struct rmap *m, const struct rseg *seg, const struct span *want)
{
    return m->run_no == seg->super.run_no && want->from >= m->flat &&
           want->to - m->flat <= m->bytes;
}

/* Flat addresses that the kept part of the run takes now, and those its newest segment may still fill. */
static void run_size(const struct store_reader *r, const struct rseg *seg, uint64_t run_end,
                     uint64_t *ret_from, uint64_t *ret_now, bool *ret_grows)
{
    const struct super *s = &seg->super;
    uint64_t first = r->first_frame > s->run_base_frame ? r->first_frame : s->run_base_frame;
    *ret_from = size_down(super_flat(s, first), SEG_SEAM_BYTES);
    *ret_now = super_flat(s, run_end) - *ret_from;
    *ret_grows = run_end >= r->end_frame;
}

/* Room for the run as it is and as it may become; where that cannot be had, for what is wanted. */
static struct rmap *reserve_run(struct store_reader *r, const struct rseg *seg, uint64_t run_end,
                                const struct span *want)
{
    uint64_t from, now, bytes;
    bool grows;
    run_size(r, seg, run_end, &from, &now, &grows);
    if (want->from < from)
        from = want->from;
    uint64_t least = want->to - from > now ? want->to - from : now;
    least = size_up(least, SEG_SEAM_BYTES);
    bytes = least;
    if (grows) {
        bytes = least < RESERVE_MOST / 4 ? least * 4 : RESERVE_MOST;
        bytes = bytes < RESERVE_LEAST ? RESERVE_LEAST : bytes;
        bytes = bytes < least ? least : bytes;
    }
    for (;; bytes = bytes / 2 > least ? size_up(bytes / 2, SEG_SEAM_BYTES) : least) {
        struct rmap *m = reserve(r, seg->super.run_no, from, bytes, true);
        if (m || bytes == least)
            return m ? m : reserve(r, seg->super.run_no, want->from, want->to - want->from, true);
    }
}

static int find_space(struct store_reader *r, const struct rseg *seg, uint64_t run_end,
                      const struct span *want, const struct rmap **ret_map, struct swt_diag *reterr)
{
    for (const struct rmap *m = r->maps; m; m = m->next) {
        if (m->is_run && holds(m, seg, want)) {
            *ret_map = m;
            return 0;
        }
    }
    *ret_map = reserve_run(r, seg, run_end, want);
    if (!*ret_map)
        return err_at(reterr, -ENOMEM, r->path, -1,
                      "no address space for %" PRIu64 " bytes in one piece", want->to - want->from);
    return 0;
}

/* ---- mapping --------------------------------------------------------------------------------------- */

/* Map with the lease. The lock belongs to the open file, which the mapping keeps after the descriptor has been
 * closed. Where locks do not work, the unlinked file still stays readable under the mapping. */
static int map_file(struct store_reader *r, struct rseg *seg, uint8_t *addr, uint64_t bytes,
                    uint64_t off, struct swt_diag *reterr)
{
    struct flock lease = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int fd = rseg_fd(r, seg, reterr);
    if (fd < 0)
        return fd;
    int rc = count_map(r, reterr);
    if (rc < 0)
        return rc;
    (void)fcntl(fd, F_OFD_SETLK, &lease);
    void *at = mmap(addr, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, (off_t)off);
    return at == MAP_FAILED ? err_errno(reterr, errno, r->path, "map segment") : 0;
}

/* Bases come from file names, so they may be anything. */
static uint64_t flat_of_base(const struct super *s, uint64_t base)
{
    uint64_t flat = 0;
    return size_mul(base - s->run_base_frame, s->frame_bytes, &flat) ? flat : UINT64_MAX;
}

/* Up to where segment i is to be mapped: to the 64 KiB boundary above its last byte, but never over what a later one
 * already holds from its seam on. */
static uint64_t map_end(const struct store_reader *r, size_t i, const struct rseg *seg,
                        const struct rmap *m)
{
    const struct super *s = &seg->super;
    uint64_t end = super_flat(s, s->base_frame) + s->data_cap;
    if (i + 1 < r->n && flat_of_base(s, r->bases[i + 1]) < end)
        end = flat_of_base(s, r->bases[i + 1]);
    end = size_up(end, SEG_SEAM_BYTES);
    for (size_t j = i + 1; j < r->n; j++) {
        uint64_t seam = size_down(flat_of_base(s, r->bases[j]), SEG_SEAM_BYTES);
        if (seam >= end)
            break;
        if (r->segs[j] && r->segs[j]->map == m)
            return seam;
    }
    return end;
}

/* Map segment i as far as it belongs into `m`, unless it is there. */
static int map_segment(struct store_reader *r, size_t i, struct rseg *seg, const struct rmap *m,
                       struct swt_diag *reterr)
{
    const struct super *s = &seg->super;
    uint64_t end = map_end(r, i, seg, m), flat = super_flat(s, s->base_frame);
    struct span part = {.from = size_down(flat, SEG_SEAM_BYTES)};
    if (seg->map == m && seg->map_end >= end)
        return 0;
    part.to = end - m->flat < m->bytes ? end : m->flat + m->bytes;
    part.from = part.from > m->flat ? part.from : m->flat;
    if (part.to > part.from) {
        uint64_t off = s->data_off - (flat - part.from);
        if (part.from > flat)
            off = s->data_off + (part.from - flat);
        int rc = map_file(r, seg, m->addr + (part.from - m->flat), part.to - part.from, off,
                          reterr);
        if (rc < 0)
            return rc;
    }
    seg->map = m;
    seg->map_end = end;
    return 0;
}

/* ---- windows --------------------------------------------------------------------------------------- */

/* The file is too short, or the segment has no room for the `n` frames it should have. */
static int refuse_length(struct store_reader *r, struct rseg *seg, uint64_t n, uint64_t room,
                         struct swt_diag *reterr)
{
    const struct super *s = &seg->super;
    uint64_t lost = s->base_frame;
    if (n > room) /* the segment that had them is gone */
        return rseg_corrupt(r, seg->base, -1, (int64_t)(s->base_frame + room), reterr,
                            "frame %" PRIu64
                            " is missing: the segment before it has no room for it",
                            s->base_frame + room);
    if (seg->file_bytes > s->data_off)
        lost += (seg->file_bytes - s->data_off) / s->frame_bytes;
    return rseg_corrupt(r, seg->base, (int64_t)seg->file_bytes, (int64_t)lost, reterr,
                        "segment is cut off: it ends at byte %" PRIu64 ", frame %" PRIu64
                        " and later ones of it are lost",
                        seg->file_bytes, lost);
}

/* Every byte that is given out must be in the file now: what it lost would fault. */
static int check_length(struct store_reader *r, struct rseg *seg, uint64_t end_frame,
                        struct swt_diag *reterr)
{
    const struct super *s = &seg->super;
    uint64_t room = s->data_cap / s->frame_bytes;
    uint64_t n = end_frame > s->base_frame ? end_frame - s->base_frame : 0;
    int rc = n <= room ? rseg_reaches(r, seg, s->data_off + n * s->frame_bytes, reterr) : 0;
    if (rc < 0)
        return rc;
    return rc == 1 ? 0 : refuse_length(r, seg, n, room, reterr);
}

/* Map segment i and those after it that hold frames before `end_frame`, all of one run. */
static int map_window(struct store_reader *r, size_t i, uint64_t end_frame, const struct rmap *m,
                      struct swt_diag *reterr)
{
    for (const size_t begin = i; i < r->n && (i == begin || r->bases[i] < end_frame); i++) {
        struct rseg *seg = NULL;
        int rc = rseg_get(r, i, &seg, reterr);
        if (rc < 0)
            return rc;
        uint64_t next = i + 1 < r->n ? r->bases[i + 1] : UINT64_MAX;
        next = next < end_frame ? next : end_frame;
        rc = rseg_has_frames(r, i, seg, next, reterr);
        if (rc == 0)
            rc = check_length(r, seg, next, reterr);
        if (rc == 0)
            rc = map_segment(r, i, seg, m, reterr);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int refuse_runs(const struct store_reader *r, const struct rseg *seg, uint64_t run_end,
                       struct swt_diag *reterr)
{
    int rc = err_at(reterr, SWT_E_RUNS, r->path, -1,
                    "the format changes at frame %" PRIu64 ": run %" PRIu64
                    " ends there and run %" PRIu64 " begins",
                    run_end, seg->super.run_no, seg->super.run_no + 1);
    err_stream(reterr, r->meta.name);
    err_frame(reterr, (int64_t)run_end);
    return rc;
}

int map_once(struct store_reader *r, uint64_t first, uint64_t n, const uint8_t **ret_data,
             struct swt_diag *reterr)
{
    struct rseg *seg = NULL;
    const struct rmap *m = NULL;
    uint64_t run_end = 0;
    int rc = reader_has(r, first, n, reterr);
    if (rc < 0)
        return rc;
    if (r->n == 0 || r->bases[0] > first)
        return -ESTALE;
    size_t i = rseg_by_base(r, first);
    rc = rseg_get(r, i, &seg, reterr);
    if (rc == 0)
        rc = rseg_run_end(r, seg, &run_end, reterr);
    if (rc < 0)
        return rc;
    if (first + n > run_end)
        return refuse_runs(r, seg, run_end, reterr);
    uint64_t at = super_flat(&seg->super, first);
    struct span want = {size_down(at, SEG_SEAM_BYTES),
                        size_up(super_flat(&seg->super, first + n), SEG_SEAM_BYTES)};
    rc = find_space(r, seg, run_end, &want, &m, reterr);
    if (rc == 0)
        rc = map_window(r, i, first + n, m, reterr);
    if (rc < 0)
        return rc;
    *ret_data = m->addr + (at - m->flat);
    return 0;
}

int store_reader_map(struct store_reader *r, uint64_t first, uint64_t n, const void **ret_data,
                     struct swt_diag *reterr)
{
    if (r->meta.kind != SEG_KIND_TENSOR)
        return err_at(reterr, SWT_E_UNSUPPORTED, r->path, -1, "packets cannot be mapped as frames");
    for (int tries = 0;; tries++) {
        const uint8_t *data = NULL;
        int rc = n > 0 ? map_once(r, first, n, &data, reterr) : reader_has(r, first, 1, reterr);
        if (rc == 0)
            *ret_data = data;
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}

int map_packets_once(struct store_reader *r, struct rseg *seg, const uint8_t **ret_payload,
                     struct swt_diag *reterr)
{
    if (!seg->packets) {
        /* data_off of packets is a multiple of 64 KiB, so of every page size: super_decode */
        uint64_t bytes = size_up(seg->super.data_cap + 1, SEG_SEAM_BYTES);
        struct rmap *m = reserve(r, seg->super.run_no, 0, bytes, false);
        if (!m)
            return err_errno(reterr, ENOMEM, r->path, "map segment");
        int rc = map_file(r, seg, m->addr, bytes, seg->super.data_off, reterr);
        if (rc < 0)
            return rc;
        seg->packets = m->addr;
    }
    *ret_payload = seg->packets;
    return 0;
}
