/* SPDX-License-Identifier: MIT
 *
 * reader_frame.c - what the index says of a frame: its entry, its time, its run and the run's format. How far
 * the stream reaches is reader.c's.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "store/reader.h"

#define ANCHORS_OLD_NS INT64_C(30000000000) /* a live writer adds one each minute */

int reader_has(const struct store_reader *r, uint64_t first, uint64_t n, struct swt_diag *reterr)
{
    int rc = 0;
    if (first < r->first_frame)
        rc = err_at(reterr, SWT_E_NO_WINDOW, r->path, -1,
                    "frame %" PRIu64 " is not kept any more: the oldest is %" PRIu64, first,
                    r->first_frame);
    else if (first >= r->end_frame || n > r->end_frame - first)
        rc = err_at(reterr, SWT_E_NO_WINDOW, r->path, -1,
                    "frame %" PRIu64 " is not there yet: the stream ends before frame %" PRIu64,
                    first >= r->end_frame ? first : r->end_frame, r->end_frame);
    if (rc < 0)
        err_stream(reterr, r->meta.name);
    return rc;
}

int reader_params_once(struct store_reader *r, struct rseg *seg, const struct params **ret_params,
                       struct swt_diag *reterr)
{
    for (size_t i = r->n_runs; i-- > 0;) {
        if (r->runs[i].run_no == seg->super.run_no) {
            *ret_params = r->runs[i].params;
            return 0;
        }
    }
    int fd = rseg_fd(r, seg, reterr);
    if (fd < 0)
        return fd;
    struct rrun *runs = reallocarray(r->runs, r->n_runs + 1, sizeof *runs);
    struct params *p = runs ? malloc(sizeof *p) : NULL;
    r->runs = runs ? runs : r->runs;
    if (!p)
        return err_errno(reterr, ENOMEM, r->path, "read params block");
    params_init(p);
    struct segfile f = {.fd = fd, .base = seg->base, .super = seg->super};
    int rc = segfile_params(&f, p, reterr);
    if (rc < 0) {
        params_done(p);
        free(p);
        err_stream(reterr, r->meta.name);
        return rc;
    }
    r->runs[r->n_runs++] = (struct rrun){seg->super.run_no, p};
    *ret_params = p;
    return 0;
}

static bool entry_covers(const struct entry *e, uint64_t frame)
{
    return e->pos <= frame && frame - e->pos < e->len;
}

static int take_hit(struct store_reader *r, struct rseg *seg, uint64_t k, const struct entry *e)
{
    r->hit.seg = seg;
    r->hit.k = k;
    r->hit.entry = *e;
    return 1;
}

/* Search for the entry that covers the frame: 1 it is r->hit, 0 none, then `ret_k` is the last that begins before
 * it (`n`: none), -errno. Damaged ones are stepped over, so that they hide nothing but themselves. */
static int search_entry(struct store_reader *r, size_t i, struct rseg *seg, uint64_t n,
                        uint64_t frame, uint64_t *ret_k)
{
    uint64_t lo = 0, hi = n, end = i + 1 < r->n ? r->bases[i + 1] : r->end_frame;
    int64_t pos_lo = (int64_t)seg->super.base_frame, pos_hi = (int64_t)end;
    *ret_k = n;
    for (unsigned round = 0; lo < hi; round++) {
        uint64_t at = rseg_guess(lo, hi, pos_lo, pos_hi, (int64_t)frame, round), k = at;
        struct entry e;
        int rc = 0;
        while (k < hi && (rc = rseg_entry(r, seg, k, &e)) == 0)
            k++;
        if (rc < 0)
            return rc;
        if (k < hi && entry_covers(&e, frame))
            return take_hit(r, seg, k, &e);
        if (k < hi && e.pos <= frame) {
            *ret_k = k;
            lo = k + 1;
            pos_lo = (int64_t)(e.pos + e.len);
        } else {
            pos_hi = k < hi ? (int64_t)e.pos : pos_hi;
            hi = at;
        }
    }
    return 0;
}

/* Leaves the entry that covers the frame in r->hit. */
static int find_entry(struct store_reader *r, size_t i, struct rseg *seg, uint64_t frame,
                      struct swt_diag *reterr)
{
    uint64_t n = 0, k = 0;
    struct entry e;
    if (r->hit.seg == seg && entry_covers(&r->hit.entry, frame))
        return 0;
    int rc = rseg_entries(r, i, seg, &n);
    if (rc < 0)
        return rc;
    if (r->hit.seg == seg && r->hit.k + 1 < n) { /* frames mostly come in order */
        rc = rseg_entry(r, seg, r->hit.k + 1, &e);
        rc = rc == 1 && entry_covers(&e, frame) ? take_hit(r, seg, r->hit.k + 1, &e)
             : rc < 0                           ? rc
                                                : 0;
    }
    if (rc == 0)
        rc = search_entry(r, i, seg, n, frame, &k);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    return rseg_lost_entry(r, i, k < n ? k + 1 : 0, (int64_t)frame, reterr);
}

static int tensor_frame_once(struct store_reader *r, uint64_t frame, struct store_frame *ret,
                             size_t *ret_i, struct swt_diag *reterr)
{
    struct rseg *seg = NULL;
    size_t i = rseg_by_base(r, frame);
    int rc = rseg_get(r, i, &seg, reterr);
    if (rc == 0)
        rc = find_entry(r, i, seg, frame, reterr);
    if (rc < 0)
        return rc;
    ret->entry = r->hit.entry;
    ret->entry_no = seg->super.base_entry + r->hit.k;
    ret->time_ns = ret->entry.time_ns;
    *ret_i = i;
    uint64_t at = frame - ret->entry.pos;
    if (at == 0)
        return 0;
    const struct params *p = NULL;
    rc = reader_params_once(r, seg, &p, reterr);
    if (rc < 0)
        return rc;
    struct entry_clock clock = entry_clock_of(p);
    ret->time_ns = entry_frame_ns(&ret->entry, at, &clock);
    return 0;
}

/* Segments of packets are numbered by entries, which are never fewer than frames. */
static bool is_listed(const struct store_reader *r, uint64_t frame)
{
    return r->n > 0 && (r->bases[0] <= frame || r->meta.kind == SEG_KIND_PACKETS);
}

int reader_frame_once(struct store_reader *r, uint64_t frame, struct store_frame *ret,
                      size_t *ret_i, struct swt_diag *reterr)
{
    struct store_frame f = {.frame = frame, .wall_ns = INT64_MIN};
    int rc = reader_has(r, frame, 1, reterr);
    if (rc < 0)
        return rc;
    if (!is_listed(r, frame))
        return -ESTALE;
    if (r->meta.kind == SEG_KIND_TENSOR) {
        rc = tensor_frame_once(r, frame, &f, ret_i, reterr);
    } else {
        rc = packet_of_frame_once(r, frame, &f.entry_no, reterr);
        if (rc == 0)
            rc = packet_entry_once(r, f.entry_no, &f.entry, ret_i, reterr);
        f.time_ns = f.entry.time_ns;
    }
    if (rc < 0)
        return rc;
    const struct super *s = &r->segs[*ret_i]->super;
    segfile_payload(s, &f.entry, &f.offset, &f.entry_bytes);
    f.segment_base = r->segs[*ret_i]->base;
    f.run_no = s->run_no;
    f.run_base_frame = s->run_base_frame;
    *ret = f;
    return 0;
}

int reader_anchors(struct store_reader *r)
{
    int64_t now = clock_boot_ns();
    bool is_read = r->anchors_boot_ns != INT64_MIN;
    if (is_read && !(r->is_live && now - r->anchors_boot_ns > ANCHORS_OLD_NS))
        return 0;
    struct anchor *anchors = NULL;
    size_t n = 0;
    int rc = dir_anchors_read(r->stream_fd, &anchors, &n);
    if (rc < 0)
        return rc;
    r->anchors_boot_ns = now;
    free(r->anchors);
    r->anchors = anchors;
    r->n_anchors = n;
    return 0;
}

/* Without anchors there is no wall time, and that is all. */
static int64_t wall_of(struct store_reader *r, const struct super *s, int64_t capture_ns)
{
    (void)reader_anchors(r);
    return dir_wall_ns(r->anchors, r->n_anchors, s->boot_id, capture_ns);
}

int store_reader_frame(struct store_reader *r, uint64_t frame, struct store_frame *ret,
                       struct swt_diag *reterr)
{
    struct store_frame f;
    for (int tries = 0;; tries++) {
        size_t i = 0;
        int rc = reader_frame_once(r, frame, &f, &i, reterr);
        if (rc == 0)
            rc = rseg_run_end(r, r->segs[i], &f.run_end_frame, reterr);
        if (rc == 0) {
            f.wall_ns = wall_of(r, &r->segs[i]->super, f.entry.capture_ns);
            *ret = f;
            return 0;
        }
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}

/* Segment that a frame lies in. */
static int segment_of(struct store_reader *r, uint64_t frame, size_t *ret_i, struct rseg **ret_seg,
                      struct swt_diag *reterr)
{
    struct store_frame f;
    int rc = reader_has(r, frame, 1, reterr);
    if (rc == 0 && r->meta.kind != SEG_KIND_TENSOR)
        rc = reader_frame_once(r, frame, &f, ret_i, reterr);
    else if (rc == 0 && is_listed(r, frame))
        *ret_i = rseg_by_base(r, frame);
    else if (rc == 0)
        rc = -ESTALE;
    return rc < 0 ? rc : rseg_get(r, *ret_i, ret_seg, reterr);
}

static int run_once(struct store_reader *r, uint64_t frame, struct store_run *ret,
                    struct swt_diag *reterr)
{
    struct rseg *seg = NULL;
    size_t i = 0;
    uint64_t end = 0;
    int rc = segment_of(r, frame, &i, &seg, reterr);
    if (rc == 0)
        rc = rseg_run_end(r, seg, &end, reterr);
    if (rc == 0)
        *ret = (struct store_run){seg->super.run_no, seg->super.run_base_frame, end};
    return rc;
}

int store_reader_run(struct store_reader *r, uint64_t frame, struct store_run *ret,
                     struct swt_diag *reterr)
{
    for (int tries = 0;; tries++) {
        int rc = run_once(r, frame, ret, reterr);
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}

/* At the end of the stream: the format of what follows. */
static int params_once(struct store_reader *r, uint64_t frame, const struct params **ret_params,
                       struct swt_diag *reterr)
{
    struct rseg *seg = NULL;
    size_t i = 0;
    int rc = frame == r->end_frame && r->n > 0 ? rseg_get(r, r->n - 1, &seg, reterr)
                                               : segment_of(r, frame, &i, &seg, reterr);
    return rc < 0 ? rc : reader_params_once(r, seg, ret_params, reterr);
}

int store_reader_params(struct store_reader *r, uint64_t frame, const struct params **ret_params,
                        struct swt_diag *reterr)
{
    for (int tries = 0;; tries++) {
        int rc = params_once(r, frame, ret_params, reterr);
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}
