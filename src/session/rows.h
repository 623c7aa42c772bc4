/* SPDX-License-Identifier: MIT
 *
 * rows.h - raw rows of a fixed dtype and shape from a pipe or a file (--tensor): no container, no FFmpeg.
 */
#ifndef SESSION_ROWS_H
#define SESSION_ROWS_H

#include "session/sink.h"
#include "session/track.h"

struct rows {
    int fd; /* owned unless it is stdin */
    bool is_stdin;
    struct params params;
    uint8_t *buf; /* owned: bytes read and not yet stored */
    size_t cap, n;
    int64_t offset_ns; /* time of row 0 of this session, with --fps */
    int64_t n_rows;
    int64_t last_ns; /* time of the newest row without --fps */
};

/* `spec->tensor` is "DTYPE[:SHAPE]", SHAPE is numbers joined by x. errors: SWT_E_USAGE, SWT_E_INPUT */
int rows_open(struct rows *r, const char *input, const struct swt_record_spec *spec,
              struct swt_diag *reterr);
void rows_done(struct rows *r);

/* Wait for the first bytes: 1 they are there (or the end is), 0 not yet. */
int rows_wait(const struct rows *r, int timeout_ms);

/* Read what has arrived (waiting at most `timeout_ns`) and store all whole rows. 1 something or nothing yet; 0 end
 * of input; SWT_E_LOST the input ended inside a row; errors of the store. `frames_limit` 0 = all. */
int rows_step(struct rows *r, struct sink *sink, const struct limits *limits, int64_t frames_limit,
              int timeout_ms, int64_t zero_boot_ns, struct swt_diag *reterr);

#endif
