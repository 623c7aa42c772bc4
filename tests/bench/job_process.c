/* SPDX-License-Identifier: MIT
 *
 * job_process.c - J5, J8 and the pipe: whole processes, from their start to the last byte that their reader
 * has drained.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

#define REPEATS       5 /* of one contestant in one round: the median counts */
#define SOUND_HZ      48000
#define SOUND_SECONDS 3600
#define SOUND_SAMPLES ((int64_t)SOUND_HZ * SOUND_SECONDS)
#define SOUND_LAST    (2 * SOUND_HZ)
#define SOUND_BYTES   ((size_t)SOUND_LAST * 4)
#define WAV_HEADER    44

struct command {
    const char *argv[12];
    const char *module; /* of Python, to be tried first; NULL: none */
    int repeats;
};

static uint8_t *buf;
static uint8_t *want; /* what must come; NULL: frames, by their sum */
static size_t want_n;
static int64_t first_frame;

static int check(const struct contestant *c, const struct output *o)
{
    if (o->n != want_n)
        return wrong("%s gave %zu bytes instead of %zu", c->name, o->n, want_n);
    if (want)
        return memcmp(o->buf, want, want_n) == 0 ? 0 : wrong("%s: other bytes", c->name);
    return window_check(c->name, o->buf, first_frame, WINDOW);
}

static int run_command(struct bench *b, struct contestant *c, int round, double *ret)
{
    const struct command *cmd = c->arg;
    double total[REPEATS], first[REPEATS];
    size_t n = 0;
    if (cmd->module && round == 0) {
        struct peer *p = peer_start(b, cmd->module, c->skipped, sizeof c->skipped);
        peer_stop(&p);
    }
    if (c->skipped[0])
        return 0;
    for (; n < (size_t)cmd->repeats; n++) {
        struct output o = {.buf = buf, .cap = want_n + 4096};
        if (run_process(cmd->argv, &o) < 0 || check(c, &o) < 0)
            return -1;
        total[n] = (double)o.total_ns;
        first[n] = (double)o.first_ns;
    }
    ret[0] = median(total, n);
    ret[1] = median(first, n);
    return 0;
}

static void add_peer(struct table *t, const char *name, const struct command *c)
{
    struct contestant *who = table_add(t, name, run_command, c);
    who->is_peer = true;
    if (!has_program(c->argv[0]))
        (void)snprintf(who->skipped, sizeof who->skipped, "no %s here", c->argv[0]);
}

static char *number(int64_t n)
{
    static char text[8][24];
    static unsigned i;
    char *t = text[i++ % 8];
    (void)snprintf(t, sizeof text[0], "%lld", (long long)n);
    return t;
}

/* ---- J5 ---------------------------------------------------------------------------------------------- */

static bool peer_file(struct bench *b, const char *module, const char *file)
{
    char reason[160];
    double ns;
    if (access(in_dir(b, file), F_OK) == 0)
        return true;
    struct peer *p = peer_start(b, module, reason, sizeof reason);
    int rc = p ? peer_ask(p, &ns, "append %lld", (long long)b->frames) : -1;
    peer_stop(&p);
    return rc == 0;
}

void job_last(struct bench *b)
{
    struct table t = {.job = "J5",
                      .title = "whole process: the newest 64 frames to a pipe",
                      .unit = "ms",
                      .unit_ns = 1e6,
                      .value_name = {"to the last byte", "to the first byte"}};
    static char raw[512], rec[512], of[520];
    have_raw(b);
    have_recording(b);
    (void)peer_file(b, "h5py", "data.h5");
    (void)peer_file(b, "zarr", "data.zarr");
    (void)snprintf(raw, sizeof raw, "%s", in_dir(b, "data.raw"));
    (void)snprintf(of, sizeof of, "if=%s", raw);
    (void)snprintf(rec, sizeof rec, "%s", in_dir(b, "data.swt"));
    want = NULL;
    want_n = WINDOW_BYTES;
    first_frame = b->frames - WINDOW;
    buf = must_alloc(want_n + 4096);
    const char *off = number(first_frame * (int64_t)FRAME_BYTES), *n = number((int64_t)want_n);
    char skip[40];
    (void)snprintf(skip, sizeof skip, "skip=%s", off);
    struct command floor = {{b->floor, "sendfile", raw, off, n}, NULL, REPEATS};
    struct command map = {{b->floor, "write", raw, off, n}, NULL, REPEATS};
    struct command swt = {{b->swt, "window", rec, "--last", "64"}, NULL, REPEATS};
    struct command tail = {{"tail", "-c", n, raw}, NULL, REPEATS};
    struct command dd = {
        {"dd", of, "bs=1M", skip, "iflag=skip_bytes", "status=none"}, NULL, REPEATS};
    struct command py[3];
    static const char *const modules[] = {"numpy", "h5py", "zarr"};
    for (int i = 0; i < 3; i++)
        py[i] = (struct command){
            {"/usr/bin/python3", b->peers, modules[i], b->dir, "last", "64"}, modules[i], 1};
    (void)table_add(&t, "C sendfile", run_command, &floor);
    (void)table_add(&t, "swt window --last 64", run_command, &swt);
    (void)table_add(&t, "C mmap + write", run_command, &map);
    add_peer(&t, "tail -c", &tail);
    add_peer(&t, "dd bs=1M", &dd);
    table_add(&t, "python3, numpy.memmap", run_command, &py[0])->is_peer = true;
    table_add(&t, "python3, h5py", run_command, &py[1])->is_peer = true;
    table_add(&t, "python3, zarr", run_command, &py[2])->is_peer = true;
    table_claim(&t,
                (struct claim){"whole process, time to sendfile", 1, 0, 0, 0, false, false, 1.5});
    table_claim(&t, (struct claim){"first byte", 1, 1, -1, 0, false, false, 2e6});
    table_run(b, &t);
}

/* ---- J8 ---------------------------------------------------------------------------------------------- */

static void le(uint8_t *p, uint32_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static void write_wav(const char *path)
{
    uint8_t h[WAV_HEADER] = "RIFF....WAVEfmt ";
    static uint8_t second[SOUND_HZ * 4];
    uint64_t state = 7;
    FILE *f = fopen(path, "wb");
    le(h + 4, (uint32_t)(SOUND_SAMPLES * 4 + 36), 4);
    le(h + 16, 16, 4);
    le(h + 20, 1, 2);
    le(h + 22, 2, 2);
    le(h + 24, SOUND_HZ, 4);
    le(h + 28, SOUND_HZ * 4, 4);
    le(h + 32, 4, 2);
    le(h + 34, 16, 2);
    memcpy(h + 36, "data", 4);
    le(h + 40, (uint32_t)(SOUND_SAMPLES * 4), 4);
    bool good = f && fwrite(h, sizeof h, 1, f) == 1;
    for (int s = 0; good && s < SOUND_SECONDS; s++) {
        for (size_t i = 0; i < sizeof second; i += 8) {
            uint64_t r = random_below(&state, UINT64_MAX);
            memcpy(second + i, &r, 8);
        }
        good = fwrite(second, sizeof second, 1, f) == 1;
    }
    if (!good || fclose(f) != 0)
        die("%s: %s", path, strerror(errno));
}

static bool record_sound(const struct bench *b, const char *wav, const char *rec)
{
    const char *argv[] = {b->swt, "record", wav, "-q", "-o", rec, NULL};
    return run_quiet(argv) == 0;
}

static void read_end(const char *path, uint8_t *p, size_t n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || pread(fd, p, n, st.st_size - (off_t)n) != (ssize_t)n)
        die("%s: %s", path, strerror(errno));
    (void)close(fd);
}

void job_sound(struct bench *b)
{
    struct table t = {
        .job = "J8",
        .title = "whole process: last 2 s of 1 h of sound (48 kHz stereo s16) to a pipe",
        .unit = "ms",
        .unit_ns = 1e6,
        .value_name = {"to the last byte", "to the first byte"}};
    static char wav[512], rec[512];
    (void)snprintf(wav, sizeof wav, "%s", in_dir(b, "sound.wav"));
    (void)snprintf(rec, sizeof rec, "%s", in_dir(b, "sound.swt"));
    write_wav(wav);
    if (!record_sound(b, wav, rec)) {
        b->wrong++;
        return;
    }
    sync();
    want_n = SOUND_BYTES;
    want = must_alloc(want_n);
    buf = must_alloc(want_n + 4096);
    read_end(wav, want, want_n);
    const char *off = number(WAV_HEADER + SOUND_SAMPLES * 4 - (int64_t)want_n);
    const char *n = number((int64_t)want_n);
    struct command floor = {{b->floor, "write", wav, off, n}, NULL, REPEATS};
    struct command swt = {{b->swt, "window", rec, "--last", "2s", "--dtype", "s16"}, NULL, REPEATS};
    struct command tail = {{"tail", "-c", n, wav}, NULL, REPEATS};
    struct command ff = {
        {"ffmpeg", "-v", "error", "-sseof", "-2", "-i", wav, "-f", "s16le", "-"}, NULL, 1};
    const char *last = number(SOUND_LAST);
    struct command np = {
        {"/usr/bin/python3", b->peers, "numpy", b->dir, "sound", last}, "numpy", 1};
    struct command sf = {
        {"/usr/bin/python3", b->peers, "soundfile", b->dir, "sound", last}, "soundfile", 1};
    (void)table_add(&t, "C mmap + write", run_command, &floor);
    (void)table_add(&t, "swt window --last 2s --dtype s16", run_command, &swt);
    add_peer(&t, "tail -c", &tail);
    add_peer(&t, "ffmpeg -sseof -2", &ff);
    table_add(&t, "python3, numpy.memmap", run_command, &np)->is_peer = true;
    table_add(&t, "python3, soundfile", run_command, &sf)->is_peer = true;
    table_claim(
        &t, (struct claim){"whole process, time to mmap + write", 1, 0, 0, 0, false, false, 1.5});
    table_run(b, &t);
    want = NULL;
    remove_tree(wav);
    remove_tree(rec);
}

/* ---- the pipe ----------------------------------------------------------------------------------------- */

/* The whole stream; what passes is checked by frame numbers, and once byte by byte. */
static int run_stream(struct bench *b, struct contestant *c, int round, double *ret)
{
    const struct command *cmd = c->arg;
    if (round == 0 && strcmp(cmd->argv[0], b->swt) == 0) {
        char line[2048];
        (void)snprintf(line, sizeof line, "'%s' window '%s' --from start --to end | cmp - '%s'",
                       b->swt, cmd->argv[2], in_dir(b, "data.raw"));
        const char *argv[] = {"sh", "-c", line, NULL};
        if (run_quiet(argv) < 0)
            return -1;
    }
    struct output o = {.first_frame = 0};
    if (run_process(cmd->argv, &o) < 0)
        return -1;
    if (o.n != (size_t)b->frames * FRAME_BYTES)
        return wrong("%s gave %zu bytes", c->name, o.n);
    ret[0] = (double)o.total_ns;
    return 0;
}

void job_pipe(struct bench *b)
{
    struct table t = {
        .job = "pipe",
        .title = "a window of the whole stream to a pipe, drained by read(2) of 128 KiB",
        .unit = "s",
        .unit_ns = 1e9,
        .is_speed = true};
    static char raw[512], rec[512];
    have_raw(b);
    have_recording(b);
    (void)snprintf(raw, sizeof raw, "%s", in_dir(b, "data.raw"));
    (void)snprintf(rec, sizeof rec, "%s", in_dir(b, "data.swt"));
    read_all(raw);
    read_all(rec);
    const char *all = number(b->frames * (int64_t)FRAME_BYTES);
    struct command cat = {{"cat", raw}, NULL, 1};
    struct command swt = {{b->swt, "window", rec, "--from", "start", "--to", "end"}, NULL, 1};
    struct command splice = {{b->floor, "vmsplice", raw, "0", all}, NULL, 1};
    (void)table_add(&t, "cat", run_stream, &cat);
    (void)table_add(&t, "swt window --from start --to end", run_stream, &swt);
    (void)table_add(&t, "C mmap + vmsplice", run_stream, &splice);
    table_claim(&t, (struct claim){"speed to cat", 1, 0, 0, 0, true, true, 1.5});
    table_run(b, &t);
}
