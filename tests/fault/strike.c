/* SPDX-License-Identifier: MIT
 *
 * strike.c - the calls that strike.h lets fail: a wrapper each, and the ways in which each can fail.
 */
#include "strike.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define SHORT     (-1) /* a part is done */
#define SHORT_EIO (-2) /* a part is done, and the rest fails */
#define KILL      (-3)
#define SECTOR    512

/* ---- ways ---------------------------------------------------------------------------------------- */

/* The kinds of failure; 0 ends a list. */
static const int memory[] = {ENOMEM, 0};
static const int opening[] = {EMFILE, EIO, ENOSPC, EACCES, 0};
static const int writing[] = {ENOSPC, EIO, EINTR, EDQUOT, SHORT, SHORT_EIO, 0};
static const int reading[] = {EIO, EINTR, SHORT, 0};
static const int space[] = {ENOSPC, EIO, EINTR, EDQUOT, EOPNOTSUPP, 0};
static const int syncing[] = {EIO, ENOSPC, EDQUOT, 0};
static const int naming[] = {EIO, ENOSPC, EDQUOT, 0};
static const int looking[] = {EIO, 0};
static const int mapping[] = {ENOMEM, ENODEV, 0};
static const int locking[] = {ENOLCK, EINTR, 0};
static const int handles[] = {EMFILE, 0};
static const int rights[] = {EPERM, EIO, 0};
static const int again[] = {EAGAIN, 0};

static struct strike_plan plan;
static struct strike_record *record;
static _Atomic bool is_armed;
static const int *on_ways; /* what goes on failing, and how */
static int on_error;
static _Thread_local bool is_main;
static _Thread_local bool fails_next; /* the second half of SHORT_EIO */

void strike_arm(const struct strike_plan *p, struct strike_record *r)
{
    plan = *p;
    record = r;
    is_main = true;
    on_ways = NULL;
    atomic_store(&is_armed, true);
}

void strike_disarm(void)
{
    atomic_store(&is_armed, false);
}

static void note(const char *call, int error)
{
    const char *name = error == SHORT       ? "short"
                       : error == SHORT_EIO ? "short, then EIO"
                       : error == KILL      ? "SIGKILL"
                                            : strerrorname_np(error);
    (void)snprintf(record->call, sizeof record->call, "%s", call);
    (void)snprintf(record->error, sizeof record->error, "%s", name);
    atomic_store(&record->has_struck, true);
}

static int kill_here(const char *call, const int *ways)
{
    if (plan.way > (ways == writing)) {
        atomic_store(&record->no_such_way, true);
        return 0;
    }
    note(call, KILL);
    if (plan.way == 1)
        return KILL;
    (void)raise(SIGKILL);
    return 0;
}

/* The failure of this call: 0 none, an errno, or one of the words above. */
static int strike(const char *call, const int *ways)
{
    if (!atomic_load(&is_armed))
        return 0;
    if (fails_next && ways == writing) {
        fails_next = false;
        return EIO;
    }
    enum strike_thread thread = is_main ? STRIKE_MAIN : STRIKE_OTHER;
    uint64_t n = atomic_fetch_add(&record->counts[thread], 1) + 1;
    if (plan.mode == STRIKE_ON && on_ways == ways)
        return on_error;
    if (plan.mode == STRIKE_NONE || thread != plan.thread || n != plan.k)
        return 0;
    if (plan.mode == STRIKE_KILL)
        return kill_here(call, ways);
    for (int i = 0; ways[i] != 0; i++) {
        if (i != plan.way)
            continue;
        if (plan.mode == STRIKE_ON && (ways[i] < 0 || ways[i] == EINTR || ways[i] == EOPNOTSUPP))
            break; /* these do not last */
        note(call, ways[i]);
        on_error = ways[i];
        on_ways = ways;
        fails_next = ways[i] == SHORT_EIO;
        return ways[i];
    }
    atomic_store(&record->no_such_way, true);
    return 0;
}

/* ---- plain wrappers ------------------------------------------------------------------------------ */

/* `failed` is what the call returns when it has not worked; errno says why. */
#define WRAP(type, failed, ways, name, parameters, arguments) \
    type __real_##name parameters;                            \
    type __wrap_##name parameters;                            \
    type __wrap_##name parameters                             \
    {                                                         \
        int e = strike(#name, ways);                          \
        if (e == 0)                                           \
            return __real_##name arguments;                   \
        errno = e;                                            \
        return failed;                                        \
    }

/* Of those that return the error. */
#define WRAP_CODE(ways, name, parameters, arguments) \
    int __real_##name parameters;                    \
    int __wrap_##name parameters;                    \
    int __wrap_##name parameters                     \
    {                                                \
        int e = strike(#name, ways);                 \
        return e == 0 ? __real_##name arguments : e; \
    }

WRAP(void *, NULL, memory, malloc, (size_t n), (n))
WRAP(void *, NULL, memory, calloc, (size_t n, size_t size), (n, size))
WRAP(void *, NULL, memory, realloc, (void *p, size_t n), (p, n))
WRAP(void *, NULL, memory, reallocarray, (void *p, size_t n, size_t size), (p, n, size))
WRAP(void *, NULL, memory, aligned_alloc, (size_t align, size_t n), (align, n))
WRAP(char *, NULL, memory, strdup, (const char *s), (s))
WRAP(char *, NULL, memory, realpath, (const char *path, char *to), (path, to))
WRAP(DIR *, NULL, memory, fdopendir, (int fd), (fd))
WRAP(void *, MAP_FAILED, mapping, mmap,
     (void *at, size_t n, int prot, int flags, int fd, off_t off), (at, n, prot, flags, fd, off))
WRAP(struct dirent *, NULL, looking, readdir, (DIR * dir), (dir))
WRAP(int, -1, looking, fstat, (int fd, struct stat *st), (fd, st))
WRAP(int, -1, looking, fstatat, (int fd, const char *name, struct stat *st, int flags),
     (fd, name, st, flags))
WRAP(int, -1, looking, faccessat, (int fd, const char *name, int mode, int flags),
     (fd, name, mode, flags))
WRAP(int, -1, looking, access, (const char *name, int mode), (name, mode))
WRAP(ssize_t, -1, looking, readlink, (const char *name, char *to, size_t cap), (name, to, cap))
WRAP(off_t, -1, looking, lseek, (int fd, off_t off, int whence), (fd, off, whence))
WRAP(int, -1, looking, sync_file_range, (int fd, off64_t off, off64_t n, unsigned flags),
     (fd, off, n, flags))
WRAP(ssize_t, -1, looking, getrandom, (void *to, size_t n, unsigned flags), (to, n, flags))
WRAP(int, -1, space, fallocate, (int fd, int mode, off_t off, off_t n), (fd, mode, off, n))
WRAP_CODE(space, posix_fallocate, (int fd, off_t off, off_t n), (fd, off, n))
WRAP(int, -1, syncing, fsync, (int fd), (fd))
WRAP(int, -1, syncing, fdatasync, (int fd), (fd))
WRAP(int, -1, naming, ftruncate, (int fd, off_t n), (fd, n))
WRAP(int, -1, naming, mkdir, (const char *name, mode_t mode), (name, mode))
WRAP(int, -1, naming, mkdirat, (int fd, const char *name, mode_t mode), (fd, name, mode))
WRAP(int, -1, naming, renameat, (int from, const char *name, int to, const char *new_name),
     (from, name, to, new_name))
WRAP(int, -1, naming, unlink, (const char *name), (name))
WRAP(int, -1, naming, unlinkat, (int fd, const char *name, int flags), (fd, name, flags))
WRAP(int, -1, rights, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(int, -1, rights, fchown, (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
WRAP_CODE(again, pthread_create,
          (pthread_t * thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg),
          (thread, attr, run, arg))
WRAP_CODE(again, pthread_mutex_init, (pthread_mutex_t * m, const pthread_mutexattr_t *attr),
          (m, attr))
WRAP_CODE(again, pthread_cond_init, (pthread_cond_t * c, const pthread_condattr_t *attr), (c, attr))
WRAP_CODE(again, pthread_condattr_init, (pthread_condattr_t * attr), (attr))

void *strike_malloc(size_t n)
{
    return __wrap_malloc(n);
}

/* ---- calls with open arguments ------------------------------------------------------------------- */

int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    int e = strike("open", opening);
    if (e == 0)
        return __real_open(name, flags, mode);
    errno = e;
    return -1;
}

int __real_openat(int fd, const char *name, int flags, ...);
int __wrap_openat(int fd, const char *name, int flags, ...);
int __wrap_openat(int fd, const char *name, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    int e = strike("openat", opening);
    if (e == 0)
        return __real_openat(fd, name, flags, mode);
    errno = e;
    return -1;
}

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    void *arg = va_arg(args, void *);
    va_end(args);
    int e = strike("fcntl", command == F_DUPFD_CLOEXEC ? handles : locking);
    if (e == 0)
        return __real_fcntl(fd, command, arg);
    errno = e;
    return -1;
}

int __real_asprintf(char **ret_text, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) int __wrap_asprintf(char **ret_text, const char *fmt, ...);
int __wrap_asprintf(char **ret_text, const char *fmt, ...)
{
    va_list args;
    if (strike("asprintf", memory) != 0)
        return -1;
    va_start(args, fmt);
    int n = vasprintf(ret_text, fmt, args);
    va_end(args);
    return n;
}

/* ---- calls that do a part ------------------------------------------------------------------------ */

/* Where a write of `n` bytes at `off` breaks off: between two sectors; within one it is done or not. */
static size_t torn(size_t n, uint64_t off)
{
    uint64_t cut = (off + n / 2 + SECTOR - 1) / SECTOR * SECTOR;
    return cut < off + n ? (size_t)(cut - off) : n;
}

/* 0: do `*n` bytes, of a short call not all of them; -1: errno is set. */
static int part(int e, const int *ways, size_t *n, uint64_t off)
{
    if (e > 0) {
        errno = e;
        return -1;
    }
    if (e < 0)
        *n = ways == reading ? (*n + 1) / 2 : torn(*n, off);
    return 0;
}

static ssize_t end_part(int e, ssize_t done)
{
    if (e == KILL)
        (void)raise(SIGKILL);
    return done;
}

#define WRAP_PART(ways, name, at, parameters, arguments)                              \
    ssize_t __real_##name parameters;                                                 \
    ssize_t __wrap_##name parameters;                                                 \
    ssize_t __wrap_##name parameters                                                  \
    {                                                                                 \
        int e = strike(#name, ways);                                                  \
        return part(e, ways, &n, at) < 0 ? -1 : end_part(e, __real_##name arguments); \
    }

WRAP_PART(writing, write, 0, (int fd, const void *data, size_t n), (fd, data, n))
WRAP_PART(writing, pwrite, (uint64_t)off, (int fd, const void *data, size_t n, off_t off),
          (fd, data, n, off))
WRAP_PART(reading, read, 0, (int fd, void *to, size_t n), (fd, to, n))
WRAP_PART(reading, pread, (uint64_t)off, (int fd, void *to, size_t n, off_t off), (fd, to, n, off))

ssize_t __real_pwrite(int fd, const void *data, size_t n, off_t off);
ssize_t __real_pwritev(int fd, const struct iovec *pieces, int n, off_t off);
ssize_t __wrap_pwritev(int fd, const struct iovec *pieces, int n, off_t off);
ssize_t __wrap_pwritev(int fd, const struct iovec *pieces, int n, off_t off)
{
    int e = strike("pwritev", writing);
    if (e == 0)
        return __real_pwritev(fd, pieces, n, off);
    size_t n_bytes = n > 0 ? pieces[0].iov_len : 0; /* part of the first piece */
    return part(e, writing, &n_bytes, (uint64_t)off) < 0
               ? -1
               : end_part(e, __real_pwrite(fd, pieces[0].iov_base, n_bytes, off));
}
