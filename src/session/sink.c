/* SPDX-License-Identifier: MIT
 *
 * sink.c - one stream of the recording while it is being written, and its account: in = stored + dropped.
 */
#include "session/sink.h"

#include <stdio.h>
#include <string.h>

#include "base/size.h"

void sink_init(struct sink *s, const char *name, enum seg_kind kind)
{
    *s = (struct sink){.kind = kind, .first_ns = INT64_MIN, .end_ns = INT64_MIN};
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)snprintf(s->stats.name, sizeof s->stats.name, "%s", name);
    s->stats.is_packets = kind == SEG_KIND_PACKETS;
    params_init(&s->params);
}

void sink_done(struct sink *s)
{
    store_writer_abandon(&s->writer);
    params_done(&s->params);
    (void)pthread_mutex_destroy(&s->lock);
}

int sink_open(struct sink *s, struct store_dir *dir, const struct swt_record_spec *spec,
              const char *made_from, struct swt_diag *reterr)
{
    struct store_writer_spec w = {.name = s->stats.name,
                                  .kind = s->kind,
                                  .segment_bytes = spec->segment_bytes,
                                  .segment_ns = spec->segment_ns,
                                  .sync_ns = spec->sync_ns < 0 ? INT64_C(1000000000)
                                                               : spec->sync_ns,
                                  .control_dir = spec->control_dir,
                                  .made_from = made_from,
                                  .log = {spec->log, spec->log_arg}};
    int rc = store_writer_open(dir, &w, &s->writer, reterr);
    if (rc < 0) {
        err_stream(reterr, s->stats.name);
        return rc;
    }
    struct store_writer_state state;
    store_writer_state(s->writer, &state);
    s->start_frames = state.frames;
    s->start_end_ns = state.end_ns;
    return 0;
}

int sink_format(struct sink *s, const struct params *params, struct swt_diag *reterr)
{
    int rc = store_writer_format(s->writer, params, reterr);
    if (rc >= 0) {
        params_done(&s->params);
        rc = params_copy(&s->params, params);
    }
    err_stream(rc < 0 ? reterr : NULL, s->stats.name);
    return rc;
}

static int64_t item_end(const struct sink *s, const struct store_item *item, uint64_t n)
{
    int64_t ns = item->duration ? size_ticks_ns(item->duration, s->params.time_base)
                                : size_frames_ns((int64_t)n, s->params.rate);
    return item->time_ns + ns;
}

static void count(struct sink *s, const struct store_item *item, uint64_t in, uint64_t stored,
                  uint64_t bytes)
{
    bool is_shown = !(item->flags & SEG_FLAG_NOPIC);
    struct store_writer_state state;
    store_writer_state(s->writer, &state);
    (void)pthread_mutex_lock(&s->lock);
    s->stats.frames_in += in;
    s->stats.frames_stored += stored;
    s->stats.frames_dropped += in - stored;
    s->stats.bytes += bytes;
    s->stats.frames_visible = state.frames - s->start_frames;
    if (stored && item->flags & (SEG_FLAG_CORRUPT | SEG_FLAG_DAMAGED))
        s->stats.frames_damaged += stored;
    if (stored && item->flags & SEG_FLAG_GAP)
        s->stats.gaps++;
    if (stored && is_shown) {
        int64_t end = item_end(s, item, stored);
        s->first_ns = s->first_ns == INT64_MIN || item->time_ns < s->first_ns ? item->time_ns
                                                                              : s->first_ns;
        s->end_ns = end > s->end_ns ? end : s->end_ns;
        s->stats.duration_ns = s->end_ns - s->first_ns;
    }
    (void)pthread_mutex_unlock(&s->lock);
    s->dropped = stored ? (uint32_t)(in - stored) : s->dropped + (uint32_t)in;
}

int sink_packet(struct sink *s, const struct store_item *item, const struct media_packet *p,
                struct swt_diag *reterr)
{
    struct iovec pieces[1 + 2 * MEDIA_MAX_SIDE] = {{(void *)(uintptr_t)p->data, p->n_data}};
    struct seg_side heads[MEDIA_MAX_SIDE];
    int n_pieces = 1;
    size_t n_side = 0;
    for (int i = 0; i < p->n_side; i++) {
        le32_set(&heads[i].kind, p->side[i].kind);
        le32_set(&heads[i].n_bytes, p->side[i].n_bytes);
        pieces[n_pieces++] = (struct iovec){&heads[i], sizeof heads[i]};
        pieces[n_pieces++] = (struct iovec){(void *)(uintptr_t)p->side[i].data, p->side[i].n_bytes};
        n_side += sizeof heads[i] + p->side[i].n_bytes;
    }
    struct store_item it = *item;
    it.dropped_before += s->dropped;
    int rc = store_writer_packet(s->writer, &it, pieces, n_pieces, n_side, reterr);
    count(s, &it, 1, rc >= 0, rc >= 0 ? p->n_data + n_side : 0);
    err_stream(rc < 0 ? reterr : NULL, s->stats.name);
    return rc;
}

int sink_frames(struct sink *s, const struct store_item *item, const void *data, uint64_t n,
                struct swt_diag *reterr)
{
    struct store_item it = *item;
    uint64_t stored = 0;
    it.dropped_before += s->dropped;
    int rc = store_writer_frames(s->writer, &it, data, n, &stored, reterr);
    count(s, &it, n, stored, stored * s->params.frame_bytes);
    err_stream(rc < 0 ? reterr : NULL, s->stats.name);
    return rc;
}

void sink_drop(struct sink *s, uint64_t n)
{
    s->dropped += (uint32_t)n;
    (void)pthread_mutex_lock(&s->lock);
    s->stats.frames_in += n;
    s->stats.frames_dropped += n;
    (void)pthread_mutex_unlock(&s->lock);
}

void sink_stats(struct sink *s, struct swt_record_stream *ret)
{
    (void)pthread_mutex_lock(&s->lock);
    *ret = s->stats;
    (void)pthread_mutex_unlock(&s->lock);
}

int sink_close(struct sink *s, bool keep, struct swt_diag *reterr)
{
    if (!s->writer)
        return 0;
    int rc = store_writer_flush(s->writer, reterr);
    if (rc >= 0 && keep)
        rc = store_writer_keep_format(s->writer, reterr);
    struct store_writer_state state;
    store_writer_state(s->writer, &state);
    int closed = store_writer_close(&s->writer, rc < 0 ? NULL : reterr);
    (void)pthread_mutex_lock(&s->lock);
    uint64_t shown = state.frames - s->start_frames;
    s->stats.frames_visible = shown > s->stats.frames_visible ? shown : s->stats.frames_visible;
    (void)pthread_mutex_unlock(&s->lock);
    err_stream(rc < 0 || closed < 0 ? reterr : NULL, s->stats.name);
    return rc < 0 ? rc : closed;
}
