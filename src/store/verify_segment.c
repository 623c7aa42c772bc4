/* SPDX-License-Identifier: MIT
 *
 * verify_segment.c - every promised byte of one segment, read with pread: what a failing disk or a file cut
 * short does is an answer here, never a fault.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/crc.h"
#include "store/verify.h"

#define CHUNK_ENTRIES 256u

static uint64_t base_of(const struct verify_seg *s)
{
    return s->file.base;
}

/* A read that failed: damage where the disk says so, else why we cannot go on. */
static int read_failed(struct verify *v, const struct verify_seg *s, int rc, uint64_t off,
                       struct swt_diag *reterr)
{
    if (rc != -EIO)
        return err_errno(reterr, -rc, store_dir_path(v->dir), "read segment");
    verify_report(v, base_of(s), (int64_t)off, -1, "the disk cannot read it");
    return 0;
}

/* ---- slots ----------------------------------------------------------------------------------------- */

static bool is_blank(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

/* Rot flips a bit; a torn write leaves a mix that no single bit explains. */
static bool is_one_bit_off(const struct verify_seg *s, const uint8_t *slot)
{
    struct seg_slot bytes;
    struct slot unused;
    memcpy(&bytes, slot, sizeof bytes);
    uint8_t *p = (uint8_t *)&bytes;
    for (size_t i = 0; i < 8 * sizeof bytes; i++) {
        p[i / 8] ^= (uint8_t)(1u << i % 8);
        if (slot_decode(&bytes, &s->file.super, &unused))
            return true;
        p[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    return false;
}

/* A slot that was being written when power was lost is torn: nothing was promised by it. A sealed segment is not
 * written to any more. */
static bool may_be_torn(const struct verify *v, const struct verify_seg *s, const uint8_t *slot)
{
    struct seg_slot bytes;
    memcpy(&bytes, slot, sizeof bytes);
    if (v->is_live && s->file.super.session_no == v->live_session)
        return true; /* it may be written this very moment */
    bool is_whole = crc32c(0, &bytes, offsetof(struct seg_slot, crc)) == le32_get(bytes.crc) &&
                    le64_get(bytes.salt) == s->file.super.salt;
    if (is_whole)
        return false; /* and yet wrong: its counts do not fit the superblock */
    return !s->file.slot.is_sealed && !is_one_bit_off(s, slot);
}

static int verify_slots(struct verify *v, const struct verify_seg *s, struct swt_diag *reterr)
{
    uint8_t head[SEG_PARAMS_OFF];
    struct slot slots[2];
    bool ok[2];
    ssize_t n = segfile_read_some(s->file.fd, head, sizeof head, 0);
    if (n < 0)
        return read_failed(v, s, (int)n, SEG_SLOT_OFF0, reterr);
    if ((size_t)n < sizeof head)
        return 0; /* cut off since it was opened: the entries will tell */
    segfile_slots(head, &s->file.super, slots, ok);
    for (int i = 0; i < 2; i++) {
        uint32_t off = i ? SEG_SLOT_OFF1 : SEG_SLOT_OFF0;
        if (!ok[i] && !is_blank(head + off, sizeof(struct seg_slot)) &&
            !may_be_torn(v, s, head + off))
            verify_report(v, base_of(s), off, -1, "checkpoint slot %d is damaged", i);
    }
    return 0;
}

/* What the slot states must be what the entries say. */
static void verify_slot_sums(struct verify *v, const struct verify_seg *s,
                             const struct segfile_extent *x)
{
    const struct slot *slot = &s->file.slot;
    if (slot->entries > s->n_entries)
        verify_report(v, base_of(s), SEG_SLOT_OFF0, -1,
                      "checkpoint slots promise %" PRIu64 " entries, the segment has %" PRIu64,
                      slot->entries, s->n_entries);
    else if (slot->is_sealed &&
             (slot->entries != s->n_entries ||
              (x->entries == s->n_entries &&
               (slot->frames != x->frames || slot->data_bytes != x->data_bytes))))
        verify_report(v, base_of(s), SEG_SLOT_OFF0, -1,
                      "sealed with %" PRIu64 " entries and %" PRIu64
                      " frames, but the index has %" PRIu64 " and %" PRIu64,
                      slot->entries, slot->frames, s->n_entries, x->frames);
}

/* ---- params ---------------------------------------------------------------------------------------- */

static int verify_params(struct verify *v, const struct verify_seg *s,
                         struct entry_clock *ret_clock, struct swt_diag *reterr)
{
    AUTO(params_done) struct params p;
    struct swt_diag why = {0};
    params_init(&p);
    *ret_clock = (struct entry_clock){{0, 1}, {0, 1}};
    int rc = segfile_params(&s->file, &p, &why);
    if (rc == SWT_E_CORRUPT) {
        verify_report(v, base_of(s), why.offset, -1, "%s", why.text);
        return 0;
    }
    if (rc < 0)
        return read_failed(v, s, rc, s->file.super.params_off, reterr);
    *ret_clock = entry_clock_of(&p);
    if (p.frame_bytes != s->file.super.frame_bytes)
        verify_report(v, base_of(s), (int64_t)s->file.super.params_off, -1,
                      "params block and superblock differ in the size of a frame");
    return 0;
}

/* ---- entries and payloads -------------------------------------------------------------------------- */

/* Exact number of the frame that an entry begins or shows; -1 none. */
static int64_t frame_of(struct verify *v, const struct verify_seg *s, const struct entry *e,
                        uint64_t entry_no)
{
    uint64_t frame = 0;
    if (s->file.super.kind != SEG_KIND_PACKETS)
        return (int64_t)e->pos;
    if (e->flags & SEG_FLAG_NOPIC)
        return -1;
    if (!v->numbers && store_reader_open(v->dir, v->name, &v->numbers, NULL) < 0)
        return -1;
    return store_reader_shown(v->numbers, entry_no, &frame, NULL) < 0 ? -1 : (int64_t)frame;
}

static void note_bad(struct verify_seg *s, const struct entry *e)
{
    const struct super *super = &s->file.super;
    if (s->n_bad == VERIFY_BAD_CAP || super->kind == SEG_KIND_PACKETS)
        return;
    uint64_t from = super_flat(super, e->pos);
    s->bad[s->n_bad++] = (struct verify_bad){from, from + e->len * super->frame_bytes};
}

static int verify_payload(struct verify *v, struct verify_seg *s, const struct entry *e,
                          uint64_t entry_no, struct swt_diag *reterr)
{
    uint64_t off = 0, n = 0;
    uint32_t crc = 0;
    segfile_payload(&s->file.super, e, &off, &n);
    int rc = segfile_payload_crc(s->file.fd, off, n, v->buf, VERIFY_BUF_BYTES, &crc);
    if (rc == -ENODATA) {
        note_bad(s, e);
        if (!s->is_cut)
            verify_report(v, base_of(s), (int64_t)s->file.file_bytes, frame_of(v, s, e, entry_no),
                          "the file is cut off: this and what follows in it are lost");
        s->is_cut = true;
        return 0;
    }
    if (rc < 0) {
        note_bad(s, e);
        return read_failed(v, s, rc, off, reterr);
    }
    v->report->bytes += n;
    if (crc == e->crc_payload)
        return 0;
    note_bad(s, e);
    if (s->file.super.kind == SEG_KIND_PACKETS)
        verify_report(v, base_of(s), (int64_t)off, frame_of(v, s, e, entry_no),
                      "packet %" PRIu64 ": wrong checksum", entry_no);
    else
        verify_report(v, base_of(s), (int64_t)off, (int64_t)e->pos,
                      "frames %" PRIu64 " to %" PRIu64 ": wrong checksum", e->pos,
                      e->pos + e->len - 1);
    return 0;
}

/* A stretch of entries that cannot be read, reported as one. */
struct stretch {
    uint64_t first, n; /* in the segment */
    int64_t frame;     /* the first that is lost with it; -1: packets */
};

static void end_stretch(struct verify *v, const struct verify_seg *s, struct stretch *bad)
{
    const struct super *super = &s->file.super;
    int64_t off = (int64_t)(super->index_off + bad->first * SEG_ENTRY_BYTES);
    if (bad->n == 1)
        verify_report(v, base_of(s), off, bad->frame, "index entry %" PRIu64 " is damaged",
                      super->base_entry + bad->first);
    else if (bad->n > 1)
        verify_report(v, base_of(s), off, bad->frame,
                      "index entries %" PRIu64 " to %" PRIu64 " are damaged",
                      super->base_entry + bad->first, super->base_entry + bad->first + bad->n - 1);
    bad->n = 0;
}

/* Walk over the entries of a segment. */
struct walk {
    struct segscan scan;
    struct stretch bad;
    bool was_bad; /* after damage the next entry may begin anywhere later */
};

static int verify_entry(struct verify *v, struct verify_seg *s, struct walk *w, uint64_t k,
                        const struct seg_entry *bytes, struct swt_diag *reterr)
{
    const struct super *super = &s->file.super;
    struct entry e;
    if (!entry_decode(bytes, super, super->base_entry + k, &e)) {
        if (w->bad.n == 0)
            w->bad = (struct stretch){k, 0,
                                      super->kind == SEG_KIND_PACKETS
                                          ? -1
                                          : (int64_t)(super->base_frame + w->scan.extent.frames)};
        w->bad.n++;
        w->was_bad = true;
        return 0;
    }
    end_stretch(v, s, &w->bad);
    if (!w->was_bad && !segscan_follows(&w->scan, &e))
        verify_report(v, base_of(s), (int64_t)(super->index_off + k * SEG_ENTRY_BYTES),
                      frame_of(v, s, &e, super->base_entry + k),
                      "index entry %" PRIu64 " does not begin where the one before ends",
                      super->base_entry + k);
    uint64_t frames = w->scan.extent.frames;
    w->was_bad = false;
    segscan_add(&w->scan, &e);
    w->scan.extent.entries++;
    v->report->entries++;
    if (super->kind != SEG_KIND_PACKETS)
        v->report->frames += e.len;
    else
        v->report->frames += w->scan.extent.frames > frames;
    return verify_payload(v, s, &e, super->base_entry + k, reterr);
}

static int verify_chunk(struct verify *v, struct verify_seg *s, struct walk *w, uint64_t first,
                        struct swt_diag *reterr)
{
    struct seg_entry bytes[CHUNK_ENTRIES];
    uint64_t left = s->n_entries - first, off = s->file.super.index_off + first * SEG_ENTRY_BYTES;
    size_t n = left < CHUNK_ENTRIES ? (size_t)left : CHUNK_ENTRIES;
    memset(bytes, 0, sizeof bytes); /* what cannot be read is not valid */
    ssize_t got = segfile_read_some(s->file.fd, bytes, n * SEG_ENTRY_BYTES, off);
    int rc = got < 0 ? read_failed(v, s, (int)got, off, reterr) : 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = verify_entry(v, s, w, first + i, &bytes[i], reterr);
    return rc;
}

int verify_segment(struct verify *v, struct verify_seg *s, struct swt_diag *reterr)
{
    struct walk w = {.was_bad = false};
    struct entry_clock clock;
    int rc = verify_slots(v, s, reterr);
    if (rc == 0)
        rc = verify_params(v, s, &clock, reterr);
    if (rc == 0)
        segscan_begin(&s->file.super, &clock, &w.scan);
    for (uint64_t k = 0; rc == 0 && k < s->n_entries; k += CHUNK_ENTRIES)
        rc = verify_chunk(v, s, &w, k, reterr);
    if (rc < 0)
        return rc;
    end_stretch(v, s, &w.bad);
    verify_slot_sums(v, s, &w.scan.extent);
    s->is_end_known = !w.was_bad;
    s->end_frame = s->file.super.base_frame + w.scan.extent.frames;
    return 0;
}

/* ---- seams ----------------------------------------------------------------------------------------- */

static bool is_known_bad(const struct verify_seg *prev, uint64_t flat)
{
    for (size_t i = 0; i < prev->n_bad; i++) {
        if (flat >= prev->bad[i].from && flat < prev->bad[i].to)
            return true;
    }
    return prev->n_bad == VERIFY_BAD_CAP;
}

/* The bytes before a segment are a copy of the run's. Where those are damaged it is said already. */
int verify_seam(struct verify *v, const struct verify_seg *prev, const struct verify_seg *s,
                struct swt_diag *reterr)
{
    const struct super *a = &prev->file.super, *b = &s->file.super;
    size_t n = (size_t)(b->data_off - b->seam_off); /* below 64 KiB: super_decode */
    uint64_t flat = super_flat(b, b->base_frame) - n;
    uint8_t *want = v->buf, *got = v->buf + SEG_SEAM_BYTES;
    if (n == 0)
        return 0;
    /* flat may lie before the segment before: then in its seam, which has been compared */
    uint64_t off = a->data_off + flat - super_flat(a, a->base_frame);
    ssize_t n_want = segfile_read_some(prev->file.fd, want, n, off);
    ssize_t n_got = segfile_read_some(s->file.fd, got, n, b->seam_off);
    if (n_want < 0 || n_got < 0)
        return read_failed(v, n_got < 0 ? s : prev, (int)(n_got < 0 ? n_got : n_want),
                           n_got < 0 ? b->seam_off : off, reterr);
    if ((size_t)n_got < n) /* its entries are lost with it, and that is reported */
        return 0;
    for (size_t i = 0; i < (size_t)n_want; i++) {
        if (want[i] == got[i] || is_known_bad(prev, flat + i))
            continue;
        verify_report(v, base_of(s), (int64_t)(b->seam_off + i),
                      (int64_t)(b->run_base_frame + (flat + i) / b->frame_bytes),
                      "the seam differs from the end of the segment before");
        break;
    }
    return 0;
}
