/* SPDX-License-Identifier: MIT
 *
 * session.c - sessions of a writer, as chance has them: appends, syncs with appends during them, flushes, changes
 * of format, an orderly end or none.
 */
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "base/params.h"
#include "store/store.h"

#define GOP 5u

const char *const flavour_names[N_FLAVOURS] = {
    [BIG_FRAMES] = "frames", [SMALL_FRAMES] = "groups", [PACKETS] = "packets"};

struct session {
    struct history *h;
    struct rnd *rnd;
    struct store_dir *dir;
    struct store_writer *writer;
    struct swt_diag *reterr;
    int rc;
    unsigned depth;         /* of syncs */
    uint64_t packet_no;     /* in this session */
    int64_t packet_zero_ns; /* time of its first picture */
};

/* ---- plans --------------------------------------------------------------------------------------- */

static unsigned pick(struct rnd *r, const unsigned *of, size_t n)
{
    return of[rnd_below(r, n)];
}

static void plan_sizes(struct plan *p, struct rnd *r)
{
    for (int i = 0; i < 2; i++) {
        p->frame_bytes[i] = p->flavour == BIG_FRAMES ? 4097 + (uint32_t)rnd_below(r, 5000)
                                                     : 60 + (uint32_t)rnd_below(r, 1000);
    }
    uint64_t unit = p->flavour == BIG_FRAMES ? p->frame_bytes[0] : 4500;
    p->segment_bytes = unit * (1 + rnd_below(r, 5)) + rnd_below(r, 1000);
}

void plan_make(struct plan *p, struct rnd *r)
{
    static const unsigned percents[] = {0, 5, 20, 50, 90};
    *p = (struct plan){.flavour = (enum flavour)rnd_below(r, N_FLAVOURS)};
    plan_sizes(p, r);
    p->sync_ns = rnd_percent(r, 25) ? 0 : 1000000000;
    p->steps = 2 + (unsigned)rnd_below(r, 7);
    p->sync_percent = pick(r, percents, 5);
    p->flush_percent = pick(r, percents, 4);
    p->nest_percent = pick(r, percents, 5);
    p->close_percent = pick(r, percents, 5);
    p->gap_percent = pick(r, percents, 3);
    p->format_percent = rnd_percent(r, 25) && p->flavour != PACKETS ? 15 : 0;
}

/* ---- items --------------------------------------------------------------------------------------- */

void item_bytes(const struct item *item, uint64_t no, uint8_t *ret_bytes)
{
    struct rnd r = {rnd_mix(item->tag, no)};
    for (uint32_t i = 0; i < item->bytes; i += 8) {
        uint64_t word = rnd_u64(&r);
        memcpy(ret_bytes + i, &word, item->bytes - i < 8 ? item->bytes - i : 8);
    }
}

static struct item *item_add(struct session *s)
{
    struct history *h = s->h;
    if (h->n == ITEMS)
        abort();
    struct item *item = &h->items[h->n++];
    *item = (struct item){.tag = h->tag, .shows = true};
    return item;
}

/* ---- tensors ------------------------------------------------------------------------------------- */

static void fail(struct session *s, int rc)
{
    if (s->rc == 0 && rc < 0)
        s->rc = rc;
}

static void set_format(struct session *s)
{
    struct params p;
    params_init(&p);
    p.rate = (struct swt_ratio){25, 1};
    p.time_base = (struct swt_ratio){1, 25};
    if (s->h->plan.flavour == PACKETS) {
        strcpy(p.media, "video");
        strcpy(p.codec, "h264");
        p.has_b_frames = true;
        p.width = 64;
        p.height = 48;
    } else {
        strcpy(p.media, "rows");
        p.dtype = SWT_U8;
        p.n_dims = 1;
        p.frame_bytes = s->h->plan.frame_bytes[s->h->format];
        p.shape[0] = (int64_t)p.frame_bytes;
    }
    fail(s, store_writer_format(s->writer, &p, s->reterr));
    params_done(&p);
}

static void append_frames(struct session *s, uint64_t n)
{
    struct history *h = s->h;
    uint32_t bytes = h->plan.frame_bytes[h->format];
    uint64_t first = h->n, stored = 0;
    uint8_t *data = malloc(n * bytes + 8);
    if (data == NULL)
        abort();
    for (uint64_t k = 0; k < n; k++) {
        struct item *item = item_add(s);
        item->bytes = bytes;
        item->time_ns = (int64_t)(first + k) * FRAME_NS;
        item_bytes(item, first + k, data + k * bytes);
    }
    sim.facts.frames = sim.facts.frames > h->n ? sim.facts.frames : h->n;
    struct store_item item = {.time_ns = (int64_t)first * FRAME_NS, .src_pts = INT64_MIN};
    item.capture_ns = sim.now_ns;
    if (rnd_percent(s->rnd, h->plan.gap_percent))
        item.flags = SEG_FLAG_GAP;
    int rc = store_writer_frames(s->writer, &item, data, n, &stored, s->reterr);
    fail(s, rc < 0 ? rc : stored != n ? -1 : 0);
    free(data);
}

/* ---- packets ------------------------------------------------------------------------------------- */

/* Decode order I P B b b: the display place of each within its group of pictures. */
static const uint64_t places[GOP] = {0, 4, 2, 1, 3};

static void append_packet(struct session *s)
{
    struct history *h = s->h;
    uint64_t k = s->packet_no++, at = k % GOP, no = h->n;
    struct item *item = item_add(s);
    uint8_t data[ITEM_BYTES];
    item->is_key = at == 0;
    item->bytes = 30 + (uint32_t)rnd_below(s->rnd, at == 0 ? 6000 : 1500);
    item->time_ns = s->packet_zero_ns + (int64_t)(k - at + places[at]) * FRAME_NS;
    item->shows = at == 0 || !rnd_percent(s->rnd, 4);
    item_bytes(item, no, data);
    sim.facts.entries = h->n;
    sim.facts.frames += item->shows;
    struct store_item what = {.time_ns = item->time_ns, .capture_ns = sim.now_ns, .duration = 1};
    what.src_pts = (int64_t)(k - at + places[at]);
    what.dts_delta = (int32_t)((int64_t)k - 2 - what.src_pts);
    what.flags = (item->is_key ? (uint32_t)SEG_FLAG_KEY : 0) |
                 (item->shows ? 0 : (uint32_t)SEG_FLAG_NOPIC);
    size_t first = rnd_below(s->rnd, item->bytes);
    struct iovec pieces[2] = {{data, first}, {data + first, item->bytes - first}};
    fail(s, store_writer_packet(s->writer, &what, pieces, 2, 0, s->reterr));
}

/* ---- steps --------------------------------------------------------------------------------------- */

static bool has_room(const struct session *s)
{
    return s->h->n + 80 < ITEMS;
}

static void append_some(struct session *s)
{
    uint64_t few = 1 + rnd_below(s->rnd, 3);
    if (!has_room(s))
        return;
    switch (s->h->plan.flavour) {
    case PACKETS:
        for (uint64_t i = 0; i < few * 2; i++)
            append_packet(s);
        break;
    case SMALL_FRAMES:
        append_frames(s, 1 + rnd_below(s->rnd, 30));
        break;
    case BIG_FRAMES:
    case N_FLAVOURS:
        append_frames(s, rnd_percent(s->rnd, 80) ? 1 : few);
        break;
    }
}

/* What another thread may do while this one waits for the disk. */
static void during_sync(void *arg)
{
    struct session *s = arg;
    if (s->depth != 1 || !rnd_percent(s->rnd, s->h->plan.nest_percent))
        return;
    s->depth++;
    append_some(s);
    s->depth--;
}

static void sync_now(struct session *s)
{
    s->depth = 1;
    writer_sync(s->writer);
    s->depth = 0;
    sim_mark();
}

static void step(struct session *s)
{
    const struct plan *p = &s->h->plan;
    if (rnd_percent(s->rnd, p->format_percent)) {
        s->h->format = !s->h->format;
        set_format(s);
    }
    append_some(s);
    sim_mark();
    if (rnd_percent(s->rnd, 20))
        sim_sleep(WRITER_GROUP_NS + 1);
    if (rnd_percent(s->rnd, p->flush_percent))
        fail(s, store_writer_flush(s->writer, s->reterr));
    if (p->sync_ns > 0 && rnd_percent(s->rnd, p->sync_percent))
        sync_now(s);
}

/* ---- sessions ------------------------------------------------------------------------------------ */

static int begin(struct session *s, uint64_t ret_resumed[2], const char **ret_what)
{
    const struct plan *p = &s->h->plan;
    struct store_writer_spec spec = {.name = STREAM,
                                     .kind = p->flavour == PACKETS ? SEG_KIND_PACKETS
                                                                   : SEG_KIND_TENSOR,
                                     .segment_bytes = p->segment_bytes,
                                     .sync_ns = p->sync_ns,
                                     .control_dir = SIM_CONTROL};
    *ret_what = "store_dir_create";
    int rc = store_dir_create(RECORDING, 0, &s->dir, s->reterr);
    if (rc < 0)
        return rc;
    *ret_what = "store_writer_open";
    rc = store_writer_open(s->dir, &spec, &s->writer, s->reterr);
    if (rc < 0)
        return rc;
    sim.facts.has_recording = sim.facts.has_stream = true;
    sim_mark();
    struct store_writer_state state;
    store_writer_state(s->writer, &state);
    ret_resumed[0] = state.frames;
    ret_resumed[1] = state.entries;
    s->h->n = p->flavour == PACKETS ? state.entries : state.frames;
    s->h->tag++;
    s->packet_zero_ns = state.end_ns > 0 ? state.end_ns : 0;
    *ret_what = "recording";
    set_format(s);
    return s->rc;
}

/* Closed, or stopped as by a power cut: what the objects do while they are freed never happens. */
static void finish(struct session *s, bool is_closed)
{
    sim.during_sync = NULL;
    sim_mark();
    sim.is_frozen = !is_closed;
    int rc = store_writer_close(&s->writer, s->reterr);
    if (is_closed)
        fail(s, rc);
    store_dir_close(&s->dir);
    sim_mark();
}

int session_run(struct history *h, struct rnd *rnd, enum session_end end, uint64_t ret_resumed[2],
                const char **ret_what, struct swt_diag *reterr)
{
    struct session s = {.h = h, .rnd = rnd, .reterr = reterr};
    sim.during_sync_arg = &s;
    sim.during_sync = during_sync;
    int rc = begin(&s, ret_resumed, ret_what);
    for (unsigned i = 0; rc == 0 && i < h->plan.steps; i++) {
        step(&s);
        rc = s.rc;
    }
    finish(&s, end == END_CLOSED || rnd_percent(rnd, h->plan.close_percent));
    return rc < 0 ? rc : s.rc;
}

int session_run_exact(struct history *h, const unsigned *appends, size_t n_appends, bool syncs,
                      const char **ret_what, struct swt_diag *reterr)
{
    struct rnd rnd = {1};
    uint64_t resumed[2];
    struct session s = {.h = h, .rnd = &rnd, .reterr = reterr};
    int rc = begin(&s, resumed, ret_what);
    for (size_t i = 0; rc == 0 && i < n_appends; i++) {
        for (unsigned k = 0; h->plan.flavour == PACKETS && k < appends[i]; k++)
            append_packet(&s);
        if (h->plan.flavour != PACKETS)
            append_frames(&s, appends[i]);
        sim_mark();
        if (syncs)
            sync_now(&s);
        rc = s.rc;
    }
    finish(&s, true);
    return rc < 0 ? rc : s.rc;
}
