/* SPDX-License-Identifier: MIT
 *
 * tail.c - the end of a stream over its newest segments, found by reading.
 */
#include "store/tail.h"

static uint64_t known_of(const struct segfile *f, uint64_t known)
{
    return known > f->super.base_entry ? known - f->super.base_entry : 0;
}

/* First segment that may have lost its end: of the session of the newest, behind its last sealed one. */
static size_t first_open(int seg_dir_fd, const uint64_t *bases, size_t n, const uint8_t uuid[16],
                         const struct segfile *newest)
{
    size_t first = n - 1;
    while (first > 0) {
        AUTO(segfile_close) struct segfile f = {.fd = -1};
        if (segfile_open(seg_dir_fd, bases[first - 1], uuid, &f, NULL) < 0 || f.slot.is_sealed ||
            f.super.session_no != newest->super.session_no)
            break;
        first--;
    }
    return first;
}

static bool reaches(const struct segfile *f, const struct segfile_extent *x,
                    const struct segfile *next)
{
    return f->super.base_entry + x->entries >= next->super.base_entry &&
           f->super.base_frame + x->frames >= next->super.base_frame;
}

int tail_find(int seg_dir_fd, const uint64_t *bases, size_t n, const uint8_t stream_uuid[16],
              uint64_t known, struct segfile *ret_file, struct segfile_extent *ret_extent,
              size_t *ret_n, struct swt_diag *reterr)
{
    AUTO(segfile_close) struct segfile newest = {.fd = -1};
    *ret_n = 0;
    if (n == 0)
        return 0;
    int rc = segfile_open(seg_dir_fd, bases[n - 1], stream_uuid, &newest, reterr);
    if (rc < 0)
        return rc;
    for (size_t i = first_open(seg_dir_fd, bases, n, stream_uuid, &newest); i < n; i++) {
        AUTO(segfile_close) struct segfile f = {.fd = -1};
        AUTO(segfile_close) struct segfile next = {.fd = -1};
        if (i + 1 == n) {
            f = newest;
            newest.fd = -1; /* moved */
        } else {
            rc = segfile_open(seg_dir_fd, bases[i], stream_uuid, &f, reterr);
        }
        if (rc == 0)
            rc = segfile_reach(&f, known_of(&f, known), ret_extent, reterr);
        if (rc == 0 && i + 1 < n)
            rc = segfile_open(seg_dir_fd, bases[i + 1], stream_uuid, &next, reterr);
        if (rc < 0)
            return rc;
        if (i + 1 < n && reaches(&f, ret_extent, &next))
            continue;
        *ret_n = i + 1;
        *ret_file = f;
        f.fd = -1;
        return 0;
    }
    return 0;
}
