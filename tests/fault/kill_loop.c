/* SPDX-License-Identifier: MIT
 *
 * kill_loop.c - writers killed with SIGKILL again and again while two readers look at every frame.
 *
 *     kill_loop FOLDER KILLS [SEED]
 *
 * A writer appends to a recording of tiny segments and is killed 0 to 9 ms after it began (or while it still
 * opens); the next one goes on in the same recording, now and then a fresh one is begun. Two readers read all
 * the time and are killed and stopped too. What must hold, after every kill and with no other step:
 *  - all frames whose append had returned, and all that a reader has seen, are there;
 *  - every frame given out, mapped or copied, is the one its number says, of the session that wrote it, at
 *    its time; a reader never sees the stream get shorter;
 *  - the next writer goes on exactly where a reader sees the end;
 *  - verify finds nothing.
 * Ends with one line of figures, and 0 or 1.
 */
#include <signal.h>
#include <sys/prctl.h>

#include "fault.h"

#define MAX_SESSIONS 4096
#define FRESH_KILLS  60                   /* kills in one recording, about */
#define MAX_BYTES    (UINT64_C(96) << 20) /* of one recording */
#define HANG_NS      INT64_C(30000000000)
#define N_READERS    2
#define WINDOW_MAX   24 /* frames a window of the readers has at most */

/* What the processes tell each other; in memory that outlives each of them. */
struct share {
    char path[256];
    uint64_t frame_bytes, segment_bytes;
    int64_t sync_ns;
    _Atomic uint32_t has_begun;              /* the writer appends */
    _Atomic uint64_t acked;                  /* frames whose append returned */
    _Atomic uint64_t seen;                   /* frames that a reader saw */
    _Atomic uint64_t n_sessions;             /* of this recording */
    _Atomic uint64_t starts[MAX_SESSIONS];   /* first frame of each */
    _Atomic uint64_t beats[N_READERS];       /* windows looked at */
    _Atomic uint64_t frames_read[N_READERS]; /* frames looked at */
};
static struct share *share;

static void raise_to(_Atomic uint64_t *at, uint64_t value)
{
    uint64_t now = atomic_load(at);
    while (now < value && !atomic_compare_exchange_weak(at, &now, value))
        ;
}

/* Frames that must be there, whoever asks. */
static uint64_t promised(void)
{
    uint64_t acked = atomic_load(&share->acked), seen = atomic_load(&share->seen);
    return acked > seen ? acked : seen;
}

/* ---- writer -------------------------------------------------------------------------------------- */

/* Frames that may wait for company when append returns. */
static uint64_t group_rest(void)
{
    uint64_t bytes = share->frame_bytes;
    return bytes >= 4096 ? 0 : (4096 + bytes - 1) / bytes - 1;
}

__attribute__((noreturn)) static void writer_run(uint64_t seed)
{
    struct swt_diag diag = {0};
    struct swt_append_spec spec;
    struct swt_append *append = NULL;
    spec_rows(&spec, share->path, share->frame_bytes);
    spec.segment_bytes = share->segment_bytes;
    spec.sync_ns = share->sync_ns;
    int rc = swt_append_open(&spec, &append, &diag);
    if (rc < 0)
        DIE_DIAG("the writer cannot open", rc, &diag);
    uint64_t session = atomic_load(&share->n_sessions), next = (uint64_t)swt_append_next(append);
    uint64_t first = next, rest = group_rest();
    if (session >= MAX_SESSIONS)
        die("more than %d sessions in a recording", MAX_SESSIONS);
    if (next < promised())
        die("session %" PRIu64 " goes on at frame %" PRIu64 ", %" PRIu64 " were promised", session,
            next, promised());
    atomic_store(&share->starts[session], next);
    atomic_store(&share->n_sessions, session + 1);
    atomic_store(&share->has_begun, 1);
    static uint8_t frames[4 * FRAME_MAX];
    for (;;) {
        int64_t n = 1 + (int64_t)below(&seed, 4), stored = -1;
        for (int64_t i = 0; i < n; i++)
            frame_put(next + (uint64_t)i, session, frames + (size_t)i * share->frame_bytes,
                      share->frame_bytes);
        rc = swt_append_frames(append, frames, n, INT64_MIN, &stored, &diag);
        if (rc < 0 || stored != n)
            DIE_DIAG("append", rc, &diag);
        next += (uint64_t)n;
        if (next >= first + rest)
            raise_to(&share->acked, next - rest);
        if (below(&seed, 4) == 0)
            sleep_ns((int64_t)below(&seed, 300000));
    }
}

/* ---- judging frames ------------------------------------------------------------------------------ */

static void judge(uint64_t number, const uint8_t *frame, const char *who)
{
    uint64_t session = frame_session(frame), n = atomic_load(&share->n_sessions);
    if (!frame_is(number, frame, share->frame_bytes)) {
        char text[256];
        frame_describe(frame, share->frame_bytes, text, sizeof text);
        die("%s: frame %" PRIu64 " is wrong: %s", who, number, text);
    }
    if (session >= n || number < atomic_load(&share->starts[session]) ||
        (session + 1 < n && number >= atomic_load(&share->starts[session + 1])))
        die("%s: frame %" PRIu64 " is of session %" PRIu64 " of %" PRIu64
            ", which begins at %" PRIu64,
            who, number, session, n, session < n ? atomic_load(&share->starts[session]) : 0);
}

static void judge_time(struct swt_window *window, int64_t i, uint64_t number, const char *who)
{
    struct swt_diag diag = {0};
    struct swt_frame_info f;
    int rc = swt_window_frame(window, i, &f, &diag);
    if (rc < 0)
        DIE_DIAG(who, rc, &diag);
    if (f.frame != (int64_t)number || f.pts_ns != (int64_t)number * (1000000000 / RATE_HZ) ||
        !f.is_valid || f.is_gap || f.is_damaged || f.dropped_before)
        die("%s: frame %" PRIu64 " is described as frame %" PRId64 " at %" PRId64
            " ns, valid %d gap %d damaged %d dropped %u",
            who, number, f.frame, f.pts_ns, f.is_valid, f.is_gap, f.is_damaged, f.dropped_before);
}

/* All frames of a window, mapped in place or copied with their checksums looked at. Returns the first number. */
static uint64_t judge_window(struct swt_window *window, bool mapped, const char *who)
{
    static uint8_t copy[FRAME_MAX * WINDOW_MAX];
    struct swt_diag diag = {0};
    struct swt_window_info info;
    struct swt_frame_info first;
    const void *data = copy;
    swt_window_info_get(window, &info);
    if (info.n_frames == 0) /* --edge trim of a stream without frames */
        return 0;
    if (info.is_converted || info.frame_bytes != share->frame_bytes ||
        info.n_valid != info.n_frames || info.n_frames > WINDOW_MAX)
        die("%s: a window of %" PRId64 " frames, %" PRId64 " valid, of %" PRIu64
            " bytes, converted %d",
            who, info.n_frames, info.n_valid, info.frame_bytes, info.is_converted);
    int rc = mapped ? swt_window_map(window, &data, &diag)
                    : swt_window_read(window, 0, info.n_frames, copy, sizeof copy, &diag);
    if (rc >= 0)
        rc = swt_window_frame(window, 0, &first, &diag);
    if (rc < 0)
        DIE_DIAG(who, rc, &diag);
    for (int64_t i = 0; i < info.n_frames; i++) {
        uint64_t number = (uint64_t)(first.frame + i);
        judge(number, (const uint8_t *)data + (size_t)i * share->frame_bytes, who);
        judge_time(window, i, number, who);
    }
    return (uint64_t)first.frame;
}

/* ---- readers ------------------------------------------------------------------------------------- */

/* Before the first promise a recording may be half made. */
static bool may_be_missing(int rc, uint64_t before)
{
    return before == 0 && (rc == -ENOENT || rc == SWT_E_NOT_RECORDING || rc == SWT_E_NO_STREAM ||
                           rc == SWT_E_NO_WINDOW);
}

static void spec_last(struct swt_window_spec *spec, uint64_t n)
{
    swt_window_spec_init(spec);
    spec->select = SWT_SELECT_LAST;
    spec->length = (struct swt_length){SWT_LENGTH_FRAMES, (int64_t)n};
    spec->edge = SWT_EDGE_TRIM;
}

static void beat(int who, uint64_t frames)
{
    atomic_fetch_add(&share->beats[who], 1);
    atomic_fetch_add(&share->frames_read[who], frames);
}

/* Follow the newest frames through one open window, and look again at what was mapped long ago. `before`: what
 * was promised before the recording was opened. */
static void follow(struct swt_recording *recording, uint64_t before, uint64_t *seed)
{
    struct swt_diag diag = {0};
    struct swt_window_spec spec;
    struct swt_window *window = NULL;
    struct swt_window_info info;
    const void *old = NULL;
    uint64_t old_number = 0, newest = 0;
    spec_last(&spec, 1 + below(seed, WINDOW_MAX));
    int rc = swt_window_open(recording, &spec, &window, &diag);
    if (rc < 0 && may_be_missing(rc, before))
        return;
    for (int turn = 0; rc >= 0; turn++) {
        swt_window_info_get(window, &info);
        uint64_t first = judge_window(window, turn % 2 == 0, "the following reader");
        uint64_t end = first + (uint64_t)info.n_frames;
        if (end < before || end < newest)
            die("the following reader: the stream ends at %" PRIu64 ", %" PRIu64
                " were promised and %" PRIu64 " seen by itself",
                end, before, newest);
        newest = end;
        raise_to(&share->seen, end);
        if (old == NULL && info.n_frames > 0 && swt_window_map(window, &old, &diag) >= 0)
            old_number = first;
        if (old != NULL)
            judge(old_number, old, "the following reader, an old mapping");
        beat(0, (uint64_t)info.n_frames);
        if (turn > 200)
            break;
        (void)swt_window_wait(window, 5000000,
                              &diag); /* a pause: what it says is checked by refresh */
        before = promised();
        rc = swt_window_refresh(window, &diag);
    }
    if (rc < 0)
        DIE_DIAG("the following reader", rc, &diag);
    swt_window_close(&window);
}

/* One window somewhere, through a recording opened for it. */
static void visit(struct swt_recording *recording, uint64_t before, uint64_t *seed)
{
    struct swt_diag diag = {0};
    struct swt_window_spec spec;
    struct swt_window *window = NULL;
    struct swt_stream_info info;
    int rc = swt_recording_n_streams(recording) == 0
                 ? SWT_E_NO_STREAM
                 : swt_recording_stream(recording, 0, &info, &diag);
    if (rc < 0 && may_be_missing(rc, before))
        return;
    if (rc < 0)
        DIE_DIAG("the visiting reader, info", rc, &diag);
    if (info.frames < (int64_t)before || info.first_frame != 0 || info.gaps || info.dropped ||
        info.damaged || (info.frames > 0 && info.runs != 1))
        die("the visiting reader: %" PRId64 " frames from %" PRId64 ", %" PRIu64
            " were promised; runs %" PRIu64 " gaps %" PRIu64 " dropped %" PRIu64 " damaged %" PRIu64
            " durable %" PRId64 " segments %" PRIu64 " live %d pid %" PRId64,
            info.frames, info.first_frame, before, info.runs, info.gaps, info.dropped, info.damaged,
            info.durable_frames, info.segments, info.is_live, info.writer_pid);
    if (info.frames == 0)
        return;
    uint64_t first = below(seed, (uint64_t)info.frames);
    uint64_t n = 1 + below(seed, WINDOW_MAX), left = (uint64_t)info.frames - first;
    n = n < left ? n : left;
    spec_range(&spec, (int64_t)first, (int64_t)(first + n));
    rc = swt_window_open(recording, &spec, &window, &diag);
    if (rc < 0)
        DIE_DIAG("the visiting reader, window", rc, &diag);
    if (judge_window(window, below(seed, 2) == 0, "the visiting reader") != first)
        die("the visiting reader: the window does not begin at %" PRIu64, first);
    raise_to(&share->seen, (uint64_t)info.frames);
    beat(1, n);
    swt_window_close(&window);
}

__attribute__((noreturn)) static void reader_run(int who, uint64_t seed)
{
    for (;;) {
        struct swt_recording *recording = NULL;
        struct swt_diag diag = {0};
        uint64_t before = promised();
        int rc = swt_recording_open(share->path, &recording, &diag);
        if (rc < 0 && !may_be_missing(rc, before))
            DIE_DIAG("a reader cannot open", rc, &diag);
        if (rc >= 0 && who == 0)
            follow(recording, before, &seed);
        else if (rc >= 0)
            visit(recording, before, &seed);
        swt_recording_close(&recording);
        if (who == 1 || rc < 0)
            sleep_ns((int64_t)below(&seed, 2000000));
        beat(who, 0);
    }
}

/* ---- after a kill -------------------------------------------------------------------------------- */

static void tell_damage(void *arg, const struct swt_diag *d)
{
    (void)arg;
    (void)dprintf(STDERR_FILENO, "# verify: %s: %s (offset %" PRId64 ", frame %" PRId64 ")\n",
                  d->path, d->text, d->offset, d->frame);
}

static void verify(void)
{
    struct swt_diag diag = {0};
    struct swt_verify_report report;
    int rc = swt_verify(share->path, tell_damage, NULL, &report, &diag);
    if (rc < 0 && !may_be_missing(rc, promised()))
        DIE_DIAG("verify", rc, &diag);
}

/* Read frames first .. end - 1, with checksums. */
static void read_all(struct swt_recording *recording, uint64_t first, uint64_t end)
{
    struct swt_diag diag = {0};
    while (first < end) {
        uint64_t n = end - first < WINDOW_MAX ? end - first : WINDOW_MAX;
        struct swt_window_spec spec;
        struct swt_window *window = NULL;
        spec_range(&spec, (int64_t)first, (int64_t)(first + n));
        int rc = swt_window_open(recording, &spec, &window, &diag);
        if (rc < 0)
            DIE_DIAG("reading after a kill", rc, &diag);
        (void)judge_window(window, false, "after a kill");
        swt_window_close(&window);
        first += n;
    }
}

/* Nobody writes now: what is there? Frames from `from` on are read. Returns where the stream ends. */
static uint64_t look(uint64_t from)
{
    struct swt_diag diag = {0};
    struct swt_recording *recording = NULL;
    struct swt_stream_info info = {0};
    int rc = swt_recording_open(share->path, &recording, &diag);
    if (rc >= 0 && swt_recording_n_streams(recording) == 0)
        rc = SWT_E_NO_STREAM;
    if (rc >= 0)
        rc = swt_recording_stream(recording, 0, &info, &diag);
    if (rc < 0 && !may_be_missing(rc, promised()))
        DIE_DIAG("opening after a kill", rc, &diag);
    uint64_t end = (uint64_t)info.frames;
    if (end < promised())
        die("after a kill %" PRIu64 " frames are there, %" PRIu64 " were acknowledged, %" PRIu64
            " seen",
            end, atomic_load(&share->acked), atomic_load(&share->seen));
    if (info.is_live)
        die("after a kill the stream is called live, written by %" PRId64, info.writer_pid);
    read_all(recording, from, end);
    swt_recording_close(&recording);
    return end;
}

/* ---- the loop ------------------------------------------------------------------------------------ */

struct reader {
    pid_t pid;
    uint64_t beats;
    int64_t beat_ns;
};

struct loop {
    const char *folder;
    uint64_t seed, n_recordings, n_kills, n_late, n_reader_kills, n_frames, n_windows, n_read;
    struct reader readers[N_READERS];
};

static void end_process(pid_t *pid)
{
    int status;
    if (*pid <= 0)
        return;
    (void)kill(*pid, SIGKILL);
    if (waitpid(*pid, &status, 0) != *pid || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        die("process %ld had ended by itself, status %#x", (long)*pid, status);
    *pid = 0;
}

static pid_t begin_process(void)
{
    pid_t pid = fork();
    if (pid < 0)
        die("fork: %s", strerror(errno));
    if (pid == 0)
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed run leaves nobody behind */
    return pid;
}

static void begin_reader(struct loop *l, int i)
{
    uint64_t seed = chance(&l->seed);
    l->readers[i] = (struct reader){.pid = begin_process(), .beat_ns = now_ns()};
    if (l->readers[i].pid == 0)
        reader_run(i, seed);
}

static void tend_readers(struct loop *l)
{
    for (int i = 0; i < N_READERS; i++) {
        struct reader *r = &l->readers[i];
        int status;
        if (waitpid(r->pid, &status, WNOHANG) != 0)
            die("reader %d has failed, status %#x", i, status);
        uint64_t beats = atomic_load(&share->beats[i]);
        if (beats != r->beats) {
            r->beats = beats;
            r->beat_ns = now_ns();
        } else if (now_ns() - r->beat_ns > HANG_NS) {
            die("reader %d hangs", i);
        }
        if (below(&l->seed, 8) == 0) {
            end_process(&r->pid);
            begin_reader(l, i);
            l->n_reader_kills++;
        } else if (below(&l->seed, 8) == 0) { /* it sleeps through the next kill, or two */
            (void)kill(r->pid, SIGSTOP);
        } else {
            (void)kill(r->pid, SIGCONT);
        }
    }
}

/* Sums up, and removes what is not needed any more. */
static void end_recording(struct loop *l)
{
    for (int i = 0; i < N_READERS; i++) {
        end_process(&l->readers[i].pid);
        l->n_windows += atomic_load(&share->beats[i]);
        l->n_read += atomic_load(&share->frames_read[i]);
    }
    l->n_frames += look(0);
    verify();
    remove_tree(share->path);
}

static void begin_recording(struct loop *l)
{
    static const uint32_t frame_bytes[] = {225 * 225 * 3, 5000, 4096, 12288, 1000, 28};
    uint64_t bytes = frame_bytes[l->n_recordings % (sizeof frame_bytes / sizeof *frame_bytes)];
    memset(share, 0, sizeof *share);
    (void)snprintf(share->path, sizeof share->path, "%s/%03" PRIu64 ".swt", l->folder,
                   l->n_recordings);
    share->frame_bytes = bytes;
    share->segment_bytes = bytes * (1 + below(&l->seed, 24));
    if (bytes < 4096)
        share->segment_bytes *= 64;
    share->sync_ns = (int64_t[]){-1, 0, 3000000}[below(&l->seed, 3)];
    l->n_recordings++;
    for (int i = 0; i < N_READERS; i++)
        begin_reader(l, i);
}

/* Most are killed when they append; some while they open. */
static void wait_and_kill(struct loop *l, pid_t *writer)
{
    int status;
    int64_t begin = now_ns();
    bool is_early = below(&l->seed, 10) == 0;
    if (is_early)
        sleep_ns((int64_t)below(&l->seed, 6000000));
    while (!is_early && atomic_load(&share->has_begun) == 0) {
        if (now_ns() - begin > HANG_NS)
            die("a writer does not begin");
        if (waitpid(*writer, &status, WNOHANG) != 0)
            die("a writer has failed, status %#x", status);
        sleep_ns(50000);
    }
    if (!is_early)
        sleep_ns((int64_t)below(&l->seed, 9000001));
    l->n_late += atomic_load(&share->has_begun);
    end_process(writer);
    l->n_kills++;
}

static void one_kill(struct loop *l)
{
    uint64_t end = look(UINT64_MAX), session = atomic_load(&share->n_sessions);
    uint64_t seed = chance(&l->seed), from = session > 1 ? share->starts[session - 2] : 0;
    atomic_store(&share->has_begun, 0);
    pid_t writer = begin_process();
    if (writer == 0)
        writer_run(seed);
    wait_and_kill(l, &writer);
    if (atomic_load(&share->n_sessions) > session && share->starts[session] != end)
        die("readers saw the end at %" PRIu64 ", the next writer at %" PRIu64, end,
            share->starts[session]);
    (void)look(from);
    if (below(&l->seed, 8) == 0)
        verify();
    tend_readers(l);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        die("kill_loop FOLDER KILLS [SEED]");
    uint64_t n_kills = strtoull(argv[2], NULL, 10);
    struct loop l = {.folder = argv[1],
                     .seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)now_ns()};
    (void)printf("seed %" PRIu64 "\n", l.seed);
    (void)fflush(stdout);
    frames_init();
    share = mmap(NULL, sizeof *share, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (share == MAP_FAILED)
        die("mmap: %s", strerror(errno));
    int64_t begin = now_ns();
    while (l.n_kills < n_kills) {
        begin_recording(&l);
        for (int i = 0;
             i < FRESH_KILLS && l.n_kills < n_kills && promised() * share->frame_bytes < MAX_BYTES;
             i++)
            one_kill(&l);
        end_recording(&l);
    }
    (void)printf("%" PRIu64 " kills (%" PRIu64 " while appending) of writers, %" PRIu64
                 " of readers, %" PRIu64 " recordings, %" PRIu64 " frames kept, %" PRIu64
                 " windows, %" PRIu64 " frames read while live, in %.1f s: 0 lost, 0 wrong\n",
                 l.n_kills, l.n_late, l.n_reader_kills, l.n_recordings, l.n_frames, l.n_windows,
                 l.n_read, (double)(now_ns() - begin) / 1e9);
    return 0;
}
