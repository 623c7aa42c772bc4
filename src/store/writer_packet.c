/* SPDX-License-Identifier: MIT
 *
 * writer_packet.c - appending packets: where a segment may end, which pictures have become visible, and
 * times that the frames' order must not contradict.
 */
#include <assert.h>
#include <errno.h>

#include "base/crc.h"
#include "store/writer_impl.h"

#define MAX_PIECES 31 /* of one packet; one more is ours */

struct packet {
    struct entry e;
    struct iovec pieces[MAX_PIECES + 1];
    int n_pieces;
    le32 n_side; /* the payload's last 4 bytes, where there is side data */
};

static int gather(const struct iovec *pieces, int n_pieces, size_t n_side, struct packet *p)
{
    uint64_t len = 0;
    if (n_pieces < 0 || n_pieces > MAX_PIECES || n_side > UINT32_MAX)
        return -E2BIG;
    for (int i = 0; i < n_pieces; i++)
        p->pieces[i] = pieces[i];
    p->n_pieces = n_pieces;
    if (n_side > 0) {
        le32_set(&p->n_side, (uint32_t)n_side);
        p->pieces[p->n_pieces++] = (struct iovec){&p->n_side, sizeof p->n_side};
    }
    uint32_t crc = 0;
    for (int i = 0; i < p->n_pieces; i++) {
        if (!size_add(len, p->pieces[i].iov_len, &len) || len > UINT32_MAX)
            return -EMSGSIZE;
        crc = crc32c(crc, p->pieces[i].iov_base, p->pieces[i].iov_len);
    }
    p->e.len = (uint32_t)len;
    p->e.crc_payload = crc;
    return 0;
}

static void describe(const struct store_item *item, size_t n_side, struct entry *e)
{
    const uint32_t own = SEG_FLAG_SIDE | SEG_FLAG_CONTINUES | SEG_FLAG_FRESH;
    e->flags = (item->flags & ~own) | (n_side > 0 ? SEG_FLAG_SIDE : 0u);
    e->time_ns = item->time_ns;
    e->src_pts = item->src_pts;
    e->dts_delta = item->dts_delta;
    e->duration = item->duration;
    e->capture_ns = item->capture_ns;
    e->dropped_before = item->dropped_before;
}

static bool shows_picture(const struct entry *e)
{
    return (e->flags & SEG_FLAG_NOPIC) == 0;
}

static bool is_key(const struct entry *e)
{
    return (e->flags & SEG_FLAG_KEY) != 0 && shows_picture(e);
}

/* Frame numbers never change, so a picture cannot come before a visible one. */
static void mend_time(const struct store_writer *w, struct entry *e)
{
    const int64_t most = SEG_TIME_MAX_NS;
    if (e->time_ns > most)
        e->time_ns = most;
    if (e->time_ns < -most)
        e->time_ns = -most;
    if (shows_picture(e) && e->time_ns <= w->reorder.shown_ns) {
        e->time_ns = w->reorder.shown_ns +
                     1; /* far from overflow: times are within SEG_TIME_MAX_NS */
        e->flags |= SEG_FLAG_DISCONT;
    }
}

/* ---- where segments end -------------------------------------------------------------------------- */

/* Is the segment over `times` times its limits once this packet is in it? */
static bool is_over(const struct store_writer *w, const struct entry *e, uint64_t times)
{
    const struct segfile_extent *x = &w->cur->scan.extent;
    if (x->entries == 0)
        return false;
    if (w->cur->tail_bytes + e->len > times * w->segment_bytes)
        return true;
    return w->segment_ns > 0 && x->first_ns != INT64_MIN &&
           (e->time_ns - x->first_ns) / (int64_t)times >= w->segment_ns;
}

static bool needs_segment(const struct store_writer *w, const struct entry *e)
{
    const struct segw *s = w->cur;
    if (s == NULL || w->must_rotate || s->super.run_no != w->run.no)
        return true;
    uint64_t n = s->scan.extent.entries;
    if (e->len > s->super.data_cap - s->tail_bytes || n == s->super.index_cap)
        return true;
    return (is_key(e) && (is_over(w, e, 1) || n >= s->super.index_cap / 2)) || is_over(w, e, 2);
}

static int make_room(struct store_writer *w, const struct entry *e, struct swt_diag *reterr)
{
    if (needs_segment(w, e)) {
        uint64_t want = 2 * w->segment_bytes; /* to wait for a key in */
        int r = writer_begin_segment(w, want > e->len ? want : e->len, reterr);
        if (r < 0)
            return r;
    }
    return writer_reserve(w, 1, e->len, e->len);
}

/* ---- appending ----------------------------------------------------------------------------------- */

/* Decode time of a packet on the recording's line; unknown proves nothing about what may still come. */
static int64_t decode_ns(const struct store_writer *w, const struct entry *e)
{
    if (e->dts_delta == INT32_MIN)
        return INT64_MIN;
    return w->run.clock.base.num > 0
               ? entry_ns_add(e->time_ns, size_ticks_ns(e->dts_delta, w->run.clock.base))
               : e->time_ns;
}

/* Times were each rounded to ns, so that two of the same tick may lie 1 ns apart; ticks are farther apart
 * than this. */
static int64_t slack_ns(const struct store_writer *w)
{
    int64_t tick_ns = w->run.clock.base.num > 0 ? size_ticks_ns(1, w->run.clock.base) : 0;
    return tick_ns >= 8 ? 2 : 0;
}

static int append(struct store_writer *w, struct packet *p)
{
    struct segw *s = w->cur;
    p->e.pos = s->tail_bytes;
    p->e.pics_before = (uint32_t)s->scan.extent.frames; /* at most index_cap */
    if (w->is_fresh)
        p->e.flags |= SEG_FLAG_FRESH;
    if (s->scan.extent.entries == 0 && !is_key(&p->e))
        p->e.flags |= SEG_FLAG_CONTINUES;
    struct batch b;
    batch_begin(w, &b);
    batch_add(w, &b, &p->e);
    struct reorder next = w->reorder;
    if (shows_picture(&p->e))
        reorder_put(&next, p->e.time_ns);
    uint64_t n_shown = reorder_take(&next, decode_ns(w, &p->e), slack_ns(w));
    int r = writer_publish(w, p->pieces, p->n_pieces, p->e.len, &b, w->visible + n_shown);
    if (r == 0)
        w->reorder = next;
    return r;
}

static int append_locked(struct store_writer *w, struct packet *p, struct swt_diag *reterr)
{
    mend_time(w, &p->e);
    int r = make_room(w, &p->e, reterr);
    return r < 0 ? r : append(w, p);
}

int store_writer_packet(struct store_writer *w, const struct store_item *item,
                        const struct iovec *pieces, int n_pieces, size_t n_side,
                        struct swt_diag *reterr)
{
    assert(w->kind == SEG_KIND_PACKETS && w->run.block != NULL);
    struct packet p = {.n_pieces = 0};
    int r = gather(pieces, n_pieces, n_side, &p);
    if (r < 0)
        return writer_fail(w, r, "cannot store a packet of that size", reterr);
    describe(item, n_side, &p.e);
    (void)pthread_mutex_lock(&w->lock);
    r = append_locked(w, &p, reterr);
    (void)pthread_mutex_unlock(&w->lock);
    if (r < 0)
        return writer_fail(w, r, "cannot write to the stream", reterr);
    if (w->sync_ns == 0)
        writer_sync(w);
    return 0;
}
