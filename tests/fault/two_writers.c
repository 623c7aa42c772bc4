/* SPDX-License-Identifier: MIT
 *
 * two_writers.c - many writers of one stream, started at the same instant: one wins, all others are told who.
 *
 *     two_writers api RECORDING STARTERS              they append through swt.h
 *     two_writers run STARTERS COMMAND ARGUMENT...    they are this command; its input is a pipe that holds
 *                                                     rows of 5000 bytes and stays open until all losers ended
 *
 * Losers must end with SWT_E_BUSY (status 1) within a second of the start, in one line that names the winner's
 * process. Prints what the winner stored as "N frames from FIRST, winner PID"; status 0 or 1.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

#include "fault.h"

#define FRAME_BYTES 5000u
#define N_FRAMES    300
#define MAX_START   256
#define LATE_NS     INT64_C(1000000000)
#define LONG_NS     INT64_C(20000000000)

struct starter {
    pid_t pid;
    int said; /* what it says, a pipe */
    char text[600];
    size_t n_text;
    int status;
    int64_t took_ns;
    bool has_ended;
};

struct share {
    _Atomic uint32_t is_open; /* the gate */
    _Atomic uint32_t n_ready, may_end;
    _Atomic int64_t first; /* of the winner, by api */
};
static struct share *share;
static struct starter starters[MAX_START];

/* ---- starters ------------------------------------------------------------------------------------ */

static void wait_at_gate(void)
{
    atomic_fetch_add(&share->n_ready, 1);
    while (!atomic_load(&share->is_open))
        ; /* all at once: nobody sleeps */
}

__attribute__((noreturn)) static void append_run(const char *path)
{
    struct swt_diag diag = {0};
    struct swt_append_spec spec;
    struct swt_append *append = NULL;
    static uint8_t frame[FRAME_BYTES];
    spec_rows(&spec, path, FRAME_BYTES);
    spec.segment_bytes = FRAME_BYTES * 20;
    wait_at_gate();
    int rc = swt_append_open(&spec, &append, &diag);
    if (rc < 0) {
        (void)dprintf(STDERR_FILENO, "%s\n", diag.text);
        _exit(rc == SWT_E_BUSY ? 1 : 9);
    }
    atomic_store(&share->first, swt_append_next(append));
    for (int i = 0; i < N_FRAMES && rc >= 0; i++) {
        frame_put((uint64_t)swt_append_next(append), (uint64_t)getpid(), frame, FRAME_BYTES);
        rc = swt_append_frames(append, frame, 1, INT64_MIN, NULL, &diag);
    }
    while (rc >= 0 && !atomic_load(&share->may_end))
        sleep_ns(1000000);
    if (rc >= 0)
        rc = swt_append_close(&append, &diag);
    if (rc < 0)
        DIE_DIAG("the winner", rc, &diag);
    _exit(0);
}

__attribute__((noreturn)) static void command_run(char **command, int input)
{
    (void)dup2(input, STDIN_FILENO);
    wait_at_gate();
    (void)execvp(command[0], command);
    die("%s: %s", command[0], strerror(errno));
}

/* `command` NULL: by api, into `path`. A pipe of its own for each command: it is filled and kept open. */
static void begin(struct starter *s, const char *path, char **command, int *ret_keep)
{
    int said[2], input[2] = {-1, -1};
    if (pipe2(said, O_CLOEXEC) != 0 || (command && pipe2(input, O_CLOEXEC) != 0))
        die("pipe: %s", strerror(errno));
    static uint8_t frame[FRAME_BYTES];
    for (uint64_t i = 0; command && i < 10; i++) { /* 50 kB: fits into a pipe */
        frame_put(i, 0, frame, FRAME_BYTES);
        if (write(input[1], frame, FRAME_BYTES) != FRAME_BYTES)
            die("cannot fill a pipe");
    }
    s->said = said[0];
    *ret_keep = input[1];
    s->pid = fork();
    if (s->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)dup2(said[1], STDERR_FILENO);
        if (command)
            command_run(command, input[0]);
        append_run(path);
    }
    if (s->pid < 0)
        die("fork: %s", strerror(errno));
    (void)close(said[1]);
    (void)close(input[0]);
}

/* ---- judging ------------------------------------------------------------------------------------- */

static void reap(struct starter *s, int64_t began_ns)
{
    if (s->has_ended || waitpid(s->pid, &s->status, WNOHANG) != s->pid)
        return;
    s->has_ended = true;
    s->took_ns = now_ns() - began_ns;
    ssize_t n = read(s->said, s->text, sizeof s->text - 1);
    s->n_text = n > 0 ? (size_t)n : 0;
    s->text[s->n_text] = '\0';
}

/* Until `n_left` of them live. */
static void reap_until(int n, int n_left, int64_t began_ns)
{
    for (int live = n; live > n_left; sleep_ns(500000)) {
        live = 0;
        for (int i = 0; i < n; i++) {
            reap(&starters[i], began_ns);
            live += !starters[i].has_ended;
        }
        if (live > n_left && now_ns() - began_ns > LONG_NS)
            die("%d of %d starters still live after %d s", live, n, (int)(LONG_NS / 1000000000));
    }
}

static const struct starter *find_winner(int n)
{
    for (int i = 0; i < n; i++) {
        if (!starters[i].has_ended)
            return &starters[i];
    }
    die("nobody won; starter 0 ended with status %#x: %s", starters[0].status, starters[0].text);
}

static void judge(const struct starter *s, const struct starter *winner)
{
    char name[40];
    (void)snprintf(name, sizeof name, "process %ld:", (long)winner->pid);
    if (!WIFEXITED(s->status) || WEXITSTATUS(s->status) != 1 ||
        strchr(s->text, '\n') != s->text + s->n_text - 1)
        die("a loser ended with status %#x and said: %s", s->status, s->text);
    if (strstr(s->text, name) == NULL)
        die("a loser does not name %s: %s", name, s->text);
    if (s->took_ns > LATE_NS)
        die("a loser took %.3f s", (double)s->took_ns / 1e9);
}

int main(int argc, char **argv)
{
    bool by_command = argc > 3 && strcmp(argv[1], "run") == 0;
    if (argc < 4 || (!by_command && strcmp(argv[1], "api") != 0))
        die("two_writers api RECORDING STARTERS | run STARTERS COMMAND ARGUMENT...");
    int n = atoi(argv[by_command ? 2 : 3]), keep[MAX_START];
    if (n < 2 || n > MAX_START)
        die("2 to %d starters", MAX_START);
    frames_init();
    share = mmap(NULL, sizeof *share, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < n; i++)
        begin(&starters[i], argv[2], by_command ? argv + 3 : NULL, &keep[i]);
    while (atomic_load(&share->n_ready) < (uint32_t)n)
        sleep_ns(1000000);
    int64_t began_ns = now_ns();
    atomic_store(&share->is_open, 1);
    reap_until(n, 1, began_ns);
    const struct starter *winner = find_winner(n);
    int64_t last_ns = 0;
    for (int i = 0; i < n; i++) {
        if (&starters[i] == winner)
            continue;
        judge(&starters[i], winner);
        last_ns = starters[i].took_ns > last_ns ? starters[i].took_ns : last_ns;
    }
    atomic_store(&share->may_end, 1);
    for (int i = 0; by_command && i < n; i++)
        (void)close(keep[i]);
    reap_until(n, 0, began_ns);
    if (winner->status != 0)
        die("the winner ended with status %#x: %s", winner->status, winner->text);
    (void)printf("%d frames from %" PRId64 ", winner %ld, the last loser took %.3f s\n",
                 by_command ? 10 : N_FRAMES, atomic_load(&share->first), (long)winner->pid,
                 (double)last_ns / 1e9);
    return 0;
}
