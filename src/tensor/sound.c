/* SPDX-License-Identifier: MIT
 *
 * sound.c - a stretch of encoded sound, decoded into memory. Times are made as the recorder makes them, so that the
 * decoded twin and this give the same samples at the same times.
 */
#include "tensor/sound.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/dtype.h"
#include "base/size.h"
#include "base/soundline.h"
#include "tensor/side.h"

#define PREROLL_NS INT64_C(500000000) /* bit reservoirs, overlaps and Opus' 80 ms are shorter */

/* One decoding. */
struct job {
    struct store_reader *reader;
    const struct media_decoder_ops *ops;
    struct media_decoder *decoder;
    const struct params *params;
    int64_t from_ns, to_ns;
    int64_t offset_ns; /* recording time of a tag = its time + this */
    struct soundline line;
    struct sound *out;
    bool is_over;  /* nothing later is wanted */
    bool is_fresh; /* a session has begun: its first block stands at its own time */
};

void sound_done(struct sound *s)
{
    free(s->samples);
    *s = (struct sound){0};
}

static void close_decoder(struct job *j)
{
    if (j->decoder)
        j->ops->close(&j->decoder);
}

/* Room for `n` more samples. */
static int grow(struct sound *s, int64_t n, struct swt_diag *reterr)
{
    uint64_t frame = (uint64_t)s->channels * dtype_get(s->dtype)->bytes;
    uint64_t need = ((uint64_t)s->n + (uint64_t)n) * frame;
    if (need > SOUND_MAX_BYTES)
        return err_set(reterr, SWT_E_UNSUPPORTED,
                       "more than 1 GiB of decoded sound: ask for it in parts");
    if (need <= s->cap)
        return 0;
    uint64_t cap = need + need / 2 + 65536;
    uint8_t *more = realloc(s->samples, (size_t)cap);
    if (!more)
        return err_set(reterr, -ENOMEM, "out of memory");
    s->samples = more;
    s->cap = cap;
    return 0;
}

/* Append `n` samples, zeros where `data` is NULL. */
static int put(struct sound *s, const uint8_t *data, int64_t n, struct swt_diag *reterr)
{
    size_t frame = (size_t)s->channels * dtype_get(s->dtype)->bytes;
    int rc = n > 0 ? grow(s, n, reterr) : 0;
    if (rc < 0 || n <= 0)
        return rc;
    uint8_t *to = s->samples + (size_t)s->n * frame;
    if (data)
        memcpy(to, data, (size_t)n * frame);
    else
        memset(to, 0, (size_t)n * frame);
    s->n += n;
    return 0;
}

static int same_format(struct job *j, const struct media_frame *f, struct swt_diag *reterr)
{
    struct sound *s = j->out;
    if (s->rate_hz == 0) {
        s->rate_hz = f->rate_hz;
        s->channels = f->channels;
        s->dtype = f->dtype;
        memcpy(s->channel_layout, f->channel_layout, sizeof s->channel_layout);
        j->line.rate_hz = f->rate_hz;
    }
    if (s->rate_hz > 0 && s->channels > 0 && f->rate_hz == s->rate_hz &&
        f->channels == s->channels && f->dtype == s->dtype)
        return 0;
    return err_set(
        reterr, SWT_E_RUNS,
        "the sound changes from %d Hz, %d channels to %d Hz, %d channels: take each part "
        "alone",
        s->rate_hz, s->channels, f->rate_hz, f->channels);
}

static int64_t samples_in(const struct sound *s, int64_t ns)
{
    return size_scale(ns, s->rate_hz, INT64_C(1000000000));
}

/* Keep what of a decoded block lies in the stretch. */
static int take_block(struct job *j, const struct media_frame *f, struct swt_diag *reterr)
{
    struct sound *s = j->out;
    bool gap;
    int rc = same_format(j, f, reterr);
    if (rc < 0)
        return rc;
    int64_t want = f->tag == MEDIA_NO_PTS
                       ? INT64_MIN
                       : size_ticks_ns(f->tag, j->params->time_base) + j->offset_ns;
    int64_t time_ns = soundline_next(&j->line, want, &gap);
    soundline_add(&j->line, f->n_samples);
    int64_t skip = j->from_ns == INT64_MIN ? 0 : samples_in(s, j->from_ns - time_ns);
    int64_t end = j->to_ns == INT64_MAX ? f->n_samples : samples_in(s, j->to_ns - time_ns);
    skip = skip < 0 ? 0 : skip;
    end = end > f->n_samples ? f->n_samples : end;
    j->is_over = end < f->n_samples;
    if (skip >= end)
        return 0;
    if (s->n == 0)
        s->first_ns = time_ns + size_scale(skip, INT64_C(1000000000), s->rate_hz);
    else if (gap || j->is_fresh)
        rc = put(s, NULL, samples_in(s, time_ns - s->first_ns) - s->n, reterr);
    j->is_fresh = false;
    size_t frame = (size_t)s->channels * dtype_get(s->dtype)->bytes;
    return rc < 0 ? rc : put(s, f->samples + (size_t)skip * frame, end - skip, reterr);
}

static int take_blocks(struct job *j, struct swt_diag *reterr)
{
    for (;;) {
        struct media_frame f;
        int rc = j->ops->receive(j->decoder, &f, reterr);
        if (rc == SWT_E_CORRUPT)
            continue;
        if (rc <= 0)
            return rc == SWT_E_END ? 0 : rc;
        rc = take_block(j, &f, reterr);
        if (rc < 0)
            return rc;
    }
}

static int send(struct job *j, const struct media_packet *p, struct swt_diag *reterr)
{
    int rc;
    while ((rc = j->ops->send(j->decoder, p, reterr)) == -EAGAIN) {
        rc = take_blocks(j, reterr);
        if (rc < 0)
            return rc;
    }
    return rc < 0 && rc != SWT_E_CORRUPT && rc != SWT_E_END ? rc : take_blocks(j, reterr);
}

static int drain(struct job *j, struct swt_diag *reterr)
{
    struct media_packet end = {.pts = MEDIA_NO_PTS, .dts = MEDIA_NO_PTS};
    return send(j, &end, reterr);
}

/* A new session starts with a decoder that knows nothing of the one before. */
static int enter(struct job *j, const struct store_packet *p, bool is_first,
                 struct swt_diag *reterr)
{
    if (is_first || !(p->entry.flags & SEG_FLAG_FRESH))
        return 0;
    int rc = drain(j, reterr);
    j->ops->flush(j->decoder);
    j->line = (struct soundline){.rate_hz = j->line.rate_hz};
    j->is_fresh = true;
    return rc;
}

static int send_entry(struct job *j, uint64_t entry_no, bool is_first, struct swt_diag *reterr)
{
    struct store_packet p;
    int rc = store_reader_packet(j->reader, entry_no, true, &p, reterr);
    if (rc >= 0)
        rc = enter(j, &p, is_first, reterr);
    if (rc < 0)
        return rc;
    struct media_packet m = {.data = p.data,
                             .n_data = p.n_data,
                             .pts = p.entry.src_pts,
                             .dts = p.entry.src_pts,
                             .duration = p.entry.duration,
                             .flags = MEDIA_PACKET_KEY};
    rc = side_read(&p, &m);
    if (rc < 0)
        return err_set(reterr, rc, "side data of packet %" PRIu64 " is damaged", entry_no);
    if (p.entry.src_pts != INT64_MIN)
        j->offset_ns = p.entry.time_ns - size_ticks_ns(p.entry.src_pts, j->params->time_base);
    return send(j, &m, reterr);
}

/* The packets to decode: [first, end), all of one run. */
static int choose(struct job *j, uint64_t *ret_first, uint64_t *ret_end, struct swt_diag *reterr)
{
    struct store_reader_state state;
    struct store_frame f;
    int rc = store_reader_refresh(j->reader, &state, reterr);
    if (rc < 0)
        return rc;
    uint64_t first = state.first_frame, end = state.end_frame;
    if (j->from_ns != INT64_MIN)
        rc = store_reader_find_time(j->reader, j->from_ns - PREROLL_NS, &first, reterr);
    if (rc >= 0 && j->to_ns != INT64_MAX)
        rc = store_reader_find_time(j->reader, j->to_ns, &end, reterr);
    if (rc >= 0 && end < state.end_frame && j->to_ns != INT64_MAX)
        end++; /* a block's time stamp may lie a little before its packet's */
    if (rc >= 0 && first >= end)
        return err_set(reterr, SWT_E_NO_WINDOW, "no sound there: %" PRIu64 " packets are kept",
                       end);
    if (rc >= 0)
        rc = store_reader_frame(j->reader, first, &f, reterr);
    if (rc >= 0 && f.run_end_frame < end)
        return err_set(reterr, SWT_E_RUNS,
                       "the window crosses a format change at packet %" PRIu64
                       ": take each part alone",
                       f.run_end_frame);
    if (rc >= 0)
        rc = store_reader_params(j->reader, first, &j->params, reterr);
    *ret_first = first;
    *ret_end = end;
    return rc;
}

static int decode(struct job *j, const struct log_to *log, struct swt_diag *reterr)
{
    uint64_t first = 0, end = 0;
    int rc = choose(j, &first, &end, reterr);
    if (rc >= 0)
        rc = media_decoders(&j->ops, reterr);
    if (rc >= 0)
        rc = j->ops->open(j->params, 1, log, &j->decoder, reterr);
    for (uint64_t k = first; rc >= 0 && k < end && !j->is_over; k++) {
        struct store_frame f;
        rc = store_reader_frame(j->reader, k, &f, reterr);
        if (rc >= 0)
            rc = send_entry(j, f.entry_no, k == first, reterr);
    }
    return rc >= 0 && !j->is_over ? drain(j, reterr) : rc;
}

int sound_decode(struct store_reader *reader, int64_t from_ns, int64_t to_ns,
                 const struct log_to *log, struct sound *ret_sound, struct swt_diag *reterr)
{
    AUTO(sound_done) struct sound s = {0};
    AUTO(close_decoder)
    struct job j = {.reader = reader, .from_ns = from_ns, .to_ns = to_ns, .out = &s};
    int rc = decode(&j, log, reterr);
    if (rc < 0)
        return rc;
    *ret_sound = s;
    s = (struct sound){0};
    return 0;
}
