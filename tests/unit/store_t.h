/* SPDX-License-Identifier: MIT
 *
 * store_t.h - what tests of the store share: a temporary folder, streams of frames whose bytes can be told,
 * and a slow, obvious reading of segments that uses nothing but segfile.h.
 */
#ifndef STORE_T_H
#define STORE_T_H

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc.h"
#include "base/io.h"
#include "store/control.h"
#include "store/dir.h"
#include "store/segscan.h"
#include "t.h"

/* A fresh folder below `base` ("/tmp", "/dev/shm"), and away with it. */
static inline void folder_make(const char *base, char ret_path[64])
{
    (void)snprintf(ret_path, 64, "%s/swt-test-XXXXXX", base);
    if (mkdtemp(ret_path) == NULL)
        abort();
}

static inline int folder_step(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static inline void folder_remove(char *path)
{
    (void)nftw(path, folder_step, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void path_join(const char *folder, const char *name, char ret_path[PATH_MAX])
{
    (void)snprintf(ret_path, PATH_MAX, "%s/%s", folder, name);
}

/* Byte at flat address `i` of the test stream: no period that frames or pages could share. */
static inline uint8_t byte_at(uint64_t i)
{
    return (uint8_t)((i * UINT64_C(2654435761)) >> 13 ^ i >> 21);
}

static inline uint8_t *frames_make(uint64_t first, uint64_t n, uint64_t frame_bytes)
{
    uint8_t *data = malloc((size_t)(n * frame_bytes));
    if (data == NULL)
        abort();
    for (uint64_t i = 0; i < n * frame_bytes; i++)
        data[i] = byte_at(first * frame_bytes + i);
    return data;
}

/* Rows of `frame_bytes` bytes at `rate` frames a second (0: none). */
static inline void params_rows(struct params *p, uint64_t frame_bytes, int64_t rate)
{
    params_init(p);
    strcpy(p->media, "rows");
    p->dtype = SWT_U8;
    p->n_dims = 1;
    p->shape[0] = (int64_t)frame_bytes;
    p->frame_bytes = frame_bytes;
    p->rate = (struct swt_ratio){rate, 1};
    p->time_base = rate > 0 ? (struct swt_ratio){1, rate} : (struct swt_ratio){1, 1000000000};
}

static inline void params_h264(struct params *p, int64_t ticks)
{
    params_init(p);
    strcpy(p->media, "video");
    strcpy(p->codec, "h264");
    p->has_b_frames = true;
    p->time_base = (struct swt_ratio){1, ticks};
    p->rate = (struct swt_ratio){25, 1};
    p->width = 64;
    p->height = 48;
}

static inline struct store_item item_at(int64_t time_ns)
{
    return (struct store_item){
        .time_ns = time_ns, .src_pts = INT64_MIN, .capture_ns = clock_boot_ns()};
}

/* Everything a test looks at in one segment. */
struct seg_view {
    struct segfile file;
    struct segfile_extent extent;
    uint64_t n;
    struct entry *entries; /* owned */
};

static inline void seg_view_done(struct seg_view *v)
{
    segfile_close(&v->file);
    free(v->entries);
    *v = (struct seg_view){.file = {.fd = -1}};
}

/* Segment number `i` of a stream; false: there is none, or it does not open. */
static inline bool seg_view(struct store_dir *dir, const char *name, size_t i, struct seg_view *ret)
{
    AUTO(io_close) int stream_fd = -1;
    AUTO(io_close) int seg_fd = -1;
    struct stream_meta meta;
    uint64_t *bases = NULL;
    size_t n = 0;
    *ret = (struct seg_view){.file = {.fd = -1}};
    if (dir_stream_open(dir, name, &stream_fd, &seg_fd, &meta, NULL) < 0 ||
        segfile_list(seg_fd, &bases, &n) < 0)
        return false;
    uint64_t base = i < n ? bases[i] : 0;
    free(bases);
    if (i >= n || segfile_open(seg_fd, base, meta.uuid, &ret->file, NULL) < 0 ||
        segfile_recover(&ret->file, UINT64_MAX, 0, &ret->extent, NULL) < 0)
        return false;
    ret->n = ret->extent.entries;
    ret->entries = calloc((size_t)ret->n + 1, sizeof *ret->entries);
    for (uint64_t k = 0; k < ret->n; k++) {
        if (!segfile_entry(&ret->file, k, &ret->entries[k]))
            return false;
    }
    return true;
}

static inline size_t seg_count(struct store_dir *dir, const char *name)
{
    AUTO(io_close) int stream_fd = -1;
    AUTO(io_close) int seg_fd = -1;
    struct stream_meta meta;
    uint64_t *bases = NULL;
    size_t n = 0;
    if (dir_stream_open(dir, name, &stream_fd, &seg_fd, &meta, NULL) == 0 &&
        segfile_list(seg_fd, &bases, &n) == 0)
        free(bases);
    return n;
}

/* Do seam and payload of a tensor segment hold the bytes of the test stream whose run began at byte_at(0)? */
static inline bool seg_bytes_are_right(const struct seg_view *v)
{
    const struct super *s = &v->file.super;
    uint64_t n = s->data_off - s->seam_off + v->extent.data_bytes;
    uint64_t flat = super_flat(s, s->base_frame) - (s->data_off - s->seam_off);
    uint8_t *data = malloc((size_t)n + 1);
    bool ok = data != NULL && io_pread_all(v->file.fd, data, (size_t)n, s->seam_off) == 0;
    for (uint64_t i = 0; ok && i < n; i++)
        ok = data[i] == byte_at(flat + i);
    free(data);
    return ok;
}

#endif
