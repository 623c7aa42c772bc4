/* SPDX-License-Identifier: MIT
 *
 * dir.h - inside view of a recording directory for the other files of this room: stream folders, meta.json,
 * locks, wall-clock anchors.
 */
#ifndef STORE_DIR_H
#define STORE_DIR_H

#include "store/store.h"

struct store_dir {
    int fd;
    char *path;
    bool made, made_folder; /* by this store_dir_create: swt.json, and the folder itself */
    struct store_dir_info info;
};

struct stream_meta {
    uint8_t uuid[16];
    char name[SWT_NAME_CAP];
    enum seg_kind kind;
};

/* Open STREAM for reading: its directory, STREAM/seg, and meta.json. Descriptors are the caller's. */
int dir_stream_open(struct store_dir *dir, const char *name, int *ret_stream_fd, int *ret_seg_fd,
                    struct stream_meta *ret_meta, struct swt_diag *reterr);
/* The same, created under REC/lock if it is not there; SWT_E_UNSUPPORTED if it is of another kind. */
int dir_stream_create(struct store_dir *dir, const char *name, enum seg_kind kind,
                      const char *made_from, int *ret_stream_fd, int *ret_seg_fd,
                      struct stream_meta *ret_meta, struct swt_diag *reterr);

/* STREAM/lock: OFD write lock for the whole session, pid and start time as its text. SWT_E_BUSY names the
 * holder. The lock lives as long as the descriptor. */
int dir_stream_lock(int stream_fd, const char *name, int *ret_lock_fd, struct swt_diag *reterr);

/* STREAM/clock: append-only anchors of 64 bytes, each with its CRC. */
struct anchor {
    int64_t boot_ns, wall_ns;
    uint8_t boot_id[16];
};
int dir_anchor_append(int stream_fd, const struct anchor *a);
/* All valid anchors in file order; heap block. A torn tail is skipped. */
int dir_anchors_read(int stream_fd, struct anchor **ret_anchors, size_t *ret_n);
/* Wall time of a capture time of boot `boot_id` by the nearest anchor; INT64_MIN if there is none. */
int64_t dir_wall_ns(const struct anchor *anchors, size_t n, const uint8_t boot_id[16],
                    int64_t capture_ns);

#endif
