/* SPDX-License-Identifier: MIT
 *
 * module.c - the entry of swt-codec.so, and where FFmpeg's log lines of decoders go.
 */
#include "media/codec/codec.h"

#include <stdlib.h>

static const struct media_host *host; /* the loader's, for good */

struct av_log_scope codec_log_begin(const struct log_to *log)
{
    return av_log_begin(host, log);
}

enum AVPixelFormat codec_get_format(AVCodecContext *ctx, const enum AVPixelFormat *formats)
{
    return avcodec_default_get_format(ctx, formats);
}

static const struct log_to *log_of_context(void *ctx)
{
    if (!ctx || *(const AVClass **)ctx != avcodec_get_class())
        return NULL;
    const AVCodecContext *c = ctx;
    return c->get_format == codec_get_format ? c->opaque : NULL;
}

static void on_log(void *ctx, int level, const char *fmt, va_list args)
{
    const struct log_to *to = *host->log_slot();
    av_log_pass(to ? to : log_of_context(ctx), "media", ctx, level, fmt, args);
}

int codec_buffer_need(struct codec_buffer *buffer, uint64_t n_bytes)
{
    if (n_bytes <= buffer->cap)
        return 0;
    if (n_bytes > SIZE_MAX / 2)
        return -ENOMEM;
    uint8_t *grown = realloc(buffer->data, n_bytes);
    if (!grown)
        return -ENOMEM;
    buffer->data = grown;
    buffer->cap = n_bytes;
    return 0;
}

/* The one symbol that leaves the module. */
__attribute__((visibility("default"))) media_module_fn swt_media_module;

const struct media_module *swt_media_module(const struct media_host *lent)
{
    static const struct media_module module = {
        MEDIA_MODULE_ABI, SWT_VERSION, NULL, &codec_decoder_ops, &codec_resampler_ops,
    };
    host = lent;
    *host->is_log_of_codec = true;
    av_log_set_callback(on_log);
    return &module;
}
