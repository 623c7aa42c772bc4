/* SPDX-License-Identifier: MIT
 *
 * test_exchange_npy.c - npy headers, byte by byte and as numpy reads them.
 */
#include "base/dtype.h"
#include "exchange/files.h"
#include "t.h"
#include "tool.h"

/* What numpy says of a file with our header and `n` zero bytes of data. */
static const char *as_numpy(enum swt_dtype dtype, int n_dims, const int64_t *shape)
{
    static const uint8_t zeros[100000];
    uint8_t *header = NULL;
    size_t n, bytes = dtype_get(dtype)->bytes;

    for (int i = 0; i < n_dims; i++)
        bytes *= (size_t)shape[i];
    if (files_npy_header(dtype, n_dims, shape, &header, &n, NULL) < 0 || bytes > sizeof zeros)
        return "no header";
    tool_enter();
    tool_write("a.npy", header, n, zeros, bytes);
    free(header);
    return tool_run("/usr/bin/python3 -c \"import numpy\n"
                    "a = numpy.load('a.npy', allow_pickle=False)\n"
                    "b = numpy.load('a.npy', mmap_mode='r')\n"
                    "assert a.shape == b.shape and a.dtype == b.dtype and b.offset %% 64 == 0\n"
                    "print(a.dtype.str, a.shape, a.flags.c_contiguous)\"");
}

TEST(npy__header_is_what_the_format_says)
{
    static const int64_t shape[] = {6, 48, 64, 1};
    static const char start[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<u2', 'fortran_order': False, "
                                "'shape': (6, 48, 64, 1), }";
    uint8_t *header;
    size_t n;

    CHECK_INT(files_npy_header(SWT_U16, 4, shape, &header, &n, NULL), 0);
    CHECK_INT(n, 128);
    CHECK_MEM(header, start, sizeof start - 1);
    for (size_t i = sizeof start - 1; i < n - 1; i++)
        CHECK_INT(header[i], ' ');
    CHECK_INT(header[n - 1], '\n');
    free(header);
}

TEST(npy__numpy_reads_every_dtype_and_shape)
{
    static const int64_t pictures[] = {6, 48, 64}, rgb[] = {2, 77, 101, 3}, sound[] = {480, 6};
    static const int64_t row[] = {7};

    CHECK_STR(as_numpy(SWT_U16, 3, pictures), "<u2 (6, 48, 64) True");
    CHECK_STR(as_numpy(SWT_U8, 4, rgb), "|u1 (2, 77, 101, 3) True");
    CHECK_STR(as_numpy(SWT_F32, 2, sound), "<f4 (480, 6) True");
    CHECK_STR(as_numpy(SWT_S16, 2, sound), "<i2 (480, 6) True");
    CHECK_STR(as_numpy(SWT_F16, 1, row), "<f2 (7,) True");
    CHECK_STR(as_numpy(SWT_F64, 1, row), "<f8 (7,) True");
    CHECK_STR(as_numpy(SWT_S8, 1, row), "|i1 (7,) True");
    CHECK_STR(as_numpy(SWT_U32, 1, row), "<u4 (7,) True");
    CHECK_STR(as_numpy(SWT_S32, 1, row), "<i4 (7,) True");
    CHECK_STR(as_numpy(SWT_U64, 1, row), "<u8 (7,) True");
    CHECK_STR(as_numpy(SWT_S64, 0, row), "<i8 () True");
}

TEST(npy__largest_shape_is_aligned_and_whole)
{
    int64_t shape[SWT_MAX_DIMS];
    uint8_t *header;
    size_t n;

    for (int i = 0; i < SWT_MAX_DIMS; i++)
        shape[i] = INT64_MAX;
    CHECK_INT(files_npy_header(SWT_U8, SWT_MAX_DIMS, shape, &header, &n, NULL), 0);
    CHECK_INT(n % 64, 0);
    CHECK_INT(header[8] + 256 * header[9], n - 10);
    CHECK(memmem(header, n, "9223372036854775807), }", 23) != NULL);
    free(header);
}

TEST(npy__bf16_is_refused_with_advice)
{
    static const int64_t shape[] = {1};
    struct swt_diag diag;
    uint8_t *header;
    size_t n;

    CHECK_INT(files_npy_header(SWT_BF16, 1, shape, &header, &n, &diag), SWT_E_UNSUPPORTED);
    CHECK(strstr(diag.text, "bf16") && strstr(diag.text, "raw"));
    CHECK_INT(files_npy_header(SWT_DTYPE_NONE, 1, shape, &header, &n, NULL), SWT_E_UNSUPPORTED);
    CHECK_INT(files_npy_header(SWT_U8, 9, shape, &header, &n, NULL), SWT_E_UNSUPPORTED);
}

T_MAIN(RUN(npy__header_is_what_the_format_says) RUN(npy__numpy_reads_every_dtype_and_shape)
           RUN(npy__largest_shape_is_aligned_and_whole) RUN(npy__bf16_is_refused_with_advice))
