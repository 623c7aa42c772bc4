/* SPDX-License-Identifier: MIT
 *
 * decoder.c - packets in, pictures and sound out: the decoder table of swt-codec.so. Knows nothing of where
 * packets come from.
 */
#include <libavutil/intreadwrite.h>
#include <stdlib.h>

#include "media/codec/codec.h"

struct media_decoder {
    struct log_to log; /* in front: the context's `opaque` points here */
    AVCodecContext *ctx;
    AVPacket *packet;
    AVFrame *frame;
    struct codec_buffer buffer; /* what `frame` is turned into where swt wants it otherwise */
    char codec[SWT_FORMAT_CAP];
};

static void decoder_close(struct media_decoder **decoder)
{
    struct media_decoder *d = *decoder;
    if (!d)
        return;
    AUTO(av_log_end) struct av_log_scope scope = codec_log_begin(&d->log);
    (void)scope;
    avcodec_free_context(&d->ctx);
    av_packet_free(&d->packet);
    av_frame_free(&d->frame);
    free(d->buffer.data);
    free(d);
    *decoder = NULL;
}

static int open_failed(const struct media_decoder *d, int averror, struct swt_diag *reterr)
{
    char buf[128];
    if (averror == AVERROR(ENOMEM))
        return err_errno(reterr, ENOMEM, NULL, "decoder");
    int code = averror == AVERROR_INVALIDDATA || averror == AVERROR(EINVAL) ? SWT_E_CORRUPT
                                                                            : SWT_E_NO_DECODER;
    return err_set(reterr, code, "decoder '%s' does not open: %s", d->codec,
                   av_why(averror, buf, sizeof buf));
}

static int decoder_open(const struct params *params, int threads, const struct log_to *log,
                        struct media_decoder **ret_decoder, struct swt_diag *reterr)
{
    AUTO(decoder_close) struct media_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return err_errno(reterr, ENOMEM, NULL, "decoder");
    if (log)
        d->log = *log;
    av_copy_text(d->codec, sizeof d->codec, params->codec);
    AUTO(av_log_end) struct av_log_scope scope = codec_log_begin(&d->log);
    (void)scope;
    d->packet = av_packet_alloc();
    d->frame = av_frame_alloc();
    if (!d->packet || !d->frame)
        return err_errno(reterr, ENOMEM, NULL, "decoder");
    const AVCodec *codec;
    int rc = codec_context_new(params, &d->ctx, &codec, reterr);
    if (rc < 0)
        return rc;
    d->ctx->opaque = &d->log;
    d->ctx->thread_count = threads < 0 ? 1 : threads;
    rc = avcodec_open2(d->ctx, codec, NULL);
    if (rc < 0)
        return open_failed(d, rc, reterr);
    *ret_decoder = d;
    d = NULL;
    return 0;
}

/* Our side data as FFmpeg's: the same bytes but for the id of a block addition, which is big-endian there. */
static int add_side(AVPacket *packet, const struct media_side *side)
{
    static const struct {
        enum media_side_kind kind;
        enum AVPacketSideDataType type;
        size_t min, max;
    } rows[] = {{MEDIA_SIDE_SKIP_SAMPLES, AV_PKT_DATA_SKIP_SAMPLES, 10, 10},
                {MEDIA_SIDE_BLOCK_ADDITIONAL, AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL, 8, 1u << 30},
                {MEDIA_SIDE_NEW_EXTRADATA, AV_PKT_DATA_NEW_EXTRADATA, 0, 1u << 28},
                {MEDIA_SIDE_PALETTE, AV_PKT_DATA_PALETTE, 1024, 1024}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if ((uint32_t)rows[i].kind != side->kind)
            continue;
        if (side->n_bytes < rows[i].min || side->n_bytes > rows[i].max)
            return -EINVAL;
        uint8_t *to = av_packet_new_side_data(packet, rows[i].type, side->n_bytes);
        if (!to)
            return -ENOMEM;
        memcpy(to, side->data, side->n_bytes);
        if (side->kind == MEDIA_SIDE_BLOCK_ADDITIONAL)
            AV_WB64(to, AV_RL64(side->data));
    }
    return 0; /* kinds of a later version change nothing for us */
}

static int set_packet(AVPacket *to, const struct media_packet *p)
{
    if (p->n_data > INT32_MAX - AV_INPUT_BUFFER_PADDING_SIZE)
        return -EINVAL;
    av_packet_unref(to);
    to->data = (uint8_t *)(uintptr_t)
                   p->data; /* only read: without a buffer of its own it is copied */
    to->size = (int)p->n_data;
    to->pts = p->pts;
    to->dts = p->dts;
    to->duration = p->duration;
    to->flags = (p->flags & MEDIA_PACKET_KEY ? AV_PKT_FLAG_KEY : 0) |
                (p->flags & MEDIA_PACKET_DISCARD ? AV_PKT_FLAG_DISCARD : 0) |
                (p->flags & MEDIA_PACKET_CORRUPT ? AV_PKT_FLAG_CORRUPT : 0);
    for (int i = 0; i < p->n_side && i < MEDIA_MAX_SIDE; i++) {
        int rc = add_side(to, &p->side[i]);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int decode_failed(const struct media_decoder *d, int averror, struct swt_diag *reterr)
{
    char buf[128];
    if (averror == AVERROR(ENOMEM))
        return err_errno(reterr, ENOMEM, NULL, "decoder");
    return err_set(reterr, SWT_E_CORRUPT, "%s data cannot be decoded: %s", d->codec,
                   av_why(averror, buf, sizeof buf));
}

static int decoder_send(struct media_decoder *d, const struct media_packet *packet,
                        struct swt_diag *reterr)
{
    AUTO(av_log_end) struct av_log_scope scope = codec_log_begin(&d->log);
    (void)scope;
    bool is_end = !packet || !packet->data;
    if (!is_end && packet->n_data == 0)
        return 0; /* FFmpeg would take it for the end */
    int rc = is_end ? 0 : set_packet(d->packet, packet);
    if (rc < 0)
        return decode_failed(d, rc == -ENOMEM ? AVERROR(ENOMEM) : AVERROR_INVALIDDATA, reterr);
    rc = avcodec_send_packet(d->ctx, is_end ? NULL : d->packet);
    av_packet_unref(d->packet);
    if (rc == AVERROR(EAGAIN))
        return -EAGAIN;
    return rc < 0 && rc != AVERROR_EOF ? decode_failed(d, rc, reterr) : 0;
}

static int64_t frame_duration(const AVFrame *f)
{
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    return f->duration;
#else
    return f->pkt_duration;
#endif
}

static void set_flags(const AVFrame *f, struct media_frame *ret)
{
    ret->is_corrupt = (f->flags & AV_FRAME_FLAG_CORRUPT) || f->decode_error_flags;
#ifdef AV_FRAME_FLAG_KEY
    ret->is_key = f->flags & AV_FRAME_FLAG_KEY;
    ret->is_interlaced = f->flags & AV_FRAME_FLAG_INTERLACED;
    ret->is_top_first = f->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST;
#else
    ret->is_key = f->key_frame;
    ret->is_interlaced = f->interlaced_frame;
    ret->is_top_first = f->top_field_first;
#endif
}

static int give(struct media_decoder *d, struct media_frame *ret)
{
    struct media_frame out = {.tag = d->frame->pts, .duration = frame_duration(d->frame)};
    set_flags(d->frame, &out);
    int rc = d->ctx->codec_type == AVMEDIA_TYPE_VIDEO ? codec_picture(d->frame, &d->buffer, &out)
                                                      : codec_sound(d->frame, &d->buffer, &out);
    if (rc >= 0)
        *ret = out;
    return rc;
}

static int decoder_receive(struct media_decoder *d, struct media_frame *ret_frame,
                           struct swt_diag *reterr)
{
    AUTO(av_log_end) struct av_log_scope scope = codec_log_begin(&d->log);
    (void)scope;
    int rc;
    do
        rc = avcodec_receive_frame(d->ctx, d->frame);
    while (rc == 0 && d->frame->flags & AV_FRAME_FLAG_DISCARD);
    if (rc == AVERROR(EAGAIN))
        return 0;
    if (rc == AVERROR_EOF)
        return SWT_E_END;
    if (rc < 0)
        return decode_failed(d, rc, reterr);
    rc = give(d, ret_frame);
    return rc < 0 ? decode_failed(d, rc == -ENOMEM ? AVERROR(ENOMEM) : AVERROR_INVALIDDATA, reterr)
                  : 1;
}

static void decoder_flush(struct media_decoder *d)
{
    AUTO(av_log_end) struct av_log_scope scope = codec_log_begin(&d->log);
    (void)scope;
    avcodec_flush_buffers(d->ctx);
}

const struct media_decoder_ops codec_decoder_ops = {
    decoder_open, decoder_send, decoder_receive, decoder_flush, decoder_close,
};
