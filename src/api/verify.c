/* SPDX-License-Identifier: MIT
 *
 * verify.c - swt_verify: every stream of a recording, one after the other.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "store/store.h"

static void free_names(char (**names)[SWT_NAME_CAP])
{
    free(*names);
}

int swt_verify(const char *path, swt_damage_fn *damage, void *arg,
               struct swt_verify_report *ret_report, struct swt_diag *reterr)
{
    AUTO(store_dir_close) struct store_dir *dir = NULL;
    AUTO(free_names) char(*names)[SWT_NAME_CAP] = NULL;
    struct swt_verify_report report = {0};
    size_t n = 0;
    if (!path || !ret_report)
        return err_set(reterr, -EINVAL, "swt_verify: path and ret_report are needed");
    int rc = store_dir_open(path, &dir, reterr);
    if (rc >= 0)
        rc = store_dir_streams(dir, &names, &n, reterr);
    for (size_t i = 0; i < n && rc >= 0; i++) {
        report.streams++;
        rc = store_verify(dir, names[i], damage, arg, &report, reterr);
        rc = rc == SWT_E_LOST ? 0 : rc;
    }
    if (rc < 0)
        return rc;
    *ret_report = report;
    if (report.damages > 0)
        return err_set(reterr, SWT_E_LOST, "%" PRIu64 " damages found", report.damages);
    return 0;
}
