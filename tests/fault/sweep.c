/* SPDX-License-Identifier: MIT
 *
 * sweep.c - every system call and every allocation of a small workload fails once, in every way it can, and the
 * process is killed in each.
 *
 *     sweep FOLDER FRAME-BYTES fast[/STEP]|full|PLAN    a plan as it is printed: "once other 12 0 crash"; STEP: only
 *                                                       every so many-th call
 *
 * The workload: make a recording, append over three segments while a reader looks on, close; open it again,
 * append, close; read it all. For each plan it runs in a process of its own, into a fresh recording. After a
 * failure it does what a program would: the same call again, with other content. What must hold:
 *  - a failure is told, with a text, or the call has worked after all; nobody crashes, hangs, or loses memory,
 *    descriptors or mappings; a failed sync is told by close at the latest;
 *  - frames that were stored are there with the content they were stored with, and no others;
 *  - verify finds nothing, the next session goes on behind them, and leaves nothing half made.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "fault.h"
#include "strike.h"

#define MAX_FRAMES 4096
#define SEG_FRAMES 12 /* of big frames in a segment */
#define UNIT       6  /* small frames that stand for a big one */
#define TIME_S     60 /* for one run; sanitizers are slow */
#define MAX_FAULTS 20 /* then it is enough */

/* How the first session ends: in order; the process is gone when all is appended, or right after the append that
 * follows the first failure. */
enum end { END_CLOSE, END_CRASH, END_SOON, N_ENDS };

struct share {
    struct strike_record strike;
    char path[200], control_dir[200];
    uint64_t frame_bytes;
    uint64_t n_stored;           /* frames whose append said so */
    uint64_t owners[MAX_FRAMES]; /* what they bear as session: the number of the append */
    uint64_t n_flying, flying;   /* the append that is under way: frames, and its number */
    uint64_t n_appends, n_errors;
    enum end end;
    bool is_grouped;   /* frames may wait for company: only close promises them */
    uint64_t n_closed; /* frames stored when a session had ended well */
    bool has_closed_well;
};
static struct share *share;

__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

/* ---- the workload -------------------------------------------------------------------------------- */

/* An error must say something. */
static void told(int rc, const struct swt_diag *diag, const char *what)
{
    share->n_errors++;
    if (diag->code != rc || diag->text[0] == '\0' || strlen(diag->text) > 400)
        die("%s failed with %d, but told %d: \"%s\"", what, rc, diag->code, diag->text);
}

static struct swt_append *open_append(void)
{
    struct swt_append_spec spec;
    struct swt_append *append = NULL;
    spec_rows(&spec, share->path, share->frame_bytes);
    spec.segment_bytes = share->frame_bytes * SEG_FRAMES * (share->is_grouped ? UNIT : 1);
    spec.sync_ns = 2000000;
    spec.control_dir = share->control_dir;
    for (int tries = 0; tries < 3; tries++) {
        struct swt_diag diag = {0};
        int rc = swt_append_open(&spec, &append, &diag);
        /* small frames that a failed close has told of */
        if (rc >= 0 && share->is_grouped && (uint64_t)swt_append_next(append) >= share->n_closed &&
            (uint64_t)swt_append_next(append) < share->n_stored)
            share->n_stored = (uint64_t)swt_append_next(append);
        if (rc >= 0)
            return append;
        told(rc, &diag, "open");
    }
    return NULL;
}

/* One append. Returns how many frames it has stored. */
static int64_t append_once(struct swt_append *append, int64_t n)
{
    static uint8_t frames[8 * FRAME_MAX];
    struct swt_diag diag = {0};
    int64_t stored = -1;
    uint64_t bytes = share->frame_bytes, next = (uint64_t)swt_append_next(append);
    if (next != share->n_stored)
        die("the writer is at frame %" PRIu64 " after %" PRIu64, next, share->n_stored);
    share->flying = ++share->n_appends;
    share->n_flying = (uint64_t)n;
    for (uint64_t i = 0; i < (uint64_t)n; i++)
        frame_put(next + i, share->flying, frames + i * bytes, (size_t)bytes);
    int rc = swt_append_frames(append, frames, n, INT64_MIN, &stored, &diag);
    if (stored < 0 || stored > n || (rc >= 0 && stored != n))
        die("append of %" PRId64 " frames returned %d and stored %" PRId64, n, rc, stored);
    for (int64_t i = 0; i < stored; i++)
        share->owners[share->n_stored++] = share->flying;
    share->n_flying = 0;
    if (rc < 0)
        told(rc, &diag, "append");
    return stored;
}

/* Append `n` frames; what fails is tried again, as other appends: of one frame, then of what is left. */
static void append_frames(struct swt_append *append, int64_t n)
{
    uint64_t errors = share->n_errors;
    n -= append_once(append, n);
    bool has_failed = share->n_errors > errors;
    if (n > 0)
        n -= append_once(append, 1);
    if (has_failed && share->end == END_SOON)
        _exit(0);
    if (n > 0)
        (void)append_once(append, n);
}

/* One window of the newest frames, from a reader's first step to its last. */
static int look_once(struct swt_recording *recording, int64_t n, struct swt_diag *diag)
{
    static uint8_t copy[8 * FRAME_MAX];
    struct swt_window_spec spec;
    struct swt_window *window = NULL;
    struct swt_window_info info;
    struct swt_frame_info first;
    const void *map = NULL;
    swt_window_spec_init(&spec);
    spec.select = SWT_SELECT_LAST;
    spec.length = (struct swt_length){SWT_LENGTH_FRAMES, n};
    spec.edge = SWT_EDGE_TRIM;
    int rc = swt_window_open(recording, &spec, &window, diag);
    if (rc >= 0)
        rc = swt_window_wait(window, 0, diag);
    if (rc >= 0)
        rc = swt_window_refresh(window, diag);
    if (rc >= 0)
        swt_window_info_get(window, &info);
    if (rc >= 0 && info.n_frames > 0) {
        rc = swt_window_frame(window, 0, &first, diag);
        if (rc >= 0)
            rc = swt_window_read(window, 0, info.n_frames, copy, sizeof copy, diag);
        if (rc >= 0)
            rc = swt_window_map(window, &map, diag);
        for (int64_t i = 0; rc >= 0 && i < info.n_frames; i++) {
            const uint8_t *frame = copy + (uint64_t)i * share->frame_bytes;
            if (!frame_is((uint64_t)(first.frame + i), frame, (size_t)share->frame_bytes) ||
                memcmp(frame, (const uint8_t *)map + (uint64_t)i * share->frame_bytes,
                       (size_t)share->frame_bytes) != 0)
                die("frame %" PRId64 " is wrong in a window", first.frame + i);
        }
    }
    swt_window_close(&window);
    return rc;
}

static void look(int64_t n)
{
    struct swt_recording *recording = NULL;
    struct swt_stream_info info;
    for (int tries = 0; tries < 3; tries++) {
        struct swt_diag diag = {0};
        int rc = recording ? 0 : swt_recording_open(share->path, &recording, &diag);
        if (rc >= 0 && swt_recording_n_streams(recording) == 0)
            break; /* nothing was made */
        if (rc >= 0)
            rc = swt_recording_stream(recording, 0, &info, &diag);
        if (rc >= 0)
            rc = look_once(recording, n, &diag);
        if (rc >= 0)
            break;
        told(rc, &diag, "reading");
    }
    swt_recording_close(&recording);
}

static void close_append(struct swt_append **append)
{
    struct swt_diag diag = {0};
    int rc = swt_append_close(append, &diag);
    if (rc < 0)
        told(rc, &diag, "close");
    share->has_closed_well = rc >= 0;
    if (rc >= 0)
        share->n_closed = share->n_stored;
    if (*append != NULL)
        die("close leaves the writer");
}

static void first_session(void)
{
    struct swt_append *append = open_append();
    if (append == NULL)
        return;
    int64_t unit = share->is_grouped ? UNIT : 1;
    append_frames(append, 3 * unit);
    append_frames(append, 8 * unit);
    look(3);
    append_frames(append, 6 * unit);
    append_frames(append, 1 * unit);
    append_frames(append, 8 * unit);
    if (share->end != END_CLOSE)
        _exit(0);
    close_append(&append);
}

static void second_session(void)
{
    struct swt_append *append = open_append();
    if (append == NULL)
        return;
    append_frames(append, 2);
    close_append(&append);
}

/* ---- leaks --------------------------------------------------------------------------------------- */

static int count_descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    if (dir)
        (void)closedir(dir);
    return n;
}

/* Mappings of the recording or of its control page. */
static bool is_mapped(void)
{
    char line[700];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, share->path) != NULL || strstr(line, ".ctl") != NULL;
    if (maps)
        (void)fclose(maps);
    return found;
}

static void check_leaks(int n_descriptors)
{
    if (count_descriptors() != n_descriptors)
        die("%d descriptors are open, %d before", count_descriptors(), n_descriptors);
    if (is_mapped())
        die("a mapping of the recording is left");
    if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check() != 0)
        die("memory is lost");
}

__attribute__((noreturn)) static void work(const struct strike_plan *plan)
{
    int n_descriptors = count_descriptors();
    (void)alarm(TIME_S);
    strike_arm(plan, &share->strike);
    first_session();
    second_session();
    look(8);
    strike_disarm();
    check_leaks(n_descriptors);
    _exit(0);
}

/* ---- afterwards ---------------------------------------------------------------------------------- */

static void tell_damage(void *arg, const struct swt_diag *d)
{
    (void)arg;
    (void)dprintf(STDERR_FILENO, "# verify: %s: %s (offset %" PRId64 ", frame %" PRId64 ")\n",
                  d->path, d->text, d->offset, d->frame);
}

static void check_verify(const char *when)
{
    struct swt_verify_report report;
    struct swt_diag diag = {0};
    int rc = swt_verify(share->path, tell_damage, NULL, &report, &diag);
    bool is_absent = rc == -ENOENT || rc == SWT_E_NOT_RECORDING;
    if (rc < 0 && (share->n_stored > 0 || !is_absent))
        DIE_DIAG(when, rc, &diag);
}

/* How many frames there must be at least and may be at most. */
static void bounds(bool is_whole, uint64_t *ret_least, uint64_t *ret_most)
{
    *ret_least = *ret_most = share->n_stored;
    if (!is_whole)
        *ret_most += share->n_flying; /* finished, but nobody was told */
    if (share->is_grouped)
        *ret_least = share->n_closed;
}

static void check_frame(uint64_t number, const uint8_t *frame)
{
    uint64_t owner = number < share->n_stored ? share->owners[number] : share->flying;
    if (!frame_is(number, frame, (size_t)share->frame_bytes)) {
        char text[256];
        frame_describe(frame, (size_t)share->frame_bytes, text, sizeof text);
        die("frame %" PRIu64 " is wrong: %s", number, text);
    }
    if (frame_session(frame) != owner)
        die("frame %" PRIu64 " is that of append %" PRIu64 ", append %" PRIu64 " stored it", number,
            frame_session(frame), owner);
}

static void check_frames(bool is_whole)
{
    struct swt_recording *recording = NULL;
    struct swt_stream_info info = {0};
    struct swt_diag diag = {0};
    uint64_t least, most;
    int rc = swt_recording_open(share->path, &recording, &diag);
    if (rc >= 0 && swt_recording_n_streams(recording) > 0)
        rc = swt_recording_stream(recording, 0, &info, &diag);
    bounds(is_whole, &least, &most);
    if (rc < 0 && (least > 0 || (rc != -ENOENT && rc != SWT_E_NOT_RECORDING)))
        DIE_DIAG("opening afterwards", rc, &diag);
    if ((uint64_t)info.frames < least || (uint64_t)info.frames > most || info.damaged || info.gaps)
        die("%" PRId64 " frames are there, want %" PRIu64 " to %" PRIu64 "; %" PRIu64
            " damaged, %" PRIu64 " gaps",
            info.frames, least, most, info.damaged, info.gaps);
    for (int64_t i = 0; i < info.frames;) {
        static uint8_t frames[8 * FRAME_MAX];
        int64_t n = info.frames - i < 8 ? info.frames - i : 8;
        struct swt_window_spec spec;
        struct swt_window *window = NULL;
        spec_range(&spec, i, i + n);
        rc = swt_window_open(recording, &spec, &window, &diag);
        if (rc >= 0)
            rc = swt_window_read(window, 0, n, frames, sizeof frames, &diag);
        if (rc < 0)
            DIE_DIAG("reading afterwards", rc, &diag);
        for (int64_t k = 0; k < n; k++)
            check_frame((uint64_t)(i + k), frames + (uint64_t)k * share->frame_bytes);
        swt_window_close(&window);
        i += n;
    }
    /* From here on what is there is what was stored. */
    for (uint64_t i = share->n_stored; i < (uint64_t)info.frames; i++)
        share->owners[i] = share->flying;
    share->n_stored = (uint64_t)info.frames;
    share->n_flying = 0;
    swt_recording_close(&recording);
}

/* Names that must not be in a folder of a closed recording. */
static void check_litter(const char *folder, const char *const *allowed)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s%s", share->path, folder);
    DIR *dir = opendir(path);
    for (const struct dirent *d; dir && (d = readdir(dir)) != NULL;) {
        bool ok = strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0;
        for (size_t i = 0; allowed[i]; i++)
            ok |= strcmp(d->d_name, allowed[i]) == 0;
        ok |= allowed[0] == NULL && strlen(d->d_name) == 24;
        if (!ok)
            die("%s%s is left behind", path + strlen(share->path), d->d_name);
    }
    if (dir)
        (void)closedir(dir);
}

/* A new session, without failures: it goes on behind what is there. */
static void check_next_session(void)
{
    struct swt_append *append = open_append();
    uint64_t errors = share->n_errors;
    if (append == NULL)
        die("the recording cannot be written any more");
    append_frames(append, 2);
    close_append(&append);
    if (share->n_errors != errors || !share->has_closed_well)
        die("the next session meets failures");
}

/* `is_whole`: no append was cut off. `is_tidy`: nothing kept the process from removing what it had half made. */
__attribute__((noreturn)) static void check(bool is_whole, bool is_tidy)
{
    static const char *const in_stream[] = {"meta.json", "lock", "clock", "seg", NULL};
    static const char *const in_recording[] = {"swt.json", "lock", "tensor", NULL};
    static const char *const in_seg[] = {NULL};
    (void)alarm(TIME_S);
    check_verify("verify afterwards");
    check_frames(is_whole);
    share->n_errors = 0;
    check_next_session();
    check_frames(true);
    check_verify("verify after the next session");
    if (is_tidy) {
        check_litter("/", in_recording);
        check_litter("/tensor/", in_stream);
    }
    check_litter("/tensor/seg/", in_seg);
    _exit(0);
}

/* ---- all plans ----------------------------------------------------------------------------------- */

static const char *const mode_names[] = {"none", "once", "on", "kill"};
static const char *const thread_names[] = {"main", "other"};
static const char *const end_names[] = {"close", "crash", "soon"};

struct totals {
    uint64_t runs, faults, errors, kills;
};

/* Runs one of the two in a process of its own; its status. */
static int in_process(const struct strike_plan *work_plan, bool is_whole, bool is_tidy)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (work_plan)
            work(work_plan);
        check(is_whole, is_tidy);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        die("fork: %s", strerror(errno));
    return status;
}

/* One plan. False: there is no such call, or it has no such way to fail. */
static bool run_plan(const struct strike_plan *plan, enum end end, struct totals *t)
{
    remove_tree(share->path);
    remove_tree(share->control_dir);
    memset(&share->strike, 0, sizeof share->strike);
    share->n_stored = share->n_flying = share->n_appends = share->n_errors = 0;
    share->has_closed_well = false;
    share->n_closed = 0;
    share->end = end;
    int status = in_process(plan, false, false);
    bool has_struck = share->strike.has_struck;
    if (!has_struck && plan->mode != STRIKE_NONE && status == 0)
        return false;
    bool is_killed = plan->mode == STRIKE_KILL && WIFSIGNALED(status) &&
                     WTERMSIG(status) == SIGKILL;
    t->runs++;
    t->errors += share->n_errors > 0;
    t->kills += is_killed;
    int checked = 0;
    if (status == 0 || is_killed)
        checked = in_process(NULL, !is_killed, end == END_CLOSE && plan->mode == STRIKE_ONCE);
    if ((status != 0 && !is_killed) || checked != 0) {
        t->faults++;
        (void)dprintf(STDERR_FILENO,
                      "# above: %s of %s, plan \"%s %s %" PRIu64
                      " %d %s\"; status %#x, after it %#x, %" PRIu64 " errors told\n",
                      share->strike.error, share->strike.call, mode_names[plan->mode],
                      thread_names[plan->thread], plan->k, plan->way, end_names[end], status,
                      checked, share->n_errors);
    }
    return true;
}

/* All ways of call k. False: nobody calls that often. */
static bool run_call(enum strike_mode mode, enum strike_thread thread, uint64_t k, enum end end,
                     struct totals *t)
{
    struct strike_plan plan = {mode, thread, k, 0};
    bool is_there = false;
    for (; t->faults < MAX_FAULTS; plan.way++) {
        bool has_run = run_plan(&plan, end, t);
        is_there |= has_run || share->strike.no_such_way || share->strike.counts[thread] >= k;
        if (!has_run && plan.way >= 5) /* the most ways a call has; some do not last */
            break;
    }
    return is_there;
}

/* `is_fast`: without failures that last, and without the crash that comes late. */
static void run_all(bool is_fast, uint64_t step, struct totals *t)
{
    for (int mode = STRIKE_ONCE; mode <= STRIKE_KILL; mode++) {
        for (int end = 0; end < (mode == STRIKE_ONCE ? N_ENDS : 1); end++) {
            if (is_fast && (mode == STRIKE_ON || end == END_CRASH))
                continue;
            for (int thread = 0; thread < STRIKE_THREADS; thread++) {
                uint64_t k = 1, before = t->runs;
                while (t->faults < MAX_FAULTS &&
                       run_call((enum strike_mode)mode, (enum strike_thread)thread, k,
                                (enum end)end, t))
                    k += step;
                (void)printf("# %s, %s thread, then %s: %" PRIu64 " calls, %" PRIu64 " runs\n",
                             mode_names[mode], thread_names[thread], end_names[end], k - 1,
                             t->runs - before);
                (void)fflush(stdout);
            }
        }
    }
}

static int find_word(const char *const *names, int n, const char *word)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], word) == 0)
            return i;
    }
    die("what is '%s'?", word);
}

static void run_one(const char *text, struct totals *t)
{
    char mode[8], thread[8], end[8];
    struct strike_plan plan;
    if (sscanf(text, "%7s %7s %" SCNu64 " %d %7s", mode, thread, &plan.k, &plan.way, end) != 5)
        die("a plan is: once|on|kill main|other CALL WAY close|crash|soon");
    plan.mode = (enum strike_mode)find_word(mode_names, 4, mode);
    plan.thread = (enum strike_thread)find_word(thread_names, STRIKE_THREADS, thread);
    if (!run_plan(&plan, (enum end)find_word(end_names, N_ENDS, end), t))
        die("there is no such call");
}

int main(int argc, char **argv)
{
    struct totals t = {0};
    if (argc != 4)
        die("sweep FOLDER FRAME-BYTES fast[/STEP]|full|PLAN");
    frames_init();
    share = mmap(NULL, sizeof *share, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (share == MAP_FAILED)
        die("mmap: %s", strerror(errno));
    (void)snprintf(share->path, sizeof share->path, "%s/sweep.swt", argv[1]);
    (void)snprintf(share->control_dir, sizeof share->control_dir, "%s/control", argv[1]);
    share->frame_bytes = strtoull(argv[2], NULL, 10);
    share->is_grouped = share->frame_bytes < 4096;
    int64_t begin = now_ns();
    bool is_fast = strncmp(argv[3], "fast", 4) == 0;
    uint64_t step = is_fast && argv[3][4] == '/' ? strtoull(argv[3] + 5, NULL, 10) : 1;
    if (is_fast || strcmp(argv[3], "full") == 0)
        run_all(is_fast, step > 0 ? step : 1, &t);
    else
        run_one(argv[3], &t);
    (void)printf("%" PRIu64 " runs (%" PRIu64 " killed, %" PRIu64
                 " told an error) of frames of %" PRIu64 " bytes in %.1f s: %" PRIu64 " faults\n",
                 t.runs, t.kills, t.errors, share->frame_bytes, (double)(now_ns() - begin) / 1e9,
                 t.faults);
    return t.faults != 0;
}
