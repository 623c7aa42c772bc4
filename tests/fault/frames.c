/* SPDX-License-Identifier: MIT
 *
 * frames.c - rows that say which they are, made and checked.
 *
 *     frames rows BYTES COUNT [FIRST [SESSION [RATE]]]    rows FIRST, FIRST + 1, ... on standard output, RATE a
 *                                                         second (default: at once)
 *     frames append RECORDING BYTES COUNT [RATE]          the same through swt.h, numbered as the stream does;
 *                                                         one line "N" for each that is acknowledged
 *     frames check RECORDING BYTES                        every frame of the stream `tensor` is the one its number
 *                                                         says: "N frames, R runs", then "FIRST END SESSION" each
 */
#include "fault.h"

static uint8_t row[FRAME_MAX], frames[4 * FRAME_MAX];

/* Stretches of frames of one session each. */
static struct stretch {
    uint64_t first, session;
} runs[100000];
static size_t n_runs;

/* Sleeps until frame i is due. */
static void pace(int64_t begin_ns, uint64_t i, uint64_t rate)
{
    int64_t wait_ns = rate == 0 ? 0 : begin_ns + (int64_t)(i * 1000000000 / rate) - now_ns();
    if (wait_ns > 0)
        sleep_ns(wait_ns);
}

static int make_rows(size_t n_bytes, uint64_t n, uint64_t first, uint64_t session, uint64_t rate)
{
    int64_t begin_ns = now_ns();
    for (uint64_t i = 0; i < n; i++) {
        pace(begin_ns, i, rate);
        frame_put(first + i, session, row, n_bytes);
        if (fwrite(row, n_bytes, 1, stdout) != 1 || (rate > 0 && fflush(stdout) != 0))
            return 1;
    }
    return fflush(stdout) != 0;
}

static int append_rows(const char *path, size_t n_bytes, uint64_t n, uint64_t rate)
{
    struct swt_append_spec spec;
    struct swt_append *append = NULL;
    struct swt_diag diag = {0};
    int64_t begin_ns = now_ns();
    spec_rows(&spec, path, n_bytes);
    spec.segment_bytes = 20 * n_bytes;
    int rc = swt_append_open(&spec, &append, &diag);
    for (uint64_t i = 0; i < n && rc >= 0; i++) {
        pace(begin_ns, i, rate);
        int64_t number = swt_append_next(append);
        frame_put((uint64_t)number, (uint64_t)getpid(), row, n_bytes);
        rc = swt_append_frames(append, row, 1, INT64_MIN, NULL, &diag);
        if (rc >= 0)
            (void)dprintf(STDOUT_FILENO, "%" PRId64 "\n", number);
    }
    int closed = swt_append_close(&append, rc < 0 ? NULL : &diag);
    if (rc < 0 || closed < 0)
        die("%s", diag.text);
    return 0;
}

/* Frames first .. first + n - 1, their checksums looked at. */
static void read_frames(struct swt_recording *recording, int64_t first, int64_t n)
{
    struct swt_window_spec spec;
    struct swt_window *window = NULL;
    struct swt_diag diag = {0};
    spec_range(&spec, first, first + n);
    spec.stream = "tensor";
    int rc = swt_window_open(recording, &spec, &window, &diag);
    if (rc >= 0)
        rc = swt_window_read(window, 0, n, frames, sizeof frames, &diag);
    if (rc < 0)
        DIE_DIAG("reading", rc, &diag);
    swt_window_close(&window);
}

static void judge(uint64_t number, const uint8_t *frame, size_t n_bytes)
{
    char text[256];
    if (!frame_is(number, frame, n_bytes)) {
        frame_describe(frame, n_bytes, text, sizeof text);
        die("frame %" PRIu64 " is wrong: %s", number, text);
    }
    uint64_t session = frame_session(frame);
    if (n_runs > 0 && runs[n_runs - 1].session == session)
        return;
    if (n_runs == sizeof runs / sizeof *runs)
        die("too many runs");
    runs[n_runs++] = (struct stretch){number, session};
}

static int check(const char *path, size_t n_bytes)
{
    struct swt_recording *recording = NULL;
    struct swt_stream_info info;
    struct swt_diag diag = {0};
    int64_t most = (int64_t)(sizeof frames / n_bytes);
    int rc = swt_recording_open(path, &recording, &diag);
    if (rc >= 0)
        rc = swt_recording_stream(recording, 0, &info, &diag);
    if (rc < 0)
        DIE_DIAG("opening", rc, &diag);
    for (int64_t i = 0, n; i < info.frames; i += n) {
        n = info.frames - i < most ? info.frames - i : most;
        read_frames(recording, i, n);
        for (int64_t k = 0; k < n; k++)
            judge((uint64_t)(i + k), frames + (size_t)k * n_bytes, n_bytes);
    }
    (void)printf("%" PRId64 " frames, %zu runs\n", info.frames, n_runs);
    for (size_t i = 0; i < n_runs; i++)
        (void)printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", runs[i].first,
                     i + 1 < n_runs ? runs[i + 1].first : (uint64_t)info.frames, runs[i].session);
    swt_recording_close(&recording);
    return 0;
}

static uint64_t number(int argc, char **argv, int i, uint64_t preset)
{
    return argc > i ? strtoull(argv[i], NULL, 10) : preset;
}

int main(int argc, char **argv)
{
    const char *what = argc > 3 ? argv[1] : "";
    frames_init();
    if (strcmp(what, "rows") == 0)
        return make_rows((size_t)number(argc, argv, 2, 0), number(argc, argv, 3, 0),
                         number(argc, argv, 4, 0), number(argc, argv, 5, 0),
                         number(argc, argv, 6, 0));
    if (strcmp(what, "append") == 0)
        return append_rows(argv[2], (size_t)number(argc, argv, 3, 0), number(argc, argv, 4, 1),
                           number(argc, argv, 5, 0));
    if (strcmp(what, "check") == 0)
        return check(argv[2], (size_t)number(argc, argv, 3, 0));
    die("frames rows|append|check ...");
}
