/* SPDX-License-Identifier: MIT
 *
 * anchor.c - STREAM/clock: which wall time belongs to a capture time. When to append is helper.c's matter.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/io.h"
#include "format/anchor.h"
#include "store/dir.h"
#include "store/entrytime.h"

#define ANCHORS_MAX_BYTES (256u << 20) /* 4 million anchors: 8 years, one a minute */

static uint32_t anchor_crc(const struct seg_anchor *a)
{
    return crc32c(0, a, offsetof(struct seg_anchor, crc));
}

int dir_anchor_append(int stream_fd, const struct anchor *a)
{
    AUTO(io_close)
    int fd = openat(stream_fd, "clock", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                    0666);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return -errno;
    struct seg_anchor bytes = {0};
    le64_set(&bytes.boot_ns, (uint64_t)a->boot_ns);
    le64_set(&bytes.wall_ns, (uint64_t)a->wall_ns);
    memcpy(bytes.boot_id, a->boot_id, sizeof bytes.boot_id);
    le32_set(&bytes.crc, anchor_crc(&bytes));
    /* A tail that a power cut has torn is overwritten: records stay at multiples of their size. */
    uint64_t off = (uint64_t)st.st_size / sizeof bytes * sizeof bytes;
    int r = io_pwrite_all(fd, &bytes, sizeof bytes, off);
    return r < 0 ? r : io_fdatasync(fd);
}

static bool anchor_decode(const char *at, struct anchor *ret_anchor)
{
    struct seg_anchor bytes;
    memcpy(&bytes, at, sizeof bytes);
    if (le32_get(bytes.crc) != anchor_crc(&bytes))
        return false;
    ret_anchor->boot_ns = le64_get_signed(bytes.boot_ns);
    ret_anchor->wall_ns = le64_get_signed(bytes.wall_ns);
    memcpy(ret_anchor->boot_id, bytes.boot_id, sizeof bytes.boot_id);
    return true;
}

static void free_text(char **text)
{
    free(*text);
    *text = NULL;
}

int dir_anchors_read(int stream_fd, struct anchor **ret_anchors, size_t *ret_n)
{
    AUTO(free_text) char *data = NULL;
    size_t n_bytes = 0;
    int r = io_read_file(stream_fd, "clock", ANCHORS_MAX_BYTES, &data, &n_bytes);
    if (r < 0 && r != -ENOENT)
        return r;
    size_t n_records = n_bytes / SEG_ANCHOR_BYTES, n = 0;
    struct anchor *anchors = calloc(n_records + 1, sizeof *anchors);
    if (anchors == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n_records; i++)
        n += anchor_decode(data + i * SEG_ANCHOR_BYTES, &anchors[n]);
    *ret_anchors = anchors;
    *ret_n = n;
    return 0;
}

static bool is_boot(const struct anchor *a, const uint8_t boot_id[16])
{
    return memcmp(a->boot_id, boot_id, 16) == 0;
}

/* |a - b| without overflow. */
static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* First anchor of boot `boot_id`, found from the end: a boot's anchors lie together, later boots behind. */
static size_t boot_begin(const struct anchor *anchors, size_t end, const uint8_t boot_id[16])
{
    size_t low = 0;
    for (size_t high = end; low < high;) {
        size_t mid = low + (high - low) / 2;
        if (is_boot(&anchors[mid], boot_id))
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* First anchor in begin .. end - 1 whose boot time is not before `ns`; `end` if there is none. */
static size_t first_from(const struct anchor *anchors, size_t begin, size_t end, int64_t ns)
{
    while (begin < end) {
        size_t mid = begin + (end - begin) / 2;
        if (anchors[mid].boot_ns >= ns)
            end = mid;
        else
            begin = mid + 1;
    }
    return begin;
}

int64_t dir_wall_ns(const struct anchor *anchors, size_t n, const uint8_t boot_id[16],
                    int64_t capture_ns)
{
    size_t end = n;
    while (end > 0 && !is_boot(&anchors[end - 1], boot_id))
        end = boot_begin(anchors, end, anchors[end - 1].boot_id);
    if (end == 0)
        return INT64_MIN;
    size_t begin = boot_begin(anchors, end, boot_id);
    size_t at = first_from(anchors, begin, end, capture_ns);
    if (at == end || (at > begin && distance(capture_ns, anchors[at - 1].boot_ns) <=
                                        distance(anchors[at].boot_ns, capture_ns)))
        at--;
    int64_t offset;
    if (__builtin_sub_overflow(anchors[at].wall_ns, anchors[at].boot_ns, &offset))
        return INT64_MIN;
    return entry_ns_add(capture_ns, offset);
}
