/* SPDX-License-Identifier: MIT
 *
 * segscan.h - the parts of segfile.c that recovery, totals and verify share: where a payload lies,
 * its CRC by bounded reads, and the sums over the entries of one segment.
 */
#ifndef STORE_SEGSCAN_H
#define STORE_SEGSCAN_H

#include <sys/types.h>

#include "store/entrytime.h"
#include "store/segfile.h"

#define SEGFILE_PATH_CAP 4160 /* PATH_MAX, a slash, the name */

/* Path of a segment for messages, into `buf` (at least 32 bytes); the name alone where /proc is
 * closed. */
const char *segfile_path(int seg_dir_fd, uint64_t base, char *buf, size_t cap);

/* pread until `n` bytes or the end of the file: bytes read, or -errno. */
ssize_t segfile_read_some(int fd, void *buf, size_t n, uint64_t off);

/* Both slots out of the first SEG_PARAMS_OFF bytes of a segment. */
void segfile_slots(const uint8_t *head, const struct super *super, struct slot ret_slots[2],
                   bool ret_ok[2]);

/* Where the payload of a decoded entry lies; entry_decode has bounded it. */
void segfile_payload(const struct super *s, const struct entry *e, uint64_t *ret_off,
                     uint64_t *ret_bytes);

/* CRC of a payload through `buf`. -ENODATA: the file ends before. */
int segfile_payload_crc(int fd, uint64_t off, uint64_t n, void *buf, size_t cap, uint32_t *ret_crc);

/* Sums over entries taken in order. `entries` is the caller's to keep. */
struct segscan {
    const struct super *super; /* borrowed */
    struct entry_clock clock;
    struct segfile_extent extent;
};
void segscan_begin(const struct super *super, const struct entry_clock *clock, struct segscan *ret);
void segscan_add(struct segscan *scan, const struct entry *e);
/* Does the entry begin where the entries so far end? */
bool segscan_follows(const struct segscan *scan, const struct entry *e);

#endif
