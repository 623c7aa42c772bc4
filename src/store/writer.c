/* SPDX-License-Identifier: MIT
 *
 * writer.c - what tensors and packets share while they are appended: formats and runs, segments one after
 * another, and the one place where entries are published. Opening and closing is writer_open.c.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "store/writer_impl.h"

#define STEP_BYTES     (4u << 20) /* space is reserved ahead in steps of this or a second of data */
#define STEP_MAX_BYTES (1u << 30) /* a second is taken from the format; disbelieve more */
/* Payload that an entry covers at least, as far as the index is sized for it. */
#define SMALL_ENTRY_BYTES  1024u
#define PACKET_ENTRY_BYTES 512u

int writer_fail(const struct store_writer *w, int code, const char *what, struct swt_diag *reterr)
{
    if (code > -4096)
        (void)err_errno(reterr, -code, w->path, what);
    err_stream(reterr, w->name);
    return code;
}

/* ---- publishing ---------------------------------------------------------------------------------- */

void batch_begin(const struct store_writer *w, struct batch *ret_batch)
{
    ret_batch->scan = w->cur->scan;
    ret_batch->n = 0;
}

void batch_add(struct store_writer *w, struct batch *b, const struct entry *e)
{
    assert(b->n < WRITER_BATCH);
    uint64_t no = w->cur->super.base_entry + b->scan.extent.entries;
    entry_encode(e, w->cur->super.salt, no, &w->batch[b->n]);
    segscan_add(&b->scan, e);
    b->scan.extent.entries++;
    b->n++;
}

static void take_times(struct store_writer *w, const struct segfile_extent *x)
{
    if (x->first_ns != INT64_MIN && (w->first_ns == INT64_MIN || x->first_ns < w->first_ns))
        w->first_ns = x->first_ns;
    if (x->last_ns > w->last_ns)
        w->last_ns = x->last_ns;
    if (x->end_ns > w->end_ns)
        w->end_ns = x->end_ns;
}

/* Some of `n` entries may be on disk, whole. If less is written over them later, those beyond it would be frames after
 * all, of a call that has failed. */
static void take_back(struct store_writer *w, size_t n)
{
    memset(w->batch, 0, n * sizeof *w->batch);
    (void)segw_put_entries(w->cur, w->batch,
                           n); /* where it fails too, the next segment bounds this one */
    w->must_rotate |= n > 1;
}

/* Write payload behind the tail, then its entries, then let readers see them. `b` may be empty: then the
 * bytes wait for their entry. `pieces` may be none: they came before.
 *
 * The order, and why it is enough:
 *  1. pwrite of the payload. Both pwrites go through the page cache, which readers map: what is done is seen.
 *  2. pwrite of the entries. An entry carries the CRC of its payload and a CRC over itself, the segment's
 *     salt and its number. So an entry on disk whose payload is not (power cut, write-back in any order), a
 *     torn one and a stale one are all known for what they are, and recovery ends before them.
 *  3. control_publish: release stores and a wake. Only now does any reader look at these entries.
 * A crash after 1 leaves bytes behind the last entry, which nobody counts; after 2, entries that recovery
 * takes although nobody was told of them, whole and in order; after 3, what was promised: kill -9 takes
 * nothing from the page cache. If 1 or 2 fails nothing is published, and nothing else here has changed: the
 * same place is written again later. */
int writer_publish(struct store_writer *w, struct iovec *pieces, int n_pieces, uint64_t n_bytes,
                   const struct batch *b, uint64_t visible)
{
    struct segw *s = w->cur;
    int r = segw_pwritev(s, pieces, n_pieces);
    if (r < 0)
        return r;
    if (b->n > 0)
        r = segw_put_entries(s, w->batch, b->n);
    if (r < 0) {
        take_back(w, b->n);
        return r;
    }
    s->tail_bytes += n_bytes;
    w->session_bytes += n_bytes;
    if (b->n == 0)
        return 0;
    s->scan = b->scan;
    s->visible = w->visible = visible;
    w->entries = s->super.base_entry + s->scan.extent.entries;
    w->frames = s->super.base_frame + s->scan.extent.frames;
    w->run.has_entries = true;
    w->is_fresh = false;
    take_times(w, &s->scan.extent);
    control_publish(&w->control, w->entries, w->visible);
    if (s->tail_bytes - s->smoothed_bytes >= WRITER_SMOOTH_BYTES)
        helper_wake_by(w, 0);
    return 0;
}

void writer_show_all(struct store_writer *w)
{
    if (w->kind != SEG_KIND_PACKETS || w->reorder.n == 0)
        return;
    w->visible += reorder_take_all(&w->reorder);
    if (w->cur != NULL)
        w->cur->visible = w->visible;
    control_publish(&w->control, w->entries, w->visible);
}

/* ---- segments ------------------------------------------------------------------------------------ */

static uint64_t step_bytes(const struct store_writer *w)
{
    uint64_t step = w->run.second_bytes;
    return step < STEP_BYTES ? STEP_BYTES : step > STEP_MAX_BYTES ? STEP_MAX_BYTES : step;
}

int writer_reserve(struct store_writer *w, uint64_t n_entries, uint64_t want, uint64_t least)
{
    int r = segw_reserve_index(w->cur, n_entries);
    if (r == 0)
        r = segw_reserve_data(w->cur, want, least, step_bytes(w));
    if (w->cur->grows && !w->has_told_growth) {
        w->has_told_growth = true;
        log_line(&w->log, SWT_LOG_WARNING, "store",
                 "stream %s: this file system cannot reserve space ahead: files grow as they are "
                 "written",
                 w->name);
    }
    return r;
}

static int super_fill(const struct store_writer *w, struct super *s)
{
    s->kind = w->kind;
    memcpy(s->rec_uuid, w->rec_uuid, 16);
    memcpy(s->stream_uuid, w->stream_uuid, 16);
    memcpy(s->session_uuid, w->session_uuid, 16);
    memcpy(s->boot_id, w->boot_id, 16);
    s->segment_no = w->next_segment_no;
    s->session_no = w->session_no;
    s->run_no = w->run.no;
    s->run_base_frame = w->run.base_frame;
    s->run_base_entry = w->run.base_entry;
    s->base_frame = w->frames;
    s->base_entry = w->entries;
    s->frame_bytes = w->kind == SEG_KIND_PACKETS ? 0 : w->run.frame_bytes;
    s->made_boot_ns = clock_boot_ns();
    s->made_wall_ns = clock_wall_ns();
    s->past_bytes = w->past_sums.data_bytes;
    s->past_gaps = w->past_sums.gaps;
    s->past_disconts = w->past_sums.disconts;
    s->past_dropped = w->past_sums.dropped;
    s->past_damaged = w->past_sums.damaged;
    s->stream_first_ns = w->first_ns;
    s->past_end_ns = w->end_ns;
    return getrandom(&s->salt, sizeof s->salt, 0) == sizeof s->salt ? 0 : -EIO;
}

static void add_sums(struct segfile_extent *sum, const struct segfile_extent *x)
{
    sum->data_bytes += x->data_bytes;
    sum->gaps += x->gaps;
    sum->disconts += x->disconts;
    sum->dropped += x->dropped;
    sum->damaged += x->damaged;
}

/* Give the current segment to the helper for sealing. One without entries is removed: the next one takes its
 * name. */
void writer_end_segment(struct store_writer *w)
{
    struct segw *s = w->cur;
    w->must_rotate = false;
    if (s == NULL)
        return;
    if (s->scan.extent.entries == 0) {
        segw_discard(w->seg_fd, &w->cur);
        return;
    }
    add_sums(&w->past_sums, &s->scan.extent);
    struct segw **end = &w->finished;
    while (*end != NULL)
        end = &(*end)->next;
    *end = s;
    w->cur = NULL;
    helper_wake_by(w, 0);
}

/* The current segment stays readable as the source of the next one's seam, however soon it is sealed. */
static int keep_for_seam(struct store_writer *w)
{
    if (w->cur == NULL || w->cur->scan.extent.entries == 0)
        return 0;
    int fd = fcntl(w->cur->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    segfile_close(&w->prev);
    w->prev.fd = fd;
    w->prev.super = w->cur->super;
    return 0;
}

/* Nothing may wait in a group. */
int writer_begin_segment(struct store_writer *w, uint64_t want_bytes, struct swt_diag *reterr)
{
    assert(w->group.e.len == 0);
    struct super s = {0};
    int r = keep_for_seam(w);
    if (r == 0) {
        writer_end_segment(w);
        r = super_fill(w, &s);
    }
    if (r < 0)
        return writer_fail(w, r, "cannot begin a segment", reterr);
    uint64_t entry_bytes = w->kind == SEG_KIND_PACKETS ? PACKET_ENTRY_BYTES : SMALL_ENTRY_BYTES;
    r = super_layout(&s, w->run.n_block, want_bytes, entry_bytes, reterr);
    if (r == 0)
        r = segw_new(w->seg_fd, &s, w->run.block, &w->run.clock, w->prev.fd, &w->prev.super,
                     &w->cur, reterr);
    err_stream(r < 0 ? reterr : NULL, w->name);
    if (r < 0)
        return r;
    w->cur->visible = w->visible;
    w->next_segment_no++;
    return 0;
}

/* ---- formats ------------------------------------------------------------------------------------- */

void run_done(struct run *run)
{
    free(run->block);
    *run = (struct run){0};
}

static void run_describe(struct run *run, const struct params *p, enum seg_kind kind)
{
    run->clock = entry_clock_of(p);
    run->frame_bytes = p->frame_bytes;
    run->second_bytes = p->bit_rate > 0 ? (uint64_t)p->bit_rate / 8 : 0;
    if (kind != SEG_KIND_PACKETS && run->clock.rate.num > 0 && p->frame_bytes <= STEP_MAX_BYTES)
        run->second_bytes = (uint64_t)size_scale_up((int64_t)p->frame_bytes, run->clock.rate.num,
                                                    run->clock.rate.den);
}

static bool is_block(const struct run *run, const void *block, size_t n)
{
    return run->block != NULL && run->n_block == n && memcmp(run->block, block, n) == 0;
}

/* The run that has no entry yet steps aside for `past`, or takes the new block. */
static void run_choose(struct store_writer *w, void **block, size_t n)
{
    if (w->has_past && is_block(&w->past, *block, n)) {
        run_done(&w->run);
        w->run = w->past;
        w->past = (struct run){0};
        w->has_past = false;
        return;
    }
    free(w->run.block);
    w->run.block = *block;
    w->run.n_block = n;
    *block = NULL;
}

static int run_change(struct store_writer *w, struct swt_diag *reterr)
{
    int r = writer_flush_group(w);
    if (r < 0)
        return writer_fail(w, r, "cannot store the end of a run", reterr);
    writer_show_all(w);
    run_done(&w->past);
    w->past = w->run;
    w->has_past = true;
    w->run = (struct run){.no = w->past.no + 1, .base_frame = w->frames, .base_entry = w->entries};
    w->is_fresh = true;
    return 0;
}

static void free_block(void **block)
{
    free(*block);
    *block = NULL;
}

static int format_take(struct store_writer *w, const struct params *params, struct swt_diag *reterr)
{
    size_t n = params_encoded_bytes(params);
    if (n == 0 || n > SEG_PARAMS_MAX)
        return writer_fail(w, -EMSGSIZE, "the description of the format is too large", reterr);
    AUTO(free_block) void *block = malloc(n);
    if (block == NULL)
        return writer_fail(w, -ENOMEM, "cannot take a format", reterr);
    params_encode(params, block);
    if (!is_block(&w->run, block, n)) {
        int r = writer_flush_group(w); /* only now is it known whether the run has entries */
        if (r < 0)
            return writer_fail(w, r, "cannot store the end of a run", reterr);
    }
    if (w->run.has_entries && !is_block(&w->run, block, n)) {
        int r = run_change(w, reterr);
        if (r < 0)
            return r;
    }
    if (!w->run.has_entries)
        run_choose(w, &block, n);
    run_describe(&w->run, params, w->kind);
    return 0;
}

int store_writer_format(struct store_writer *w, const struct params *params,
                        struct swt_diag *reterr)
{
    if (w->kind != SEG_KIND_PACKETS && params->frame_bytes == 0) {
        (void)err_set(reterr, SWT_E_UNSUPPORTED, "frames of no bytes cannot be stored");
        return writer_fail(w, SWT_E_UNSUPPORTED, "", reterr);
    }
    (void)pthread_mutex_lock(&w->lock); /* fails only on misuse, as all of its kind here */
    int r = format_take(w, params, reterr);
    (void)pthread_mutex_unlock(&w->lock);
    return r;
}

/* ---- flush and state ----------------------------------------------------------------------------- */

int store_writer_flush(struct store_writer *w, struct swt_diag *reterr)
{
    (void)pthread_mutex_lock(&w->lock);
    int r = writer_flush_group(w);
    (void)pthread_mutex_unlock(&w->lock);
    if (r < 0)
        return writer_fail(w, r, "cannot write to the stream", reterr);
    if (w->sync_ns == 0)
        writer_sync(w);
    return 0;
}

void store_writer_state(const struct store_writer *w, struct store_writer_state *ret)
{
    pthread_mutex_t *lock =
        (pthread_mutex_t *)&w->lock; /* the figures do not change by being read */
    (void)pthread_mutex_lock(lock);
    *ret = (struct store_writer_state){
        .frames = w->visible,
        .entries = w->entries,
        .durable_frames = w->durable_frames,
        .end_ns = w->end_ns,
        .last_ns = w->last_ns,
        .bytes = w->session_bytes,
    };
    (void)pthread_mutex_unlock(lock);
}
