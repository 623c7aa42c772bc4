/* SPDX-License-Identifier: MIT
 *
 * reader.c - a stream as its reader sees it: how far it reaches, live or ended, and what the index says of
 * a frame. Mapping is reader_map.c, packets and their order reader_packet.c, times reader_time.c.
 */
#include "store/reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "store/tail.h"

#define TRIES         8                  /* looks at a directory that keeps changing */
#define WAIT_SLICE_NS INT64_C(200000000) /* between looks whether the writer lives */
#define POLL_NS       INT64_C(20000000)  /* between looks where there is no page */

/* ---- open and close -------------------------------------------------------------------------------- */

static uint64_t read_max_maps(void)
{
    AUTO(io_close) int fd = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
    char text[32] = "";
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        return 65530 / 2; /* the kernel's default */
    return strtoull(text, NULL, 10) / 2;
}

void store_reader_close(struct store_reader **reader)
{
    struct store_reader *r = *reader;
    if (!r)
        return;
    map_done(r);
    control_unmap(&r->control);
    if (r->blocks)
        rseg_done(r);
    for (size_t i = 0; i < r->n_runs; i++) {
        params_done(r->runs[i].params);
        free(r->runs[i].params);
    }
    free(r->runs);
    free(r->blocks);
    free(r->pics);
    free(r->anchors);
    io_close(&r->seg_fd);
    io_close(&r->stream_fd);
    free(r);
    *reader = NULL;
}

static int refresh_again(struct store_reader *r, struct swt_diag *reterr);

int store_reader_open(struct store_dir *dir, const char *name, struct store_reader **ret_reader,
                      struct swt_diag *reterr)
{
    AUTO(store_reader_close) struct store_reader *r = calloc(1, sizeof *r);
    if (!r)
        return err_errno(reterr, ENOMEM, dir->path, "open stream");
    r->stream_fd = r->seg_fd = -1;
    r->path = dir->path;
    r->first_base = UINT64_MAX;
    r->anchors_boot_ns = INT64_MIN;
    r->blocks = calloc(READER_SETS * READER_WAYS, sizeof *r->blocks); /* pages come when touched */
    if (!r->blocks)
        return err_errno(reterr, ENOMEM, dir->path, "open stream");
    int rc = dir_stream_open(dir, name, &r->stream_fd, &r->seg_fd, &r->meta, reterr);
    if (rc < 0)
        return rc;
    if (r->meta.kind != SEG_KIND_TENSOR && r->meta.kind != SEG_KIND_PACKETS) {
        rc = err_at(reterr, SWT_E_UNSUPPORTED, dir->path, -1,
                    "stream %s is of a kind that swt %s cannot read", name, SWT_VERSION);
        err_stream(reterr, name);
        return rc;
    }
    bool changed = false;
    r->max_maps = read_max_maps();
    rc = rseg_list(r, &changed, reterr);
    if (rc == 0)
        rc = refresh_again(r, reterr);
    if (rc < 0)
        return rc;
    *ret_reader = r;
    r = NULL;
    return 0;
}

/* ---- how far it reaches ---------------------------------------------------------------------------- */

/* Where the kept part begins; worked out anew only when the oldest segment is another. */
static int find_first(struct store_reader *r, struct swt_diag *reterr)
{
    if (r->n == 0) {
        r->first_frame = r->end_frame;
        r->first_entry = r->end_entry;
        return 0;
    }
    if (r->first_base == r->bases[0])
        return 0;
    uint64_t frame = r->bases[0], entry = r->bases[0];
    int rc = 0;
    if (r->meta.kind == SEG_KIND_PACKETS) {
        rc = packet_first_frame_once(r, &frame, reterr);
    } else if (frame > 0) {
        struct rseg *seg = NULL;
        rc = rseg_get(r, 0, &seg, reterr);
        if (rc == 0)
            entry = seg->super.base_entry;
        else if (rc == SWT_E_CORRUPT)
            rc = 0; /* its frames are refused when they are touched; until then the base will do */
    }
    if (rc < 0)
        return rc;
    r->first_frame = frame;
    r->first_entry = entry;
    r->first_base = r->bases[0];
    return 0;
}

/* Recovery by reading, where no page says how far the stream reaches. */
static int look_by_recovery(struct store_reader *r, struct swt_diag *reterr)
{
    AUTO(segfile_close) struct segfile f = {.fd = -1};
    struct segfile_extent x = {0};
    size_t n = 0;
    if (r->n == 0)
        return 0;
    int rc = tail_find(r->seg_fd, r->bases, r->n, r->meta.uuid, r->end_entry, &f, &x, &n, reterr);
    if (rc == -ENOENT)
        return -ESTALE;
    if (rc == 0 && f.super.kind != r->meta.kind)
        rc = rseg_corrupt(r, f.base, 28, -1, reterr, "segment is of another kind than its stream");
    if (rc < 0) {
        err_stream(reterr, r->meta.name);
        return rc;
    }
    rseg_drop_from(r, n);
    if (!r->segs[n - 1])
        rc = rseg_take(r, n - 1, &f, reterr);
    r->end_entry = f.super.base_entry + x.entries;
    r->end_frame = f.super.base_frame + x.frames;
    r->durable_frames = f.super.base_frame + f.slot.frames;
    r->is_sealed = f.slot.is_sealed;
    return rc;
}

/* Nobody writes. */
static int look_ended(struct store_reader *r, struct swt_diag *reterr)
{
    bool changed = false;
    r->is_live = false;
    r->writer_pid = 0;
    int rc = rseg_list_if_changed(r, &changed, reterr);
    if (rc < 0 || (r->is_settled && !changed))
        return rc;
    rc = look_by_recovery(r, reterr);
    r->is_settled = rc == 0;
    return rc;
}

/* Somebody writes, and there is no page: pictures that others may still precede are held back. */
static int look_by_polling(struct store_reader *r, int64_t pid, struct swt_diag *reterr)
{
    bool changed = false;
    uint64_t before = r->end_frame;
    r->is_live = true;
    r->is_settled = false;
    r->writer_pid = pid;
    int rc = rseg_list_if_changed(r, &changed, reterr);
    if (rc == 0)
        rc = look_by_recovery(r, reterr);
    if (rc < 0)
        return rc;
    if (r->meta.kind == SEG_KIND_PACKETS && !r->is_sealed) {
        uint64_t sure = r->end_frame > STORE_REORDER ? r->end_frame - STORE_REORDER : 0;
        r->end_frame = sure > before ? sure : before;
    }
    return 0;
}

/* The page's counters. The order matters: `committed` is stored before `visible`, and the list is read after
 * both, so that it has every segment they speak of. `durable` never passes `visible`, so it is read first. */
static int look_at_page(struct store_reader *r, struct swt_diag *reterr)
{
    struct control_page *page = r->control.page;
    uint64_t durable = atomic_load_explicit(&page->durable, memory_order_acquire);
    uint64_t visible = atomic_load_explicit(&page->visible, memory_order_acquire);
    uint64_t committed = atomic_load_explicit(&page->committed, memory_order_acquire);
    bool changed = false;
    if (committed != r->end_entry || visible != r->end_frame || !r->is_live) {
        int rc = rseg_list_if_changed(r, &changed, reterr);
        if (rc < 0)
            return rc;
    }
    r->is_live = true;
    r->is_settled = false;
    r->writer_pid = page->pid;
    r->end_entry = committed;
    r->end_frame = visible;
    r->durable_frames = durable;
    return 0;
}

static bool page_is_live(struct control_page *page)
{
    return atomic_load_explicit(&page->state, memory_order_acquire) == CONTROL_LIVE;
}

/* A page counts if its writer lives when it has been read: entries that a killed one had written, and not yet shown
 * in its page, are frames, and who reads the page of a dead writer sees less than who reads the segments.
 * What is found by reading holds only if nobody began to publish meanwhile: his entries are on disk before his
 * page shows them, and a reader of the page would see less. */
static int look(struct store_reader *r, struct swt_diag *reterr)
{
    for (;;) {
        int64_t pid = 0;
        if (r->control.page && page_is_live(r->control.page)) {
            int rc = look_at_page(r, reterr);
            if (rc < 0 || control_has_writer(&r->control))
                return rc;
        }
        control_unmap(&r->control);
        if (!control_lock_is_held(r->stream_fd, &pid)) {
            int rc = look_ended(r, reterr);
            if (rc < 0 || !control_lock_is_held(r->stream_fd, &pid))
                return rc;
            r->is_settled = false;
        }
        if (control_map(r->stream_fd, r->meta.uuid, &r->control) == 1)
            continue;
        int rc = look_by_polling(r, pid, reterr);
        if (rc < 0 || control_map(r->stream_fd, r->meta.uuid, &r->control) != 1)
            return rc;
    }
}

static int refresh_once(struct store_reader *r, struct swt_diag *reterr)
{
    int rc = look(r, reterr);
    if (rc == 0)
        rc = find_first(r, reterr);
    if (rc < 0)
        return rc;
    if (r->control.page) {
        uint64_t kept = atomic_load_explicit(&r->control.page->first_retained,
                                             memory_order_acquire);
        if (kept > r->first_frame)
            r->first_frame = kept;
    }
    if (r->first_frame > r->end_frame || r->first_entry > r->end_entry)
        r->first_base = UINT64_MAX; /* nothing is kept: to be worked out again */
    if (r->first_frame > r->end_frame)
        r->first_frame = r->end_frame;
    if (r->first_entry > r->end_entry)
        r->first_entry = r->end_entry;
    return 0;
}

static int refresh_again(struct store_reader *r, struct swt_diag *reterr)
{
    int rc = refresh_once(r, reterr);
    bool changed = false;
    for (int tries = 0; rc == -ESTALE && tries < TRIES; tries++) {
        r->is_settled = false;
        rc = rseg_list(r, &changed, reterr);
        if (rc == 0)
            rc = refresh_once(r, reterr);
    }
    return rc == -ESTALE ? err_errno(reterr, ESTALE, r->path, "read segments") : rc;
}

bool reader_again(struct store_reader *r, int *rc, int tries, struct swt_diag *reterr)
{
    bool changed = false;
    if (*rc != -ESTALE) {
        /* inner functions that fill caches do not say what failed */
        if (*rc < 0 && *rc > -4096 && reterr && reterr->code != *rc)
            (void)err_errno(reterr, -*rc, r->path, "read segments");
        return false;
    }
    if (tries >= TRIES) {
        *rc = err_errno(reterr, ESTALE, r->path, "read segments");
        return false;
    }
    r->is_settled = false;
    *rc = rseg_list(r, &changed, reterr);
    if (*rc == 0)
        *rc = refresh_again(r, reterr);
    return *rc == 0;
}

/* Payload bytes of the newest segment that may be read. */
static int newest_bytes(struct store_reader *r, struct rseg *seg, uint64_t *ret_bytes)
{
    if (r->meta.kind == SEG_KIND_TENSOR) {
        uint64_t base = seg->super.base_frame;
        *ret_bytes = r->end_frame > base ? (r->end_frame - base) * seg->super.frame_bytes : 0;
        return 0;
    }
    struct entry e;
    *ret_bytes = 0;
    if (r->end_entry <= seg->super.base_entry)
        return 0;
    int rc = rseg_entry(r, seg, r->end_entry - 1 - seg->super.base_entry, &e);
    if (rc == 1)
        *ret_bytes = e.pos + e.len;
    return rc < 0 ? rc : 0;
}

static int state_once(struct store_reader *r, struct store_reader_state *ret,
                      struct swt_diag *reterr)
{
    struct rseg *first = NULL, *newest = NULL;
    uint64_t bytes = 0;
    int rc = 0;
    if (r->n > 0) {
        rc = rseg_get(r, r->n - 1, &newest, reterr);
        if (rc == 0)
            rc = newest_bytes(r, newest, &bytes);
        if (rc < 0)
            return rc;
        bytes += newest->super.past_bytes;
        rc = rseg_get(r, 0, &first, NULL);
        if (rc == 0)
            bytes -= first->super.past_bytes < bytes ? first->super.past_bytes : bytes;
    }
    *ret = (struct store_reader_state){.kind = r->meta.kind,
                                       .first_frame = r->first_frame,
                                       .end_frame = r->end_frame,
                                       .first_entry = r->first_entry,
                                       .end_entry = r->end_entry,
                                       .durable_frames = r->durable_frames,
                                       .segments = r->n,
                                       .bytes = bytes,
                                       .is_live = r->is_live,
                                       .writer_pid = r->writer_pid};
    return rc == -ESTALE ? rc : 0;
}

int store_reader_refresh(struct store_reader *r, struct store_reader_state *ret,
                         struct swt_diag *reterr)
{
    int rc = refresh_again(r, reterr);
    if (rc < 0 || !ret)
        return rc;
    for (int tries = 0;; tries++) {
        rc = state_once(r, ret, reterr);
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}

/* ---- waiting --------------------------------------------------------------------------------------- */

static void wait_slice(struct store_reader *r, uint32_t seen, int64_t left_ns)
{
    if (r->control.page) {
        control_wait(&r->control, seen, left_ns < WAIT_SLICE_NS ? left_ns : WAIT_SLICE_NS);
        return;
    }
    struct timespec ts = {0, left_ns < POLL_NS ? left_ns : POLL_NS};
    (void)nanosleep(&ts, NULL); /* a signal only makes the slice shorter */
}

int store_reader_wait(struct store_reader *r, uint64_t frames, int64_t timeout_ns,
                      struct swt_diag *reterr)
{
    int64_t begin = clock_mono_ns();
    for (;;) {
        /* before the counters: a publication between them and the sleep changes it */
        uint32_t seen = r->control.page ? atomic_load(&r->control.page->seq) : 0;
        const struct control_page *page = r->control.page;
        int rc = refresh_again(r, reterr);
        if (rc < 0)
            return rc;
        if (r->end_frame > frames)
            return 1;
        int64_t left = timeout_ns - (clock_mono_ns() - begin);
        if (!r->is_live || left <= 0)
            return 0;
        if (page == r->control.page)
            wait_slice(r, seen, left);
    }
}
