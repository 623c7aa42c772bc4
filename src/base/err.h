/* SPDX-License-Identifier: MIT
 *
 * err.h - how failure is said: cleanup attribute, diagnostics, the table of codes. Prints nothing.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "swt.h"

#define AUTO(closer)           __attribute__((cleanup(closer)))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* Fill `reterr` (may be NULL) and return `code`, so that a caller can `return err_set(...)`. Every other
 * field is reset. Arguments may point into `reterr`, to wrap what an inner call said. */
int err_set(struct swt_diag *reterr, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The same with the file it happened in and a byte offset in it (-1: none). */
int err_at(struct swt_diag *reterr, int code, const char *path, int64_t offset, const char *fmt,
           ...) PRINTF_LIKE(5, 6);

/* -errno with "WHAT: strerror" as text. `errnum` > 0. */
int err_errno(struct swt_diag *reterr, int errnum, const char *path, const char *what);

/* Complete a diagnostic on its way up: the stream it belongs to, the frame. What is known already
 * stays. Both accept NULL. */
void err_stream(struct swt_diag *reterr, const char *stream);
void err_frame(struct swt_diag *reterr, int64_t frame);

/* Make `text` one printable line in place: control bytes become '?', a character cut in two at the end
 * goes. */
void err_one_line(char *text);

/* Table behind swt_strerror and swt_exit_code. */
const char *err_text(int code);
int err_exit_code(int code);

#endif
