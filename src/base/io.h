/* SPDX-License-Identifier: MIT
 *
 * io.h - file descriptors as the rest of swt wants them: whole reads and writes, EINTR handled, small
 * files written so that they are either old or new after a power cut. Every call returns 0 or -errno.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Close and set to -1; accepts -1. For AUTO. */
void io_close(int *fd);

int io_pwrite_all(int fd, const void *data, size_t n, uint64_t off);
int io_pread_all(int fd, void *buf, size_t n, uint64_t off); /* -ENODATA: the file ends before */
int io_write_all(int fd, const void *data, size_t n);
int io_fdatasync(int fd);

/* Write a small file: temporary name in the same directory, fsync, rename, fsync of the directory. */
int io_replace_file(int dir_fd, const char *name, const void *data, size_t n, mode_t mode);

/* Read a whole small file into a heap buffer with a NUL after it; -EFBIG above `max`. */
int io_read_file(int dir_fd, const char *name, size_t max, char **ret_data, size_t *ret_n);

/* mkdir that accepts an existing directory. */
int io_mkdir(int dir_fd, const char *name, mode_t mode);

/* 16 random bytes, version-4 uuid bits set. 0 or -errno. */
int io_uuid(uint8_t ret_uuid[16]);
/* "xxxxxxxx-xxxx-…" (36 characters and a NUL) and back (0 or -EINVAL). */
void io_uuid_text(const uint8_t uuid[16], char ret_text[37]);
int io_uuid_parse(const char *text, uint8_t ret_uuid[16]);

#endif
