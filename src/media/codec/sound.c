/* SPDX-License-Identifier: MIT
 *
 * sound.c - decoded sound as swt describes it: interleaved, in the decoder's own sample type.
 */
#include "media/codec/codec.h"

#define INTERLEAVE(type)                                                        \
    do {                                                                        \
        type *to = (type *)(void *)out;                                         \
        for (int c = 0; c < channels; c++) {                                    \
            const type *from = (const type *)(const void *)f->extended_data[c]; \
            for (int i = 0; i < f->nb_samples; i++)                             \
                to[(size_t)i * (size_t)channels + (size_t)c] = from[i];         \
        }                                                                       \
    } while (0)

static void interleave(const AVFrame *f, int channels, size_t sample_bytes, uint8_t *out)
{
    if (sample_bytes == 1)
        INTERLEAVE(uint8_t);
    else if (sample_bytes == 2)
        INTERLEAVE(uint16_t);
    else if (sample_bytes == 4)
        INTERLEAVE(uint32_t);
    else
        INTERLEAVE(uint64_t);
}

int codec_sound(const AVFrame *f, struct codec_buffer *buffer, struct media_frame *ret)
{
    enum AVSampleFormat format = (enum AVSampleFormat)f->format;
    int channels = f->ch_layout.nb_channels;
    ret->dtype = av_sample_dtype(format);
    if (ret->dtype == SWT_DTYPE_NONE || channels < 1 || f->sample_rate < 1 || f->nb_samples < 0)
        return -EINVAL;
    ret->n_samples = f->nb_samples;
    ret->channels = channels;
    ret->rate_hz = f->sample_rate;
    av_layout_name(&f->ch_layout, ret->channel_layout, sizeof ret->channel_layout);
    ret->samples = f->extended_data[0];
    if (!av_sample_fmt_is_planar(format) || channels == 1)
        return 0;
    size_t sample_bytes = (size_t)av_get_bytes_per_sample(format);
    uint64_t n_bytes = (uint64_t)f->nb_samples *
                       (uint64_t)channels; /* below 2^62, samples at most 8 bytes … */
    if (n_bytes > SIZE_MAX / 16)           /* … and no frame is that long */
        return -EINVAL;
    int rc = codec_buffer_need(buffer, n_bytes * sample_bytes);
    if (rc < 0)
        return rc;
    interleave(f, channels, sample_bytes, buffer->data);
    ret->samples = buffer->data;
    return 0;
}
