/* SPDX-License-Identifier: MIT
 *
 * segment_writer.c - the file operations of a segment being written. Which bytes and when is writer.c.
 */
#include "store/segment_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/io.h"

#define CUT_BYTES \
    4096u /* smallest page; a mapping of larger pages reaches zeros, never past the end */
#define INDEX_STEP    1024u /* entries reserved at a time: 64 KiB */
#define SHARE_OF_FREE 16u   /* of the free space, reserved ahead at most */
#define TEMP_NAME     SEGW_TEMP_PREFIX "segment"

static int reserve(int fd, uint64_t off, uint64_t n)
{
    int r;
    do
        r = fallocate(fd, 0, (off_t)off, (off_t)n) != 0 ? -errno : 0;
    while (r == -EINTR);
    return r;
}

/* ---- making -------------------------------------------------------------------------------------- */

static void free_block(void **block)
{
    free(*block);
    *block = NULL;
}

/* The run's bytes from the 64 KiB boundary below up to this segment. The segment before has them all: its
 * own seam begins at or below the same boundary. */
static int seam_copy(int fd, const struct super *s, int prev_fd, const struct super *prev)
{
    size_t n = (size_t)(s->data_off - s->seam_off); /* below SEG_SEAM_BYTES: super_layout */
    if (n == 0)
        return 0;
    AUTO(free_block) void *seam = malloc(n);
    if (seam == NULL)
        return -ENOMEM;
    uint64_t flat = super_flat(s, s->base_frame) - n;
    /* May lie before prev->data_off, in its seam; the sum is one of file offsets and never below seam_off. */
    uint64_t off = prev->data_off + flat - super_flat(prev, prev->base_frame);
    int r = io_pread_all(prev_fd, seam, n, off);
    return r < 0 ? r : io_pwrite_all(fd, seam, n, s->seam_off);
}

static int head_write(int fd, const struct super *s, const void *params)
{
    struct seg_super bytes;
    super_encode(s, &bytes);
    if (ftruncate(fd, (off_t)s->data_off) !=
        0) /* sparse, so that even an empty one has all its parts */
        return -errno;
    int r = reserve(
        fd, 0, s->index_off); /* the slots among it: a checkpoint must not fail for want of space */
    if (r == -EOPNOTSUPP)
        r = 0;
    if (r == 0)
        r = io_pwrite_all(fd, &bytes, sizeof bytes, 0);
    return r < 0 ? r : io_pwrite_all(fd, params, (size_t)s->params_bytes, s->params_off);
}

static int name_it(int seg_dir_fd, int fd, const struct super *s)
{
    char name[32];
    segfile_name(s->kind == SEG_KIND_PACKETS ? s->base_entry : s->base_frame, name);
    if (faccessat(seg_dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST; /* the lock keeps others out: somebody's own file, never to be replaced */
    if (fsync(fd) != 0 || renameat(seg_dir_fd, TEMP_NAME, seg_dir_fd, name) != 0)
        return -errno;
    if (fsync(seg_dir_fd) != 0) {
        int r = -errno;
        (void)unlinkat(seg_dir_fd, name, 0); /* the name must be free for the next try */
        return r;
    }
    return 0;
}

static int file_make(int seg_dir_fd, const struct super *super, const void *params, int prev_fd,
                     const struct super *prev, int *ret_fd)
{
    (void)unlinkat(seg_dir_fd, TEMP_NAME, 0);
    AUTO(io_close)
    int fd = openat(seg_dir_fd, TEMP_NAME, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0666);
    if (fd < 0)
        return -errno;
    int r = head_write(fd, super, params);
    if (r == 0)
        r = seam_copy(fd, super, prev_fd, prev);
    if (r == 0)
        r = name_it(seg_dir_fd, fd, super);
    if (r < 0) {
        (void)unlinkat(seg_dir_fd, TEMP_NAME, 0); /* the first failure is what counts */
        return r;
    }
    *ret_fd = fd;
    fd = -1;
    return 0;
}

int segw_new(int seg_dir_fd, const struct super *super, const void *params,
             const struct entry_clock *clock, int prev_fd, const struct super *prev,
             struct segw **ret_segw, struct swt_diag *reterr)
{
    AUTO(segw_free) struct segw *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_errno(reterr, ENOMEM, "seg", "cannot begin a segment");
    s->fd = -1;
    s->super = *super;
    segscan_begin(&s->super, clock, &s->scan);
    int r = file_make(seg_dir_fd, super, params, prev_fd, prev, &s->fd);
    if (r < 0)
        return err_errno(reterr, -r, "seg", "cannot begin a segment");
    *ret_segw = s;
    s = NULL;
    return 0;
}

void segw_free(struct segw **s)
{
    if (*s == NULL)
        return;
    io_close(&(*s)->fd);
    free(*s);
    *s = NULL;
}

void segw_discard(int seg_dir_fd, struct segw **s)
{
    char name[32];
    segfile_name((*s)->super.kind == SEG_KIND_PACKETS ? (*s)->super.base_entry
                                                      : (*s)->super.base_frame,
                 name);
    (void)unlinkat(seg_dir_fd, name, 0); /* if it stays, opening finds it empty and removes it */
    segw_free(s);
}

/* ---- space --------------------------------------------------------------------------------------- */

static bool is_full(int r)
{
    return r == -ENOSPC || r == -EDQUOT || r == -EFBIG;
}

/* File systems without fallocate let the file grow as it is written. */
static int give_up_reserving(struct segw *s)
{
    s->grows = true;
    s->index_reserved = s->super.index_cap;
    s->data_reserved = s->super.data_cap;
    return 0;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

int segw_reserve_index(struct segw *s, uint64_t n)
{
    uint64_t need = s->scan.extent.entries + n;
    if (need <= s->index_reserved)
        return 0;
    if (need > s->super.index_cap)
        return -ENOSPC; /* callers begin a new segment before it comes to this */
    uint64_t goal = min_u64(max_u64(need, s->index_reserved + INDEX_STEP), s->super.index_cap);
    for (;;) {
        int r = reserve(s->fd, s->super.index_off + s->index_reserved * SEG_ENTRY_BYTES,
                        (goal - s->index_reserved) * SEG_ENTRY_BYTES);
        if (r == -EOPNOTSUPP)
            return give_up_reserving(s);
        if (r == 0)
            s->index_reserved = goal;
        if (r == 0 || !is_full(r) || goal == need)
            return r;
        goal = need;
    }
}

uint64_t segw_room(const struct segw *s)
{
    return s->data_reserved - s->tail_bytes;
}

/* A step on a disk that is nearly full leaves room for the other streams' steps. */
static uint64_t modest_step(const struct segw *s, uint64_t step_bytes)
{
    struct statvfs st;
    if (fstatvfs(s->fd, &st) != 0)
        return step_bytes;
    return min_u64(step_bytes, (uint64_t)st.f_bavail * st.f_frsize / SHARE_OF_FREE);
}

int segw_reserve_data(struct segw *s, uint64_t want, uint64_t least, uint64_t step_bytes)
{
    if (segw_room(s) >= want)
        return 0;
    uint64_t have = s->data_reserved, floor = s->tail_bytes + least;
    uint64_t goal = min_u64(max_u64(s->tail_bytes + want, have + modest_step(s, step_bytes)),
                            s->super.data_cap);
    if (goal <= have || floor > s->super.data_cap)
        return floor <= have ? 0 : -ENOSPC;
    for (;;) {
        int r = reserve(s->fd, s->super.data_off + have, goal - have);
        if (r == -EOPNOTSUPP)
            return give_up_reserving(s);
        if (r == 0) {
            s->data_reserved = goal;
            return 0;
        }
        if (!is_full(r))
            return r;
        uint64_t half = have + (goal - have) / 2;
        if (goal <= max_u64(floor, have + 1))
            return floor <= have ? 0 : r;
        goal = max_u64(half, max_u64(floor, have + 1));
    }
}

/* ---- bytes --------------------------------------------------------------------------------------- */

/* Step over `n` written bytes. */
static void advance(struct iovec **pieces, int *n_pieces, size_t n)
{
    while (*n_pieces > 0 && n >= (*pieces)->iov_len) {
        n -= (*pieces)->iov_len;
        (*pieces)++;
        (*n_pieces)--;
    }
    if (*n_pieces > 0) {
        (*pieces)->iov_base = (char *)(*pieces)->iov_base + n;
        (*pieces)->iov_len -= n;
    }
}

int segw_pwritev(const struct segw *s, struct iovec *pieces, int n_pieces)
{
    uint64_t off = s->super.data_off + s->tail_bytes;
    advance(&pieces, &n_pieces, 0); /* empty pieces at the front */
    while (n_pieces > 0) {
        ssize_t done = pwritev(s->fd, pieces, n_pieces, (off_t)off);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        off += (uint64_t)done;
        advance(&pieces, &n_pieces, (size_t)done);
    }
    return 0;
}

int segw_put_entries(const struct segw *s, const struct seg_entry *entries, size_t n)
{
    return io_pwrite_all(s->fd, entries, n * sizeof *entries,
                         s->super.index_off + s->scan.extent.entries * SEG_ENTRY_BYTES);
}

struct slot segw_slot(const struct segw *s, bool is_sealed)
{
    return (struct slot){
        .entries = s->scan.extent.entries,
        .frames = s->scan.extent.frames,
        .data_bytes = s->scan.extent.data_bytes,
        .is_sealed = is_sealed,
    };
}

int segw_checkpoint(struct segw *s, const struct slot *slot)
{
    struct slot next = *slot;
    struct seg_slot bytes;
    next.generation = s->generation + 1;
    slot_encode(&next, s->super.salt, &bytes);
    int r = io_pwrite_all(s->fd, &bytes, sizeof bytes,
                          next.generation % 2 ? SEG_SLOT_OFF0 : SEG_SLOT_OFF1);
    if (r == 0)
        s->generation = next.generation;
    return r;
}

int segw_cut(const struct segw *s)
{
    uint64_t end = size_up(s->super.data_off + s->scan.extent.data_bytes, CUT_BYTES);
    off_t size = lseek(s->fd, 0, SEEK_END);
    if (size < 0)
        return -errno;
    /* Only ever shorter: without reservation the file may end inside its last page. */
    return (uint64_t)size > end && ftruncate(s->fd, (off_t)end) != 0 ? -errno : 0;
}
