/* SPDX-License-Identifier: MIT
 *
 * track_keep.c - packets kept as they came: which of them show a picture is settled by hold.c, then they go to the
 * sink in order.
 */
#include "session/track.h"

#include "base/size.h"

static int begin(struct track *t, struct swt_diag *reterr)
{
    if (t->has_packet_format)
        return 0;
    int rc = sink_format(t->packets, &t->stream->params, reterr);
    if (rc >= 0 && !t->hold.queue)
        rc = hold_init(&t->hold, t->frames_limit);
    t->has_packet_format = rc >= 0;
    return rc;
}

static int pass(struct track *t, const struct store_item *item, const struct media_packet *p,
                struct swt_diag *reterr)
{
    struct store_item it = *item;
    if (t->gap_before && !(it.flags & SEG_FLAG_NOPIC)) {
        it.flags |= SEG_FLAG_GAP;
        t->gap_before = false;
    }
    return sink_packet(t->packets, &it, p, reterr);
}

static int pass_queue(struct track *t, struct swt_diag *reterr)
{
    int rc = 0;
    for (int i = 0; i < t->hold.n && rc >= 0; i++)
        rc = pass(t, &t->hold.queue[i].item, &t->hold.queue[i].packet, reterr);
    hold_clear(&t->hold);
    return rc;
}

/* All wanted pictures are in: the other streams end where the last of them ends. */
static void close_limit(struct track *t, uint32_t duration)
{
    if (!t->hold.is_full)
        return;
    int64_t length = duration ? size_ticks_ns(duration, t->stream->params.time_base)
                              : t->place.step_ns;
    int64_t end = t->hold.last_ns + (length > 0 ? length : 1);
    if (end < atomic_load(&t->limits->end_ns))
        atomic_store(&t->limits->end_ns, end);
    t->packets_done = true;
}

int track_keep(struct track *t, const struct store_item *item, const struct media_packet *p,
               int64_t dts_ns, struct swt_diag *reterr)
{
    struct store_item it = *item;
    int rc = begin(t, reterr);
    if (rc < 0 || t->packets_done)
        return rc;
    int64_t end_ns = atomic_load(&t->limits->end_ns);
    if (t->is_video && it.time_ns >= end_ns)
        it.flags |= SEG_FLAG_NOPIC;
    if (dts_ns >= end_ns || (!t->is_video && it.time_ns >= end_ns))
        return 0;
    if (!t->is_video || !hold_wants(&t->hold)) {
        rc = pass(t, &it, p, reterr);
        hold_passed(&t->hold, &it);
        return rc;
    }
    rc = hold_push(&t->hold, &it, p);
    if (rc < 0)
        return err_set(reterr, rc, "cannot hold packets back");
    if (!hold_is_ready(&t->hold, &t->stream->params, dts_ns, &t->log))
        return 0;
    rc = pass_queue(t, reterr);
    close_limit(t, it.duration);
    return rc;
}

int track_keep_end(struct track *t, struct swt_diag *reterr)
{
    int rc = begin(t, reterr);
    if (rc < 0 || !hold_is_ready(&t->hold, &t->stream->params, INT64_MAX, &t->log))
        return rc;
    return pass_queue(t, reterr);
}
