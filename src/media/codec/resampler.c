/* SPDX-License-Identifier: MIT
 *
 * resampler.c - rate, channels and sample type of sound, by swresample. Interleaved on both sides.
 */
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <stdlib.h>

#include "base/dtype.h"
#include "media/codec/codec.h"

struct media_resampler {
    SwrContext *swr;
    struct codec_buffer buffer;
    size_t frame_bytes; /* of the output */
    int in_rate_hz;
};

static void resampler_close(struct media_resampler **resampler)
{
    struct media_resampler *r = *resampler;
    if (!r)
        return;
    swr_free(&r->swr);
    free(r->buffer.data);
    free(r);
    *resampler = NULL;
}

static enum AVSampleFormat sample_format(enum swt_dtype dtype)
{
    for (int f = 0; f < AV_SAMPLE_FMT_NB; f++)
        if (!av_sample_fmt_is_planar((enum AVSampleFormat)f) &&
            av_sample_dtype((enum AVSampleFormat)f) == dtype)
            return (enum AVSampleFormat)f;
    return AV_SAMPLE_FMT_NONE;
}

static int start(struct media_resampler *r, const struct media_resampler_spec *spec,
                 AVChannelLayout *in, AVChannelLayout *out)
{
    enum AVSampleFormat from = sample_format(spec->in_dtype), to = sample_format(spec->out_dtype);
    if (from == AV_SAMPLE_FMT_NONE || to == AV_SAMPLE_FMT_NONE || spec->in_rate_hz < 1 ||
        spec->out_rate_hz < 1)
        return AVERROR(EINVAL);
    int rc = swr_alloc_set_opts2(&r->swr, out, to, spec->out_rate_hz, in, from, spec->in_rate_hz, 0,
                                 NULL);
    /* Mixed channels never pass full scale, whatever the sample type: by default that holds for integers only. */
    if (rc >= 0)
        rc = av_opt_set_double(r->swr, "rematrix_maxval", 1.0, 0);
    return rc < 0 ? rc : swr_init(r->swr);
}

/* Layouts of both sides: the same count keeps the places of the channels. */
static int layouts(const struct media_resampler_spec *spec, AVChannelLayout *ret_in,
                   AVChannelLayout *ret_out)
{
    const char *out_name = spec->in_channels == spec->out_channels ? spec->in_layout : "";
    int rc = av_layout_of_name(spec->in_layout, spec->in_channels, ret_in);
    return rc < 0 ? rc : av_layout_of_name(out_name, spec->out_channels, ret_out);
}

static int resampler_open(const struct media_resampler_spec *spec, struct media_resampler **ret,
                          struct swt_diag *reterr)
{
    static const struct log_to silent;
    AUTO(av_log_end) struct av_log_scope scope = codec_log_begin(&silent);
    (void)scope;
    AUTO(resampler_close) struct media_resampler *r = calloc(1, sizeof *r);
    if (!r)
        return err_errno(reterr, ENOMEM, NULL, "sound converter");
    AUTO(av_channel_layout_uninit) AVChannelLayout in = {0}, out = {0};
    int rc = layouts(spec, &in, &out);
    if (rc >= 0)
        rc = start(r, spec, &in, &out);
    char buf[128];
    if (rc < 0)
        return err_set(reterr, SWT_E_UNSUPPORTED,
                       "no conversion of sound from %d channels at %d Hz to %d at %d Hz: %s",
                       spec->in_channels, spec->in_rate_hz, spec->out_channels, spec->out_rate_hz,
                       av_why(rc, buf, sizeof buf));
    r->frame_bytes = dtype_get(spec->out_dtype)->bytes * (size_t)spec->out_channels;
    r->in_rate_hz = spec->in_rate_hz;
    *ret = r;
    r = NULL;
    return 0;
}

static int resampler_convert(struct media_resampler *r, const void *in, int n_in,
                             const void **ret_out, int *ret_n_out, struct swt_diag *reterr)
{
    int n = swr_get_out_samples(r->swr, in ? n_in : 0);
    if (n < 0)
        return err_set(reterr, SWT_E_UNSUPPORTED, "sound cannot be converted");
    if (codec_buffer_need(&r->buffer, ((uint64_t)n + 1) * r->frame_bytes) < 0)
        return err_errno(reterr, ENOMEM, NULL, "sound converter");
    const uint8_t *from[1] = {in};
    uint8_t *to[1] = {r->buffer.data};
    int done = swr_convert(r->swr, to, n, in ? from : NULL, in ? n_in : 0);
    if (done < 0)
        return err_set(reterr, SWT_E_UNSUPPORTED, "sound cannot be converted");
    *ret_out = r->buffer.data;
    *ret_n_out = done;
    return 0;
}

const struct media_resampler_ops codec_resampler_ops = {
    resampler_open,
    resampler_convert,
    resampler_close,
};
