/* SPDX-License-Identifier: MIT
 *
 * recording.h - the open recording behind the public handle: its streams in public order, readers opened on first use.
 */
#ifndef API_RECORDING_H
#define API_RECORDING_H

#include "store/store.h"

struct swt_recording {
    struct store_dir *dir;
    char uuid[37];
    char (*names)[SWT_NAME_CAP]; /* owned */
    size_t n_names;
    struct store_reader **readers; /* owned; NULL until used */
};

/* Reader of a stream by position; opened on first use. */
int recording_reader(struct swt_recording *r, size_t i, struct store_reader **ret_reader,
                     struct swt_diag *reterr);

/* Position of a stream by name; NULL = the default one: first video, else first sound, else the only one. */
int recording_find(struct swt_recording *r, const char *name, size_t *ret_i,
                   struct swt_diag *reterr);

#endif
