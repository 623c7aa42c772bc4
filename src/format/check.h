/* SPDX-License-Identifier: MIT
 *
 * check.h - judges and translates the bytes of segment.h. Pure: no I/O, no allocation (params_decode
 * excepted, which owns its extradata), no clock; recover, verify, info and the fuzzers share it.
 */
#ifndef FORMAT_CHECK_H
#define FORMAT_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/params.h"
#include "format/segment.h"

/* Native form of the superblock. */
struct super {
    enum seg_kind kind;
    uint32_t ro_compat;
    uint8_t rec_uuid[16], stream_uuid[16], session_uuid[16], boot_id[16];
    uint64_t salt, segment_no, session_no, run_no;
    uint64_t run_base_frame, run_base_entry, base_frame, base_entry, frame_bytes;
    uint64_t params_off, params_bytes, index_off, index_cap, seam_off, data_off, data_cap;
    int64_t made_boot_ns, made_wall_ns;
    uint64_t past_bytes, past_gaps, past_disconts, past_dropped, past_damaged;
    int64_t stream_first_ns, past_end_ns;
};

struct slot {
    uint64_t generation, entries, frames, data_bytes;
    bool is_sealed;
};

struct entry {
    uint64_t pos;
    uint32_t len, flags;
    int64_t time_ns, src_pts;
    int32_t dts_delta;
    uint32_t duration;
    int64_t capture_ns;
    uint32_t dropped_before, pics_before, crc_payload;
};

void super_encode(const struct super *s, struct seg_super *ret_bytes);
/* SWT_E_CORRUPT (magic, CRC, offsets that overlap, overflow or are misaligned), SWT_E_NEWER. Everything a
 * reader later adds or multiplies is proven here not to overflow. */
int super_decode(const struct seg_super *bytes, struct super *ret_super, struct swt_diag *reterr);

void slot_encode(const struct slot *s, uint64_t salt, struct seg_slot *ret_bytes);
/* False: never written, torn, or of another segment; `index_cap` and `data_cap` bound the counts. */
bool slot_decode(const struct seg_slot *bytes, const struct super *super, struct slot *ret_slot);

/* Times beyond SEG_TIME_MAX_NS are written as SEG_TIME_MAX_NS. */
void entry_encode(const struct entry *e, uint64_t salt, uint64_t entry_no,
                  struct seg_entry *ret_bytes);
/* False: never written, torn, stale, or out of the segment's bounds. */
bool entry_decode(const struct seg_entry *bytes, const struct super *super, uint64_t entry_no,
                  struct entry *ret_entry);

/* Bytes of a params block, header included; 0 when it would pass SEG_PARAMS_MAX or when params_decode would
 * refuse a value. */
size_t params_encoded_bytes(const struct params *p);
/* Write exactly that many bytes (not 0). Equal params give equal bytes: that is how a format change is seen. */
void params_encode(const struct params *p, void *buf);
/* `n` bytes, header included. errors: SWT_E_CORRUPT with the offset in the block, -ENOMEM.
 * owner:  `ret_params` is storage without content; params_done it after success */
int params_decode(const void *block, size_t n, struct params *ret_params, struct swt_diag *reterr);

/* Where things lie in a new segment: fills params_off, params_bytes, index_off, index_cap, seam_off, data_off and
 * data_cap of `s` from kind, frame_bytes, base_frame and run_base_frame. `want_bytes`: payload wanted
 * (at least one frame fits in any case); `entry_bytes`: payload an entry is expected to cover; counts only
 * for packets and small frames. errors: -EOVERFLOW */
int super_layout(struct super *s, size_t params_bytes, uint64_t want_bytes, uint64_t entry_bytes,
                 struct swt_diag *reterr);

/* Flat address of a frame in its run. */
static inline uint64_t super_flat(const struct super *s, uint64_t frame)
{
    return (frame - s->run_base_frame) * s->frame_bytes;
}

#endif
