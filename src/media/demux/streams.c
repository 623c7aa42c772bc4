/* SPDX-License-Identifier: MIT
 *
 * streams.c - a stream of FFmpeg as swt describes it: every number of an enum becomes a name. Reads nothing
 * from the input.
 */
#include <libavcodec/avcodec.h>
#include <libavutil/display.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/mastering_display_metadata.h>
#include <math.h>
#include <stdlib.h>

#include "media/demux/demux.h"

static const uint8_t *side_of(const AVStream *st, enum AVPacketSideDataType type, size_t *ret_n)
{
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
    const AVPacketSideData *side = av_packet_side_data_get(st->codecpar->coded_side_data,
                                                           st->codecpar->nb_coded_side_data, type);
    *ret_n = side ? side->size : 0;
    return side ? side->data : NULL;
#else
    return av_stream_get_side_data(st, type, ret_n);
#endif
}

int demux_set_extra(struct params *p, const uint8_t *data, size_t n)
{
    if (n > PARAMS_EXTRA_CAP)
        return -EFBIG;
    uint8_t *copy = n > 0 ? malloc(n) : NULL;
    if (n > 0 && !copy)
        return -ENOMEM;
    if (n > 0)
        memcpy(copy, data, n);
    free(p->extra);
    p->extra = copy;
    p->n_extra = (uint32_t)n;
    return 0;
}

/* A display matrix takes the coded point (p, q) to (a p + c q, b p + d q); a turn by t degrees clockwise is
 * a = d = cos t, b = -c = sin t. A mirror in front of it changes the signs of a and b and of the determinant. */
static void set_rotation(const AVStream *st, struct params *p)
{
    size_t n = 0;
    const uint8_t *side = side_of(st, AV_PKT_DATA_DISPLAYMATRIX, &n);
    int32_t m[9];
    if (!side || n < sizeof m)
        return;
    memcpy(m, side, sizeof m);
    double a = m[0], b = m[1], c = m[3], d = m[4];
    if (a * d - b * c == 0)
        return;
    long quarters = lround(atan2(-c, d) / 1.5707963267948966);
    p->rotation = (int32_t)(((quarters % 4) + 4) % 4) * 90;
    p->hflip = a * d - b * c < 0;
}

static void put_rational(uint8_t *to, AVRational r)
{
    AV_WL32(to, (uint32_t)r.num);
    AV_WL32(to + 4, (uint32_t)r.den);
}

/* Primaries R G B (x, y), white point, least and greatest luminance, then the two light levels. */
static void set_mastering(const AVStream *st, struct params *p)
{
    size_t n_display = 0, n_light = 0;
    const uint8_t *display = side_of(st, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, &n_display);
    const uint8_t *light = side_of(st, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, &n_light);
    AVRational r[10];
    for (int i = 0; i < 10; i++)
        r[i] = (AVRational){0, 1};
    if (display && n_display >= sizeof(AVMasteringDisplayMetadata)) {
        const AVMasteringDisplayMetadata *d = (const void *)display;
        for (int i = 0; d->has_primaries && i < 8; i++)
            r[i] = i < 6 ? d->display_primaries[i / 2][i % 2] : d->white_point[i - 6];
        if (d->has_luminance) {
            r[8] = d->min_luminance;
            r[9] = d->max_luminance;
        }
    }
    const AVContentLightMetadata *l = n_light >= sizeof *l ? (const void *)light : NULL;
    if (!display && !l)
        return;
    for (int i = 0; i < 10; i++)
        put_rational(p->mastering + 8 * i, r[i]);
    AV_WL32(p->mastering + 80, l ? l->MaxCLL : 0);
    AV_WL32(p->mastering + 84, l ? l->MaxFALL : 0);
    p->n_mastering = 88;
}

static const char *field_order_name(enum AVFieldOrder order)
{
    static const char *const names[] = {"", "progressive", "tt", "bb", "tb", "bt"};
    return (unsigned)order < sizeof names / sizeof names[0] ? names[order] : "";
}

static void set_colour(const AVCodecParameters *par, struct params *p)
{
    const char *range = av_is_yuvj((enum AVPixelFormat)par->format)
                            ? "pc"
                            : av_color_range_name(par->color_range);
    av_copy_text(p->range, sizeof p->range, av_known(range));
    av_copy_text(p->matrix, sizeof p->matrix, av_known(av_color_space_name(par->color_space)));
    av_copy_text(p->primaries, sizeof p->primaries,
                 av_known(av_color_primaries_name(par->color_primaries)));
    av_copy_text(p->transfer, sizeof p->transfer, av_known(av_color_transfer_name(par->color_trc)));
    av_copy_text(p->chroma, sizeof p->chroma,
                 av_known(av_chroma_location_name(par->chroma_location)));
}

/* Raw pictures are read by their own format's name; of coded ones the format that the decoder will give counts. */
static void set_pixel(const AVCodecParameters *par, bool is_raw, struct params *p)
{
    enum AVPixelFormat format = (enum AVPixelFormat)par->format;
    enum AVPixelFormat given = is_raw ? AV_PIX_FMT_NONE : av_pixel_given(format);
    av_pixel_swt_name(given == AV_PIX_FMT_NONE ? format : given, p->pixel, sizeof p->pixel);
}

static void set_picture(AVFormatContext *ctx, AVStream *st, const AVCodecParameters *par,
                        struct media_stream *ret)
{
    struct params *p = &ret->params;
    p->width = par->width;
    p->height = par->height;
    p->rate = av_ratio(av_guess_frame_rate(ctx, st, NULL));
    p->sar = av_ratio(av_guess_sample_aspect_ratio(ctx, st, NULL));
    p->has_b_frames = par->video_delay > 0;
    av_copy_text(p->field_order, sizeof p->field_order, field_order_name(par->field_order));
    set_pixel(par, ret->is_raw, p);
    set_colour(par, p);
    set_rotation(st, p);
    set_mastering(st, p);
}

static void set_sound(const AVCodecParameters *par, struct params *p)
{
    p->rate = par->sample_rate > 0 ? (struct swt_ratio){par->sample_rate, 1}
                                   : (struct swt_ratio){0, 1};
    p->channels = par->ch_layout.nb_channels;
    p->dtype = av_sample_dtype((enum AVSampleFormat)par->format);
    p->block_align = par->block_align;
    p->initial_padding = par->initial_padding;
    p->seek_preroll = par->seek_preroll;
    av_layout_name(&par->ch_layout, p->channel_layout, sizeof p->channel_layout);
}

static bool is_raw(const AVCodecParameters *par)
{
    const char *name = avcodec_get_name(par->codec_id);
    if (par->codec_id == AV_CODEC_ID_RAWVIDEO)
        return true;
    /* Companded samples are coded: a byte of them is a sample of 13 bits and more. */
    static const char *const coded[] = {"pcm_alaw", "pcm_mulaw", "pcm_vidc"};
    for (size_t i = 0; i < sizeof coded / sizeof coded[0]; i++)
        if (strcmp(name, coded[i]) == 0)
            return false;
    return strncmp(name, "pcm_", 4) == 0;
}

static void set_label(const AVStream *st, struct media_stream *ret)
{
    const AVDictionaryEntry *e = av_dict_get(st->metadata, "title", NULL, 0);
    if (!e)
        e = av_dict_get(st->metadata, "language", NULL, 0);
    bool is_undetermined = e && strcmp(e->value, "und") == 0;
    av_copy_text(ret->label, sizeof ret->label, e && !is_undetermined ? e->value : "");
    err_one_line(ret->label);
}

static int set_common(const AVStream *st, const AVCodecParameters *par, struct params *p)
{
    av_copy_text(p->media, sizeof p->media,
                 par->codec_type == AVMEDIA_TYPE_VIDEO ? "video" : "audio");
    av_copy_text(p->codec, sizeof p->codec, avcodec_get_name(par->codec_id));
    p->codec_tag = par->codec_tag;
    p->profile = par->profile;
    p->level = par->level;
    p->bits_per_sample = par->bits_per_coded_sample;
    p->bit_rate = par->bit_rate;
    p->time_base = av_ratio(st->time_base);
    return demux_set_extra(p, par->extradata,
                           par->extradata_size > 0 ? (size_t)par->extradata_size : 0);
}

int demux_stream_fill(AVFormatContext *ctx, AVStream *st, const AVCodecParameters *par,
                      struct media_stream *ret)
{
    params_init(&ret->params);
    int rc = set_common(st, par, &ret->params);
    if (rc < 0)
        return rc;
    ret->is_raw = is_raw(par);
    ret->is_attached = st->disposition &
                       (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS);
    ret->start = st->start_time;
    set_label(st, ret);
    if (par->codec_type == AVMEDIA_TYPE_VIDEO)
        set_picture(ctx, st, par, ret);
    else
        set_sound(par, &ret->params);
    return 0;
}

void demux_stream_leave_out(const AVStream *st, char *text, size_t cap)
{
    const AVCodecParameters *par = st->codecpar;
    const char *kind = av_get_media_type_string(par->codec_type);
    const char *codec = par->codec_id == AV_CODEC_ID_NONE ? "unknown"
                                                          : avcodec_get_name(par->codec_id);
    size_t used = strlen(text);
    snprintf(text + used, cap - used, "%s%s (%s)", used > 0 ? ", " : "", kind ? kind : "data",
             codec);
}
