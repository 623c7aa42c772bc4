/* SPDX-License-Identifier: MIT
 *
 * elements.c - numbers of one type to another. As all are exact in a double but 64-bit integers, those
 * go their own way when they stay integers.
 */
#include "tensor/elements.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/dtype.h"
#include "tensor/convert.h"

/* IEEE binary16 from binary32, to nearest even. */
static uint16_t half_of(float f)
{
    uint32_t bits, sign, rest, shift;

    memcpy(&bits, &f, sizeof bits);
    sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits > 0x7f800000) /* not a number: quiet, with what fits of its payload */
        return (uint16_t)(sign | 0x7e00 | (bits >> 13 & 0x3ff));
    if (bits >= 0x477ff000) /* from halfway between the largest and the next */
        return (uint16_t)(sign | 0x7c00);
    if (bits >= 0x38800000) { /* normal: another bias, 13 bits fewer */
        bits -= 112u << 23;
        return (uint16_t)(sign | (bits + 0xfff + (bits >> 13 & 1)) >> 13);
    }
    if (bits < 0x33000000) /* less than half of the smallest */
        return (uint16_t)sign;
    shift = 126 - (bits >> 23); /* subnormal: units of 2^-24 */
    bits = (bits & 0x7fffff) | 0x800000;
    rest = bits & ((1u << shift) - 1);
    bits >>= shift;
    bits += rest > 1u << (shift - 1) || (rest == 1u << (shift - 1) && (bits & 1));
    return (uint16_t)(sign | bits);
}

static float half_value(uint16_t h)
{
    int exponent = h >> 10 & 31, mantissa = h & 0x3ff;
    float f = exponent == 31 ? (mantissa ? NAN : INFINITY)
              : exponent     ? ldexpf((float)(mantissa | 0x400), exponent - 25)
                             : ldexpf((float)mantissa, -24);

    return h & 0x8000 ? -f : f;
}

/* bfloat16: the upper half of binary32. */
static uint16_t brain_of(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float brain_value(uint16_t b)
{
    uint32_t bits = (uint32_t)b << 16;
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Bounds of integer types: -2^(bits-1) .. 2^(bits-1) - 1, or 0 .. 2^bits - 1. */
static int bits_of(enum swt_dtype dtype)
{
    return 8 * (int)dtype_get(dtype)->bytes;
}

static bool is_integer(enum swt_dtype dtype)
{
    return !dtype_get(dtype)->is_float;
}

static void put_bits(uint64_t bits, size_t n_bytes, void *dst)
{
    memcpy(dst, &bits, n_bytes); /* little endian, as everything here */
}

static uint64_t integer_of(enum swt_dtype dtype, double value)
{
    bool is_signed = dtype_get(dtype)->is_signed;
    int bits = bits_of(dtype);
    double top = 2.0 * (double)(UINT64_C(1) << (bits - 1 - is_signed));

    if (isnan(value))
        return 0;
    value = rint(value);
    if (value >= top)
        return is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX;
    if (is_signed)
        return value <= -top ? (uint64_t)(int64_t)-top : (uint64_t)(int64_t)value;
    return value <= 0 ? 0 : (uint64_t)value;
}

void element_put(enum swt_dtype dtype, double value, void *dst)
{
    uint16_t word;
    float f;

    if (is_integer(dtype)) {
        put_bits(integer_of(dtype, value), dtype_get(dtype)->bytes, dst);
    } else if (dtype == SWT_F64) {
        memcpy(dst, &value, sizeof value);
    } else {
        f = (float)value;
        word = dtype == SWT_F16 ? half_of(f) : brain_of(f);
        memcpy(dst, dtype == SWT_F32 ? (const void *)&f : (const void *)&word,
               dtype_get(dtype)->bytes);
    }
}

/* An integer of any type, sign-extended; unsigned 64-bit ones as their bits. */
static int64_t integer_at(enum swt_dtype dtype, const uint8_t *src)
{
    uint64_t bits = 0;
    int spare = 64 - bits_of(dtype);

    memcpy(&bits, src, dtype_get(dtype)->bytes);
    if (!dtype_get(dtype)->is_signed)
        return (int64_t)bits;
    return (int64_t)(bits << spare) >> spare;
}

static double value_at(enum swt_dtype dtype, const uint8_t *src)
{
    uint16_t word;
    double d;
    float f;

    if (is_integer(dtype)) {
        int64_t i = integer_at(dtype, src);

        return dtype == SWT_U64 ? (double)(uint64_t)i : (double)i;
    }
    if (dtype == SWT_F64) {
        memcpy(&d, src, sizeof d);
        return d;
    }
    if (dtype == SWT_F32) {
        memcpy(&f, src, sizeof f);
        return (double)f;
    }
    memcpy(&word, src, sizeof word);
    return (double)(dtype == SWT_F16 ? half_value(word) : brain_value(word));
}

/* What 1 is in samples of a type; unsigned ones lie about it. */
static double full_scale(enum swt_dtype dtype)
{
    return is_integer(dtype) ? (double)(UINT64_C(1) << (bits_of(dtype) - 1)) : 1;
}

static bool is_unsigned(enum swt_dtype dtype)
{
    return is_integer(dtype) && !dtype_get(dtype)->is_signed;
}

/* By value: clipped to what the other type holds. */
static void integer_to_integer(enum swt_dtype from, const uint8_t *src, enum swt_dtype to,
                               uint8_t *dst)
{
    int64_t i = integer_at(from, src);
    bool is_signed = dtype_get(to)->is_signed;
    int bits = bits_of(to);
    uint64_t top = is_signed ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);

    if (i < 0 && from != SWT_U64) {
        int64_t bottom = is_signed ? -(int64_t)top - 1 : 0;

        i = i < bottom ? bottom : i;
    } else if ((uint64_t)i > top) {
        i = (int64_t)top;
    }
    put_bits((uint64_t)i, dtype_get(to)->bytes, dst);
}

/* What sound takes most of the time goes without the switches. Pointers need not be aligned. */
static void s16_to_f32(const uint8_t *src, uint8_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int16_t s;
        float f;

        memcpy(&s, src + 2 * i, sizeof s);
        f = (float)s * (1.0f / 32768);
        memcpy(dst + 4 * i, &f, sizeof f);
    }
}

static void s32_to_f32(const uint8_t *src, uint8_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int32_t s;
        float f;

        memcpy(&s, src + 4 * i, sizeof s);
        f = (float)s * (1.0f / 2147483648.0f);
        memcpy(dst + 4 * i, &f, sizeof f);
    }
}

static void f32_to_s16(const uint8_t *src, uint8_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int16_t s;
        float f;

        memcpy(&f, src + 4 * i, sizeof f);
        f = f * 32768.0f;
        f = f > 32767.0f ? 32767.0f : f;
        f = f >= -32768.0f ? f : f < 0 ? -32768.0f : 0; /* what is left is not a number */
        s = (int16_t)lrintf(f);
        memcpy(dst + 2 * i, &s, sizeof s);
    }
}

static bool scale_fast(enum swt_dtype from, const uint8_t *src, enum swt_dtype to, uint8_t *dst,
                       size_t n)
{
    if (from == SWT_S16 && to == SWT_F32)
        s16_to_f32(src, dst, n);
    else if (from == SWT_S32 && to == SWT_F32)
        s32_to_f32(src, dst, n);
    else if (from == SWT_F32 && to == SWT_S16)
        f32_to_s16(src, dst, n);
    else
        return false;
    return true;
}

int convert_elements(enum swt_dtype from, const void *src, enum swt_dtype to, void *dst, size_t n,
                     bool scale)
{
    size_t step = dtype_get(from)->bytes, to_step = dtype_get(to)->bytes;
    double factor = 1, below = -0.0,
           above = -0.0; /* -0 is what can be added without a change, to -0 too */
    const uint8_t *p = src;
    uint8_t *q = dst;

    if (!step || !to_step)
        return SWT_E_UNSUPPORTED;
    if (from == to) {
        memmove(dst, src, n * step);
        return 0;
    }
    if (scale && scale_fast(from, p, to, q, n))
        return 0;
    if (scale) {
        factor = full_scale(to) / full_scale(from);
        below = is_unsigned(from) ? -full_scale(from) : below;
        above = is_unsigned(to) ? full_scale(to) : above;
    }
    for (size_t i = 0; i < n; i++, p += step, q += to_step) {
        if (!scale && is_integer(from) && is_integer(to))
            integer_to_integer(from, p, to, q);
        else
            element_put(to, (value_at(from, p) + below) * factor + above, q);
    }
    return 0;
}
