/* SPDX-License-Identifier: MIT
 *
 * test_base_io.c - descriptors, small files and uuids, on real files in a folder of its own.
 */
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t.h"

static char folder[64];
static int dir = -1;

/* A new folder; every case begins with it and ends with leave(). */
static bool enter(void)
{
    snprintf(folder, sizeof folder, "/tmp/swt-test-io.XXXXXX");
    if (!mkdtemp(folder))
        return false;
    dir = open(folder, O_RDONLY | O_DIRECTORY);
    return dir >= 0;
}

/* Remove it with the files and empty folders in it. How many there were, -1 if it failed. */
static int leave(void)
{
    int n = 0;
    DIR *d = fdopendir(dir);
    if (!d)
        return -1;
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        n++;
        if (unlinkat(dir, e->d_name, 0) < 0 && unlinkat(dir, e->d_name, AT_REMOVEDIR) < 0)
            n = -1000;
    }
    closedir(d);
    return rmdir(folder) == 0 ? n : -1;
}

TEST(close__sets_the_descriptor)
{
    int fd = open("/dev/null", O_RDONLY), copy = fd;
    io_close(&fd);
    CHECK_INT(fd, -1);
    CHECK_INT(fcntl(copy, F_GETFD), -1);
    io_close(&fd);
    CHECK_INT(fd, -1);
}

TEST(pwrite_pread__whole_or_an_error)
{
    char buf[8] = "";
    CHECK(enter());
    AUTO(io_close) int fd = openat(dir, "f", O_RDWR | O_CREAT, 0600);
    CHECK_INT(io_pwrite_all(fd, "abcdef", 6, 10), 0);
    CHECK_INT(io_pread_all(fd, buf, 6, 10), 0);
    CHECK_STR(buf, "abcdef");
    CHECK_INT(io_pread_all(fd, buf, 7, 10), -ENODATA);
    CHECK_INT(io_pread_all(fd, buf, 1, 16), -ENODATA);
    CHECK_INT(io_pread_all(fd, buf, 0, 1000), 0);
    CHECK_INT(io_pread_all(fd, buf, 2, INT64_MAX - 1), -EOVERFLOW);
    CHECK_INT(io_pwrite_all(fd, buf, 1, UINT64_MAX), -EOVERFLOW);
    CHECK_INT(io_fdatasync(fd), 0);
    CHECK_INT(io_pwrite_all(-1, "x", 1, 0), -EBADF);
    CHECK_INT(io_pread_all(-1, buf, 1, 0), -EBADF);
    CHECK_INT(io_fdatasync(-1), -EBADF);
    CHECK_INT(leave(), 1);
}

TEST(write__says_when_the_disk_is_full)
{
    AUTO(io_close) int fd = open("/dev/full", O_WRONLY);
    CHECK_INT(io_write_all(fd, "x", 1), -ENOSPC);
    CHECK_INT(io_write_all(fd, "", 0), 0);
}

struct drain {
    int fd;
    size_t n;
};

static void *drain_pipe(void *arg)
{
    struct drain *d = arg;
    char buf[1000];
    for (ssize_t n = read(d->fd, buf, sizeof buf); n > 0; n = read(d->fd, buf, sizeof buf))
        d->n += (size_t)n;
    return NULL;
}

TEST(write__waits_for_a_pipe_that_does_not_block)
{
    static char data[1 << 20];
    int fds[2];
    pthread_t thread;
    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    CHECK_INT(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    struct drain d = {fds[0], 0};
    CHECK_INT(pthread_create(&thread, NULL, drain_pipe, &d), 0);
    int rc = io_write_all(fds[1], data, sizeof data);
    io_close(&fds[1]);
    pthread_join(thread, NULL);
    io_close(&fds[0]);
    CHECK_INT(rc, 0);
    CHECK_INT(d.n, sizeof data);
}

static int read_text(const char *name, size_t max, char ret_text[32], size_t *ret_n)
{
    char *data = NULL;
    int rc = io_read_file(dir, name, max, &data, ret_n);
    if (rc == 0)
        snprintf(ret_text, 32, "%s", data);
    free(data);
    return rc;
}

TEST(replace__leaves_one_file_with_the_new_content)
{
    char text[32];
    size_t n = 0;
    struct stat st;
    CHECK(enter());
    CHECK_INT(io_replace_file(dir, "swt.json", "old and longer", 14, 0644), 0);
    CHECK_INT(io_replace_file(dir, "swt.json", "new", 3, 0640), 0);
    CHECK_INT(read_text("swt.json", 100, text, &n), 0);
    CHECK_STR(text, "new");
    CHECK_INT(n, 3);
    CHECK_INT(fstatat(dir, "swt.json", &st, 0), 0);
    CHECK_INT(st.st_mode & 0777 & ~0640u, 0);
    CHECK_INT(leave(), 1);
}

TEST(replace__that_fails_leaves_nothing)
{
    char name[300];
    CHECK(enter());
    CHECK_INT(mkdirat(dir, "taken", 0700), 0);
    CHECK_INT(io_replace_file(dir, "taken", "x", 1, 0644), -EISDIR);
    CHECK_INT(io_replace_file(dir, "no/such", "x", 1, 0644), -ENOENT);
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = 0;
    CHECK_INT(io_replace_file(dir, name, "x", 1, 0644), -ENAMETOOLONG);
    CHECK_INT(leave(), 1);
}

TEST(read_file__takes_small_regular_files_only)
{
    char text[32];
    size_t n = 99;
    CHECK(enter());
    CHECK_INT(io_replace_file(dir, "empty", "", 0, 0644), 0);
    CHECK_INT(io_replace_file(dir, "five", "12345", 5, 0644), 0);
    CHECK_INT(mkfifoat(dir, "pipe", 0600), 0);
    CHECK_INT(mkdirat(dir, "folder", 0700), 0);
    CHECK_INT(read_text("empty", 10, text, &n), 0);
    CHECK_INT(n, 0);
    CHECK_STR(text, "");
    CHECK_INT(read_text("five", 5, text, &n), 0);
    CHECK_STR(text, "12345");
    CHECK_INT(read_text("five", 4, text, &n), -EFBIG);
    CHECK_INT(read_text("pipe", 10, text, &n), -EINVAL);
    CHECK_INT(read_text("folder", 10, text, &n), -EISDIR);
    CHECK_INT(read_text("missing", 10, text, &n), -ENOENT);
    CHECK_INT(leave(), 4);
}

TEST(read_file__takes_files_that_do_not_know_their_size)
{
    char *data = NULL;
    size_t n = 0;
    CHECK_INT(io_read_file(AT_FDCWD, "/proc/self/stat", 4096, &data, &n), 0);
    CHECK(n > 10);
    CHECK_INT(strlen(data), n);
    free(data);
    data = NULL;
    CHECK_INT(io_read_file(AT_FDCWD, "/proc/self/stat", 10, &data, &n), -EFBIG);
    CHECK(data == NULL);
}

TEST(mkdir__accepts_a_folder_and_nothing_else)
{
    CHECK(enter());
    CHECK_INT(io_mkdir(dir, "a", 0700), 0);
    CHECK_INT(io_mkdir(dir, "a", 0700), 0);
    CHECK_INT(io_replace_file(dir, "file", "x", 1, 0644), 0);
    CHECK_INT(io_mkdir(dir, "file", 0700), -ENOTDIR);
    CHECK_INT(io_mkdir(dir, "no/such", 0700), -ENOENT);
    CHECK_INT(leave(), 2);
}

TEST(uuid__text_and_back)
{
    static const uint8_t known[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                      0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10};
    uint8_t uuid[16];
    char text[37];
    io_uuid_text(known, text);
    CHECK_STR(text, "01234567-89ab-cdef-fedc-ba9876543210");
    CHECK_INT(io_uuid_parse(text, uuid), 0);
    CHECK_MEM(uuid, known, 16);
    CHECK_INT(io_uuid_parse("01234567-89AB-CDEF-FEDC-BA9876543210", uuid), 0);
    CHECK_MEM(uuid, known, 16);
}

TEST(uuid__every_cut_and_every_wrong_character_is_refused)
{
    const char *good = "01234567-89ab-cdef-fedc-ba9876543210";
    uint8_t uuid[16];
    for (size_t i = 0; i < 36; i++) {
        char text[40];
        snprintf(text, sizeof text, "%.*s", (int)i, good);
        CHECK_INT(io_uuid_parse(text, uuid), -EINVAL);
        snprintf(text, sizeof text, "%s", good);
        text[i] = 'g';
        CHECK_INT(io_uuid_parse(text, uuid), -EINVAL);
    }
    CHECK_INT(io_uuid_parse("01234567-89ab-cdef-fedc-ba98765432100", uuid), -EINVAL);
    CHECK_INT(io_uuid_parse("01234567-89ab-cdef-fedc-ba9876543210\n", uuid), -EINVAL);
}

TEST(uuid__is_version_4_and_new_each_time)
{
    uint8_t a[16], b[16];
    for (int i = 0; i < 100; i++) {
        CHECK_INT(io_uuid(a), 0);
        CHECK_INT(io_uuid(b), 0);
        CHECK_INT(a[6] >> 4, 4);
        CHECK_INT(a[8] >> 6, 2);
        CHECK(memcmp(a, b, sizeof a) != 0);
    }
}

T_MAIN(RUN(close__sets_the_descriptor) RUN(pwrite_pread__whole_or_an_error)
           RUN(write__says_when_the_disk_is_full) RUN(write__waits_for_a_pipe_that_does_not_block)
               RUN(replace__leaves_one_file_with_the_new_content)
                   RUN(replace__that_fails_leaves_nothing)
                       RUN(read_file__takes_small_regular_files_only)
                           RUN(read_file__takes_files_that_do_not_know_their_size)
                               RUN(mkdir__accepts_a_folder_and_nothing_else)
                                   RUN(uuid__text_and_back)
                                       RUN(uuid__every_cut_and_every_wrong_character_is_refused)
                                           RUN(uuid__is_version_4_and_new_each_time))
