/* SPDX-License-Identifier: MIT
 *
 * table.c - rounds, medians and verdicts. A ratio is worked out within each round; the median of the rounds
 * is what counts.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define NOISE       0.15
#define MAX_SUMMARY 64

static char summary[MAX_SUMMARY][200];
static size_t n_summary;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *v, size_t n)
{
    if (n == 0)
        return NAN;
    qsort(v, n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

struct contestant *table_add(struct table *t, const char *name, run_fn *run, const void *arg)
{
    if (t->n == MAX_CONTESTANT)
        die("too many contestants in %s", t->job);
    struct contestant *c = &t->who[t->n++];
    *c = (struct contestant){.name = name, .run = run, .arg = arg};
    for (int v = 0; v < MAX_VALUES; v++)
        for (int i = 0; i < MAX_ROUNDS; i++)
            c->sample[v][i] = NAN;
    return c;
}

void table_claim(struct table *t, struct claim claim)
{
    if (t->n_claims == MAX_CLAIMS)
        die("too many targets in %s", t->job);
    t->claims[t->n_claims++] = claim;
}

struct stats {
    double mid, low, high;
    size_t n;
};

static struct stats stats_of(double *v, size_t n)
{
    struct stats s = {.mid = median(v, n), .n = n};
    s.low = n ? v[0] : NAN;
    s.high = n ? v[n - 1] : NAN;
    return s;
}

static struct stats times(const struct contestant *c, int value)
{
    double v[MAX_ROUNDS];
    size_t n = 0;
    for (int i = 0; i < MAX_ROUNDS; i++)
        if (!isnan(c->sample[value][i]))
            v[n++] = c->sample[value][i];
    return stats_of(v, n);
}

static struct stats ratios(const struct contestant *c, int value, const struct contestant *ref,
                           int ref_value, bool is_speed)
{
    double v[MAX_ROUNDS];
    size_t n = 0;
    for (int i = 0; i < MAX_ROUNDS; i++) {
        double x = c->sample[value][i], y = ref->sample[ref_value][i];
        if (!isnan(x) && !isnan(y) && x > 0 && y > 0)
            v[n++] = is_speed ? y / x : x / y;
    }
    return stats_of(v, n);
}

static const char *verdict(struct bench *b, const struct claim *c, double x)
{
    if (isnan(x)) {
        b->wrong++;
        return "not measured";
    }
    if (c->at_least ? x >= c->bound : x <= c->bound) {
        b->reached++;
        return "reached";
    }
    if (c->at_least ? x * (1 + NOISE) >= c->bound : x <= c->bound * (1 + NOISE)) {
        b->noisy++;
        return "within noise (15 %)";
    }
    b->missed++;
    return "missed";
}

static void print_claim(struct bench *b, const struct table *t, const struct claim *c)
{
    bool plain = c->ref < 0;
    const struct contestant *who = &t->who[c->who];
    struct stats s = plain ? times(who, c->value)
                           : ratios(who, c->value, &t->who[c->ref], c->ref_value, c->is_speed);
    double scale = plain ? 1e6 : 1;
    const char *unit = plain ? " ms" : "";
    char line[200];
    (void)snprintf(line, sizeof line, "%-5s %-56s %s %5.2f%s  %7.2f%s  (%.2f-%.2f)  %s", t->job,
                   c->text, c->at_least ? ">=" : "<=", c->bound / scale, unit, s.mid / scale, unit,
                   s.low / scale, s.high / scale, verdict(b, c, s.mid));
    printf("  target %s\n", line);
    if (n_summary < MAX_SUMMARY)
        memcpy(summary[n_summary++], line, sizeof line);
}

static void print_value(const struct table *t, int value)
{
    if (t->value_name[value])
        printf("  %s\n", t->value_name[value]);
    for (size_t i = 0; i < t->n; i++) {
        const struct contestant *c = &t->who[i];
        struct stats a = times(c, value);
        if (c->skipped[0] && a.n == 0) {
            if (value == 0)
                printf("    %-44s skipped: %s\n", c->name, c->skipped);
            continue;
        }
        struct stats r = ratios(c, value, &t->who[0], value, t->is_speed);
        printf("    %-44s %8.2f  %9.3f %s  (%.2f-%.2f, %zu rounds)\n", c->name, r.mid,
               a.mid / t->unit_ns, t->unit, r.low, r.high, r.n);
    }
}

static void print_table(struct bench *b, const struct table *t)
{
    printf("%s  %s   [%s; the first line is 1]\n", t->job, t->title,
           t->is_speed ? "speed" : "time");
    for (int v = 0; v < MAX_VALUES; v++)
        if (v == 0 || t->value_name[v])
            print_value(t, v);
    for (size_t i = 0; i < t->n_claims; i++)
        print_claim(b, t, &t->claims[i]);
    printf("\n");
    (void)fflush(stdout);
}

static void run_one(struct bench *b, struct contestant *c, int round, bool peers_rest)
{
    double value[MAX_VALUES] = {NAN, NAN};
    if (c->skipped[0] || (c->is_peer && peers_rest))
        return;
    if (c->run(b, c, round, value) < 0) {
        b->wrong++;
        (void)snprintf(c->skipped, sizeof c->skipped, "failed in round %d", round + 1);
        return;
    }
    for (int v = 0; v < MAX_VALUES; v++)
        c->sample[v][round] = value[v];
}

void table_run(struct bench *b, struct table *t)
{
    int64_t t0 = now_ns(), peer_ns = (t->peer_s > 0 ? t->peer_s : 20) * INT64_C(1000000000);
    for (int round = 0; round < b->rounds; round++) {
        bool is_late = round >= 3 && now_ns() > b->end_ns;
        bool peers_rest = round >= 3 && now_ns() - t0 > peer_ns;
        for (size_t i = 0; i < t->n && !is_late; i++) /* nobody is always first */
            run_one(b, &t->who[(i + (size_t)round) % t->n], round, peers_rest);
    }
    print_table(b, t);
    (void)fprintf(stderr, "%s took %.0f s\n", t->job, (double)(now_ns() - t0) / 1e9);
}

void table_summary(const struct bench *b)
{
    printf("targets\n");
    for (size_t i = 0; i < n_summary; i++)
        printf("  %s\n", summary[i]);
    printf("%d reached, %d within noise (15 %%), %d missed, %d wrong or not measured\n", b->reached,
           b->noisy, b->missed, b->wrong);
}
