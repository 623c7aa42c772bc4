/* SPDX-License-Identifier: MIT
 *
 * check.c - superblock, checkpoint slots and index entries: native form to bytes, and bytes judged
 * before they become native. Where new segments put things is layout.c, the params block is
 * params.c.
 */
#include "format/check.h"

#include <string.h>

#include "base/crc.h"
#include "base/size.h"

/* No count, offset or size in a segment reaches this, so the sum of any two of them fits 63 bits.
 */
#define CAP (UINT64_C(1) << 62)

static uint32_t bytes_crc(const void *bytes, size_t n)
{
    return crc32c(0, bytes, n);
}

/* ---- superblock
 * ---------------------------------------------------------------------------------- */

static void encode_ids(const struct super *s, struct seg_super *b)
{
    memcpy(b->magic, SEG_MAGIC, sizeof b->magic);
    le32_set(&b->version, SEG_VERSION);
    le32_set(&b->super_bytes, SEG_SUPER_BYTES);
    le32_set(&b->ro_compat, s->ro_compat);
    le32_set(&b->kind, (uint32_t)s->kind);
    memcpy(b->rec_uuid, s->rec_uuid, 16);
    memcpy(b->stream_uuid, s->stream_uuid, 16);
    memcpy(b->session_uuid, s->session_uuid, 16);
    memcpy(b->boot_id, s->boot_id, 16);
    le64_set(&b->salt, s->salt);
    le64_set(&b->segment_no, s->segment_no);
    le64_set(&b->session_no, s->session_no);
    le64_set(&b->run_no, s->run_no);
}

static void encode_places(const struct super *s, struct seg_super *b)
{
    le64_set(&b->run_base_frame, s->run_base_frame);
    le64_set(&b->run_base_entry, s->run_base_entry);
    le64_set(&b->base_frame, s->base_frame);
    le64_set(&b->base_entry, s->base_entry);
    le64_set(&b->frame_bytes, s->frame_bytes);
    le64_set(&b->params_off, s->params_off);
    le64_set(&b->params_bytes, s->params_bytes);
    le64_set(&b->index_off, s->index_off);
    le64_set(&b->index_cap, s->index_cap);
    le64_set(&b->seam_off, s->seam_off);
    le64_set(&b->data_off, s->data_off);
    le64_set(&b->data_cap, s->data_cap);
}

static void encode_past(const struct super *s, struct seg_super *b)
{
    le64_set(&b->made_boot_ns, (uint64_t)s->made_boot_ns);
    le64_set(&b->made_wall_ns, (uint64_t)s->made_wall_ns);
    le64_set(&b->past_bytes, s->past_bytes);
    le64_set(&b->past_gaps, s->past_gaps);
    le64_set(&b->past_disconts, s->past_disconts);
    le64_set(&b->past_dropped, s->past_dropped);
    le64_set(&b->past_damaged, s->past_damaged);
    le64_set(&b->stream_first_ns, (uint64_t)s->stream_first_ns);
    le64_set(&b->past_end_ns, (uint64_t)s->past_end_ns);
}

void super_encode(const struct super *s, struct seg_super *ret_bytes)
{
    memset(ret_bytes, 0, sizeof *ret_bytes);
    encode_ids(s, ret_bytes);
    encode_places(s, ret_bytes);
    encode_past(s, ret_bytes);
    le32_set(&ret_bytes->crc, bytes_crc(ret_bytes, offsetof(struct seg_super, crc)));
}

static void decode_ids(const struct seg_super *b, struct super *s)
{
    s->kind = (enum seg_kind)le32_get(b->kind);
    s->ro_compat = le32_get(b->ro_compat);
    memcpy(s->rec_uuid, b->rec_uuid, 16);
    memcpy(s->stream_uuid, b->stream_uuid, 16);
    memcpy(s->session_uuid, b->session_uuid, 16);
    memcpy(s->boot_id, b->boot_id, 16);
    s->salt = le64_get(b->salt);
    s->segment_no = le64_get(b->segment_no);
    s->session_no = le64_get(b->session_no);
    s->run_no = le64_get(b->run_no);
}

static void decode_places(const struct seg_super *b, struct super *s)
{
    s->run_base_frame = le64_get(b->run_base_frame);
    s->run_base_entry = le64_get(b->run_base_entry);
    s->base_frame = le64_get(b->base_frame);
    s->base_entry = le64_get(b->base_entry);
    s->frame_bytes = le64_get(b->frame_bytes);
    s->params_off = le64_get(b->params_off);
    s->params_bytes = le64_get(b->params_bytes);
    s->index_off = le64_get(b->index_off);
    s->index_cap = le64_get(b->index_cap);
    s->seam_off = le64_get(b->seam_off);
    s->data_off = le64_get(b->data_off);
    s->data_cap = le64_get(b->data_cap);
}

static void decode_past(const struct seg_super *b, struct super *s)
{
    s->made_boot_ns = le64_get_signed(b->made_boot_ns);
    s->made_wall_ns = le64_get_signed(b->made_wall_ns);
    s->past_bytes = le64_get(b->past_bytes);
    s->past_gaps = le64_get(b->past_gaps);
    s->past_disconts = le64_get(b->past_disconts);
    s->past_dropped = le64_get(b->past_dropped);
    s->past_damaged = le64_get(b->past_damaged);
    s->stream_first_ns = le64_get_signed(b->stream_first_ns);
    s->past_end_ns = le64_get_signed(b->past_end_ns);
}

/* Each judge returns what is wrong, or NULL. */

static const char *judge_counts(const struct super *s)
{
    const uint64_t counts[] = {
        s->segment_no,   s->session_no,   s->run_no,     s->base_frame, s->base_entry,
        s->index_cap,    s->data_cap,     s->seam_off,   s->data_off,   s->index_off,
        s->params_off,   s->frame_bytes,  s->past_bytes, s->past_gaps,  s->past_disconts,
        s->past_damaged, s->past_dropped,
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (counts[i] >= CAP)
            return "a number that is too large";
    if (s->run_base_frame > s->base_frame || s->run_base_entry > s->base_entry)
        return "it begins before its run";
    return NULL;
}

/* Superblock, slots, params, index, seam, payload follow each other without overlap. Counts are
 * judged. */
static const char *judge_places(const struct super *s)
{
    uint64_t index_bytes, index_end;
    if (s->params_off < SEG_PARAMS_OFF || s->params_bytes < sizeof(struct seg_params) ||
        s->params_bytes > SEG_PARAMS_MAX || s->params_off + s->params_bytes > s->index_off)
        return "its params block is not where it can be";
    if (s->index_off % SEG_ENTRY_BYTES != 0 || s->index_cap < 1 ||
        !size_mul(s->index_cap, SEG_ENTRY_BYTES, &index_bytes) ||
        !size_add(s->index_off, index_bytes, &index_end) || index_end > s->seam_off)
        return "its index is not where it can be";
    if (s->seam_off % SEG_SEAM_BYTES != 0 || s->data_off < s->seam_off ||
        s->data_off - s->seam_off >= SEG_SEAM_BYTES || s->data_off + s->data_cap >= CAP)
        return "its payload is not where it can be";
    return NULL;
}

static const char *judge_frames(const struct super *s)
{
    uint64_t flat, end;
    if (s->kind == SEG_KIND_PACKETS)
        return s->frame_bytes == 0 && s->data_off == s->seam_off ? NULL : "packets with a seam";
    if (s->frame_bytes == 0 || s->data_cap < s->frame_bytes)
        return "no room for one frame";
    if (!size_mul(s->base_frame - s->run_base_frame, s->frame_bytes, &flat) ||
        !size_add(flat, s->data_cap, &end) || end >= CAP)
        return "its run is too large";
    if (flat % SEG_SEAM_BYTES != s->data_off - s->seam_off)
        return "its seam does not fit its place in the run";
    return NULL;
}

static int judge_features(const struct seg_super *b, struct swt_diag *reterr)
{
    uint32_t version = le32_get(b->version);
    uint32_t unknown = le32_get(b->incompat) & ~SEG_INCOMPAT_KNOWN;
    if (version > SEG_VERSION)
        return err_set(reterr, SWT_E_NEWER,
                       "format version %u is newer than version %u, the newest that swt %s reads",
                       version, SEG_VERSION, SWT_VERSION);
    if (unknown)
        return err_set(reterr, SWT_E_NEWER,
                       "it uses features that swt %s does not know (incompat bits 0x%x)",
                       SWT_VERSION, unknown);
    return 0;
}

int super_decode(const struct seg_super *bytes, struct super *ret_super, struct swt_diag *reterr)
{
    struct super s;
    if (memcmp(bytes->magic, SEG_MAGIC, sizeof bytes->magic) != 0)
        return err_at(reterr, SWT_E_CORRUPT, NULL, 0, "superblock: not a segment of swt");
    if (le32_get(bytes->crc) != bytes_crc(bytes, offsetof(struct seg_super, crc)))
        return err_at(reterr, SWT_E_CORRUPT, NULL, 0, "superblock: wrong checksum");
    int rc = judge_features(bytes, reterr);
    if (rc < 0)
        return rc;
    uint32_t kind = le32_get(bytes->kind);
    const char *wrong = NULL;
    if (le32_get(bytes->version) == 0 || le32_get(bytes->super_bytes) != SEG_SUPER_BYTES)
        wrong = "wrong version or size";
    else if (kind < SEG_KIND_TENSOR || kind > SEG_KIND_ARRAY)
        wrong = "unknown kind";
    if (!wrong) {
        decode_ids(bytes, &s);
        decode_places(bytes, &s);
        decode_past(bytes, &s);
        wrong = judge_counts(&s);
    }
    if (!wrong)
        wrong = judge_places(&s);
    if (!wrong)
        wrong = judge_frames(&s);
    if (wrong)
        return err_at(reterr, SWT_E_CORRUPT, NULL, 0, "superblock: %s", wrong);
    *ret_super = s;
    return 0;
}

/* ---- checkpoint slots
 * ---------------------------------------------------------------------------- */

void slot_encode(const struct slot *s, uint64_t salt, struct seg_slot *ret_bytes)
{
    memset(ret_bytes, 0, sizeof *ret_bytes);
    le64_set(&ret_bytes->generation, s->generation);
    le64_set(&ret_bytes->entries, s->entries);
    le64_set(&ret_bytes->frames, s->frames);
    le64_set(&ret_bytes->data_bytes, s->data_bytes);
    le32_set(&ret_bytes->is_sealed, s->is_sealed);
    le64_set(&ret_bytes->salt, salt);
    le32_set(&ret_bytes->crc, bytes_crc(ret_bytes, offsetof(struct seg_slot, crc)));
}

static bool slot_fits(const struct slot *s, const struct super *super)
{
    if (s->generation == 0 || s->entries > super->index_cap || s->data_bytes > super->data_cap)
        return false;
    if (super->kind == SEG_KIND_PACKETS)
        return s->frames <= s->entries;
    return s->frames >= s->entries && s->data_bytes % super->frame_bytes == 0 &&
           s->frames == s->data_bytes / super->frame_bytes && (s->frames == 0) == (s->entries == 0);
}

bool slot_decode(const struct seg_slot *bytes, const struct super *super, struct slot *ret_slot)
{
    if (le32_get(bytes->crc) != bytes_crc(bytes, offsetof(struct seg_slot, crc)) ||
        le64_get(bytes->salt) != super->salt || le32_get(bytes->is_sealed) > 1)
        return false;
    struct slot s = {
        .generation = le64_get(bytes->generation),
        .entries = le64_get(bytes->entries),
        .frames = le64_get(bytes->frames),
        .data_bytes = le64_get(bytes->data_bytes),
        .is_sealed = le32_get(bytes->is_sealed) == 1,
    };
    if (!slot_fits(&s, super))
        return false;
    *ret_slot = s;
    return true;
}

/* ---- index entries
 * ------------------------------------------------------------------------------- */

static uint32_t entry_crc(const struct seg_entry *bytes, uint64_t salt, uint64_t entry_no)
{
    le64 head[2];
    le64_set(&head[0], salt);
    le64_set(&head[1], entry_no);
    return crc32c(crc32c(0, head, sizeof head), bytes, offsetof(struct seg_entry, crc_entry));
}

/* A source may claim any time; nearer than this, sums of two times cannot overflow. */
static int64_t near_time(int64_t ns)
{
    const int64_t most = SEG_TIME_MAX_NS;
    return ns > most ? most : ns < -most ? -most : ns;
}

void entry_encode(const struct entry *e, uint64_t salt, uint64_t entry_no,
                  struct seg_entry *ret_bytes)
{
    le64_set(&ret_bytes->pos, e->pos);
    le32_set(&ret_bytes->len, e->len);
    le32_set(&ret_bytes->flags, e->flags);
    le64_set(&ret_bytes->time_ns, (uint64_t)near_time(e->time_ns));
    le64_set(&ret_bytes->src_pts, (uint64_t)e->src_pts);
    le32_set(&ret_bytes->dts_delta, (uint32_t)e->dts_delta);
    le32_set(&ret_bytes->duration, e->duration);
    le64_set(&ret_bytes->capture_ns, (uint64_t)near_time(e->capture_ns));
    le32_set(&ret_bytes->dropped_before, e->dropped_before);
    le32_set(&ret_bytes->pics_before, e->pics_before);
    le32_set(&ret_bytes->crc_payload, e->crc_payload);
    le32_set(&ret_bytes->crc_entry, entry_crc(ret_bytes, salt, entry_no));
}

static bool entry_fits(const struct entry *e, const struct super *super, uint64_t entry_idx)
{
    if (near_time(e->time_ns) != e->time_ns || near_time(e->capture_ns) != e->capture_ns)
        return false;
    if (super->kind == SEG_KIND_PACKETS)
        return e->pos <= super->data_cap && e->len <= super->data_cap - e->pos &&
               e->pics_before <= entry_idx;
    uint64_t room = super->data_cap / super->frame_bytes; /* frames */
    return e->len > 0 && e->pos >= super->base_frame && e->pos - super->base_frame <= room &&
           e->len <= room - (e->pos - super->base_frame);
}

bool entry_decode(const struct seg_entry *bytes, const struct super *super, uint64_t entry_no,
                  struct entry *ret_entry)
{
    if (entry_no < super->base_entry || entry_no - super->base_entry >= super->index_cap ||
        le32_get(bytes->crc_entry) != entry_crc(bytes, super->salt, entry_no))
        return false;
    struct entry e = {
        .pos = le64_get(bytes->pos),
        .len = le32_get(bytes->len),
        .flags = le32_get(bytes->flags),
        .time_ns = le64_get_signed(bytes->time_ns),
        .src_pts = le64_get_signed(bytes->src_pts),
        .dts_delta = (int32_t)le32_get(bytes->dts_delta),
        .duration = le32_get(bytes->duration),
        .capture_ns = le64_get_signed(bytes->capture_ns),
        .dropped_before = le32_get(bytes->dropped_before),
        .pics_before = le32_get(bytes->pics_before),
        .crc_payload = le32_get(bytes->crc_payload),
    };
    if (!entry_fits(&e, super, entry_no - super->base_entry))
        return false;
    *ret_entry = e;
    return true;
}
