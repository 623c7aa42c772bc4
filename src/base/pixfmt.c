/* SPDX-License-Identifier: MIT
 *
 * pixfmt.c - the table of pixel formats. Left out on purpose: palettes and single bits (decoders
 * give them as something else), big-endian words (swapped by whoever decodes), floating-point
 * pictures.
 */
#include "base/pixfmt.h"

#include <string.h>

#define PIXFMT_MAX_SIDE 65536

/* clang-format off */
/* Components of planar formats with one or two bytes a sample; in the high bits of two bytes. */
#define ONE(plane, depth)        {plane, 1, 0, 0, depth}
#define TWO(plane, depth)        {plane, 2, 0, 0, depth}
#define HIGH(plane, step, off, depth) {plane, step, off, 16 - (depth), depth}

#define GRAY(name, ff, size, depth) {name, ff, 1, 1, 0, 0, false, false, true, {size(0, depth)}}
#define YUV(name, ff, cw, ch, size, depth) \
    {name, ff, 3, 3, cw, ch, false, false, false, {size(0, depth), size(1, depth), size(2, depth)}}
#define YUVA(name, ff, cw, ch, size, depth) \
    {name, ff, 4, 4, cw, ch, false, true, false, \
     {size(0, depth), size(1, depth), size(2, depth), size(3, depth)}}
#define GBR(name, ff, size, depth) \
    {name, ff, 3, 3, 0, 0, true, false, false, {size(2, depth), size(0, depth), size(1, depth)}}
#define GBRA(name, ff, size, depth) \
    {name, ff, 4, 4, 0, 0, true, true, false, \
     {size(2, depth), size(0, depth), size(1, depth), size(3, depth)}}

/* Interleaved red, green, blue (and alpha) of `step` bytes a pixel; r g b a are byte offsets. */
#define RGB(name, ff, packed, step, depth, r, g, b) \
    {name, ff, 3, 1, 0, 0, true, false, packed, \
     {{0, step, r, 0, depth}, {0, step, g, 0, depth}, {0, step, b, 0, depth}}}
#define RGBA(name, ff, step, depth, r, g, b, a) \
    {name, ff, 4, 1, 0, 0, true, true, true, \
     {{0, step, r, 0, depth}, {0, step, g, 0, depth}, {0, step, b, 0, depth}, \
      {0, step, a, 0, depth}}}

/* Red, green, blue in the bits of one word; what lies in the high byte alone is read as a byte. */
#define BITS_RGB(name, ff, high, green) \
    {name, ff, 3, 1, 0, 0, true, false, false, \
     {{0, 2, 1, high, 5}, {0, 2, 0, 5, green}, {0, 2, 0, 0, 5}}}
#define BITS_BGR(name, ff, high, green) \
    {name, ff, 3, 1, 0, 0, true, false, false, \
     {{0, 2, 0, 0, 5}, {0, 2, 0, 5, green}, {0, 2, 1, high, 5}}}

/* Luma plane and one plane of chroma pairs; u and v are byte offsets in a pair. */
#define SEMI(name, cw, ch, u, v) \
    {name, name, 3, 2, cw, ch, false, false, false, \
     {{0, 1, 0, 0, 8}, {1, 2, u, 0, 8}, {1, 2, v, 0, 8}}}
#define SEMI_HIGH(name, ff, cw, ch, depth) \
    {name, ff, 3, 2, cw, ch, false, false, false, \
     {HIGH(0, 2, 0, depth), HIGH(1, 4, 0, depth), HIGH(1, 4, 2, depth)}}
#define PACKED_422(name, y, u, v) \
    {name, name, 3, 1, 1, 0, false, false, false, \
     {{0, 2, y, 0, 8}, {0, 4, u, 0, 8}, {0, 4, v, 0, 8}}}

/* The planar families of one depth above 8 bits. */
#define DEEP(d) \
    YUV("yuv420p" #d, "yuv420p" #d "le", 1, 1, TWO, d), \
    YUV("yuv422p" #d, "yuv422p" #d "le", 1, 0, TWO, d), \
    YUV("yuv444p" #d, "yuv444p" #d "le", 0, 0, TWO, d)
#define DEEP_ALPHA(d) \
    YUVA("yuva420p" #d, "yuva420p" #d "le", 1, 1, TWO, d), \
    YUVA("yuva422p" #d, "yuva422p" #d "le", 1, 0, TWO, d), \
    YUVA("yuva444p" #d, "yuva444p" #d "le", 0, 0, TWO, d)
/* clang-format on */

static const struct pixfmt formats[] = {
    RGB("rgb24", "rgb24", true, 3, 8, 0, 1, 2),
    RGB("bgr24", "bgr24", true, 3, 8, 2, 1, 0),
    RGBA("rgba", "rgba", 4, 8, 0, 1, 2, 3),
    RGBA("bgra", "bgra", 4, 8, 2, 1, 0, 3),
    RGBA("argb", "argb", 4, 8, 1, 2, 3, 0),
    RGBA("abgr", "abgr", 4, 8, 3, 2, 1, 0),
    RGB("rgb0", "rgb0", false, 4, 8, 0, 1, 2),
    RGB("bgr0", "bgr0", false, 4, 8, 2, 1, 0),
    RGB("0rgb", "0rgb", false, 4, 8, 1, 2, 3),
    RGB("0bgr", "0bgr", false, 4, 8, 3, 2, 1),
    RGB("rgb48", "rgb48le", true, 6, 16, 0, 2, 4),
    RGB("bgr48", "bgr48le", true, 6, 16, 4, 2, 0),
    RGBA("rgba64", "rgba64le", 8, 16, 0, 2, 4, 6),
    RGBA("bgra64", "bgra64le", 8, 16, 4, 2, 0, 6),
    BITS_RGB("rgb565", "rgb565le", 3, 6),
    BITS_BGR("bgr565", "bgr565le", 3, 6),
    BITS_RGB("rgb555", "rgb555le", 2, 5),
    BITS_BGR("bgr555", "bgr555le", 2, 5),
    GRAY("gray", "gray", ONE, 8),
    GRAY("gray9", "gray9le", TWO, 9),
    GRAY("gray10", "gray10le", TWO, 10),
    GRAY("gray12", "gray12le", TWO, 12),
    GRAY("gray14", "gray14le", TWO, 14),
    GRAY("gray16", "gray16le", TWO, 16),
    {"ya8", "ya8", 2, 1, 0, 0, false, true, true, {{0, 2, 0, 0, 8}, {0, 2, 1, 0, 8}}},
    {"ya16", "ya16le", 2, 1, 0, 0, false, true, true, {{0, 4, 0, 0, 16}, {0, 4, 2, 0, 16}}},
    YUV("yuv420p", "yuv420p", 1, 1, ONE, 8),
    YUV("yuv422p", "yuv422p", 1, 0, ONE, 8),
    YUV("yuv444p", "yuv444p", 0, 0, ONE, 8),
    YUV("yuv440p", "yuv440p", 0, 1, ONE, 8),
    YUV("yuv411p", "yuv411p", 2, 0, ONE, 8),
    YUV("yuv410p", "yuv410p", 2, 2, ONE, 8),
    YUV("yuvj420p", "yuvj420p", 1, 1, ONE, 8),
    YUV("yuvj422p", "yuvj422p", 1, 0, ONE, 8),
    YUV("yuvj444p", "yuvj444p", 0, 0, ONE, 8),
    YUV("yuvj440p", "yuvj440p", 0, 1, ONE, 8),
    YUV("yuvj411p", "yuvj411p", 2, 0, ONE, 8),
    YUVA("yuva420p", "yuva420p", 1, 1, ONE, 8),
    YUVA("yuva422p", "yuva422p", 1, 0, ONE, 8),
    YUVA("yuva444p", "yuva444p", 0, 0, ONE, 8),
    DEEP(9),
    DEEP(10),
    DEEP(12),
    DEEP(14),
    DEEP(16),
    YUV("yuv440p10", "yuv440p10le", 0, 1, TWO, 10),
    YUV("yuv440p12", "yuv440p12le", 0, 1, TWO, 12),
    DEEP_ALPHA(9),
    DEEP_ALPHA(10),
    YUVA("yuva422p12", "yuva422p12le", 1, 0, TWO, 12),
    YUVA("yuva444p12", "yuva444p12le", 0, 0, TWO, 12),
    DEEP_ALPHA(16),
    SEMI("nv12", 1, 1, 0, 1),
    SEMI("nv21", 1, 1, 1, 0),
    SEMI("nv16", 1, 0, 0, 1),
    SEMI("nv24", 0, 0, 0, 1),
    SEMI("nv42", 0, 0, 1, 0),
    SEMI_HIGH("p010", "p010le", 1, 1, 10),
    SEMI_HIGH("p016", "p016le", 1, 1, 16),
    SEMI_HIGH("p210", "p210le", 1, 0, 10),
    SEMI_HIGH("p216", "p216le", 1, 0, 16),
    SEMI_HIGH("p410", "p410le", 0, 0, 10),
    SEMI_HIGH("p416", "p416le", 0, 0, 16),
    PACKED_422("yuyv422", 0, 1, 3),
    PACKED_422("uyvy422", 1, 0, 2),
    PACKED_422("yvyu422", 0, 3, 1),
    GBR("gbrp", "gbrp", ONE, 8),
    GBR("gbrp9", "gbrp9le", TWO, 9),
    GBR("gbrp10", "gbrp10le", TWO, 10),
    GBR("gbrp12", "gbrp12le", TWO, 12),
    GBR("gbrp14", "gbrp14le", TWO, 14),
    GBR("gbrp16", "gbrp16le", TWO, 16),
    GBRA("gbrap", "gbrap", ONE, 8),
    GBRA("gbrap10", "gbrap10le", TWO, 10),
    GBRA("gbrap12", "gbrap12le", TWO, 12),
    GBRA("gbrap16", "gbrap16le", TWO, 16),
};

const struct pixfmt *pixfmt_at(size_t i)
{
    return i < sizeof formats / sizeof *formats ? &formats[i] : NULL;
}

const struct pixfmt *pixfmt_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].name, name) || !strcmp(formats[i].ff_name, name))
            return &formats[i];
    return NULL;
}

static bool is_chroma(const struct pixfmt *f, int comp)
{
    return !f->is_rgb && f->n_comps >= 3 && (comp == 1 || comp == 2);
}

/* Samples of a subsampled side: the last, partial one counts. */
static int ceil_shift(int n, int log2)
{
    return (n + (1 << log2) - 1) >> log2;
}

uint64_t pixfmt_row_bytes(const struct pixfmt *f, int plane, int width)
{
    uint64_t most = 0;

    if (width < 1 || width > PIXFMT_MAX_SIDE)
        return 0;
    for (int i = 0; i < f->n_comps; i++) {
        int samples = is_chroma(f, i) ? ceil_shift(width, f->log2_cw) : width;
        uint64_t bytes = (uint64_t)samples * f->comp[i].step;

        if (f->comp[i].plane == plane && bytes > most)
            most = bytes;
    }
    return most;
}

int pixfmt_rows(const struct pixfmt *f, int plane, int height)
{
    if (height < 1 || height > PIXFMT_MAX_SIDE || plane < 0 || plane >= f->n_planes)
        return 0;
    for (int i = 0; i < f->n_comps; i++)
        if (f->comp[i].plane == plane && !is_chroma(f, i))
            return height;
    return ceil_shift(height, f->log2_ch);
}

uint64_t pixfmt_bytes(const struct pixfmt *f, int width, int height)
{
    uint64_t sum = 0;

    for (int p = 0; p < f->n_planes; p++)
        sum += pixfmt_row_bytes(f, p, width) * (uint64_t)pixfmt_rows(f, p, height);
    return sum;
}
