/* SPDX-License-Identifier: MIT
 *
 * bytes.c - the bytes of a file, a pipe or standard input for FFmpeg, with a time limit and a way out. Knows
 * nothing of what they mean, but for what containers say of their own length.
 */
#include <fcntl.h>
#include <libavutil/intreadwrite.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "media/demux/demux.h"

#define BUFFER_BYTES (64 << 10)
#define SLICE_MS     20 /* between looks at the stop flag */

void demux_wait_alive(struct demux_wait *w)
{
    w->since_ns = clock_mono_ns();
}

int demux_wait_check(struct demux_wait *w)
{
    if (w->why == DEMUX_GO_ON && w->stop && atomic_load(w->stop))
        w->why = DEMUX_STOPPED;
    if (w->why == DEMUX_GO_ON && w->timeout_ns > 0 && clock_mono_ns() - w->since_ns > w->timeout_ns)
        w->why = DEMUX_TIMED_OUT;
    return w->why == DEMUX_GO_ON ? 0 : AVERROR_EXIT;
}

static int count(struct demux_bytes *b, const uint8_t *buf, ssize_t n)
{
    if (b->pos < DEMUX_HEAD_BYTES && b->pos == (int64_t)b->n_head) {
        size_t room = DEMUX_HEAD_BYTES - b->n_head, take = (size_t)n < room ? (size_t)n : room;
        memcpy(b->head + b->n_head, buf, take);
        b->n_head += take;
    }
    b->pos += n;
    if (b->pos > b->reached)
        b->reached = b->pos;
    b->is_fed = true;
    demux_wait_alive(b->wait);
    return (int)n;
}

static int read_file(void *opaque, uint8_t *buf, int n)
{
    struct demux_bytes *b = opaque;
    ssize_t got;
    do {
        if (demux_wait_check(b->wait) < 0 && b->wait->why == DEMUX_STOPPED)
            return AVERROR_EXIT;
        got = pread(b->fd, buf, (size_t)n, b->base + b->pos);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return AVERROR(errno);
    return got == 0 ? AVERROR_EOF : count(b, buf, got);
}

/* A named pipe reads as ended until its first writer has come. */
static bool is_unopened(const struct demux_bytes *b)
{
    struct stat st;
    return !b->is_fed && b->fd != STDIN_FILENO && fstat(b->fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

static int read_pipe(void *opaque, uint8_t *buf, int n)
{
    struct demux_bytes *b = opaque;
    for (;;) {
        if (demux_wait_check(b->wait) < 0)
            return AVERROR_EXIT;
        struct pollfd p = {b->fd, POLLIN, 0};
        int ready = poll(&p, 1, SLICE_MS);
        if (ready < 0 && errno != EINTR)
            return AVERROR(errno);
        if (ready <= 0)
            continue;
        ssize_t got = read(b->fd, buf, (size_t)n);
        if (got > 0)
            return count(b, buf, got);
        if (got == 0 && !is_unopened(b))
            return AVERROR_EOF;
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return AVERROR(errno);
        poll(NULL, 0, got == 0 ? SLICE_MS : 0);
    }
}

static int64_t seek_file(void *opaque, int64_t off, int whence)
{
    struct demux_bytes *b = opaque;
    struct stat st;
    if (fstat(b->fd, &st) < 0)
        return AVERROR(errno);
    int64_t size = st.st_size - b->base, from = 0;
    whence &= ~AVSEEK_FORCE;
    if (whence == AVSEEK_SIZE)
        return size;
    if (whence == SEEK_CUR)
        from = b->pos;
    else if (whence == SEEK_END)
        from = size;
    if (__builtin_add_overflow(from, off, &from) || from < 0 || from > INT64_MAX - b->base)
        return AVERROR(EINVAL);
    b->pos = from;
    return from;
}

void demux_bytes_close(struct demux_bytes **bytes)
{
    struct demux_bytes *b = *bytes;
    if (!b)
        return;
    if (b->avio)
        av_freep(&b->avio->buffer);
    avio_context_free(&b->avio);
    free(b);
    *bytes = NULL;
}

int demux_bytes_open(const struct demux_input *input, struct demux_wait *wait,
                     struct demux_bytes **ret)
{
    AUTO(demux_bytes_close) struct demux_bytes *b = calloc(1, sizeof *b);
    uint8_t *buffer = av_malloc(BUFFER_BYTES);
    if (!b || !buffer) {
        av_free(buffer);
        return -ENOMEM;
    }
    b->wait = wait;
    b->fd = input->fd;
    off_t at = input->is_regular ? lseek(b->fd, 0, SEEK_CUR) : -1;
    b->is_seekable = at >= 0;
    b->base = at >= 0 ? at : 0;
    if (b->is_seekable)
        (void)posix_fadvise(b->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* a hint */
    b->avio = avio_alloc_context(buffer, BUFFER_BYTES, 0, b, b->is_seekable ? read_file : read_pipe,
                                 NULL, b->is_seekable ? seek_file : NULL);
    if (!b->avio) {
        av_free(buffer);
        return -ENOMEM;
    }
    *ret = b;
    b = NULL;
    return 0;
}

/* ---- what containers say of their own length ----------------------------------------------------- */

/* An EBML number of up to 8 bytes; -1: cut off or "unknown". */
static int64_t ebml_number(const uint8_t *p, size_t n, size_t *ret_used)
{
    size_t width = 1;
    while (n > 0 && width <= 8 && !(p[0] & (0x80 >> (width - 1))))
        width++;
    if (width > 8 || width > n)
        return -1;
    uint64_t v = p[0] & (0xffu >> width);
    bool is_unknown = v == (0xffu >> width);
    for (size_t i = 1; i < width; i++) {
        v = v << 8 | p[i];
        is_unknown = is_unknown && p[i] == 0xff;
    }
    *ret_used = width;
    return is_unknown ? -1 : (int64_t)v;
}

static int64_t matroska_end(const uint8_t *p, size_t n)
{
    size_t used = 0, at = 4;
    int64_t head = n > at ? ebml_number(p + at, n - at, &used) : -1;
    if (head < 0 || head > (int64_t)n)
        return 0;
    at += used + (size_t)head;
    if (at + 4 >= n || AV_RB32(p + at) != 0x18538067) /* Segment */
        return 0;
    at += 4;
    int64_t body = ebml_number(p + at, n - at, &used);
    return body < 0 ? 0 : (int64_t)(at + used) + body;
}

int64_t demux_riff_end(const uint8_t *p, size_t n)
{
    uint32_t size = n >= 12 && AV_RL32(p) == MKTAG('R', 'I', 'F', 'F') ? AV_RL32(p + 4) : 0;
    return size < 0x7ffff000 ? size : 0; /* writers to pipes put the largest numbers there */
}

static bool is_box_type(const uint8_t *p)
{
    for (int i = 0; i < 4; i++)
        if (p[i] < ' ' || p[i] > '~')
            return false;
    return true;
}

/* End of the last top-level box of an MP4, read from the file: its payloads are not touched. */
static int64_t mp4_end(const struct demux_bytes *b)
{
    int64_t at = 0;
    for (int i = 0; i < 100000; i++) {
        uint8_t p[16];
        ssize_t n = pread(b->fd, p, sizeof p, b->base + at);
        if (n < 8 || !is_box_type(p + 4))
            break;
        int64_t size = AV_RB32(p);
        if (size == 1 && n == 16)
            size = (int64_t)AV_RB64(p + 8);
        if (size < 8 || size > INT64_MAX - at) /* 0: to the end of the file */
            break;
        at += size;
    }
    return at;
}

bool demux_ends_early(const struct demux_bytes *b, const char *format)
{
    int64_t end = 0, there = b->reached;
    struct stat st;
    if (b->is_seekable && fstat(b->fd, &st) == 0)
        there = st.st_size - b->base;
    if (strcmp(format, "matroska") == 0)
        end = matroska_end(b->head, b->n_head);
    else if (strcmp(format, "avi") == 0 || strcmp(format, "wav") == 0)
        end = demux_riff_end(b->head, b->n_head);
    else if (strcmp(format, "mov") == 0 && b->is_seekable)
        end = mp4_end(b);
    return end > there;
}

bool demux_index_is_last(const struct demux_bytes *b)
{
    size_t at = 0;
    while (at + 8 <= b->n_head) {
        uint32_t size = AV_RB32(b->head + at), type = AV_RL32(b->head + at + 4);
        if (type == MKTAG('m', 'd', 'a', 't'))
            return true;
        if (size < 8 || type == MKTAG('m', 'o', 'o', 'v'))
            return false;
        at += size;
    }
    return false;
}
