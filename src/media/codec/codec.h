/* SPDX-License-Identifier: MIT
 *
 * codec.h - what the files of swt-codec.so share. Nothing of it leaves the module.
 */
#ifndef MEDIA_CODEC_CODEC_H
#define MEDIA_CODEC_CODEC_H

#include <libavcodec/avcodec.h>

#include "media/codec/av.h"

extern const struct media_decoder_ops codec_decoder_ops;
extern const struct media_resampler_ops codec_resampler_ops;

/* Log scope of the calling thread, see av_log_begin. */
struct av_log_scope codec_log_begin(const struct log_to *log);

/* Marks a decoder's context as one of ours: its `opaque` is a struct log_to, for FFmpeg's own threads. */
enum AVPixelFormat codec_get_format(AVCodecContext *ctx, const enum AVPixelFormat *formats);

/* A closed context for the coded stream of `params`. errors: SWT_E_NO_DECODER, -ENOMEM */
int codec_context_new(const struct params *params, AVCodecContext **ret_ctx,
                      const AVCodec **ret_codec, struct swt_diag *reterr);

/* Memory that grows and is used again for each frame. */
struct codec_buffer {
    uint8_t *data; /* owned */
    size_t cap;
};
int codec_buffer_need(struct codec_buffer *buffer, uint64_t n_bytes);

/* The picture or sound of `frame`; borrows from it and from `buffer`. errors: -ENOMEM, SWT_E_CORRUPT */
int codec_picture(const AVFrame *frame, struct codec_buffer *buffer, struct media_frame *ret);
int codec_sound(const AVFrame *frame, struct codec_buffer *buffer, struct media_frame *ret);

#endif
