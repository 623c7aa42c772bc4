/* SPDX-License-Identifier: MIT
 *
 * segfile.c - one segment file: found by its name, opened, judged, and its end found by reading.
 * Only pread with bounded buffers: whatever the file holds or loses meanwhile, nothing here can
 * fault.
 */
#include "store/segfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/io.h"
#include "base/size.h"
#include "store/entrytime.h"
#include "store/segscan.h"

#define HEAD_BYTES    SEG_PARAMS_OFF /* superblock and both slots */
#define CHUNK_ENTRIES 256u           /* index entries a read: 16 KiB */
#define CHUNK_BYTES   (128u << 10)   /* payload bytes a read */

/* ---- names
 * --------------------------------------------------------------------------------------- */

void segfile_name(uint64_t base, char ret_name[32])
{
    (void)snprintf(ret_name, 32, "%020" PRIu64 ".swt", base); /* 24 characters always fit */
}

static bool name_parse(const char *name, uint64_t *ret_base)
{
    uint64_t base = 0;
    for (int i = 0; i < 20; i++) {
        if (name[i] < '0' || name[i] > '9')
            return false;
        if (!size_mul(base, 10, &base) || !size_add(base, (uint64_t)(name[i] - '0'), &base))
            return false;
    }
    *ret_base = base;
    return strcmp(name + 20, ".swt") == 0;
}

static int compare_bases(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void close_dir(DIR **dir)
{
    if (*dir)
        (void)closedir(*dir); /* read only: nothing to lose */
    *dir = NULL;
}

static void free_bases(uint64_t **bases)
{
    free(*bases);
    *bases = NULL;
}

static int bases_push(uint64_t **bases, size_t *n, size_t *cap, uint64_t base)
{
    if (*n == *cap) {
        size_t new_cap = *cap ? *cap * 2 : 64;
        uint64_t *grown = reallocarray(*bases, new_cap, sizeof **bases);
        if (!grown)
            return -ENOMEM;
        *bases = grown;
        *cap = new_cap;
    }
    (*bases)[(*n)++] = base;
    return 0;
}

int segfile_list(int seg_dir_fd, uint64_t **ret_bases, size_t *ret_n)
{
    AUTO(io_close) int fd = openat(seg_dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    AUTO(close_dir) DIR *dir = fdopendir(fd);
    if (!dir)
        return -errno;
    fd = -1; /* moved into dir */
    AUTO(free_bases) uint64_t *bases = NULL;
    size_t n = 0, cap = 0;
    for (;;) {
        errno = 0;
        const struct dirent *d = readdir(dir);
        if (!d && errno)
            return -errno;
        if (!d)
            break;
        uint64_t base = 0;
        if (strlen(d->d_name) != 24 || !name_parse(d->d_name, &base))
            continue;
        int r = bases_push(&bases, &n, &cap, base);
        if (r < 0)
            return r;
    }
    if (n > 1)
        qsort(bases, n, sizeof *bases, compare_bases);
    *ret_bases = bases;
    *ret_n = n;
    bases = NULL;
    return 0;
}

/* What a descriptor was opened by; not terminated. Length or -1. */
static ssize_t fd_path(int fd, char *buf, size_t cap)
{
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd); /* fits */
    return readlink(link, buf, cap);
}

const char *segfile_path(int seg_dir_fd, uint64_t base, char *buf, size_t cap)
{
    char name[32];
    segfile_name(base, name);
    ssize_t n = fd_path(seg_dir_fd, buf, cap);
    if (n < 0 || (size_t)n + 1 + strlen(name) + 1 > cap)
        n = 0;
    else
        buf[n++] = '/';
    (void)snprintf(buf + n, cap - (size_t)n, "%s", name); /* fits: checked, or `cap` >= 32 */
    return buf;
}

/* ---- open
 * ---------------------------------------------------------------------------------------- */

ssize_t segfile_read_some(int fd, void *buf, size_t n, uint64_t off)
{
    size_t got = 0;
    while (got < n) {
        ssize_t r = pread(fd, (char *)buf + got, n - got, (off_t)(off + got));
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -errno;
        if (r == 0)
            break;
        got += (size_t)r;
    }
    return (ssize_t)got;
}

static void choose_slot(const uint8_t *head, struct segfile *f)
{
    struct slot slots[2];
    bool ok[2];
    segfile_slots(head, &f->super, slots, ok);
    memset(&f->slot, 0, sizeof f->slot);
    for (int i = 0; i < 2; i++) {
        if (ok[i] && slots[i].generation >= f->slot.generation)
            f->slot = slots[i];
    }
}

void segfile_slots(const uint8_t *head, const struct super *super, struct slot ret_slots[2],
                   bool ret_ok[2])
{
    for (int i = 0; i < 2; i++) {
        struct seg_slot bytes;
        memcpy(&bytes, head + (i ? SEG_SLOT_OFF1 : SEG_SLOT_OFF0), sizeof bytes);
        ret_ok[i] = slot_decode(&bytes, super, &ret_slots[i]);
    }
}

/* The superblock must be of this stream and of this name. */
static int judge_head(const uint8_t *head, const uint8_t stream_uuid[16], struct segfile *f,
                      struct swt_diag *reterr)
{
    struct seg_super bytes;
    memcpy(&bytes, head, sizeof bytes);
    struct swt_diag why = {0};
    int r = super_decode(&bytes, &f->super, &why);
    if (r < 0)
        return err_at(reterr, r, NULL, 0, "%s", why.text);
    if (memcmp(f->super.stream_uuid, stream_uuid, 16) != 0)
        return err_at(reterr, SWT_E_CORRUPT, NULL, 48, "segment belongs to another stream");
    uint64_t base = f->super.kind == SEG_KIND_PACKETS ? f->super.base_entry : f->super.base_frame;
    if (base != f->base)
        return err_at(reterr, SWT_E_CORRUPT, NULL, 144,
                      "segment of base %" PRIu64 " lies under another name", base);
    choose_slot(head, f);
    return 0;
}

static int open_regular(int seg_dir_fd, struct segfile *f, struct swt_diag *reterr)
{
    char name[32];
    segfile_name(f->base, name);
    f->fd = openat(seg_dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0)
        return err_errno(reterr, errno, NULL, "open segment");
    struct stat st;
    if (fstat(f->fd, &st) < 0)
        return err_errno(reterr, errno, NULL, "stat segment");
    if (!S_ISREG(st.st_mode))
        return err_at(reterr, SWT_E_CORRUPT, NULL, -1, "segment is not a regular file");
    f->file_bytes = (uint64_t)st.st_size;
    f->dev = st.st_dev;
    f->ino = st.st_ino;
    return 0;
}

static int open_and_judge(int seg_dir_fd, const uint8_t stream_uuid[16], struct segfile *f,
                          struct swt_diag *reterr)
{
    int r = open_regular(seg_dir_fd, f, reterr);
    if (r < 0)
        return r;
    uint8_t head[HEAD_BYTES];
    ssize_t n = segfile_read_some(f->fd, head, sizeof head, 0);
    if (n < 0)
        return err_errno(reterr, (int)-n, NULL, "read superblock");
    if ((size_t)n < sizeof head)
        return err_at(reterr, SWT_E_CORRUPT, NULL, n, "segment ends within its superblock");
    return judge_head(head, stream_uuid, f, reterr);
}

int segfile_open(int seg_dir_fd, uint64_t base, const uint8_t stream_uuid[16],
                 struct segfile *ret_file, struct swt_diag *reterr)
{
    AUTO(segfile_close) struct segfile f = {.fd = -1, .base = base};
    struct swt_diag why = {0};
    int r = open_and_judge(seg_dir_fd, stream_uuid, &f, reterr ? &why : NULL);
    if (r < 0) {
        char path[SEGFILE_PATH_CAP]; /* only now: asking for it takes as long as opening */
        (void)segfile_path(seg_dir_fd, base, path, sizeof path);
        return err_at(reterr, r, path, why.offset, "%s", why.text);
    }
    *ret_file = f;
    f.fd = -1; /* moved */
    return 0;
}

void segfile_close(struct segfile *f)
{
    io_close(&f->fd);
}

/* ---- params
 * -------------------------------------------------------------------------------------- */

static void free_block(void **block)
{
    free(*block);
    *block = NULL;
}

int segfile_params(const struct segfile *f, struct params *ret_params, struct swt_diag *reterr)
{
    size_t n = (size_t)f->super.params_bytes; /* <= SEG_PARAMS_MAX: super_decode */
    AUTO(free_block) void *block = malloc(n ? n : 1);
    if (!block)
        return err_errno(reterr, ENOMEM, "", "read params block");
    char path[SEGFILE_PATH_CAP];
    ssize_t n_path = fd_path(f->fd, path, sizeof path - 1);
    path[n_path < 0 ? 0 : n_path] = 0;
    ssize_t got = segfile_read_some(f->fd, block, n, f->super.params_off);
    if (got < 0)
        return err_errno(reterr, (int)-got, path, "read params block");
    if ((size_t)got < n)
        return err_at(reterr, SWT_E_CORRUPT, path, (int64_t)f->super.params_off + got,
                      "segment ends within its params block");
    struct swt_diag why = {0};
    int r = params_decode(block, n, ret_params, &why);
    return r < 0 ? err_at(reterr, r, path, (int64_t)f->super.params_off, "%s", why.text) : 0;
}

/* ---- entries and recovery
 * ------------------------------------------------------------------------ */

bool segfile_entry(const struct segfile *f, uint64_t k, struct entry *ret_entry)
{
    struct seg_entry bytes;
    if (k >= f->super.index_cap)
        return false;
    ssize_t n = segfile_read_some(f->fd, &bytes, sizeof bytes,
                                  f->super.index_off + k * SEG_ENTRY_BYTES);
    return n == (ssize_t)sizeof bytes &&
           entry_decode(&bytes, &f->super, f->super.base_entry + k, ret_entry);
}

void segfile_payload(const struct super *s, const struct entry *e, uint64_t *ret_off,
                     uint64_t *ret_bytes)
{
    bool is_packet = s->kind == SEG_KIND_PACKETS;
    *ret_off = s->data_off + (is_packet ? e->pos : (e->pos - s->base_frame) * s->frame_bytes);
    *ret_bytes = is_packet ? e->len : e->len * s->frame_bytes;
}

int segfile_payload_crc(int fd, uint64_t off, uint64_t n, void *buf, size_t cap, uint32_t *ret_crc)
{
    uint32_t crc = 0;
    while (n > 0) {
        size_t want = n < cap ? (size_t)n : cap;
        ssize_t got = segfile_read_some(fd, buf, want, off);
        if (got < 0)
            return (int)got;
        if ((size_t)got < want)
            return -ENODATA;
        crc = crc32c(crc, buf, want);
        off += want;
        n -= want;
    }
    *ret_crc = crc;
    return 0;
}

void segscan_begin(const struct super *super, const struct entry_clock *clock, struct segscan *ret)
{
    *ret = (struct segscan){.super = super, .clock = *clock};
    ret->extent.end_ns = ret->extent.last_ns = ret->extent.first_ns = INT64_MIN;
}

/* Frames of a segment up to and including an entry. */
static uint64_t frames_after(const struct super *s, const struct entry *e)
{
    if (s->kind == SEG_KIND_PACKETS)
        return (uint64_t)e->pics_before + (e->flags & SEG_FLAG_NOPIC ? 0 : 1);
    return e->pos - s->base_frame + e->len;
}

bool segscan_follows(const struct segscan *scan, const struct entry *e)
{
    const struct segfile_extent *x = &scan->extent;
    if (scan->super->kind == SEG_KIND_PACKETS)
        return e->pos >= x->data_bytes && e->pics_before == x->frames;
    return e->pos - scan->super->base_frame == x->frames;
}

static void note_times(struct segfile_extent *x, const struct entry *e, uint64_t n,
                       const struct entry_clock *clock)
{
    int64_t last = n > 0 ? entry_frame_ns(e, n - 1, clock) : e->time_ns;
    int64_t end = entry_ns_add(e->time_ns, entry_duration_ns(e, n, clock));
    if (x->first_ns == INT64_MIN || e->time_ns < x->first_ns)
        x->first_ns = e->time_ns;
    if (last >= x->last_ns || x->last_ns == INT64_MIN)
        x->last_ns = last;
    if (end >= x->end_ns || x->end_ns == INT64_MIN)
        x->end_ns = end;
}

void segscan_add(struct segscan *scan, const struct entry *e)
{
    struct segfile_extent *x = &scan->extent;
    bool is_packet = scan->super->kind == SEG_KIND_PACKETS;
    uint64_t off = 0, n_bytes = 0;
    segfile_payload(scan->super, e, &off, &n_bytes);
    x->frames = frames_after(scan->super, e);
    x->data_bytes = off - scan->super->data_off + n_bytes;
    x->gaps += (e->flags & SEG_FLAG_GAP) != 0;
    x->disconts += (e->flags & SEG_FLAG_DISCONT) != 0;
    x->dropped += e->dropped_before;
    if (e->flags & (SEG_FLAG_CORRUPT | SEG_FLAG_DAMAGED))
        x->damaged += is_packet ? 1 : e->len;
    if (!is_packet)
        note_times(x, e, e->len, &scan->clock);
    else if (!(e->flags & SEG_FLAG_NOPIC))
        note_times(x, e, 1, &scan->clock);
}

/* State of one recovery. */
struct recovery {
    const struct segfile *file;
    uint64_t promised;  /* entries that are known to be whole: by slot or control page */
    uint64_t n_entries; /* at most so many can be there */
    uint64_t limit_frames;
    struct segscan scan;
    void *buf; /* CHUNK_BYTES; NULL until a payload is read; owned */
};

static void recovery_done(struct recovery *r)
{
    free(r->buf);
}

/* Is the entry that follows the promised ones complete? 1 yes, 0 no, -errno. */
static int payload_is_whole(struct recovery *r, const struct entry *e)
{
    uint64_t off = 0, n = 0;
    uint32_t crc = 0;
    if (!r->buf)
        r->buf = malloc(CHUNK_BYTES);
    if (!r->buf)
        return -ENOMEM;
    segfile_payload(&r->file->super, e, &off, &n);
    int rc = segfile_payload_crc(r->file->fd, off, n, r->buf, CHUNK_BYTES, &crc);
    if (rc == -ENODATA)
        return 0;
    return rc < 0 ? rc : crc == e->crc_payload;
}

/* Take one entry. 1: go on, 0: the prefix ends before it, -errno. */
static int recover_entry(struct recovery *r, const struct seg_entry *bytes, uint64_t k)
{
    struct entry e;
    bool ok = entry_decode(bytes, &r->file->super, r->file->super.base_entry + k, &e);
    if (k < r->promised) {
        if (ok) /* a damaged one was promised: it is counted, and reported when it is touched */
            segscan_add(&r->scan, &e);
        r->scan.extent.entries = k + 1;
        return 1;
    }
    if (!ok || r->scan.extent.frames >= r->limit_frames || !segscan_follows(&r->scan, &e))
        return 0;
    int whole = payload_is_whole(r, &e);
    if (whole <= 0)
        return whole;
    segscan_add(&r->scan, &e);
    r->scan.extent.entries = k + 1;
    return 1;
}

/* What the slot promises is there even where its last entries cannot be read. */
static void honour_slot(struct recovery *r)
{
    struct segfile_extent *x = &r->scan.extent;
    const struct slot *slot = &r->file->slot;
    if (x->entries < slot->entries)
        x->entries = slot->entries;
    if (x->frames < slot->frames)
        x->frames = slot->frames;
    if (x->data_bytes < slot->data_bytes)
        x->data_bytes = slot->data_bytes;
}

/* Entries first .. first + n - 1, fewer at the end of the file (missing ones read as zeros:
 * invalid). */
static int recover_chunk(struct recovery *r, uint64_t first, uint64_t n)
{
    struct seg_entry bytes[CHUNK_ENTRIES];
    memset(bytes, 0, sizeof bytes);
    ssize_t got = segfile_read_some(r->file->fd, bytes, (size_t)n * sizeof bytes[0],
                                    r->file->super.index_off + first * SEG_ENTRY_BYTES);
    if (got < 0)
        return (int)got;
    for (uint64_t i = 0; i < n; i++) {
        if (first + i == r->promised)
            honour_slot(r);
        int rc = recover_entry(r, &bytes[i], first + i);
        if (rc <= 0)
            return rc;
    }
    return 1;
}

static struct entry_clock clock_of(const struct segfile *f)
{
    AUTO(params_done) struct params p;
    params_init(&p);
    /* without it the entries still stand; only the duration of the last frame is unknown */
    if (segfile_params(f, &p, NULL) < 0)
        return (struct entry_clock){{0, 1}, {0, 1}};
    return entry_clock_of(&p);
}

/* Entries from `first` on. */
static int recover_from(struct recovery *r, uint64_t first, uint64_t limit_frames,
                        uint64_t from_page, struct segfile_extent *ret_extent,
                        struct swt_diag *reterr)
{
    const struct segfile *f = r->file;
    r->limit_frames = limit_frames;
    r->promised = f->slot.entries > from_page ? f->slot.entries : from_page;
    if (r->promised > f->super.index_cap)
        r->promised = f->super.index_cap;
    r->n_entries = f->slot.is_sealed ? r->promised : f->super.index_cap;
    for (uint64_t k = first; k < r->n_entries; k += CHUNK_ENTRIES) {
        uint64_t left = r->n_entries - k;
        int rc = recover_chunk(r, k, left < CHUNK_ENTRIES ? left : CHUNK_ENTRIES);
        if (rc < 0)
            return err_errno(reterr, -rc, "", "read segment");
        if (rc == 0)
            break;
    }
    honour_slot(r);
    if (r->scan.extent.frames > limit_frames)
        r->scan.extent.frames = limit_frames;
    *ret_extent = r->scan.extent;
    return 0;
}

int segfile_recover(const struct segfile *f, uint64_t limit_frames, uint64_t from_page,
                    struct segfile_extent *ret_extent, struct swt_diag *reterr)
{
    AUTO(recovery_done) struct recovery r = {.file = f};
    struct entry_clock clock = clock_of(f);
    segscan_begin(&f->super, &clock, &r.scan);
    return recover_from(&r, 0, limit_frames, from_page, ret_extent, reterr);
}

int segfile_reach(const struct segfile *f, uint64_t from_page, struct segfile_extent *ret_extent,
                  struct swt_diag *reterr)
{
    AUTO(recovery_done) struct recovery r = {.file = f};
    struct entry_clock clock = {{0, 1}, {0, 1}};
    segscan_begin(&f->super, &clock, &r.scan);
    honour_slot(&r);
    return recover_from(&r, f->slot.entries, UINT64_MAX, from_page, ret_extent, reterr);
}
