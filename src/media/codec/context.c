/* SPDX-License-Identifier: MIT
 *
 * context.c - a decoder's context from a params block: names back to FFmpeg's numbers. Opens nothing.
 */
#include <stdlib.h>

#include "media/codec/codec.h"

static int no_decoder(struct swt_diag *reterr, const char *codec)
{
    return err_set(reterr, SWT_E_NO_DECODER,
                   "no decoder for '%s': this FFmpeg was built without one", codec);
}

static enum AVFieldOrder field_order_of_name(const char *name)
{
    static const char *const names[] = {"", "progressive", "tt", "bb", "tb", "bt"};
    for (int i = 1; i < (int)(sizeof names / sizeof names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return (enum AVFieldOrder)i;
    return AV_FIELD_UNKNOWN;
}

/* Names unknown to this FFmpeg leave a field unspecified. */
#define NAMED(type, field, from_name, name)        \
    do {                                           \
        int v_ = (name)[0] ? from_name(name) : -1; \
        if (v_ >= 0)                               \
            (field) = (type)v_;                    \
    } while (0)

static void set_colour(AVCodecParameters *par, const struct params *p)
{
    NAMED(enum AVColorSpace, par->color_space, av_color_space_from_name, p->matrix);
    NAMED(enum AVColorRange, par->color_range, av_color_range_from_name, p->range);
    NAMED(enum AVColorPrimaries, par->color_primaries, av_color_primaries_from_name, p->primaries);
    NAMED(enum AVColorTransferCharacteristic, par->color_trc, av_color_transfer_from_name,
          p->transfer);
    NAMED(enum AVChromaLocation, par->chroma_location, av_chroma_location_from_name, p->chroma);
}

static void set_picture(AVCodecParameters *par, const struct params *p)
{
    par->width = p->width;
    par->height = p->height;
    par->format = av_pixel_of_name(p->pixel);
    par->sample_aspect_ratio = av_rational(p->sar);
    par->field_order = field_order_of_name(p->field_order);
    par->video_delay = 0; /* only a flag is stored; decoders learn the number from the stream */
    set_colour(par, p);
}

static int set_sound(AVCodecParameters *par, const struct params *p)
{
    par->format = AV_SAMPLE_FMT_NONE;
    par->sample_rate = p->rate.den == 1 && p->rate.num > 0 && p->rate.num <= INT32_MAX
                           ? (int)p->rate.num
                           : 0;
    par->block_align = p->block_align;
    par->initial_padding = p->initial_padding;
    par->seek_preroll = p->seek_preroll;
    if (p->channels == 0)
        return 0; /* a decoder that knows itself */
    return av_layout_of_name(p->channel_layout, p->channels, &par->ch_layout);
}

static int set_extra(AVCodecParameters *par, const struct params *p)
{
    if (p->n_extra == 0)
        return 0;
    if (p->n_extra > PARAMS_EXTRA_CAP)
        return -EINVAL;
    par->extradata = av_mallocz((size_t)p->n_extra + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!par->extradata)
        return -ENOMEM;
    memcpy(par->extradata, p->extra, p->n_extra);
    par->extradata_size = (int)p->n_extra;
    return 0;
}

static int fill(AVCodecParameters *par, const struct params *p, const AVCodecDescriptor *desc)
{
    par->codec_type = desc->type;
    par->codec_id = desc->id;
    par->codec_tag = p->codec_tag;
    par->bit_rate = p->bit_rate;
    par->bits_per_coded_sample = p->bits_per_sample;
    par->profile = p->profile;
    par->level = p->level;
    int rc = set_extra(par, p);
    if (rc < 0)
        return rc;
    if (desc->type == AVMEDIA_TYPE_AUDIO)
        return set_sound(par, p);
    set_picture(par, p);
    return 0;
}

static void set_behaviour(AVCodecContext *ctx, const struct params *p)
{
    /* OUTPUT_CORRUPT: damaged pictures are given and flagged; UNALIGNED: cropped exactly, whatever the edge. Not
     * BITEXACT: it makes old codecs (MPEG-4 and its kin) differ by one level from what ffmpeg and players give. */
    ctx->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT | AV_CODEC_FLAG_UNALIGNED;
    ctx->pkt_timebase = av_rational(p->time_base);
    ctx->thread_type = FF_THREAD_FRAME | FF_THREAD_SLICE;
    ctx->get_format = codec_get_format;
    ctx->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
    /* Where an H.264 stream does not say how far it reorders, this makes the decoder wait for as long as its level
     * allows instead of guessing and giving the first pictures in the wrong order. */
    if (ctx->codec_id == AV_CODEC_ID_H264 && p->has_b_frames)
        ctx->strict_std_compliance = FF_COMPLIANCE_STRICT;
}

static void free_parameters(AVCodecParameters **par)
{
    avcodec_parameters_free(par);
}

static void free_context(AVCodecContext **ctx)
{
    avcodec_free_context(ctx);
}

int codec_context_new(const struct params *params, AVCodecContext **ret_ctx,
                      const AVCodec **ret_codec, struct swt_diag *reterr)
{
    const AVCodecDescriptor *desc = avcodec_descriptor_get_by_name(params->codec);
    bool is_kind = desc && (desc->type == AVMEDIA_TYPE_VIDEO || desc->type == AVMEDIA_TYPE_AUDIO);
    const AVCodec *codec = is_kind ? avcodec_find_decoder(desc->id) : NULL;
    if (!codec)
        return no_decoder(reterr, params->codec);
    AUTO(free_parameters) AVCodecParameters *par = avcodec_parameters_alloc();
    AUTO(free_context) AVCodecContext *ctx = avcodec_alloc_context3(codec);
    if (!par || !ctx)
        return err_errno(reterr, ENOMEM, NULL, "decoder");
    int rc = fill(par, params, desc);
    if (rc < 0)
        return err_set(reterr, SWT_E_CORRUPT, "parameters of the %s stream make no sense",
                       params->codec);
    rc = avcodec_parameters_to_context(ctx, par);
    if (rc < 0)
        return err_errno(reterr, ENOMEM, NULL, "decoder");
    set_behaviour(ctx, params);
    *ret_ctx = ctx;
    *ret_codec = codec;
    ctx = NULL;
    return 0;
}
