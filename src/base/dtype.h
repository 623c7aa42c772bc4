/* SPDX-License-Identifier: MIT
 *
 * dtype.h - the table of element types: name, size, kind, npy code. Converting values is not done
 * here.
 */
#ifndef BASE_DTYPE_H
#define BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "swt.h"

struct dtype {
    const char *name; /* as on the command line and in the params block: "u8" */
    const char *npy;  /* numpy's code on disk: "|u1", "<f4"; NULL where numpy has none (bf16) */
    size_t bytes;     /* of one element */
    bool is_float, is_signed;
};

/* Row of a dtype; the row "none" (0 bytes) for SWT_DTYPE_NONE and for any value that is not a
 * dtype. */
const struct dtype *dtype_get(enum swt_dtype dtype);

/* By name; SWT_DTYPE_NONE if unknown. */
enum swt_dtype dtype_find(const char *name);

#endif
