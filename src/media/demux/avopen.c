/* SPDX-License-Identifier: MIT
 *
 * avopen.c - opening an input with FFmpeg, bounded in time: its format, its streams, which of them a player
 * would take. Reading stands in avsource.c.
 */
#include <ctype.h>
#include <libavcodec/bsf.h>
#include <libavutil/opt.h>
#include <stdlib.h>

#include "media/demux/avsource.h"

#define LIVE_PROBE_FRAMES 6
#define MIN_PROBE_SCORE   5 /* FFmpeg finds a few formats in anything, with less */

static int refuse(struct av_source *s, const char *why, struct swt_diag *reterr)
{
    return err_at(reterr, SWT_E_INPUT, s->base.input.text, -1, "cannot open '%.200s': %s",
                  s->base.input.text, why);
}

static int refuse_pipe(struct av_source *s, struct swt_diag *reterr)
{
    return err_at(reterr, SWT_E_INPUT, s->base.input.text, -1,
                  "cannot read '%.200s': the index of this MP4 comes after its pictures, which "
                  "needs a seekable "
                  "file: record it by path, or remux it with ffmpeg -c copy -movflags +faststart",
                  s->base.input.text);
}

static int open_failed(struct av_source *s, int averror, struct swt_diag *reterr)
{
    char buf[128], why[200];
    if (s->base.wait.why == DEMUX_STOPPED)
        return err_at(reterr, SWT_E_STOPPED, s->base.input.text, -1, "stopped");
    if (s->base.wait.why == DEMUX_TIMED_OUT)
        return err_at(reterr, SWT_E_TIMEOUT, s->base.input.text, -1,
                      "no answer from '%.200s' within %.3g s", s->base.input.text,
                      (double)s->base.wait.timeout_ns / 1e9);
    if (s->bytes && s->bytes->reached == 0)
        return refuse(s, "it gave no data", reterr);
    if (s->bytes && (averror == AVERROR_INVALIDDATA || averror == AVERROR_EOF))
        return refuse(s, "neither FFmpeg nor libsndfile knows what is in it", reterr);
    snprintf(why, sizeof why, "%s", av_why(averror, buf, sizeof buf));
    why[0] = (char)tolower((unsigned char)why[0]);
    return refuse(s, why, reterr);
}

/* Asked by FFmpeg again and again while it waits. Bytes that arrive are a sign of life. */
static int on_interrupt(void *opaque)
{
    struct av_source *s = opaque;
    uint64_t seen = s->ctx && s->ctx->pb ? (uint64_t)s->ctx->pb->bytes_read : 0;
    if (seen != s->n_bytes_seen)
        demux_wait_alive(&s->base.wait);
    s->n_bytes_seen = seen;
    return demux_wait_check(&s->base.wait) < 0;
}

/* ---- what is it? --------------------------------------------------------------------------------- */

/* A name that shows FFmpeg the suffix and nothing else: no pattern, no protocol, no number. */
static void hint_of(const char *path, char *ret, size_t cap)
{
    const char *dot = strrchr(path, '.');
    size_t n = dot ? strlen(dot + 1) : 0;
    bool is_plain = n > 0 && n <= 8;
    for (size_t i = 1; is_plain && i <= n; i++)
        is_plain = isalnum((unsigned char)dot[i]);
    snprintf(ret, cap, "%s%s", is_plain ? "x." : "", is_plain ? dot + 1 : "");
}

/* Formats that take a file for what it is not: single pictures read by name, and text drawn as a picture. */
static bool is_misled(const AVInputFormat *format)
{
    static const char *const names[] = {"image2", "tty", "bin", "xbin", "adf", "idf"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(format->name, names[i]) == 0)
            return true;
    return false;
}

static int probe(struct av_source *s, const AVInputFormat **ret_format)
{
    char hint[16] = "";
    if (s->base.input.kind == DEMUX_FILE)
        hint_of(s->base.input.name, hint, sizeof hint);
    int rc = av_probe_input_buffer2(s->bytes->avio, ret_format, hint, s->ctx, 0, 0);
    bool is_once_more = rc >= 0 && is_misled(*ret_format);
    if (is_once_more)
        *ret_format = NULL; /* else FFmpeg takes it for known */
    if (is_once_more)
        rc = av_probe_input_buffer2(s->bytes->avio, ret_format, "", s->ctx, 0, 0);
    if (rc >= 0 && (is_misled(*ret_format) || rc < MIN_PROBE_SCORE))
        rc = AVERROR_INVALIDDATA;
    return rc;
}

/* What a file may make FFmpeg open besides itself: pieces beside it; a session description names streams. */
static const char *whitelist(const AVInputFormat *format)
{
    return strcmp(format->name, "sdp") == 0 ? "file,crypto,data,rtp,udp,tcp" : "file,crypto,data";
}

static void free_options(AVDictionary **options)
{
    av_dict_free(options);
}

static void free_text(char **text)
{
    free(*text);
}

static int open_bytes(struct av_source *s, struct swt_diag *reterr)
{
    const AVInputFormat *format = NULL;
    AUTO(free_options) AVDictionary *options = NULL;
    AUTO(free_text) char *url = NULL;
    if (demux_bytes_open(&s->base.input, &s->base.wait, &s->bytes) < 0 ||
        asprintf(&url, "file:%s", s->base.input.name) < 0)
        return err_errno(reterr, ENOMEM, NULL, "source");
    s->ctx->pb = s->bytes->avio;
    int rc = probe(s, &format);
    if (rc < 0)
        return open_failed(s, rc, reterr);
    bool is_mp4 = strstr(format->name, "mp4") != NULL;
    if (is_mp4 && !s->bytes->is_seekable && demux_index_is_last(s->bytes))
        return refuse_pipe(s, reterr);
    if (av_dict_set(&options, "protocol_whitelist", whitelist(format), 0) < 0)
        return err_errno(reterr, ENOMEM, NULL, "source");
    rc = avformat_open_input(&s->ctx, url, format, &options);
    return rc < 0 ? open_failed(s, rc, reterr) : 0;
}

static int open_device(struct av_source *s, struct swt_diag *reterr)
{
    const AVInputFormat *format;
    int rc = demux_device_find(&s->base.input, &format, reterr);
    if (rc < 0)
        return rc;
    if (strcmp(s->base.input.device, "lavfi") != 0)
        s->ctx->flags |=
            AVFMT_FLAG_NONBLOCK; /* so that the time limit and the stop flag are looked at */
    rc = avformat_open_input(&s->ctx, s->base.input.name, format, NULL);
    return rc < 0 ? open_failed(s, rc, reterr) : 0;
}

static int open_url(struct av_source *s, struct swt_diag *reterr)
{
    AUTO(free_options) AVDictionary *options = NULL;
    if (av_dict_set(&options, "rtsp_flags", "prefer_tcp", 0) < 0) /* nothing is lost on the way */
        return err_errno(reterr, ENOMEM, NULL, "source");
    int rc = avformat_open_input(&s->ctx, s->base.input.name, NULL, &options);
    return rc < 0 ? open_failed(s, rc, reterr) : 0;
}

/* An MP4 whose pictures lie before the place where its index was found; seen only when the index is read. */
static bool is_behind(const struct av_source *s)
{
    if (!s->bytes || s->bytes->is_seekable)
        return false;
    for (unsigned i = 0; i < s->ctx->nb_streams; i++) {
        const AVIndexEntry *e = avformat_index_get_entry(s->ctx->streams[i], 0);
        if (e && e->pos < avio_tell(s->ctx->pb) && strstr(s->ctx->iformat->name, "mp4"))
            return true;
    }
    return false;
}

static int open_input(struct av_source *s, struct swt_diag *reterr)
{
    int rc;
    if (s->base.input.kind == DEMUX_DEVICE)
        rc = open_device(s, reterr);
    else if (s->base.input.kind == DEMUX_URL)
        rc = open_url(s, reterr);
    else
        rc = open_bytes(s, reterr);
    s->is_open = rc >= 0;
    if (rc >= 0 && is_behind(s))
        rc = refuse_pipe(s, reterr);
    return rc;
}

/* ---- streams ------------------------------------------------------------------------------------- */

/* Some encoders put two pictures into one packet of MPEG-4; apart, each packet is a picture. */
static int add_filter(AVStream *st, struct av_stream *t)
{
    if (st->codecpar->codec_id != AV_CODEC_ID_MPEG4)
        return 0;
    const AVBitStreamFilter *filter = av_bsf_get_by_name("mpeg4_unpack_bframes");
    if (!filter || av_bsf_alloc(filter, &t->bsf) < 0)
        return 0; /* an FFmpeg without it: packets as they are */
    t->bsf->time_base_in = st->time_base;
    if (avcodec_parameters_copy(t->bsf->par_in, st->codecpar) < 0)
        return -ENOMEM;
    if (av_bsf_init(t->bsf) < 0)
        av_bsf_free(&t->bsf);
    return 0;
}

/* Pictures by reference are given as plain bytes: see unwrap(). */
static void set_wrapped(AVStream *st, struct av_stream *t)
{
    if (st->codecpar->codec_id != AV_CODEC_ID_WRAPPED_AVFRAME)
        return;
    t->is_wrapped = true;
    st->codecpar->codec_id = AV_CODEC_ID_RAWVIDEO;
    st->codecpar->codec_tag = avcodec_pix_fmt_to_codec_tag(
        (enum AVPixelFormat)st->codecpar->format);
}

static bool is_wanted(const AVStream *st)
{
    const AVCodecParameters *par = st->codecpar;
    return (par->codec_type == AVMEDIA_TYPE_VIDEO || par->codec_type == AVMEDIA_TYPE_AUDIO) &&
           par->codec_id != AV_CODEC_ID_NONE;
}

/* VP8 and VP9 keep transparency as a second picture beside the first, which is not decoded. */
static void note_alpha(const AVStream *st, char *text, size_t cap)
{
    const AVDictionaryEntry *e = av_dict_get(st->metadata, "alpha_mode", NULL, 0);
    size_t used = strlen(text);
    if (e && strcmp(e->value, "1") == 0)
        snprintf(text + used, cap - used, "%salpha (%s)", used > 0 ? ", " : "",
                 avcodec_get_name(st->codecpar->codec_id));
}

static int add_stream(struct av_source *s, AVStream *st, struct av_stream *t)
{
    struct media_source_info *info = &s->base.info;
    t->idx = -1;
    if (!is_wanted(st)) {
        demux_stream_leave_out(st, info->left_out, sizeof info->left_out);
        st->discard = AVDISCARD_ALL;
        return 0;
    }
    int rc = add_filter(st, t);
    if (rc < 0)
        return rc;
    set_wrapped(st, t);
    struct media_stream *to = &s->base.streams[info->n_streams];
    rc = demux_stream_fill(s->ctx, st, t->bsf ? t->bsf->par_out : st->codecpar, to);
    if (rc < 0)
        return rc;
    note_alpha(st, info->left_out, sizeof info->left_out);
    t->idx = info->n_streams++;
    t->is_kept = true;
    return 0;
}

static void set_default(struct av_source *s, enum AVMediaType type)
{
    int best = av_find_best_stream(s->ctx, type, -1, -1, NULL, 0);
    struct media_stream *found = best >= 0 && s->av[best].idx >= 0
                                     ? &s->base.streams[s->av[best].idx]
                                     : NULL;
    const char *media = type == AVMEDIA_TYPE_VIDEO ? "video" : "audio";
    for (int i = 0; i < s->base.info.n_streams && (!found || found->is_attached); i++) {
        struct media_stream *m = &s->base.streams[i];
        if (strcmp(m->params.media, media) == 0 && !m->is_attached)
            found = m;
    }
    if (found && !found->is_attached)
        found->is_default = true;
}

static int64_t earliest_start(const struct media_source *base)
{
    int64_t start = INT64_MAX;
    for (int i = 0; i < base->info.n_streams; i++) {
        const struct media_stream *m = &base->streams[i];
        if (m->start == MEDIA_NO_PTS || m->is_attached)
            continue;
        int64_t ns = av_rescale_q(m->start, av_rational(m->params.time_base),
                                  (AVRational){1, 1000000000});
        start = ns < start ? ns : start;
    }
    return start == INT64_MAX ? 0 : start;
}

static bool is_live(const struct av_source *s)
{
    if (s->base.input.kind == DEMUX_DEVICE)
        return strcmp(s->base.input.device, "lavfi") != 0;
    static const char *const local[] = {"file:",  "data:",   "concat:", "subfile,",
                                        "cache:", "crypto:", "async:"};
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        if (strncmp(s->base.input.text, local[i], strlen(local[i])) == 0)
            return false;
    return s->base.input.kind == DEMUX_URL && s->ctx->duration == AV_NOPTS_VALUE;
}

static void fill_info(struct av_source *s)
{
    struct media_source_info *info = &s->base.info;
    const char *name = s->ctx->iformat->name;
    snprintf(info->format, sizeof info->format, "%.*s", (int)strcspn(name, ","), name);
    info->is_live = is_live(s);
    info->is_seekable = s->bytes ? s->bytes->is_seekable : s->ctx->pb && (s->ctx->pb->seekable & 1);
    info->start_ns = earliest_start(&s->base);
    set_default(s, AVMEDIA_TYPE_VIDEO);
    set_default(s, AVMEDIA_TYPE_AUDIO);
}

static int add_streams(struct av_source *s, struct swt_diag *reterr)
{
    s->av = calloc(s->ctx->nb_streams + 1, sizeof *s->av);
    s->base.streams = calloc(s->ctx->nb_streams + 1, sizeof *s->base.streams);
    if (!s->av || !s->base.streams)
        return err_errno(reterr, ENOMEM, NULL, "source");
    for (unsigned i = 0; i < s->ctx->nb_streams; i++) {
        s->n_av++;
        int rc = add_stream(s, s->ctx->streams[i], &s->av[i]);
        if (rc == -EFBIG)
            return refuse(s, "its set-up data is larger than 1 MiB", reterr);
        if (rc < 0)
            return err_errno(reterr, ENOMEM, NULL, "source");
    }
    if (s->base.info.n_streams == 0)
        return refuse(s, "it holds neither pictures nor sound", reterr);
    return 0;
}

int demux_av_start(struct media_source *base, struct swt_diag *reterr)
{
    struct av_source *s = (struct av_source *)base;
    s->packet = av_packet_alloc();
    s->ctx = avformat_alloc_context();
    if (!s->packet || !s->ctx)
        return err_errno(reterr, ENOMEM, NULL, "source");
    s->ctx->interrupt_callback = (AVIOInterruptCB){on_interrupt, s};
    int rc = open_input(s, reterr);
    if (rc < 0)
        return rc;
    /* More frames make the rate surer, but what is live must be read as it comes. */
    if (!s->bytes || !s->bytes->is_seekable)
        s->ctx->fps_probe_size = LIVE_PROBE_FRAMES;
    rc = avformat_find_stream_info(s->ctx, NULL);
    if (rc < 0 || base->wait.why != DEMUX_GO_ON)
        return open_failed(s, rc, reterr);
    rc = add_streams(s, reterr);
    if (rc < 0)
        return rc;
    fill_info(s);
    return 0;
}
