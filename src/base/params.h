/* SPDX-License-Identifier: MIT
 *
 * params.h - what a decoder and a reader must know of one run of a stream: the in-memory form of the
 * params block. Everything is by name or by value; no FFmpeg enum value is ever stored.
 */
#ifndef BASE_PARAMS_H
#define BASE_PARAMS_H

#include <stdbool.h>

#include "base/err.h"

#define PARAMS_EXTRA_CAP (1u << 20) /* bytes of extradata at most, less the rest of the block */

struct params {
    char media[8]; /* video audio rows text */

    /* packets */
    char codec[SWT_FORMAT_CAP]; /* FFmpeg's codec name: "h264"; "" for tensors */
    uint32_t codec_tag;
    int32_t profile, level; /* codec's own numbers, -99 unknown */
    uint8_t *extra;         /* owned */
    uint32_t n_extra;
    int32_t bits_per_sample, block_align, initial_padding, seek_preroll; /* samples, bytes */
    int64_t bit_rate;
    bool has_b_frames; /* decode order differs from display order */

    /* time */
    struct swt_ratio
        time_base; /* of src_pts, seconds a tick; tensors without a source: 1/rate or 1 ns */
    struct swt_ratio rate; /* frames a second: nominal for video, exact for sound; 0/1 = none */

    /* pictures: sizes of packets are as coded, of tensors as stored (upright) */
    int32_t width, height;
    char pixel[SWT_FORMAT_CAP];
    struct swt_ratio sar;
    int32_t rotation; /* degrees clockwise to turn the coded picture upright: 0 90 180 270 */
    bool hflip;       /* mirror left-right before turning */
    char matrix[SWT_FORMAT_CAP], range[SWT_FORMAT_CAP],
        primaries[SWT_FORMAT_CAP]; /* FFmpeg's names */
    char transfer[SWT_FORMAT_CAP], chroma[SWT_FORMAT_CAP], field_order[SWT_FORMAT_CAP];
    uint8_t mastering[88]; /* mastering display and light level, see swt-format(5); n bytes used */
    uint32_t n_mastering;

    /* sound and rows */
    enum swt_dtype dtype; /* of samples, of row values; of a packed picture's component */
    int32_t channels;
    char channel_layout[64]; /* FFmpeg's description: "stereo", "5.1(side)" */
    int32_t n_dims;          /* shape of one frame, the time axis left out */
    int64_t shape[SWT_MAX_DIMS];

    uint64_t frame_bytes; /* tensors: bytes of one frame; packets: 0 */
};

void params_init(struct params *p);
void params_done(struct params *p); /* frees `extra`; accepts a zeroed struct */
/* `dst` is storage without content: what it held before is not freed. 0 or -ENOMEM. */
int params_copy(struct params *dst, const struct params *src);

#endif
