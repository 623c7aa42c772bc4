/* SPDX-License-Identifier: MIT
 *
 * output.c - a window into an open descriptor or a file: header, frames in bounded pieces, trailer. How the frames
 * come about is the window's business.
 */
#include "exchange/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "base/size.h"
#include "exchange/files.h"

#define PIECE_BYTES (4u << 20) /* written and held at a time */
#define PIPE_BYTES  (1 << 20)  /* asked for; what any user may have */

static const struct {
    const char *name, *suffix;
} formats[SWT_N_FILE_FORMATS] = {
    [SWT_FORMAT_RAW] = {"raw", ".raw"},          [SWT_FORMAT_NPY] = {"npy", ".npy"},
    [SWT_FORMAT_WAV] = {"wav", ".wav"},          [SWT_FORMAT_Y4M] = {"y4m", ".y4m"},
    [SWT_FORMAT_NDJSON] = {"ndjson", ".ndjson"},
};

const char *output_format_name(enum swt_file_format format)
{
    return format > SWT_FORMAT_NONE && format < SWT_N_FILE_FORMATS ? formats[format].name : NULL;
}

enum swt_file_format output_format_find(const char *name)
{
    for (int i = 1; i < SWT_N_FILE_FORMATS; i++)
        if (strcmp(formats[i].name, name) == 0)
            return (enum swt_file_format)i;
    return SWT_FORMAT_NONE;
}

enum swt_file_format output_format_of_path(const char *path)
{
    size_t n = strlen(path);
    for (int i = 1; i < SWT_N_FILE_FORMATS; i++) {
        size_t k = strlen(formats[i].suffix);
        if (n > k && strcmp(path + n - k, formats[i].suffix) == 0)
            return (enum swt_file_format)i;
    }
    return SWT_FORMAT_NONE;
}

static int put(int fd, const void *data, size_t n, struct swt_diag *reterr)
{
    int rc = io_write_all(fd, data, n);
    return rc < 0 ? err_errno(reterr, -rc, "", "cannot write the output") : 0;
}

static void free_bytes(uint8_t **p)
{
    free(*p);
    *p = NULL;
}

/* ---- frames -------------------------------------------------------------------------------------- */

/* Where the bytes go. A pipe takes the pages of a mapped segment themselves: they never change once published. */
struct out {
    int fd;
    bool is_pipe;
    uint64_t piece_bytes; /* checked and handed over at a time */
};

static struct out out_of(int fd)
{
    struct stat st;
    struct out o = {.fd = fd, .piece_bytes = PIECE_BYTES};
    o.is_pipe = fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
    if (o.is_pipe) {
        o.piece_bytes = PIPE_BYTES / 4;
        (void)fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES); /* more is faster; less also works */
    }
    return o;
}

/* Bytes of a segment's map. */
static int put_mapped(const struct out *o, const uint8_t *data, size_t n, struct swt_diag *reterr)
{
    while (o->is_pipe && n > 0) {
        struct iovec piece = {(void *)(uintptr_t)data, n};
        ssize_t done = vmsplice(o->fd, &piece, 1, 0);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno != EINVAL && errno != ENOSYS && errno != EAGAIN)
            return err_errno(reterr, errno, "", "cannot write the output");
        if (done <= 0)
            break;
        data += done;
        n -= (size_t)done;
    }
    return n > 0 ? put(o->fd, data, n, reterr) : 0;
}

/* Frames that cannot be handed over as they lie: through a buffer. */
struct buffer {
    uint8_t *bytes; /* owned */
    int64_t frames; /* that fit */
};

static void buffer_done(struct buffer *b)
{
    free(b->bytes);
}

static int buffer_fit(struct buffer *b, const struct window *w, uint64_t piece_bytes,
                      struct swt_diag *reterr)
{
    const struct swt_window_info *info = window_info(w);
    uint64_t fit = info->frame_bytes ? piece_bytes / info->frame_bytes : 1;
    b->frames = window_is_whole(w) ? info->n_frames : fit > 0 ? (int64_t)fit : 1;
    b->bytes = malloc((size_t)((uint64_t)b->frames * info->frame_bytes) + 1);
    return b->bytes ? 0
                    : err_set(reterr, -ENOMEM, "out of memory for %" PRId64 " frames", b->frames);
}

static int put_read(struct window *w, const struct out *o, int64_t i, struct buffer *b,
                    int64_t *ret_n, struct swt_diag *reterr)
{
    const struct swt_window_info *info = window_info(w);
    int rc = b->bytes ? 0 : buffer_fit(b, w, o->piece_bytes, reterr);
    if (rc < 0)
        return rc;
    *ret_n = b->frames < info->n_frames - i ? b->frames : info->n_frames - i;
    size_t n = (size_t)((uint64_t)*ret_n * info->frame_bytes);
    rc = window_read(w, i, *ret_n, b->bytes, n, reterr);
    return rc < 0 ? rc : put(o->fd, b->bytes, n, reterr);
}

/* All frames, one after another. */
static int put_frames(struct window *w, int fd, struct swt_diag *reterr)
{
    const struct swt_window_info *info = window_info(w);
    const struct out o = out_of(fd);
    AUTO(buffer_done) struct buffer buffer = {0};
    for (int64_t i = 0; i < info->n_frames;) {
        const void *data;
        int64_t n = 0;
        int rc = window_peek(w, i, o.piece_bytes, &data, &n, reterr);
        if (rc >= 0 && n > 0)
            rc = put_mapped(&o, data, (size_t)((uint64_t)n * info->frame_bytes), reterr);
        else if (rc >= 0)
            rc = put_read(w, &o, i, &buffer, &n, reterr);
        if (rc < 0)
            return rc;
        i += n;
    }
    return 0;
}

/* The same with a line before each. */
static int put_marked_frames(struct window *w, int fd, const char *mark, struct swt_diag *reterr)
{
    const struct out o = {.fd = fd, .piece_bytes = 1};
    AUTO(buffer_done) struct buffer buffer = {0};
    int64_t n = 1;
    int rc = 0;
    for (int64_t i = 0; rc >= 0 && i < window_info(w)->n_frames; i += n) {
        rc = put(fd, mark, strlen(mark), reterr);
        if (rc >= 0)
            rc = put_read(w, &o, i, &buffer, &n, reterr);
    }
    return rc;
}

/* ---- formats ------------------------------------------------------------------------------------- */

static int write_raw(struct window *w, int fd, struct swt_diag *reterr)
{
    return put_frames(w, fd, reterr);
}

static int write_npy(struct window *w, int fd, struct swt_diag *reterr)
{
    const struct swt_window_info *info = window_info(w);
    AUTO(free_bytes) uint8_t *header = NULL;
    size_t n = 0;
    int rc = files_npy_header(info->dtype, info->n_dims, info->shape, &header, &n, reterr);
    if (rc >= 0)
        rc = put(fd, header, n, reterr);
    return rc < 0 ? rc : put_frames(w, fd, reterr);
}

static int write_wav(struct window *w, int fd, struct swt_diag *reterr)
{
    const struct swt_window_info *info = window_info(w);
    const struct params *p = window_params(w);
    AUTO(free_bytes) uint8_t *header = NULL;
    size_t n = 0;
    if (strcmp(info->media, "audio") != 0)
        return err_set(reterr, SWT_E_UNSUPPORTED, "wav holds sound, and '%s' is none",
                       info->stream);
    int rc = files_wav_header(info->dtype, info->channels, p->channel_layout, (int)info->rate.num,
                              info->bytes, &header, &n, reterr);
    if (rc >= 0)
        rc = put(fd, header, n, reterr);
    if (rc >= 0)
        rc = put_frames(w, fd, reterr);
    return rc >= 0 && info->bytes % 2 ? put(fd, "", 1, reterr) : rc;
}

static int write_y4m(struct window *w, int fd, struct swt_diag *reterr)
{
    const struct swt_window_info *info = window_info(w);
    const struct params *p = window_params(w);
    char header[256];
    if (strcmp(info->media, "video") != 0)
        return err_set(reterr, SWT_E_UNSUPPORTED, "y4m holds pictures, and '%s' has none",
                       info->stream);
    int rc = files_y4m_header(info->pixel, info->width, info->height, info->rate, p->sar, p->range,
                              p->chroma, p->field_order, header, reterr);
    if (rc >= 0)
        rc = put(fd, header, strlen(header), reterr);
    return rc < 0 ? rc : put_marked_frames(w, fd, "FRAME\n", reterr);
}

/* One line an entry; entries of several frames stand once, with the frames of theirs that are in the window. */
static int ndjson_line(const struct store_frame *f, int64_t frames, const char *stream,
                       bool is_packets, char *line, size_t cap)
{
    const struct entry *e = &f->entry;
    char src[32] = "null", wall[32] = "null";
    if (e->src_pts != INT64_MIN)
        (void)snprintf(src, sizeof src, "\"%" PRId64 "\"", e->src_pts);
    if (f->wall_ns != INT64_MIN)
        (void)snprintf(wall, sizeof wall, "\"%" PRId64 "\"", f->wall_ns);
    bool is_first = is_packets || e->pos == f->frame;
    return snprintf(line, cap,
                    "{\"stream\":\"%s\",\"frame\":%" PRIu64 ",\"frames\":%" PRId64
                    ",\"pts_ns\":\"%" PRId64 "\",\"wall_ns\":%s,\"src_pts\":%s,\"key\":%s,\"gap\":%"
                    "s,\"discont\":%s,\"dropped_before\":%u,"
                    "\"damaged\":%s,\"bytes\":%" PRIu64 ",\"segment\":%" PRIu64
                    ",\"offset\":%" PRIu64 ",\"crc32c\":\"%08x\"}\n",
                    stream, f->frame, frames, f->time_ns, wall, src,
                    e->flags & SEG_FLAG_KEY ? "true" : "false",
                    is_first && e->flags & SEG_FLAG_GAP ? "true" : "false",
                    is_first && e->flags & SEG_FLAG_DISCONT ? "true" : "false",
                    is_first ? e->dropped_before : 0,
                    e->flags & (SEG_FLAG_DAMAGED | SEG_FLAG_CORRUPT) ? "true" : "false",
                    f->entry_bytes, f->segment_base, f->offset, e->crc_payload);
}

/* How many frames of the window from `i` on lie in the entry of its frame i. */
static int64_t same_entry(struct window *w, int64_t i, const struct store_frame *first)
{
    int64_t n = 1;
    struct store_frame f;
    while (i + n < window_info(w)->n_frames && window_entry(w, i + n, &f, NULL) >= 0 &&
           f.entry_no == first->entry_no && f.frame == first->frame + (uint64_t)n)
        n++;
    return n;
}

static int write_ndjson(struct window *w, int fd, struct swt_diag *reterr)
{
    const struct swt_window_info *info = window_info(w);
    bool is_packets = window_kind(w) == SEG_KIND_PACKETS;
    for (int64_t i = 0; i < info->n_frames;) {
        struct store_frame f;
        char line[600];
        int rc = window_entry(w, i, &f, reterr);
        if (rc == SWT_E_NO_WINDOW) {
            i++;
            continue;
        }
        if (rc < 0)
            return rc;
        int64_t n = is_packets ? 1 : same_entry(w, i, &f);
        int len = ndjson_line(&f, n, info->stream, is_packets, line, sizeof line);
        rc = put(fd, line, (size_t)len, reterr);
        if (rc < 0)
            return rc;
        i += n;
    }
    return 0;
}

int output_write(struct window *w, enum swt_file_format format, int fd, struct swt_diag *reterr)
{
    int rc = format == SWT_FORMAT_NDJSON ? 0 : window_can_read(w, reterr);
    if (rc < 0)
        return rc;
    switch (format) {
    case SWT_FORMAT_RAW:
        return write_raw(w, fd, reterr);
    case SWT_FORMAT_NPY:
        return write_npy(w, fd, reterr);
    case SWT_FORMAT_WAV:
        return write_wav(w, fd, reterr);
    case SWT_FORMAT_Y4M:
        return write_y4m(w, fd, reterr);
    case SWT_FORMAT_NDJSON:
        return write_ndjson(w, fd, reterr);
    case SWT_FORMAT_NONE:
    case SWT_N_FILE_FORMATS:
        break;
    }
    return err_set(reterr, SWT_E_USAGE, "no such file format");
}

/* ---- files --------------------------------------------------------------------------------------- */

/* A regular file is replaced whole; anything else that is there (a pipe, /dev/null) is written into. */
static bool is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static int write_special(struct window *w, enum swt_file_format format, const char *path,
                         struct swt_diag *reterr)
{
    int fd AUTO(io_close) = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(reterr, errno, path, "cannot open the output");
    int rc = output_write(w, format, fd, reterr);
    if (rc == -EPIPE) /* not the caller's own stdout: a failure like any other */
        return err_at(reterr, -EIO, path, -1, "cannot write the output: its reader went away");
    return rc;
}

static void free_text(char **text)
{
    free(*text);
    *text = NULL;
}

/* The file itself, if `path` is a link to one: renaming must replace the file, not the link. */
static char *target_of(const char *path)
{
    struct stat st;
    char *target = lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;
    return target ? target : strdup(path);
}

/* A file without a name, so that nothing is left when the process is killed; where the file system has no such, one
 * under the temporary name. `ret_has_name`. */
static int open_temporary(const char *target, const char *tmp, bool *ret_has_name)
{
    struct stat st;
    mode_t mode = stat(target, &st) == 0 ? st.st_mode & 0777 : 0666;
    AUTO(free_text) char *folder = strdup(target);
    if (!folder)
        return -ENOMEM;
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    int fd = open(slash ? folder : ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    *ret_has_name = fd < 0;
    if (fd < 0)
        fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    return fd < 0 ? -errno : fd;
}

static int name_temporary(int fd, const char *tmp)
{
    char self[40];
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, tmp, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static int write_temporary(struct window *w, enum swt_file_format format, const char *tmp,
                           const char *path, struct swt_diag *reterr)
{
    bool has_name;
    int fd AUTO(io_close) = open_temporary(path, tmp, &has_name);
    if (fd < 0)
        return err_errno(reterr, -fd, path, "cannot create the output");
    int rc = output_write(w, format, fd, reterr);
    if (rc >= 0 && !has_name) {
        rc = name_temporary(fd, tmp);
        has_name = rc >= 0;
        if (rc < 0)
            return err_errno(reterr, -rc, path, "cannot name the output");
    }
    if (rc >= 0) {
        rc = close(fd) < 0 ? err_errno(reterr, errno, path, "cannot write the output") : 0;
        fd = -1;
    }
    if (rc >= 0 && rename(tmp, path) < 0)
        rc = err_errno(reterr, errno, path, "cannot name the output");
    if (rc < 0 && has_name)
        (void)unlink(tmp); /* the first failure is what counts */
    return rc;
}

int output_save(struct window *w, enum swt_file_format format, const char *path,
                struct swt_diag *reterr)
{
    AUTO(free_text) char *target = target_of(path);
    AUTO(free_text) char *tmp = NULL;
    if (is_special(path))
        return write_special(w, format, path, reterr);
    if (!target || asprintf(&tmp, "%s.%ld.tmp", target, (long)getpid()) < 0) {
        tmp = NULL;
        return err_set(reterr, -ENOMEM, "out of memory");
    }
    return write_temporary(w, format, tmp, target, reterr);
}
