/* SPDX-License-Identifier: MIT
 *
 * swt.h - the one public header of libswt: record streams into append-only segment files, take windows
 * of them, look at them and check them. C99, C++-clean. Nothing here prints, exits, reads the
 * environment or installs signal handlers.
 *
 * Sections in order of use: errors and log; words of the command line (positions, sizes, names);
 * recording; looking (info); windows; verify.
 */
#ifndef SWT_H
#define SWT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SWT_VERSION "0.1.0"

#define SWT_NAME_CAP   64 /* stream names: [a-z0-9][a-z0-9._-]{0,62} and a NUL */
#define SWT_FORMAT_CAP 32 /* names of codecs, pixel formats, channel layouts: and a NUL */
#define SWT_MAX_DIMS   8  /* dimensions of one tensor, the time axis included */

/* Version of the library that is linked, as "MAJOR.MINOR.PATCH". Any thread. */
const char *swt_version(void);

/* ---- errors ------------------------------------------------------------------------------------ */

/* Functions return >= 0 on success and a negative code on failure: -errno where the kernel said it,
 * else one of these. Values are pinned and never reused. */
enum swt_error {
    SWT_E_NOT_RECORDING = -20000, /* the path is not a recording */
    SWT_E_NEWER = -20001,     /* written by a newer format version, or an unknown incompat bit */
    SWT_E_CORRUPT = -20002,   /* bytes on disk do not match their checksum or their bounds */
    SWT_E_NO_STREAM = -20003, /* no stream of that name */
    SWT_E_NO_WINDOW =
        -20004,           /* frames asked for are not there: not yet recorded, pruned, too short */
    SWT_E_RUNS = -20005,  /* a window across a format change */
    SWT_E_GAP = -20006,   /* a gap in a window that must have none */
    SWT_E_BUSY = -20007,  /* another process writes this stream */
    SWT_E_INPUT = -20008, /* an input cannot be opened or understood */
    SWT_E_NO_DECODER = -20009,  /* no decoder for this codec */
    SWT_E_NO_MEDIA = -20010,    /* the media module is missing or of another version */
    SWT_E_UNSUPPORTED = -20011, /* a combination swt does not do */
    SWT_E_USAGE = -20012,       /* an argument that cannot be right */
    SWT_E_END = -20013,         /* the source has ended */
    SWT_E_TIMEOUT = -20014,     /* a source went silent */
    SWT_E_LOST = -20015,        /* done, but data that existed is not stored or not intact */
    SWT_E_STOPPED = -20016      /* stopped by swt_record_stop before anything was opened */
};

/* Where and why something failed. Written only on failure; every function that takes one accepts NULL. */
struct swt_diag {
    int code;       /* the returned code */
    int64_t offset; /* bytes from the start of `path`, -1 where it has no meaning */
    int64_t frame;  /* frame number, -1 where it has no meaning */
    char path[256]; /* file or recording, "" where it has no meaning; shortened from the left */
    char stream[SWT_NAME_CAP]; /* stream name, "" where it has no meaning */
    char text[512];            /* one line: what failed, why, and what to do */
};

/* Short English text for a code. Never NULL; static storage. Any thread. */
const char *swt_strerror(int code);

/* Exit status of the command line for a code: 0 done, 1 failed, 2 usage, 3 data lost, 4 no such window. */
int swt_exit_code(int code);

enum swt_log_level { SWT_LOG_ERROR, SWT_LOG_WARNING, SWT_LOG_INFO, SWT_LOG_DEBUG };

/* Receives one line of text without newline; may be called from any thread of the library. */
typedef void swt_log_fn(void *arg, enum swt_log_level level, const char *room, const char *text);

/* ---- words: what people type ------------------------------------------------------------------- */

enum swt_dtype {
    SWT_DTYPE_NONE,
    SWT_U8,
    SWT_U16,
    SWT_U32,
    SWT_U64,
    SWT_S8,
    SWT_S16,
    SWT_S32,
    SWT_S64,
    SWT_F16,
    SWT_BF16,
    SWT_F32,
    SWT_F64,
    SWT_N_DTYPES
};

/* A place in a stream. `value`: frames or ns, as the kind says. */
enum swt_pos_kind {
    SWT_POS_NONE,
    SWT_POS_FRAME,      /* absolute frame number */
    SWT_POS_FRAME_BACK, /* frames back from the end */
    SWT_POS_TIME,       /* media time, ns */
    SWT_POS_TIME_BACK,  /* ns back from the end */
    SWT_POS_WALL,       /* wall clock, ns since 1970 UTC */
    SWT_POS_START,
    SWT_POS_END,
    SWT_POS_NOW
};
struct swt_pos {
    enum swt_pos_kind kind;
    int64_t value;
};

/* A length: frames or time. */
enum swt_length_kind { SWT_LENGTH_NONE, SWT_LENGTH_FRAMES, SWT_LENGTH_TIME };
struct swt_length {
    enum swt_length_kind kind;
    int64_t value; /* frames or ns, > 0 */
};

struct swt_ratio {
    int64_t num, den; /* den > 0; 0/1 = unknown */
};

/* Parsers of the command line's words (cli.md). The whole text must be one word of the kind.
 * errors: SWT_E_USAGE with a text that says what is wrong and what would be right. Any thread. */
int swt_pos_parse(const char *text, struct swt_pos *ret_pos, struct swt_diag *reterr);
int swt_length_parse(const char *text, struct swt_length *ret_length, struct swt_diag *reterr);
int swt_duration_parse(const char *text, int64_t *ret_ns, struct swt_diag *reterr);
int swt_bytes_parse(const char *text, uint64_t *ret_bytes, struct swt_diag *reterr);
int swt_ratio_parse(const char *text, struct swt_ratio *ret_ratio, struct swt_diag *reterr);

/* Name of a dtype as on the command line ("u8"), "none" for SWT_DTYPE_NONE; size in bytes, 0 for none. */
const char *swt_dtype_name(enum swt_dtype dtype);
size_t swt_dtype_bytes(enum swt_dtype dtype);
int swt_dtype_parse(const char *text, enum swt_dtype *ret_dtype, struct swt_diag *reterr);

/* Name of the i-th known pixel format, NULL past the last. For help, completions and checks. */
const char *swt_pixel_name(size_t i);

/* ---- recording --------------------------------------------------------------------------------- */

enum swt_store { SWT_STORE_DEFAULT, SWT_STORE_PACKETS, SWT_STORE_TENSOR, SWT_STORE_BOTH };

struct swt_record;

/* Live figures of one stream being recorded. units: in = stored + dropped, always. */
struct swt_record_stream {
    char name[SWT_NAME_CAP];
    char kept[256];         /* how it is kept, for the summary: "video kept as h264 packets" */
    char note[256];         /* advice for the summary, "" if none */
    uint64_t frames_in;     /* frames (pictures, samples, rows) or packets that arrived */
    uint64_t frames_stored; /* of those, stored */
    uint64_t frames_dropped;
    uint64_t frames_damaged; /* stored, but flagged corrupt or damaged */
    uint64_t frames_visible; /* frames a reader can see of this session */
    uint64_t gaps;
    uint64_t bytes;      /* payload bytes stored by this session */
    int64_t duration_ns; /* end of the last frame minus start of the first, media time */
    int is_packets;      /* frames_in/_stored/_dropped count packets */
};

struct swt_record_spec {
    const char *path;          /* the recording; created if it is not there */
    const char *const *inputs; /* path, URL, "-" or DEVICE:NAME */
    size_t n_inputs;
    enum swt_store store;
    int width, height;     /* > 0: video as tensors of this size */
    struct swt_ratio fps;  /* num > 0: video as tensors at this rate */
    const char *pixel;     /* pixel format of tensors; NULL = the source's own */
    int rate_hz, channels; /* > 0: sound as tensors like this */
    enum swt_dtype dtype;  /* sound sample type; NONE = the source's own */
    const char *tensor;    /* "DTYPE[:SHAPE]": raw rows on stdin; else NULL */
    const char *names;     /* "A,B": names of the streams in order; NULL = video, audio … */
    const char *video,
        *audio;              /* "none", "all" (audio), or an index among its kind; NULL = default */
    int64_t duration_ns;     /* > 0: stop after this much media time */
    int64_t frames;          /* > 0: stop after so many of the first video, else first stream */
    uint64_t segment_bytes;  /* > 0: payload bytes of a segment */
    int64_t segment_ns;      /* > 0: media time of a segment */
    int64_t sync_ns;         /* time between syncs; 0 = each entry; < 0 = default 1 s */
    int64_t timeout_ns;      /* > 0: a silent source is given up after this; 0 = default 10 s */
    const char *control_dir; /* where control files live; NULL = /dev/shm/swt-UID */
    swt_log_fn *log;         /* may be NULL */
    void *log_arg;
    /* Called about five times a second from swt_record_run's thread; may be NULL. */
    void (*progress)(void *arg, const struct swt_record_stream *streams, size_t n_streams);
    void *progress_arg;
};

/* Fill a spec with defaults. */
void swt_record_spec_init(struct swt_record_spec *spec);

/* Open the inputs, create or open the recording, take the write locks of its streams.
 * owner:  `spec` and what it points to are borrowed until swt_record_close
 * errors: SWT_E_INPUT, SWT_E_USAGE, SWT_E_BUSY (who holds it), SWT_E_NEWER, -errno
 * thread: one thread */
int swt_record_open(const struct swt_record_spec *spec, struct swt_record **ret_record,
                    struct swt_diag *reterr);

/* Record until the inputs end, a limit is reached, or swt_record_stop is called.
 * errors: SWT_E_LOST when something that existed is not stored or not intact; what was stored stays.
 *         Any other code: recording ended early, what was stored before stays readable. */
int swt_record_run(struct swt_record *record, struct swt_diag *reterr);

/* Ask a running swt_record_run to finish cleanly. Async-signal-safe; any thread. */
void swt_record_stop(struct swt_record *record);

/* Figures of stream i. errors: SWT_E_NO_STREAM past the last. After run has returned they are final. */
int swt_record_stream_get(const struct swt_record *record, size_t i, struct swt_record_stream *ret);

/* Seal, sync and free. Accepts NULL and *record == NULL; sets *record = NULL. */
void swt_record_close(struct swt_record **record);

/* ---- appending --------------------------------------------------------------------------------- */

/* Frames that a program makes itself, straight into a tensor stream: no input, no conversion, no thread of its own
 * beside the helper that syncs. */
struct swt_append;

struct swt_append_spec {
    const char *path;   /* the recording; created if it is not there */
    const char *stream; /* NULL = "tensor" */
    enum swt_dtype dtype;
    int n_dims; /* shape of one frame, the time axis left out; 0 = one value */
    int64_t shape[SWT_MAX_DIMS];
    struct swt_ratio rate;   /* frames a second; num 0 = each append carries its time */
    uint64_t segment_bytes;  /* > 0: payload bytes of a segment */
    int64_t sync_ns;         /* time between syncs; 0 = each append; < 0 = default 1 s */
    const char *control_dir; /* NULL = /dev/shm/swt-UID */
    swt_log_fn *log;
    void *log_arg;
};
void swt_append_spec_init(struct swt_append_spec *spec);

/* errors: SWT_E_USAGE, SWT_E_BUSY (who holds the stream), SWT_E_UNSUPPORTED (a stream of another kind), -errno
 * thread: one thread per writer; any number of readers in any process */
int swt_append_open(const struct swt_append_spec *spec, struct swt_append **ret_append,
                    struct swt_diag *reterr);

/* Append `n` frames; when it returns they are visible to every reader and survive kill -9 (frames of less than 4 KiB are
 * grouped: within 10 ms).
 * shape:  [n][shape…] of dtype, row-major, no padding
 * units:  time_ns: media time of the first frame, INT64_MIN = now (streams without a rate) or one frame after the last
 * owner:  `data` stays the caller's; nothing is kept
 * errors: -ENOSPC and other -errno: nothing of this call after `*ret_stored` (may be NULL) frames is stored */
int swt_append_frames(struct swt_append *append, const void *data, int64_t n, int64_t time_ns,
                      int64_t *ret_stored, struct swt_diag *reterr);

/* Number that the next frame will get. */
int64_t swt_append_next(const struct swt_append *append);

/* Seal, sync, free. Accepts NULL; sets *append = NULL. The first error that cost durability, else 0. */
int swt_append_close(struct swt_append **append, struct swt_diag *reterr);

/* ---- looking ----------------------------------------------------------------------------------- */

struct swt_recording;

enum swt_kind { SWT_KIND_NONE, SWT_KIND_TENSOR, SWT_KIND_PACKETS, SWT_KIND_ARRAY };

/* Open a recording for reading, live or closed.
 * errors: SWT_E_NOT_RECORDING, SWT_E_NEWER, SWT_E_CORRUPT, -errno
 * thread: one thread at a time per recording */
int swt_recording_open(const char *path, struct swt_recording **ret_recording,
                       struct swt_diag *reterr);
void swt_recording_close(struct swt_recording **recording);

/* Number of streams; names are sorted: video, audio, then by name. */
size_t swt_recording_n_streams(const struct swt_recording *recording);
const char *swt_recording_path(const struct swt_recording *recording);
const char *swt_recording_uuid(const struct swt_recording *recording);

struct swt_stream_info {
    char name[SWT_NAME_CAP];
    enum swt_kind kind;
    char media[8];              /* video audio rows text */
    char codec[SWT_FORMAT_CAP]; /* of packets; "" for tensors */
    char pixel[SWT_FORMAT_CAP]; /* pixel format of pictures */
    enum swt_dtype dtype;       /* of sound samples and rows; of a picture's component */
    int n_dims;                 /* shape of one frame, the time axis left out */
    int64_t shape[SWT_MAX_DIMS];
    int width, height;     /* upright */
    int rotation;          /* degrees clockwise that were or will be applied to the coded picture */
    struct swt_ratio rate; /* frames a second; 0/1 = none */
    struct swt_ratio sar;  /* sample aspect ratio, 0/1 = unknown */
    int channels;
    char channel_layout[64];
    char matrix[SWT_FORMAT_CAP], range[SWT_FORMAT_CAP], transfer[SWT_FORMAT_CAP];
    char primaries[SWT_FORMAT_CAP], field_order[SWT_FORMAT_CAP];
    int64_t first_frame; /* oldest frame kept */
    int64_t frames;      /* frames kept: first_frame .. first_frame + frames - 1 */
    int64_t
        durable_frames; /* of the whole stream: survives power loss, as an absolute frame number */
    int64_t packets;    /* entries kept (packet streams), else 0 */
    int64_t first_ns, last_ns,
        end_ns; /* time of the first and last frame; last plus its duration */
    int64_t first_wall_ns, last_wall_ns; /* all five: INT64_MIN where that is not known */
    uint64_t bytes;                      /* payload bytes kept */
    uint64_t segments, runs, sessions;
    uint64_t gaps, discontinuities, dropped,
        damaged;        /* of the whole stream, pruned parts included */
    int is_live;        /* a writer holds the stream now */
    int is_default;     /* what `window` takes without --stream */
    int64_t writer_pid; /* of a live stream, else 0 */
};

/* errors: SWT_E_NO_STREAM past the last, SWT_E_CORRUPT, SWT_E_NEWER */
int swt_recording_stream(struct swt_recording *recording, size_t i,
                         struct swt_stream_info *ret_info, struct swt_diag *reterr);

/* ---- windows ----------------------------------------------------------------------------------- */

enum swt_select {
    SWT_SELECT_NONE,
    SWT_SELECT_LAST,  /* the newest `length` */
    SWT_SELECT_RANGE, /* from (inclusive) .. to (exclusive), or from .. from + length */
    SWT_SELECT_AT,    /* the frame on display at `from` */
    SWT_SELECT_FRAMES /* a list of absolute frame numbers */
};
enum swt_edge { SWT_EDGE_ERROR, SWT_EDGE_TRIM, SWT_EDGE_REPEAT, SWT_EDGE_ZERO };
enum swt_filter { SWT_FILTER_BILINEAR, SWT_FILTER_AREA, SWT_FILTER_BICUBIC, SWT_FILTER_NEAREST };
enum swt_layout { SWT_LAYOUT_THWC, SWT_LAYOUT_TCHW, SWT_LAYOUT_CTHW };

struct swt_window_spec {
    const char *stream; /* NULL = default stream */
    enum swt_select select;
    struct swt_length length;
    struct swt_pos from, to;
    const int64_t *frames; /* SWT_SELECT_FRAMES: borrowed until open returns */
    size_t n_frames;
    int64_t stride; /* >= 1; `length` counts frames given */
    enum swt_edge edge;
    int no_gaps;       /* a gap inside is SWT_E_GAP */
    int width, height; /* > 0: resize */
    enum swt_filter filter;
    int crop_width, crop_height, crop_x,
        crop_y;           /* > 0: crop after turning upright, before resize; x, y < 0 = centred */
    const char *pixel;    /* NULL = default (rgb24, gray, gray16, rgb48); "stored" = as stored */
    enum swt_dtype dtype; /* NONE = default */
    enum swt_layout layout;
    int has_norm; /* value = (x / full scale - mean) / std per channel; dtype must be a float type */
    double mean[4], std[4];
    int n_norm; /* how many of them were given: 1 for all channels, or one a channel; 0 = not checked */
    int unchecked; /* skip the CRC check of each frame */
    int for_format; /* enum swt_file_format it will be written in, 0 = not known: y4m without `pixel` gives a planar
                     * format instead of RGB; ndjson decodes nothing */
    swt_log_fn *log;
    void *log_arg;
};
void swt_window_spec_init(struct swt_window_spec *spec);

struct swt_window;

struct swt_window_info {
    int64_t n_frames; /* frames given, padding included */
    int64_t n_valid;  /* of those, real ones */
    int n_dims;       /* of the tensor, the time axis included */
    int64_t shape[SWT_MAX_DIMS];
    enum swt_dtype dtype;
    uint64_t frame_bytes, bytes; /* of the tensor given */
    char stream[SWT_NAME_CAP];
    char media[8];
    char pixel[SWT_FORMAT_CAP]; /* of the pictures given */
    int width, height;          /* of the pictures given */
    int is_converted;           /* 0: the tensor is the stored bytes, swt_window_map works */
    struct swt_ratio rate;
    int channels;
    char note[256]; /* "" or something the user should know, e.g. alpha left out */
};

/* One frame of a window. */
struct swt_frame_info {
    int64_t frame; /* absolute number */
    int64_t pts_ns, wall_ns, src_pts;
    int is_valid; /* 0: padding (--edge repeat or zero) */
    int is_key, is_gap, is_discontinuity, is_damaged;
    uint32_t dropped_before;
};

/* Resolve a selection to exact frames of one run; nothing is decoded yet.
 * owner:  the recording must outlive the window
 * errors: SWT_E_NO_STREAM, SWT_E_NO_WINDOW, SWT_E_RUNS, SWT_E_GAP, SWT_E_USAGE, SWT_E_UNSUPPORTED
 * thread: one thread at a time per recording */
int swt_window_open(struct swt_recording *recording, const struct swt_window_spec *spec,
                    struct swt_window **ret_window, struct swt_diag *reterr);
void swt_window_close(struct swt_window **window);

/* Resolve the same selection again on what is there now: `last 64` becomes the newest 64. Cheap: no allocation when the
 * format is the same. A map taken before stays valid until swt_window_close.
 * errors: as swt_window_open; on failure the window is as before */
int swt_window_refresh(struct swt_window *window, struct swt_diag *reterr);

/* Wait until the stream holds a frame that is newer than the window's view of it, at most `timeout_ns`.
 * 1 there is one (refresh takes it in), 0 not. */
int swt_window_wait(struct swt_window *window, int64_t timeout_ns, struct swt_diag *reterr);
void swt_window_info_get(const struct swt_window *window, struct swt_window_info *ret_info);

/* Details of frame i of the window, 0 <= i < n_frames. */
int swt_window_frame(struct swt_window *window, int64_t i, struct swt_frame_info *ret_frame,
                     struct swt_diag *reterr);

/* Borrow the tensor where it lies: zero copy, only of tensor streams with stride 1 and no conversion.
 * shape:  as in info; row-major, no padding
 * owner:  valid until swt_window_close; retention and appending do not disturb it
 * errors: SWT_E_UNSUPPORTED when a conversion is needed; CRCs are not checked */
int swt_window_map(struct swt_window *window, const void **ret_data, struct swt_diag *reterr);

/* Copy frames first .. first + n - 1 of the window into `buf`, converted, each CRC checked before.
 * shape:  [n, ...] of info's shape without its time axis; CTHW only as a whole window
 * errors: -ENOBUFS `cap` too small; SWT_E_CORRUPT names file, offset and frame; SWT_E_NO_DECODER */
int swt_window_read(struct swt_window *window, int64_t first, int64_t n, void *buf, size_t cap,
                    struct swt_diag *reterr);

enum swt_file_format {
    SWT_FORMAT_NONE,
    SWT_FORMAT_RAW,
    SWT_FORMAT_NPY,
    SWT_FORMAT_WAV,
    SWT_FORMAT_Y4M,
    SWT_FORMAT_NDJSON,
    SWT_N_FILE_FORMATS
};
/* Name of a format, NULL past the last; format of a name or of a file name's suffix, NONE if unknown. */
const char *swt_file_format_name(enum swt_file_format format);
enum swt_file_format swt_file_format_parse(const char *name);
enum swt_file_format swt_file_format_of_path(const char *path);

/* Write the window to an open descriptor in a format (borrowed, not closed).
 * errors: as swt_window_read, -EPIPE and other -errno of write(2), SWT_E_UNSUPPORTED */
int swt_window_write(struct swt_window *window, enum swt_file_format format, int fd,
                     struct swt_diag *reterr);

/* Write the window into a file: under a temporary name beside it, renamed when complete.
 * On failure no file appears under `path` and an older one stays. */
int swt_window_save(struct swt_window *window, enum swt_file_format format, const char *path,
                    struct swt_diag *reterr);

/* Write the frame list as ndjson, one line a frame of the window; `path` as in swt_window_save. */
int swt_window_save_times(struct swt_window *window, const char *path, struct swt_diag *reterr);

/* ---- verify ------------------------------------------------------------------------------------ */

/* One damage found. `diag.path`, `.offset`, `.frame`, `.stream`, `.text` say where and what. */
typedef void swt_damage_fn(void *arg, const struct swt_diag *damage);

struct swt_verify_report {
    uint64_t streams, segments, entries, frames, bytes, damages;
};

/* Read and check everything: superblocks, slots, params, entries, payloads, seams.
 * errors: SWT_E_LOST when damage was found (each reported by `damage`), or why it could not be read */
int swt_verify(const char *path, swt_damage_fn *damage, void *arg,
               struct swt_verify_report *ret_report, struct swt_diag *reterr);

#ifdef __cplusplus
}
#endif
#endif
