/* SPDX-License-Identifier: MIT
 *
 * output.h - a window into an open descriptor or a file, in one of the file formats.
 */
#ifndef EXCHANGE_OUTPUT_H
#define EXCHANGE_OUTPUT_H

#include "tensor/window.h"

/* Names and suffixes of the formats: one table. NULL past the last; NONE if unknown. */
const char *output_format_name(enum swt_file_format format);
enum swt_file_format output_format_find(const char *name);
enum swt_file_format output_format_of_path(const char *path);

/* Write to `fd` (borrowed). errors: those of swt_window_write */
int output_write(struct window *w, enum swt_file_format format, int fd, struct swt_diag *reterr);

/* Write under a temporary name beside `path`, sync nothing, rename. Nothing appears under `path` on failure. */
int output_save(struct window *w, enum swt_file_format format, const char *path,
                struct swt_diag *reterr);

#endif
