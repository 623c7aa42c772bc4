/* SPDX-License-Identifier: MIT
 *
 * control.c - the control page of a live stream in tmpfs: made, found, published to, slept on. It carries
 * nothing that the segments do not hold; without it readers only notice later.
 */
#include "store/control.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "store/json.h"
#include "store/list.h"
#include "store/lock.h"

#define DESERTED_S        60    /* a page without a writer is left alone for so long */
#define CONTROL_MODE_BITS 0444u /* only reading is anybody's */

/* Which lock, of which boot: a page that names another one is not ours, and is ignored. */
struct identity {
    uint8_t boot_id[16], stream_uuid[16];
    uint64_t lock_dev, lock_ino;
};

static void identity_of(const struct stat *lock, const uint8_t stream_uuid[16],
                        struct identity *ret)
{
    clock_boot_id(ret->boot_id);
    memcpy(ret->stream_uuid, stream_uuid, 16);
    ret->lock_dev = lock->st_dev;
    ret->lock_ino = lock->st_ino;
}

static bool page_is_of(const struct control_page *p, const struct identity *id)
{
    return p->magic == CONTROL_MAGIC && memcmp(p->boot_id, id->boot_id, 16) == 0 &&
           memcmp(p->stream_uuid, id->stream_uuid, 16) == 0 && p->lock_dev == id->lock_dev &&
           p->lock_ino == id->lock_ino;
}

static void wake_all(struct control_page *p)
{
    /* Waiters are other processes with a mapping of their own: not a private futex. No waiter: 0.3 us. */
    (void)syscall(SYS_futex, &p->seq, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- making -------------------------------------------------------------------------------------- */

/* Others pass through the directory (0711) but list nothing in it and put nothing into it. */
static int folder_open(const char *path, int *ret_fd, struct swt_diag *reterr)
{
    bool made = mkdir(path, 0711) == 0;
    if (!made && errno != EEXIST)
        return err_errno(reterr, errno, path, "cannot make the folder of control files");
    AUTO(io_close) int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || (made && fchmod(fd, 0711) != 0) || fstat(fd, &st) != 0)
        return err_errno(reterr, errno, path, "cannot open the folder of control files");
    if (st.st_uid != geteuid() || (st.st_mode & 022) != 0)
        return err_at(reterr, -EPERM, path, -1,
                      "the folder of control files must be yours, and writable by nobody else");
    *ret_fd = fd;
    fd = -1;
    return 0;
}

static int page_map(int fd, int protection, struct control_page **ret_page)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || st.st_size < CONTROL_BYTES)
        return -EINVAL;
    void *at = mmap(NULL, CONTROL_BYTES, protection, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return -errno;
    *ret_page = at;
    return 0;
}

static void page_unmap(struct control_page **page)
{
    if (*page != NULL)
        (void)munmap(*page, CONTROL_BYTES); /* cannot fail on what mmap gave */
    *page = NULL;
}

/* Readers of a page that will not rise again must learn it: they look for the new one. */
static void page_end(struct control_page *p)
{
    atomic_store_explicit(&p->state, CONTROL_ENDED, memory_order_release);
    atomic_fetch_add_explicit(&p->seq, 1, memory_order_release);
    wake_all(p);
}

/* What a killed writer left; the stream's lock is ours, so nobody publishes there. */
static void retire_old(int folder_fd, const char *name)
{
    AUTO(io_close) int fd = openat(folder_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    AUTO(page_unmap) struct control_page *page = NULL;
    if (fd >= 0 && page_map(fd, PROT_READ | PROT_WRITE, &page) == 0)
        page_end(page);
    (void)unlinkat(folder_fd, name, 0); /* not there, or replaced by the rename that follows */
}

/* Does nobody write this page any more? Its writer's mapping holds the lock that page_make took. A young one
 * may be about to be locked. */
static bool is_deserted(int folder_fd, const char *name)
{
    AUTO(io_close) int fd = openat(folder_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           clock_wall_ns() / 1000000000 - st.st_ctim.tv_sec > DESERTED_S && lock_try(fd) == 0;
}

static bool is_page_name(const char *name)
{
    char uuid[37];
    uint8_t bytes[16];
    (void)snprintf(uuid, sizeof uuid, "%s", name);
    return io_uuid_parse(uuid, bytes) == 0 && strstr(name, ".ctl") != NULL;
}

/* Killed writers leave their pages; those of recordings that are written again are replaced, the others
 * would stay in memory until the machine stops. */
static void sweep(int folder_fd)
{
    AUTO(list_done) struct list list = {0};
    if (list_read(folder_fd, &list) < 0)
        return;
    for (size_t i = 0; i < list.n; i++) {
        if (is_page_name(list.names[i]) && is_deserted(folder_fd, list.names[i]))
            retire_old(folder_fd, list.names[i]);
    }
}

/* The recording's mode and group, so that who may read the data may read the counter. */
static int give_rights(int fd, int stream_dir_fd, mode_t mode)
{
    struct stat st;
    mode_t bits = (mode & CONTROL_MODE_BITS) | 0600;
    if (fstat(stream_dir_fd, &st) != 0 || fchown(fd, (uid_t)-1, st.st_gid) != 0)
        bits &= ~(mode_t)040; /* our own group is not who was meant */
    return fchmod(fd, bits) != 0 ? -errno : 0;
}

static void page_fill(struct control_page *p, const struct identity *id)
{
    memcpy(p->boot_id, id->boot_id, sizeof p->boot_id);
    memcpy(p->stream_uuid, id->stream_uuid, sizeof p->stream_uuid);
    p->lock_dev = id->lock_dev;
    p->lock_ino = id->lock_ino;
    p->pid = getpid();
    p->pid_start = lock_pid_start(p->pid);
    p->magic = CONTROL_MAGIC;
    atomic_store_explicit(&p->heartbeat_ns, clock_boot_ns(), memory_order_relaxed);
}

/* Made under a name of its own and renamed: nobody ever opens half a page. */
static int page_make(int folder_fd, const char *name, int stream_dir_fd, const struct identity *id,
                     mode_t mode, struct control_page **ret_page)
{
    char temp[NAME_MAX + 1];
    (void)snprintf(temp, sizeof temp, "%s.%ld", name,
                   (long)getpid()); /* fits: uuid and three numbers */
    (void)unlinkat(folder_fd, temp, 0);
    AUTO(io_close)
    int fd = openat(folder_fd, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    AUTO(page_unmap) struct control_page *page = NULL;
    /* An OFD lock lives as long as the mapping, so it tells whether there still is a writer. */
    int r = lock_try(fd);
    if (r == 0)
        r = -posix_fallocate(fd, 0, CONTROL_BYTES); /* a full tmpfs says so here, not by SIGBUS */
    if (r == 0)
        r = page_map(fd, PROT_READ | PROT_WRITE, &page);
    if (r == 0)
        r = give_rights(fd, stream_dir_fd, mode);
    if (r == 0) {
        page_fill(page, id);
        r = renameat(folder_fd, temp, folder_fd, name) != 0 ? -errno : 0;
    }
    if (r < 0) {
        (void)unlinkat(folder_fd, temp, 0); /* the first failure is what counts */
        return r;
    }
    *ret_page = page;
    page = NULL;
    return 0;
}

static int live_write(int stream_dir_fd, const char *path, const struct identity *id)
{
    AUTO(json_free) cJSON *o = cJSON_CreateObject();
    if (o == NULL || !json_put_text(o, "path", path) || !json_put_uuid(o, "boot_id", id->boot_id) ||
        !json_put_i64(o, "lock_dev", (int64_t)id->lock_dev) ||
        !json_put_i64(o, "lock_ino", (int64_t)id->lock_ino))
        return -ENOMEM;
    return json_write(stream_dir_fd, "live", o, 0666);
}

static void free_text(char **text)
{
    free(*text);
    *text = NULL;
}

static int default_folder(char *ret_path, size_t cap)
{
    int n = snprintf(ret_path, cap, "/dev/shm/swt-%ld", (long)geteuid());
    return n < 0 || (size_t)n >= cap ? -ENAMETOOLONG : 0;
}

/* Absolute, because readers stand elsewhere. */
static int folder_path(const char *dir, char **ret_path)
{
    char path[PATH_MAX];
    if (dir == NULL) {
        int r = default_folder(path, sizeof path);
        *ret_path = r < 0 ? NULL : strdup(path);
        return r < 0 ? r : *ret_path == NULL ? -ENOMEM : 0;
    }
    *ret_path = realpath(dir, NULL);
    if (*ret_path == NULL && errno == ENOENT && mkdir(dir, 0711) == 0)
        *ret_path = realpath(dir, NULL);
    return *ret_path == NULL ? -errno : 0;
}

static void page_name(const struct identity *id, char ret_name[128])
{
    char uuid[37];
    io_uuid_text(id->stream_uuid, uuid);
    (void)snprintf(ret_name, 128, "%s-%" PRIu64 "-%" PRIu64 ".ctl", uuid, id->lock_dev,
                   id->lock_ino);
}

int control_create(int stream_dir_fd, int lock_fd, const uint8_t stream_uuid[16], const char *dir,
                   mode_t mode, struct control *ret_control, struct swt_diag *reterr)
{
    struct stat lock;
    if (fstat(lock_fd, &lock) != 0)
        return err_errno(reterr, errno, "lock", "cannot look at the stream's lock");
    AUTO(free_text) char *folder = NULL;
    int r = folder_path(dir, &folder);
    if (r < 0)
        return err_errno(reterr, -r, dir, "cannot make the folder of control files");
    AUTO(io_close) int folder_fd = -1;
    r = folder_open(folder, &folder_fd, reterr);
    if (r < 0)
        return r;
    struct identity id;
    char name[128];
    identity_of(&lock, stream_uuid, &id);
    page_name(&id, name);
    AUTO(free_text) char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0) {
        path = NULL; /* asprintf(3): undefined on failure */
        return err_errno(reterr, ENOMEM, folder, "cannot make the control file");
    }
    AUTO(page_unmap) struct control_page *page = NULL;
    retire_old(folder_fd, name);
    sweep(folder_fd);
    r = page_make(folder_fd, name, stream_dir_fd, &id, mode, &page);
    if (r == 0)
        r = live_write(stream_dir_fd, path, &id);
    if (r < 0)
        return err_errno(reterr, -r, path, "cannot make the control file");
    *ret_control = (struct control){.page = page, .path = path};
    page = NULL;
    path = NULL;
    return 0;
}

/* ---- writer -------------------------------------------------------------------------------------- */

void control_begin(struct control *c, uint64_t committed, uint64_t visible, uint64_t durable)
{
    if (c->page == NULL)
        return;
    atomic_store_explicit(&c->page->durable, durable, memory_order_relaxed);
    control_publish(c, committed, visible);
    atomic_store_explicit(&c->page->state, CONTROL_LIVE, memory_order_release);
}

void control_publish(struct control *c, uint64_t committed, uint64_t visible)
{
    struct control_page *p = c->page;
    if (p == NULL)
        return;
    /* Proof of the order. The caller has pwritten payload, then entries; both are in the page cache, which
     * every mapping and every pread of this machine shares. A reader loads `visible` (acquire), then
     * `committed` (acquire). It sees our store of `visible` only after the release store that precedes it in
     * program order, so the entries of every visible frame are below the `committed` it loads; and it sees
     * either store only after the pwrites, because release orders them before it. `seq` rises after both: a
     * reader that reads seq, then finds nothing new, sleeps only while seq is unchanged, so that the rise
     * that belongs to a publication it did not see wakes it or keeps it from sleeping. */
    atomic_store_explicit(&p->committed, committed, memory_order_release);
    atomic_store_explicit(&p->visible, visible, memory_order_release);
    atomic_fetch_add_explicit(&p->seq, 1, memory_order_release);
    wake_all(p);
}

static void folder_and_name(const char *path, char *ret_folder, const char **ret_name)
{
    const char *slash = strrchr(path, '/'); /* control_create made it: absolute */
    memcpy(ret_folder, path, (size_t)(slash - path));
    ret_folder[slash - path] = '\0';
    *ret_name = slash + 1;
}

static void page_copy(struct control_page *to, const struct control_page *from)
{
    atomic_store(&to->committed, atomic_load(&from->committed));
    atomic_store(&to->visible, atomic_load(&from->visible));
    atomic_store(&to->durable, atomic_load(&from->durable));
    atomic_store(&to->first_retained, atomic_load(&from->first_retained));
    atomic_store(&to->seq, atomic_load(&from->seq));
    atomic_store(&to->state, CONTROL_LIVE);
}

static int make_anew(struct control *c, int stream_dir_fd, const struct identity *id)
{
    char folder[PATH_MAX];
    const char *name;
    if (strlen(c->path) >= sizeof folder)
        return -ENAMETOOLONG;
    folder_and_name(c->path, folder, &name);
    AUTO(io_close) int folder_fd = -1;
    int r = folder_open(folder, &folder_fd, NULL);
    if (r < 0)
        return r;
    struct stat st;
    if (fstat(stream_dir_fd, &st) != 0)
        return -errno;
    struct control_page *page = NULL;
    r = page_make(folder_fd, name, stream_dir_fd, id, st.st_mode, &page);
    if (r < 0)
        return r;
    page_copy(page, c->page);
    page_end(c->page);
    page_unmap(&c->page);
    c->page = page;
    return 0;
}

int control_keep(struct control *c, int stream_dir_fd, int lock_fd)
{
    struct stat lock, st;
    if (c->page == NULL ||
        (access(c->path, F_OK) == 0 && fstatat(stream_dir_fd, "live", &st, 0) == 0))
        return 0;
    if (fstat(lock_fd, &lock) != 0)
        return -errno;
    struct identity id;
    identity_of(&lock, c->page->stream_uuid, &id);
    int r = access(c->path, F_OK) == 0 ? 0 : make_anew(c, stream_dir_fd, &id);
    return r < 0 ? r : live_write(stream_dir_fd, c->path, &id);
}

void control_end(struct control *c, int stream_dir_fd)
{
    if (c->page != NULL) {
        page_end(c->page);
        (void)unlink(
            c->path); /* a page that stays behind is ENDED, and the next session replaces it */
        (void)unlinkat(stream_dir_fd, "live", 0);
    }
    page_unmap(&c->page);
    free_text(&c->path);
}

/* ---- reader -------------------------------------------------------------------------------------- */

/* Does STREAM/live speak of this very lock, in this boot? A copied recording has other inodes. */
static bool live_is_of(const cJSON *o, const struct identity *id)
{
    uint8_t boot_id[16];
    int64_t dev, ino;
    return json_uuid(o, "boot_id", boot_id) && memcmp(boot_id, id->boot_id, 16) == 0 &&
           json_i64(o, "lock_dev", &dev) && (uint64_t)dev == id->lock_dev &&
           json_i64(o, "lock_ino", &ino) && (uint64_t)ino == id->lock_ino;
}

int control_map(int stream_dir_fd, const uint8_t stream_uuid[16], struct control *ret_control)
{
    AUTO(json_free) cJSON *o = NULL;
    struct stat lock;
    if (json_read(stream_dir_fd, "live", &o) < 0 || fstatat(stream_dir_fd, "lock", &lock, 0) != 0)
        return 0;
    struct identity id;
    identity_of(&lock, stream_uuid, &id);
    const char *path = json_text(o, "path");
    if (path == NULL || path[0] != '/' || !live_is_of(o, &id))
        return 0;
    AUTO(io_close) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    AUTO(page_unmap) struct control_page *page = NULL;
    if (fd < 0 || page_map(fd, PROT_READ, &page) < 0 || !page_is_of(page, &id) ||
        atomic_load_explicit(&page->state, memory_order_acquire) != CONTROL_LIVE ||
        !lock_is_held(fd))
        return 0;
    *ret_control = (struct control){.page = page, .fd = fd};
    page = NULL;
    fd = -1;
    return 1;
}

void control_unmap(struct control *c)
{
    if (c->page != NULL)
        io_close(&c->fd);
    page_unmap(&c->page);
}

bool control_has_writer(const struct control *c)
{
    return lock_is_held(c->fd);
}

void control_wait(const struct control *c, uint32_t seen, int64_t timeout_ns)
{
    struct timespec t = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    if (timeout_ns > 0) /* returns early on signals and on any change: the caller looks again */
        (void)syscall(SYS_futex, &c->page->seq, FUTEX_WAIT, seen, &t, NULL, 0);
}
