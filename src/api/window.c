/* SPDX-License-Identifier: MIT
 *
 * window.c - swt_window_*: checks arguments and calls the tensor and exchange rooms.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/recording.h"
#include "exchange/output.h"

struct swt_window {
    struct window *inside; /* owned */
};

void swt_window_spec_init(struct swt_window_spec *spec)
{
    *spec = (struct swt_window_spec){.stride = 1, .crop_x = -1, .crop_y = -1, .std = {1, 1, 1, 1}};
}

void swt_window_close(struct swt_window **window)
{
    if (!window || !*window)
        return;
    window_close(&(*window)->inside);
    free(*window);
    *window = NULL;
}

static int check(const struct swt_window_spec *s, struct swt_diag *reterr)
{
    if (s->stream && strchr(s->stream, ','))
        return err_set(reterr, SWT_E_USAGE, "one stream at a time: '%s' names several", s->stream);
    if (s->stride < 0 || s->width < 0 || s->height < 0 || s->width > 65536 || s->height > 65536)
        return err_set(reterr, SWT_E_USAGE,
                       "size and stride must be positive, and a side at most 65536");
    if (s->select == SWT_SELECT_LAST && (s->length.kind == SWT_LENGTH_NONE || s->length.value <= 0))
        return err_set(reterr, SWT_E_USAGE, "a window of no frames was asked for");
    bool is_float = s->dtype == SWT_F16 || s->dtype == SWT_BF16 || s->dtype == SWT_F32 ||
                    s->dtype == SWT_F64;
    if (s->has_norm && !is_float)
        return err_set(reterr, SWT_E_USAGE, "--norm needs a float --dtype: f16, bf16 or f32");
    return 0;
}

int swt_window_open(struct swt_recording *recording, const struct swt_window_spec *spec,
                    struct swt_window **ret_window, struct swt_diag *reterr)
{
    size_t i = 0;
    struct store_reader *reader;
    if (!recording || !spec || !ret_window)
        return err_set(reterr, -EINVAL,
                       "swt_window_open: recording, spec and ret_window are needed");
    int rc = check(spec, reterr);
    if (rc >= 0)
        rc = recording_find(recording, spec->stream, &i, reterr);
    if (rc >= 0)
        rc = recording_reader(recording, i, &reader, reterr);
    if (rc < 0)
        return rc;
    AUTO(swt_window_close) struct swt_window *w = calloc(1, sizeof *w);
    if (!w)
        return err_set(reterr, -ENOMEM, "out of memory");
    rc = window_open(reader, recording->names[i], spec, &w->inside, reterr);
    if (rc < 0) {
        err_stream(reterr, recording->names[i]);
        return rc;
    }
    *ret_window = w;
    w = NULL;
    return 0;
}

int swt_window_refresh(struct swt_window *window, struct swt_diag *reterr)
{
    return window_refresh(window->inside, reterr);
}

int swt_window_wait(struct swt_window *window, int64_t timeout_ns, struct swt_diag *reterr)
{
    return window_wait(window->inside, timeout_ns, reterr);
}

void swt_window_info_get(const struct swt_window *window, struct swt_window_info *ret_info)
{
    *ret_info = *window_info(window->inside);
}

int swt_window_frame(struct swt_window *window, int64_t i, struct swt_frame_info *ret_frame,
                     struct swt_diag *reterr)
{
    return window_frame(window->inside, i, ret_frame, reterr);
}

int swt_window_map(struct swt_window *window, const void **ret_data, struct swt_diag *reterr)
{
    return window_map(window->inside, ret_data, reterr);
}

int swt_window_read(struct swt_window *window, int64_t first, int64_t n, void *buf, size_t cap,
                    struct swt_diag *reterr)
{
    return window_read(window->inside, first, n, buf, cap, reterr);
}

const char *swt_file_format_name(enum swt_file_format format)
{
    return output_format_name(format);
}

enum swt_file_format swt_file_format_parse(const char *name)
{
    return output_format_find(name);
}

enum swt_file_format swt_file_format_of_path(const char *path)
{
    return output_format_of_path(path);
}

int swt_window_write(struct swt_window *window, enum swt_file_format format, int fd,
                     struct swt_diag *reterr)
{
    return output_write(window->inside, format, fd, reterr);
}

int swt_window_save(struct swt_window *window, enum swt_file_format format, const char *path,
                    struct swt_diag *reterr)
{
    return output_save(window->inside, format, path, reterr);
}

int swt_window_save_times(struct swt_window *window, const char *path, struct swt_diag *reterr)
{
    return output_save(window->inside, SWT_FORMAT_NDJSON, path, reterr);
}
