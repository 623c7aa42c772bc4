/* SPDX-License-Identifier: MIT
 *
 * module.c - the entry of swt-demux.so, and where FFmpeg's log lines of containers and devices go.
 */
#include "media/demux/demux.h"

static const struct media_host *host; /* the loader's, for good */

struct av_log_scope demux_log_begin(const struct log_to *log)
{
    return av_log_begin(host, log);
}

static void on_log(void *ctx, int level, const char *fmt, va_list args)
{
    av_log_pass(*host->log_slot(), "media", ctx, level, fmt, args);
}

/* The one symbol that leaves the module. */
__attribute__((visibility("default"))) media_module_fn swt_media_module;

const struct media_module *swt_media_module(const struct media_host *lent)
{
    static const struct media_module module = {
        MEDIA_MODULE_ABI, SWT_VERSION, &demux_source_ops, NULL, NULL,
    };
    host = lent;
    if (!*host->is_log_of_codec)
        av_log_set_callback(on_log);
    return &module;
}
