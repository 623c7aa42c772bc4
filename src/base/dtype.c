/* SPDX-License-Identifier: MIT
 *
 * dtype.c - the table behind dtype.h. One row a type; nothing else in swt lists them.
 */
#include "base/dtype.h"

#include <string.h>

static const struct dtype dtypes[SWT_N_DTYPES] = {
    [SWT_DTYPE_NONE] = {"none", NULL, 0, false, false}, [SWT_U8] = {"u8", "|u1", 1, false, false},
    [SWT_U16] = {"u16", "<u2", 2, false, false},        [SWT_U32] = {"u32", "<u4", 4, false, false},
    [SWT_U64] = {"u64", "<u8", 8, false, false},        [SWT_S8] = {"s8", "|i1", 1, false, true},
    [SWT_S16] = {"s16", "<i2", 2, false, true},         [SWT_S32] = {"s32", "<i4", 4, false, true},
    [SWT_S64] = {"s64", "<i8", 8, false, true},         [SWT_F16] = {"f16", "<f2", 2, true, true},
    [SWT_BF16] = {"bf16", NULL, 2, true, true},         [SWT_F32] = {"f32", "<f4", 4, true, true},
    [SWT_F64] = {"f64", "<f8", 8, true, true},
};

const struct dtype *dtype_get(enum swt_dtype dtype)
{
    bool is_known = (unsigned)dtype < SWT_N_DTYPES;
    return &dtypes[is_known ? dtype : SWT_DTYPE_NONE];
}

enum swt_dtype dtype_find(const char *name)
{
    for (unsigned i = SWT_DTYPE_NONE + 1; i < SWT_N_DTYPES; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return (enum swt_dtype)i;
    return SWT_DTYPE_NONE;
}
