/* SPDX-License-Identifier: MIT
 *
 * exhaust.c - every cut of small sessions. Three appends at most, over a rotation; the power fails before each
 * operation in turn, and each time the disk has every mix of what it may have: of each page any of its states
 * since the last sync, of each file any of its lengths, each directory operation or not. Images that were seen
 * with the same promises are not looked at again.
 */
#include "exhaust.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "check.h"

#define APPENDS 3u

/* ---- what is recorded ---------------------------------------------------------------------------- */

struct workload {
    enum flavour flavour;
    unsigned appends[APPENDS]; /* frames or packets of each; 0: no more */
    unsigned per_segment;      /* appends until the next segment */
    bool syncs;                /* after each append */
    bool has_two_sessions;     /* the first one, of one append, was closed */
};

static unsigned n_appends(const struct workload *w)
{
    unsigned n = 0;
    while (n < APPENDS && w->appends[n] > 0)
        n++;
    return n;
}

static void workload_name(const struct workload *w, char ret_name[80])
{
    (void)snprintf(ret_name, 80, "%s, %u appends, %u a segment%s%s", flavour_names[w->flavour],
                   n_appends(w), w->per_segment, w->syncs ? ", synced" : "",
                   w->has_two_sessions ? ", second session" : "");
}

/* Frames of two pages would only multiply the mixes: 4096 bytes are one page and one entry. */
static void plan_for(const struct workload *w, struct plan *ret)
{
    *ret = (struct plan){.flavour = w->flavour, .sync_ns = 1000000000};
    ret->frame_bytes[0] = w->flavour == SMALL_FRAMES ? 1500 : 4096;
    uint64_t unit = w->flavour == BIG_FRAMES ? 4096 : 4500;
    ret->segment_bytes = w->per_segment * unit;
}

/* ---- images that were seen ----------------------------------------------------------------------- */

struct seen {
    uint64_t *keys; /* open addressing; 0: free */
    size_t n, cap;
};

static bool seen_put(struct seen *s, uint64_t key)
{
    key += key == 0;
    size_t i = (size_t)key & (s->cap - 1);
    while (s->keys[i] != 0 && s->keys[i] != key)
        i = (i + 1) & (s->cap - 1);
    if (s->keys[i] == key)
        return false;
    s->keys[i] = key;
    s->n++;
    return true;
}

/* True if the key is new. */
static bool seen_add(struct seen *s, uint64_t key)
{
    if (2 * (s->n + 1) > s->cap) {
        struct seen more = {.cap = s->cap == 0 ? 4096 : s->cap * 2};
        more.keys = calloc(more.cap, sizeof *more.keys);
        if (more.keys == NULL)
            abort();
        for (size_t i = 0; i < s->cap; i++) {
            if (s->keys[i] != 0)
                (void)seen_put(&more, s->keys[i]);
        }
        free(s->keys);
        *s = more;
    }
    return seen_put(s, key);
}

static uint64_t file_hash(const struct content *c)
{
    static const uint8_t zeros[PAGE_BYTES];
    uint64_t hash = c->size;
    for (size_t i = 0; i < c->n; i++) {
        if (c->pages[i] == NULL || memcmp(c->pages[i]->bytes, zeros, PAGE_BYTES) == 0)
            continue;
        uint64_t halves = (uint64_t)crc32c(0, c->pages[i]->bytes, PAGE_BYTES) << 32 |
                          crc32c(1, c->pages[i]->bytes, PAGE_BYTES / 2);
        hash = rnd_mix(hash ^ i, halves);
    }
    return hash;
}

/* Of all that has a name; the order of names in a directory does not count. */
static uint64_t tree_hash(const struct disk *d, int node)
{
    const struct node *at = &d->nodes[node];
    if (at->kind != NODE_DIR)
        return file_hash(&at->data);
    uint64_t sum = at->n_names;
    for (size_t i = 0; i < at->n_names; i++)
        sum += rnd_mix(at->names[i].hash, tree_hash(d, at->names[i].node));
    return sum;
}

static uint64_t image_key(const struct disk *d, const struct facts *facts)
{
    uint64_t flags = facts->has_recording * 2u + facts->has_stream;
    uint64_t key = rnd_mix(tree_hash(d, ROOT), facts->durable);
    return rnd_mix(rnd_mix(key, facts->frames), facts->entries * 4 + flags);
}

/* ---- one workload -------------------------------------------------------------------------------- */

struct search {
    const struct workload *workload;
    struct exhaust_figures *figures;
    uint64_t most; /* mixes of one point; of more, so many by chance */
    struct rnd rnd;
    struct seen seen;
    struct disk base;
    struct trace trace;
    struct facts facts;
    struct history history;
};

static void fail(struct search *s, size_t at, uint64_t choice, const struct verdict *v)
{
    char name[80];
    workload_name(s->workload, name);
    if (s->figures->failed++ < 5)
        printf("# %s: cut before operation %zu of %zu, mix %" PRIu64 ": %s: %s\n", name, at,
               s->trace.n, choice, violation_names[v->violation], v->text);
}

static bool record(struct search *s)
{
    const struct workload *w = s->workload;
    static const unsigned one[] = {1};
    struct verdict v = {0};
    struct swt_diag why = {0};
    const char *what = "";
    s->history = (struct history){0};
    plan_for(w, &s->history.plan);
    sim_begin(7);
    int rc = w->has_two_sessions ? session_run_exact(&s->history, one, 1, w->syncs, &what, &why)
                                 : 0;
    if (rc == 0)
        rc = session_run_exact(&s->history, w->appends, n_appends(w), w->syncs, &what, &why);
    disk_copy(&s->base, &sim.base);
    trace_copy(&s->trace, &sim.trace, sim.trace.n);
    s->facts = sim.facts;
    sim_end();
    if (rc < 0) {
        verdict_set(&v, V_APPEND, "%s: %s", what, why.text);
        fail(s, s->trace.n, 0, &v);
    }
    return rc == 0;
}

/* The next session takes one append and ends in order; all must be there. Some are cut in their turn. */
static void go_on(struct search *s, const struct facts *facts, struct verdict *v)
{
    static struct history h;
    static const unsigned one[] = {1};
    struct swt_diag why = {0};
    const char *what = "";
    uint64_t frames = v->frames, entries = v->entries;
    bool is_packets = s->history.plan.flavour == PACKETS;
    h = s->history;
    sim.facts = (struct facts){.durable = frames,
                               .visible = frames,
                               .committed = entries,
                               .frames = frames,
                               .entries = entries,
                               .has_recording = facts->has_recording,
                               .has_stream = facts->has_stream};
    int rc = session_run_exact(&h, one, 1, false, &what, &why);
    if (rc < 0) {
        verdict_set(v, V_APPEND, "%s: %s", what, why.text);
        return;
    }
    struct cut cut = {.at = (size_t)rnd_below(&s->rnd, sim.trace.n), .seed = rnd_u64(&s->rnd)};
    cut.style = (enum cut_style)rnd_below(&s->rnd, CUT_CHOICE);
    struct disk image;
    const struct facts then = sim.trace.ops[cut.at].facts, end = sim.facts;
    disk_cut(&sim.base, &sim.trace, &cut, &image);
    sim_kill(sim.trace.n);
    check_all(&h, &end, &(struct floor){end.frames, is_packets ? end.entries : 0}, v);
    sim_boot(&image);
    if (v->violation == V_NONE)
        check_all(&h, &then, &(struct floor){then.durable, 0}, v);
    s->figures->sessions++;
}

static void one_mix(struct search *s, size_t at, uint64_t no, struct choices *choices)
{
    struct cut cut = {.at = at, .style = CUT_CHOICE, .choices = choices};
    struct disk image;
    const struct facts *facts = at < s->trace.n ? &s->trace.ops[at].facts : &s->facts;
    struct verdict v = {0};
    disk_cut(&s->base, &s->trace, &cut, &image);
    s->figures->cuts++;
    if (!seen_add(&s->seen, image_key(&image, facts))) {
        disk_done(&image);
        return;
    }
    s->figures->images++;
    sim = (struct sim){.rnd = {rnd_u64(&s->rnd)}, .now_ns = INT64_C(2000000000000)};
    sim_boot(&image);
    check_all(&s->history, facts, &(struct floor){facts->durable, 0}, &v);
    if (v.violation == V_NONE)
        go_on(s, facts, &v);
    if (v.violation != V_NONE)
        fail(s, at, no, &v);
    sim_end();
}

static void one_point(struct search *s, size_t at)
{
    struct choices choices = {.n = 0};
    uint64_t no = 0;
    bool has_more = true;
    s->figures->points++;
    for (; has_more && no < s->most; no++) {
        one_mix(s, at, no, &choices);
        has_more = choices_next(&choices);
    }
    if (!has_more)
        return;
    s->figures->sampled++;
    choices = (struct choices){.by_chance = &s->rnd};
    for (uint64_t i = 0; i < s->most; i++)
        one_mix(s, at, no + i, &choices);
}

static void one_workload(const struct workload *w, uint64_t most, struct exhaust_figures *figures)
{
    static struct search s;
    s = (struct search){.workload = w, .figures = figures, .most = most, .rnd = {11}};
    bool is_recorded = record(&s);
    for (size_t at = 0; is_recorded && at <= s.trace.n; at++) {
        /* nothing changes at a mark; its facts are those of the operation before */
        if (at < s.trace.n && at > 0 && s.trace.ops[at - 1].kind == OP_MARK &&
            s.trace.ops[at].facts.durable == s.trace.ops[at - 1].facts.durable)
            continue;
        one_point(&s, at);
    }
    disk_done(&s.base);
    trace_done(&s.trace);
    free(s.seen.keys);
    figures->workloads++;
}

void exhaust_run(uint64_t most, bool is_long, struct exhaust_figures *ret)
{
    *ret = (struct exhaust_figures){0};
    for (unsigned i = 0; i < N_FLAVOURS * 3 * 2 * 2 * (is_long ? 2 : 1); i++) {
        struct workload w = {.flavour = (enum flavour)(i % N_FLAVOURS)};
        unsigned k = i / N_FLAVOURS;
        unsigned n = 1 + k % 3, each = w.flavour == SMALL_FRAMES ? 2 : 1;
        w.per_segment = 1 + k / 3 % 2;
        w.syncs = k / 6 % 2 == 1;
        w.has_two_sessions = k / 12 % 2 == 1;
        for (unsigned a = 0; a < n; a++)
            w.appends[a] = each + (w.flavour == SMALL_FRAMES ? a % 2 : 0);
        one_workload(&w, most, ret);
    }
}
