/* SPDX-License-Identifier: MIT
 *
 * av.h - what both media modules need of FFmpeg: names of its enums, its log, its errors. Private to
 * src/media, included by both; inline, because a module shares no code with the other. FFmpeg 5.1 to 8.
 */
#ifndef MEDIA_CODEC_AV_H
#define MEDIA_CODEC_AV_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/error.h>
#include <libavutil/log.h>
#include <libavutil/pixdesc.h>
#include <libavutil/samplefmt.h>

#include "media/media.h"

_Static_assert(MEDIA_NO_PTS == AV_NOPTS_VALUE,
               "time stamps pass between swt and FFmpeg as they are");

static inline void av_copy_text(char *to, size_t cap, const char *text)
{
    snprintf(to, cap, "%s", text ? text : "");
}

/* ---- the log ------------------------------------------------------------------------------------- */

struct av_log_scope {
    const struct log_to **slot, *before;
};

/* Until the scope ends, what FFmpeg says on this thread goes to `log`. */
static inline struct av_log_scope av_log_begin(const struct media_host *host,
                                               const struct log_to *log)
{
    struct av_log_scope scope = {host->log_slot(), NULL};
    scope.before = *scope.slot;
    *scope.slot = log;
    return scope;
}

static inline void av_log_end(struct av_log_scope *scope)
{
    *scope->slot = scope->before;
}

/* Hand on one line of FFmpeg. Errors of a library are warnings here: what fails is told by a return value. */
static inline void av_log_pass(const struct log_to *to, const char *room, void *ctx, int level,
                               const char *fmt, va_list args)
{
    if (level > 0)
        level &= 0xff; /* the rest is a colour */
    if (!to || !to->fn || level > AV_LOG_WARNING)
        return;
    char text[512];
    static _Thread_local int print_prefix = 1; /* FFmpeg's: whether a line begins */
    av_log_format_line2(ctx, level, fmt, args, text, sizeof text, &print_prefix);
    size_t n = strcspn(text, "\r\n");
    text[n] = '\0';
    if (n > 1) /* not the full stop of a line said in pieces */
        log_line(to, SWT_LOG_WARNING, room, "%s", text);
}

/* ---- errors -------------------------------------------------------------------------------------- */

/* FFmpeg's text for an error. */
static inline const char *av_why(int averror, char *buf, size_t cap)
{
    if (averror == AVERROR_INVALIDDATA)
        return "invalid data";
    if (av_strerror(averror, buf, cap) < 0)
        snprintf(buf, cap, "error %d", averror);
    return buf;
}

/* ---- names --------------------------------------------------------------------------------------- */

/* The colour enums agree in this: 2 says "unspecified" (range: 0) and names then mean nothing. */
static inline const char *av_known(const char *name)
{
    bool is_known = name && strcmp(name, "unknown") != 0 && strcmp(name, "unspecified") != 0 &&
                    strcmp(name, "reserved") != 0;
    return is_known ? name : "";
}

static inline bool av_is_yuvj(enum AVPixelFormat format)
{
    const char *name = av_get_pix_fmt_name(format);
    return name && strncmp(name, "yuvj", 4) == 0;
}

/* FFmpeg's name, the "full range" formats by the name of their layout: yuvj420p is yuv420p. */
static inline void av_pixel_name(enum AVPixelFormat format, char *ret_name, size_t cap)
{
    const char *name = av_get_pix_fmt_name(format);
    if (name && av_is_yuvj(format))
        snprintf(ret_name, cap, "yuv%s", name + 4);
    else
        av_copy_text(ret_name, cap, name);
}

/* swt's name where it knows the format, else FFmpeg's. */
static inline void av_pixel_swt_name(enum AVPixelFormat format, char *ret_name, size_t cap)
{
    av_pixel_name(format, ret_name, cap);
    const struct pixfmt *known = pixfmt_find(ret_name);
    if (known)
        av_copy_text(ret_name, cap, known->name);
}

static inline enum AVPixelFormat av_pixel_of_name(const char *name)
{
    const struct pixfmt *known = pixfmt_find(name);
    return av_get_pix_fmt(known ? known->ff_name : name);
}

/* What the decoder gives for a format that swt does not keep as it is: palettes as rgba, single bits as
 * gray, big-endian words swapped. AV_PIX_FMT_NONE: nothing better. */
static inline enum AVPixelFormat av_pixel_given(enum AVPixelFormat format)
{
    char name[SWT_FORMAT_CAP];
    av_pixel_name(format, name, sizeof name);
    if (pixfmt_find(name))
        return format;
    if (format == AV_PIX_FMT_PAL8)
        return AV_PIX_FMT_RGBA;
    if (format == AV_PIX_FMT_MONOWHITE || format == AV_PIX_FMT_MONOBLACK)
        return AV_PIX_FMT_GRAY8;
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    enum AVPixelFormat little = d && (d->flags & AV_PIX_FMT_FLAG_BE)
                                    ? av_pix_fmt_swap_endianness(format)
                                    : AV_PIX_FMT_NONE;
    av_pixel_name(little, name, sizeof name);
    return pixfmt_find(name) ? little : AV_PIX_FMT_NONE;
}

/* "mono", "stereo", "5.1(side)"; "" where the source does not say what its three or more channels are. */
static inline void av_layout_name(const AVChannelLayout *layout, char *ret_name, size_t cap)
{
    AVChannelLayout guess = {0};
    ret_name[0] = '\0';
    if (layout->order == AV_CHANNEL_ORDER_UNSPEC) {
        if (layout->nb_channels < 1 || layout->nb_channels > 2)
            return;
        av_channel_layout_default(&guess, layout->nb_channels);
        layout = &guess;
    }
    if (av_channel_layout_describe(layout, ret_name, cap) < 0)
        ret_name[0] = '\0';
    av_channel_layout_uninit(&guess);
}

/* The layout of a name, else the usual one of the count. `ret` is initialised; the caller frees it. */
static inline int av_layout_of_name(const char *name, int channels, AVChannelLayout *ret)
{
    memset(ret, 0, sizeof *ret);
    if (name[0] && av_channel_layout_from_string(ret, name) == 0) {
        if (ret->nb_channels == channels)
            return 0;
        av_channel_layout_uninit(ret);
    }
    if (channels < 1 || channels > 4096)
        return -EINVAL;
    av_channel_layout_default(ret, channels);
    return 0;
}

static inline enum swt_dtype av_sample_dtype(enum AVSampleFormat format)
{
    enum AVSampleFormat packed = av_get_packed_sample_fmt(format);
    static const struct {
        enum AVSampleFormat format;
        enum swt_dtype dtype;
    } rows[] = {{AV_SAMPLE_FMT_U8, SWT_U8},   {AV_SAMPLE_FMT_S16, SWT_S16},
                {AV_SAMPLE_FMT_S32, SWT_S32}, {AV_SAMPLE_FMT_S64, SWT_S64},
                {AV_SAMPLE_FMT_FLT, SWT_F32}, {AV_SAMPLE_FMT_DBL, SWT_F64}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].format == packed)
            return rows[i].dtype;
    return SWT_DTYPE_NONE;
}

static inline struct swt_ratio av_ratio(AVRational r)
{
    return r.num > 0 && r.den > 0 ? (struct swt_ratio){r.num, r.den} : (struct swt_ratio){0, 1};
}

static inline AVRational av_rational(struct swt_ratio r)
{
    bool fits = r.num > 0 && r.num <= INT32_MAX && r.den > 0 && r.den <= INT32_MAX;
    return fits ? (AVRational){(int)r.num, (int)r.den} : (AVRational){0, 1};
}

#endif
