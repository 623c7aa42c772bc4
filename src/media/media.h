/* SPDX-License-Identifier: MIT
 *
 * media.h - sources and decoders behind two tables of functions. The tables live in modules that are
 * opened only when they are needed: `swt-codec.so` (decoders, sound conversion) and `swt-demux.so`
 * (containers, devices, sound files). Signatures use swt and C types only; nobody outside src/media
 * sees a type of FFmpeg or libsndfile. The room prints nothing; library noise goes to the log.
 */
#ifndef MEDIA_MEDIA_H
#define MEDIA_MEDIA_H

#include <signal.h>
#include <stdatomic.h>

#include "base/log.h"
#include "base/params.h"
#include "base/pixfmt.h"

#define MEDIA_NO_PTS INT64_MIN

/* Side data in swt's own pinned kinds and layouts: the numbers of enum seg_side_kind (a test compares). */
enum media_side_kind {
    MEDIA_SIDE_SKIP_SAMPLES = 1,
    MEDIA_SIDE_BLOCK_ADDITIONAL = 2,
    MEDIA_SIDE_NEW_EXTRADATA = 3,
    MEDIA_SIDE_PALETTE = 4
};

struct media_side {
    uint32_t kind, n_bytes; /* enum media_side_kind */
    const uint8_t *data;    /* borrowed with the packet */
};
#define MEDIA_MAX_SIDE 8

enum media_packet_flag {
    MEDIA_PACKET_KEY = 1,
    MEDIA_PACKET_DISCARD = 2, /* decode it, show nothing of it (edit lists) */
    MEDIA_PACKET_CORRUPT = 4
};

struct media_packet {
    int stream; /* index of media_stream */
    const uint8_t *
        data; /* borrowed until the next read of the same source; zero-padded behind as decoders want */
    size_t n_data;
    int64_t pts, dts,
        duration; /* ticks of the stream's time base; MEDIA_NO_PTS unknown, duration 0 unknown */
    uint32_t flags;
    int n_side;
    struct media_side side[MEDIA_MAX_SIDE];
    int64_t capture_ns; /* CLOCK_BOOTTIME when it was read */
};

/* A decoded picture or stretch of sound. Borrowed until the next call on the same decoder. */
struct media_frame {
    int64_t
        tag; /* the pts of the packet that it came from, as sent; MEDIA_NO_PTS unknown. Of sound that was
                        * trimmed at its start: moved on by what was trimmed, the time of the first sample given */
    int64_t duration; /* ticks, 0 unknown */
    bool is_corrupt, is_key, is_interlaced, is_top_first;
    /* pictures, as coded (not turned) */
    int width, height;
    const struct pixfmt
        *pixfmt; /* NULL: a pixel format swt does not know; `pixel_name` says which */
    char pixel_name[SWT_FORMAT_CAP];
    const uint8_t *plane[PIXFMT_MAX_PLANES];
    int stride[PIXFMT_MAX_PLANES];                      /* bytes, may be negative */
    char matrix[SWT_FORMAT_CAP], range[SWT_FORMAT_CAP]; /* FFmpeg's names, "" unspecified */
    char primaries[SWT_FORMAT_CAP], transfer[SWT_FORMAT_CAP], chroma[SWT_FORMAT_CAP];
    struct swt_ratio sar;
    /* sound, interleaved */
    const uint8_t *samples;
    int n_samples, channels, rate_hz;
    enum swt_dtype
        dtype; /* u8 s16 s32 s64 f32 f64; 24-bit sound is s32 with its value in the high bits */
    char channel_layout[64];
};

/* ---- sources ------------------------------------------------------------------------------------- */

struct media_stream {
    struct params
        params; /* of the coded stream: media video or audio, codec, time base, sizes, tags … */
    bool is_default;  /* flagged default by the container, or the one a player would take */
    bool is_attached; /* cover picture or thumbnail: not a stream of pictures */
    bool is_raw;      /* uncompressed: rawvideo, wrapped frames, PCM (any width and byte order) */
    int64_t start;    /* ticks, MEDIA_NO_PTS unknown */
    char label[64];   /* language or title for messages, "" none */
};

struct media_source_spec {
    const char *input;  /* path, URL, "-" or DEVICE:NAME; an existing file always wins */
    int64_t timeout_ns; /* silence before giving up */
    const atomic_int
        *stop; /* non-zero: leave blocking calls soon with SWT_E_STOPPED; may be NULL */
    struct log_to log;
};

struct media_source_info {
    int n_streams;
    const struct media_stream *streams; /* owned by the source */
    bool is_live; /* device or network: the clock decides; else file or pipe */
    bool is_seekable;
    int64_t
        start_ns; /* the container's earliest start among its streams (video and audio), in ns */
    char format[SWT_FORMAT_CAP]; /* "mov,mp4,…" shortened to the first name */
    char left_out[256]; /* streams that are neither video nor sound, for the user; "" none */
};

struct media_source; /* opaque, of the module */

struct media_source_ops {
    /* errors: SWT_E_INPUT with a text for the user (no such file, empty file, not media, needs a seekable
     * file, missing protocol …), SWT_E_TIMEOUT, SWT_E_STOPPED, -errno */
    int (*open)(const struct media_source_spec *spec, struct media_source **ret_source,
                struct swt_diag *reterr);
    const struct media_source_info *(*info)(const struct media_source *source);
    /* Keep only the streams with keep[i] != 0; the rest is skipped cheaply. */
    void (*choose)(struct media_source *source, const uint8_t *keep);
    /* 0 a packet; SWT_E_END at a clean end; SWT_E_LOST the input ended early or was damaged (once, then END);
     * SWT_E_TIMEOUT, SWT_E_STOPPED, … A stream whose params change says so by `ret_changed` (stream index, else -1):
     * info()->streams[i].params are then new, from this packet on. */
    int (*read)(struct media_source *source, struct media_packet *ret_packet, int *ret_changed,
                struct swt_diag *reterr);
    void (*close)(struct media_source **source);
};

/* ---- decoders ------------------------------------------------------------------------------------ */

struct media_decoder; /* opaque, of the module */

struct media_decoder_ops {
    /* `threads` 0: as many as there are cores, frame threads allowed. Pictures are what the ffmpeg tool
     * decodes on this machine, byte by byte; damaged frames are given with is_corrupt rather than dropped
     * silently. errors: SWT_E_NO_DECODER, SWT_E_CORRUPT */
    int (*open)(const struct params *params, int threads, const struct log_to *log,
                struct media_decoder **ret_decoder, struct swt_diag *reterr);
    /* Send one packet; NULL data = end, drain. 0 taken; -EAGAIN receive first; SWT_E_CORRUPT this packet is
     * bad, go on. Only data, pts (kept as the frame's tag), dts, duration, flags and side are looked at. */
    int (*send)(struct media_decoder *decoder, const struct media_packet *packet,
                struct swt_diag *reterr);
    /* 1 a frame; 0 needs another packet; SWT_E_END drained; SWT_E_CORRUPT go on. Frames of DISCARD packets
     * are not given; sound is trimmed by skip-samples side data and encoder delay as FFmpeg does. */
    int (*receive)(struct media_decoder *decoder, struct media_frame *ret_frame,
                   struct swt_diag *reterr);
    void (*flush)(struct media_decoder *decoder); /* forget everything; next packet is a key */
    void (*close)(struct media_decoder **decoder);
};

/* ---- sound conversion (swresample) --------------------------------------------------------------- */

struct media_resampler;

struct media_resampler_spec {
    int in_rate_hz, in_channels, out_rate_hz, out_channels;
    char in_layout[64];                 /* "" = default of the count */
    enum swt_dtype in_dtype, out_dtype; /* u8 s16 s32 f32 f64 */
};

struct media_resampler_ops {
    int (*open)(const struct media_resampler_spec *spec, struct media_resampler **ret,
                struct swt_diag *reterr);
    /* Interleaved in, interleaved out (borrowed until the next call); in NULL drains. */
    int (*convert)(struct media_resampler *r, const void *in, int n_in, const void **ret_out,
                   int *ret_n_out, struct swt_diag *reterr);
    void (*close)(struct media_resampler **r);
};

/* ---- modules ------------------------------------------------------------------------------------- */

#define MEDIA_MODULE_ABI 1

struct media_module {
    int abi;                                     /* MEDIA_MODULE_ABI */
    const char *version;                         /* SWT_VERSION: must be equal */
    const struct media_source_ops *source;       /* swt-demux.so, else NULL */
    const struct media_decoder_ops *decoder;     /* swt-codec.so, else NULL */
    const struct media_resampler_ops *resampler; /* swt-codec.so, else NULL */
};

/* What the loader lends to a module: FFmpeg has one log function a process, so both modules find the log of
 * the call that a thread is in, in the same place. */
struct media_host {
    const struct log_to **(*log_slot)(void); /* of the calling thread; NULL in it: in no call */
    bool *is_log_of_codec; /* the log function that knows decoders' own threads is set and stays */
};

/* The one symbol a module exports; `host` is kept. */
typedef const struct media_module *media_module_fn(const struct media_host *host);
#define MEDIA_MODULE_SYMBOL "swt_media_module"

/* Open the module on first use (thread-safe, kept for the life of the process): beside the running binary, then
 * ../lib/swt from it, then beside libswt.so itself and its ./swt folder. errors: SWT_E_NO_MEDIA says what was
 * looked for, and which of the two (version, missing library) was wrong. */
int media_sources(const struct media_source_ops **ret_ops, struct swt_diag *reterr);
int media_decoders(const struct media_decoder_ops **ret_ops, struct swt_diag *reterr);
int media_resamplers(const struct media_resampler_ops **ret_ops, struct swt_diag *reterr);

#endif
