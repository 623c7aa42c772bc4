/* SPDX-License-Identifier: MIT
 *
 * lock.c - who writes: OFD locks, and the text of STREAM/lock that names the holder in messages. The text
 * proves nothing; only the lock does.
 */
#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "store/control.h"
#include "store/dir.h"

#define NAME_TRIES    50
#define NAME_PAUSE_NS 4000000

static int lock_set(int fd, int command)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    while (fcntl(fd, command, &lock) != 0) {
        if (errno != EINTR)
            return errno == EACCES ? -EAGAIN : -errno;
    }
    return 0;
}

int lock_wait(int fd)
{
    return lock_set(fd, F_OFD_SETLKW);
}

int lock_try(int fd)
{
    return lock_set(fd, F_OFD_SETLK);
}

bool lock_is_held(int fd)
{
    /* Asked for a read lock, only write locks conflict, and a read-only descriptor will do. */
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int64_t lock_pid_start(int64_t pid)
{
    char path[40], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    AUTO(io_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    /* proc(5): field 2 is the name in brackets and may hold anything; the start time is field 22. */
    const char *at = strrchr(text, ')');
    if (at != NULL && (strncmp(at, ") Z", 3) == 0 || strncmp(at, ") X", 3) == 0))
        return -1; /* dead, only not yet waited for */
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at == NULL ? -1 : (int64_t)strtoll(at + 1, NULL, 10);
}

/* The living process that the lock's text names; 0 if there is none. */
static int64_t named_pid(int lock_fd)
{
    char text[64];
    ssize_t n = pread(lock_fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    int64_t pid, start;
    if (sscanf(text, "%" SCNd64 " %" SCNd64, &pid, &start) != 2 || pid <= 0)
        return 0;
    return lock_pid_start(pid) == start ? pid : 0;
}

/* Who has just locked writes his name a moment later. */
static int64_t named_pid_soon(int lock_fd)
{
    const struct timespec pause = {0, NAME_PAUSE_NS};
    int64_t pid = named_pid(lock_fd);
    for (int i = 0; pid == 0 && i < NAME_TRIES; i++) {
        (void)nanosleep(&pause, NULL); /* a signal only makes it shorter */
        pid = named_pid(lock_fd);
    }
    return pid;
}

static int lock_busy(int lock_fd, const char *name, struct swt_diag *reterr)
{
    int64_t pid = named_pid_soon(lock_fd);
    char who[48] = "another process";
    if (pid > 0)
        (void)snprintf(who, sizeof who, "process %" PRId64, pid);
    (void)err_set(reterr, SWT_E_BUSY,
                  "stream %s is being written by %s: stop it first, or use --name", name, who);
    err_stream(reterr, name);
    return SWT_E_BUSY;
}

int dir_stream_lock(int stream_fd, const char *name, int *ret_lock_fd, struct swt_diag *reterr)
{
    AUTO(io_close)
    int fd = openat(stream_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return err_errno(reterr, errno, name, "cannot open the stream's lock");
    int r = lock_try(fd);
    if (r == -EAGAIN)
        return lock_busy(fd, name, reterr);
    if (r < 0) {
        return err_errno(reterr, -r, name, "cannot lock the stream");
    }
    char text[64];
    int n = snprintf(text, sizeof text, "%ld %" PRId64 "\n", (long)getpid(),
                     lock_pid_start(getpid()));
    /* For messages only: a full disk must not keep anybody from locking. */
    if (ftruncate(fd, 0) == 0)
        (void)io_pwrite_all(fd, text, (size_t)n, 0);
    *ret_lock_fd = fd;
    fd = -1;
    return 0;
}

bool control_lock_is_held(int stream_dir_fd, int64_t *ret_pid)
{
    *ret_pid = 0;
    AUTO(io_close)
    int fd = openat(stream_dir_fd, "lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || !lock_is_held(fd))
        return false;
    *ret_pid = named_pid(fd);
    return true;
}
