/* SPDX-License-Identifier: MIT
 *
 * segfile.h - one segment file as writer, reader and verify all need it: found, opened, judged, recovered.
 * Nothing here writes.
 */
#ifndef STORE_SEGFILE_H
#define STORE_SEGFILE_H

#include <sys/types.h>

#include "format/check.h"

struct segfile {
    int fd;        /* -1: closed */
    uint64_t base; /* number in the file name */
    uint64_t file_bytes;
    dev_t dev;
    ino_t ino;
    struct super super;
    struct slot slot; /* the highest valid one; all zero if none */
};

/* What of a segment may be served. */
struct segfile_extent {
    uint64_t entries, frames, data_bytes; /* frames: pictures shown, for packets */
    int64_t end_ns, last_ns;              /* of the latest frame; INT64_MIN: none */
    uint64_t gaps, disconts, dropped, damaged;
    int64_t first_ns; /* earliest time of a frame here; INT64_MIN: none */
};

/* Bases of all segments in STREAM/seg, ascending; `ret_bases` is a heap block. Foreign names are skipped. */
int segfile_list(int seg_dir_fd, uint64_t **ret_bases, size_t *ret_n);
void segfile_name(uint64_t base, char ret_name[32]); /* "00000000000000000000.swt" */

/* Open read-only (O_NOFOLLOW, regular file), read and judge superblock and slots; `kind`, uuid (of the stream)
 * and base must fit. errors: SWT_E_CORRUPT, SWT_E_NEWER, -errno; the path is put into `reterr`. */
int segfile_open(int seg_dir_fd, uint64_t base, const uint8_t stream_uuid[16],
                 struct segfile *ret_file, struct swt_diag *reterr);
void segfile_close(struct segfile *f); /* accepts a closed one */

/* Read the params block. */
int segfile_params(const struct segfile *f, struct params *ret_params, struct swt_diag *reterr);

/* Recovery by reading: the slot's entries, then every further entry whose number, salt and CRC and whose
 * payload CRC hold, as an unbroken prefix; at most `limit_frames` frames (tensor segments that have a
 * successor end at its base; else UINT64_MAX). `from_page`: entries of this segment known committed from the
 * control page, 0 if none; they are not read again for their payload. */
int segfile_recover(const struct segfile *f, uint64_t limit_frames, uint64_t from_page,
                    struct segfile_extent *ret_extent, struct swt_diag *reterr);

/* The same, but only entries, frames and data_bytes of the extent are filled: what the slot promises is not read
 * again, so that the cost does not depend on the length of the segment. */
int segfile_reach(const struct segfile *f, uint64_t from_page, struct segfile_extent *ret_extent,
                  struct swt_diag *reterr);

/* Read one entry (0-based in the segment). False: not a valid entry. */
bool segfile_entry(const struct segfile *f, uint64_t k, struct entry *ret_entry);

#endif
