/* SPDX-License-Identifier: MIT
 *
 * avsource.c - a source read by FFmpeg: the streams that it has and the packets that it gives, in the order of
 * the input. How an input is opened stands in avopen.c.
 */
#include <libavcodec/bsf.h>
#include <libavutil/imgutils.h>
#include <libavutil/intreadwrite.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "media/demux/avsource.h"

#define MAX_ERRORS 64 /* in a row, before an input is given up */

static struct av_source *av_source(struct media_source *s)
{
    return (struct av_source *)s;
}

static void stream_done(struct av_stream *t)
{
    av_bsf_free(&t->bsf);
    demux_order_free(&t->order);
    demux_parse_close(&t->parse);
}

static void av_free_source(struct media_source *base)
{
    struct av_source *s = av_source(base);
    if (s->is_open)
        avformat_close_input(&s->ctx);
    avformat_free_context(s->ctx); /* one that never was opened has nothing to close */
    demux_bytes_close(&s->bytes);
    for (int i = 0; i < s->n_av; i++)
        stream_done(&s->av[i]);
    free(s->av);
    av_packet_free(&s->packet);
    av_buffer_pool_uninit(&s->unwrapped);
}

static void av_choose(struct media_source *base, const uint8_t *keep)
{
    struct av_source *s = av_source(base);
    for (int i = 0; i < s->n_av; i++) {
        struct av_stream *t = &s->av[i];
        t->is_kept = t->idx >= 0 && keep[t->idx];
        s->ctx->streams[i]->discard = t->is_kept ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    }
}

/* ---- the end ------------------------------------------------------------------------------------- */

static void set_end(struct av_source *s, int code, const char *text)
{
    s->base.end_code = code;
    av_copy_text(s->base.end_text, sizeof s->base.end_text, text);
    for (int i = 0; i < s->n_av; i++)
        if (s->av[i].order)
            demux_order_drain(s->av[i].order);
}

static void end_by_error(struct av_source *s, int averror)
{
    char text[200], buf[128];
    snprintf(text, sizeof text, "reading failed: %s", av_why(averror, buf, sizeof buf));
    set_end(s, SWT_E_LOST, text);
}

static void end_by_wait(struct av_source *s)
{
    char text[256];
    snprintf(text, sizeof text, "'%.180s' went silent for %.3g s", s->base.input.text,
             (double)s->base.wait.timeout_ns / 1e9);
    if (s->base.wait.why == DEMUX_TIMED_OUT)
        set_end(s, SWT_E_TIMEOUT, text);
    else
        set_end(s, SWT_E_STOPPED, "stopped");
}

static void end_of_input(struct av_source *s)
{
    const AVIOContext *pb = s->ctx->pb;
    bool is_short = s->bytes && demux_ends_early(s->bytes, s->base.info.format);
    if (pb && pb->error < 0 && pb->error != AVERROR_EOF)
        end_by_error(s, pb->error);
    else if (is_short)
        set_end(s, SWT_E_LOST, "the input ends early");
    else if (s->is_damaged)
        set_end(s, SWT_E_LOST, "parts of the input are damaged");
    else
        set_end(s, SWT_E_END, "");
}

/* After a failed read: 0 to try on, for an input is not given up at its first bad place. */
static bool is_worth_trying(struct av_source *s, int averror)
{
    bool is_bad_data = averror == AVERROR_INVALIDDATA || averror == AVERROR_PATCHWELCOME;
    if (!is_bad_data || s->n_errors >= MAX_ERRORS)
        return false;
    s->n_errors++;
    s->is_damaged = true;
    return true;
}

/* ---- packets ------------------------------------------------------------------------------------- */

static int read_frame(struct av_source *s, AVPacket *packet)
{
    for (;;) {
        int rc = demux_wait_check(&s->base.wait);
        if (rc >= 0)
            rc = av_read_frame(s->ctx, packet);
        if (rc >= 0)
            s->n_errors = 0;
        if (rc != AVERROR(EAGAIN))
            return rc;
        nanosleep(&(struct timespec){0, 1000000}, NULL); /* a device that was asked not to block */
    }
}

/* FFmpeg 6 and later give filtered pictures by reference; a packet of ours is the bytes themselves. */
static int unwrap(struct av_source *s, AVPacket *packet)
{
    const AVFrame *f = (const void *)packet->data;
    if ((size_t)packet->size < sizeof *f)
        return AVERROR_INVALIDDATA;
    int n = av_image_get_buffer_size((enum AVPixelFormat)f->format, f->width, f->height, 1);
    if (n <= 0)
        return AVERROR_INVALIDDATA;
    if (n != s->unwrapped_bytes) {
        av_buffer_pool_uninit(&s->unwrapped);
        s->unwrapped = av_buffer_pool_init((size_t)n + AV_INPUT_BUFFER_PADDING_SIZE,
                                           av_buffer_allocz);
        s->unwrapped_bytes = n;
    }
    AVBufferRef *flat = s->unwrapped ? av_buffer_pool_get(s->unwrapped) : NULL;
    if (!flat)
        return AVERROR(ENOMEM);
    av_image_copy_to_buffer(flat->data, n, (const uint8_t *const *)f->data, f->linesize,
                            (enum AVPixelFormat)f->format, f->width, f->height, 1);
    av_buffer_unref(&packet->buf);
    packet->buf = flat;
    packet->data = flat->data;
    packet->size = n;
    return 0;
}

/* The next packet as the input has it, or as the stream's filter makes it. 0 or an AVERROR. */
static int next_raw(struct av_source *s, AVPacket *packet)
{
    for (;;) {
        AVBSFContext *bsf = s->filtering;
        int rc = bsf ? av_bsf_receive_packet(bsf, packet) : AVERROR(EAGAIN);
        if (rc >= 0)
            return 0;
        s->is_damaged = s->is_damaged || (rc != AVERROR(EAGAIN) && rc != AVERROR_EOF);
        s->filtering = NULL;
        rc = read_frame(s, packet);
        if (rc < 0)
            return rc;
        struct av_stream *t = packet->stream_index < s->n_av ? &s->av[packet->stream_index] : NULL;
        bool is_empty = packet->size == 0 && packet->side_data_elems == 0; /* "as before", in AVI */
        if (!t || !t->is_kept || is_empty) {
            av_packet_unref(packet);
            continue;
        }
        if (t->is_wrapped)
            return unwrap(s, packet);
        if (!t->bsf)
            return 0;
        if (av_bsf_send_packet(t->bsf, packet) < 0)
            s->is_damaged = true;
        av_packet_unref(packet); /* taken, or of no use */
        s->filtering = t->bsf;
    }
}

/* Containers that give no presentation times: raw streams, and those that know of decode order only. Where times
 * are missing for a while (a broadcast joined in the middle) they are not invented. */
static bool is_timeless(const struct av_source *s, const AVPacket *first)
{
    bool is_none_seen = s->ctx->streams[first->stream_index]->start_time == AV_NOPTS_VALUE;
    return first->pts == AV_NOPTS_VALUE && !s->base.info.is_live &&
           (is_none_seen || first->dts != AV_NOPTS_VALUE);
}

/* A stream whose first packet has no presentation time gets times made for all. */
static int begin_stream(struct av_source *s, struct av_stream *t, const AVPacket *packet)
{
    AVStream *st = s->ctx->streams[packet->stream_index];
    const AVCodecParameters *par = t->bsf ? t->bsf->par_out : st->codecpar;
    bool is_coded_video = par->codec_type == AVMEDIA_TYPE_VIDEO &&
                          !s->base.streams[t->idx].is_attached;
    t->is_begun = true;
    if (!is_coded_video)
        return 0;
    if (!s->base.streams[t->idx].is_raw && demux_parse_open(par, &t->parse) < 0)
        return AVERROR(ENOMEM);
    if (!is_timeless(s, packet))
        return 0;
    return demux_order_new(par, st->time_base, av_guess_frame_rate(s->ctx, st, NULL), &t->order) < 0
               ? AVERROR(ENOMEM)
               : 0;
}

/* Set-up bytes that came with a packet, and a size that its key picture declares, are news of the stream. */
static bool is_changed(struct av_source *s, struct av_stream *t, const AVPacket *packet)
{
    struct params *p = &s->base.streams[t->idx].params;
    bool is_new = false;
    size_t n = 0;
    const uint8_t *extra = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &n);
    if (extra && n > 0 && (n != p->n_extra || memcmp(extra, p->extra, n) != 0))
        is_new = demux_set_extra(p, extra, n) == 0;
    const AVCodecParserContext *parser = t->parse.parser;
    if (!(packet->flags & AV_PKT_FLAG_KEY) || !parser || parser->width <= 0 || parser->height <= 0)
        return is_new;
    if (parser->width != p->width || parser->height != p->height) {
        p->width = parser->width;
        p->height = parser->height;
        is_new = true;
    }
    return is_new;
}

/* Packets of streams with made times come out of their queues, all others at once. */
static int next_packet(struct av_source *s, AVPacket *packet, int64_t *ret_capture_ns)
{
    for (;;) {
        for (int i = 0; i < s->n_av; i++)
            if (s->av[i].order && demux_order_pop(s->av[i].order, packet, ret_capture_ns))
                return 0;
        if (s->base.end_code)
            return AVERROR_EOF;
        int rc = next_raw(s, packet);
        if (rc < 0)
            return rc;
        *ret_capture_ns = clock_boot_ns();
        struct av_stream *t = &s->av[packet->stream_index];
        if (!t->is_begun && (rc = begin_stream(s, t, packet)) < 0)
            return rc;
        if (t->order || packet->flags & AV_PKT_FLAG_KEY)
            demux_parse_packet(&t->parse, packet);
        if (!t->order)
            return 0;
        if (demux_order_push(t->order, packet, &t->parse, *ret_capture_ns) < 0)
            return AVERROR(ENOMEM);
    }
}

/* FFmpeg's side data in our layouts: the same bytes but for the id of a block addition. */
static void take_side(AVPacket *packet, struct media_packet *ret)
{
    static const struct {
        enum AVPacketSideDataType type;
        enum media_side_kind kind;
    } rows[] = {{AV_PKT_DATA_SKIP_SAMPLES, MEDIA_SIDE_SKIP_SAMPLES},
                {AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL, MEDIA_SIDE_BLOCK_ADDITIONAL},
                {AV_PKT_DATA_NEW_EXTRADATA, MEDIA_SIDE_NEW_EXTRADATA},
                {AV_PKT_DATA_PALETTE, MEDIA_SIDE_PALETTE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && ret->n_side < MEDIA_MAX_SIDE; i++) {
        size_t n = 0;
        uint8_t *data = av_packet_get_side_data(packet, rows[i].type, &n);
        if (!data || n > INT32_MAX || (rows[i].kind == MEDIA_SIDE_BLOCK_ADDITIONAL && n < 8))
            continue;
        if (rows[i].kind == MEDIA_SIDE_BLOCK_ADDITIONAL)
            AV_WL64(data, AV_RB64(data));
        ret->side[ret->n_side++] = (struct media_side){(uint32_t)rows[i].kind, (uint32_t)n, data};
    }
}

/* FFmpeg flags PCM when it got less than it asked for: at its end, which is not damage. */
static uint32_t take_flags(int flags, bool is_pcm)
{
    if (is_pcm)
        flags &= ~AV_PKT_FLAG_CORRUPT;
    return (flags & AV_PKT_FLAG_KEY ? MEDIA_PACKET_KEY : 0u) |
           (flags & AV_PKT_FLAG_DISCARD ? MEDIA_PACKET_DISCARD : 0u) |
           (flags & AV_PKT_FLAG_CORRUPT ? MEDIA_PACKET_CORRUPT : 0u);
}

static int give(struct av_source *s, int64_t capture_ns, struct media_packet *ret_packet,
                int *ret_changed)
{
    AVPacket *packet = s->packet;
    struct av_stream *t = &s->av[packet->stream_index];
    if (is_changed(s, t, packet))
        *ret_changed = t->idx;
    const struct media_stream *m = &s->base.streams[t->idx];
    struct media_packet out = {
        .stream = t->idx,
        .data = packet->data,
        .n_data = (size_t)packet->size,
        .pts = packet->pts,
        .dts = packet->dts,
        .duration = packet->duration > 0 ? packet->duration : 0,
        .flags = take_flags(packet->flags, m->is_raw && strcmp(m->params.media, "audio") == 0),
        .capture_ns = capture_ns,
    };
    /* A stream that shows pictures in the order in which they come. */
    if (out.pts == AV_NOPTS_VALUE && !m->params.has_b_frames)
        out.pts = out.dts;
    take_side(packet, &out);
    *ret_packet = out;
    return 0;
}

static int av_read(struct media_source *base, struct media_packet *ret_packet, int *ret_changed,
                   struct swt_diag *reterr)
{
    struct av_source *s = av_source(base);
    for (;;) {
        int64_t capture_ns;
        av_packet_unref(s->packet);
        int rc = next_packet(s, s->packet, &capture_ns);
        if (rc >= 0)
            return give(s, capture_ns, ret_packet, ret_changed);
        if (base->end_code)
            return demux_end(base, reterr);
        if (base->wait.why != DEMUX_GO_ON)
            end_by_wait(s);
        else if (rc == AVERROR_EOF)
            end_of_input(s);
        else if (!is_worth_trying(s, rc))
            end_by_error(s, rc);
    }
}

static const struct demux_kind kind = {av_read, av_choose, av_free_source};

struct media_source *demux_av_new(void)
{
    struct av_source *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->base.kind = &kind;
    s->base.input.fd = -1;
    return &s->base;
}
