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

/* Elements: integers are scaled by their full scale when one side is a float (u8 255, s16 32768, …) if
 * `scale`, else kept by value; float to integer rounds to nearest even and clips. n elements. */
int convert_elements(enum swt_dtype from, const void *src, enum swt_dtype to, void *dst, size_t n,
                     bool scale);

#endif
