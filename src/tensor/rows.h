/* SPDX-License-Identifier: MIT
 *
 * rows.h - the loops over samples that take the time: pixel.h and resizing applied to whole rows. No memory
 * of its own, no decisions. `n` counts results; rows may not overlap.
 */
#ifndef TENSOR_ROWS_H
#define TENSOR_ROWS_H

#include <stddef.h>

#include "tensor/pixel.h"

/* ---- colour with results of 8 bits ---- */

/* Four rows of chroma of 8 bits, of `16 - up` bits, to one with 7 fractional bits; one row to the same. */
void rows_chroma_down(const uint8_t *const row[4], const int16_t w[4], int n, int16_t *out);
void rows_chroma_down_words(const uint16_t *const row[4], const int16_t w[4], int up, int n,
                            int16_t *out);
void rows_chroma_plain(const uint8_t *row, int n, int16_t *out);
void rows_chroma_plain_words(const uint16_t *row, int up, int n, int16_t *out);

/* Twice as many: results 2k and 2k + 1 from c[k] .. c[k + 3] and c[k + 1] .. c[k + 4]. `n` counts pairs. */
void rows_chroma_double(const int16_t *c, const int16_t w_even[4], const int16_t w_odd[4], int n,
                        int16_t *out);
/* Any stretch: result i from c[taps[i].first - first] and the three after it. */
void rows_chroma_across(const int16_t *c, const struct pixel_taps *taps, int first, int n,
                        int16_t *out);

void rows_rgb8(const struct pixel_rgb8 *k, const uint8_t *y, const int16_t *u, const int16_t *v,
               int n, uint8_t *r, uint8_t *g, uint8_t *b);
/* The same with results as rows_widen gives them. */
void rows_rgb8_wide(const struct pixel_rgb8 *k, const uint8_t *y, const int16_t *u,
                    const int16_t *v, int n, int16_t *r, int16_t *g, int16_t *b);
void rows_rgb8_words(const struct pixel_rgb8 *k, const uint16_t *y, int up, const int16_t *u,
                     const int16_t *v, int n, uint8_t *r, uint8_t *g, uint8_t *b);

/* ---- colour with deeper results: the same with 12 fractional bits on 16 ---- */

void rows_deep_down(const uint16_t *const row[4], const int16_t w[4], int up, int n, int32_t *out);
void rows_deep_plain(const uint16_t *row, int up, int n, int32_t *out);
void rows_deep_double(const int32_t *c, const int16_t w_even[4], const int16_t w_odd[4], int n,
                      int32_t *out);
void rows_deep_across(const int32_t *c, const struct pixel_taps *taps, int first, int n,
                      int32_t *out);
void rows_deep_rgb(const struct pixel_rgb *k, const uint16_t *y, int up, const int32_t *u,
                   const int32_t *v, int n, uint16_t *r, uint16_t *g, uint16_t *b);

/* ---- sums of components ---- */

void rows_sum(const struct pixel_sum *k, const uint16_t *const in[3], int n, bool is_word,
              void *out);
void rows_sum_one(const struct pixel_sum *k, const uint16_t *in, int n, bool is_word, void *out);
void rows_table(const uint16_t table[256], const uint8_t *in, int n, bool is_word, void *out);

void rows_fill(uint16_t value, int n, bool is_word, void *out);

/* ---- resizing 8 bits: intermediate results are words about 128 with 7 fractional bits ---- */

/* Bytes as words, which is what is weighed: once for all results that use a row. */
void rows_widen(const uint8_t *row, int n, int16_t *out);
/* Weighted sum of `n_taps` rows of words, a multiple of 4; the weights' sum is 32768 >> up. */
void rows_down(const int16_t *const *row, const int16_t *w, int n_taps, int up, int n,
               int16_t *out);
void rows_down_one(const uint8_t *row, int n, int16_t *out);
/* Result i = sum of w[i * n_taps + k] * in[first[i] + k] / 16384; n_taps a multiple of 16, and what lies past
 * the row has weight 0 but can be read. */
void rows_across(const int16_t *in, const int32_t *first, const int16_t *w, int n_taps, int n,
                 uint8_t *out);
void rows_across_none(const int16_t *in, int n, uint8_t *out);

/* ---- resizing any depth, exactly: intermediate results have 8 fractional bits ---- */

#define ROWS_WIDE_BITS 22 /* the weights' sum is 1 << this */

void rows_wide_down(const void *const *row, bool is_word, const int32_t *w, int n_taps, int n,
                    int32_t *out);
void rows_wide_across(const int32_t *in, const int32_t *first, const int32_t *w, int n_taps, int n,
                      int32_t max, bool is_word, void *out);

void rows_wide_none(const int32_t *in, int n, int32_t max, bool is_word, void *out);

/* Nearest: result i is in[at[i]]. */
void rows_pick(const void *in, const int32_t *at, int n, bool is_word, void *out);

/* ---- into the result ---- */

void rows_interleave3(const uint8_t *a, const uint8_t *b, const uint8_t *c, int n, uint8_t *out);
void rows_interleave4(const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d, int n,
                      uint8_t *out);

#endif
