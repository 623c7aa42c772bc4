/* SPDX-License-Identifier: MIT
 *
 * track_sound.c - decoded sound on its way into a tensor stream: continuous by sample count, resampled if asked for,
 * cut to the sample at a limit.
 */
#include "session/track.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/dtype.h"
#include "base/size.h"

static enum swt_dtype out_dtype(const struct track *t, enum swt_dtype in)
{
    return t->spec->dtype != SWT_DTYPE_NONE ? t->spec->dtype : in;
}

/* Does the sound have to change on its way in? */
static bool needs_resampler(const struct media_resampler_spec *r)
{
    return r->in_rate_hz != r->out_rate_hz || r->in_channels != r->out_channels ||
           r->in_dtype != r->out_dtype;
}

static void out_params(struct track *t, const struct media_frame *f)
{
    struct params *out = &t->out;
    const struct media_resampler_spec *r = &t->resample;
    params_done(out);
    params_init(out);
    (void)snprintf(out->media, sizeof out->media, "audio");
    (void)snprintf(out->channel_layout, sizeof out->channel_layout, "%s",
                   r->in_channels == r->out_channels ? f->channel_layout : "");
    out->time_base = t->stream->params.time_base;
    out->rate = (struct swt_ratio){r->out_rate_hz, 1};
    out->channels = r->out_channels;
    out->dtype = r->out_dtype;
    out->n_dims = 1;
    out->shape[0] = r->out_channels;
    out->frame_bytes = (uint64_t)r->out_channels * dtype_get(r->out_dtype)->bytes;
}

static int drain_resampler(struct track *t, struct swt_diag *reterr);

static bool is_same(const struct media_resampler_spec *a, const struct media_frame *f)
{
    return a->in_rate_hz == f->rate_hz && a->in_channels == f->channels &&
           a->in_dtype == f->dtype && strcmp(a->in_layout, f->channel_layout) == 0;
}

static int begin(struct track *t, const struct media_frame *f, struct swt_diag *reterr)
{
    if (is_same(&t->resample, f))
        return 0;
    int rc = drain_resampler(t, reterr);
    if (rc < 0)
        return rc;
    if (f->rate_hz <= 0 || f->channels <= 0)
        return err_set(reterr, SWT_E_INPUT, "sound of %d Hz and %d channels", f->rate_hz,
                       f->channels);
    t->resample = (struct media_resampler_spec){
        .in_rate_hz = f->rate_hz,
        .in_channels = f->channels,
        .in_dtype = f->dtype,
        .out_rate_hz = t->spec->rate_hz > 0 ? t->spec->rate_hz : f->rate_hz,
        .out_channels = t->spec->channels > 0 ? t->spec->channels : f->channels,
        .out_dtype = out_dtype(t, f->dtype)};
    (void)snprintf(t->resample.in_layout, sizeof t->resample.in_layout, "%s", f->channel_layout);
    if (t->sound.is_started && t->sound.rate_hz != t->resample.out_rate_hz) {
        bool gap;
        t->sound.anchor_ns = soundline_next(&t->sound, INT64_MIN, &gap);
        t->sound.n = 0;
    }
    t->sound.rate_hz = t->resample.out_rate_hz;
    out_params(t, f);
    return sink_format(t->tensor, &t->out, reterr);
}

/* Samples of [time, time + n / rate) that lie before the limit. */
static int64_t before_limit(const struct track *t, int64_t time_ns, int64_t n)
{
    int64_t end_ns = atomic_load(&t->limits->end_ns);
    if (end_ns == INT64_MAX)
        return n;
    int64_t fit = size_scale(end_ns - time_ns, t->sound.rate_hz, INT64_C(1000000000));
    return fit < 0 ? 0 : fit < n ? fit : n;
}

static int store(struct track *t, const void *samples, int64_t n, int64_t want_ns, int64_t src_pts,
                 struct swt_diag *reterr)
{
    bool gap;
    if (n <= 0)
        return 0;
    bool is_first = !t->sound.is_started;
    int64_t time_ns = soundline_next(&t->sound, want_ns, &gap);
    /* Sessions begin together; where this stream's last one ended earlier, samples are missing, however few. */
    int64_t half_ns = size_frames_ns(1, t->out.rate) / 2;
    gap = gap || (is_first && t->tensor->start_end_ns != INT64_MIN &&
                  time_ns > t->tensor->start_end_ns + half_ns);
    int64_t fit = before_limit(t, time_ns, n);
    if (t->frames_limit > 0 && fit > t->frames_limit - (int64_t)t->n_stored)
        fit = t->frames_limit - (int64_t)t->n_stored;
    struct store_item item = {.time_ns = time_ns,
                              .src_pts = src_pts,
                              .capture_ns = t->capture_ns,
                              .flags = gap || t->gap_before ? SEG_FLAG_GAP : 0u};
    int rc = fit > 0 ? sink_frames(t->tensor, &item, samples, (uint64_t)fit, reterr) : 0;
    if (rc < 0)
        return rc;
    soundline_add(&t->sound, fit);
    timeline_reached(t->line, time_ns + size_frames_ns(fit, t->out.rate));
    t->gap_before = false;
    t->n_stored += (uint64_t)fit;
    t->tensor_done = fit < n || (t->frames_limit > 0 && (int64_t)t->n_stored >= t->frames_limit);
    if (t->frames_limit > 0 && t->tensor_done && atomic_load(&t->limits->end_ns) == INT64_MAX)
        atomic_store(&t->limits->end_ns, time_ns + size_frames_ns(fit, t->out.rate));
    return 0;
}

static int resample(struct track *t, const void *in, int n_in, int64_t want_ns, int64_t src_pts,
                    struct swt_diag *reterr)
{
    const void *out;
    int n_out = 0;
    int rc = t->resampler_ops->convert(t->resampler, in, n_in, &out, &n_out, reterr);
    return rc < 0 ? rc : store(t, out, n_out, want_ns, src_pts, reterr);
}

/* What is still inside belongs behind what came out: no time stamp of its own. */
static int drain_resampler(struct track *t, struct swt_diag *reterr)
{
    if (!t->resampler)
        return 0;
    int rc = resample(t, NULL, 0, INT64_MIN, MEDIA_NO_PTS, reterr);
    t->resampler_ops->close(&t->resampler);
    return rc;
}

static int open_resampler(struct track *t, struct swt_diag *reterr)
{
    int rc = t->resampler_ops ? 0 : media_resamplers(&t->resampler_ops, reterr);
    return rc < 0 || t->resampler ? rc
                                  : t->resampler_ops->open(&t->resample, &t->resampler, reterr);
}

/* Time of a block by its own time stamp; INT64_MIN when it has none. */
static int64_t block_ns(const struct track *t, const struct media_frame *f)
{
    if (f->tag == MEDIA_NO_PTS)
        return INT64_MIN;
    return size_ticks_ns(f->tag, t->place.base) + t->place.offset_ns;
}

/* Through the resampler, which holds samples back: only where it is empty, at the start and behind a gap, does a
 * block's time stamp tell the time of what comes out. */
static int store_resampled(struct track *t, const struct media_frame *f, int64_t want_ns,
                           struct swt_diag *reterr)
{
    bool gap, is_first = !t->in_sound.is_started;
    t->in_sound.rate_hz = f->rate_hz;
    (void)soundline_next(&t->in_sound, want_ns, &gap);
    soundline_add(&t->in_sound, f->n_samples);
    int rc = gap ? drain_resampler(t, reterr) : 0;
    if (rc >= 0)
        rc = open_resampler(t, reterr);
    if (rc < 0)
        return rc;
    return resample(t, f->samples, f->n_samples, gap || is_first ? want_ns : INT64_MIN, f->tag,
                    reterr);
}

int track_sound(struct track *t, const struct media_frame *f, struct swt_diag *reterr)
{
    if (t->tensor_done)
        return 0;
    int rc = begin(t, f, reterr);
    if (rc < 0)
        return rc;
    int64_t want_ns = block_ns(t, f);
    return needs_resampler(&t->resample)
               ? store_resampled(t, f, want_ns, reterr)
               : store(t, f->samples, f->n_samples, want_ns, f->tag, reterr);
}

/* A header without samples still says what the stream would have been. */
static int empty_stream(struct track *t, struct swt_diag *reterr)
{
    const struct params *p = &t->stream->params;
    struct media_frame f = {.rate_hz = (int)p->rate.num,
                            .channels = p->channels,
                            .dtype = p->dtype != SWT_DTYPE_NONE ? p->dtype : SWT_F32};
    if (f.rate_hz <= 0 || f.channels <= 0)
        return 0;
    (void)snprintf(f.channel_layout, sizeof f.channel_layout, "%s", p->channel_layout);
    return begin(t, &f, reterr);
}

int track_sound_end(struct track *t, struct swt_diag *reterr)
{
    if (t->tensor_done)
        return 0;
    return t->sound.rate_hz == 0 ? empty_stream(t, reterr) : drain_resampler(t, reterr);
}
