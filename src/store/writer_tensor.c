/* SPDX-License-Identifier: MIT
 *
 * writer_tensor.c - appending frames of one size: how many go into this segment, which entries cover them,
 * and small ones that wait for company.
 */
#include <assert.h>
#include <errno.h>

#include "base/clock.h"
#include "base/crc.h"
#include "store/writer_impl.h"

/* What of an item's flags is said of its first frame only, and what is not the caller's to say. */
#define FIRST_FLAGS ((uint32_t)(SEG_FLAG_GAP | SEG_FLAG_DISCONT))
#define OWN_FLAGS   ((uint32_t)(SEG_FLAG_SIDE | SEG_FLAG_CONTINUES | SEG_FLAG_FRESH | SEG_FLAG_NOPIC))

/* One call of store_writer_frames. */
struct call {
    struct store_item item;
    const uint8_t *data;
    uint64_t n, done; /* frames */
};

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Frames that one entry covers. */
static uint64_t entry_frames(const struct store_writer *w)
{
    uint64_t bytes = w->run.frame_bytes;
    return bytes >= WRITER_GROUP_BYTES ? 1 : (WRITER_GROUP_BYTES + bytes - 1) / bytes;
}

/* ---- groups -------------------------------------------------------------------------------------- */

/* Time of the frame that would be the group's next one. */
static int64_t group_end_ns(const struct store_writer *w)
{
    const struct entry *e = &w->group.e;
    int64_t length = w->run.clock.rate.num > 0 ? size_frames_ns(e->len, w->run.clock.rate)
                                               : entry_duration_ns(e, e->len, &w->run.clock);
    return entry_ns_add(e->time_ns, length);
}

static bool group_goes_on(const struct store_writer *w, const struct store_item *item)
{
    int64_t off = entry_ns_add(item->time_ns, -group_end_ns(w));
    return (item->flags & FIRST_FLAGS) == 0 && item->dropped_before == 0 &&
           (item->flags & ~OWN_FLAGS) == (w->group.e.flags & ~FIRST_FLAGS) && off >= -1 && off <= 1;
}

int writer_flush_group(struct store_writer *w)
{
    if (w->group.e.len == 0)
        return 0;
    struct batch b;
    batch_begin(w, &b);
    batch_add(w, &b, &w->group.e);
    int r = writer_publish(w, NULL, 0, 0, &b, w->frames + w->group.e.len);
    if (r == 0)
        w->group.e.len = 0;
    return r;
}

/* Ticks of the first `k` frames of a call. */
static uint32_t call_ticks(const struct call *c, uint64_t k)
{
    return (uint32_t)size_scale_down(c->item.duration, (int64_t)k,
                                     (int64_t)c->n); /* k <= n: fits */
}

static void group_begin(const struct store_writer *w, const struct call *c, uint64_t k,
                        uint64_t pos, struct group *g)
{
    const struct store_item *item = &c->item;
    g->e = (struct entry){
        .pos = pos,
        .flags = item->flags & ~OWN_FLAGS,
        .time_ns = entry_ns_add(item->time_ns, size_frames_ns((int64_t)k, w->run.clock.rate)),
        .src_pts = item->src_pts == INT64_MIN ? INT64_MIN
                                              : entry_ns_add(item->src_pts, call_ticks(c, k)),
        .dts_delta = item->dts_delta,
        .capture_ns = item->capture_ns,
        .dropped_before = k == 0 ? item->dropped_before : 0,
    };
    if (k > 0)
        g->e.flags &= ~FIRST_FLAGS;
}

/* Frames k .. k + n - 1 of the call join the group. */
static void group_add(const struct store_writer *w, const struct call *c, uint64_t k, uint64_t n,
                      struct group *g)
{
    uint64_t frame_bytes = w->run.frame_bytes;
    uint32_t ticks = call_ticks(c, k + n) - call_ticks(c, k);
    g->e.len += (uint32_t)n;
    if (__builtin_add_overflow(g->e.duration, ticks, &g->e.duration))
        g->e.duration = UINT32_MAX;
    g->e.crc_payload = crc32c(g->e.crc_payload, c->data + k * frame_bytes,
                              (size_t)(n * frame_bytes));
}

/* ---- room ---------------------------------------------------------------------------------------- */

static int64_t call_time_ns(const struct store_writer *w, const struct call *c)
{
    return entry_ns_add(c->item.time_ns, size_frames_ns((int64_t)c->done, w->run.clock.rate));
}

/* Frames that the index of the segment has entries for. */
static uint64_t index_room(const struct store_writer *w)
{
    const struct segw *s = w->cur;
    return (s->super.index_cap - s->scan.extent.entries) * entry_frames(w) - w->group.e.len;
}

static uint64_t data_room(const struct store_writer *w)
{
    return (w->cur->super.data_cap - w->cur->tail_bytes) / w->run.frame_bytes;
}

/* Frames of the call before the segment's time is over. */
static uint64_t time_room(const struct store_writer *w, const struct call *c)
{
    int64_t first_ns = w->cur->scan.extent.first_ns;
    if (first_ns == INT64_MIN)
        first_ns = w->group.e.len > 0 ? w->group.e.time_ns : call_time_ns(w, c);
    if (w->segment_ns <= 0)
        return UINT64_MAX;
    int64_t left_ns = entry_ns_add(entry_ns_add(first_ns, w->segment_ns), -call_time_ns(w, c));
    if (left_ns <= 0)
        return 0;
    struct swt_ratio rate = w->run.clock.rate;
    return rate.num > 0 ? (uint64_t)size_scale_up(left_ns, rate.num, rate.den * INT64_C(1000000000))
                        : UINT64_MAX;
}

static bool needs_segment(const struct store_writer *w, const struct call *c)
{
    return w->cur == NULL || w->must_rotate || w->cur->super.run_no != w->run.no ||
           index_room(w) == 0 || data_room(w) == 0 || time_room(w, c) == 0;
}

/* A segment with room for one frame at least; how many of the call it takes now. */
static int make_room(struct store_writer *w, const struct call *c, uint64_t *ret_n,
                     struct swt_diag *reterr)
{
    int r = 0;
    if (w->group.e.len > 0 &&
        ((c->done == 0 && !group_goes_on(w, &c->item)) || needs_segment(w, c)))
        r = writer_flush_group(w);
    if (r == 0 && needs_segment(w, c))
        r = writer_begin_segment(w, w->segment_bytes, reterr);
    if (r < 0)
        return r;
    uint64_t frame_bytes = w->run.frame_bytes, each = entry_frames(w);
    uint64_t n = min_u64(min_u64(c->n - c->done, time_room(w, c)),
                         min_u64(index_room(w), data_room(w)));
    n = min_u64(n, WRITER_BATCH * each - w->group.e.len);
    r = writer_reserve(w, (w->group.e.len + n + each - 1) / each, n * frame_bytes, frame_bytes);
    *ret_n = min_u64(n, segw_room(w->cur) / frame_bytes);
    return r;
}

/* ---- appending ----------------------------------------------------------------------------------- */

static int append(struct store_writer *w, struct call *c, uint64_t n)
{
    struct batch b;
    struct group g = w->group;
    uint64_t each = entry_frames(w), pos = w->frames + g.e.len, end = c->done + n;
    bool is_new = false;
    batch_begin(w, &b);
    for (uint64_t k = c->done; k < end;) {
        if (g.e.len == 0) {
            group_begin(w, c, k, pos + (k - c->done), &g);
            is_new = true;
        }
        uint64_t take = min_u64(each - g.e.len, end - k);
        group_add(w, c, k, take, &g);
        k += take;
        if (g.e.len == each) {
            batch_add(w, &b, &g.e);
            g.e.len = 0;
        }
    }
    uint64_t frame_bytes = w->run.frame_bytes;
    /* pwritev only reads from it */
    struct iovec piece = {(void *)(c->data + c->done * frame_bytes), (size_t)(n * frame_bytes)};
    int r = writer_publish(w, &piece, 1, n * frame_bytes, &b, pos + n - g.e.len);
    if (r < 0)
        return r;
    if (g.e.len > 0 && is_new) {
        g.started_ns = clock_mono_ns();
        helper_wake_by(w, g.started_ns + WRITER_GROUP_NS);
    }
    w->group = g;
    c->done = end;
    return 0;
}

/* Time does not go back within a stream: what does is moved behind the last frame. */
static void mend_time(const struct store_writer *w, struct store_item *item)
{
    const int64_t most = SEG_TIME_MAX_NS;
    int64_t last_ns = w->last_ns;
    if (w->group.e.len > 0)
        last_ns = entry_frame_ns(&w->group.e, w->group.e.len - 1, &w->run.clock);
    if (item->time_ns < last_ns) {
        item->time_ns = entry_ns_add(last_ns, size_frames_ns(1, w->run.clock.rate));
        item->flags |= SEG_FLAG_DISCONT;
    }
    if (item->time_ns > most)
        item->time_ns = most;
    if (item->time_ns < -most)
        item->time_ns = -most;
}

static int append_all(struct store_writer *w, struct call *c, struct swt_diag *reterr)
{
    mend_time(w, &c->item);
    while (c->done < c->n) {
        uint64_t n = 0;
        int r = make_room(w, c, &n, reterr);
        if (r == 0)
            r = append(w, c, n);
        if (r < 0)
            return r;
    }
    bool is_due = w->group.e.len > 0 && clock_mono_ns() - w->group.started_ns >= WRITER_GROUP_NS;
    return is_due || w->sync_ns == 0 ? writer_flush_group(w) : 0;
}

int store_writer_frames(struct store_writer *w, const struct store_item *item, const void *data,
                        uint64_t n, uint64_t *ret_stored, struct swt_diag *reterr)
{
    assert(w->kind != SEG_KIND_PACKETS && w->run.block != NULL);
    struct call c = {.item = *item, .data = data, .n = n};
    (void)pthread_mutex_lock(&w->lock);
    int r = append_all(w, &c, reterr);
    (void)pthread_mutex_unlock(&w->lock);
    *ret_stored = c.done;
    if (w->sync_ns == 0 && c.done > 0)
        writer_sync(w);
    return r < 0 ? writer_fail(w, r, "cannot write to the stream", reterr) : 0;
}
