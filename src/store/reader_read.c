/* SPDX-License-Identifier: MIT
 *
 * reader_read.c - frames that are given out checked: in place, or as copies. Where they are mapped is
 * reader_map.c's.
 */
#include <inttypes.h>

#include "base/crc.h"
#include "store/reader.h"

#define TILE_BYTES ((size_t)16 << 10) /* copied, then checked while they are in the first cache */

/* Frames that are mapped. */
struct mapped {
    uint64_t first, end;
    const uint8_t *data;
    uint64_t frame_bytes;
};

static int map_frames(struct store_reader *r, uint64_t first, uint64_t n, struct mapped *ret,
                      struct swt_diag *reterr)
{
    int rc = map_once(r, first, n, &ret->data, reterr);
    if (rc < 0)
        return rc;
    ret->first = first;
    ret->end = first + n;
    ret->frame_bytes = r->segs[rseg_by_base(r, first)]->super.frame_bytes;
    return 0;
}

static uint32_t copy_tiles(uint8_t *dst, const uint8_t *src, size_t n)
{
    uint32_t crc = 0;
    for (size_t step; n > 0; dst += step, src += step, n -= step) {
        step = n < TILE_BYTES ? n : TILE_BYTES;
        memcpy(dst, src, step);
        crc = crc32c(crc, dst, step);
    }
    return crc;
}

/* Of an entry that reaches beyond the frames wanted: all of it is checked, and what is wanted copied. */
static int check_outside(struct store_reader *r, const struct mapped *m, const struct entry *e,
                         uint8_t *dst, uint32_t *ret_crc, struct swt_diag *reterr)
{
    const uint8_t *data = NULL;
    uint64_t from = e->pos > m->first ? e->pos : m->first, to = e->pos + e->len;
    to = to < m->end ? to : m->end;
    int rc = map_once(r, e->pos, e->len, &data, reterr);
    if (rc < 0)
        return rc;
    *ret_crc = crc32c(0, data, e->len * m->frame_bytes);
    if (dst)
        memcpy(dst + (from - m->first) * m->frame_bytes, data + (from - e->pos) * m->frame_bytes,
               (to - from) * m->frame_bytes);
    return 0;
}

/* The whole entry that covers a frame. `dst`: where m->first goes; NULL: checked in place. */
static int check_entry(struct store_reader *r, const struct mapped *m, uint64_t frame, uint8_t *dst,
                       uint64_t *ret_next, struct swt_diag *reterr)
{
    struct store_frame f;
    uint32_t crc = 0;
    size_t i = 0;
    int rc = reader_frame_once(r, frame, &f, &i, reterr);
    if (rc < 0)
        return rc;
    const struct entry *e = &f.entry;
    uint64_t at = (e->pos - m->first) * m->frame_bytes, n = e->len * m->frame_bytes;
    if (e->pos < m->first || e->pos + e->len > m->end)
        rc = check_outside(r, m, e, dst, &crc, reterr);
    else
        crc = dst ? copy_tiles(dst + at, m->data + at, n) : crc32c(0, m->data + at, n);
    if (rc == 0 && crc != e->crc_payload)
        rc = rseg_corrupt(r, f.segment_base, (int64_t)f.offset, (int64_t)e->pos, reterr,
                          "frame %" PRIu64 " is damaged: wrong checksum", e->pos);
    *ret_next = e->pos + e->len;
    return rc;
}

static int check_frames_once(struct store_reader *r, uint64_t first, uint64_t n, uint8_t *dst,
                             struct swt_diag *reterr)
{
    struct mapped m;
    int rc = map_frames(r, first, n, &m, reterr);
    for (uint64_t frame = first; rc == 0 && frame < m.end;)
        rc = check_entry(r, &m, frame, dst, &frame, reterr);
    return rc;
}

static int check_packets_once(struct store_reader *r, uint64_t first, uint64_t n,
                              struct swt_diag *reterr)
{
    struct store_packet p;
    for (uint64_t k = 0; k < n; k++) {
        uint64_t entry_no = 0;
        int rc = packet_of_frame_once(r, first + k, &entry_no, reterr);
        if (rc == 0)
            rc = store_reader_packet(r, entry_no, true, &p, reterr);
        if (rc == SWT_E_CORRUPT)
            err_frame(reterr, (int64_t)(first + k));
        if (rc < 0)
            return rc;
    }
    return 0;
}

int store_reader_check(struct store_reader *r, uint64_t first, uint64_t n, struct swt_diag *reterr)
{
    bool is_packets = r->meta.kind == SEG_KIND_PACKETS;
    for (int tries = 0;; tries++) {
        int rc = n == 0       ? 0
                 : is_packets ? check_packets_once(r, first, n, reterr)
                              : check_frames_once(r, first, n, NULL, reterr);
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}

int store_reader_copy(struct store_reader *r, uint64_t first, uint64_t n, bool check, uint8_t *dst,
                      struct swt_diag *reterr)
{
    for (int tries = 0;; tries++) {
        struct mapped m;
        int rc = check ? check_frames_once(r, first, n, dst, reterr)
                       : map_frames(r, first, n, &m, reterr);
        if (rc == 0 && !check)
            memcpy(dst, m.data, n * m.frame_bytes);
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}
