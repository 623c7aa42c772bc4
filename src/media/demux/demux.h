/* SPDX-License-Identifier: MIT
 *
 * demux.h - what the files of swt-demux.so share: one source is either FFmpeg's or libsndfile's. Nothing of
 * it leaves the module.
 */
#ifndef MEDIA_DEMUX_DEMUX_H
#define MEDIA_DEMUX_DEMUX_H

#include <libavformat/avformat.h>

#include "media/codec/av.h"

/* ---- waiting ------------------------------------------------------------------------------------- */

enum demux_why { DEMUX_GO_ON, DEMUX_STOPPED, DEMUX_TIMED_OUT };

struct demux_wait {
    const atomic_int *stop; /* may be NULL */
    int64_t timeout_ns;     /* <= 0: for ever */
    int64_t since_ns;       /* CLOCK_MONOTONIC: last sign of life */
    enum demux_why why;     /* once set it stays */
};

void demux_wait_alive(struct demux_wait *w);
/* 0 to go on waiting, else AVERROR_EXIT. */
int demux_wait_check(struct demux_wait *w);

/* ---- what the user named ------------------------------------------------------------------------- */

enum demux_input_kind { DEMUX_FILE, DEMUX_STDIN, DEMUX_DEVICE, DEMUX_URL };

struct demux_input {
    enum demux_input_kind kind;
    const char *text; /* as given; borrowed */
    const char *name; /* path, URL, or what follows "DEVICE:" */
    char device[16];  /* FFmpeg's name of the device's format */
    int fd;           /* DEMUX_FILE and DEMUX_STDIN; owned, but for standard input */
    bool is_regular;
};

/* errors: SWT_E_INPUT */
int demux_input_open(const char *text, struct demux_input *ret_input, struct swt_diag *reterr);
void demux_input_close(struct demux_input *input);

/* errors: SWT_E_INPUT when this FFmpeg has no such device */
int demux_device_find(const struct demux_input *input, const AVInputFormat **ret_format,
                      struct swt_diag *reterr);

/* ---- bytes of a file or pipe --------------------------------------------------------------------- */

#define DEMUX_HEAD_BYTES 4096

struct demux_bytes {
    struct demux_wait *wait;  /* borrowed */
    AVIOContext *avio;        /* owned */
    int fd;                   /* borrowed */
    bool is_seekable, is_fed; /* is_fed: a byte has arrived */
    int64_t base, pos;        /* file offset where the input begins; position in the input */
    int64_t reached;          /* furthest byte read */
    uint8_t head[DEMUX_HEAD_BYTES];
    size_t n_head;
};

int demux_bytes_open(const struct demux_input *input, struct demux_wait *wait,
                     struct demux_bytes **ret);
void demux_bytes_close(struct demux_bytes **bytes);

/* Whether a container of this format says itself that it should be longer than what was read of it. */
bool demux_ends_early(const struct demux_bytes *bytes, const char *format);
/* Where a RIFF file ends by its header, up to its last 8 bytes; 0: it does not say. */
int64_t demux_riff_end(const uint8_t *head, size_t n);
/* Whether an MP4 has its pictures before its index: no use without seeking. */
bool demux_index_is_last(const struct demux_bytes *bytes);

/* ---- time stamps of streams that have none ------------------------------------------------------- */

struct demux_parse {
    struct AVCodecParserContext *parser; /* owned; NULL: there is none for this codec */
    struct AVCodecContext *ctx;          /* owned */
};
int demux_parse_open(const AVCodecParameters *par, struct demux_parse *ret);
void demux_parse_close(struct demux_parse *parse);
/* Look into one whole packet; the parser's fields then tell of it. */
void demux_parse_packet(struct demux_parse *parse, const AVPacket *packet);

struct demux_order;
int demux_order_new(const AVCodecParameters *par, AVRational time_base, AVRational rate,
                    struct demux_order **ret);
void demux_order_free(struct demux_order **order);
/* Moves the packet in. -ENOMEM. */
int demux_order_push(struct demux_order *order, AVPacket *packet, const struct demux_parse *parse,
                     int64_t capture_ns);
void demux_order_drain(struct demux_order *order);
/* true: the next packet in decode order, with time stamps, was moved out. */
bool demux_order_pop(struct demux_order *order, AVPacket *ret_packet, int64_t *ret_capture_ns);

/* ---- streams ------------------------------------------------------------------------------------- */

/* Describe a video or sound stream. errors: -ENOMEM, SWT_E_UNSUPPORTED */
int demux_stream_fill(AVFormatContext *ctx, AVStream *st, const AVCodecParameters *par,
                      struct media_stream *ret);
/* " subtitle (subrip)" of a stream that is left out. */
void demux_stream_leave_out(const AVStream *st, char *text, size_t cap);
int demux_set_extra(struct params *p, const uint8_t *data, size_t n);

/* ---- sources ------------------------------------------------------------------------------------- */

struct demux_kind {
    int (*read)(struct media_source *source, struct media_packet *ret_packet, int *ret_changed,
                struct swt_diag *reterr);
    void (*choose)(struct media_source *source, const uint8_t *keep);
    void (*free)(struct media_source *source); /* all but the base */
};

/* The base of both kinds of source. */
struct media_source {
    const struct demux_kind *kind;
    struct log_to log;
    struct demux_wait wait;
    struct demux_input input;
    struct media_source_info info;
    struct media_stream *streams; /* owned; info.streams is the same */
    char *text;                   /* owned; input.text */
    int end_code;                 /* after the last packet; 0: not there yet */
    char end_text[256];
};

/* 0 when libsndfile reads this file and *ret is it, 1 when it is none of its files, else an error. */
int demux_soundfile_open(const struct demux_input *input, struct media_source **ret,
                         struct swt_diag *reterr);
/* A fresh source that still knows nothing of its input. */
struct media_source *demux_av_new(void);
int demux_av_start(struct media_source *source, struct swt_diag *reterr);

/* The end of a source, told once as SWT_E_LOST, then as SWT_E_END. */
int demux_end(struct media_source *source, struct swt_diag *reterr);

extern const struct media_source_ops demux_source_ops;
struct av_log_scope demux_log_begin(const struct log_to *log);

#endif
