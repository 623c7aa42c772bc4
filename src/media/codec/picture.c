/* SPDX-License-Identifier: MIT
 *
 * picture.c - a decoded picture as swt describes it. Planes are handed on where they lie; only formats that
 * swt does not know are turned into one that it knows: palettes, single bits, big-endian words.
 */
#include <libavutil/imgutils.h>

#include "media/codec/codec.h"

static void set_colour(const AVFrame *f, struct media_frame *ret)
{
    const char *range = av_is_yuvj((enum AVPixelFormat)f->format)
                            ? "pc"
                            : av_color_range_name(f->color_range);
    av_copy_text(ret->range, sizeof ret->range, av_known(range));
    av_copy_text(ret->matrix, sizeof ret->matrix, av_known(av_color_space_name(f->colorspace)));
    av_copy_text(ret->primaries, sizeof ret->primaries,
                 av_known(av_color_primaries_name(f->color_primaries)));
    av_copy_text(ret->transfer, sizeof ret->transfer,
                 av_known(av_color_transfer_name(f->color_trc)));
    av_copy_text(ret->chroma, sizeof ret->chroma,
                 av_known(av_chroma_location_name(f->chroma_location)));
}

static void set_planes(uint8_t *const *data, const int *stride, struct media_frame *ret)
{
    for (int i = 0; i < PIXFMT_MAX_PLANES; i++) {
        ret->plane[i] = data[i];
        ret->stride[i] = data[i] ? stride[i] : 0;
    }
}

static void palette_to_rgba(const AVFrame *f, uint8_t *to)
{
    for (int y = 0; y < f->height; y++) {
        const uint8_t *row = f->data[0] + (ptrdiff_t)y * f->linesize[0];
        for (int x = 0; x < f->width; x++, to += 4) {
            uint32_t argb;
            memcpy(&argb, f->data[1] + 4 * row[x], sizeof argb);
            to[0] = (uint8_t)(argb >> 16);
            to[1] = (uint8_t)(argb >> 8);
            to[2] = (uint8_t)argb;
            to[3] = (uint8_t)(argb >> 24);
        }
    }
}

static void bits_to_gray(const AVFrame *f, uint8_t *to)
{
    uint8_t flip = f->format == AV_PIX_FMT_MONOWHITE ? 0xff : 0;
    for (int y = 0; y < f->height; y++) {
        const uint8_t *row = f->data[0] + (ptrdiff_t)y * f->linesize[0];
        for (int x = 0; x < f->width; x++)
            *to++ = (uint8_t)(((row[x >> 3] >> (7 - (x & 7))) & 1 ? 0xff : 0) ^ flip);
    }
}

/* Every big-endian format with a little-endian twin in swt's table has 16-bit words. */
static void swap_words(const AVFrame *f, uint8_t *const *data, const int *stride)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get((enum AVPixelFormat)f->format);
    for (int p = 0; p < 4 && data[p]; p++) {
        bool is_chroma = (p == 1 || p == 2) && !(d->flags & AV_PIX_FMT_FLAG_RGB);
        int rows = is_chroma ? AV_CEIL_RSHIFT(f->height, d->log2_chroma_h) : f->height;
        for (int y = 0; y < rows; y++) {
            const uint8_t *from = f->data[p] + (ptrdiff_t)y * f->linesize[p];
            uint8_t *to = data[p] + (ptrdiff_t)y * stride[p];
            for (int x = 0; x + 1 < stride[p]; x += 2) {
                to[x] = from[x + 1];
                to[x + 1] = from[x];
            }
        }
    }
}

static int convert(const AVFrame *f, enum AVPixelFormat given, struct codec_buffer *buffer,
                   struct media_frame *ret)
{
    uint8_t *data[4];
    int stride[4];
    int n = av_image_get_buffer_size(given, f->width, f->height, 1);
    int rc = n < 0 ? -EINVAL : codec_buffer_need(buffer, (uint64_t)n);
    if (rc < 0)
        return rc;
    if (av_image_fill_arrays(data, stride, buffer->data, given, f->width, f->height, 1) < 0)
        return -EINVAL;
    if (f->format == AV_PIX_FMT_PAL8)
        palette_to_rgba(f, buffer->data);
    else if (given == AV_PIX_FMT_GRAY8)
        bits_to_gray(f, buffer->data);
    else
        swap_words(f, data, stride);
    set_planes(data, stride, ret);
    return 0;
}

int codec_picture(const AVFrame *f, struct codec_buffer *buffer, struct media_frame *ret)
{
    enum AVPixelFormat format = (enum AVPixelFormat)f->format, given = av_pixel_given(format);
    if (f->width <= 0 || f->height <= 0 || !f->data[0])
        return -EINVAL;
    ret->width = f->width;
    ret->height = f->height;
    ret->sar = av_ratio(f->sample_aspect_ratio);
    set_colour(f, ret);
    av_pixel_swt_name(given == AV_PIX_FMT_NONE ? format : given, ret->pixel_name,
                      sizeof ret->pixel_name);
    ret->pixfmt = pixfmt_find(ret->pixel_name);
    if (given != AV_PIX_FMT_NONE && given != format)
        return convert(f, given, buffer, ret);
    set_planes(f->data, f->linesize, ret);
    return 0;
}
