/* SPDX-License-Identifier: MIT
 *
 * words.c - version, texts of errors, and the words of the command line for swt.h. Thin: what they mean
 * is in base.
 */
#include "swt.h"

#include <string.h>

#include "base/dtype.h"
#include "base/err.h"
#include "base/pixfmt.h"
#include "base/when.h"

const char *swt_version(void)
{
    return SWT_VERSION;
}

const char *swt_strerror(int code)
{
    return err_text(code);
}

int swt_exit_code(int code)
{
    return err_exit_code(code);
}

static int check_args(const void *text, const void *ret, struct swt_diag *reterr)
{
    return text && ret ? 0 : err_set(reterr, SWT_E_USAGE, "an argument is NULL");
}

int swt_pos_parse(const char *text, struct swt_pos *ret_pos, struct swt_diag *reterr)
{
    int rc = check_args(text, ret_pos, reterr);
    return rc < 0 ? rc : when_pos(text, ret_pos, reterr);
}

int swt_length_parse(const char *text, struct swt_length *ret_length, struct swt_diag *reterr)
{
    int rc = check_args(text, ret_length, reterr);
    return rc < 0 ? rc : when_length(text, ret_length, reterr);
}

int swt_duration_parse(const char *text, int64_t *ret_ns, struct swt_diag *reterr)
{
    int rc = check_args(text, ret_ns, reterr);
    return rc < 0 ? rc : when_duration(text, ret_ns, reterr);
}

int swt_bytes_parse(const char *text, uint64_t *ret_bytes, struct swt_diag *reterr)
{
    int rc = check_args(text, ret_bytes, reterr);
    return rc < 0 ? rc : when_bytes(text, ret_bytes, reterr);
}

int swt_ratio_parse(const char *text, struct swt_ratio *ret_ratio, struct swt_diag *reterr)
{
    int rc = check_args(text, ret_ratio, reterr);
    return rc < 0 ? rc : when_ratio(text, ret_ratio, reterr);
}

const char *swt_dtype_name(enum swt_dtype dtype)
{
    return dtype_get(dtype)->name;
}

size_t swt_dtype_bytes(enum swt_dtype dtype)
{
    return dtype_get(dtype)->bytes;
}

int swt_dtype_parse(const char *text, enum swt_dtype *ret_dtype, struct swt_diag *reterr)
{
    int rc = check_args(text, ret_dtype, reterr);
    if (rc < 0)
        return rc;
    enum swt_dtype dtype = dtype_find(text);
    if (dtype == SWT_DTYPE_NONE) {
        char names[SWT_N_DTYPES * 8], *at = names; /* a space and a name each */
        for (unsigned i = SWT_DTYPE_NONE + 1; i < SWT_N_DTYPES; i++) {
            *at++ = ' ';
            at = stpcpy(at, dtype_get((enum swt_dtype)i)->name);
        }
        return err_set(reterr, SWT_E_USAGE, "not an element type:%s", names);
    }
    *ret_dtype = dtype;
    return 0;
}

const char *swt_pixel_name(size_t i)
{
    const struct pixfmt *f = pixfmt_at(i);
    return f ? f->name : NULL;
}
