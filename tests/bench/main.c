/* SPDX-License-Identifier: MIT
 *
 * main.c - options, the machine, which jobs; tests/bench/bench builds and calls it and cleans up after it.
 *
 *     harness DIR SWT FLOOR PEERS [--quick] [--only J1,J5] [--rounds N] [--frames N]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define TIME_NS      INT64_C(480000000000) /* after that, jobs end with their third round */
#define PROBE_FRAMES 1000                  /* written to see how fast the disk is */
#define FLOOR_NS     INT64_C(6000000000) /* the stream is no longer than the disk takes in this time */

struct job {
    const char *name;
    void (*run)(struct bench *b);
    int copies; /* of the stream that lie on the disk at once */
};

static const struct job jobs[] = {
    {"J1", job_append, 5}, {"J2", job_windows, 4}, {"J3", job_cold, 4},   {"J4", job_live, 1},
    {"J5", job_last, 4},   {"J8", job_sound, 1},   {"pipe", job_pipe, 2}, {"scale", job_scale, 1},
};
#define N_JOBS (sizeof jobs / sizeof jobs[0])

static bool is_wanted(const struct bench *b, const char *name)
{
    size_t n = strlen(name);
    if (!b->only)
        return true;
    for (const char *p = b->only; *p; p += strcspn(p, ","), p += *p == ',')
        if (strncasecmp(p, name, n) == 0 && (p[n] == ',' || !p[n]))
            return true;
    return false;
}

static void check_names(const struct bench *b)
{
    size_t known = 0, asked = 1;
    for (const char *p = b->only; p && *p; p++)
        asked += *p == ',';
    for (size_t i = 0; i < N_JOBS; i++)
        known += b->only && is_wanted(b, jobs[i].name);
    if (b->only && known != asked)
        die("--only takes J1,J2,J3,J4,J5,J8,pipe,scale");
}

static int64_t option_number(const char *name, const char *text)
{
    char *end;
    long long n = text ? strtoll(text, &end, 10) : 0;
    if (!text || *end || n < 1)
        die("%s takes a number", name);
    return n;
}

static void options(struct bench *b, int argc, char **argv)
{
    for (int i = 5; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            b->rounds = 3;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            b->only = argv[++i];
        } else if (strcmp(argv[i], "--rounds") == 0) {
            b->rounds = (int)option_number("--rounds", argv[i + 1]);
            i++;
        } else if (strcmp(argv[i], "--frames") == 0) {
            b->frames = option_number("--frames", argv[i + 1]);
            i++;
        } else {
            die("what is %s? --quick, --only J1,J5, --rounds N, --frames N", argv[i]);
        }
    }
    if (b->rounds > MAX_ROUNDS)
        die("at most %d rounds", MAX_ROUNDS);
    if (b->frames > JOB_FRAMES || b->frames < 1000)
        die("1000 to %d frames", JOB_FRAMES);
    check_names(b);
}

/* ---- the machine --------------------------------------------------------------------------------------- */

static void first_line(const char *path, const char *key, char *ret, size_t cap)
{
    char line[512];
    FILE *f = fopen(path, "r");
    (void)snprintf(ret, cap, "?");
    while (f && fgets(line, sizeof line, f)) {
        char *v = key ? strchr(line, ':') : line;
        if (key && strncmp(line, key, strlen(key)) != 0)
            continue;
        line[strcspn(line, "\n")] = 0;
        (void)snprintf(ret, cap, "%.*s", (int)cap - 1,
                       v && key ? v + 1 + strspn(v + 1, " \t") : line);
        break;
    }
    if (f)
        (void)fclose(f);
}

/* Type and options of the file system that holds the folder: the longest mount point that begins its path. */
static void file_system(const char *dir, char *ret, size_t cap)
{
    char line[2048], dev[512], at[512], type[64], opts[512], real[4096];
    size_t best = 0;
    FILE *f = fopen("/proc/self/mounts", "r");
    (void)snprintf(ret, cap, "?");
    while (f && realpath(dir, real) && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%511s %511s %63s %511s", dev, at, type, opts) != 4)
            continue;
        size_t n = strlen(at);
        if (n >= best && strncmp(real, at, n) == 0 && (n == 1 || !real[n] || real[n] == '/')) {
            best = n;
            (void)snprintf(ret, cap, "%s on %s (%s)", type, dev, opts);
        }
    }
    if (f)
        (void)fclose(f);
}

static int64_t memory_available(void)
{
    char text[64];
    first_line("/proc/meminfo", "MemAvailable", text, sizeof text);
    return strtoll(text, NULL, 10) * 1024;
}

static int64_t disk_free(const char *dir)
{
    struct statvfs v;
    if (statvfs(dir, &v) < 0)
        die("%s: %s", dir, strerror(errno));
    return (int64_t)(v.f_bavail * v.f_frsize);
}

static void print_machine(const struct bench *b)
{
    struct utsname u;
    char cpu[256], fs[1400], thp[128], date[64];
    time_t now = time(NULL);
    first_line("/proc/cpuinfo", "model name", cpu, sizeof cpu);
    first_line("/sys/kernel/mm/transparent_hugepage/enabled", NULL, thp, sizeof thp);
    file_system(b->dir, fs, sizeof fs);
    (void)uname(&u);
    (void)strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    printf("swt %s, %s, medians of %d rounds, all contestants in turn; only the ratios mean "
           "anything\n",
           swt_version(), date, b->rounds);
    printf("cpu         %s, %ld cores\n", cpu, sysconf(_SC_NPROCESSORS_ONLN));
    printf("kernel      %s %s %s, huge pages %s\n", u.sysname, u.release, u.machine, thp);
    printf("memory      %.1f GiB free\n", (double)memory_available() / 1073741824.0);
    printf("file system %s, %.0f GiB free\n", fs, (double)disk_free(b->dir) / 1073741824.0);
    printf("stream      %lld frames of %u bytes; J2 within the first %lld\n\n",
           (long long)b->frames, FRAME_BYTES, (long long)b->warm_frames);
    (void)fflush(stdout);
}

/* Frames that the disk takes in the time that one of J1's runs may last. */
static int64_t probe_disk(struct bench *b)
{
    int64_t wanted = b->frames, t0 = now_ns();
    b->frames = PROBE_FRAMES;
    int rc = write_raw(b, in_dir(b, "probe"));
    b->frames = wanted;
    remove_tree(in_dir(b, "probe"));
    if (rc < 0)
        exit(1);
    return PROBE_FRAMES * FLOOR_NS / (now_ns() - t0) + 1;
}

/* Fewer frames where the disk cannot hold all copies of the stream, fewer warm ones where memory cannot. */
static void fit(struct bench *b)
{
    int64_t copies = 1, space = disk_free(b->dir) - (INT64_C(2) << 30);
    for (size_t i = 0; i < N_JOBS; i++)
        if (is_wanted(b, jobs[i].name) && jobs[i].copies > copies)
            copies = jobs[i].copies;
    int64_t most = space / copies / FRAME_BYTES;
    if (most < 1000)
        die("%s has too little free space: 4 GiB are the least", b->dir);
    int64_t fast = probe_disk(b);
    most = fast < most ? fast : most;
    most = most < 1000 ? 1000 : most;
    if (most < b->frames)
        b->frames = most;
    b->memory = memory_available();
    b->warm_frames = b->memory * 6 / 10 / 4 / FRAME_BYTES;
    if (b->warm_frames > b->frames)
        b->warm_frames = b->frames;
    if (b->warm_frames < 10 * WINDOW)
        die("too little free memory");
}

int main(int argc, char **argv)
{
    if (argc < 5)
        die("called by tests/bench/bench: harness DIR SWT FLOOR PEERS [OPTIONS]");
    struct bench b = {.dir = argv[1],
                      .swt = argv[2],
                      .floor = argv[3],
                      .peers = argv[4],
                      .rounds = 9,
                      .frames = JOB_FRAMES,
                      .end_ns = now_ns() + TIME_NS};
    options(&b, argc, argv);
    frames_init(&b);
    fit(&b);
    print_machine(&b);
    for (size_t i = 0; i < N_JOBS; i++)
        if (is_wanted(&b, jobs[i].name))
            jobs[i].run(&b);
    table_summary(&b);
    return b.wrong > 0 ? 1 : 0;
}
