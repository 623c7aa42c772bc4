/* SPDX-License-Identifier: MIT
 *
 * verify.h - what verify.c (the stream: which segments, what is between them) and verify_segment.c (the bytes
 * of one) share.
 */
#ifndef STORE_VERIFY_H
#define STORE_VERIFY_H

#include "store/dir.h"
#include "store/segscan.h"

#define VERIFY_BAD_CAP 32u

/* Damaged bytes of a segment, by flat address of the run. */
struct verify_bad {
    uint64_t from, to;
};

/* One segment under examination. */
struct verify_seg {
    struct segfile file; /* fd -1: none, or not readable */
    uint64_t n_entries;  /* promised */
    uint64_t end_frame;  /* where its frames end */
    bool is_end_known;   /* its last entry could be read */
    bool is_cut;         /* the file is shorter than promised: said once */
    struct verify_bad bad[VERIFY_BAD_CAP];
    size_t n_bad;
};

struct verify {
    const char *name; /* of the stream */
    struct store_dir *dir;
    int seg_fd;
    struct stream_meta meta;
    swt_damage_fn *damage;
    void *arg;
    struct swt_verify_report *report;
    uint64_t n_damages; /* of this stream */
    uint8_t *buf;       /* VERIFY_BUF_BYTES */

    bool is_live;  /* somebody writes */
    bool has_page; /* and says how far the stream reaches: `committed` */
    uint64_t committed;
    uint64_t live_session; /* session of the newest segment */
    struct store_reader
        *numbers; /* gives packets their frame numbers in reports; NULL: not needed yet */
};

#define VERIFY_BUF_BYTES (1u << 20)

/* Report one damage. `frame` -1: none. */
void verify_report(struct verify *v, uint64_t base, int64_t offset, int64_t frame, const char *fmt,
                   ...) PRINTF_LIKE(5, 6);

/* Slots, params, entries, payloads. 0, or why it cannot be read. */
int verify_segment(struct verify *v, struct verify_seg *s, struct swt_diag *reterr);
/* The seam of `s` against the bytes of the segment before. */
int verify_seam(struct verify *v, const struct verify_seg *prev, const struct verify_seg *s,
                struct swt_diag *reterr);

#endif
