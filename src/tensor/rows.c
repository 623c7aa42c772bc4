/* SPDX-License-Identifier: MIT
 *
 * rows.c - loops written so that gcc and clang turn them into vector code. On x86-64 gcc makes each a second
 * time for AVX2 and picks when the library is loaded: twice as fast, the same bytes, as all is integer.
 */
#include "tensor/rows.h"

#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O3") /* -O2 of gcc 12 does not vectorize loops of unknown length */
#if defined __x86_64__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define FAST \
    __attribute__((target_clones("avx2", "default"))) /* sanitizers come after the choosing */
#endif
#endif
#ifndef FAST
#define FAST
#endif

FAST void rows_chroma_down(const uint8_t *const row[4], const int16_t w[4], int n,
                           int16_t *restrict out)
{
    const uint8_t *restrict a = row[0], *restrict b = row[1], *restrict c = row[2],
                            *restrict d = row[3];
    const int16_t f[4] = {w[0], w[1], w[2], w[3]};

    for (int i = 0; i < n; i++)
        out[i] = pixel_chroma_down(pixel_word(a[i], 8), pixel_word(b[i], 8), pixel_word(c[i], 8),
                                   pixel_word(d[i], 8), f);
}

FAST void rows_chroma_down_words(const uint16_t *const row[4], const int16_t w[4], int up, int n,
                                 int16_t *restrict out)
{
    const uint16_t *restrict a = row[0], *restrict b = row[1], *restrict c = row[2],
                             *restrict d = row[3];
    const int16_t f[4] = {w[0], w[1], w[2], w[3]};

    for (int i = 0; i < n; i++)
        out[i] = pixel_chroma_down(pixel_word(a[i], up), pixel_word(b[i], up), pixel_word(c[i], up),
                                   pixel_word(d[i], up), f);
}

FAST void rows_chroma_plain(const uint8_t *restrict row, int n, int16_t *restrict out)
{
    for (int i = 0; i < n; i++)
        out[i] = (int16_t)(pixel_word(row[i], 8) >> 1);
}

FAST void rows_chroma_plain_words(const uint16_t *restrict row, int up, int n,
                                  int16_t *restrict out)
{
    for (int i = 0; i < n; i++)
        out[i] = (int16_t)(pixel_word(row[i], up) >> 1);
}

FAST void rows_chroma_double(const int16_t *restrict c, const int16_t w_even[4],
                             const int16_t w_odd[4], int n, int16_t *restrict out)
{
    const int16_t e[4] = {w_even[0], w_even[1], w_even[2], w_even[3]};
    const int16_t o[4] = {w_odd[0], w_odd[1], w_odd[2], w_odd[3]};

    for (int k = 0; k < n; k++) {
        out[2 * k] = pixel_chroma_across(c[k], c[k + 1], c[k + 2], c[k + 3], e);
        out[2 * k + 1] = pixel_chroma_across(c[k + 1], c[k + 2], c[k + 3], c[k + 4], o);
    }
}

void rows_chroma_across(const int16_t *restrict c, const struct pixel_taps *restrict taps,
                        int first, int n, int16_t *restrict out)
{
    for (int i = 0; i < n; i++) {
        const int16_t *at = c + (taps[i].first - first);

        out[i] = pixel_chroma_across(at[0], at[1], at[2], at[3], taps[i].w);
    }
}

FAST void rows_rgb8(const struct pixel_rgb8 *k, const uint8_t *restrict y,
                    const int16_t *restrict u, const int16_t *restrict v, int n,
                    uint8_t *restrict r, uint8_t *restrict g, uint8_t *restrict b)
{
    const struct pixel_rgb8 f = *k;

    for (int i = 0; i < n; i++)
        pixel_to_rgb8(&f, pixel_word(y[i], 8), u[i], v[i], r + i, g + i, b + i);
}

FAST void rows_rgb8_wide(const struct pixel_rgb8 *k, const uint8_t *restrict y,
                         const int16_t *restrict u, const int16_t *restrict v, int n,
                         int16_t *restrict r, int16_t *restrict g, int16_t *restrict b)
{
    const struct pixel_rgb8 f = *k;

    for (int i = 0; i < n; i++) {
        uint8_t red, green, blue;

        pixel_to_rgb8(&f, pixel_word(y[i], 8), u[i], v[i], &red, &green, &blue);
        r[i] = pixel_word(red, 8);
        g[i] = pixel_word(green, 8);
        b[i] = pixel_word(blue, 8);
    }
}

FAST void rows_rgb8_words(const struct pixel_rgb8 *k, const uint16_t *restrict y, int up,
                          const int16_t *restrict u, const int16_t *restrict v, int n,
                          uint8_t *restrict r, uint8_t *restrict g, uint8_t *restrict b)
{
    const struct pixel_rgb8 f = *k;

    for (int i = 0; i < n; i++)
        pixel_to_rgb8(&f, pixel_word(y[i], up), u[i], v[i], r + i, g + i, b + i);
}

/* The sum of four fits 32 bits, as the weights' sum is 32768 and a cubic's are no more than 1.3 times that
 * without their signs. */
FAST void rows_deep_down(const uint16_t *const row[4], const int16_t w[4], int up, int n,
                         int32_t *restrict out)
{
    const uint16_t *restrict a = row[0], *restrict b = row[1], *restrict c = row[2],
                             *restrict d = row[3];
    const int16_t f[4] = {w[0], w[1], w[2], w[3]};

    for (int i = 0; i < n; i++)
        out[i] = (pixel_word(a[i], up) * f[0] + pixel_word(b[i], up) * f[1] +
                  pixel_word(c[i], up) * f[2] + pixel_word(d[i], up) * f[3]) >>
                 3;
}

void rows_deep_plain(const uint16_t *restrict row, int up, int n, int32_t *restrict out)
{
    for (int i = 0; i < n; i++)
        out[i] = pixel_word(row[i], up) * 4096;
}

static inline int32_t deep_across(const int32_t *c, const int16_t w[4])
{
    int64_t sum = (int64_t)c[0] * w[0] + (int64_t)c[1] * w[1] + (int64_t)c[2] * w[2] +
                  (int64_t)c[3] * w[3];

    return (int32_t)(sum >> 15);
}

FAST void rows_deep_double(const int32_t *restrict c, const int16_t w_even[4],
                           const int16_t w_odd[4], int n, int32_t *restrict out)
{
    const int16_t e[4] = {w_even[0], w_even[1], w_even[2], w_even[3]};
    const int16_t o[4] = {w_odd[0], w_odd[1], w_odd[2], w_odd[3]};

    for (int k = 0; k < n; k++) {
        out[2 * k] = deep_across(c + k, e);
        out[2 * k + 1] = deep_across(c + k + 1, o);
    }
}

void rows_deep_across(const int32_t *restrict c, const struct pixel_taps *restrict taps, int first,
                      int n, int32_t *restrict out)
{
    for (int i = 0; i < n; i++)
        out[i] = deep_across(c + (taps[i].first - first), taps[i].w);
}

FAST void rows_deep_rgb(const struct pixel_rgb *k, const uint16_t *restrict y, int up,
                        const int32_t *restrict u, const int32_t *restrict v, int n,
                        uint16_t *restrict r, uint16_t *restrict g, uint16_t *restrict b)
{
    const struct pixel_rgb f = *k;

    for (int i = 0; i < n; i++)
        pixel_to_rgb(&f, (uint16_t)(y[i] << up) * 4096, u[i], v[i], r + i, g + i, b + i);
}

static inline void put(void *out, bool is_word, int i, uint16_t value)
{
    if (is_word)
        ((uint16_t *)out)[i] = value;
    else
        ((uint8_t *)out)[i] = (uint8_t)value;
}

void rows_sum(const struct pixel_sum *k, const uint16_t *const in[3], int n, bool is_word,
              void *out)
{
    for (int i = 0; i < n; i++)
        put(out, is_word, i, pixel_sum_of(k, in[0][i], in[1][i], in[2][i]));
}

void rows_sum_one(const struct pixel_sum *k, const uint16_t *in, int n, bool is_word, void *out)
{
    for (int i = 0; i < n; i++)
        put(out, is_word, i, pixel_sum_of(k, in[i], 0, 0));
}

void rows_table(const uint16_t table[256], const uint8_t *in, int n, bool is_word, void *out)
{
    for (int i = 0; i < n; i++)
        put(out, is_word, i, table[in[i]]);
}

void rows_fill(uint16_t value, int n, bool is_word, void *out)
{
    for (int i = 0; i < n; i++)
        put(out, is_word, i, value);
}

FAST void rows_widen(const uint8_t *restrict row, int n, int16_t *restrict out)
{
    for (int i = 0; i < n; i++)
        out[i] = pixel_word(row[i], 8);
}

FAST void rows_down(const int16_t *const *row, const int16_t *w, int n_taps, int up, int n,
                    int16_t *restrict out)
{
    const int16_t bias = (int16_t)(n_taps / 2); /* what the products lose on average */

    for (int t = 0; t < n_taps; t += 4) {
        const int16_t *restrict a = row[t], *restrict b = row[t + 1], *restrict c = row[t + 2],
                                *restrict d = row[t + 3];
        const int16_t f[4] = {w[t], w[t + 1], w[t + 2], w[t + 3]};

        if (!t)
            for (int i = 0; i < n; i++)
                out[i] = (int16_t)(pixel_chroma_down(a[i], b[i], c[i], d[i], f) + bias);
        else
            for (int i = 0; i < n; i++)
                out[i] = (int16_t)(out[i] + pixel_chroma_down(a[i], b[i], c[i], d[i], f));
    }
    for (int i = 0; up && i < n; i++)
        out[i] = (int16_t)(out[i] * (1 << up));
}

FAST void rows_down_one(const uint8_t *restrict row, int n, int16_t *restrict out)
{
    for (int i = 0; i < n; i++)
        out[i] = (int16_t)(pixel_word(row[i], 8) >> 1);
}

/* `n_taps` is a constant where this is called, so that the inner loop becomes straight code. */
static inline void across(const int16_t *restrict in, const int32_t *restrict first,
                          const int16_t *restrict w, int n_taps, int n, uint8_t *restrict out)
{
    for (int i = 0; i < n; i++, w += n_taps) {
        const int16_t *at = in + first[i];
        int32_t sum = (1 << 20) + (128 << 21);

        for (int k = 0; k < n_taps; k++)
            sum += at[k] * w[k];
        sum = sum < 0 ? 0 : sum >> 21;
        out[i] = (uint8_t)(sum > 255 ? 255 : sum);
    }
}

FAST void rows_across(const int16_t *in, const int32_t *first, const int16_t *w, int n_taps, int n,
                      uint8_t *out)
{
    if (n_taps == 16)
        across(in, first, w, 16, n, out);
    else if (n_taps == 32)
        across(in, first, w, 32, n, out);
    else
        across(in, first, w, n_taps / 16 * 16, n, out);
}

FAST void rows_across_none(const int16_t *restrict in, int n, uint8_t *restrict out)
{
    for (int i = 0; i < n; i++) {
        int16_t x = (int16_t)(((in[i] + 64) >> 7) + 128);

        x = x < 0 ? 0 : x;
        x = x > 255 ? 255 : x;
        out[i] = (uint8_t)x;
    }
}

/* Columns at a time, so that their sums stay in the first cache while the taps go by. */
#define WIDE_COLUMNS 64

static inline void wide_add(const void *row, bool is_word, int at, int n, int32_t w,
                            int64_t *restrict sum)
{
    const uint16_t *words = row;
    const uint8_t *bytes = row;

    if (is_word)
        for (int i = 0; i < n; i++)
            sum[i] += (int64_t)w * words[at + i];
    else
        for (int i = 0; i < n; i++)
            sum[i] += (int64_t)w * bytes[at + i];
}

FAST void rows_wide_down(const void *const *row, bool is_word, const int32_t *w, int n_taps, int n,
                         int32_t *restrict out)
{
    int64_t sum[WIDE_COLUMNS];

    for (int at = 0; at < n; at += WIDE_COLUMNS) {
        int part = n - at < WIDE_COLUMNS ? n - at : WIDE_COLUMNS;

        for (int i = 0; i < part; i++)
            sum[i] = 1 << (ROWS_WIDE_BITS - 9);
        for (int t = 0; t < n_taps; t++)
            wide_add(row[t], is_word, at, part, w[t], sum);
        for (int i = 0; i < part; i++)
            out[at + i] = (int32_t)(sum[i] >> (ROWS_WIDE_BITS - 8));
    }
}

void rows_wide_across(const int32_t *restrict in, const int32_t *restrict first,
                      const int32_t *restrict w, int n_taps, int n, int32_t max, bool is_word,
                      void *restrict out)
{
    for (int i = 0; i < n; i++, w += n_taps) {
        const int32_t *at = in + first[i];
        int64_t sum = 1 << (ROWS_WIDE_BITS + 7);

        for (int k = 0; k < n_taps; k++)
            sum += (int64_t)at[k] * w[k];
        put(out, is_word, i, pixel_clip(sum >> (ROWS_WIDE_BITS + 8), max));
    }
}

void rows_wide_none(const int32_t *in, int n, int32_t max, bool is_word, void *out)
{
    for (int i = 0; i < n; i++)
        put(out, is_word, i, pixel_clip((in[i] + 128) >> 8, max));
}

void rows_pick(const void *in, const int32_t *at, int n, bool is_word, void *out)
{
    for (int i = 0; i < n; i++)
        put(out, is_word, i,
            is_word ? ((const uint16_t *)in)[at[i]] : ((const uint8_t *)in)[at[i]]);
}

FAST void rows_interleave3(const uint8_t *restrict a, const uint8_t *restrict b,
                           const uint8_t *restrict c, int n, uint8_t *restrict out)
{
    for (int i = 0; i < n; i++) {
        out[3 * i] = a[i];
        out[3 * i + 1] = b[i];
        out[3 * i + 2] = c[i];
    }
}

FAST void rows_interleave4(const uint8_t *restrict a, const uint8_t *restrict b,
                           const uint8_t *restrict c, const uint8_t *restrict d, int n,
                           uint8_t *restrict out)
{
    for (int i = 0; i < n; i++) {
        out[4 * i] = a[i];
        out[4 * i + 1] = b[i];
        out[4 * i + 2] = c[i];
        out[4 * i + 3] = d[i];
    }
}
