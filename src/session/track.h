/* SPDX-License-Identifier: MIT
 *
 * track.h - one stream of an input on its way into the recording: placed in time, kept as packets, decoded and
 * converted to a tensor, or both. Runs in its input's thread.
 */
#ifndef SESSION_TRACK_H
#define SESSION_TRACK_H

#include "base/soundline.h"
#include "session/hold.h"
#include "session/sink.h"
#include "session/timeline.h"
#include "tensor/convert.h"

/* Limits shared by all tracks of a session; times on the recording's line. */
struct limits {
    _Atomic int64_t end_ns; /* nothing at or after this is stored; INT64_MAX none */
};

/* Pictures in flight in a decoder: what was known of their packets. */
#define TRACK_IN_FLIGHT 512
struct in_flight {
    int64_t time_ns, src_pts, capture_ns;
    uint32_t flags, duration;
};

struct track {
    const struct swt_record_spec *spec; /* borrowed */
    const struct media_stream *stream;  /* borrowed from the source */
    struct log_to log;
    int index; /* stream index in the source */
    bool is_video;
    bool is_done;                   /* no more packets are needed */
    bool tensor_done, packets_done; /* that output has all it wants */
    struct timeline *line;          /* of the input; borrowed */
    struct timeline_stream place;
    struct limits *limits;         /* borrowed */
    int64_t frames_limit;          /* > 0: this track decides --frames */
    struct sink *packets, *tensor; /* borrowed from the record; either may be NULL */

    /* packets */
    struct hold hold;
    bool has_packet_format;

    /* decoding */
    const struct media_decoder_ops *decoder_ops;
    struct media_decoder *decoder; /* owned */
    struct in_flight flight[TRACK_IN_FLIGHT];
    int64_t n_sent;    /* ordinal of the next packet, used as its tag */
    int64_t last_ns;   /* time of the newest picture stored; INT64_MIN none */
    uint64_t n_stored; /* pictures stored in `tensor` */
    bool has_key;      /* a key has come: decoding can begin */
    int64_t key_ns;    /* time of that key; pictures before it may lean on ones never received */
    bool gap_before;   /* flag the next one: time is missing before it */

    /* pictures */
    struct converter *converter; /* owned */
    uint8_t *picture;            /* owned; one converted frame */
    struct params out;           /* of the tensor; owned */
    struct store_item held;      /* --fps: the picture on display */
    bool has_held;
    int64_t grid_ns, grid_n; /* --fps: time of grid point 0, next grid point */

    /* sound */
    struct soundline sound;
    const struct media_resampler_ops *resampler_ops;
    struct media_resampler *resampler; /* owned */
    struct media_resampler_spec resample;
    struct soundline in_sound; /* what goes into the resampler */
    int64_t capture_ns;        /* of the newest packet */
};

/* `offset` etc. come from `line`, which must be placed already. */
int track_init(struct track *t, const struct swt_record_spec *spec,
               const struct media_stream *stream, int index, struct timeline *line,
               struct limits *limits);
void track_done(struct track *t);

/* One packet of this stream. errors: those of the store (-ENOSPC …), SWT_E_NO_DECODER, SWT_E_UNSUPPORTED. A packet
 * that cannot be decoded is counted, not an error. */
int track_packet(struct track *t, const struct media_packet *p, struct swt_diag *reterr);
/* The stream's parameters have changed from the next packet on. */
int track_changed(struct track *t, struct swt_diag *reterr);
/* End of the input: drain everything. */
int track_end(struct track *t, struct swt_diag *reterr);

/* Parts, one file each. */
int track_keep(struct track *t, const struct store_item *item, const struct media_packet *p,
               int64_t dts_ns, struct swt_diag *reterr); /* track_keep.c */
int track_keep_end(struct track *t, struct swt_diag *reterr);
int track_picture(struct track *t, const struct media_frame *f,
                  struct swt_diag *reterr); /* track_picture.c */
int track_picture_end(struct track *t, struct swt_diag *reterr);
int track_sound(struct track *t, const struct media_frame *f,
                struct swt_diag *reterr); /* track_sound.c */
int track_sound_end(struct track *t, struct swt_diag *reterr);

#endif
