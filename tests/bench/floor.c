/* SPDX-License-Identifier: MIT
 *
 * floor.c - the jobs of whole processes in plain C with nothing else: bytes of a file to standard output.
 *
 *     floor sendfile|write|vmsplice FILE OFFSET BYTES
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

static int fail(const char *what)
{
    (void)fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
    return 1;
}

static int by_sendfile(int fd, off_t off, size_t n)
{
    while (n > 0) {
        ssize_t got = sendfile(1, fd, &off, n);
        if (got <= 0)
            return fail("sendfile");
        n -= (size_t)got;
    }
    return 0;
}

static int by_map(int fd, off_t off, size_t n, int splice)
{
    off_t page = off & ~(off_t)4095;
    size_t skip = (size_t)(off - page);
    char *map = mmap(NULL, n + skip, PROT_READ, MAP_SHARED, fd, page);
    if (map == MAP_FAILED)
        return fail("mmap");
    if (splice)
        (void)fcntl(1, F_SETPIPE_SZ, 1 << 20);
    for (char *p = map + skip; n > 0;) {
        struct iovec v = {p, n < (64u << 20) ? n : (64u << 20)};
        ssize_t got = splice ? vmsplice(1, &v, 1, 0) : write(1, v.iov_base, v.iov_len);
        if (got <= 0)
            return fail("write");
        p += got;
        n -= (size_t)got;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        (void)fprintf(stderr, "usage: floor sendfile|write|vmsplice FILE OFFSET BYTES\n");
        return 2;
    }
    int fd = open(argv[2], O_RDONLY);
    if (fd < 0)
        return fail(argv[2]);
    off_t off = (off_t)strtoll(argv[3], NULL, 10);
    size_t n = strtoull(argv[4], NULL, 10);
    if (strcmp(argv[1], "sendfile") == 0)
        return by_sendfile(fd, off, n);
    return by_map(fd, off, n, strcmp(argv[1], "vmsplice") == 0);
}
