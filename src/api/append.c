/* SPDX-License-Identifier: MIT
 *
 * append.c - swt_append_*: frames that a program makes itself, straight into a tensor stream of the store.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/size.h"
#include "store/store.h"

#define MAX_FRAME_BYTES (UINT64_C(1) << 31)

struct swt_append {
    struct store_dir *dir;
    struct store_writer *writer;
    struct params params;
    int64_t next;         /* number of the next frame */
    int64_t next_ns;      /* time of the next frame of a stream with a rate */
    int64_t zero_boot_ns; /* CLOCK_BOOTTIME at media time 0 */
};

void swt_append_spec_init(struct swt_append_spec *spec)
{
    *spec = (struct swt_append_spec){.sync_ns = -1, .rate = {0, 1}};
}

static int make_params(const struct swt_append_spec *spec, struct params *p,
                       struct swt_diag *reterr)
{
    params_init(p);
    (void)snprintf(p->media, sizeof p->media, "rows");
    p->dtype = spec->dtype;
    p->rate = spec->rate.num > 0 ? spec->rate : (struct swt_ratio){0, 1};
    p->time_base = (struct swt_ratio){1, INT64_C(1000000000)};
    p->frame_bytes = dtype_get(spec->dtype)->bytes;
    if (p->frame_bytes == 0 || spec->n_dims < 0 || spec->n_dims > SWT_MAX_DIMS - 1 ||
        p->rate.den <= 0)
        return err_set(reterr, SWT_E_USAGE,
                       "swt_append_open: dtype, 0 to %d dimensions and a rate are needed",
                       SWT_MAX_DIMS - 1);
    p->n_dims = spec->n_dims;
    for (int i = 0; i < spec->n_dims; i++) {
        p->shape[i] = spec->shape[i];
        if (spec->shape[i] < 1 ||
            !size_mul(p->frame_bytes, (uint64_t)spec->shape[i], &p->frame_bytes) ||
            p->frame_bytes > MAX_FRAME_BYTES)
            return err_set(reterr, SWT_E_USAGE, "a frame must have 1 byte to 2 GiB");
    }
    return 0;
}

static void free_append(struct swt_append **append)
{
    (void)swt_append_close(append, NULL);
}

static int open_writer(struct swt_append *a, const struct swt_append_spec *spec,
                       struct swt_diag *reterr)
{
    struct store_writer_spec w = {.name = spec->stream ? spec->stream : "tensor",
                                  .kind = SEG_KIND_TENSOR,
                                  .segment_bytes = spec->segment_bytes,
                                  .sync_ns = spec->sync_ns < 0 ? INT64_C(1000000000)
                                                               : spec->sync_ns,
                                  .control_dir = spec->control_dir,
                                  .made_from = "",
                                  .log = {spec->log, spec->log_arg}};
    if (!store_name_is_valid(w.name))
        return err_set(reterr, SWT_E_USAGE,
                       "'%s' is no stream name: [a-z0-9][a-z0-9._-]*, 63 at most", w.name);
    int rc = store_dir_create(spec->path, clock_boot_ns(), &a->dir, reterr);
    if (rc >= 0)
        rc = store_writer_open(a->dir, &w, &a->writer, reterr);
    return rc < 0 ? rc : store_writer_format(a->writer, &a->params, reterr);
}

int swt_append_open(const struct swt_append_spec *spec, struct swt_append **ret_append,
                    struct swt_diag *reterr)
{
    if (!spec || !spec->path || !ret_append)
        return err_set(reterr, -EINVAL, "swt_append_open: path and ret_append are needed");
    AUTO(free_append) struct swt_append *a = calloc(1, sizeof *a);
    if (!a)
        return err_set(reterr, -ENOMEM, "out of memory");
    int rc = make_params(spec, &a->params, reterr);
    if (rc >= 0)
        rc = open_writer(a, spec, reterr);
    if (rc < 0)
        return rc;
    struct store_writer_state state;
    store_writer_state(a->writer, &state);
    a->next = (int64_t)state.frames;
    a->next_ns = state.end_ns == INT64_MIN ? 0 : state.end_ns;
    a->zero_boot_ns = store_dir_info(a->dir)->zero_boot_ns;
    *ret_append = a;
    a = NULL;
    return 0;
}

int swt_append_frames(struct swt_append *append, const void *data, int64_t n, int64_t time_ns,
                      int64_t *ret_stored, struct swt_diag *reterr)
{
    uint64_t stored = 0;
    if (!append || n < 0 || (n > 0 && !data))
        return err_set(reterr, -EINVAL, "swt_append_frames: data and a count are needed");
    int64_t now = clock_boot_ns();
    bool is_timed = append->params.rate.num > 0;
    int64_t at = time_ns != INT64_MIN ? time_ns
                 : is_timed           ? append->next_ns
                                      : now - append->zero_boot_ns;
    if (at < append->next_ns)
        at = append->next_ns;
    struct store_item item = {
        .time_ns = at, .src_pts = INT64_MIN, .capture_ns = now, .flags = SEG_FLAG_KEY};
    int rc = n ? store_writer_frames(append->writer, &item, data, (uint64_t)n, &stored, reterr) : 0;
    append->next += (int64_t)stored;
    if (stored)
        append->next_ns = at +
                          (is_timed ? size_frames_ns((int64_t)stored, append->params.rate) : 1);
    if (ret_stored)
        *ret_stored = (int64_t)stored;
    return rc < 0 ? rc : 0;
}

int64_t swt_append_next(const struct swt_append *append)
{
    return append->next;
}

int swt_append_close(struct swt_append **append, struct swt_diag *reterr)
{
    struct swt_append *a = append ? *append : NULL;
    if (!a)
        return 0;
    int kept = a->writer ? store_writer_keep_format(a->writer, reterr) : 0;
    int rc = a->writer ? store_writer_close(&a->writer, kept < 0 ? NULL : reterr) : 0;
    store_dir_close(&a->dir);
    params_done(&a->params);
    free(a);
    *append = NULL;
    return kept < 0 ? kept : rc;
}
