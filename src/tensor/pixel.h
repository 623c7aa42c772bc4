/* SPDX-License-Identifier: MIT
 *
 * pixel.h - what a pixel becomes: the definition of every conversion between pixel formats, in integers, so
 * that another compiler or a GPU gives the same bytes. Only the pixel; loops and memory are elsewhere.
 *
 * Chroma planes are stretched to the size of luma, sample centres on sample centres, by a cubic with
 * a = -0.6 (swscale's), rows first, then columns; outside the picture the edge sample repeats. Then the
 * matrix, then rounding and clipping to the target's depth. Gray is full range unless tagged otherwise.
 *
 * Results of 8 bits go through 16-bit words, where four samples fit a 64-bit register: chroma as 16-bit
 * signed with 7 fractional bits, sums with 4. They are within 1 of the exact value. Deeper results go
 * through 64-bit words and are exact to half a step.
 */
#ifndef TENSOR_PIXEL_H
#define TENSOR_PIXEL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Luma weights of red and blue: all that tells one matrix from another. */
struct pixel_matrix {
    double kr, kb;
};

/* By FFmpeg's name; untagged is smpte170m, as FFmpeg assumes. False: a matrix that is none of this form. */
static inline bool pixel_matrix_find(const char *name, struct pixel_matrix *ret)
{
    static const struct {
        const char *name;
        struct pixel_matrix matrix;
    } known[] = {
        {"", {0.299, 0.114}},
        {"unknown", {0.299, 0.114}},
        {"unspecified", {0.299, 0.114}},
        {"reserved", {0.299, 0.114}},
        {"bt601", {0.299, 0.114}},
        {"smpte170m", {0.299, 0.114}},
        {"bt470bg", {0.299, 0.114}},
        {"gbr", {0.299, 0.114}},
        {"rgb", {0.299, 0.114}},
        {"bt709", {0.2126, 0.0722}},
        {"smpte240m", {0.212, 0.087}},
        {"fcc", {0.30, 0.11}},
        {"bt2020nc", {0.2627, 0.0593}},
        {"bt2020c", {0.2627, 0.0593}},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) {
            *ret = known[i].matrix;
            return true;
        }
    return false;
}

/* ---- stretching chroma -------------------------------------------------------------------------- */

/* Sample i of the stretched row is the sum of w[k] * source[first + k] / 32768, k = 0..3. */
struct pixel_taps {
    int32_t first; /* may lie outside: clamp first + k */
    int16_t w[4];
};

static inline double pixel_cubic(double x, double a)
{
    x = fabs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* Weights as integers with the sum `one`, as flat areas must stay flat: the largest takes the rest. */
static inline void pixel_weights(const double *w, int n, int32_t one, int32_t *ret)
{
    double sum = 0;
    int32_t rest = one;
    int largest = 0;

    for (int i = 0; i < n; i++)
        sum += w[i];
    for (int i = 0; i < n; i++) {
        ret[i] = (int32_t)lrint(w[i] / sum * one);
        rest -= ret[i];
        if (ret[i] > ret[largest])
            largest = i;
    }
    ret[largest] += rest;
}

/* Before the first sample swscale loses the outermost tap of results past the middle between two samples; the
 * others make up for it. Five levels in strong colours, so it is done here too. */
static inline bool pixel_tap_is_lost(double at, int first)
{
    return first < 0 && at - floor(at) > 0.5;
}

static inline struct pixel_taps pixel_chroma_taps(int n_src, int n_dst, int i)
{
    int64_t step = (((int64_t)n_src << 16) + n_dst / 2) /
                   n_dst; /* of 1/65536, as swscale rounds it */
    double at = (double)((2 * (int64_t)i + 1) * step - 65536) / 131072, w[4];
    struct pixel_taps taps = {.first = (int32_t)floor(at) - 1};
    int32_t fixed[4];

    for (int k = 0; k < 4; k++)
        w[k] = pixel_cubic(at - (taps.first + k), -0.6);
    if (pixel_tap_is_lost(at, taps.first))
        w[0] = 0;
    pixel_weights(w, 4, 32768, fixed);
    for (int k = 0; k < 4; k++)
        taps.w[k] = (int16_t)(fixed[k] > 32767 ? 32767 : fixed[k]);
    return taps;
}

/* Product of two 16-bit words without its low half. */
static inline int16_t pixel_high(int16_t a, int16_t b)
{
    return (int16_t)(((int32_t)a * b) >> 16);
}

/* A sample of `16 - up` bits as a signed word: 16 bits about the middle of the scale. */
static inline int16_t pixel_word(uint16_t sample, int up)
{
    return (int16_t)((uint16_t)(sample << up) ^ 0x8000);
}

/* Four chroma samples of 16 bits in a column to one with 7 fractional bits (of 8); those of a row to one
 * of the same kind. */
static inline int16_t pixel_chroma_down(int16_t a, int16_t b, int16_t c, int16_t d,
                                        const int16_t w[4])
{
    return (int16_t)(pixel_high(a, w[0]) + pixel_high(b, w[1]) + pixel_high(c, w[2]) +
                     pixel_high(d, w[3]));
}

static inline int16_t pixel_chroma_across(int16_t a, int16_t b, int16_t c, int16_t d,
                                          const int16_t w[4])
{
    return (int16_t)(2 * (pixel_high(a, w[0]) + pixel_high(b, w[1]) + pixel_high(c, w[2]) +
                          pixel_high(d, w[3])));
}

/* ---- YUV to RGB --------------------------------------------------------------------------------- */

/* Full scale of `depth` bits, and how far luma and chroma reach in a range. */
static inline double pixel_max(int depth)
{
    return (double)((1 << depth) - 1);
}

static inline double pixel_luma_span(bool is_full, int depth)
{
    return is_full ? pixel_max(depth) : 219.0 * (1 << depth) / 256;
}

static inline double pixel_chroma_span(bool is_full, int depth)
{
    return is_full ? pixel_max(depth) : 224.0 * (1 << depth) / 256;
}

static inline double pixel_luma_zero(bool is_full, int depth)
{
    return is_full ? 0 : 16.0 * (1 << depth) / 256;
}

/* Factors: of luma, and of chroma u or v for red, green, blue. */
struct pixel_rgb8 {
    int16_t y, v_r, u_g, v_g, u_b, bias;
};

struct pixel_rgb {
    int32_t y, v_r, u_g, v_g, u_b, max;
    int64_t bias;
};

/* Factors as real numbers: r = y + v_r * v and so on. */
struct pixel_factors {
    double v_r, u_g, v_g, u_b;
};

static inline struct pixel_factors pixel_factors_of(struct pixel_matrix m)
{
    double kg = 1 - m.kr - m.kb;

    return (struct pixel_factors){2 * (1 - m.kr), -2 * (1 - m.kb) * m.kb / kg,
                                  -2 * (1 - m.kr) * m.kr / kg, 2 * (1 - m.kb)};
}

/* From a YUV picture of `depth` bits. */
static inline struct pixel_rgb8 pixel_rgb8_init(struct pixel_matrix m, bool is_full, int depth)
{
    struct pixel_factors f = pixel_factors_of(m);
    double unit = (double)(1 << depth) /
                  256; /* 15-bit luma and chroma with 7 fractional bits are in 1/128 of it */
    double y = 255 * unit / pixel_luma_span(is_full, depth);
    double c = 255 * unit / pixel_chroma_span(is_full, depth);
    double middle = (128 - pixel_luma_zero(is_full, 8)) * y * 16;

    /* 2^16 / 2^8 * 2^4 for luma, whose word has 8 fractional bits; chroma's has 7. The bias rounds, and
     * makes up for what the product of luma loses on average. */
    return (struct pixel_rgb8){.y = (int16_t)lrint(y * 4096),
                               .v_r = (int16_t)lrint(f.v_r * c * 8192),
                               .u_g = (int16_t)lrint(f.u_g * c * 8192),
                               .v_g = (int16_t)lrint(f.v_g * c * 8192),
                               .u_b = (int16_t)lrint(f.u_b * c * 8192),
                               .bias = (int16_t)floor(middle + 8.5)};
}

/* Sum of a pixel's terms to a sample. All words stay at 16 bits, or compilers widen the whole loop. */
static inline uint8_t pixel_clip8(int16_t sum)
{
    int16_t x = (int16_t)(sum >> 4);

    x = x < 0 ? 0 : x;
    x = x > 255 ? 255 : x;
    return (uint8_t)x;
}

static inline void pixel_to_rgb8(const struct pixel_rgb8 *k, int16_t luma, int16_t u, int16_t v,
                                 uint8_t *r, uint8_t *g, uint8_t *b)
{
    int16_t y = (int16_t)(pixel_high(luma, k->y) + k->bias);

    *r = pixel_clip8((int16_t)(y + pixel_high(v, k->v_r)));
    *g = pixel_clip8((int16_t)(y + pixel_high(u, k->u_g) + pixel_high(v, k->v_g)));
    *b = pixel_clip8((int16_t)(y + pixel_high(u, k->u_b)));
}

/* The same for results of more than 8 bits: luma left-aligned in 16 bits and chroma around 0, both with 12
 * fractional bits; factors have 20, so that a product is one of 32-bit words. */
static inline struct pixel_rgb pixel_rgb_init(struct pixel_matrix m, bool is_full, int depth,
                                              int rgb_depth)
{
    struct pixel_factors f = pixel_factors_of(m);
    double unit = (double)(1 << depth) / 65536, max = pixel_max(rgb_depth), one = 1048576;
    double y = max * unit / pixel_luma_span(is_full, depth) * one;
    double c = max * unit / pixel_chroma_span(is_full, depth) * one;

    return (struct pixel_rgb){.y = (int32_t)lrint(y),
                              .v_r = (int32_t)lrint(f.v_r * c),
                              .u_g = (int32_t)lrint(f.u_g * c),
                              .v_g = (int32_t)lrint(f.v_g * c),
                              .u_b = (int32_t)lrint(f.u_b * c),
                              .max = (int32_t)max,
                              .bias = llrint((one / 2 - pixel_luma_zero(is_full, 16) * y) * 4096)};
}

static inline uint16_t pixel_clip(int64_t x, int32_t max)
{
    return (uint16_t)(x < 0 ? 0 : x > max ? max : x);
}

static inline void pixel_to_rgb(const struct pixel_rgb *k, int32_t luma, int32_t u, int32_t v,
                                uint16_t *r, uint16_t *g, uint16_t *b)
{
    int64_t y = (int64_t)luma * k->y + k->bias;
    int32_t red = (int32_t)((y + (int64_t)v * k->v_r) >> 32);
    int32_t green = (int32_t)((y + (int64_t)u * k->u_g + (int64_t)v * k->v_g) >> 32);
    int32_t blue = (int32_t)((y + (int64_t)u * k->u_b) >> 32);

    *r = pixel_clip(red, k->max);
    *g = pixel_clip(green, k->max);
    *b = pixel_clip(blue, k->max);
}

/* ---- the rest: sums of components with 32 fractional bits ---------------------------------------- */

/* out = (f[0] * a + f[1] * b + f[2] * c + bias) >> 32, clipped: RGB to luma, to chroma; one component to
 * another depth or range. */
struct pixel_sum {
    int64_t f[3], bias;
    int32_t max;
};

static inline uint16_t pixel_sum_of(const struct pixel_sum *k, uint32_t a, uint32_t b, uint32_t c)
{
    return pixel_clip((k->f[0] * a + k->f[1] * b + k->f[2] * c + k->bias) >> 32, k->max);
}

/* Component 0 Y, 1 U, 2 V of an RGB pixel whose components have `rgb_depth` bits. A gray pixel gets no
 * chroma: where the depths are equal, the factors' sum is exactly 0. */
static inline struct pixel_sum pixel_sum_of_rgb(struct pixel_matrix m, const int rgb_depth[3],
                                                int comp, bool is_full, int depth)
{
    double one = 4294967296.0, k[3] = {m.kr, 1 - m.kr - m.kb, m.kb};
    double span = comp ? pixel_chroma_span(is_full, depth) : pixel_luma_span(is_full, depth);
    double zero = comp ? (double)(1 << (depth - 1)) : pixel_luma_zero(is_full, depth);
    struct pixel_sum s = {.bias = llrint((zero + 0.5) * one), .max = (int32_t)pixel_max(depth)};
    int own = comp == 1 ? 2 : 0; /* U is blue less luma, V red less luma */

    for (int i = 0; i < 3; i++) {
        double weight = !comp ? k[i] : (k[i] - (i == own)) / (-2 * (1 - k[own]));

        s.f[i] = llrint(weight * span / pixel_max(rgb_depth[i]) * one);
    }
    if (comp && rgb_depth[0] == rgb_depth[1] && rgb_depth[0] == rgb_depth[2])
        s.f[own] = -s.f[(own + 1) % 3] - s.f[(own + 2) % 3];
    return s;
}

/* A sample of one range and depth to another. Chroma moves about its middle. */
static inline struct pixel_sum pixel_sum_same(bool is_chroma, bool from_full, int from_depth,
                                              bool to_full, int to_depth)
{
    double one = 4294967296.0, from, to, zero_from, zero_to, f;

    from = is_chroma ? pixel_chroma_span(from_full, from_depth)
                     : pixel_luma_span(from_full, from_depth);
    to = is_chroma ? pixel_chroma_span(to_full, to_depth) : pixel_luma_span(to_full, to_depth);
    zero_from = is_chroma ? (double)(1 << (from_depth - 1))
                          : pixel_luma_zero(from_full, from_depth);
    zero_to = is_chroma ? (double)(1 << (to_depth - 1)) : pixel_luma_zero(to_full, to_depth);
    f = to / from * one;
    return (struct pixel_sum){.f = {llrint(f), 0, 0},
                              .bias = llrint((zero_to + 0.5) * one - zero_from * f),
                              .max = (int32_t)pixel_max(to_depth)};
}

#endif
