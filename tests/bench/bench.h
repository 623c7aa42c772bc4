/* SPDX-License-Identifier: MIT
 *
 * bench.h - the benchmark harness: what its files share. Every job runs its contestants in turn, round by
 * round, in one run; only ratios between them mean anything. It uses the public header of swt, the command
 * line, and nothing of the library's inside.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "swt.h"

#define FRAME_BYTES    150528u /* 224x224x3 of u8 */
#define WINDOW         64      /* frames of a window */
#define WINDOW_BYTES   ((size_t)WINDOW * FRAME_BYTES)
#define JOB_FRAMES     20000 /* the stream of targets; fewer where disk or memory are small */
#define MAX_ROUNDS     15
#define MAX_CONTESTANT 12
#define MAX_CLAIMS     12
#define MAX_VALUES     2
#define FIRST_MAX      4096 /* most samples of one run */

struct bench {
    const char *dir;   /* scratch folder, removed by the caller */
    const char *swt;   /* the command */
    const char *floor; /* plain C, nothing of swt in it */
    const char *peers; /* peers.py */
    const char *only;  /* "J1,J5", NULL: all */
    int rounds;
    int64_t frames;      /* of the stream on disk */
    int64_t warm_frames; /* of those, so many that all contestants' copies of them fit in memory */
    int64_t memory;      /* bytes available at the start */
    int64_t end_ns;      /* after this a job ends with its third round */
    int missed, noisy, reached, wrong;
};

/* ---- table.c: contestants, rounds, verdicts ---------------------------------------------------------- */

struct contestant;
/* One run: measures itself, checks its result, 0 or -1 (said on stderr). `ret`: MAX_VALUES times in ns. */
typedef int run_fn(struct bench *b, struct contestant *c, int round, double *ret);

struct contestant {
    const char *name;
    run_fn *run;
    const void *arg;
    bool is_peer; /* for comparison: after three rounds it may rest, where its job takes long */
    char skipped[160]; /* not empty: why it does not take part */
    double sample[MAX_VALUES][MAX_ROUNDS];
};

/* Contestant `who` against `ref`, both by number: how many times as fast, or as long. */
struct claim {
    const char *text;
    int who, value;
    int ref, ref_value; /* ref < 0: a plain time, bound in ns */
    bool is_speed;      /* the ratio is ref's time over who's, else who's over ref's */
    bool at_least;
    double bound;
};

struct table {
    const char *job, *title;
    const char *value_name[MAX_VALUES]; /* NULL: only one value */
    double unit_ns;                     /* values are printed in units of so many ns */
    const char *unit;
    bool is_speed; /* ratios in the table: speed, else time */
    int peer_s;    /* seconds after which peers rest; 0: 20 */
    size_t n, n_claims;
    struct contestant who[MAX_CONTESTANT];
    struct claim claims[MAX_CLAIMS];
};

struct contestant *table_add(struct table *t, const char *name, run_fn *run, const void *arg);
void table_claim(struct table *t, struct claim claim);
/* Run all rounds and print. */
void table_run(struct bench *b, struct table *t);
double median(double *v, size_t n); /* sorts v; NAN if n is 0 */
/* Print all verdicts again, in one list. */
void table_summary(const struct bench *b);

/* ---- data.c: frames that betray themselves ------------------------------------------------------------ */

int64_t now_ns(void);
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
int wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* says it, returns -1 */

/* Path in the scratch folder; good for a few calls. */
const char *in_dir(const struct bench *b, const char *name);

void frames_init(const struct bench *b);
/* Frame `no`; good until RING further calls. */
const void *frame_make(int64_t no);
/* Sum of all bytes, as words: every byte is read. */
uint64_t sum_words(const void *data, size_t bytes);
uint64_t window_sum(int64_t first, int64_t n);
/* All bytes are those of frames first .. first + n - 1: 0, else -1 and it is said. */
int window_check(const char *who, const void *data, int64_t first, int64_t n);
/* The same when the sum is known already. */
int window_check_sum(const char *who, const void *data, int64_t first, int64_t n, uint64_t sum);
/* Only the number at the start and the end of each frame. */
int stamps_check(const char *who, const void *data, int64_t first, int64_t n);

/* The stream as a flat file and as a recording; made where a job before has not left it. */
void have_raw(struct bench *b);
void have_recording(struct bench *b);
int write_raw(struct bench *b, const char *path);
int write_recording(struct bench *b, const char *path);

void remove_tree(const char *path);
/* Push a file or folder out of the page cache. Nobody may have it mapped. */
void drop_cache(const char *path);
void read_all(const char *path);
uint64_t random_below(uint64_t *state, uint64_t n);
void *must_alloc(size_t bytes);
/* swt's own error as one line; returns -1. */
int swt_failed(const char *what, int rc, const struct swt_diag *diag);
struct swt_window_spec range_spec(int64_t first, int64_t n);

/* ---- proc.c: other processes --------------------------------------------------------------------------- */

struct output {
    uint8_t *buf; /* where it goes; NULL: bytes are counted, frame numbers checked on the way */
    size_t cap;
    size_t n;            /* bytes that came */
    int64_t first_ns;    /* from start to first byte */
    int64_t total_ns;    /* from start to end of output */
    int64_t first_frame; /* number of the first frame, where buf is NULL */
};
/* Run a command to its end, standard output into `out`. 0, or -1 and it is said. */
int run_process(const char *const *argv, struct output *out);
/* Run a command, output thrown away. */
int run_quiet(const char *const *argv);
bool has_program(const char *name);

/* A peer in Python that waits for orders. */
struct peer;
/* NULL and a reason where its module does not import. */
struct peer *peer_start(const struct bench *b, const char *module, char *reason, size_t cap);
/* Send a line, get the time it took. -1 and it is said. */
int peer_ask(struct peer *p, double *ret_ns, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void peer_stop(struct peer **p);

/* ---- jobs -------------------------------------------------------------------------------------------- */

void job_append(struct bench *b);  /* J1 */
void job_windows(struct bench *b); /* J2 */
void job_cold(struct bench *b);    /* J3 */
void job_live(struct bench *b);    /* J4 */
void job_last(struct bench *b);    /* J5 */
void job_sound(struct bench *b);   /* J8 */
void job_pipe(struct bench *b);
void job_scale(struct bench *b);

#endif
