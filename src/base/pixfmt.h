/* SPDX-License-Identifier: MIT
 *
 * pixfmt.h - the pixel formats swt can store and give: one table of names and memory layouts. Rows are
 * tight and chroma is rounded up. Names are FFmpeg's for little-endian machines, without "le": a test
 * checks the table against FFmpeg.
 */
#ifndef BASE_PIXFMT_H
#define BASE_PIXFMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PIXFMT_MAX_PLANES 4

/* Where component i of a pixel lies. */
struct pixfmt_comp {
    uint8_t plane;
    uint8_t step;   /* bytes from one sample to the next in a row */
    uint8_t offset; /* bytes before the first sample of a row */
    uint8_t shift;  /* low bits to drop, e.g. 6 in p010 */
    uint8_t depth;  /* significant bits */
};

struct pixfmt {
    const char *name;    /* swt's name: "yuv420p", "yuv420p10", "gray16", "rgb48" */
    const char *ff_name; /* FFmpeg's name on a little-endian machine: "yuv420p10le" */
    uint8_t n_comps; /* 1 gray, 2 gray+alpha, 3 colour, 4 colour+alpha; order R G B A or Y U V A */
    uint8_t n_planes;
    uint8_t log2_cw, log2_ch; /* chroma subsampling */
    bool is_rgb, has_alpha;
    bool is_packed; /* one plane, all components interleaved: its tensor is [H, W, C] */
    struct pixfmt_comp comp[4];
};

/* By swt's name or FFmpeg's name; NULL if unknown. By index; NULL past the last. */
const struct pixfmt *pixfmt_find(const char *name);
const struct pixfmt *pixfmt_at(size_t i);

/* Bytes and rows of a tight plane; total bytes of a tight picture. 0 when it does not fit 62 bits or
 * width or height is outside 1..65536. */
uint64_t pixfmt_row_bytes(const struct pixfmt *f, int plane, int width);
int pixfmt_rows(const struct pixfmt *f, int plane, int height);
uint64_t pixfmt_bytes(const struct pixfmt *f, int width, int height);

#endif
