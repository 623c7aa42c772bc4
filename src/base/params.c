/* SPDX-License-Identifier: MIT
 *
 * params.c - life of a struct params: defaults, deep copy, end. Its bytes on disk are format's
 * matter.
 */
#include "base/params.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void params_init(struct params *p)
{
    memset(p, 0, sizeof *p);
    p->profile = p->level = -99;
    p->time_base = p->rate = p->sar = (struct swt_ratio){0, 1};
}

void params_done(struct params *p)
{
    free(p->extra);
    p->extra = NULL;
    p->n_extra = 0;
}

int params_copy(struct params *dst, const struct params *src)
{
    uint8_t *extra = NULL;
    if (src->n_extra > 0) {
        extra = malloc(src->n_extra);
        if (!extra)
            return -ENOMEM;
        memcpy(extra, src->extra, src->n_extra);
    }
    *dst = *src;
    dst->extra = extra;
    return 0;
}
