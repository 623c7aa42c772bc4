/* SPDX-License-Identifier: MIT
 *
 * npy.c - the header of numpy's array files. A shape of SWT_MAX_DIMS dimensions fits the two-byte length
 * of format 1.0 by far, so no other version is written.
 */
#include "exchange/files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"

#define NPY_ALIGN  64 /* of header and data: numpy's promise to whoever maps the file */
#define NPY_PREFIX 10 /* magic, version, length of the text */
#define NPY_CAP    512

/* "(6, 48, 64)", "(5,)", "()"; returns the length. */
static int npy_shape(char *text, size_t cap, int n_dims, const int64_t *shape)
{
    int n = snprintf(text, cap, "(");

    for (int i = 0; i < n_dims; i++)
        n += snprintf(text + n, cap - (size_t)n, "%s%" PRId64, i ? ", " : "", shape[i]);
    return n + snprintf(text + n, cap - (size_t)n, "%s)", n_dims == 1 ? "," : "");
}

int files_npy_header(enum swt_dtype dtype, int n_dims, const int64_t *shape, uint8_t **ret_header,
                     size_t *ret_n, struct swt_diag *reterr)
{
    static const uint8_t magic[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    const char *descr = dtype_get(dtype)->npy;
    char dims[NPY_CAP / 2], text[NPY_CAP];
    uint8_t *header;
    size_t n_text, n;

    if (!descr)
        return err_set(reterr, SWT_E_UNSUPPORTED, "npy cannot hold %s: use raw, or --dtype f32",
                       dtype_get(dtype)->name);
    if (n_dims < 0 || n_dims > SWT_MAX_DIMS)
        return err_set(reterr, SWT_E_UNSUPPORTED, "npy: %d dimensions, %d at most", n_dims,
                       SWT_MAX_DIMS);
    npy_shape(dims, sizeof dims, n_dims, shape);
    n_text = (size_t)snprintf(
        text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, dims);
    n = (NPY_PREFIX + n_text + 1 + NPY_ALIGN - 1) / NPY_ALIGN * NPY_ALIGN;
    header = malloc(n);
    if (!header)
        return err_set(reterr, -ENOMEM, "npy: out of memory");
    memset(header, ' ', n);
    memcpy(header, magic, sizeof magic);
    header[8] = (uint8_t)((n - NPY_PREFIX) & 0xff);
    header[9] = (uint8_t)((n - NPY_PREFIX) >> 8);
    memcpy(header + NPY_PREFIX, text, n_text);
    header[n - 1] = '\n';
    *ret_header = header;
    *ret_n = n;
    return 0;
}
