/* SPDX-License-Identifier: MIT
 *
 * test_tensor_elements.c - numbers of one type to another: sound's scales, clipping, and every half-precision float
 * against numpy.
 */
#include <math.h>

#include "t.h"
#include "tensor/convert.h"
#include "tool.h"

TEST(float_to_s16__clips_and_never_wraps)
{
    static const float in[] = {0,       0.5f,     -0.5f,     0.25f, 1 / 32768.0f, -1 / 32768.0f,
                               1,       1.5f,     -1.5f,     3.0f,  -3.0f,        1e9f,
                               -1e9f,   INFINITY, -INFINITY, NAN,   -1,           32767 / 32768.0f,
                               0.99999f};
    static const int16_t want[] = {0,      16384,  -16384, 8192,   1,     -1,     32767,
                                   32767,  -32768, 32767,  -32768, 32767, -32768, 32767,
                                   -32768, 0,      -32768, 32767,  32767};
    int16_t out[sizeof want / sizeof *want];

    CHECK_INT(convert_elements(SWT_F32, in, SWT_S16, out, sizeof want / sizeof *want, true), 0);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        if (out[i] != want[i])
            T_FAIL("%g is %d, not %d", (double)in[i], out[i], want[i]);
}

TEST(float_to_s16__rounds_to_nearest_even)
{
    static const float in[] = {0.5f / 32768,  1.5f / 32768,  2.5f / 32768,
                               -0.5f / 32768, -1.5f / 32768, 0.51f / 32768};
    static const int16_t want[] = {0, 2, 2, 0, -2, 1};
    int16_t out[6];

    CHECK_INT(convert_elements(SWT_F32, in, SWT_S16, out, 6, true), 0);
    for (int i = 0; i < 6; i++)
        CHECK_INT(out[i], want[i]);
}

TEST(s24_in_s32__is_exact_as_float_and_comes_back)
{
    static const int32_t in[] = {0,        1,   -1,   8388607, -8388608, 4194304,
                                 -4194304, 256, -256, 65536,   123456,   -8388607};
    int32_t s32[12], back[12];
    float out[12];

    for (int i = 0; i < 12; i++)
        s32[i] = in[i] * 256;
    CHECK_INT(convert_elements(SWT_S32, s32, SWT_F32, out, 12, true), 0);
    for (int i = 0; i < 12; i++)
        CHECK(out[i] == (float)in[i] / 8388608);
    CHECK_INT(convert_elements(SWT_F32, out, SWT_S32, back, 12, true), 0);
    for (int i = 0; i < 12; i++)
        CHECK_INT(back[i], s32[i]);
}

TEST(s16_to_float__is_exact_and_comes_back)
{
    static int16_t in[65536], back[65536];
    static float f32[65536];
    static double f64[65536];

    for (int i = 0; i < 65536; i++)
        in[i] = (int16_t)(i - 32768);
    CHECK_INT(convert_elements(SWT_S16, in, SWT_F32, f32, 65536, true), 0);
    CHECK_INT(convert_elements(SWT_S16, in, SWT_F64, f64, 65536, true), 0);
    for (int i = 0; i < 65536; i++)
        CHECK(f32[i] == (float)in[i] / 32768 && f64[i] == in[i] / 32768.0);
    CHECK_INT(convert_elements(SWT_F32, f32, SWT_S16, back, 65536, true), 0);
    CHECK_MEM(in, back, sizeof in);
}

TEST(u8_sound__is_about_128)
{
    static const uint8_t in[] = {0, 128, 255, 127};
    int16_t s16[4];
    float f[4];
    uint8_t back[4];

    CHECK_INT(convert_elements(SWT_U8, in, SWT_F32, f, 4, true), 0);
    CHECK(f[0] == -1 && f[1] == 0 && f[2] == 127 / 128.0f && f[3] == -1 / 128.0f);
    CHECK_INT(convert_elements(SWT_F32, f, SWT_U8, back, 4, true), 0);
    CHECK_MEM(in, back, 4);
    CHECK_INT(convert_elements(SWT_U8, in, SWT_S16, s16, 4, true), 0);
    CHECK(s16[0] == -32768 && s16[1] == 0 && s16[2] == 127 * 256);
}

TEST(integers__change_scale_with_rounding_and_clipping)
{
    static const int32_t in[] = {0, 65536, -65536, INT32_MAX, INT32_MIN, 32768, 98304, -32768};
    static const int16_t want[] = {0, 1, -1, 32767, -32768, 0, 2, 0};
    int16_t out[8];
    int32_t wide[8];

    CHECK_INT(convert_elements(SWT_S32, in, SWT_S16, out, 8, true), 0);
    for (int i = 0; i < 8; i++)
        CHECK_INT(out[i], want[i]);
    CHECK_INT(convert_elements(SWT_S16, want, SWT_S32, wide, 8, true), 0);
    for (int i = 0; i < 8; i++)
        CHECK_INT(wide[i], want[i] * 65536);
}

TEST(by_value__integers_are_kept_or_clipped)
{
    static const int64_t in[] = {0, -1, 127, 128, 300, -129, INT64_MAX, INT64_MIN};
    static const uint64_t big = UINT64_MAX;
    int8_t s8[8];
    uint8_t u8[8];
    uint64_t u64[8];
    int64_t s64;
    float f;

    CHECK_INT(convert_elements(SWT_S64, in, SWT_S8, s8, 8, false), 0);
    CHECK(s8[1] == -1 && s8[2] == 127 && s8[3] == 127 && s8[5] == -128 && s8[6] == 127 &&
          s8[7] == -128);
    CHECK_INT(convert_elements(SWT_S64, in, SWT_U8, u8, 8, false), 0);
    CHECK(u8[1] == 0 && u8[3] == 128 && u8[4] == 255 && u8[7] == 0);
    CHECK_INT(convert_elements(SWT_S64, in, SWT_U64, u64, 8, false), 0);
    CHECK(u64[1] == 0 && u64[6] == INT64_MAX && u64[7] == 0);
    CHECK_INT(convert_elements(SWT_U64, &big, SWT_S64, &s64, 1, false), 0);
    CHECK(s64 == INT64_MAX);
    CHECK_INT(convert_elements(SWT_U64, &big, SWT_F32, &f, 1, false), 0);
    CHECK(f == 18446744073709551616.0f);
    CHECK_INT(convert_elements(SWT_F32, &f, SWT_S64, &s64, 1, false), 0);
    CHECK(s64 == INT64_MAX);
}

TEST(floats__keep_the_sign_of_zero)
{
    static const float in[] = {-0.0f, 0.0f, -1.5f};
    double out[3];

    for (int scale = 0; scale < 2; scale++) {
        CHECK_INT(convert_elements(SWT_F32, in, SWT_F64, out, 3, scale), 0);
        CHECK(signbit(out[0]) && !signbit(out[1]) && out[2] == -1.5);
    }
}

TEST(same_type__is_a_copy_bit_by_bit)
{
    static const uint32_t in[] = {0x7fc12345, 0x3f800000, 0x80000000, 0x00000001};
    uint32_t out[4];

    CHECK_INT(convert_elements(SWT_F32, in, SWT_F32, out, 4, true), 0);
    CHECK_MEM(in, out, sizeof in);
    CHECK_INT(convert_elements(SWT_DTYPE_NONE, in, SWT_F32, out, 4, true), SWT_E_UNSUPPORTED);
}

/* numpy's float16 of floats around each of its values, and back. */
TEST(f16__is_numpys)
{
    enum { N = 65536 * 5 };
    static const char script[] =
        "import numpy\n"
        "h = numpy.arange(65536, dtype='<u2').view('<f2')\n"
        "f = h.astype('<f4')\n"
        "g = numpy.nextafter(h, numpy.float16(numpy.inf)).astype('<f4')\n"
        "m = ((f.astype('f8') + g) / 2).astype('<f4')\n"
        "all = numpy.stack([f, m, numpy.nextafter(m, f), numpy.nextafter(m, g), f * "
        "numpy.float32(1e-3)], 1).astype('<f4').ravel()\n"
        "all = numpy.where(numpy.isnan(all), numpy.float32(1), all)\n"
        "all.tofile('f32'); all.astype('<f2').tofile('f16')\n"
        "f.tofile('back')\n";
    static float in[N], back[65536], want_back[65536];
    static uint16_t want[N + 1], out[N], half[65536];

    tool_enter();
    tool_write("half.py", script, sizeof script - 1, NULL, 0);
    CHECK_STR(tool_run("/usr/bin/python3 -W ignore half.py"), "");
    CHECK_INT(tool_read("f32", in, sizeof in), sizeof in);
    CHECK_INT(tool_read("f16", want, sizeof want), sizeof out);
    CHECK_INT(convert_elements(SWT_F32, in, SWT_F16, out, N, false), 0);
    for (int i = 0; i < N; i++)
        if (out[i] != want[i])
            T_FAIL("%g is %04x, not %04x", (double)in[i], out[i], want[i]);
    for (int i = 0; i < 65536; i++)
        half[i] = (uint16_t)i;
    CHECK_INT(tool_read("back", want_back, sizeof want_back), sizeof want_back);
    CHECK_INT(convert_elements(SWT_F16, half, SWT_F32, back, 65536, false), 0);
    for (int i = 0; i < 65536; i++)
        CHECK((isnan(back[i]) && isnan(want_back[i])) || !memcmp(&back[i], &want_back[i], 4));
}

TEST(bf16__rounds_to_nearest_even)
{
    static const uint32_t in[] = {0x3f800000, 0x3f808000, 0x3f818000, 0x3f808001,
                                  0x7f7fffff, 0x7f800000, 0x7fc00000, 0x7f800001};
    static const uint16_t want[] = {0x3f80, 0x3f80, 0x3f82, 0x3f81, 0x7f80, 0x7f80, 0x7fc0, 0x7fc0};
    uint16_t out[8];
    float f[8], back[1];

    memcpy(f, in, sizeof in);
    CHECK_INT(convert_elements(SWT_F32, f, SWT_BF16, out, 8, false), 0);
    for (int i = 0; i < 8; i++)
        CHECK_INT(out[i], want[i]);
    CHECK_INT(convert_elements(SWT_BF16, want, SWT_F32, back, 1, false), 0);
    CHECK(back[0] == 1);
}

T_MAIN(RUN(float_to_s16__clips_and_never_wraps) RUN(float_to_s16__rounds_to_nearest_even)
           RUN(s24_in_s32__is_exact_as_float_and_comes_back)
               RUN(s16_to_float__is_exact_and_comes_back) RUN(u8_sound__is_about_128)
                   RUN(integers__change_scale_with_rounding_and_clipping)
                       RUN(by_value__integers_are_kept_or_clipped)
                           RUN(floats__keep_the_sign_of_zero) RUN(same_type__is_a_copy_bit_by_bit)
                               RUN(f16__is_numpys) RUN(bf16__rounds_to_nearest_even))
