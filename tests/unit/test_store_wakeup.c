/* SPDX-License-Identifier: MIT
 *
 * test_store_wakeup.c - no publication is slept through: one writer and several waiters, threads and other
 * processes, and after each burst the writer stands still until all have seen its last one. A wake-up that is
 * lost is not made up for by the next publication, so it shows as a wait that runs into its time-out.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "store/store.h"
#include "store_t.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define PUBLISHES UINT64_C(100000)
#define ROWS      UINT64_C(20000)
#else
#define PUBLISHES UINT64_C(1000000)
#define ROWS      UINT64_C(100000)
#endif
#define WAIT_NS  INT64_C(2000000000)  /* a wait of this length while there was news: lost */
#define STUCK_NS INT64_C(30000000000) /* the test gives up */
#define SLICE_NS INT64_C(190000000)   /* store_reader_wait looks again after 200 ms, woken or not */
/* A busy machine may hold somebody up so often; wake-ups that get lost are no accident. */
#define SLOW_MOST UINT64_C(10)
#define BURST     128u
#define THREADS   3u
#define PROCESSES 2u
#define WAITERS   (THREADS + PROCESSES)
#define ROW_BYTES UINT64_C(16)

/* What a waiter tells; in memory that all processes share. */
struct told {
    _Alignas(64) _Atomic uint64_t seen; /* frames */
    _Atomic uint64_t waits, lost, wrong;
};

static struct told *told; /* WAITERS */
static char folder[64], control_dir[PATH_MAX], rec_path[PATH_MAX];
static int stream_fd, lock_fd;
static const uint8_t uuid[16] = {7, 7};

static void shared_begin(void)
{
    folder_make("/dev/shm", folder);
    path_join(folder, "ctl", control_dir);
    path_join(folder, "r.swt", rec_path);
    told = mmap(NULL, WAITERS * sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                -1, 0);
    if (told == MAP_FAILED)
        abort();
}

static void shared_end(void)
{
    (void)munmap(told, WAITERS * sizeof *told);
    folder_remove(folder);
}

/* ---- waiters ---------------------------------------------------------------------------------------- */

typedef void waiter_fn(struct told *t, uint64_t goal);

struct waiter {
    waiter_fn *run;
    struct told *t;
    uint64_t goal;
    pthread_t thread;
    pid_t pid;
};

static void *waiter_thread(void *arg)
{
    struct waiter *w = arg;
    w->run(w->t, w->goal);
    return NULL;
}

/* Processes first: a program of several threads should not fork. */
static int waiters_start(struct waiter w[WAITERS], waiter_fn *run, uint64_t goal)
{
    for (size_t i = 0; i < WAITERS; i++)
        w[i] = (struct waiter){.run = run, .t = &told[i], .goal = goal};
    for (size_t i = THREADS; i < WAITERS; i++) {
        w[i].pid = fork();
        if (w[i].pid < 0)
            return -errno;
        if (w[i].pid == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            run(w[i].t, goal);
            _exit(0);
        }
    }
    for (size_t i = 0; i < THREADS; i++) {
        int r = pthread_create(&w[i].thread, NULL, waiter_thread, &w[i]);
        if (r != 0)
            return -r;
    }
    return 0;
}

/* All came to their end by themselves. */
static bool waiters_join(struct waiter w[WAITERS])
{
    bool ok = true;
    for (size_t i = 0; i < THREADS; i++)
        ok &= pthread_join(w[i].thread, NULL) == 0;
    for (size_t i = THREADS; i < WAITERS; i++) {
        int status = -1;
        ok &= waitpid(w[i].pid, &status, 0) == w[i].pid && status == 0;
    }
    return ok;
}

/* Until all have seen `n`. How long that took. */
static int64_t wait_for_all(uint64_t n)
{
    int64_t began_ns = clock_mono_ns(), took_ns = 0;
    for (size_t i = 0; i < WAITERS && took_ns < STUCK_NS; took_ns = clock_mono_ns() - began_ns) {
        if (atomic_load_explicit(&told[i].seen, memory_order_acquire) >= n)
            i++;
        else
            (void)sched_yield();
    }
    return took_ns;
}

/* Of every other burst the length is 1: the one publication that must not be missed. */
static uint64_t burst_at(uint64_t i)
{
    return i % 2 == 0 ? 1 : 1 + (i * UINT64_C(2654435761) >> 7) % BURST;
}

static bool all_is_well(uint64_t goal)
{
    bool ok = true;
    for (size_t i = 0; i < WAITERS; i++) {
        printf("# waiter %zu: %" PRIu64 " waits, %" PRIu64 " lost, %" PRIu64 " wrong\n", i,
               told[i].waits, told[i].lost, told[i].wrong);
        ok &= told[i].seen >= goal && told[i].waits > 0 && told[i].lost == 0 && told[i].wrong == 0;
    }
    return ok;
}

/* ---- the page alone --------------------------------------------------------------------------------- */

/* As a reader does: read seq, look, sleep. */
static void wait_on_page(struct told *t, uint64_t goal)
{
    struct control c = {0};
    while (control_map(stream_fd, uuid, &c) != 1)
        (void)sched_yield();
    for (;;) {
        uint32_t seq = atomic_load_explicit(&c.page->seq, memory_order_acquire);
        uint64_t visible = atomic_load_explicit(&c.page->visible, memory_order_acquire);
        uint64_t committed = atomic_load_explicit(&c.page->committed, memory_order_acquire);
        t->wrong += visible < t->seen || committed < 2 * visible;
        atomic_store_explicit(&t->seen, visible, memory_order_release);
        if (visible >= goal)
            break;
        int64_t began_ns = clock_mono_ns();
        control_wait(&c, seq, WAIT_NS);
        t->waits++;
        t->lost += clock_mono_ns() - began_ns >= WAIT_NS &&
                   atomic_load_explicit(&c.page->seq, memory_order_acquire) != seq;
    }
    control_unmap(&c);
}

static int page_begin(struct control *c)
{
    char path[PATH_MAX];
    shared_begin();
    path_join(folder, "video", path);
    if (mkdir(path, 0750) != 0)
        return -errno;
    stream_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = dir_stream_lock(stream_fd, "video", &lock_fd, NULL);
    return r < 0 ? r : control_create(stream_fd, lock_fd, uuid, control_dir, 0750, c, NULL);
}

TEST(wait__a_million_publications_none_slept_through)
{
    struct control c = {0};
    struct waiter w[WAITERS];
    int64_t slowest_ns = 0;
    uint64_t n = 0, bursts = 0;
    CHECK_INT(page_begin(&c), 0);
    CHECK_INT(waiters_start(w, wait_on_page, PUBLISHES), 0);
    control_begin(&c, 0, 0, 0);
    for (; n < PUBLISHES && slowest_ns < WAIT_NS; bursts++) {
        for (uint64_t k = burst_at(bursts); k > 0 && n < PUBLISHES; k--) {
            n++;
            control_publish(&c, 2 * n, n);
        }
        int64_t took_ns = wait_for_all(n);
        slowest_ns = took_ns > slowest_ns ? took_ns : slowest_ns;
    }
    printf("# %" PRIu64 " bursts, slowest to be seen by all: %" PRId64 " us\n", bursts,
           slowest_ns / 1000);
    CHECK(slowest_ns < WAIT_NS);
    CHECK(waiters_join(w));
    CHECK(all_is_well(PUBLISHES));
    control_end(&c, stream_fd);
    io_close(&lock_fd);
    io_close(&stream_fd);
    shared_end();
}

/* ---- a writer and its readers ----------------------------------------------------------------------- */

static void wait_with_reader(struct told *t, uint64_t goal)
{
    struct store_dir *d = NULL;
    struct store_reader *r = NULL;
    struct store_reader_state s = {0};
    if (store_dir_open(rec_path, &d, NULL) < 0 || store_reader_open(d, "rows", &r, NULL) < 0)
        t->wrong++;
    while (t->wrong == 0 && s.end_frame < goal) {
        uint64_t before = s.end_frame;
        int64_t began_ns = clock_mono_ns();
        int rc = store_reader_wait(r, before, WAIT_NS, NULL);
        int64_t took_ns = clock_mono_ns() - began_ns;
        t->waits++;
        t->wrong += rc < 0 || store_reader_refresh(r, &s, NULL) < 0 || s.end_frame < before ||
                    (rc == 1 && s.end_frame == before);
        t->lost += took_ns >= WAIT_NS && s.end_frame > before;
        atomic_store_explicit(&t->seen, s.end_frame, memory_order_release);
        if (!s.is_live) /* the writer has not begun: there is nothing to sleep on */
            (void)sched_yield();
    }
    store_reader_close(&r);
    store_dir_close(&d);
}

static int put_rows(struct store_writer *w, uint64_t first, uint64_t n)
{
    uint64_t stored = 0;
    int r = 0;
    for (uint64_t k = first; r == 0 && k < first + n; k++) {
        uint8_t row[ROW_BYTES];
        struct store_item item = item_at((int64_t)k * 1000);
        for (uint64_t i = 0; i < ROW_BYTES; i++)
            row[i] = byte_at(k * ROW_BYTES + i);
        r = store_writer_frames(w, &item, row, 1, &stored, NULL);
        if (r == 0)
            r = store_writer_flush(w, NULL);
    }
    return r;
}

TEST(wait__every_row_of_a_writer_wakes_its_readers)
{
    struct store_dir *dir = NULL;
    struct store_writer *writer = NULL;
    struct waiter w[WAITERS];
    uint64_t n = 0, bursts = 0, slow = 0;
    int64_t slowest_ns = 0;
    shared_begin();
    struct store_writer_spec spec = {.name = "rows",
                                     .kind = SEG_KIND_TENSOR,
                                     .sync_ns = INT64_C(500000000),
                                     .control_dir = control_dir};
    CHECK_INT(store_dir_create(rec_path, clock_boot_ns(), &dir, NULL), 0);
    CHECK_INT(store_writer_open(dir, &spec, &writer, NULL), 0);
    AUTO(params_done) struct params params;
    params_rows(&params, ROW_BYTES, 0);
    CHECK_INT(store_writer_format(writer, &params, NULL), 0);
    store_writer_abandon(&writer); /* its thread must not be there when the others are forked */
    CHECK_INT(waiters_start(w, wait_with_reader, ROWS), 0);
    CHECK_INT(store_writer_open(dir, &spec, &writer, NULL), 0);
    CHECK_INT(store_writer_format(writer, &params, NULL), 0);
    for (; n < ROWS && slowest_ns < WAIT_NS && slow <= SLOW_MOST; bursts++) {
        uint64_t k = burst_at(bursts) < ROWS - n ? burst_at(bursts) : ROWS - n;
        CHECK_INT(put_rows(writer, n, k), 0);
        n += k;
        int64_t took_ns = wait_for_all(n);
        slow += took_ns >= SLICE_NS;
        slowest_ns = took_ns > slowest_ns ? took_ns : slowest_ns;
    }
    printf("# %" PRIu64 " bursts, %" PRIu64 " slow, slowest to be seen by all: %" PRId64 " us\n",
           bursts, slow, slowest_ns / 1000);
    CHECK(slowest_ns < WAIT_NS);
    CHECK(slow <= SLOW_MOST);
    CHECK(waiters_join(w));
    CHECK(all_is_well(ROWS));
    CHECK_INT(store_writer_close(&writer, NULL), 0);
    store_dir_close(&dir);
    shared_end();
}

T_MAIN(RUN(wait__a_million_publications_none_slept_through)
           RUN(wait__every_row_of_a_writer_wakes_its_readers))
