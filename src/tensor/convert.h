/* SPDX-License-Identifier: MIT
 *
 * convert.h - pictures and sound from the form they are stored or decoded in to the form that is asked for:
 * upright, cropped, resized, other pixel format, other element type, normalised, other layout. What a pixel
 * becomes is defined in pixel.h; this is the loop around it. No I/O; knows neither store nor files.
 */
#ifndef TENSOR_CONVERT_H
#define TENSOR_CONVERT_H

#include "base/err.h"
#include "base/params.h"
#include "base/pixfmt.h"

/* A picture somewhere in memory; borrowed. */
struct picture {
    const struct pixfmt *pixfmt;
    int width, height; /* as it lies in memory */
    const uint8_t *plane[PIXFMT_MAX_PLANES];
    int stride[PIXFMT_MAX_PLANES]; /* bytes, may be negative */
    const char *matrix,
        *range; /* FFmpeg's names; "" = by convention: range tv for YUV, matrix bt601 (smpte170m) */
    int rotation; /* degrees clockwise still to be turned: 0 90 180 270 */
    bool hflip;   /* mirror left-right before turning */
};

/* Elements keep the samples' values: u8 0..255, above 8 bits 0..2^depth - 1, as floats too; norm is what
 * scales. What an integer type cannot hold is clipped; only u8 of a deeper format is scaled to 0..255. The
 * channels of a tensor, and mean and std with them, are in the order of the format's bytes. A crop gives
 * the pixels that the whole picture has there; planar formats keep their chroma where x and y are whole
 * samples of it. Formats that are not packed have the shape [bytes]. */
struct convert_spec {
    const struct pixfmt *pixfmt; /* wanted; NULL = the source's */
    int width, height;           /* wanted; 0 = as after turning and cropping */
    enum swt_filter filter;      /* bilinear and bicubic with antialias, as torchvision means it */
    int crop_width, crop_height, crop_x,
        crop_y;           /* 0 = none; applied upright, before resizing; x or y < 0 = centred */
    enum swt_dtype dtype; /* NONE = the pixel format's own (u8, or u16 above 8 bits) */
    bool is_chw;          /* C first in each frame */
    bool has_norm;
    double mean[4], std[4];
};

struct converter;

/* What one converted frame looks like. */
struct convert_shape {
    int n_dims; /* [H, W, C] or [C, H, W], or [bytes] for planar formats */
    int64_t shape[3];
    enum swt_dtype dtype;
    uint64_t bytes;
    int width, height;
};

/* Prepare for pictures like `like` (format, size, tags, turning); planes are not looked at.
 * errors: SWT_E_UNSUPPORTED (planar format with --layout TCHW or --norm, no path between two formats),
 *         SWT_E_USAGE (crop outside the picture), -ENOMEM */
int converter_new(const struct picture *like, const struct convert_spec *spec,
                  struct converter **ret, struct swt_diag *reterr);
void converter_free(struct converter **c);
const struct convert_shape *converter_shape(const struct converter *c);
bool converter_is_identity(const struct converter *c); /* tight source bytes = result bytes */
/* Does a picture fit what the converter was made for? */
bool converter_fits(const struct converter *c, const struct picture *p);
/* One frame into `out` (shape.bytes). No allocation. One thread per converter. */
void converter_run(struct converter *c, const struct picture *p, uint8_t *out);

/* The pixel format that a window gives by default: rgb24, gray, gray16 or rgb48 (cli.md). */
const struct pixfmt *convert_default(const struct pixfmt *stored);

/* A tight picture in one buffer, as tensors store it. */
void picture_tight(const struct pixfmt *f, int width, int height, const uint8_t *data,
                   struct picture *ret);

/* Elements. With `scale` they are samples of sound: 1 is the full scale of an integer type (s16 32768, s32
 * 2^31), unsigned ones lie about their middle (u8 128). Without, values are kept. Either way integers are
 * rounded to nearest even and clipped, not-a-number is 0; the same type is copied bit by bit. n elements, src
 * and dst may be equal only then. errors: SWT_E_UNSUPPORTED not a dtype */
int convert_elements(enum swt_dtype from, const void *src, enum swt_dtype to, void *dst, size_t n,
                     bool scale);

#endif
