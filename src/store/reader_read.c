/* SPDX-License-Identifier: MIT
 *
 * reader_read.c - frames that are given out checked: in place, or as copies. Where they are mapped is
 * reader_map.c's.
 */
#include <inttypes.h>

#include "base/crc.h"
#include "store/reader.h"

#define TILE_BYTES ((size_t)16 << 10) /* copied, then checked while they are in the first cache */

/* Frames first .. end - 1 are wanted; from .. to - 1, what their entries cover, are mapped. */
struct stretch {
    uint64_t first, end, from, to;
    const uint8_t *data; /* of frame `from` */
    uint64_t frame_bytes;
    uint8_t *dst; /* where they go; NULL: they are given in place */
};

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

/* Where the entry of the last frame cannot be read, the walk says so when it comes there. */
static int map_entries_once(struct store_reader *r, struct stretch *s, struct swt_diag *reterr)
{
    struct store_frame f;
    struct swt_diag why = {0};
    size_t i = 0;
    int rc = reader_has(r, s->first, s->end - s->first, reterr);
    if (rc == 0)
        rc = reader_frame_once(r, s->first, &f, &i, reterr);
    if (rc < 0)
        return rc;
    s->from = f.entry.pos;
    s->frame_bytes = r->segs[i]->super.frame_bytes;
    if (f.entry.pos + f.entry.len < s->end)
        rc = reader_frame_once(r, s->end - 1, &f, &i, &why);
    if (rc < 0 && rc != SWT_E_CORRUPT) {
        if (reterr)
            *reterr = why;
        return rc;
    }
    s->to = rc == 0 ? f.entry.pos + f.entry.len : s->end;
    return map_once(r, s->from, s->to - s->from, &s->data, reterr);
}

/* CRC of an entry's payload, on its way to `dst` where all of it goes there. */
static uint32_t take_entry(const struct stretch *s, const struct entry *e)
{
    const uint8_t *data = s->data + (e->pos - s->from) * s->frame_bytes;
    uint64_t n = e->len * s->frame_bytes, end = e->pos + e->len;
    if (!s->dst)
        return crc32c(0, data, n);
    if (e->pos >= s->first && end <= s->end)
        return copy_tiles(s->dst + (e->pos - s->first) * s->frame_bytes, data, n);
    uint64_t a = e->pos > s->first ? e->pos : s->first, b = end < s->end ? end : s->end;
    memcpy(s->dst + (a - s->first) * s->frame_bytes, data + (a - e->pos) * s->frame_bytes,
           (b - a) * s->frame_bytes);
    return crc32c(0, data, n);
}

static int check_entry(struct store_reader *r, const struct stretch *s, const struct store_frame *f,
                       struct swt_diag *reterr)
{
    const struct entry *e = &f->entry;
    const char *why = "wrong checksum";
    if (e->pos < s->from || e->pos + e->len > s->to)
        why = "its index entry overlaps another";
    else if (take_entry(s, e) == e->crc_payload)
        return 0;
    return rseg_corrupt(r, f->segment_base, (int64_t)f->offset, (int64_t)e->pos, reterr,
                        "frame %" PRIu64 " is damaged: %s", e->pos, why);
}

static int check_frames_once(struct store_reader *r, struct stretch *s, struct swt_diag *reterr)
{
    struct store_frame f;
    size_t i = 0;
    int rc = map_entries_once(r, s, reterr);
    for (uint64_t frame = s->first; rc == 0 && frame < s->end;) {
        rc = reader_frame_once(r, frame, &f, &i, reterr);
        if (rc == 0)
            rc = check_entry(r, s, &f, reterr);
        if (rc == 0)
            frame = f.entry.pos + f.entry.len;
    }
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
    const void *data = NULL;
    if (r->meta.kind == SEG_KIND_TENSOR)
        return n > 0 ? store_reader_peek(r, first, n, true, &data, reterr) : 0;
    for (int tries = 0;; tries++) {
        int rc = check_packets_once(r, first, n, reterr);
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}

int store_reader_peek(struct store_reader *r, uint64_t first, uint64_t n, bool check,
                      const void **ret_data, struct swt_diag *reterr)
{
    if (!check)
        return store_reader_map(r, first, n, ret_data, reterr);
    for (int tries = 0;; tries++) {
        struct stretch s = {.first = first, .end = first + n};
        int rc = check_frames_once(r, &s, reterr);
        if (rc == 0)
            *ret_data = s.data + (first - s.from) * s.frame_bytes;
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}

int store_reader_copy(struct store_reader *r, uint64_t first, uint64_t n, bool check, uint8_t *dst,
                      struct swt_diag *reterr)
{
    for (int tries = 0;; tries++) {
        struct stretch s = {.first = first, .end = first + n, .dst = dst};
        int rc = check ? check_frames_once(r, &s, reterr) : map_once(r, first, n, &s.data, reterr);
        if (rc == 0 && !check)
            memcpy(dst, s.data, n * r->segs[rseg_by_base(r, first)]->super.frame_bytes);
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}
