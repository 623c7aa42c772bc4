/* SPDX-License-Identifier: MIT
 *
 * proc.c - other processes: run one to its end with its output drained and timed, or keep a peer in Python
 * waiting for orders, so that its start is not part of what is measured.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

static pid_t start(const char *const *argv, int in, int out)
{
    posix_spawn_file_actions_t fa;
    pid_t pid = -1;
    (void)posix_spawn_file_actions_init(&fa);
    if (in >= 0)
        (void)posix_spawn_file_actions_adddup2(&fa, in, 0);
    if (out >= 0)
        (void)posix_spawn_file_actions_adddup2(&fa, out, 1);
    int rc = posix_spawnp(&pid, argv[0], &fa, NULL, (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawn_file_actions_destroy(&fa);
    if (rc != 0)
        (void)wrong("cannot start %s: %s", argv[0], strerror(rc));
    return rc == 0 ? pid : -1;
}

static int finish(const char *const *argv, pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    return wrong("%s %s ended with status %d", argv[0], argv[1] ? argv[1] : "", status);
}

/* Bytes n .. n + got - 1 of the output are in `p`: the frame numbers that begin in them are right. */
static int check_passing(const char *who, const struct output *o, const uint8_t *p, size_t got)
{
    size_t k = (o->n + FRAME_BYTES - 1) / FRAME_BYTES;
    for (size_t at = k * FRAME_BYTES; at + 8 <= o->n + got; at += FRAME_BYTES, k++) {
        int64_t no;
        memcpy(&no, p + (at - o->n), 8);
        if (no != o->first_frame + (int64_t)k)
            return wrong("%s gave frame %lld at place %zu", who, (long long)no, k);
    }
    return 0;
}

static int drain(const char *who, int fd, int64_t t0, struct output *o)
{
    static uint8_t scratch[1 << 17];
    int rc = 0;
    o->n = 0;
    o->first_ns = 0;
    for (;;) {
        uint8_t *p = o->buf ? o->buf + o->n : scratch;
        size_t room = o->buf ? o->cap - o->n : sizeof scratch;
        ssize_t got = read(fd, p, room);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        if (o->n == 0)
            o->first_ns = now_ns() - t0;
        if (!o->buf && rc == 0)
            rc = check_passing(who, o, p, (size_t)got);
        o->n += (size_t)got;
    }
    o->total_ns = now_ns() - t0;
    return rc;
}

int run_process(const char *const *argv, struct output *out)
{
    int p[2];
    if (pipe2(p, O_CLOEXEC) < 0)
        return wrong("pipe: %s", strerror(errno));
    int64_t t0 = now_ns();
    pid_t pid = start(argv, -1, p[1]);
    (void)close(p[1]);
    int rc = pid < 0 ? -1 : drain(argv[0], p[0], t0, out);
    (void)close(p[0]);
    int64_t drained = out->total_ns;
    if (pid >= 0 && finish(argv, pid) < 0)
        rc = -1;
    out->total_ns = now_ns() - t0 > drained ? now_ns() - t0 : drained;
    return rc;
}

int run_quiet(const char *const *argv)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t pid = start(argv, null, null);
    (void)close(null);
    return pid < 0 ? -1 : finish(argv, pid);
}

bool has_program(const char *name)
{
    const char *path = getenv("PATH");
    char dirs[4096], file[4400];
    (void)snprintf(dirs, sizeof dirs, "%s", path ? path : "/usr/bin:/bin");
    for (char *save = NULL, *d = strtok_r(dirs, ":", &save); d; d = strtok_r(NULL, ":", &save)) {
        (void)snprintf(file, sizeof file, "%s/%s", d, name);
        if (access(file, X_OK) == 0)
            return true;
    }
    return false;
}

/* ---- peers that wait for orders ---------------------------------------------------------------------- */

struct peer {
    pid_t pid;
    FILE *to, *from;
    char module[32];
};

static int answer(struct peer *p, char *line, size_t cap)
{
    if (!fgets(line, (int)cap, p->from))
        return wrong("%s (Python) ended", p->module);
    line[strcspn(line, "\n")] = 0;
    return 0;
}

struct peer *peer_start(const struct bench *b, const char *module, char *reason, size_t cap)
{
    const char *argv[] = {"/usr/bin/python3", b->peers, module, b->dir, NULL};
    int in[2], out[2];
    char line[256];
    if (access(argv[0], X_OK) < 0) {
        (void)snprintf(reason, cap, "no /usr/bin/python3");
        return NULL;
    }
    struct peer *p = calloc(1, sizeof *p);
    if (!p || pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        die("%s: %s", module, strerror(errno));
    (void)snprintf(p->module, sizeof p->module, "%s", module);
    p->pid = start(argv, in[0], out[1]);
    (void)close(in[0]);
    (void)close(out[1]);
    p->to = fdopen(in[1], "w");
    p->from = fdopen(out[0], "r");
    if (p->pid < 0 || !p->to || !p->from || answer(p, line, sizeof line) < 0)
        (void)snprintf(line, sizeof line, "Python did not start");
    if (strncmp(line, "ready", 5) == 0)
        return p;
    (void)snprintf(reason, cap, "%s", line);
    peer_stop(&p);
    return NULL;
}

int peer_ask(struct peer *p, double *ret_ns, const char *fmt, ...)
{
    char line[512];
    va_list ap;
    va_start(ap, fmt);
    (void)vfprintf(p->to, fmt, ap);
    va_end(ap);
    (void)fputc('\n', p->to);
    (void)fflush(p->to);
    if (answer(p, line, sizeof line) < 0)
        return -1;
    char *end;
    *ret_ns = strtod(line, &end);
    return end == line || *end ? wrong("%s: %s", p->module, line) : 0;
}

void peer_stop(struct peer **p)
{
    if (!*p)
        return;
    if ((*p)->to)
        (void)fclose((*p)->to); /* end of input ends it */
    if ((*p)->from)
        (void)fclose((*p)->from);
    if ((*p)->pid > 0)
        (void)waitpid((*p)->pid, NULL, 0);
    free(*p);
    *p = NULL;
}
