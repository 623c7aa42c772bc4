/* SPDX-License-Identifier: MIT
 *
 * segment_writer.h - one segment while it is written: made under a temporary name, given space ahead,
 * filled by pwrite, checkpointed, sealed. It publishes nothing and keeps no lock: writer.c and helper.c do.
 */
#ifndef STORE_SEGMENT_WRITER_H
#define STORE_SEGMENT_WRITER_H

#include <sys/uio.h>

#include "store/segscan.h"

#define SEGW_TEMP_PREFIX ".new-"

struct segw {
    struct segw *next; /* in the list of finished segments; owned by the list */
    int fd;
    struct super super;
    struct segscan scan; /* sums over the published entries; .extent.entries is kept too */
    uint64_t tail_bytes; /* payload written; what is past the published part waits for its entry */
    uint64_t index_reserved; /* entries for which the disk has room */
    uint64_t data_reserved;  /* payload bytes for which the disk has room */
    uint64_t smoothed_bytes; /* payload bytes handed to write-back */
    uint64_t synced_entries; /* of the last slot */
    uint64_t visible;        /* frames of the stream visible when its last entry was published */
    uint64_t generation;     /* of the last slot */
    bool is_suspect;         /* a sync failed: nothing here is promised any more */
    bool grows;              /* the file system cannot reserve */
};

/* Make a segment: superblock (places are filled in by super_layout before), params block and seam, all
 * synced, then named, and the name synced. `prev_fd` and `prev` are where the seam's bytes are: the run's
 * segment before (-1 and NULL at the start of a run). */
int segw_new(int seg_dir_fd, const struct super *super, const void *params,
             const struct entry_clock *clock, int prev_fd, const struct super *prev,
             struct segw **ret_segw, struct swt_diag *reterr);
void segw_free(struct segw **s);
/* Remove a segment without a published entry: its name belongs to the next one. */
void segw_discard(int seg_dir_fd, struct segw **s);

/* Room for `n` more entries. 0, or -ENOSPC and the like. */
int segw_reserve_index(struct segw *s, uint64_t n);
/* Room for `want` more payload bytes, ahead by `step_bytes` where the disk has it; on a small disk for fewer,
 * but for `least` at least. */
int segw_reserve_data(struct segw *s, uint64_t want, uint64_t least, uint64_t step_bytes);
/* Payload bytes that may be written now. */
uint64_t segw_room(const struct segw *s);

/* Write the pieces behind the tail, whole or not at all as far as anybody sees; the tail is the caller's to
 * move. `pieces` is used up. */
int segw_pwritev(const struct segw *s, struct iovec *pieces, int n_pieces);
/* Write encoded entries behind the published ones. */
int segw_put_entries(const struct segw *s, const struct seg_entry *entries, size_t n);

/* Published part as a slot states it. */
struct slot segw_slot(const struct segw *s, bool is_sealed);
/* Write the next slot; only after a successful fdatasync of what it states. */
int segw_checkpoint(struct segw *s, const struct slot *slot);
/* Cut off what was never published, up to the page. */
int segw_cut(const struct segw *s);

#endif
