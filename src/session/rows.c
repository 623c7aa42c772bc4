/* SPDX-License-Identifier: MIT
 *
 * rows.c - raw rows of a fixed dtype and shape from a pipe or a file. Rows without a rate carry the time at which
 * they arrived.
 */
#include "session/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/size.h"

#define READ_BYTES    (1u << 20)          /* asked of the pipe at a time */
#define MAX_ROW_BYTES (UINT64_C(1) << 31) /* one row */

static int bad_spec(const char *text, struct swt_diag *reterr)
{
    return err_set(reterr, SWT_E_USAGE,
                   "--tensor '%s' is not DTYPE[:SHAPE], for example f32:7 or u8:224x224x3", text);
}

/* "224x224x3" */
static int parse_shape(const char *text, const char *whole, struct params *p,
                       struct swt_diag *reterr)
{
    while (*text) {
        char *end;
        if (*text < '0' || *text > '9' || p->n_dims == SWT_MAX_DIMS - 1)
            return bad_spec(whole, reterr);
        errno = 0;
        long long n = strtoll(text, &end, 10);
        if (errno || n < 1 || (*end != '\0' && *end != 'x') || (*end == 'x' && end[1] == '\0'))
            return bad_spec(whole, reterr);
        p->shape[p->n_dims++] = n;
        if (!size_mul(p->frame_bytes, (uint64_t)n, &p->frame_bytes) ||
            p->frame_bytes > MAX_ROW_BYTES)
            return err_set(reterr, SWT_E_USAGE, "--tensor '%s': a row of more than 2 GiB", whole);
        text = *end ? end + 1 : end;
    }
    return 0;
}

static int parse_spec(const struct swt_record_spec *spec, struct params *p, struct swt_diag *reterr)
{
    char name[16];
    const char *colon = strchr(spec->tensor, ':');
    size_t n = colon ? (size_t)(colon - spec->tensor) : strlen(spec->tensor);
    if (n == 0 || n >= sizeof name || (colon && !colon[1]))
        return bad_spec(spec->tensor, reterr);
    memcpy(name, spec->tensor, n);
    name[n] = '\0';
    params_init(p);
    (void)snprintf(p->media, sizeof p->media, "rows");
    p->dtype = dtype_find(name);
    if (p->dtype == SWT_DTYPE_NONE)
        return bad_spec(spec->tensor, reterr);
    p->frame_bytes = dtype_get(p->dtype)->bytes;
    p->rate = spec->fps;
    p->time_base = (struct swt_ratio){1, INT64_C(1000000000)};
    return colon ? parse_shape(colon + 1, spec->tensor, p, reterr) : 0;
}

int rows_open(struct rows *r, const char *input, const struct swt_record_spec *spec,
              struct swt_diag *reterr)
{
    *r = (struct rows){.fd = -1, .last_ns = INT64_MIN};
    int rc = parse_spec(spec, &r->params, reterr);
    if (rc < 0)
        return rc;
    r->is_stdin = strcmp(input, "-") == 0;
    r->fd = r->is_stdin ? STDIN_FILENO : open(input, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0)
        return err_errno(reterr, errno, input, "cannot open the input");
    r->cap = (size_t)size_up(r->params.frame_bytes, 4096) + READ_BYTES;
    r->buf = malloc(r->cap);
    return r->buf ? 0 : err_set(reterr, -ENOMEM, "out of memory");
}

void rows_done(struct rows *r)
{
    if (r->fd >= 0 && !r->is_stdin)
        (void)close(r->fd);
    r->fd = -1;
    free(r->buf);
    r->buf = NULL;
    params_done(&r->params);
}

/* Rows of [time, …) that lie before the limits. */
static int64_t allowed(const struct rows *r, const struct limits *limits, int64_t frames_limit,
                       int64_t n, int64_t time_ns)
{
    int64_t end_ns = atomic_load(&limits->end_ns);
    if (frames_limit > 0 && n > frames_limit - r->n_rows)
        n = frames_limit - r->n_rows;
    if (end_ns == INT64_MAX)
        return n;
    if (r->params.rate.num == 0)
        return time_ns < end_ns ? n : 0;
    int64_t left = size_scale_up(end_ns - r->offset_ns, r->params.rate.num,
                                 r->params.rate.den * INT64_C(1000000000)) -
                   r->n_rows;
    return left < 0 ? 0 : left < n ? left : n;
}

/* Store the whole rows in the buffer. 0: a limit is reached. */
static int store_rows(struct rows *r, struct sink *sink, const struct limits *limits,
                      int64_t frames_limit, int64_t now_ns, int64_t zero_boot_ns,
                      struct swt_diag *reterr)
{
    int64_t n = (int64_t)(r->n / r->params.frame_bytes);
    bool is_timed = r->params.rate.num > 0;
    int64_t time_ns = is_timed ? r->offset_ns + size_frames_ns(r->n_rows, r->params.rate)
                               : now_ns - zero_boot_ns;
    if (!is_timed && time_ns <= r->last_ns)
        time_ns = r->last_ns + 1;
    int64_t fit = allowed(r, limits, frames_limit, n, time_ns);
    struct store_item item = {
        .time_ns = time_ns, .src_pts = MEDIA_NO_PTS, .capture_ns = now_ns, .flags = SEG_FLAG_KEY};
    int rc = fit > 0 ? sink_frames(sink, &item, r->buf, (uint64_t)fit, reterr) : 0;
    if (rc < 0)
        return rc;
    size_t used = (size_t)((uint64_t)fit * r->params.frame_bytes);
    memmove(r->buf, r->buf + used, r->n - used);
    r->n -= used;
    r->n_rows += fit;
    r->last_ns = fit > 0 ? time_ns : r->last_ns;
    return fit == n && (frames_limit == 0 || r->n_rows < frames_limit);
}

int rows_wait(const struct rows *r, int timeout_ms)
{
    struct pollfd p = {.fd = r->fd, .events = POLLIN};
    return poll(&p, 1, timeout_ms) > 0;
}

int rows_step(struct rows *r, struct sink *sink, const struct limits *limits, int64_t frames_limit,
              int timeout_ms, int64_t zero_boot_ns, struct swt_diag *reterr)
{
    if (!rows_wait(r, timeout_ms))
        return 1;
    ssize_t got = read(r->fd, r->buf + r->n, r->cap - r->n);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return 1;
    if (got < 0)
        return err_errno(reterr, errno, "", "cannot read the input");
    if (got == 0 && r->n > 0)
        return err_set(reterr, SWT_E_LOST,
                       "the input ended inside a row: %zu of %" PRIu64 " bytes are left over", r->n,
                       r->params.frame_bytes);
    if (got == 0)
        return 0;
    r->n += (size_t)got;
    if (r->n < r->params.frame_bytes)
        return 1;
    return store_rows(r, sink, limits, frames_limit, clock_boot_ns(), zero_boot_ns, reterr);
}
