/* SPDX-License-Identifier: MIT
 *
 * dir.c - a recording as a directory: swt.json, who it is and where its time begins; made once, opened,
 * taken back when nothing came of it. What lies in a stream's folder is stream_dir.c.
 */
#include "store/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "store/json.h"
#include "store/list.h"
#include "store/lock.h"

#define IDENTITY      "swt.json"
#define STORE_VERSION 1

/* ---- swt.json ------------------------------------------------------------------------------------ */

static bool identity_put(cJSON *o, const struct store_dir_info *info)
{
    return json_put_text(o, "magic", "swt") &&
           cJSON_AddNumberToObject(o, "version", STORE_VERSION) &&
           json_put_uuid(o, "uuid", info->uuid) &&
           json_put_i64(o, "created_wall_ns", info->created_wall_ns) &&
           json_put_uuid(o, "zero_boot_id", info->zero_boot_id) &&
           json_put_i64(o, "zero_boot_ns", info->zero_boot_ns) &&
           json_put_i64(o, "zero_wall_ns", info->zero_wall_ns);
}

static bool identity_get(const cJSON *o, struct store_dir_info *ret_info)
{
    return json_uuid(o, "uuid", ret_info->uuid) &&
           json_i64(o, "created_wall_ns", &ret_info->created_wall_ns) &&
           json_uuid(o, "zero_boot_id", ret_info->zero_boot_id) &&
           json_i64(o, "zero_boot_ns", &ret_info->zero_boot_ns) &&
           json_i64(o, "zero_wall_ns", &ret_info->zero_wall_ns);
}

static int identity_read(int fd, const char *path, struct store_dir_info *ret_info,
                         struct swt_diag *reterr)
{
    AUTO(json_free) cJSON *o = NULL;
    int r = json_read(fd, IDENTITY, &o);
    if (r == -ENOENT)
        return err_at(reterr, SWT_E_NOT_RECORDING, path, -1,
                      "this folder is not a recording: it has no " IDENTITY);
    if (r == SWT_E_CORRUPT || r == -EFBIG)
        return err_at(reterr, SWT_E_NOT_RECORDING, path, -1,
                      "its " IDENTITY " cannot be read: damaged");
    if (r < 0)
        return err_errno(reterr, -r, path, "cannot read " IDENTITY);
    const char *magic = json_text(o, "magic");
    if (magic == NULL || strcmp(magic, "swt") != 0)
        return err_at(reterr, SWT_E_NOT_RECORDING, path, -1, "its " IDENTITY " is not one of swt");
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(o, "version");
    if (cJSON_IsNumber(version) && version->valuedouble > STORE_VERSION)
        return err_at(reterr, SWT_E_NEWER, path, -1,
                      "the recording has format version %.0f, this swt reads up to %d: update swt",
                      version->valuedouble, STORE_VERSION);
    if (!cJSON_IsNumber(version) || !identity_get(o, ret_info))
        return err_at(reterr, SWT_E_CORRUPT, path, -1, IDENTITY " is damaged");
    return 0;
}

static int identity_new(int64_t zero_boot_ns, struct store_dir_info *ret_info)
{
    int64_t boot_ns = clock_boot_ns(), wall_ns = clock_wall_ns();
    ret_info->created_wall_ns = wall_ns;
    ret_info->zero_boot_ns = zero_boot_ns;
    ret_info->zero_wall_ns = wall_ns - (boot_ns - zero_boot_ns);
    clock_boot_id(ret_info->zero_boot_id);
    return io_uuid(ret_info->uuid);
}

static int identity_write(int fd, const struct store_dir_info *info)
{
    AUTO(json_free) cJSON *o = cJSON_CreateObject();
    if (o == NULL || !identity_put(o, info))
        return -ENOMEM;
    return json_write(fd, IDENTITY, o, 0666);
}

/* ---- open and create ----------------------------------------------------------------------------- */

static int folder_open(const char *path, int *ret_fd, struct swt_diag *reterr)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOTDIR)
        return err_at(reterr, SWT_E_NOT_RECORDING, path, -1, "this is a file, not a recording");
    if (fd < 0)
        return err_errno(reterr, errno, path, "cannot open the recording");
    *ret_fd = fd;
    return 0;
}

int store_dir_open(const char *path, struct store_dir **ret_dir, struct swt_diag *reterr)
{
    AUTO(store_dir_close) struct store_dir *dir = calloc(1, sizeof *dir);
    if (dir == NULL)
        return err_errno(reterr, ENOMEM, path, "cannot open the recording");
    dir->fd = -1;
    dir->path = strdup(path);
    if (dir->path == NULL)
        return err_errno(reterr, ENOMEM, path, "cannot open the recording");
    int r = folder_open(path, &dir->fd, reterr);
    if (r < 0)
        return r;
    r = identity_read(dir->fd, path, &dir->info, reterr);
    if (r < 0)
        return r;
    *ret_dir = dir;
    dir = NULL;
    return 0;
}

void store_dir_close(struct store_dir **dir)
{
    if (*dir == NULL)
        return;
    io_close(&(*dir)->fd);
    free((*dir)->path);
    free(*dir);
    *dir = NULL;
}

const struct store_dir_info *store_dir_info(const struct store_dir *dir)
{
    return &dir->info;
}

const char *store_dir_path(const struct store_dir *dir)
{
    return dir->path;
}

static bool is_ours(const char *name)
{
    return strcmp(name, "lock") == 0 || strncmp(name, "." IDENTITY ".", sizeof "." IDENTITY) == 0;
}

/* May a recording be made in this folder? Only where nothing else is: ours is what a recorder leaves that
 * was killed while it made one, or is making one right now. */
static int folder_is_free(int fd)
{
    AUTO(list_done) struct list list = {0};
    int r = list_read(fd, &list);
    if (r < 0)
        return r;
    for (size_t i = 0; i < list.n; i++) {
        if (!is_ours(list.names[i]))
            return -ENOTEMPTY;
    }
    return 0;
}

static bool has_identity(int fd)
{
    struct stat st;
    return fstatat(fd, IDENTITY, &st, 0) == 0;
}

static int sync_parent(int fd)
{
    AUTO(io_close) int parent = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* A parent that we may not read cannot be synced; the recording itself is. */
    return parent >= 0 && fsync(parent) != 0 ? -errno : 0;
}

/* Under REC/lock: 1 made now, 0 another recorder was first, -errno. */
static int make_identity(int fd, int64_t zero_boot_ns)
{
    AUTO(io_close) int lock = openat(fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (lock < 0)
        return -errno;
    int r = lock_wait(lock);
    if (r < 0 || has_identity(fd))
        return r;
    struct store_dir_info info;
    r = identity_new(zero_boot_ns, &info);
    if (r == 0)
        r = identity_write(fd, &info);
    if (r == 0)
        r = sync_parent(fd);
    return r < 0 ? r : 1;
}

/* 1: made by this call, 0: there already. */
static int make_if_free(const char *path, int64_t zero_boot_ns, struct swt_diag *reterr)
{
    AUTO(io_close) int fd = -1;
    int r = folder_open(path, &fd, reterr);
    if (r < 0)
        return r;
    r = has_identity(fd) ? 0 : folder_is_free(fd);
    if (r == 0 && !has_identity(fd))
        r = make_identity(fd, zero_boot_ns);
    if (r == -ENOTEMPTY && !has_identity(fd))
        return err_at(reterr, SWT_E_NOT_RECORDING, path, -1,
                      "the folder holds other things: record into a new or an empty one");
    if (r < 0 && r != -ENOTEMPTY)
        return err_errno(reterr, -r, path, "cannot make the recording");
    return r > 0;
}

int store_dir_create(const char *path, int64_t zero_boot_ns, struct store_dir **ret_dir,
                     struct swt_diag *reterr)
{
    bool made_folder = mkdir(path, 0777) == 0;
    if (!made_folder && errno != EEXIST)
        return err_errno(reterr, errno, path, "cannot make the recording");
    int r = make_if_free(path, zero_boot_ns, reterr);
    if (r < 0)
        return r;
    bool made = r > 0;
    r = store_dir_open(path, ret_dir, reterr);
    if (r < 0)
        return r;
    (*ret_dir)->made = made;
    (*ret_dir)->made_folder = made && made_folder;
    return 0;
}

/* ---- discard ------------------------------------------------------------------------------------- */

/* Remove a stream that has no segment and no writer. False: it has one. */
static bool stream_discard(int dir_fd, const char *name)
{
    AUTO(io_close) int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    AUTO(io_close) int lock = openat(fd, "lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if ((lock < 0 && errno != ENOENT) || (lock >= 0 && lock_try(lock) < 0))
        return false;
    if (unlinkat(fd, "seg", AT_REMOVEDIR) != 0 && errno != ENOENT)
        return false; /* it has a segment: kept, whole */
    static const char *const ours[] = {"meta.json", "clock", "live", "lock"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        (void)unlinkat(fd, ours[i], 0); /* a file that stays makes the next line fail */
    return unlinkat(dir_fd, name, AT_REMOVEDIR) == 0;
}

void store_dir_discard(struct store_dir *dir)
{
    if (!dir->made)
        return;
    AUTO(io_close) int lock = openat(dir->fd, "lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    AUTO(list_done) struct list list = {0};
    if (lock < 0 || lock_wait(lock) < 0 || list_read(dir->fd, &list) < 0)
        return;
    bool is_empty = true;
    for (size_t i = 0; i < list.n; i++) {
        if (strcmp(list.names[i], IDENTITY) != 0 && !is_ours(list.names[i]))
            is_empty &= stream_discard(dir->fd, list.names[i]);
    }
    if (!is_empty)
        return;
    (void)unlinkat(dir->fd, IDENTITY,
                   0); /* whatever stays behind is an empty folder, which may be reused */
    (void)unlinkat(dir->fd, "lock", 0);
    if (dir->made_folder)
        (void)rmdir(dir->path);
    dir->made = false;
}

/* ---- streams ------------------------------------------------------------------------------------- */

bool store_name_is_valid(const char *name)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t n = strlen(name);
    return n > 0 && n < SWT_NAME_CAP && strchr(first, name[0]) != NULL && strspn(name, rest) == n;
}

static bool is_stream(int dir_fd, const char *name)
{
    AUTO(io_close) int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    return fd >= 0 && fstatat(fd, "meta.json", &st, 0) == 0;
}

int store_dir_streams(struct store_dir *dir, char (**ret_names)[SWT_NAME_CAP], size_t *ret_n,
                      struct swt_diag *reterr)
{
    AUTO(list_done) struct list list = {0};
    int r = list_read(dir->fd, &list);
    if (r < 0)
        return err_errno(reterr, -r, dir->path, "cannot list the recording");
    char(*names)[SWT_NAME_CAP] = calloc(list.n + 1, sizeof *names);
    if (names == NULL)
        return err_errno(reterr, ENOMEM, dir->path, "cannot list the recording");
    size_t n = 0;
    for (size_t i = 0; i < list.n; i++) {
        if (store_name_is_valid(list.names[i]) && is_stream(dir->fd, list.names[i]))
            memcpy(names[n++], list.names[i], strlen(list.names[i]) + 1);
    }
    *ret_names = names;
    *ret_n = n;
    return 0;
}
