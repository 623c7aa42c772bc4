/* SPDX-License-Identifier: MIT
 *
 * media_t.h - for tests of the media room: inputs made by the ffmpeg tool, read and decoded through the two
 * tables, beside what the ffmpeg tool decodes of the same file.
 */
#ifndef MEDIA_T_H
#define MEDIA_T_H

#include <fcntl.h>

#include "media/media.h"
#include "t.h"
#include "tool.h"

#define VIDEO_IN "-f lavfi -i testsrc2=s=112x80:r=25:d=1 "
#define SOUND_IN "-f lavfi -i 'aevalsrc=sin(2000*t*t)|0.4*sin(700*t):s=44100:d=1' "

struct packet_row {
    int64_t pts, dts;
    int stream;
    size_t n;
    uint32_t flags, side; /* side: bit k for kind k */
    int changed;
};

/* Everything of one input. */
struct media_all {
    int open_code, end_code,
        after_code; /* the first code that is not a packet, and the one behind it */
    struct swt_diag diag;
    struct media_source_info info; /* streams stay valid: the source is kept open */
    struct media_source *source;
    struct packet_row *packets;
    int n_packets;
};

/* Decoded bytes of one stream, as the ffmpeg tool writes them raw. */
struct decoded {
    uint8_t *bytes;
    size_t n_bytes, cap;
    int64_t tag[4096];
    int n_frames, n_corrupt, n_errors;
    bool is_interlaced, is_top_first;
    struct media_frame last; /* its pointers are stale */
};

static inline const struct media_source_ops *sources(void)
{
    static const struct media_source_ops *ops;
    struct swt_diag d;
    if (!ops && media_sources(&ops, &d) < 0) {
        printf("# %s\n", d.text);
        abort();
    }
    return ops;
}

static inline const struct media_decoder_ops *decoders(void)
{
    static const struct media_decoder_ops *ops;
    struct swt_diag d;
    if (!ops && media_decoders(&ops, &d) < 0) {
        printf("# %s\n", d.text);
        abort();
    }
    return ops;
}

/* Make a file once, by the ffmpeg tool. */
__attribute__((format(printf, 1, 2))) static inline bool make(const char *format, ...)
{
    char arguments[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(arguments, sizeof arguments, format, args);
    va_end(args);
    tool_enter();
    return strncmp(tool_run("ffmpeg -nostdin -v error -y %s", arguments), "status", 6) != 0;
}

static inline void all_done(struct media_all *a)
{
    if (a->source)
        sources()->close(&a->source);
    free(a->packets);
    memset(a, 0, sizeof *a);
}

static inline void remember(struct media_all *a, const struct media_packet *p, int changed)
{
    struct packet_row *grown = realloc(a->packets, (size_t)(a->n_packets + 1) * sizeof *grown);
    if (!grown)
        abort();
    a->packets = grown;
    struct packet_row *row = &grown[a->n_packets++];
    *row = (struct packet_row){p->pts, p->dts, p->stream, p->n_data, p->flags, 0, changed};
    for (int i = 0; i < p->n_side; i++)
        row->side |= 1u << p->side[i].kind;
}

/* Open, read to the end, keep open. `keep` may be NULL. */
static inline struct media_all read_all(const char *input, int64_t timeout_ns, const uint8_t *keep)
{
    struct media_all a = {0};
    struct media_source_spec spec = {.input = input, .timeout_ns = timeout_ns};
    a.open_code = sources()->open(&spec, &a.source, &a.diag);
    if (a.open_code < 0)
        return a;
    if (keep)
        sources()->choose(a.source, keep);
    struct media_packet p;
    int changed;
    while ((a.end_code = sources()->read(a.source, &p, &changed, &a.diag)) == 0)
        remember(&a, &p, changed);
    struct swt_diag after;
    a.after_code = sources()->read(a.source, &p, &changed, &after);
    a.info = *sources()->info(a.source);
    return a;
}

static inline void put(struct decoded *d, const uint8_t *bytes, size_t n)
{
    if (d->n_bytes + n > d->cap) {
        d->cap = 2 * (d->n_bytes + n);
        d->bytes = realloc(d->bytes, d->cap);
        if (!d->bytes)
            abort();
    }
    memcpy(d->bytes + d->n_bytes, bytes, n);
    d->n_bytes += n;
}

static inline void put_frame(struct decoded *d, const struct media_frame *f)
{
    static const size_t bytes_of[SWT_N_DTYPES] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
    if (f->n_samples > 0)
        put(d, f->samples, bytes_of[f->dtype] * (size_t)f->channels * (size_t)f->n_samples);
    for (int p = 0; f->width > 0 && f->pixfmt && p < f->pixfmt->n_planes; p++)
        for (int y = 0; y < pixfmt_rows(f->pixfmt, p, f->height); y++)
            put(d, f->plane[p] + (ptrdiff_t)y * f->stride[p],
                (size_t)pixfmt_row_bytes(f->pixfmt, p, f->width));
    if (d->n_frames < 4096)
        d->tag[d->n_frames] = f->tag;
    d->n_frames++;
    d->n_corrupt += f->is_corrupt;
    d->is_interlaced = f->is_interlaced;
    d->is_top_first = f->is_top_first;
    d->last = *f;
}

static inline void take_frames(struct media_decoder *decoder, struct decoded *d)
{
    struct media_frame f;
    int rc;
    while ((rc = decoders()->receive(decoder, &f, NULL)) != 0 && rc != SWT_E_END) {
        if (rc == 1)
            put_frame(d, &f);
        else if (++d->n_errors > 1000)
            abort();
    }
}

/* Decode stream `stream` of an input. -1: it cannot be opened. */
static inline int decode_all(const char *input, int stream, int threads, struct decoded *ret)
{
    struct media_source_spec spec = {.input = input, .timeout_ns = INT64_C(5000000000)};
    struct media_source *source = NULL;
    struct media_decoder *decoder = NULL;
    struct swt_diag d;
    memset(ret, 0, sizeof *ret);
    if (sources()->open(&spec, &source, &d) < 0 || stream >= sources()->info(source)->n_streams ||
        decoders()->open(&sources()->info(source)->streams[stream].params, threads, NULL, &decoder,
                         &d) < 0) {
        printf("# %s\n", d.text);
        return -1;
    }
    struct media_packet p;
    int changed;
    while (sources()->read(source, &p, &changed, &d) == 0) {
        if (p.stream != stream)
            continue;
        if (decoders()->send(decoder, &p, NULL) < 0)
            ret->n_errors++;
        take_frames(decoder, ret);
    }
    (void)decoders()->send(decoder, NULL, NULL);
    take_frames(decoder, ret);
    decoders()->close(&decoder);
    sources()->close(&source);
    return 0;
}

/* What the ffmpeg tool decodes of the same stream: video raw in `as` or as it is, sound as PCM `as`. */
static inline uint8_t *reference(const char *input, const char *map, const char *as, size_t *ret_n)
{
    bool is_sound = map[2] == 'a';
    const char *said =
        is_sound ? tool_run("ffmpeg -nostdin -v error -y -i '%s' -map %s -f %s -c:a pcm_%s ref.raw",
                            input, map, as, as)
                 : tool_run("ffmpeg -nostdin -v error -y -i '%s' -map %s -fps_mode passthrough "
                            "%s %s -f rawvideo ref.raw",
                            input, map, as[0] ? "-pix_fmt" : "", as);
    size_t cap = 64u << 20;
    uint8_t *bytes = malloc(cap);
    if (!bytes || strncmp(said, "status", 6) == 0)
        abort();
    *ret_n = tool_read("ref.raw", bytes, cap);
    return bytes;
}

static inline bool is_same(const struct decoded *d, const uint8_t *bytes, size_t n)
{
    if (d->n_bytes != n)
        printf("# %zu bytes, not %zu\n", d->n_bytes, n);
    return d->n_bytes == n && n > 0 && memcmp(d->bytes, bytes, n) == 0;
}

#endif
