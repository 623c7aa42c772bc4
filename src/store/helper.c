/* SPDX-License-Identifier: MIT
 *
 * helper.c - the writer's one thread besides the caller's: it publishes groups that have waited 10 ms,
 * spreads write-back, syncs and writes slots, seals finished segments, keeps control page and wall-clock
 * anchors. It never appends.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "store/writer_impl.h"

#define SECOND_NS     INT64_C(1000000000)
#define ANCHOR_NS     (60 * SECOND_NS)
#define CLOCK_STEP_NS INT64_C(20000000) /* more than slewing (0.5 ms a second) ever does */
#define CLOCK_PAIR_NS INT64_C(1000000)  /* two clocks read together: within this */

static void lock(struct store_writer *w)
{
    (void)pthread_mutex_lock(&w->lock); /* fails only on misuse */
}

static void unlock(struct store_writer *w)
{
    (void)pthread_mutex_unlock(&w->lock);
}

/* ---- sync ---------------------------------------------------------------------------------------- */

/* What was not synced may be gone from the page cache too, and a second fdatasync would say that all is
 * well: so it is never tried again, `durable` stays where it is, and new data goes to a new segment. */
static void sync_failed(struct store_writer *w, struct segw *s, int r)
{
    s->is_suspect = true;
    if (s == w->cur)
        w->must_rotate = true;
    if (w->lost_error == 0)
        w->lost_error = r;
    log_line(&w->log, SWT_LOG_ERROR, "store",
             "stream %s: the disk did not keep what was written (%s): frames from %llu on may not "
             "survive a "
             "power loss",
             w->name, err_text(r), (unsigned long long)w->durable_frames);
}

static void sync_done(struct store_writer *w, struct segw *s, uint64_t entries, uint64_t visible)
{
    s->synced_entries = entries;
    if (w->lost_error != 0 || visible <= w->durable_frames)
        return;
    w->durable_frames = visible;
    if (w->control.page != NULL)
        atomic_store_explicit(&w->control.page->durable, visible, memory_order_release);
}

/* Make durable what is published in a segment now. `s` is not freed meanwhile: it has entries, and only who
 * holds sync_lock frees those. */
static void sync_segment(struct store_writer *w, struct segw *s, bool is_sealed)
{
    lock(w);
    struct slot slot = segw_slot(s, is_sealed);
    uint64_t visible = s->visible;
    bool is_idle = s->is_suspect || (!is_sealed && slot.entries == s->synced_entries);
    unlock(w);
    if (is_idle)
        return;
    int r = io_fdatasync(s->fd);
    if (r == 0)
        r = segw_checkpoint(s, &slot);
    if (r == 0 && is_sealed)
        r = io_fdatasync(s->fd);
    lock(w);
    if (r < 0)
        sync_failed(w, s, r);
    else
        sync_done(w, s, slot.entries, visible);
    unlock(w);
}

static struct segw *first_finished(struct store_writer *w)
{
    lock(w);
    struct segw *s = w->finished;
    unlock(w);
    return s;
}

/* In order, so that `durable` never runs past a segment that is not. */
static void seal_finished(struct store_writer *w)
{
    for (struct segw *s; (s = first_finished(w)) != NULL;) {
        (void)segw_cut(s); /* costs only space, and the sync says what matters */
        sync_segment(w, s, true);
        lock(w);
        w->finished = s->next;
        unlock(w);
        segw_free(&s);
    }
}

/* The current segment if it has entries; without, it may be discarded at any time. */
static struct segw *current(struct store_writer *w)
{
    lock(w);
    struct segw *s = w->cur != NULL && w->cur->scan.extent.entries > 0 ? w->cur : NULL;
    unlock(w);
    return s;
}

void writer_sync(struct store_writer *w)
{
    (void)pthread_mutex_lock(&w->sync_lock);
    seal_finished(w);
    struct segw *s = current(w);
    if (s != NULL)
        sync_segment(w, s, false);
    (void)pthread_mutex_unlock(&w->sync_lock);
}

/* Seal what has ended, and start write-back of whole steps early, so that a sync finds little left to wait for. */
static void seal_and_smooth(struct store_writer *w)
{
    (void)pthread_mutex_lock(&w->sync_lock);
    seal_finished(w);
    struct segw *s = current(w);
    if (s != NULL) {
        lock(w);
        uint64_t from = s->smoothed_bytes, n = size_down(s->tail_bytes - from, WRITER_SMOOTH_BYTES);
        s->smoothed_bytes += n;
        unlock(w);
        if (n > 0) /* a hint: where it does nothing, the sync does it all */
            (void)sync_file_range(s->fd, (off_t)(s->super.data_off + from), (off_t)n,
                                  SYNC_FILE_RANGE_WRITE);
    }
    (void)pthread_mutex_unlock(&w->sync_lock);
}

/* ---- clocks -------------------------------------------------------------------------------------- */

/* Both clocks of one instant; a thread that was held up in between tries again. */
static void read_clocks(const struct store_writer *w, struct anchor *ret_anchor)
{
    int64_t after_ns;
    int n_tries = 0;
    do {
        ret_anchor->boot_ns = clock_boot_ns();
        ret_anchor->wall_ns = clock_wall_ns();
        after_ns = clock_boot_ns();
    } while (after_ns - ret_anchor->boot_ns > CLOCK_PAIR_NS && ++n_tries < 5);
    memcpy(ret_anchor->boot_id, w->boot_id, sizeof ret_anchor->boot_id);
}

static void put_anchor(struct store_writer *w, const struct anchor *a)
{
    int r = dir_anchor_append(w->stream_fd, a);
    if (r < 0)
        log_line(&w->log, SWT_LOG_WARNING, "store", "stream %s: wall clock not noted: %s", w->name,
                 err_text(r));
    w->clock_watch.anchored_boot_ns = a->boot_ns;
}

void writer_first_anchor(struct store_writer *w)
{
    read_clocks(w, &w->clock_watch.seen);
    put_anchor(w, &w->clock_watch.seen);
}

/* An anchor each minute. When the clock steps, one from just before and one from just after, so that the
 * nearest anchor is on the right side. */
static void watch_clocks(struct store_writer *w)
{
    struct clock_watch *watch = &w->clock_watch;
    struct anchor now;
    read_clocks(w, &now);
    int64_t step_ns = (now.wall_ns - now.boot_ns) - (watch->seen.wall_ns - watch->seen.boot_ns);
    bool has_stepped = step_ns > CLOCK_STEP_NS || step_ns < -CLOCK_STEP_NS;
    if (has_stepped && watch->seen.boot_ns != watch->anchored_boot_ns)
        put_anchor(w, &watch->seen);
    if (has_stepped || now.boot_ns - watch->anchored_boot_ns >= ANCHOR_NS)
        put_anchor(w, &now);
    watch->seen = now;
}

/* ---- thread -------------------------------------------------------------------------------------- */

static void keep_control(struct store_writer *w)
{
    lock(w);
    int r = control_keep(&w->control, w->stream_fd, w->lock_fd);
    if (w->control.page != NULL)
        atomic_store_explicit(&w->control.page->heartbeat_ns, clock_boot_ns(),
                              memory_order_relaxed);
    unlock(w);
    if (r < 0)
        log_line(&w->log, SWT_LOG_WARNING, "store",
                 "stream %s: control file is gone and not made anew: %s", w->name, err_text(r));
}

/* Publish a group that has waited long enough; when to look again. `lock` is held. */
static int64_t group_due(struct store_writer *w, int64_t now_ns)
{
    if (w->group.e.len == 0)
        return INT64_MAX;
    int64_t due_ns = w->group.started_ns + WRITER_GROUP_NS;
    if (now_ns < due_ns)
        return due_ns;
    /* A failure is told by the next append or by close; the frames wait. */
    return writer_flush_group(w) < 0 ? now_ns + WRITER_GROUP_NS : INT64_MAX;
}

struct schedule {
    int64_t second_ns, sync_ns; /* when each is due; CLOCK_MONOTONIC */
};

static void do_work(struct store_writer *w, int64_t now_ns, struct schedule *due)
{
    if (now_ns >= due->second_ns) {
        due->second_ns = now_ns + SECOND_NS;
        keep_control(w);
        watch_clocks(w);
    }
    if (w->sync_ns > 0 && now_ns >= due->sync_ns) {
        due->sync_ns = now_ns + w->sync_ns;
        writer_sync(w);
    }
    seal_and_smooth(w);
}

static int64_t earliest(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void sleep_until(struct store_writer *w, int64_t at_ns)
{
    struct timespec t = {.tv_sec = at_ns / SECOND_NS, .tv_nsec = at_ns % SECOND_NS};
    (void)pthread_cond_timedwait(&w->wake, &w->lock,
                                 &t); /* however it ends, the clock is read again */
}

static void *helper_main(void *arg)
{
    struct store_writer *w = arg;
    int64_t now_ns = clock_mono_ns();
    struct schedule due = {.second_ns = now_ns + SECOND_NS,
                           .sync_ns = w->sync_ns > 0 ? now_ns + w->sync_ns : INT64_MAX};
    lock(w);
    while (!w->must_stop) {
        now_ns = clock_mono_ns();
        if (now_ns < w->wake_ns) {
            sleep_until(w, w->wake_ns);
            continue;
        }
        w->wake_ns = INT64_MAX;
        helper_wake_by(w, group_due(w, now_ns));
        unlock(w);
        do_work(w, now_ns, &due);
        lock(w);
        helper_wake_by(w, earliest(due.second_ns, due.sync_ns));
    }
    unlock(w);
    return NULL;
}

void helper_wake_by(struct store_writer *w, int64_t at_ns)
{
    if (at_ns >= w->wake_ns)
        return;
    w->wake_ns = at_ns;
    (void)pthread_cond_signal(&w->wake);
}

int helper_start(struct store_writer *w)
{
    /* Signals are the program's: its own threads shall get them. */
    sigset_t all, before;
    (void)sigfillset(&all);
    int r = -pthread_sigmask(SIG_SETMASK, &all, &before);
    if (r < 0)
        return r;
    r = -pthread_create(&w->helper, NULL, helper_main, w);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    w->has_helper = r == 0;
    return r;
}

void helper_stop(struct store_writer *w)
{
    if (!w->has_helper)
        return;
    lock(w);
    w->must_stop = true;
    (void)pthread_cond_signal(&w->wake);
    unlock(w);
    (void)pthread_join(w->helper, NULL);
    w->has_helper = false;
}
