/* SPDX-License-Identifier: MIT
 *
 * record.h - a recording session: inputs, their threads, and the streams they are kept in. What each function
 * does is said at its public twin in swt.h.
 */
#ifndef SESSION_RECORD_H
#define SESSION_RECORD_H

#include "base/err.h"

struct record;

int record_open(const struct swt_record_spec *spec, struct record **ret_record,
                struct swt_diag *reterr);
int record_run(struct record *r, struct swt_diag *reterr);
void record_stop(struct record *r); /* async-signal-safe */
int record_stream(const struct record *r, size_t i, struct swt_record_stream *ret);
void record_close(struct record **r);

#endif
