/* SPDX-License-Identifier: MIT
 *
 * record.c - a recording session.
 *
 *   input 0 ── thread: read → place in time → [packets] hold → sink ─┐
 *                                           → [tensor] decode → sink ─┼── store writers, one a stream, each with
 *   input 1 ── thread: …                                          ───┘    its own helper (sync, seal)
 *
 * There is no queue: a source that can wait (file, pipe) is slowed by the disk, nothing is dropped. The main thread
 * shows progress and ends it all: on a signal (stop), a limit (limits.end_ns), or a store that fails.
 */
#include "session/record_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/size.h"

#define PROGRESS_NS        200000000L
#define DEFAULT_TIMEOUT_NS INT64_C(10000000000)

/* ---- open ---------------------------------------------------------------------------------------- */

static int open_input(struct record *r, struct input *in, struct swt_diag *reterr)
{
    if (in->is_rows)
        return rows_open(&in->rows, in->name, &r->spec, reterr);
    int rc = media_sources(&in->ops, reterr);
    if (rc < 0)
        return rc;
    struct media_source_spec spec = {.input = in->name,
                                     .timeout_ns = r->spec.timeout_ns > 0 ? r->spec.timeout_ns
                                                                          : DEFAULT_TIMEOUT_NS,
                                     .stop = &r->stop,
                                     .log = r->log};
    rc = in->ops->open(&spec, &in->source, reterr);
    if (rc >= 0)
        in->info = in->ops->info(in->source);
    return rc;
}

/* --frames counts frames of the first video, else of the first stream. */
static void give_frames_limit(struct record *r)
{
    struct track *first = NULL;
    for (size_t i = 0; i < r->n_inputs; i++) {
        struct input *in = &r->inputs[i];
        if (in->is_rows && !first && i == 0)
            in->rows_limit = r->spec.frames;
        for (int k = 0; k < in->n_tracks; k++) {
            struct track *t = &in->tracks[k];
            if (!first || (!first->is_video && t->is_video))
                first = t;
        }
    }
    if (first && !(r->inputs[0].is_rows && !first->is_video))
        first->frames_limit = r->spec.frames;
}

static int check_spec(const struct swt_record_spec *spec, struct swt_diag *reterr)
{
    if (spec->n_inputs == 0)
        return err_set(reterr, SWT_E_USAGE, "no input given");
    if (spec->tensor && spec->n_inputs != 1)
        return err_set(reterr, SWT_E_USAGE, "--tensor takes one input");
    if (spec->store == SWT_STORE_PACKETS && (spec->width > 0 || spec->fps.num > 0 || spec->pixel))
        return err_set(reterr, SWT_E_USAGE,
                       "--size, --fps and --pixel make tensors: leave out --store packets");
    if (spec->pixel && !pixfmt_find(spec->pixel))
        return err_set(reterr, SWT_E_USAGE, "'%s' is not a pixel format swt knows", spec->pixel);
    return 0;
}

static int64_t now_ns(void)
{
    return clock_boot_ns();
}

int record_open(const struct swt_record_spec *spec, struct record **ret_record,
                struct swt_diag *reterr)
{
    int rc = check_spec(spec, reterr);
    if (rc < 0)
        return rc;
    AUTO(record_close) struct record *r = calloc(1, sizeof *r);
    if (!r)
        return err_set(reterr, -ENOMEM, "out of memory");
    r->spec = *spec;
    r->log = (struct log_to){spec->log, spec->log_arg};
    (void)pthread_mutex_init(&r->begin_lock, NULL);
    atomic_init(&r->limits.end_ns, INT64_MAX);
    r->inputs = calloc(spec->n_inputs, sizeof *r->inputs);
    if (!r->inputs)
        return err_set(reterr, -ENOMEM, "out of memory");
    bool all_live = true;
    for (size_t i = 0; i < spec->n_inputs; i++) {
        struct input *in = &r->inputs[r->n_inputs++];
        *in = (struct input){.record = r, .name = spec->inputs[i], .is_rows = spec->tensor != NULL};
        in->rows.fd = -1;
        rc = open_input(r, in, reterr);
        if (rc >= 0)
            rc = record_choose(r, in, reterr);
        if (rc < 0)
            return rc;
        all_live = all_live && input_is_live(in);
    }
    if (!all_live && (rc = record_begin(r, now_ns(), reterr)) < 0)
        return rc;
    *ret_record = r;
    r = NULL;
    return 0;
}

void record_close(struct record **record)
{
    struct record *r = *record;
    if (!r)
        return;
    for (size_t i = 0; i < r->n_inputs; i++) {
        struct input *in = &r->inputs[i];
        for (int k = 0; k < in->n_tracks; k++)
            track_done(&in->tracks[k]);
        free(in->tracks);
        if (in->source)
            in->ops->close(&in->source);
        if (in->is_rows)
            rows_done(&in->rows);
    }
    free(r->inputs);
    for (size_t i = 0; i < r->n_sinks; i++) {
        sink_done(r->sinks[i]);
        free(r->sinks[i]);
    }
    store_dir_close(&r->dir);
    (void)pthread_mutex_destroy(&r->begin_lock);
    free(r);
    *record = NULL;
}

/* ---- begin --------------------------------------------------------------------------------------- */

/* Time 0 of the recording on this boot's clock; after a reboot by the wall clock. */
static int64_t zero_on_this_boot(const struct store_dir_info *info)
{
    uint8_t boot[16];
    clock_boot_id(boot);
    if (memcmp(boot, info->zero_boot_id, sizeof boot) == 0)
        return info->zero_boot_ns;
    return clock_boot_ns() - (clock_wall_ns() - info->zero_wall_ns);
}

static int open_sinks(struct record *r, struct swt_diag *reterr)
{
    r->base_ns = INT64_MIN;
    for (size_t i = 0; i < r->n_sinks; i++) {
        struct store_writer_state state;
        int rc = sink_open(r->sinks[i], r->dir, &r->spec, r->inputs[0].name, reterr);
        if (rc < 0)
            return rc;
        store_writer_state(r->sinks[i]->writer, &state);
        r->base_ns = state.end_ns > r->base_ns ? state.end_ns : r->base_ns;
    }
    r->base_ns = r->base_ns == INT64_MIN ? 0 : r->base_ns;
    return 0;
}

/* Earliest start among all streams of a container, so that sound and picture keep their distance. */
static int64_t source_start(const struct input *in)
{
    int64_t start = INT64_MAX;
    for (int i = 0; i < in->info->n_streams; i++) {
        const struct media_stream *m = &in->info->streams[i];
        int64_t ns = m->start == MEDIA_NO_PTS || m->is_attached
                         ? INT64_MAX
                         : size_ticks_ns(m->start, m->params.time_base);
        start = ns < start ? ns : start;
    }
    return start == INT64_MAX ? in->info->start_ns : start;
}

static int begin_input(struct record *r, struct input *in, struct swt_diag *reterr)
{
    int rc = 0;
    bool is_live = input_is_live(in);
    if (in->is_rows) {
        in->rows.offset_ns = r->base_ns;
        in->rows.last_ns = r->base_ns - 1;
        return sink_format(in->rows_sink, &in->rows.params, reterr);
    }
    timeline_init(&in->line, is_live ? 0 : r->base_ns - source_start(in));
    for (int k = 0; k < in->n_tracks && rc >= 0; k++) {
        struct track *t = &in->tracks[k];
        struct sink *packets = t->packets, *tensor = t->tensor;
        int index = t->index;
        rc = track_init(t, &r->spec, &in->info->streams[index], index, &in->line, &r->limits);
        t->packets = packets;
        t->tensor = tensor;
        t->gap_before = is_live && (packets ? packets : tensor)->start_frames > 0;
    }
    return rc;
}

static int begin_locked(struct record *r, int64_t capture_ns, struct swt_diag *reterr)
{
    struct store_dir *dir = NULL;
    bool all_live = true;
    int rc = store_dir_create(r->spec.path, capture_ns, &dir, reterr);
    if (rc < 0)
        return rc;
    r->dir = dir;
    r->zero_boot_ns = zero_on_this_boot(store_dir_info(dir));
    rc = open_sinks(r, reterr);
    for (size_t i = 0; i < r->n_inputs && rc >= 0; i++) {
        rc = begin_input(r, &r->inputs[i], reterr);
        all_live = all_live && input_is_live(&r->inputs[i]);
    }
    if (rc < 0) {
        for (size_t i = 0; i < r->n_sinks; i++)
            store_writer_abandon(&r->sinks[i]->writer);
        store_dir_discard(dir);
        return rc;
    }
    r->start_ns = r->base_ns;
    if (all_live && capture_ns - r->zero_boot_ns > r->start_ns)
        r->start_ns = capture_ns - r->zero_boot_ns;
    if (r->spec.duration_ns > 0)
        atomic_store(&r->limits.end_ns, r->start_ns + r->spec.duration_ns);
    give_frames_limit(r);
    return 0;
}

int record_begin(struct record *r, int64_t capture_ns, struct swt_diag *reterr)
{
    (void)pthread_mutex_lock(&r->begin_lock);
    int rc = r->dir ? 0 : begin_locked(r, capture_ns, reterr);
    if (rc >= 0)
        atomic_store(&r->has_begun, 1);
    (void)pthread_mutex_unlock(&r->begin_lock);
    return rc;
}

/* ---- input threads ------------------------------------------------------------------------------- */

/* A live input's first packet stands at its true distance from time 0, never before the end of what is there. */
static void place_live(struct record *r, struct input *in, const struct media_packet *p)
{
    if (in->is_placed || !in->info->is_live)
        return;
    in->is_placed = true;
    int64_t at = p->capture_ns - r->zero_boot_ns;
    int64_t pts = p->pts != MEDIA_NO_PTS ? p->pts : p->dts;
    int64_t raw = pts == MEDIA_NO_PTS
                      ? 0
                      : size_ticks_ns(pts, in->info->streams[p->stream].params.time_base);
    in->line.offset_ns = (at > r->base_ns ? at : r->base_ns) - raw;
    for (int k = 0; k < in->n_tracks; k++)
        in->tracks[k].place.offset_ns = in->line.offset_ns;
}

static struct track *track_of(struct input *in, int stream)
{
    for (int k = 0; k < in->n_tracks; k++)
        if (in->tracks[k].index == stream)
            return &in->tracks[k];
    return NULL;
}

static bool all_done(const struct input *in)
{
    for (int k = 0; k < in->n_tracks; k++)
        if (!in->tracks[k].is_done)
            return false;
    return true;
}

static int one_packet(struct record *r, struct input *in, struct swt_diag *reterr)
{
    struct media_packet p;
    int changed = -1;
    int rc = in->ops->read(in->source, &p, &changed, reterr);
    if (rc < 0)
        return rc;
    rc = record_begin(r, p.capture_ns, reterr);
    struct track *t = track_of(in, p.stream);
    if (rc < 0 || !t)
        return rc;
    place_live(r, in, &p);
    if (changed == p.stream)
        rc = track_changed(t, reterr);
    return rc < 0 ? rc : track_packet(t, &p, reterr);
}

/* Read to the end; `ret_lost`: the input itself was damaged or ended early. */
static int read_media(struct record *r, struct input *in, bool *ret_lost, struct swt_diag *reterr)
{
    int rc = 0;
    while (rc >= 0 && !atomic_load(&r->stop) && !(atomic_load(&r->has_begun) && all_done(in))) {
        rc = one_packet(r, in, reterr);
        if (rc == SWT_E_LOST) {
            *ret_lost = true;
            rc = 0;
        }
    }
    rc = rc == SWT_E_END || rc == SWT_E_STOPPED ? 0 : rc;
    struct swt_diag later;
    for (int k = 0; k < in->n_tracks && atomic_load(&r->has_begun); k++) {
        int end = track_end(&in->tracks[k], &later);
        if (end < 0 && rc >= 0) {
            rc = end;
            *reterr = later;
        }
    }
    return rc;
}

static int read_rows(struct record *r, struct input *in, struct swt_diag *reterr)
{
    int rc = 1;
    while (rc > 0 && !atomic_load(&r->stop)) {
        if (!atomic_load(&r->has_begun)) {
            rc = rows_wait(&in->rows, 100);
            if (rc > 0)
                rc = record_begin(r, now_ns(), reterr);
            rc = rc >= 0 ? 1 : rc;
            continue;
        }
        rc = rows_step(&in->rows, in->rows_sink, &r->limits, in->rows_limit, 100, r->zero_boot_ns,
                       reterr);
    }
    return rc > 0 ? 0 : rc;
}

static void *input_main(void *arg)
{
    struct input *in = arg;
    struct record *r = in->record;
    bool lost = false;
    in->rc = in->is_rows ? read_rows(r, in, &in->diag) : read_media(r, in, &lost, &in->diag);
    if (in->rc >= 0 && lost)
        in->rc = SWT_E_LOST;
    /* A store that fails ends the session; an input that ends early does not end the others. */
    if (in->rc < 0 && in->rc != SWT_E_LOST)
        atomic_store(&r->stop, 1);
    atomic_fetch_sub(&r->n_running, 1);
    return NULL;
}

/* ---- run ----------------------------------------------------------------------------------------- */

static void describe_all(struct record *r)
{
    for (size_t i = 0; i < r->n_inputs; i++) {
        struct input *in = &r->inputs[i];
        if (in->is_rows)
            record_describe(in->rows_sink, NULL, &r->spec);
        for (int k = 0; k < in->n_tracks; k++) {
            if (in->tracks[k].packets)
                record_describe(in->tracks[k].packets, &in->tracks[k], &r->spec);
            if (in->tracks[k].tensor)
                record_describe(in->tracks[k].tensor, &in->tracks[k], &r->spec);
        }
    }
}

static void show_progress(struct record *r)
{
    struct swt_record_stream streams[RECORD_MAX_SINKS];
    if (!r->spec.progress)
        return;
    for (size_t i = 0; i < r->n_sinks; i++)
        sink_stats(r->sinks[i], &streams[i]);
    r->spec.progress(r->spec.progress_arg, streams, r->n_sinks);
}

static int run_inputs(struct record *r, struct swt_diag *reterr)
{
    int rc = 0;
    atomic_store(&r->n_running, (int)r->n_inputs);
    for (size_t i = 0; i < r->n_inputs; i++) {
        struct input *in = &r->inputs[i];
        int err = pthread_create(&in->thread, NULL, input_main, in);
        in->has_thread = err == 0;
        if (err != 0) {
            rc = err_set(reterr, -err, "cannot start a thread");
            atomic_store(&r->stop, 1);
            atomic_fetch_sub(&r->n_running, 1);
        }
    }
    int64_t shown_ns = clock_mono_ns();
    while (atomic_load(&r->n_running) > 0) {
        struct timespec pause = {0, PROGRESS_NS / 20};
        (void)nanosleep(&pause, NULL);
        if (clock_mono_ns() - shown_ns < PROGRESS_NS)
            continue;
        shown_ns = clock_mono_ns();
        show_progress(r);
    }
    for (size_t i = 0; i < r->n_inputs; i++)
        if (r->inputs[i].has_thread)
            (void)pthread_join(r->inputs[i].thread, NULL);
    return rc;
}

/* What the whole session came to: the first real failure, else what was lost. */
static int outcome(struct record *r, int rc, struct swt_diag *reterr)
{
    uint64_t stored = 0, dropped = 0, damaged = 0;
    for (size_t i = 0; i < r->n_sinks; i++) {
        stored += r->sinks[i]->stats.frames_stored;
        dropped += r->sinks[i]->stats.frames_dropped;
        damaged += r->sinks[i]->stats.frames_damaged;
    }
    for (size_t i = 0; i < r->n_inputs && rc >= 0; i++) {
        if (r->inputs[i].rc < 0) {
            rc = r->inputs[i].rc;
            if (reterr)
                *reterr = r->inputs[i].diag;
        }
    }
    bool is_cut = rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG || rc == -EIO ||
                  rc == SWT_E_TIMEOUT;
    if (is_cut && stored > 0)
        return SWT_E_LOST;
    if (rc >= 0 && !r->dir)
        return err_set(reterr, SWT_E_STOPPED,
                       "stopped before anything arrived: no recording was made");
    if (rc >= 0 && dropped + damaged > 0)
        return err_set(reterr, SWT_E_LOST, "%" PRIu64 " dropped, %" PRIu64 " damaged", dropped,
                       damaged);
    return rc;
}

int record_run(struct record *r, struct swt_diag *reterr)
{
    int rc = run_inputs(r, reterr);
    describe_all(r);
    bool keep = rc >= 0;
    for (size_t i = 0; i < r->n_inputs; i++)
        keep = keep && (r->inputs[i].rc >= 0 || r->inputs[i].rc == SWT_E_LOST);
    for (size_t i = 0; i < r->n_sinks; i++) {
        int closed = sink_close(r->sinks[i], keep, rc < 0 ? NULL : reterr);
        rc = rc < 0 ? rc : closed;
    }
    rc = outcome(r, rc, reterr);
    if (rc < 0 && rc != SWT_E_LOST && r->dir)
        store_dir_discard(r->dir);
    show_progress(r);
    return rc;
}

void record_stop(struct record *r)
{
    atomic_store(&r->stop, 1);
}

int record_stream(const struct record *r, size_t i, struct swt_record_stream *ret)
{
    if (i >= r->n_sinks)
        return SWT_E_NO_STREAM;
    sink_stats(r->sinks[i], ret);
    return 0;
}
