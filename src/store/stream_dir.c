/* SPDX-License-Identifier: MIT
 *
 * stream_dir.c - a stream's folder: made once under REC/lock, known by meta.json. Its lock is lock.c, its
 * clock anchor.c, its segments segfile.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "store/dir.h"
#include "store/json.h"
#include "store/lock.h"

static const char *const kind_names[] = {
    [SEG_KIND_TENSOR] = "tensor",
    [SEG_KIND_PACKETS] = "packets",
    [SEG_KIND_ARRAY] = "array",
};

static bool kind_parse(const char *text, enum seg_kind *ret_kind)
{
    for (int k = SEG_KIND_TENSOR; text != NULL && k <= SEG_KIND_ARRAY; k++) {
        if (strcmp(text, kind_names[k]) == 0) {
            *ret_kind = (enum seg_kind)k;
            return true;
        }
    }
    return false;
}

static int meta_write(int stream_fd, const struct stream_meta *meta, const char *made_from)
{
    AUTO(json_free) cJSON *o = cJSON_CreateObject();
    if (o == NULL || !json_put_uuid(o, "uuid", meta->uuid) ||
        !json_put_text(o, "name", meta->name) ||
        !json_put_text(o, "kind", kind_names[meta->kind]) ||
        !json_put_text(o, "made_from", made_from == NULL ? "" : made_from))
        return -ENOMEM;
    return json_write(stream_fd, "meta.json", o, 0666);
}

static int meta_read(int stream_fd, const char *name, struct stream_meta *ret_meta)
{
    AUTO(json_free) cJSON *o = NULL;
    int r = json_read(stream_fd, "meta.json", &o);
    if (r < 0)
        return r;
    if (!json_uuid(o, "uuid", ret_meta->uuid) || !kind_parse(json_text(o, "kind"), &ret_meta->kind))
        return SWT_E_CORRUPT;
    (void)snprintf(ret_meta->name, sizeof ret_meta->name, "%s", name); /* valid names fit */
    return 0;
}

static int dir_fail(struct store_dir *dir, const char *name, int code, const char *what,
                    struct swt_diag *reterr)
{
    if (code == SWT_E_CORRUPT || code == -EFBIG)
        (void)err_at(reterr, code = SWT_E_CORRUPT, dir->path, -1,
                     "meta.json of stream %s is damaged", name);
    else
        (void)err_errno(reterr, -code, dir->path, what);
    err_stream(reterr, name);
    return code;
}

static int name_check(struct store_dir *dir, const char *name, struct swt_diag *reterr)
{
    if (store_name_is_valid(name))
        return 0;
    return err_at(
        reterr, SWT_E_USAGE, dir->path, -1,
        "\"%s\" cannot name a stream: a-z 0-9 . _ - only, beginning with a letter or digit, "
        "63 characters at most",
        name);
}

static int subdir_open(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? -errno : fd;
}

int dir_stream_open(struct store_dir *dir, const char *name, int *ret_stream_fd, int *ret_seg_fd,
                    struct stream_meta *ret_meta, struct swt_diag *reterr)
{
    AUTO(io_close) int stream_fd = store_name_is_valid(name) ? subdir_open(dir->fd, name) : -ENOENT;
    int r = stream_fd < 0 ? stream_fd : meta_read(stream_fd, name, ret_meta);
    if (r == -ENOENT || r == -ENOTDIR) {
        (void)err_at(reterr, SWT_E_NO_STREAM, dir->path, -1, "there is no stream \"%s\"", name);
        return SWT_E_NO_STREAM;
    }
    if (r < 0)
        return dir_fail(dir, name, r, "cannot open the stream", reterr);
    AUTO(io_close) int seg_fd = subdir_open(stream_fd, "seg");
    if (seg_fd < 0)
        return dir_fail(dir, name, seg_fd, "cannot open the stream's segments", reterr);
    *ret_stream_fd = stream_fd;
    *ret_seg_fd = seg_fd;
    stream_fd = seg_fd = -1;
    return 0;
}

static int fsync_fd(int fd)
{
    return fsync(fd) < 0 ? -errno : 0;
}

/* meta.json last: until it is there, the stream is not. What a killed recorder left is taken over. */
static int stream_make(struct store_dir *dir, const char *name, enum seg_kind kind,
                       const char *made_from)
{
    struct stream_meta meta = {.kind = kind};
    (void)snprintf(meta.name, sizeof meta.name, "%s", name); /* valid names fit */
    int r = io_mkdir(dir->fd, name, 0777);
    if (r < 0)
        return r;
    AUTO(io_close) int stream_fd = subdir_open(dir->fd, name);
    if (stream_fd < 0)
        return stream_fd;
    r = io_mkdir(stream_fd, "seg", 0777);
    if (r == 0) /* before meta.json, which says that all is there */
        r = fsync_fd(stream_fd);
    if (r == 0)
        r = io_uuid(meta.uuid);
    if (r == 0)
        r = meta_write(stream_fd, &meta, made_from);
    return r < 0 ? r : fsync_fd(dir->fd);
}

static bool stream_is_there(struct store_dir *dir, const char *name)
{
    AUTO(io_close) int stream_fd = subdir_open(dir->fd, name);
    struct stat st;
    return stream_fd >= 0 && fstatat(stream_fd, "meta.json", &st, 0) == 0;
}

static int stream_make_locked(struct store_dir *dir, const char *name, enum seg_kind kind,
                              const char *made_from)
{
    AUTO(io_close)
    int lock = openat(dir->fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (lock < 0)
        return -errno;
    int r = lock_wait(lock);
    if (r < 0 || stream_is_there(dir, name))
        return r;
    return stream_make(dir, name, kind, made_from);
}

/* Whoever made these names may have been killed before he synced them, and frames are only as durable as the
 * names above them. */
static int sync_names(struct store_dir *dir, int stream_fd)
{
    AUTO(io_close) int parent = openat(dir->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = fsync_fd(stream_fd);
    if (r == 0)
        r = fsync_fd(dir->fd);
    return r == 0 && parent >= 0 ? fsync_fd(parent) : r;
}

int dir_stream_create(struct store_dir *dir, const char *name, enum seg_kind kind,
                      const char *made_from, int *ret_stream_fd, int *ret_seg_fd,
                      struct stream_meta *ret_meta, struct swt_diag *reterr)
{
    int r = name_check(dir, name, reterr);
    if (r < 0)
        return r;
    if (!stream_is_there(dir, name)) {
        r = stream_make_locked(dir, name, kind, made_from);
        if (r < 0)
            return dir_fail(dir, name, r, "cannot make the stream", reterr);
    }
    AUTO(io_close) int stream_fd = -1;
    AUTO(io_close) int seg_fd = -1;
    r = dir_stream_open(dir, name, &stream_fd, &seg_fd, ret_meta, reterr);
    if (r < 0)
        return r;
    if (ret_meta->kind != kind) {
        (void)err_at(reterr, SWT_E_UNSUPPORTED, dir->path, -1,
                     "stream %s is there already as %s, not %s: use --name for another one", name,
                     kind_names[ret_meta->kind], kind_names[kind]);
        err_stream(reterr, name);
        return SWT_E_UNSUPPORTED;
    }
    r = sync_names(dir, stream_fd);
    if (r < 0)
        return dir_fail(dir, name, r, "cannot sync the stream", reterr);
    *ret_stream_fd = stream_fd;
    *ret_seg_fd = seg_fd;
    stream_fd = seg_fd = -1;
    return 0;
}
