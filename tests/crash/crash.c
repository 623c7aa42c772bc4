/* SPDX-License-Identifier: MIT
 *
 * crash.c - power cuts by the ten thousand. A case: a session is recorded; at a random operation the power
 * fails, or the writer is killed; what is left is read and compared; the next session goes on, and is cut
 * in its turn, in the middle of opening too; the last one ends in order, and all must be there. Cases follow from
 * seed and number, so that one can be run again alone.
 */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "exhaust.h"

#define CASES_PER_PLAN 24u /* cuts of the same first session */
#define WORKERS_MAX    16
#define LONG_MIXES     1000
#define OLD_GHOSTS     3 /* segments of a deleted recording */

/* ---- figures, shared by the workers -------------------------------------------------------------- */

struct failure {
    uint64_t number;
    struct verdict verdict;
};

struct worker_figures {
    uint64_t cuts, kills, rots, cases, frames, now; /* now: case it works at */
    uint64_t violations[N_VIOLATIONS], styles[N_CUT_STYLES], caught_by_style[N_CUT_STYLES];
    uint64_t failed;
    struct failure shown[N_VIOLATIONS]; /* the first of each kind */
};

struct options {
    uint64_t seed, cuts;
    int64_t only; /* case to run alone; -1 all */
    unsigned workers;
    uint64_t stop_after; /* failed cases */
    uint64_t mixes;      /* of each point of the exhaustive search; 0: not this search */
    bool is_verbose;
};

static struct options options = {
    .seed = 1, .cuts = 20000, .only = -1, .workers = 2, .stop_after = UINT64_MAX};
static struct worker_figures *figures; /* of this worker */

/* ---- one recorded first session ------------------------------------------------------------------ */

struct first {
    uint64_t plan_no; /* UINT64_MAX: none */
    struct disk base;
    struct trace trace;
    struct facts facts; /* at its end */
    struct history history;
    int rc;
    const char *what;
    struct swt_diag why;
};

static void first_done(struct first *f)
{
    if (f->plan_no == UINT64_MAX)
        return;
    disk_done(&f->base);
    trace_done(&f->trace);
    f->plan_no = UINT64_MAX;
}

/* What the disk held before: a recording of the same kind that was deleted. Its blocks are used again. */
static void leave_ghosts(const struct plan *plan, struct rnd *rnd, struct disk *ret_disk)
{
    static struct history h;
    uint64_t resumed[2];
    const char *what;
    h = (struct history){.plan = *plan, .tag = UINT32_MAX / 2};
    sim_begin(rnd_u64(rnd));
    (void)session_run(&h, rnd, END_CLOSED, resumed, &what, NULL); /* however far it comes */
    disk_ghosts(&sim.view, OLD_GHOSTS, ret_disk);
    sim_end();
}

static void first_make(struct first *f, uint64_t plan_no)
{
    struct rnd rnd = {rnd_mix(options.seed, plan_no * 2 + 1)};
    uint64_t resumed[2];
    if (f->plan_no == plan_no)
        return;
    first_done(f);
    *f = (struct first){.plan_no = plan_no};
    plan_make(&f->history.plan, &rnd);
    struct disk old = {0};
    leave_ghosts(&f->history.plan, &rnd, &old);
    sim_begin(rnd_u64(&rnd));
    disk_ghosts(&old, OLD_GHOSTS, &sim.base);
    disk_done(&old);
    f->rc = session_run(&f->history, &rnd, END_BY_PLAN, resumed, &f->what, &f->why);
    disk_copy(&f->base, &sim.base);
    trace_copy(&f->trace, &sim.trace, sim.trace.n);
    f->facts = sim.facts;
    sim_end();
}

/* ---- one case ------------------------------------------------------------------------------------ */

struct one_case {
    struct rnd rnd;
    struct history history;
    struct verdict verdict;
    enum cut_style style; /* of the last cut */
};

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (options.is_verbose) {
        printf("# ");
        vprintf(fmt, args);
        putchar('\n');
    }
    va_end(args);
}

static const struct facts *facts_at(const struct trace *t, size_t at, const struct facts *last)
{
    return at < t->n ? &t->ops[at].facts : last;
}

/* Cuts just behind a sync or a rename are where promises are young. */
static size_t choose_point(struct one_case *c, const struct trace *t)
{
    size_t at = (size_t)rnd_below(&c->rnd, t->n + 1);
    if (rnd_percent(&c->rnd, 70))
        return at;
    for (size_t i = at; i < t->n; i++) {
        if (t->ops[i].kind == OP_SYNC || t->ops[i].kind == OP_RENAME) {
            at = i + (size_t)rnd_below(&c->rnd, 5);
            return at < t->n ? at : t->n;
        }
    }
    return at;
}

/* The machine comes up; what it holds becomes what must not be lost from now on. */
static void look(struct one_case *c, const struct facts *facts, bool is_kill)
{
    struct floor floor = {.frames = facts->durable};
    if (is_kill)
        floor = (struct floor){facts->visible, facts->committed};
    check_all(&c->history, facts, &floor, &c->verdict);
    figures->frames += c->verdict.frames;
    say("%s: %" PRIu64 " frames, %" PRIu64 " entries there, %" PRIu64 " promised: %s",
        is_kill ? "killed" : "cut", c->verdict.frames, c->verdict.entries, floor.frames,
        c->verdict.violation == V_NONE ? "fine" : c->verdict.text);
    sim.facts = (struct facts){
        .durable = is_kill ? facts->durable : c->verdict.frames,
        .visible = c->verdict.frames,
        .committed = c->verdict.entries,
        .frames = c->verdict.frames,
        .entries = c->verdict.entries,
        .has_recording = facts->has_recording,
        .has_stream = facts->has_stream,
    };
}

static enum cut_style any_style(struct one_case *c)
{
    return (enum cut_style)rnd_below(&c->rnd, CUT_CHOICE);
}

static void cut_power(struct one_case *c, const struct disk *base, const struct trace *t, size_t at,
                      const struct facts *facts, enum cut_style style)
{
    struct cut cut = {.at = at, .seed = rnd_u64(&c->rnd), .style = style};
    struct disk image;
    const struct facts then = *facts;
    c->style = cut.style;
    say("power cut before operation %zu of %zu, %s", at, t->n, cut_style_names[cut.style]);
    disk_cut(base, t, &cut, &image);
    sim_boot(&image);
    figures->cuts++;
    figures->styles[cut.style]++;
    look(c, &then, false);
}

/* Power or process, at a point of the trace that lies in `sim`. */
static void cut_again(struct one_case *c)
{
    size_t at = choose_point(c, &sim.trace);
    const struct facts facts = *facts_at(&sim.trace, at, &sim.facts);
    if (rnd_percent(&c->rnd, 80)) {
        cut_power(c, &sim.base, &sim.trace, at, &facts, any_style(c));
        return;
    }
    say("kill before operation %zu of %zu", at, sim.trace.n);
    sim_kill(at);
    figures->kills++;
    look(c, &facts, true);
}

/* Go on where the last session ended, however it did. */
static void resume(struct one_case *c, enum session_end end)
{
    uint64_t resumed[2] = {0, 0};
    const char *what = "";
    struct swt_diag why = {0};
    uint64_t frames = c->verdict.frames, entries = c->verdict.entries;
    int rc = session_run(&c->history, &c->rnd, end, resumed, &what, &why);
    if (rc < 0)
        verdict_set(&c->verdict, V_APPEND, "%s: %s", what, why.text);
    else if (resumed[0] != frames || resumed[1] != entries)
        verdict_set(&c->verdict, V_CHANGED,
                    "a reader found %" PRIu64 " frames in %" PRIu64
                    " entries, the writer goes on behind %" PRIu64 " in %" PRIu64,
                    frames, entries, resumed[0], resumed[1]);
    say("resumed behind %" PRIu64 " frames, %s, %" PRIu64 " items then", resumed[0],
        end == END_CLOSED ? "closed" : "closed or not", c->history.n);
}

/* An orderly end: nothing handed over is missing. */
static void check_end(struct one_case *c)
{
    struct facts facts = sim.facts;
    bool is_packets = c->history.plan.flavour == PACKETS;
    struct floor floor = {facts.frames, is_packets ? facts.entries : 0};
    sim_kill(sim.trace.n);
    check_all(&c->history, &facts, &floor, &c->verdict);
}

/* Cut while a slot is written, so that only the other one is left; then a bit of what it promises falls over. */
static void lose_bit(struct one_case *c, const struct first *first)
{
    const struct trace *t = &first->trace;
    size_t at = choose_point(c, t);
    while (at < t->n && !rot_is_slot(&t->ops[at]))
        at++;
    at += at < t->n;
    enum cut_style style = any_style(c);
    cut_power(c, &first->base, t, at, facts_at(t, at, &first->facts),
              style < CUT_TORN ? (enum cut_style)(CUT_TORN + style % 3) : style);
    if (c->verdict.violation == V_NONE)
        figures->rots += check_rot(&c->history, t, at, &c->rnd, &c->verdict);
}

static void case_run(struct first *first, uint64_t number, struct one_case *c)
{
    *c = (struct one_case){.rnd = {rnd_mix(options.seed, number * 2)}};
    first_make(first, number / CASES_PER_PLAN);
    c->history = first->history;
    say("case %" PRIu64 ": %s, segments of %" PRIu64 " bytes, sync %" PRId64, number,
        flavour_names[first->history.plan.flavour], first->history.plan.segment_bytes,
        first->history.plan.sync_ns);
    if (first->rc < 0) {
        verdict_set(&c->verdict, V_APPEND, "%s: %s", first->what, first->why.text);
        return;
    }
    sim_begin(rnd_u64(&c->rnd));
    if (rnd_percent(&c->rnd, 10)) {
        lose_bit(c, first);
        sim_end();
        return;
    }
    if (rnd_percent(&c->rnd, 15)) { /* killed first */
        sim_end();
        sim = (struct sim){.rnd = {rnd_u64(&c->rnd)}, .now_ns = INT64_C(2000000000000)};
        disk_copy(&sim.base, &first->base);
        trace_copy(&sim.trace, &first->trace, first->trace.n);
        sim.facts = first->facts;
        cut_again(c);
    } else {
        size_t at = choose_point(c, &first->trace);
        cut_power(c, &first->base, &first->trace, at, facts_at(&first->trace, at, &first->facts),
                  any_style(c));
    }
    unsigned more = (unsigned)rnd_below(&c->rnd, 3);
    for (unsigned i = 0; i < more && c->verdict.violation == V_NONE; i++) {
        resume(c, END_BY_PLAN);
        if (c->verdict.violation == V_NONE)
            cut_again(c);
    }
    if (c->verdict.violation == V_NONE && rnd_percent(&c->rnd, 50)) {
        resume(c, END_CLOSED);
        if (c->verdict.violation == V_NONE)
            check_end(c);
    }
    sim_end();
}

/* ---- workers ------------------------------------------------------------------------------------- */

static void note_failure(uint64_t number, const struct one_case *c)
{
    if (figures->violations[c->verdict.violation] == 0)
        figures->shown[c->verdict.violation] = (struct failure){number, c->verdict};
    figures->failed++;
    figures->violations[c->verdict.violation]++;
    figures->caught_by_style[c->style]++;
}

static void work(unsigned worker, uint64_t from)
{
    static struct first first = {.plan_no = UINT64_MAX};
    static struct one_case c;
    uint64_t share = options.cuts / options.workers;
    for (uint64_t number = from; figures->cuts < share && figures->failed < options.stop_after;
         number++) {
        /* plans are dealt out in turn */
        if (number / CASES_PER_PLAN % options.workers != worker)
            continue;
        figures->now = number;
        case_run(&first, number, &c);
        figures->cases++;
        if (c.verdict.violation != V_NONE)
            note_failure(number, &c);
    }
    figures->now = UINT64_MAX;
    first_done(&first);
}

/* A worker that the store brings down is a failed case; another goes on behind it. */
static void run_worker(unsigned worker, struct worker_figures *all)
{
    struct worker_figures *mine = &all[worker];
    uint64_t from = 0;
    for (;;) {
        (void)fflush(stdout);
        pid_t pid = fork();
        if (pid < 0)
            abort();
        if (pid == 0) {
            figures = mine;
            work(worker, from);
            _exit(0);
        }
        int status = 0;
        while (waitpid(pid, &status, 0) < 0)
            ;
        if (mine->now == UINT64_MAX)
            return;
        struct failure f = {.number = mine->now};
        verdict_set(&f.verdict, V_CRASHED, "the program ended by signal %d, status %d",
                    WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                    WIFEXITED(status) ? WEXITSTATUS(status) : 0);
        if (mine->violations[V_CRASHED]++ == 0)
            mine->shown[V_CRASHED] = f;
        mine->failed++;
        from = mine->now + 1;
    }
}

static struct worker_figures run_all(void)
{
    size_t n = options.workers * sizeof(struct worker_figures);
    struct worker_figures *all = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                      -1, 0);
    if (all == MAP_FAILED)
        abort();
    pid_t pids[WORKERS_MAX];
    for (unsigned i = 0; i < options.workers; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            run_worker(i, all);
            _exit(0);
        }
    }
    for (unsigned i = 0; i < options.workers; i++) {
        int status;
        while (waitpid(pids[i], &status, 0) < 0)
            ;
    }
    struct worker_figures sum = {0};
    for (unsigned i = 0; i < options.workers; i++) {
        const struct worker_figures *w = &all[i];
        sum.cuts += w->cuts;
        sum.kills += w->kills;
        sum.rots += w->rots;
        sum.cases += w->cases;
        sum.frames += w->frames;
        sum.failed += w->failed;
        for (int k = 0; k < N_VIOLATIONS; k++) {
            if (sum.violations[k] == 0)
                sum.shown[k] = w->shown[k];
            sum.violations[k] += w->violations[k];
        }
        for (int k = 0; k < N_CUT_STYLES; k++) {
            sum.styles[k] += w->styles[k];
            sum.caught_by_style[k] += w->caught_by_style[k];
        }
    }
    (void)munmap(all, n);
    return sum;
}

/* ---- program ------------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec t;
    (void)timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void report(const struct worker_figures *f, double took_s)
{
    printf("# %" PRIu64 " power cuts, %" PRIu64 " kills, %" PRIu64 " bits lost in %" PRIu64
           " cases, %" PRIu64 " frames compared, seed %" PRIu64 ", %.1f s, %.0f cuts/s\n",
           f->cuts, f->kills, f->rots, f->cases, f->frames, options.seed, took_s,
           (double)f->cuts / took_s);
    printf("# cuts by style:");
    for (int i = 0; i < CUT_CHOICE; i++)
        printf(" %s %" PRIu64, cut_style_names[i], f->styles[i]);
    printf("\n# failed cases: %" PRIu64, f->failed);
    for (int i = 1; i < N_VIOLATIONS; i++) {
        if (f->violations[i] > 0)
            printf(", %s %" PRIu64, violation_names[i], f->violations[i]);
    }
    putchar('\n');
    for (int i = 1; i < N_VIOLATIONS; i++) {
        if (f->violations[i] == 0)
            continue;
        printf("# case %" PRIu64 " (--seed %" PRIu64 " --case %" PRIu64 " -v): %s: %s\n",
               f->shown[i].number, options.seed, f->shown[i].number,
               violation_names[f->shown[i].verdict.violation], f->shown[i].verdict.text);
    }
}

static int run_one(void)
{
    static struct worker_figures own;
    static struct first first = {.plan_no = UINT64_MAX};
    static struct one_case c;
    figures = &own;
    case_run(&first, (uint64_t)options.only, &c);
    first_done(&first);
    printf("case %" PRId64 ": %s %s\n", options.only, violation_names[c.verdict.violation],
           c.verdict.text);
    return c.verdict.violation != V_NONE;
}

static int run_exhaust(void)
{
    struct exhaust_figures f;
    double began_s = seconds();
    exhaust_run(options.mixes, options.mixes >= LONG_MIXES, &f);
    printf("# %" PRIu64 " short sessions, %" PRIu64 " points of time, %" PRIu64 " mixes, %" PRIu64
           " different disks, %" PRIu64 " sessions behind them, %.1f s\n",
           f.workloads, f.points, f.cuts, f.images, f.sessions, seconds() - began_s);
    printf("# %" PRIu64 " points have more than %" PRIu64
           " mixes: so many in order, so many by chance\n",
           f.sampled, options.mixes);
    printf("1..1\n%sok 1 - every power cut of sessions of up to three appends\n",
           f.failed > 0 ? "not " : "");
    return f.failed > 0;
}

static int usage(void)
{
    (void)fprintf(stderr, "usage: crash [--cuts N] [--seed S] [--case NUMBER] [--workers N] "
                          "[--stop-after FAILURES] [-v]\n"
                          "       crash --exhaust MIXES\n");
    return 2;
}

static bool take_options(int argc, char **argv)
{
    static const struct option table[] = {{"cuts", required_argument, NULL, 'c'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"case", required_argument, NULL, 'n'},
                                          {"workers", required_argument, NULL, 'w'},
                                          {"stop-after", required_argument, NULL, 'x'},
                                          {"exhaust", required_argument, NULL, 'e'},
                                          {0}};
    int o;
    while ((o = getopt_long(argc, argv, "v", table, NULL)) != -1) {
        switch (o) {
        case 'c':
            options.cuts = strtoull(optarg, NULL, 0);
            break;
        case 's':
            options.seed = strtoull(optarg, NULL, 0);
            break;
        case 'n':
            options.only = strtoll(optarg, NULL, 0);
            break;
        case 'w':
            options.workers = (unsigned)strtoul(optarg, NULL, 0);
            break;
        case 'x':
            options.stop_after = strtoull(optarg, NULL, 0);
            break;
        case 'e':
            options.mixes = strtoull(optarg, NULL, 0);
            break;
        case 'v':
            options.is_verbose = true;
            break;
        default:
            return false;
        }
    }
    return options.workers > 0 && options.workers <= WORKERS_MAX && optind == argc;
}

int main(int argc, char **argv)
{
    if (!take_options(argc, argv))
        return usage();
    if (options.only >= 0)
        return run_one();
    if (options.mixes > 0)
        return run_exhaust();
    double began_s = seconds();
    struct worker_figures f = run_all();
    report(&f, seconds() - began_s);
    printf("1..1\n%sok 1 - power cuts lose nothing acknowledged and show nothing false\n",
           f.failed > 0 ? "not " : "");
    return f.failed > 0;
}
