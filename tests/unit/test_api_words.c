/* SPDX-License-Identifier: MIT
 *
 * test_api_words.c - the public words: they reach base, and no NULL is followed.
 */
#include "base/pixfmt.h"
#include "swt.h"
#include "t.h"

TEST(words__reach_their_parsers)
{
    struct swt_pos pos;
    struct swt_length length;
    struct swt_ratio ratio;
    enum swt_dtype dtype;
    int64_t ns;
    uint64_t bytes;
    CHECK_INT(swt_pos_parse("-2s", &pos, NULL), 0);
    CHECK_INT(pos.kind, SWT_POS_TIME_BACK);
    CHECK_INT(swt_length_parse("64", &length, NULL), 0);
    CHECK_INT(length.value, 64);
    CHECK_INT(swt_duration_parse("1m30s", &ns, NULL), 0);
    CHECK_INT(ns, INT64_C(90000000000));
    CHECK_INT(swt_bytes_parse("512MiB", &bytes, NULL), 0);
    CHECK_INT(bytes, 512 << 20);
    CHECK_INT(swt_ratio_parse("30000/1001", &ratio, NULL), 0);
    CHECK_INT(ratio.den, 1001);
    CHECK_INT(swt_dtype_parse("bf16", &dtype, NULL), 0);
    CHECK_INT(dtype, SWT_BF16);
}

TEST(words__null_is_a_usage_error)
{
    struct swt_diag diag;
    struct swt_pos pos;
    struct swt_length length;
    struct swt_ratio ratio;
    enum swt_dtype dtype;
    int64_t ns;
    uint64_t bytes;
    CHECK_INT(swt_pos_parse(NULL, &pos, &diag), SWT_E_USAGE);
    CHECK_STR(diag.text, "an argument is NULL");
    CHECK_INT(swt_pos_parse("1", NULL, NULL), SWT_E_USAGE);
    CHECK_INT(swt_length_parse(NULL, &length, NULL), SWT_E_USAGE);
    CHECK_INT(swt_duration_parse(NULL, &ns, NULL), SWT_E_USAGE);
    CHECK_INT(swt_bytes_parse(NULL, &bytes, NULL), SWT_E_USAGE);
    CHECK_INT(swt_ratio_parse(NULL, &ratio, NULL), SWT_E_USAGE);
    CHECK_INT(swt_dtype_parse(NULL, &dtype, NULL), SWT_E_USAGE);
}

TEST(dtype__that_is_none_is_refused_with_all_names)
{
    struct swt_diag diag;
    enum swt_dtype dtype = SWT_F32;
    CHECK_INT(swt_dtype_parse("none", &dtype, &diag), SWT_E_USAGE);
    CHECK_STR(diag.text, "not an element type: u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64");
    CHECK_INT(dtype, SWT_F32);
    CHECK_STR(swt_dtype_name(SWT_DTYPE_NONE), "none");
    CHECK_STR(swt_dtype_name(SWT_S16), "s16");
    CHECK_INT(swt_dtype_bytes(SWT_DTYPE_NONE), 0);
    CHECK_INT(swt_dtype_bytes(SWT_F64), 8);
}

TEST(errors__have_text_and_exit_status)
{
    CHECK_STR(swt_strerror(SWT_E_NOT_RECORDING), "not a recording");
    CHECK_INT(swt_exit_code(SWT_E_NO_WINDOW), 4);
    CHECK_STR(swt_version(), SWT_VERSION);
}

TEST(pixels__are_those_of_the_table)
{
    size_t n = 0;
    for (; swt_pixel_name(n); n++)
        CHECK(pixfmt_find(swt_pixel_name(n)) == pixfmt_at(n));
    CHECK(n > 10);
    CHECK(swt_pixel_name(SIZE_MAX) == NULL);
}

T_MAIN(RUN(words__reach_their_parsers) RUN(words__null_is_a_usage_error)
           RUN(dtype__that_is_none_is_refused_with_all_names) RUN(errors__have_text_and_exit_status)
               RUN(pixels__are_those_of_the_table))
