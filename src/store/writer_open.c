/* SPDX-License-Identifier: MIT
 *
 * writer_open.c - a session's beginning and end: lock, find where the stream ends, show the control page; and
 * flush, seal, sync, unlock. Nothing of an earlier session is ever written to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "store/list.h"
#include "store/tail.h"
#include "store/writer_impl.h"

#define TENSOR_SEGMENT_BYTES (UINT64_C(512) << 20)
#define PACKET_SEGMENT_BYTES (UINT64_C(64) << 20)
#define SEGMENT_MAX_BYTES    (UINT64_C(1) << 50)

/* ---- where the stream ends ----------------------------------------------------------------------- */

/* A killed session's half-made segments; the lock says that nobody is making one. */
static int remove_leftovers(const struct store_writer *w)
{
    AUTO(list_done) struct list list = {0};
    int r = list_read(w->seg_fd, &list);
    if (r < 0)
        return r;
    for (size_t i = 0; i < list.n; i++) {
        if (strncmp(list.names[i], SEGW_TEMP_PREFIX, strlen(SEGW_TEMP_PREFIX)) == 0 &&
            unlinkat(w->seg_fd, list.names[i], 0) != 0)
            return -errno;
    }
    return 0;
}

static void free_bases(uint64_t **bases)
{
    free(*bases);
    *bases = NULL;
}

/* Was nothing ever committed to it, as far as the disk knows? */
static bool is_blank(const struct segfile *f, const struct segfile_extent *x)
{
    return x->entries == 0 && f->slot.entries == 0;
}

static int remove_blank(const struct store_writer *w, const struct segfile *f)
{
    char name[32];
    segfile_name(f->base, name);
    log_line(&w->log, SWT_LOG_INFO, "store",
             "stream %s: removed segment %s, nothing was committed to it", w->name, name);
    return unlinkat(w->seg_fd, name, 0) != 0 || fsync(w->seg_fd) != 0 ? -errno : 0;
}

/* What lies behind the stream's end: newest first, so that a cut in between leaves the end where it is. */
static int remove_behind(const struct store_writer *w, const uint64_t *bases, size_t from,
                         size_t to)
{
    for (; to > from; to--) {
        char name[32];
        segfile_name(bases[to - 1], name);
        log_line(&w->log, SWT_LOG_INFO, "store",
                 "stream %s: removed segment %s, the end before it was lost with the power",
                 w->name, name);
        if (unlinkat(w->seg_fd, name, 0) != 0)
            return -errno;
    }
    return fsync(w->seg_fd) != 0 ? -errno : 0;
}

/* Open and recover the last segment that holds anything. `bases` loses those that hold nothing. 1 found,
 * 0 none. */
static int find_last(struct store_writer *w, const uint64_t *bases, size_t *n,
                     struct segfile_extent *ret_extent, struct swt_diag *reterr)
{
    for (; *n > 0; --*n) {
        size_t n_left = 0;
        segfile_close(&w->prev);
        int r = tail_find(w->seg_fd, bases, *n, w->stream_uuid, 0, &w->prev, ret_extent, &n_left,
                          reterr);
        if (r == 0)
            r = segfile_recover(&w->prev, UINT64_MAX, 0, ret_extent, reterr);
        if (r < 0)
            return r;
        if (n_left < *n) {
            r = remove_behind(w, bases, n_left, *n);
            if (r < 0)
                return writer_fail(w, r, "cannot remove a segment behind the end", reterr);
            *n = n_left;
        }
        if (!is_blank(&w->prev, ret_extent))
            return 1;
        r = remove_blank(w, &w->prev);
        if (r < 0)
            return writer_fail(w, r, "cannot remove an empty segment", reterr);
    }
    segfile_close(&w->prev);
    return 0;
}

static int check_features(const struct store_writer *w, struct swt_diag *reterr)
{
    const struct super *s = &w->prev.super;
    if ((s->ro_compat & ~SEG_RO_COMPAT_KNOWN) == 0 && s->kind == w->kind)
        return 0;
    (void)err_set(reterr, SWT_E_UNSUPPORTED,
                  "the stream uses features that this swt can read but not write: update swt");
    err_stream(reterr, w->name);
    return SWT_E_UNSUPPORTED;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Go on behind the recovered segment. */
static void take_end(struct store_writer *w, const struct segfile_extent *x)
{
    const struct super *s = &w->prev.super;
    w->session_no = s->session_no + 1;
    w->next_segment_no = s->segment_no + 1;
    w->frames = w->visible = s->base_frame + x->frames;
    w->entries = s->base_entry + x->entries;
    w->past_sums = (struct segfile_extent){
        .data_bytes = s->past_bytes + x->data_bytes,
        .gaps = s->past_gaps + x->gaps,
        .disconts = s->past_disconts + x->disconts,
        .dropped = s->past_dropped + x->dropped,
        .damaged = s->past_damaged + x->damaged,
    };
    w->first_ns = s->stream_first_ns != INT64_MIN ? s->stream_first_ns : x->first_ns;
    w->end_ns = later(s->past_end_ns, x->end_ns);
    /* Of earlier segments only the end is known: it is not before their last frame. */
    w->last_ns = x->last_ns != INT64_MIN ? x->last_ns : s->past_end_ns;
}

/* The format of the last run, so that an equal one goes on with it. One that cannot be read is not equal. */
static int take_run(struct store_writer *w, struct swt_diag *reterr)
{
    const struct super *s = &w->prev.super;
    w->run = (struct run){.no = s->run_no + 1, .base_frame = w->frames, .base_entry = w->entries};
    AUTO(params_done) struct params p;
    params_init(&p);
    if (segfile_params(&w->prev, &p, NULL) < 0)
        return 0;
    size_t n = params_encoded_bytes(&p);
    void *block = n == 0 ? NULL : malloc(n);
    if (block == NULL)
        return writer_fail(w, -ENOMEM, "cannot read the stream's format", reterr);
    params_encode(&p, block);
    w->past = (struct run){
        .no = s->run_no,
        .base_frame = s->run_base_frame,
        .base_entry = s->run_base_entry,
        .block = block,
        .n_block = n,
        .has_entries = true,
    };
    w->has_past = true;
    return 0;
}

/* What a killed session had not synced: make it durable before we promise to go on behind it. Its sealed
 * segments are, and so is all before its session. */
static int sync_earlier(struct store_writer *w, const uint64_t *bases, size_t n)
{
    for (size_t i = n; i > 0; i--) {
        AUTO(segfile_close) struct segfile f = {.fd = -1};
        int r = segfile_open(w->seg_fd, bases[i - 1], w->stream_uuid, &f, NULL);
        if (r < 0)
            return r;
        if (f.slot.is_sealed || f.super.session_no != w->prev.super.session_no)
            return 0;
        r = io_fdatasync(f.fd);
        if (r < 0)
            return r;
    }
    return 0;
}

static int recover(struct store_writer *w, struct swt_diag *reterr)
{
    AUTO(free_bases) uint64_t *bases = NULL;
    size_t n = 0;
    int r = remove_leftovers(w);
    if (r == 0)
        r = segfile_list(w->seg_fd, &bases, &n);
    if (r < 0)
        return writer_fail(w, r, "cannot list the segments", reterr);
    struct segfile_extent x;
    r = find_last(w, bases, &n, &x, reterr);
    if (r <= 0)
        return r;
    r = check_features(w, reterr);
    if (r < 0)
        return r;
    take_end(w, &x);
    r = sync_earlier(w, bases, n);
    if (r < 0)
        log_line(&w->log, SWT_LOG_WARNING, "store",
                 "stream %s: cannot sync what an earlier session left: %s", w->name, err_text(r));
    w->durable_frames = r < 0 ? w->prev.super.base_frame + w->prev.slot.frames : w->visible;
    return take_run(w, reterr);
}

/* ---- open ---------------------------------------------------------------------------------------- */

static int show_control(struct store_writer *w, const char *dir, struct swt_diag *reterr)
{
    struct stat st;
    if (fstat(w->stream_fd, &st) != 0)
        return writer_fail(w, -errno, "cannot look at the stream", reterr);
    struct swt_diag why = {0};
    int r = control_create(w->stream_fd, w->lock_fd, w->stream_uuid, dir, st.st_mode, &w->control,
                           &why);
    if (r < 0 && dir != NULL) {
        if (reterr != NULL)
            *reterr = why;
        err_stream(reterr, w->name);
        return r;
    }
    if (r < 0) /* readers poll then; not recording would be worse */
        log_line(&w->log, SWT_LOG_WARNING, "store",
                 "stream %s: no control file, readers see frames later: %s", w->name, why.text);
    control_begin(&w->control, w->entries, w->visible, w->durable_frames);
    return 0;
}

static int sync_objects_init(struct store_writer *w)
{
    pthread_condattr_t attr;
    int r = -pthread_mutex_init(&w->lock, NULL);
    if (r == 0)
        r = -pthread_mutex_init(&w->sync_lock, NULL);
    if (r == 0)
        r = -pthread_condattr_init(&attr);
    if (r < 0)
        return r;
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC); /* Linux has it */
    r = -pthread_cond_init(&w->wake, &attr);
    (void)pthread_condattr_destroy(&attr);
    return r;
}

static void take_spec(struct store_writer *w, const struct store_writer_spec *spec)
{
    uint64_t preset = spec->kind == SEG_KIND_PACKETS ? PACKET_SEGMENT_BYTES : TENSOR_SEGMENT_BYTES;
    w->kind = spec->kind;
    w->segment_bytes = spec->segment_bytes == 0 ? preset : spec->segment_bytes;
    if (w->segment_bytes > SEGMENT_MAX_BYTES)
        w->segment_bytes = SEGMENT_MAX_BYTES;
    w->segment_ns = spec->segment_ns;
    w->sync_ns = spec->sync_ns;
    w->log = spec->log;
    w->stream_fd = w->seg_fd = w->lock_fd = w->prev.fd = -1;
    w->first_ns = w->last_ns = w->end_ns = INT64_MIN;
    w->is_fresh = true;
}

static struct store_writer *writer_new(const struct store_writer_spec *spec)
{
    struct store_writer *w = calloc(1, sizeof *w);
    if (w == NULL)
        return NULL;
    take_spec(w, spec);
    w->batch = calloc(WRITER_BATCH, sizeof *w->batch);
    if (w->batch == NULL || sync_objects_init(w) < 0) {
        free(w->batch);
        free(w);
        return NULL;
    }
    return w;
}

static void writer_free(struct store_writer **writer)
{
    struct store_writer *w = *writer;
    if (w == NULL)
        return;
    control_end(&w->control, w->stream_fd);
    segfile_close(&w->prev);
    segw_free(&w->cur);
    run_done(&w->run);
    run_done(&w->past);
    free(w->batch);
    free(w->path);
    if (w->lock_fd >= 0)
        (void)ftruncate(w->lock_fd,
                        0); /* who locks next is not to be taken for us; messages only */
    io_close(&w->lock_fd);  /* from here on others may write the stream */
    io_close(&w->seg_fd);
    io_close(&w->stream_fd);
    (void)pthread_cond_destroy(&w->wake);
    (void)pthread_mutex_destroy(&w->sync_lock);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
    *writer = NULL;
}

static int find_stream(struct store_dir *dir, const struct store_writer_spec *spec,
                       struct store_writer *w, struct swt_diag *reterr)
{
    struct stream_meta meta;
    int r = dir_stream_create(dir, spec->name, spec->kind, spec->made_from, &w->stream_fd,
                              &w->seg_fd, &meta, reterr);
    if (r < 0)
        return r;
    memcpy(w->name, meta.name, sizeof w->name);
    memcpy(w->stream_uuid, meta.uuid, 16);
    memcpy(w->rec_uuid, dir->info.uuid, 16);
    w->path = strdup(dir->path);
    if (w->path == NULL)
        return writer_fail(w, -ENOMEM, "cannot open the stream", reterr);
    clock_boot_id(w->boot_id);
    r = io_uuid(w->session_uuid);
    if (r < 0)
        return writer_fail(w, r, "cannot make a uuid", reterr);
    return dir_stream_lock(w->stream_fd, w->name, &w->lock_fd, reterr);
}

int store_writer_open(struct store_dir *dir, const struct store_writer_spec *spec,
                      struct store_writer **ret_writer, struct swt_diag *reterr)
{
    AUTO(writer_free) struct store_writer *w = writer_new(spec);
    if (w == NULL)
        return err_errno(reterr, ENOMEM, dir->path, "cannot open the stream");
    int r = find_stream(dir, spec, w, reterr);
    if (r == 0)
        r = recover(w, reterr);
    if (r == 0)
        r = show_control(w, spec->control_dir, reterr);
    if (r < 0)
        return r;
    reorder_init(&w->reorder, w->last_ns);
    writer_first_anchor(w);
    r = helper_start(w);
    if (r < 0)
        return writer_fail(w, r, "cannot start a thread", reterr);
    *ret_writer = w;
    w = NULL;
    return 0;
}

/* ---- close --------------------------------------------------------------------------------------- */

/* Everything is sealed and nothing was lost on the way: all frames are durable. */
static void settle_durable(struct store_writer *w)
{
    if (w->lost_error != 0)
        return;
    w->durable_frames = w->visible;
    if (w->control.page != NULL)
        atomic_store_explicit(&w->control.page->durable, w->visible, memory_order_release);
}

int store_writer_keep_format(struct store_writer *w, struct swt_diag *reterr)
{
    (void)pthread_mutex_lock(&w->lock);
    int r = 0;
    if (w->entries == 0 && w->group.e.len == 0 && w->run.block != NULL) {
        r = w->cur != NULL ? 0 : writer_begin_segment(w, w->segment_bytes, reterr);
        segw_free(&w->cur);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return r;
}

int store_writer_close(struct store_writer **writer, struct swt_diag *reterr)
{
    struct store_writer *w = *writer;
    if (w == NULL)
        return 0;
    helper_stop(w);
    (void)pthread_mutex_lock(&w->lock);
    int r = writer_flush_group(w);
    writer_show_all(w);
    writer_end_segment(w);
    (void)pthread_mutex_unlock(&w->lock);
    writer_sync(w);
    settle_durable(w);
    if (r == 0)
        r = w->lost_error;
    if (r < 0)
        (void)writer_fail(w, r, "the end of the stream is not safely on disk", reterr);
    writer_free(writer);
    return r;
}

void store_writer_abandon(struct store_writer **w)
{
    (void)store_writer_close(w, NULL); /* the caller is failing already, for its own reason */
}
