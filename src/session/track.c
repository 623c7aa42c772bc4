/* SPDX-License-Identifier: MIT
 *
 * track.c - one stream of an input on its way into the recording: placing in time and decoding. What is kept of
 * packets, pictures and sound is in track_keep.c, track_picture.c and track_sound.c.
 */
#include "session/track.h"

#include <errno.h>
#include <stdlib.h>

#include "base/size.h"

#define MAX_DURATION_NS INT64_C(3600000000000) /* of one packet */

int track_init(struct track *t, const struct swt_record_spec *spec,
               const struct media_stream *stream, int index, struct timeline *line,
               struct limits *limits)
{
    *t = (struct track){.spec = spec,
                        .stream = stream,
                        .log = {spec->log, spec->log_arg},
                        .index = index,
                        .is_video = strcmp(stream->params.media, "video") == 0,
                        .line = line,
                        .limits = limits,
                        .last_ns = INT64_MIN};
    int64_t step = t->is_video ? size_frames_ns(1, stream->params.rate) : 0;
    timeline_stream_init(&t->place, line, stream->params.time_base, step);
    params_init(&t->out);
    return 0;
}

void track_done(struct track *t)
{
    hold_done(&t->hold);
    if (t->decoder)
        t->decoder_ops->close(&t->decoder);
    if (t->resampler)
        t->resampler_ops->close(&t->resampler);
    converter_free(&t->converter);
    free(t->picture);
    params_done(&t->out);
}

static int open_decoder(struct track *t, struct swt_diag *reterr)
{
    int rc = t->decoder_ops ? 0 : media_decoders(&t->decoder_ops, reterr);
    if (rc >= 0 && !t->decoder)
        rc = t->decoder_ops->open(&t->stream->params, 0, &t->log, &t->decoder, reterr);
    return rc;
}

/* Take all that the decoder has ready. A picture or block that cannot be decoded was counted when its packet came
 * in; here it becomes a drop. */
static int take_frames(struct track *t, struct swt_diag *reterr)
{
    for (;;) {
        struct media_frame f;
        int rc = t->decoder_ops->receive(t->decoder, &f, reterr);
        if (rc == SWT_E_CORRUPT) {
            sink_drop(t->tensor, 1);
            continue;
        }
        if (rc <= 0)
            return rc == SWT_E_END ? 0 : rc;
        rc = t->is_video ? track_picture(t, &f, reterr) : track_sound(t, &f, reterr);
        if (rc < 0)
            return rc;
    }
}

static int decode(struct track *t, const struct media_packet *p, const struct store_item *item,
                  struct swt_diag *reterr)
{
    int rc = open_decoder(t, reterr);
    if (rc < 0)
        return rc;
    struct media_packet q = *p;
    t->capture_ns = p->capture_ns;
    if (t->is_video) {
        if (t->n_sent == 0)
            t->key_ns = item->time_ns;
        t->flight[t->n_sent % TRACK_IN_FLIGHT] = (struct in_flight){
            item->time_ns, item->src_pts, item->capture_ns, item->flags, item->duration};
        q.pts = q.dts = t->n_sent++;
    }
    while ((rc = t->decoder_ops->send(t->decoder, &q, reterr)) == -EAGAIN) {
        rc = take_frames(t, reterr);
        if (rc < 0)
            return rc;
    }
    if (rc == SWT_E_CORRUPT)
        sink_drop(t->tensor, 1);
    else if (rc < 0)
        return rc;
    return take_frames(t, reterr);
}

/* Decode time against the time shown, in ticks; INT32_MIN where nobody knows and pictures may be out of order. */
static int32_t dts_delta(const struct track *t, const struct media_packet *p, int64_t pts)
{
    if (p->dts == MEDIA_NO_PTS || pts == MEDIA_NO_PTS)
        return t->is_video && t->stream->params.has_b_frames ? INT32_MIN : 0;
    int64_t delta = p->dts - pts;
    return delta > INT32_MIN && delta < INT32_MAX ? (int32_t)delta : 0;
}

/* Ticks; what no packet can last is taken for unknown. */
static uint32_t duration(const struct track *t, const struct media_packet *p)
{
    bool is_sane = p->duration > 0 && p->duration < UINT32_MAX &&
                   size_ticks_ns(p->duration, t->stream->params.time_base) < MAX_DURATION_NS;
    return is_sane ? (uint32_t)p->duration : 0;
}

static void place(struct track *t, const struct media_packet *p, struct store_item *ret_item,
                  int64_t *ret_dts_ns)
{
    bool jumped;
    const struct swt_ratio base = t->stream->params.time_base;
    int64_t time_ns = timeline_place(t->line, &t->place, p->pts, p->dts, &jumped);
    int64_t pts = p->pts != MEDIA_NO_PTS ? p->pts : p->dts;
    bool is_shown = !(p->flags & MEDIA_PACKET_DISCARD);
    *ret_item = (struct store_item){
        .time_ns = time_ns,
        .src_pts = pts,
        .dts_delta = dts_delta(t, p, pts),
        .duration = duration(t, p),
        .capture_ns = p->capture_ns,
        .flags = (p->flags & MEDIA_PACKET_KEY ? SEG_FLAG_KEY : 0u) |
                 (jumped ? SEG_FLAG_DISCONT : 0u) |
                 (p->flags & MEDIA_PACKET_CORRUPT ? SEG_FLAG_CORRUPT : 0u) |
                 (is_shown || !t->is_video ? 0u : SEG_FLAG_NOPIC)};
    *ret_dts_ns = ret_item->dts_delta == INT32_MIN
                      ? INT64_MIN
                      : time_ns + size_ticks_ns(ret_item->dts_delta, base);
    int64_t length = ret_item->duration ? size_ticks_ns(ret_item->duration, base)
                                        : t->place.step_ns;
    if (is_shown)
        timeline_reached(t->line, time_ns + length);
}

int track_packet(struct track *t, const struct media_packet *p, struct swt_diag *reterr)
{
    struct store_item item;
    int64_t dts_ns;
    if (t->is_done)
        return 0;
    t->has_key = t->has_key || !t->is_video || (p->flags & MEDIA_PACKET_KEY);
    place(t, p, &item, &dts_ns);
    int rc = 0;
    if (t->tensor && t->has_key)
        rc = decode(t, p, &item, reterr);
    if (rc >= 0 && t->packets)
        rc = track_keep(t, &item, p, dts_ns, reterr);
    bool is_past = dts_ns >= atomic_load(&t->limits->end_ns);
    t->is_done = is_past || ((!t->tensor || t->tensor_done) && (!t->packets || t->packets_done));
    return rc;
}

static int drain(struct track *t, struct swt_diag *reterr)
{
    struct media_packet end = {.pts = MEDIA_NO_PTS, .dts = MEDIA_NO_PTS};
    int rc;
    if (!t->decoder)
        return 0;
    while ((rc = t->decoder_ops->send(t->decoder, &end, reterr)) == -EAGAIN) {
        rc = take_frames(t, reterr);
        if (rc < 0)
            return rc;
    }
    return rc < 0 && rc != SWT_E_END ? rc : take_frames(t, reterr);
}

int track_changed(struct track *t, struct swt_diag *reterr)
{
    int rc = drain(t, reterr);
    if (t->decoder)
        t->decoder_ops->close(&t->decoder);
    if (rc >= 0 && t->packets)
        rc = track_keep_end(t, reterr);
    t->has_packet_format = false;
    return rc;
}

int track_end(struct track *t, struct swt_diag *reterr)
{
    int rc = drain(t, reterr);
    if (rc >= 0 && t->tensor)
        rc = t->is_video ? track_picture_end(t, reterr) : track_sound_end(t, reterr);
    if (rc >= 0 && t->packets)
        rc = track_keep_end(t, reterr);
    return rc;
}
