/* SPDX-License-Identifier: MIT
 *
 * segmaker.h - makes recordings for tests directly from the structs of segment.h, without the store's writer,
 * so that reader and writer are not wrong in the same way. Payload bytes follow from their place in the run,
 * so that a window can be compared without keeping a copy.
 */
#ifndef SEGMAKER_H
#define SEGMAKER_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc.h"
#include "base/io.h"
#include "store/dir.h"
#include "store/segfile.h"

#define MAKER_STREAM "cam"

struct maker {
    char path[256];
    struct store_dir *dir;
    int stream_fd, seg_fd;
    struct stream_meta meta;
    struct params params;
    uint64_t frames, entries, segments, runs, sessions; /* made so far; runs and sessions begun */
    uint64_t run_base_frame, run_base_entry;
    uint64_t past_bytes, past_gaps, past_dropped;
    int fd; /* of the segment being made; -1: none */
    struct super super;
    uint64_t seg_entries, seg_frames, seg_bytes, generation;
};

/* A number that follows from x; splitmix64. */
static inline uint64_t maker_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Eight bytes of a run from a flat address that is a multiple of 8. */
static inline uint64_t maker_word(uint64_t run_no, uint64_t flat)
{
    return maker_mix(run_no * 0x1000003 + flat / 8);
}

/* Bytes up to the next multiple of 8, or `n`. */
static inline size_t maker_step(uint64_t flat, size_t n)
{
    size_t step = 8 - flat % 8;
    return step < n ? step : n;
}

static inline void maker_fill(uint64_t run_no, uint64_t flat, uint8_t *buf, size_t n)
{
    for (size_t step; n > 0; buf += step, flat += step, n -= step) {
        uint64_t word = maker_word(run_no, flat) >> (8 * (flat % 8));
        step = maker_step(flat, n);
        memcpy(buf, &word, step);
    }
}

/* Offset of the first byte that is not the run's; `n` if none. */
static inline size_t maker_differs(uint64_t run_no, uint64_t flat, const uint8_t *got, size_t n)
{
    size_t step;
    for (size_t at = 0; at < n; at += step) {
        uint64_t word = maker_word(run_no, flat + at) >> (8 * ((flat + at) % 8));
        step = maker_step(flat + at, n - at);
        if (memcmp(got + at, &word, step) != 0)
            return at;
    }
    return n;
}

static inline void maker_die(const char *what)
{
    perror(what);
    abort();
}

static inline void maker_must(bool ok, const char *what)
{
    if (!ok)
        maker_die(what);
}

/* A new recording with one stream, under $TMPDIR. */
static inline void maker_open(struct maker *m, enum seg_kind kind)
{
    const char *tmp = getenv("TMPDIR");
    *m = (struct maker){.stream_fd = -1, .seg_fd = -1, .fd = -1};
    (void)snprintf(m->path, sizeof m->path, "%s/swt-unit-XXXXXX", tmp ? tmp : "/tmp");
    maker_must(mkdtemp(m->path) != NULL, "mkdtemp");
    maker_must(store_dir_create(m->path, clock_boot_ns(), &m->dir, NULL) == 0, "store_dir_create");
    maker_must(dir_stream_create(m->dir, MAKER_STREAM, kind, "", &m->stream_fd, &m->seg_fd,
                                 &m->meta, NULL) == 0,
               "dir_stream_create");
    params_init(&m->params);
    m->sessions = 1;
}

static inline void maker_close(struct maker *m)
{
    char command[320];
    if (m->fd >= 0)
        (void)close(m->fd);
    (void)close(m->seg_fd);
    (void)close(m->stream_fd);
    store_dir_close(&m->dir);
    params_done(&m->params);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", m->path);
    maker_must(system(command) == 0, "rm");
}

/* A new run of frames of so many bytes (packets: 0). `rate` {0, 1}: none; the time base is 1 ns. */
static inline void maker_run(struct maker *m, uint64_t frame_bytes, struct swt_ratio rate)
{
    (void)snprintf(m->params.media, sizeof m->params.media, "rows");
    m->params.frame_bytes = frame_bytes;
    m->params.dtype = frame_bytes > 0 ? SWT_U8 : SWT_DTYPE_NONE;
    m->params.n_dims = frame_bytes > 0;
    m->params.shape[0] = (int64_t)frame_bytes;
    m->params.rate = rate;
    m->params.time_base = (struct swt_ratio){1, 1000000000};
    m->run_base_frame = m->frames;
    m->run_base_entry = m->entries;
    m->runs++;
}

static inline void maker_slot(struct maker *m, bool is_sealed)
{
    struct slot s = {++m->generation, m->seg_entries, m->seg_frames, m->seg_bytes, is_sealed};
    struct seg_slot bytes;
    slot_encode(&s, m->super.salt, &bytes);
    maker_must(io_pwrite_all(m->fd, &bytes, sizeof bytes,
                             m->generation % 2 ? SEG_SLOT_OFF0 : SEG_SLOT_OFF1) == 0,
               "slot");
}

/* End of the segment: sealed or as a crash leaves it. */
static inline void maker_end(struct maker *m, bool is_sealed)
{
    if (m->fd < 0)
        return;
    if (is_sealed)
        maker_slot(m, true);
    uint64_t end = (m->super.data_off + m->seg_bytes + 4095) / 4096 * 4096;
    maker_must(ftruncate(m->fd, (off_t)end) == 0, "ftruncate");
    (void)close(m->fd);
    m->fd = -1;
    m->past_bytes += m->seg_bytes;
    m->segments++;
}

static inline void maker_seam(struct maker *m)
{
    uint8_t seam[SEG_SEAM_BYTES];
    size_t n = (size_t)(m->super.data_off - m->super.seam_off);
    if (n == 0)
        return;
    maker_fill(m->super.run_no, super_flat(&m->super, m->super.base_frame) - n, seam, n);
    maker_must(io_pwrite_all(m->fd, seam, n, m->super.seam_off) == 0, "seam");
}

/* Begin the next segment with room for `want` payload bytes. The one before has been ended. */
static inline void maker_segment(struct maker *m, uint64_t want)
{
    size_t n = params_encoded_bytes(&m->params);
    void *block = malloc(n);
    struct seg_super bytes;
    char name[32];
    m->super = (struct super){.kind = m->meta.kind,
                              .salt = maker_mix(m->segments * 77 + m->sessions),
                              .segment_no = m->segments,
                              .session_no = m->sessions - 1,
                              .run_no = m->runs - 1,
                              .run_base_frame = m->run_base_frame,
                              .run_base_entry = m->run_base_entry,
                              .base_frame = m->frames,
                              .base_entry = m->entries,
                              .frame_bytes = m->params.frame_bytes,
                              .past_bytes = m->past_bytes,
                              .past_gaps = m->past_gaps,
                              .past_dropped = m->past_dropped,
                              .stream_first_ns = INT64_MIN,
                              .past_end_ns = INT64_MIN};
    memcpy(m->super.stream_uuid, m->meta.uuid, 16);
    clock_boot_id(m->super.boot_id);
    maker_must(super_layout(&m->super, n, want, 1, NULL) == 0, "super_layout");
    segfile_name(m->meta.kind == SEG_KIND_PACKETS ? m->entries : m->frames, name);
    m->fd = openat(m->seg_fd, name, O_RDWR | O_CREAT | O_EXCL, 0644);
    maker_must(m->fd >= 0, name);
    super_encode(&m->super, &bytes);
    params_encode(&m->params, block);
    maker_must(ftruncate(m->fd, (off_t)(m->super.data_off + m->super.data_cap)) == 0, "ftruncate");
    maker_must(io_pwrite_all(m->fd, &bytes, sizeof bytes, 0) == 0, "superblock");
    maker_must(io_pwrite_all(m->fd, block, n, m->super.params_off) == 0, "params");
    free(block);
    m->seg_entries = m->seg_frames = m->seg_bytes = m->generation = 0;
    maker_seam(m);
}

static inline void maker_entry(struct maker *m, struct entry *e, const uint8_t *data, size_t n)
{
    struct seg_entry bytes;
    e->crc_payload = crc32c(0, data, n);
    maker_must(io_pwrite_all(m->fd, data, n, m->super.data_off + m->seg_bytes) == 0, "payload");
    entry_encode(e, m->super.salt, m->entries, &bytes);
    maker_must(io_pwrite_all(m->fd, &bytes, sizeof bytes,
                             m->super.index_off + m->seg_entries * SEG_ENTRY_BYTES) == 0,
               "entry");
    m->past_gaps += (e->flags & SEG_FLAG_GAP) != 0;
    m->past_dropped += e->dropped_before;
    m->seg_entries++;
    m->seg_bytes += n;
    m->entries++;
}

/* One entry of `n` frames. Its time base is 1 ns. */
static inline void maker_frames(struct maker *m, uint32_t n, int64_t time_ns, uint32_t duration,
                                uint32_t flags)
{
    size_t n_bytes = (size_t)(n * m->super.frame_bytes);
    uint8_t *data = malloc(n_bytes);
    struct entry e = {.pos = m->frames,
                      .len = n,
                      .flags = flags,
                      .time_ns = time_ns,
                      .src_pts = INT64_MIN,
                      .duration = duration,
                      .capture_ns = time_ns};
    maker_fill(m->super.run_no, super_flat(&m->super, m->frames), data, n_bytes);
    maker_entry(m, &e, data, n_bytes);
    m->frames += n;
    m->seg_frames += n;
    free(data);
}

/* One packet of `n` bytes that follow from its number. */
static inline void maker_packet(struct maker *m, size_t n, int64_t time_ns, uint32_t flags)
{
    uint8_t *data = malloc(n ? n : 1);
    struct entry e = {.pos = m->seg_bytes,
                      .len = (uint32_t)n,
                      .flags = flags,
                      .time_ns = time_ns,
                      .src_pts = time_ns,
                      .duration = 1000,
                      .capture_ns = time_ns,
                      .pics_before = (uint32_t)m->seg_frames};
    maker_fill(m->entries, 0, data, n);
    if (flags & SEG_FLAG_SIDE) { /* the last 16 bytes: one record of 4 bytes, and the size of all */
        struct seg_side head;
        le32 total;
        le32_set(&head.kind, SEG_SIDE_NEW_EXTRADATA);
        le32_set(&head.n_bytes, 4);
        le32_set(&total, 12);
        memcpy(data + n - 16, &head, sizeof head);
        memcpy(data + n - 4, &total, sizeof total);
    }
    maker_entry(m, &e, data, n);
    m->frames += !(flags & SEG_FLAG_NOPIC);
    m->seg_frames += !(flags & SEG_FLAG_NOPIC);
    free(data);
}

/* Change one byte of a segment. */
static inline void maker_flip(struct maker *m, uint64_t base, uint64_t off)
{
    char name[32];
    uint8_t b = 0;
    segfile_name(base, name);
    int fd = openat(m->seg_fd, name, O_RDWR);
    maker_must(fd >= 0 && pread(fd, &b, 1, (off_t)off) == 1, "flip");
    b ^= 0x10;
    maker_must(pwrite(fd, &b, 1, (off_t)off) == 1, "flip");
    (void)close(fd);
}

#endif
