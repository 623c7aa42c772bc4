/* SPDX-License-Identifier: MIT
 *
 * reader_time.c - from times to frames, where gaps are, and the sums over a stream. Everything is found by
 * bisection over frame numbers, so that it costs the same for an hour and for a month.
 */
#include <stdlib.h>

#include "store/reader.h"

#define STEP_BACK_NS \
    INT64_C(1000000000)   /* a wall clock set back by less goes on in the same pass */
#define DAMAGE_STEPS 4096 /* frames looked at beside a damaged one */

/* ---- bisection ------------------------------------------------------------------------------------- */

/* Is the frame past what is looked for? Monotone over the stretch that is searched. */
typedef bool is_past_fn(struct store_reader *r, const struct store_frame *f, const struct super *s,
                        const void *arg);

/* `frame`, or where its entry is damaged the next good one before `hi`: 1, 0 if there is none, or an error. */
static int readable(struct store_reader *r, uint64_t *frame, uint64_t hi, struct store_frame *ret,
                    size_t *ret_i, struct swt_diag *reterr)
{
    int rc = 0;
    for (uint64_t at = *frame; at < hi && at - *frame < DAMAGE_STEPS; at++) {
        rc = reader_frame_once(r, at, ret, ret_i, reterr);
        if (rc == SWT_E_CORRUPT)
            continue;
        *frame = at;
        return rc < 0 ? rc : 1;
    }
    return hi - *frame > DAMAGE_STEPS ? rc : 0;
}

/* Judge `frame` or the next good one. Damaged up to `hi` counts as past. 0, or an error. */
static int judge(struct store_reader *r, uint64_t *frame, uint64_t hi, is_past_fn *is_past,
                 const void *arg, bool *ret_past, struct swt_diag *reterr)
{
    struct store_frame f;
    size_t i = 0;
    int rc = readable(r, frame, hi, &f, &i, reterr);
    *ret_past = rc == 0 || (rc == 1 && is_past(r, &f, &r->segs[i]->super, arg));
    return rc < 0 ? rc : 0;
}

/* First frame of lo .. hi - 1 that is past; hi if none. */
static int bisect(struct store_reader *r, uint64_t lo, uint64_t hi, is_past_fn *is_past,
                  const void *arg, uint64_t *ret_frame, struct swt_diag *reterr)
{
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2, at = mid;
        bool past = false;
        int rc = judge(r, &at, hi, is_past, arg, &past, reterr);
        if (rc < 0)
            return rc;
        if (!past)
            lo = at + 1;
        else
            hi =
                mid; /* also when only a frame after `mid` could be judged: damaged ones count as past */
    }
    *ret_frame = lo;
    return 0;
}

/* ---- media time ------------------------------------------------------------------------------------ */

/* End of the entry that a frame belongs to. */
static int end_of(struct store_reader *r, const struct store_frame *f, struct rseg *seg,
                  int64_t *ret_ns, struct swt_diag *reterr)
{
    const struct params *p = NULL;
    int rc = reader_params_once(r, seg, &p, reterr);
    if (rc < 0)
        return rc;
    struct entry_clock clock = entry_clock_of(p);
    uint64_t n = r->meta.kind == SEG_KIND_TENSOR ? f->entry.len : 1;
    *ret_ns = entry_ns_add(f->entry.time_ns, entry_duration_ns(&f->entry, n, &clock));
    return 0;
}

/* Of a stream that has frames. Unknown, with SWT_E_CORRUPT, where the entry is damaged. */
static int first_time(struct store_reader *r, struct store_times *t, struct swt_diag *reterr)
{
    struct store_frame f;
    size_t i = 0;
    int rc = reader_frame_once(r, r->first_frame, &f, &i, reterr);
    t->first_ns = rc == 0 ? f.time_ns : INT64_MIN;
    return rc;
}

static int last_times(struct store_reader *r, struct store_times *t, struct swt_diag *reterr)
{
    struct store_frame f;
    size_t i = 0;
    t->last_ns = t->end_ns = INT64_MIN;
    int rc = reader_frame_once(r, r->end_frame - 1, &f, &i, reterr);
    if (rc < 0)
        return rc;
    t->last_ns = f.time_ns;
    return end_of(r, &f, r->segs[i], &t->end_ns, reterr);
}

/* Fills `ret` as far as the times are known, also on SWT_E_CORRUPT: the last entry is damaged. */
static int times_once(struct store_reader *r, struct store_times *ret, struct swt_diag *reterr)
{
    int rc = first_time(r, ret, reterr);
    if (rc == 0 || rc == SWT_E_CORRUPT)
        rc = last_times(r, ret, reterr);
    return rc;
}

int store_reader_times(struct store_reader *r, struct store_times *ret, struct swt_diag *reterr)
{
    for (int tries = 0;; tries++) {
        struct store_times t = {0};
        int rc = r->end_frame > r->first_frame ? times_once(r, &t, reterr) : 0;
        if (rc == 0)
            *ret = t;
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}

/* First of frames lo .. hi - 1 whose time is not before `ns`. Frames mostly come evenly: where that holds, two
 * looks are enough. */
static int search_time(struct store_reader *r, const struct store_times *t, int64_t ns,
                       uint64_t *ret_frame, struct swt_diag *reterr)
{
    uint64_t lo = r->first_frame, hi = r->end_frame;
    int64_t ns_lo = t->first_ns, ns_hi = t->end_ns; /* of frames lo - 1 and hi, nearly */
    for (unsigned round = 0; lo < hi; round++) {
        struct store_frame f;
        size_t i = 0;
        uint64_t before = lo > r->first_frame ? lo - 1 : lo;
        uint64_t at = rseg_guess(before, hi, ns_lo, ns_hi, ns, round);
        at = at < lo ? lo : at;
        uint64_t good = at;
        int rc = readable(r, &good, hi, &f, &i, reterr);
        if (rc < 0)
            return rc;
        if (rc == 1 && f.time_ns < ns) {
            lo = good + 1;
            ns_lo = f.time_ns;
        } else {
            hi =
                at; /* also when only a frame after it could be read, or none: damaged ones count as past */
            ns_hi = rc == 1 ? f.time_ns : ns_hi;
        }
    }
    *ret_frame = lo;
    return 0;
}

static int find_time_once(struct store_reader *r, int64_t ns, uint64_t *ret_frame,
                          struct swt_diag *reterr)
{
    struct store_times t = {0};
    *ret_frame = r->end_frame;
    if (r->first_frame == r->end_frame)
        return 0;
    int rc = times_once(r, &t, reterr);
    return rc < 0 && rc != SWT_E_CORRUPT ? rc : search_time(r, &t, ns, ret_frame, reterr);
}

int store_reader_find_time(struct store_reader *r, int64_t ns, uint64_t *ret_frame,
                           struct swt_diag *reterr)
{
    for (int tries = 0;; tries++) {
        int rc = find_time_once(r, ns, ret_frame, reterr);
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}

/* ---- wall time ------------------------------------------------------------------------------------- */

/* A stretch of the stream in which wall time only rises: one boot, no step back of the clock. */
struct pass {
    size_t boot;     /* ordinal of the boot among the anchors */
    int64_t from_ns; /* capture time at which it begins; INT64_MIN: with the boot */
};

struct passes {
    const struct anchor *anchors;
    size_t n_anchors;
    struct pass *v;
    size_t n;
};

static bool is_same_boot(const uint8_t a[16], const uint8_t b[16])
{
    return memcmp(a, b, 16) == 0;
}

static void passes_done(struct passes *p)
{
    free(p->v);
    p->v = NULL;
}

/* Anchors are in file order: boot after boot, and within one by time. */
static int passes_make(struct store_reader *r, struct passes *ret)
{
    ret->anchors = r->anchors;
    ret->n_anchors = r->n_anchors;
    ret->v = calloc(r->n_anchors + 1, sizeof *ret->v);
    if (!ret->v)
        return -ENOMEM;
    ret->n = 1;
    ret->v[0] = (struct pass){0, INT64_MIN};
    for (size_t i = 1; i < r->n_anchors; i++) {
        const struct anchor *a = &r->anchors[i - 1], *b = &r->anchors[i];
        size_t boot = ret->v[ret->n - 1].boot;
        if (!is_same_boot(a->boot_id, b->boot_id))
            ret->v[ret->n++] = (struct pass){boot + 1, INT64_MIN};
        else if ((b->wall_ns - b->boot_ns) - (a->wall_ns - a->boot_ns) < -STEP_BACK_NS)
            ret->v[ret->n++] = (struct pass){boot, a->boot_ns + (b->boot_ns - a->boot_ns) / 2};
    }
    return 0;
}

/* Ordinal of a boot; the last one if no anchor knows it. */
static size_t boot_ordinal(const struct passes *p, const uint8_t boot_id[16])
{
    size_t boot = 0;
    for (size_t i = 0; i < p->n_anchors && p->v[p->n - 1].boot > 0; i++) {
        boot += i > 0 && !is_same_boot(p->anchors[i - 1].boot_id, p->anchors[i].boot_id);
        if (is_same_boot(p->anchors[i].boot_id, boot_id))
            return boot;
    }
    return boot;
}

struct pass_query {
    const struct passes *passes;
    const struct pass *pass;
};

static bool is_in_pass(struct store_reader *r, const struct store_frame *f, const struct super *s,
                       const void *arg)
{
    (void)r;
    const struct pass_query *q = arg;
    size_t boot = boot_ordinal(q->passes, s->boot_id);
    return boot != q->pass->boot ? boot > q->pass->boot : f->entry.capture_ns >= q->pass->from_ns;
}

static bool wall_is_past(struct store_reader *r, const struct store_frame *f, const struct super *s,
                         const void *arg)
{
    const int64_t *ns = arg;
    return dir_wall_ns(r->anchors, r->n_anchors, s->boot_id, f->entry.capture_ns) >= *ns;
}

/* Is the frame's wall time before `ns`? 1, 0, or an error. */
static int wall_is_before(struct store_reader *r, uint64_t frame, int64_t ns,
                          struct swt_diag *reterr)
{
    bool past = false;
    int rc = judge(r, &frame, frame + 1, wall_is_past, &ns, &past, reterr);
    return rc < 0 ? rc : !past;
}

/* From the last pass back to the first: the last place where wall time rises over `ns`. */
static int find_wall_once(struct store_reader *r, int64_t ns, uint64_t *ret_frame,
                          struct swt_diag *reterr)
{
    AUTO(passes_done) struct passes passes = {0};
    uint64_t end = r->end_frame;
    int rc = reader_anchors(r);
    if (rc == 0)
        rc = passes_make(r, &passes);
    if (rc < 0)
        return err_errno(reterr, -rc, r->path, "read wall clock");
    *ret_frame = r->end_frame;
    for (size_t p = passes.n; p-- > 0;) {
        struct pass_query q = {&passes, &passes.v[p]};
        uint64_t begin = r->first_frame, at = 0;
        if (p > 0)
            rc = bisect(r, r->first_frame, end, is_in_pass, &q, &begin, reterr);
        if (rc == 0)
            rc = bisect(r, begin, end, wall_is_past, &ns, &at, reterr);
        if (rc < 0)
            return rc;
        if (at < end && (at > begin || begin == r->first_frame)) {
            *ret_frame = at;
            return 0;
        }
        if (at < end) {
            rc = wall_is_before(r, begin - 1, ns, reterr);
            if (rc == 1)
                *ret_frame = at;
            if (rc != 0)
                return rc < 0 ? rc : 0;
        }
        end = begin;
    }
    return 0;
}

int store_reader_find_wall(struct store_reader *r, int64_t ns, uint64_t *ret_frame,
                           struct swt_diag *reterr)
{
    for (int tries = 0;; tries++) {
        int rc = find_wall_once(r, ns, ret_frame, reterr);
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}

/* ---- gaps ------------------------------------------------------------------------------------------ */

static uint64_t number_gaps(const struct super *s)
{
    return s->past_gaps;
}

/* Skip segments without a gap: superblocks count those of all segments before. */
static int skip_quiet(struct store_reader *r, uint64_t *frame, struct swt_diag *reterr)
{
    size_t i = rseg_by_base(r, *frame), last = i;
    struct rseg *seg = NULL;
    if (rseg_get(r, i, &seg, NULL) < 0 || i + 1 == r->n)
        return 0;
    int rc = rseg_by_number(r, number_gaps, seg->super.past_gaps, &last, reterr);
    if (rc == 0 && last > i) /* the gaps of `last` itself are counted by its successor only */
        *frame = r->bases[last];
    return rc;
}

static int find_gap_tensor(struct store_reader *r, uint64_t after, uint64_t before,
                           uint64_t *ret_frame, struct swt_diag *reterr)
{
    struct store_frame f;
    size_t i = 0, seen = SIZE_MAX;
    for (uint64_t at = after + 1; at <= before;) {
        if (rseg_by_base(r, at) != seen) {
            int rc = skip_quiet(r, &at, reterr);
            if (rc < 0)
                return rc;
            seen = rseg_by_base(r, at);
            if (at > before)
                return 0;
        }
        int rc = reader_frame_once(r, at, &f, &i, reterr);
        if (rc < 0)
            return rc;
        if (f.entry.flags & SEG_FLAG_GAP && f.entry.pos > after) {
            *ret_frame = f.entry.pos;
            return 1;
        }
        at = f.entry.pos + f.entry.len;
    }
    return 0;
}

static int find_gap_packets(struct store_reader *r, uint64_t after, uint64_t before,
                            uint64_t *ret_frame, struct swt_diag *reterr)
{
    struct store_frame f;
    size_t i = 0;
    for (uint64_t at = after + 1; at <= before; at++) {
        int rc = reader_frame_once(r, at, &f, &i, reterr);
        if (rc < 0)
            return rc;
        if (f.entry.flags & SEG_FLAG_GAP) {
            *ret_frame = at;
            return 1;
        }
    }
    return 0;
}

int store_reader_find_gap(struct store_reader *r, uint64_t after, uint64_t before,
                          uint64_t *ret_frame, struct swt_diag *reterr)
{
    for (int tries = 0;; tries++) {
        uint64_t from = after + 1 > r->first_frame ? after : r->first_frame - 1;
        uint64_t to = before < r->end_frame ? before : r->end_frame - 1;
        int rc = 0;
        if (r->end_frame > r->first_frame && from < to)
            rc = r->meta.kind == SEG_KIND_PACKETS ? find_gap_packets(r, from, to, ret_frame, reterr)
                                                  : find_gap_tensor(r, from, to, ret_frame, reterr);
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}

/* ---- sums ------------------------------------------------------------------------------------------ */

/* Go on summing the newest segment where the last call stopped. */
static int sum_newest(struct store_reader *r, struct rseg *seg, struct swt_diag *reterr)
{
    const struct params *p = NULL;
    struct entry_clock clock = {{0, 1}, {0, 1}};
    uint64_t n = 0;
    if (r->totals_seg != seg) {
        if (reader_params_once(r, seg, &p, NULL) == 0) /* without it only durations are unknown */
            clock = entry_clock_of(p);
        segscan_begin(&seg->super, &clock, &r->totals);
        r->totals_seg = seg;
        r->totals_next = 0;
    }
    int rc = rseg_entries(r, r->n - 1, seg, &n);
    for (; rc >= 0 && r->totals_next < n; r->totals_next++) {
        struct entry e;
        rc = rseg_entry(r, seg, r->totals_next, &e);
        if (rc == 1)
            segscan_add(&r->totals, &e);
    }
    return rc >= 0 || rc == -ESTALE ? rc : err_errno(reterr, -rc, r->path, "read index");
}

static int totals_once(struct store_reader *r, struct store_totals *ret, struct swt_diag *reterr)
{
    struct store_totals t = {.times = {INT64_MIN, INT64_MIN, INT64_MIN}};
    struct rseg *seg = NULL;
    if (r->n > 0) {
        int rc = rseg_get(r, r->n - 1, &seg, reterr);
        if (rc == 0)
            rc = sum_newest(r, seg, reterr);
        if (rc < 0)
            return rc;
        if (r->end_frame > r->first_frame)
            rc = times_once(r, &t.times, reterr);
        if (rc < 0 && rc != SWT_E_CORRUPT)
            return rc;
        t.runs = seg->super.run_no + 1;
        t.sessions = seg->super.session_no + 1;
        t.gaps = seg->super.past_gaps + r->totals.extent.gaps;
        t.disconts = seg->super.past_disconts + r->totals.extent.disconts;
        t.dropped = seg->super.past_dropped + r->totals.extent.dropped;
        t.damaged = seg->super.past_damaged + r->totals.extent.damaged;
    }
    *ret = t;
    return 0;
}

int store_reader_totals(struct store_reader *r, struct store_totals *ret, struct swt_diag *reterr)
{
    for (int tries = 0;; tries++) {
        int rc = totals_once(r, ret, reterr);
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}
