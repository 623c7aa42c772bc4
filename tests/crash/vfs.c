/* SPDX-License-Identifier: MIT
 *
 * vfs.c - the libc calls of the store, answered from a tree in memory and written into its trace. Only what
 * the store uses is there; anything else stops the program, so that nothing is tested by accident.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"
#include "store/control.h"

#define FD_FIRST     10000 /* real descriptors lie below */
#define FDS          2048
#define DEVICE       77
#define INO_OF(node) ((ino_t)(node) + 10)
#define BOOT_ID      "/proc/sys/kernel/random/boot_id"
#define SHARED       64 /* control pages of one run */

struct sim sim;

/* An open file description. */
struct open_file {
    int refs, node, flags;
    uint64_t pos;
    short lock; /* F_UNLCK, F_RDLCK, F_WRLCK */
};

static struct open_file files[FDS];
static int fds[FDS]; /* index in `files` + 1; 0 free */

struct listing {
    int fd;
    size_t n, at;
    struct dirent *entries;
};

__attribute__((noreturn, format(printf, 1, 2))) static void stop(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)fprintf(stderr, "vfs: ");
    (void)vfprintf(stderr, fmt, args);
    (void)fputc('\n', stderr);
    va_end(args);
    abort();
}

static int fail(int error)
{
    errno = error;
    return -1;
}

/* ---- descriptors --------------------------------------------------------------------------------- */

static bool is_ours(int fd)
{
    return fd >= FD_FIRST;
}

static struct open_file *file_at(int fd)
{
    int i = fd - FD_FIRST;
    if (i < 0 || i >= FDS || fds[i] == 0)
        stop("descriptor %d is not open", fd);
    return &files[fds[i] - 1];
}

static struct node *node_at(int fd)
{
    return &sim.view.nodes[file_at(fd)->node];
}

static int fd_for(int file)
{
    for (int i = 0; i < FDS; i++) {
        if (fds[i] == 0) {
            fds[i] = file + 1;
            files[file].refs++;
            return FD_FIRST + i;
        }
    }
    return fail(EMFILE);
}

static int fd_open(int node, int flags)
{
    for (int f = 0; f < FDS; f++) {
        if (files[f].refs == 0) {
            files[f] = (struct open_file){.node = node, .flags = flags, .lock = F_UNLCK};
            return fd_for(f);
        }
    }
    return fail(EMFILE);
}

int sim_open_files(void)
{
    int n = 0;
    for (int i = 0; i < FDS; i++)
        n += fds[i] != 0;
    return n;
}

/* ---- trace --------------------------------------------------------------------------------------- */

/* What was promised once stays promised; a page that is being made holds zeros. */
static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void look_at_promises(void)
{
    if (sim.page == NULL || sim.is_frozen)
        return;
    sim.facts.durable = later(sim.facts.durable, atomic_load(&sim.page->durable));
    sim.facts.visible = later(sim.facts.visible, atomic_load(&sim.page->visible));
    sim.facts.committed = later(sim.facts.committed, atomic_load(&sim.page->committed));
}

/* Write an operation down and do it. Its place in the trace, SIZE_MAX while that stands still. */
static size_t happen(enum op_kind kind, int node, int other, uint64_t off, const void *bytes,
                     size_t n)
{
    struct trace once = {0};
    struct trace *t = sim.is_frozen ? &once : &sim.trace;
    look_at_promises();
    struct op *op = trace_add(t, kind, node, bytes, n);
    op->other = other;
    op->off = off;
    op->facts = sim.facts;
    disk_apply(&sim.view, t, op);
    size_t at = sim.is_frozen ? SIZE_MAX : t->n - 1;
    trace_done(&once);
    return at;
}

void sim_mark(void)
{
    (void)happen(OP_MARK, ROOT, 0, 0, NULL, 0);
}

static void touch_dir(int node)
{
    sim.view.nodes[node].change_ns = sim.now_ns;
}

static int make_node(int dir, const char *name, unsigned kind)
{
    if (strlen(name) >= NAME_BYTES)
        return fail(ENAMETOOLONG);
    int node = (int)sim.view.n;
    (void)happen(OP_CREATE, dir, node, kind, name, strlen(name) + 1);
    sim.view.nodes[node].change_ns = sim.now_ns;
    touch_dir(dir);
    return node;
}

/* ---- machine ------------------------------------------------------------------------------------- */

static void new_boot(void)
{
    for (int i = 0; i < 16; i++)
        sim.boot_id[i] = (uint8_t)rnd_u64(&sim.rnd);
    sim.page = NULL;
    sim.now_ns += INT64_C(30000000000);
}

static void forget_files(void)
{
    memset(files, 0, sizeof files);
    memset(fds, 0, sizeof fds);
}

static void free_shared(struct disk *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->nodes[i].shared);
        d->nodes[i].shared = NULL;
    }
}

void sim_begin(uint64_t seed)
{
    sim = (struct sim){.rnd = {seed}, .now_ns = INT64_C(1000000000000)};
    disk_begin(&sim.base);
    disk_copy(&sim.view, &sim.base);
    forget_files();
    new_boot();
}

void sim_end(void)
{
    free_shared(&sim.view);
    disk_done(&sim.view);
    disk_done(&sim.base);
    trace_done(&sim.trace);
}

void sim_boot(struct disk *image)
{
    sim_end();
    sim.base = *image;
    *image = (struct disk){0};
    disk_copy(&sim.view, &sim.base);
    sim.is_frozen = false;
    forget_files();
    new_boot();
}

void sim_kill(size_t at)
{
    trace_cut(&sim.trace, at);
    free_shared(&sim.view);
    disk_done(&sim.view);
    disk_copy(&sim.view, &sim.base);
    for (size_t i = 0; i < at; i++)
        disk_apply(&sim.view, &sim.trace, &sim.trace.ops[i]);
    for (size_t i = 0; i < sim.view.n; i++)
        sim.view.nodes[i].change_ns = sim.now_ns;
    sim.is_frozen = false;
    sim.page = NULL;
    forget_files();
}

void sim_sleep(int64_t ns)
{
    sim.now_ns += ns;
}

/* ---- names --------------------------------------------------------------------------------------- */

/* Directory and last component of a path; the component may be ".", "..", or empty for the root. */
static int walk(int dir_fd, const char *path, char ret_name[NAME_BYTES])
{
    int dir = ROOT;
    if (path[0] == '/') {
        if (strncmp(path, SIM_ROOT, strlen(SIM_ROOT)) != 0)
            return fail(ENOENT);
        path += strlen(SIM_ROOT);
    } else {
        dir = file_at(dir_fd)->node;
    }
    while (*path == '/')
        path++;
    for (;;) {
        const char *slash = strchr(path, '/');
        size_t n = slash != NULL ? (size_t)(slash - path) : strlen(path);
        if (n >= NAME_BYTES)
            return fail(ENAMETOOLONG);
        memcpy(ret_name, path, n);
        ret_name[n] = '\0';
        if (slash == NULL)
            return dir;
        dir = disk_find(&sim.view, dir, ret_name);
        if (dir < 0 || sim.view.nodes[dir].kind != NODE_DIR)
            return fail(dir < 0 ? ENOENT : ENOTDIR);
        path = slash + 1;
    }
}

static int lookup(int dir, const char *name)
{
    if (name[0] == '\0' || strcmp(name, ".") == 0)
        return dir;
    if (strcmp(name, "..") == 0)
        return sim.view.nodes[dir].parent;
    int node = disk_find(&sim.view, dir, name);
    return node < 0 ? fail(ENOENT) : node;
}

static bool is_sim_path(const char *path)
{
    return strncmp(path, SIM_ROOT, strlen(SIM_ROOT)) == 0;
}

/* ---- opening ------------------------------------------------------------------------------------- */

/* The boot id is a file that has no node: its text is made when it is read. */
static size_t boot_id_text(char text[64])
{
    size_t n = 0;
    for (int i = 0; i < 16; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        n += (size_t)snprintf(text + n, 64 - n, "%s%02x", dash ? "-" : "", sim.boot_id[i]);
    }
    return n;
}

static int sim_openat(int dir_fd, const char *path, int flags)
{
    char name[NAME_BYTES];
    int dir = walk(dir_fd, path, name);
    if (dir < 0)
        return -1;
    int node = lookup(dir, name);
    if (node < 0 && (flags & O_CREAT) == 0)
        return -1;
    if (node >= 0 && (flags & O_EXCL) != 0)
        return fail(EEXIST);
    if (node < 0)
        node = make_node(dir, name, NODE_FILE);
    if (node < 0)
        return -1;
    bool is_dir = sim.view.nodes[node].kind == NODE_DIR;
    if ((flags & O_DIRECTORY) != 0 && !is_dir)
        return fail(ENOTDIR);
    if (is_dir && (flags & O_ACCMODE) != O_RDONLY)
        return fail(EISDIR);
    if ((flags & O_TRUNC) != 0)
        stop("O_TRUNC is not modelled");
    return fd_open(node, flags);
}

int __wrap_open(const char *path, int flags, ...);
int __wrap_openat(int dir_fd, const char *path, int flags, ...);
int __real_open(const char *path, int flags, ...);
int __wrap_close(int fd);
int __real_close(int fd);

int __wrap_open(const char *path, int flags, ...)
{
    if (is_sim_path(path))
        return sim_openat(-1, path, flags);
    if (strcmp(path, BOOT_ID) == 0)
        return fd_open(-1, O_RDONLY);
    if ((flags & O_ACCMODE) != O_RDONLY)
        stop("open of %s", path);
    return strncmp(path, "/proc/", 6) == 0 ? fail(ENOENT) : __real_open(path, flags);
}

int __wrap_openat(int dir_fd, const char *path, int flags, ...)
{
    return sim_openat(dir_fd, path, flags);
}

int __wrap_close(int fd)
{
    if (!is_ours(fd))
        return __real_close(fd);
    file_at(fd)->refs--;
    fds[fd - FD_FIRST] = 0;
    return 0;
}

/* ---- reading and writing ------------------------------------------------------------------------- */

ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t off);
ssize_t __wrap_read(int fd, void *buf, size_t n);
ssize_t __real_read(int fd, void *buf, size_t n);
ssize_t __wrap_pwrite(int fd, const void *data, size_t n, off_t off);
ssize_t __wrap_pwritev(int fd, const struct iovec *v, int n_v, off_t off);
ssize_t __wrap_write(int fd, const void *data, size_t n);
ssize_t __real_write(int fd, const void *data, size_t n);
off_t __wrap_lseek(int fd, off_t off, int whence);

ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t off)
{
    const struct node *node = node_at(fd);
    uint64_t size = node->data.size, at = (uint64_t)off;
    if (node->kind == NODE_DIR)
        return fail(EISDIR);
    if (at >= size)
        return 0;
    n = n < size - at ? n : (size_t)(size - at);
    content_read(&node->data, at, buf, n);
    return (ssize_t)n;
}

ssize_t __wrap_read(int fd, void *buf, size_t n)
{
    if (!is_ours(fd))
        return __real_read(fd, buf, n);
    struct open_file *f = file_at(fd);
    ssize_t got;
    if (f->node < 0) {
        char text[64];
        size_t left = boot_id_text(text) - (size_t)f->pos;
        n = n < left ? n : left;
        memcpy(buf, text + f->pos, n);
        got = (ssize_t)n;
    } else {
        got = __wrap_pread(fd, buf, n, (off_t)f->pos);
    }
    f->pos += got > 0 ? (uint64_t)got : 0;
    return got;
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t n, off_t off)
{
    if ((file_at(fd)->flags & O_ACCMODE) == O_RDONLY)
        return fail(EBADF);
    (void)happen(OP_WRITE, file_at(fd)->node, 0, (uint64_t)off, data, n);
    return (ssize_t)n;
}

/* One call may reach the disk in pieces: so each is an operation of its own. */
ssize_t __wrap_pwritev(int fd, const struct iovec *v, int n_v, off_t off)
{
    ssize_t sum = 0;
    for (int i = 0; i < n_v; i++) {
        ssize_t n = __wrap_pwrite(fd, v[i].iov_base, v[i].iov_len, off + sum);
        if (n < 0)
            return -1;
        sum += n;
    }
    return sum;
}

ssize_t __wrap_write(int fd, const void *data, size_t n)
{
    if (!is_ours(fd))
        return __real_write(fd, data, n);
    struct open_file *f = file_at(fd);
    ssize_t done = __wrap_pwrite(fd, data, n, (off_t)f->pos);
    f->pos += done > 0 ? (uint64_t)done : 0;
    return done;
}

off_t __wrap_lseek(int fd, off_t off, int whence)
{
    if (whence != SEEK_END || off != 0)
        stop("lseek");
    return (off_t)node_at(fd)->data.size;
}

/* ---- size and sync ------------------------------------------------------------------------------- */

int __wrap_ftruncate(int fd, off_t size);
int __wrap_fallocate(int fd, int mode, off_t off, off_t n);
int __wrap_posix_fallocate(int fd, off_t off, off_t n);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_sync_file_range(int fd, off_t off, off_t n, unsigned flags);

int __wrap_ftruncate(int fd, off_t size)
{
    (void)happen(OP_SIZE, file_at(fd)->node, 0, (uint64_t)size, NULL, 0);
    return 0;
}

int __wrap_fallocate(int fd, int mode, off_t off, off_t n)
{
    if (mode != 0)
        return fail(EOPNOTSUPP);
    if ((uint64_t)(off + n) > node_at(fd)->data.size)
        (void)happen(OP_SIZE, file_at(fd)->node, 0, (uint64_t)(off + n), NULL, 0);
    return 0;
}

int __wrap_posix_fallocate(int fd, off_t off, off_t n)
{
    return __wrap_fallocate(fd, 0, off, n);
}

int __wrap_fsync(int fd)
{
    size_t at = happen(OP_SYNC, file_at(fd)->node, 0, 0, NULL, 0);
    if (sim.during_sync != NULL)
        sim.during_sync(sim.during_sync_arg);
    if (at < sim.trace.n)
        sim.trace.ops[at].end = sim.trace.n;
    sim_mark(); /* a cut right here, before anybody has heard of it */
    return 0;
}

int __wrap_fdatasync(int fd)
{
    return __wrap_fsync(fd);
}

int __wrap_sync_file_range(int fd, off_t off, off_t n, unsigned flags)
{
    (void)fd, (void)off, (void)n, (void)flags;
    return 0;
}

/* ---- what a file is ------------------------------------------------------------------------------ */

int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstatat(int dir_fd, const char *path, struct stat *st, int flags);
int __wrap_faccessat(int dir_fd, const char *path, int mode, int flags);
int __wrap_access(const char *path, int mode);
int __wrap_fchmod(int fd, mode_t mode);
int __wrap_fchown(int fd, uid_t uid, gid_t gid);
ssize_t __wrap_readlink(const char *path, char *buf, size_t n);
char *__wrap_realpath(const char *path, char *buf);

static void stat_node(int node, struct stat *st)
{
    const struct node *n = &sim.view.nodes[node];
    memset(st, 0, sizeof *st);
    st->st_mode = n->kind == NODE_DIR ? S_IFDIR | 0711 : S_IFREG | 0644;
    st->st_ino = INO_OF(node);
    st->st_dev = DEVICE;
    st->st_uid = geteuid();
    st->st_gid = getegid();
    st->st_size = (off_t)n->data.size;
    st->st_nlink = 1;
    st->st_mtim = (struct timespec){n->change_ns / 1000000000, n->change_ns % 1000000000};
}

int __wrap_fstat(int fd, struct stat *st)
{
    stat_node(file_at(fd)->node, st);
    return 0;
}

int __wrap_fstatat(int dir_fd, const char *path, struct stat *st, int flags)
{
    char name[NAME_BYTES];
    (void)flags;
    int dir = walk(dir_fd, path, name), node = dir < 0 ? -1 : lookup(dir, name);
    if (node < 0)
        return -1;
    stat_node(node, st);
    return 0;
}

int __wrap_faccessat(int dir_fd, const char *path, int mode, int flags)
{
    struct stat st;
    (void)mode;
    return __wrap_fstatat(dir_fd, path, &st, flags);
}

int __wrap_access(const char *path, int mode)
{
    return __wrap_faccessat(-1, path, mode, 0);
}

int __wrap_fchmod(int fd, mode_t mode)
{
    (void)fd, (void)mode;
    return 0;
}

int __wrap_fchown(int fd, uid_t uid, gid_t gid)
{
    (void)fd, (void)uid, (void)gid;
    return 0;
}

ssize_t __wrap_readlink(const char *path, char *buf, size_t n)
{
    (void)path, (void)buf, (void)n;
    return fail(ENOENT); /* /proc/self/fd: only for messages */
}

char *__wrap_realpath(const char *path, char *buf)
{
    char name[NAME_BYTES];
    int dir = walk(-1, path, name);
    if (buf != NULL || dir < 0 || lookup(dir, name) < 0)
        return NULL;
    return strdup(path);
}

/* ---- directories --------------------------------------------------------------------------------- */

int __wrap_mkdirat(int dir_fd, const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __wrap_unlinkat(int dir_fd, const char *path, int flags);
int __wrap_unlink(const char *path);
int __wrap_rmdir(const char *path);
DIR *__wrap_fdopendir(int fd);
struct dirent *__wrap_readdir(DIR *dir);
int __wrap_closedir(DIR *dir);

int __wrap_mkdirat(int dir_fd, const char *path, mode_t mode)
{
    char name[NAME_BYTES];
    (void)mode;
    int dir = walk(dir_fd, path, name);
    if (dir < 0)
        return -1;
    if (lookup(dir, name) >= 0)
        return fail(EEXIST);
    bool is_volatile = strcmp(path, SIM_CONTROL) == 0;
    int node = make_node(dir, name, NODE_DIR + (is_volatile ? NEW_VOLATILE : 0));
    return node < 0 ? -1 : 0;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
    return __wrap_mkdirat(-1, path, mode);
}

int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    char names[2][NAME_BYTES], both[2 * NAME_BYTES];
    int dir = walk(from_fd, from, names[0]), to_dir = walk(to_fd, to, names[1]);
    if (dir < 0 || to_dir < 0)
        return -1;
    if (dir != to_dir)
        stop("rename between directories");
    int node = lookup(dir, names[0]);
    if (node < 0)
        return -1;
    size_t n = strlen(names[0]) + 1, m = strlen(names[1]) + 1;
    memcpy(both, names[0], n);
    memcpy(both + n, names[1], m);
    (void)happen(OP_RENAME, dir, node, 0, both, n + m);
    touch_dir(dir);
    return 0;
}

int __wrap_unlinkat(int dir_fd, const char *path, int flags)
{
    char name[NAME_BYTES];
    int dir = walk(dir_fd, path, name), node = dir < 0 ? -1 : lookup(dir, name);
    if (node < 0)
        return -1;
    const struct node *n = &sim.view.nodes[node];
    if ((n->kind == NODE_DIR) != ((flags & AT_REMOVEDIR) != 0))
        return fail(n->kind == NODE_DIR ? EISDIR : ENOTDIR);
    if (n->n_names > 0)
        return fail(ENOTEMPTY);
    (void)happen(OP_UNLINK, dir, node, 0, name, strlen(name) + 1);
    touch_dir(dir);
    return 0;
}

int __wrap_unlink(const char *path)
{
    return __wrap_unlinkat(-1, path, 0);
}

int __wrap_rmdir(const char *path)
{
    return __wrap_unlinkat(-1, path, AT_REMOVEDIR);
}

DIR *__wrap_fdopendir(int fd)
{
    const struct node *node = node_at(fd);
    struct listing *l = calloc(1, sizeof *l);
    if (l == NULL)
        abort();
    l->fd = fd;
    l->entries = calloc(node->n_names + 1, sizeof *l->entries);
    for (size_t i = 0; i < node->n_names; i++) {
        l->entries[i].d_ino = INO_OF(node->names[i].node);
        (void)snprintf(l->entries[i].d_name, sizeof l->entries[i].d_name, "%s",
                       node->names[i].text);
    }
    l->n = node->n_names;
    return (DIR *)l;
}

struct dirent *__wrap_readdir(DIR *dir)
{
    struct listing *l = (struct listing *)dir;
    return l->at < l->n ? &l->entries[l->at++] : NULL;
}

int __wrap_closedir(DIR *dir)
{
    struct listing *l = (struct listing *)dir;
    (void)__wrap_close(l->fd);
    free(l->entries);
    free(l);
    return 0;
}

/* ---- locks --------------------------------------------------------------------------------------- */

int __wrap_fcntl(int fd, int command, ...);
int __real_fcntl(int fd, int command, ...);

static const struct open_file *lock_against(const struct open_file *f, short type)
{
    for (int i = 0; i < FDS; i++) {
        const struct open_file *o = &files[i];
        if (o->refs > 0 && o != f && o->node == f->node && o->lock != F_UNLCK &&
            (type == F_WRLCK || o->lock == F_WRLCK))
            return o;
    }
    return NULL;
}

int __wrap_fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    struct flock *lock = va_arg(args, struct flock *);
    va_end(args);
    struct open_file *f = file_at(fd);
    if (command == F_DUPFD_CLOEXEC)
        return fd_for((int)(f - files));
    const struct open_file *other = lock_against(f, lock->l_type);
    switch (command) {
    case F_OFD_GETLK:
        lock->l_type = other == NULL ? F_UNLCK : other->lock;
        return 0;
    case F_OFD_SETLKW:
        if (other != NULL)
            stop("a lock would be waited for");
        f->lock = lock->l_type;
        return 0;
    case F_OFD_SETLK:
        if (other != NULL)
            return fail(EAGAIN);
        f->lock = lock->l_type;
        return 0;
    default:
        stop("fcntl %d", command);
    }
}

/* ---- mappings ------------------------------------------------------------------------------------ */

void *__wrap_mmap(void *addr, size_t n, int protection, int flags, int fd, off_t off);
void *__real_mmap(void *addr, size_t n, int protection, int flags, int fd, off_t off);
int __wrap_munmap(void *addr, size_t n);
int __real_munmap(void *addr, size_t n);

/* A control page is one piece of memory, whoever maps it. */
static void *map_shared(struct node *node, size_t n, int protection)
{
    bool is_new = node->shared == NULL;
    if (is_new)
        node->shared = aligned_alloc(PAGE_BYTES, PAGE_BYTES);
    if (node->shared == NULL || n != PAGE_BYTES)
        abort();
    if (is_new)
        memset(node->shared, 0, PAGE_BYTES);
    if ((protection & PROT_WRITE) != 0)
        sim.page = node->shared;
    return node->shared;
}

static bool is_shared(const void *addr)
{
    for (size_t i = 0; i < sim.view.n; i++) {
        if (sim.view.nodes[i].shared == addr && addr != NULL)
            return true;
    }
    return false;
}

/* Files do not change while they are read here: a mapping is a copy. Behind the end of the file nothing may be
 * touched, as in the kernel. */
void *__wrap_mmap(void *addr, size_t n, int protection, int flags, int fd, off_t off)
{
    if (!is_ours(fd))
        return __real_mmap(addr, n, protection, flags, fd, off);
    struct node *node = node_at(fd);
    if (addr == NULL)
        return map_shared(node, n, protection);
    if ((flags & MAP_FIXED) == 0 || (protection & PROT_WRITE) != 0 || off % PAGE_BYTES != 0)
        stop("mmap");
    uint64_t size = node->data.size, at = (uint64_t)off;
    size_t there = size > at ? (size_t)((size - at + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES) : 0;
    there = there < n ? there : n;
    const int own = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (there > 0 && __real_mmap(addr, there, PROT_READ | PROT_WRITE, own, -1, 0) == MAP_FAILED)
        return MAP_FAILED;
    for (size_t i = 0; i < there; i += PAGE_BYTES) {
        size_t k = (size_t)((at + i) / PAGE_BYTES);
        if (k < node->data.n && node->data.pages[k] != NULL)
            memcpy((char *)addr + i, node->data.pages[k]->bytes, PAGE_BYTES);
    }
    if (there < n && __real_mmap((char *)addr + there, n - there, PROT_NONE, own | MAP_NORESERVE,
                                 -1, 0) == MAP_FAILED)
        return MAP_FAILED;
    return addr;
}

int __wrap_munmap(void *addr, size_t n)
{
    if (!is_shared(addr))
        return __real_munmap(addr, n);
    if (sim.page == addr) {
        look_at_promises();
        sim.page = NULL;
    }
    return 0;
}

/* ---- clocks, chance, threads --------------------------------------------------------------------- */

int __wrap_clock_gettime(clockid_t id, struct timespec *t);
ssize_t __wrap_getrandom(void *buf, size_t n, unsigned flags);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg);
int __wrap_pthread_join(pthread_t thread, void **ret);

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    int64_t ns = (sim.now_ns += 997) + (id == CLOCK_REALTIME ? INT64_C(1800000000000000000) : 0);
    *t = (struct timespec){ns / 1000000000, ns % 1000000000};
    return 0;
}

ssize_t __wrap_getrandom(void *buf, size_t n, unsigned flags)
{
    uint8_t *to = buf;
    (void)flags;
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)(rnd_u64(&sim.rnd) >> 17);
    return (ssize_t)n;
}

/* The helper thread does not run: what it does is called in its stead, at points that follow from the seed. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg)
{
    (void)attr, (void)run, (void)arg;
    memset(thread, 0, sizeof *thread);
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **ret)
{
    (void)thread, (void)ret;
    return 0;
}
