/* SPDX-License-Identifier: MIT
 *
 * layout.c - where things lie in a new segment. Only arithmetic; whether the file system can give
 * the room is the store's matter.
 */
#include <errno.h>

#include "base/size.h"
#include "format/check.h"

#define PAGE_BYTES       4096u
#define INDEX_MIN        1024u               /* entries */
#define INDEX_MAX        262144u             /* entries: 16 MiB of index */
#define FRAME_BIG_BYTES  4096u               /* from here on an entry covers exactly one frame */
#define LAYOUT_MAX_BYTES (UINT64_C(1) << 60) /* of payload, and of a run up to its end */

/* Entries for `data_cap` bytes of payload, with an eighth to spare where their size is only
 * expected. */
static uint64_t index_entries(const struct super *s, uint64_t entry_bytes)
{
    uint64_t n;
    if (s->frame_bytes >= FRAME_BIG_BYTES) {
        n = s->data_cap / s->frame_bytes + 8;
    } else {
        uint64_t each = entry_bytes > s->frame_bytes ? entry_bytes : s->frame_bytes;
        n = s->data_cap / (each > 0 ? each : 1);
        n += n / 8;
        n = n < INDEX_MIN ? INDEX_MIN : n;
    }
    return n < INDEX_MAX ? n : INDEX_MAX;
}

/* Whole frames nearest below what is wanted, at least one. */
static uint64_t payload_bytes(const struct super *s, uint64_t want_bytes)
{
    if (s->frame_bytes == 0)
        return want_bytes > 0 ? want_bytes : 1;
    uint64_t n = want_bytes / s->frame_bytes;
    return (n > 0 ? n : 1) * s->frame_bytes;
}

int super_layout(struct super *s, size_t params_bytes, uint64_t want_bytes, uint64_t entry_bytes,
                 struct swt_diag *reterr)
{
    uint64_t flat = 0;
    if (params_bytes < sizeof(struct seg_params) || params_bytes > SEG_PARAMS_MAX)
        return err_set(reterr, -EOVERFLOW, "the description of the format is over %u bytes",
                       SEG_PARAMS_MAX);
    if (want_bytes > LAYOUT_MAX_BYTES || s->frame_bytes > LAYOUT_MAX_BYTES)
        return err_set(reterr, -EOVERFLOW, "a segment of that size is too large");
    if (!size_mul(s->base_frame - s->run_base_frame, s->frame_bytes, &flat) ||
        flat > LAYOUT_MAX_BYTES)
        return err_set(reterr, -EOVERFLOW, "the run has grown too large");
    s->data_cap = payload_bytes(s, want_bytes);
    s->params_off = SEG_PARAMS_OFF;
    s->params_bytes = params_bytes;
    s->index_off = size_up(s->params_off + params_bytes, PAGE_BYTES);
    s->index_cap = index_entries(s, entry_bytes);

    /* The smallest data_off that leaves room for the seam and is congruent to the flat address.
     * Both alignments are multiples of SEG_SEAM_BYTES, so seam_off is one too. */
    uint64_t align = s->data_cap >= SEG_LARGE_BYTES ? SEG_ALIGN_LARGE : SEG_ALIGN_SMALL;
    uint64_t seam = flat % SEG_SEAM_BYTES;
    uint64_t least = s->index_off + s->index_cap * SEG_ENTRY_BYTES + seam;
    s->data_off = size_down(least, align) + flat % align;
    if (s->data_off < least)
        s->data_off += align;
    s->seam_off = s->data_off - seam;
    return 0;
}
