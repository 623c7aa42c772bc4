/* SPDX-License-Identifier: MIT
 *
 * io.c - whole reads and writes, small files that are either old or new, uuids. It knows no format
 * and keeps no descriptor.
 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linux moves at most this much in one call. */
#define CALL_BYTES ((size_t)0x7ffff000)

void io_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* Linux frees the descriptor whatever it says; data was synced before */
    *fd = -1;
}

static size_t one_call(size_t n)
{
    return n < CALL_BYTES ? n : CALL_BYTES;
}

/* `off` + `n` is a file offset. */
static int check_range(size_t n, uint64_t off)
{
    return off > INT64_MAX || n > INT64_MAX - off ? -EOVERFLOW : 0;
}

int io_pwrite_all(int fd, const void *data, size_t n, uint64_t off)
{
    const uint8_t *at = data;
    int rc = check_range(n, off);
    while (rc == 0 && n > 0) {
        ssize_t done = pwrite(fd, at, one_call(n), (off_t)off);
        if (done < 0) {
            rc = errno == EINTR ? 0 : -errno;
            continue;
        }
        if (done == 0)
            return -EIO;
        at += done;
        off += (uint64_t)done;
        n -= (size_t)done;
    }
    return rc;
}

int io_pread_all(int fd, void *buf, size_t n, uint64_t off)
{
    uint8_t *at = buf;
    int rc = check_range(n, off);
    while (rc == 0 && n > 0) {
        ssize_t done = pread(fd, at, one_call(n), (off_t)off);
        if (done < 0) {
            rc = errno == EINTR ? 0 : -errno;
            continue;
        }
        if (done == 0)
            return -ENODATA;
        at += done;
        off += (uint64_t)done;
        n -= (size_t)done;
    }
    return rc;
}

/* Somebody we share a pipe with may have made it non-blocking. */
static int wait_writable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return poll(&p, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

int io_write_all(int fd, const void *data, size_t n)
{
    const uint8_t *at = data;
    while (n > 0) {
        ssize_t done = write(fd, at, one_call(n));
        if (done > 0) {
            at += done;
            n -= (size_t)done;
            continue;
        }
        int rc = done == 0 ? -EIO : errno == EINTR ? 0 : -errno;
        if (rc == -EAGAIN)
            rc = wait_writable(fd);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int io_fdatasync(int fd)
{
    int rc;
    do
        rc = fdatasync(fd);
    while (rc < 0 && errno == EINTR);
    return rc < 0 ? -errno : 0;
}

/* ---- small files
 * --------------------------------------------------------------------------------- */

static int sync_whole(int fd)
{
    return fsync(fd) < 0 ? -errno : 0;
}

static int sync_dir(int dir_fd)
{
    AUTO(io_close) int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : sync_whole(fd);
}

static int write_and_sync(int dir_fd, const char *name, const void *data, size_t n, mode_t mode)
{
    AUTO(io_close)
    int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0)
        return -errno;
    int rc = io_write_all(fd, data, n);
    return rc < 0 ? rc : sync_whole(fd);
}

int io_replace_file(int dir_fd, const char *name, const void *data, size_t n, mode_t mode)
{
    uint8_t uuid[16];
    char salt[37], tmp[NAME_MAX + 1];
    int rc = io_uuid(uuid);
    if (rc < 0)
        return rc;
    io_uuid_text(uuid, salt);
    int len = snprintf(tmp, sizeof tmp, ".%s.%.8s.tmp", name, salt);
    if (len < 0 || (size_t)len >= sizeof tmp)
        return -ENAMETOOLONG;
    rc = write_and_sync(dir_fd, tmp, data, n, mode);
    if (rc == 0 && renameat(dir_fd, tmp, dir_fd, name) < 0)
        rc = -errno;
    if (rc < 0) {
        if (rc != -EEXIST)
            (void)unlinkat(dir_fd, tmp, 0); /* the first failure is what counts */
        return rc;
    }
    return sync_dir(dir_fd);
}

static int open_small(int dir_fd, const char *name)
{
    /* Not to hang in open() when the name turns out to be a pipe. */
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

/* Read up to `cap` bytes, fewer only at the end of the file. */
static ssize_t read_up_to(int fd, char *buf, size_t cap)
{
    size_t n = 0;
    while (n < cap) {
        ssize_t done = read(fd, buf + n, one_call(cap - n));
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -errno;
        if (done == 0)
            break;
        n += (size_t)done;
    }
    return (ssize_t)n;
}

int io_read_file(int dir_fd, const char *name, size_t max, char **ret_data, size_t *ret_n)
{
    AUTO(io_close) int fd = open_small(dir_fd, name);
    struct stat st;
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    if (max > SSIZE_MAX - 2)
        max = SSIZE_MAX - 2;
    if (st.st_size > 0 && (uint64_t)st.st_size > max)
        return -EFBIG;
    /* What it held when it was opened; a file of size 0 may be one of /proc and hold something. */
    size_t cap = st.st_size > 0 ? (size_t)st.st_size : max + 1;
    char *data = malloc(cap + 1);
    if (!data)
        return -ENOMEM;
    ssize_t n = read_up_to(fd, data, cap);
    if (n < 0 || (size_t)n > max) {
        free(data);
        return n < 0 ? (int)n : -EFBIG;
    }
    data[n] = 0;
    *ret_data = data;
    *ret_n = (size_t)n;
    return 0;
}

int io_mkdir(int dir_fd, const char *name, mode_t mode)
{
    struct stat st;
    if (mkdirat(dir_fd, name, mode) == 0)
        return 0;
    if (errno != EEXIST || fstatat(dir_fd, name, &st, 0) < 0)
        return -errno;
    return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

/* ---- uuids
 * --------------------------------------------------------------------------------------- */

int io_uuid(uint8_t ret_uuid[16])
{
    uint8_t bytes[16];
    ssize_t n;
    do
        n = getrandom(bytes, sizeof bytes, 0);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof bytes)
        return n < 0 ? -errno : -EIO;
    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
    memcpy(ret_uuid, bytes, sizeof bytes);
    return 0;
}

/* A dash goes before bytes 4, 6, 8 and 10. */
static int has_dash_before(int byte)
{
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

void io_uuid_text(const uint8_t uuid[16], char ret_text[37])
{
    static const char digits[] = "0123456789abcdef";
    char *at = ret_text;
    for (int i = 0; i < 16; i++) {
        if (has_dash_before(i))
            *at++ = '-';
        *at++ = digits[uuid[i] >> 4];
        *at++ = digits[uuid[i] & 15];
    }
    *at = 0;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int io_uuid_parse(const char *text, uint8_t ret_uuid[16])
{
    uint8_t uuid[16];
    for (int i = 0; i < 16; i++) {
        if (has_dash_before(i) && *text++ != '-')
            return -EINVAL;
        int high = hex_value(text[0]);
        int low = high < 0 ? -1 : hex_value(text[1]);
        if (low < 0)
            return -EINVAL;
        uuid[i] = (uint8_t)(high << 4 | low);
        text += 2;
    }
    if (*text)
        return -EINVAL;
    memcpy(ret_uuid, uuid, sizeof uuid);
    return 0;
}
