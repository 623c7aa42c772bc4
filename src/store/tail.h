/* SPDX-License-Identifier: MIT
 *
 * tail.h - where a stream that nobody writes ends.
 */
#ifndef STORE_TAIL_H
#define STORE_TAIL_H

#include "store/segfile.h"

/* A segment is begun before the one before it is synced, so a power cut may take the end of that one and leave
 * the newer. The stream is an unbroken prefix: it ends in the first segment of the last session that is not
 * sealed and does not reach its successor; what lies behind was never durable and counts as never written.
 * `bases`: the stream's segments; `ret_n`: how many belong to it, the last of which is opened into `ret_file`.
 * `ret_extent`: as segfile_reach gives it. `known`: entries of the stream known committed. 0 with *ret_n = 0: there
 * is none. */
int tail_find(int seg_dir_fd, const uint64_t *bases, size_t n, const uint8_t stream_uuid[16],
              uint64_t known, struct segfile *ret_file, struct segfile_extent *ret_extent,
              size_t *ret_n, struct swt_diag *reterr);

#endif
