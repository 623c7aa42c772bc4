/* SPDX-License-Identifier: MIT
 *
 * rot.c - a bit that falls over on top of a power cut. What a checkpoint slot promises is counted even where it
 * can no longer be read: else a stream would end silently at its first bad sector. Two slots alternate so that
 * one promise is always on the disk.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "check.h"
#include "store/dir.h"
#include "store/store.h"

/* Where the bit falls, and what it takes with it. */
struct hit {
    uint64_t frame, entry_no;
    struct entry entry;
    uint64_t first, end; /* frames of the entry; of packets the one */
    uint64_t segment_base, payload_off, payload_bytes, entry_off;
    bool is_entry; /* the bit is one of the index */
};

/* ---- what is promised ---------------------------------------------------------------------------- */

static bool is_segment(const struct trace *t, int node)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *from = (const char *)t->arena + t->ops[i].at;
        if (t->ops[i].kind == OP_RENAME && t->ops[i].other == node)
            return strstr(from + strlen(from) + 1, ".swt") != NULL;
    }
    return false;
}

bool rot_is_slot(const struct op *op)
{
    return op->kind == OP_WRITE && (op->off == SEG_SLOT_OFF0 || op->off == SEG_SLOT_OFF1) &&
           op->n == sizeof(struct seg_slot);
}

/* A slot is written behind a sync and is on the disk for certain after the next one of its file. The first sync of
 * a segment is that of its making, when there is no slot yet. */
static uint64_t promised_by_slots(const struct trace *t, size_t at)
{
    uint64_t promised = 0;
    for (size_t i = 0; i < at; i++) {
        const struct op *op = &t->ops[i];
        bool is_first = true;
        if (op->kind != OP_SYNC || op->end > at || op->facts.durable <= promised ||
            !is_segment(t, op->node))
            continue;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = t->ops[k].kind != OP_SYNC || t->ops[k].node != op->node;
        if (!is_first)
            promised = op->facts.durable;
    }
    return promised;
}

/* ---- the bit ------------------------------------------------------------------------------------- */

static int find_hit(struct store_dir *dir, uint64_t frame, struct hit *ret, struct swt_diag *reterr)
{
    AUTO(store_reader_close) struct store_reader *r = NULL;
    AUTO(io_close) int stream_fd = -1, seg_fd = -1;
    AUTO(segfile_close) struct segfile file = {.fd = -1};
    struct store_reader_state state;
    struct store_frame f;
    struct stream_meta meta;
    int rc = store_reader_open(dir, STREAM, &r, reterr);
    if (rc == 0)
        rc = store_reader_refresh(r, &state, reterr);
    if (rc == 0)
        rc = store_reader_frame(r, frame, &f, reterr);
    if (rc == 0)
        rc = dir_stream_open(dir, STREAM, &stream_fd, &seg_fd, &meta, reterr);
    if (rc == 0)
        rc = segfile_open(seg_fd, f.segment_base, meta.uuid, &file, reterr);
    if (rc < 0)
        return rc;
    bool is_packet = meta.kind == SEG_KIND_PACKETS;
    *ret = (struct hit){
        .frame = frame,
        .entry_no = f.entry_no,
        .entry = f.entry,
        .first = is_packet ? frame : f.entry.pos,
        .end = is_packet ? frame + 1 : f.entry.pos + f.entry.len,
        .segment_base = f.segment_base,
        .payload_off = f.offset,
        .payload_bytes = f.entry_bytes,
        .entry_off = file.super.index_off + (f.entry_no - file.super.base_entry) * SEG_ENTRY_BYTES,
    };
    return 0;
}

static void flip(const struct hit *hit, struct rnd *rnd)
{
    char name[32];
    uint8_t byte;
    uint64_t off = hit->is_entry ? hit->entry_off + rnd_below(rnd, SEG_ENTRY_BYTES)
                                 : hit->payload_off + rnd_below(rnd, hit->payload_bytes);
    segfile_name(hit->segment_base, name);
    int node = disk_find(&sim.view, ROOT, "rec");
    node = node < 0 ? node : disk_find(&sim.view, node, STREAM);
    node = node < 0 ? node : disk_find(&sim.view, node, "seg");
    node = node < 0 ? node : disk_find(&sim.view, node, name);
    if (node < 0)
        abort();
    content_read(&sim.view.nodes[node].data, off, &byte, 1);
    byte ^= (uint8_t)(1u << rnd_below(rnd, 8));
    content_write(&sim.view.nodes[node].data, off, &byte, 1);
}

/* ---- what is said of it -------------------------------------------------------------------------- */

/* A frame that was hit may still be whole: where the next segment's seam has its bytes. */
static void check_tensor_frame(const struct history *h, struct store_reader *r, uint64_t no,
                               bool is_hit, struct verdict *v)
{
    struct swt_diag why = {0};
    const struct item *item = &h->items[no];
    uint8_t expected[ITEM_BYTES];
    const void *data = NULL;
    int rc = store_reader_check(r, no, 1, &why);
    if (is_hit && rc < 0)
        return;
    if (rc == 0)
        rc = store_reader_map(r, no, 1, &data, &why);
    item_bytes(item, no, expected);
    if (rc < 0)
        verdict_set(v, V_DAMAGED, "frame %" PRIu64 ", not the one that lost a bit: %s", no,
                    why.text);
    else if (memcmp(data, expected, item->bytes) != 0)
        verdict_set(v, V_FOREIGN, "frame %" PRIu64 " has other bytes than were written", no);
}

static void check_one_packet(const struct history *h, struct store_reader *r, uint64_t no,
                             bool is_hit, struct verdict *v)
{
    struct swt_diag why = {0};
    struct store_packet p;
    const struct item *item = &h->items[no];
    uint8_t expected[ITEM_BYTES];
    int rc = store_reader_packet(r, no, true, &p, &why);
    if (is_hit && rc == 0)
        verdict_set(v, V_FOREIGN, "packet %" PRIu64 " lost a bit, and nobody says so", no);
    if (is_hit)
        return;
    item_bytes(item, no, expected);
    if (rc < 0)
        verdict_set(v, V_DAMAGED, "packet %" PRIu64 ", not the one that lost a bit: %s", no,
                    why.text);
    else if (p.n_data != item->bytes || memcmp(p.data, expected, item->bytes) != 0)
        verdict_set(v, V_FOREIGN, "packet %" PRIu64 " is not what was written", no);
}

static void check_items(const struct history *h, struct store_dir *dir, const struct hit *hit,
                        struct verdict *v)
{
    AUTO(store_reader_close) struct store_reader *r = NULL;
    struct store_reader_state state;
    struct swt_diag why = {0};
    int rc = store_reader_open(dir, STREAM, &r, &why);
    if (rc == 0)
        rc = store_reader_refresh(r, &state, &why);
    if (rc < 0)
        verdict_set(v, V_OPEN, "a bit is lost and the stream does not open: %s", why.text);
    else if (state.end_entry != v->entries)
        verdict_set(v, V_LOST,
                    "a bit of entry %" PRIu64 " of %" PRIu64 " is lost, %" PRIu64 " are left",
                    hit->entry_no, v->entries, state.end_entry);
    else if (state.end_frame != v->frames && !(hit->is_entry && h->plan.flavour == PACKETS))
        verdict_set(v, V_LOST,
                    "a bit of frame %" PRIu64 " of %" PRIu64 " is lost, %" PRIu64 " are left",
                    hit->frame, v->frames, state.end_frame);
    bool is_packets = h->plan.flavour == PACKETS;
    uint64_t n = is_packets ? v->entries : v->frames;
    for (uint64_t no = 0; no < n && v->violation == V_NONE; no++) {
        if (is_packets)
            check_one_packet(h, r, no, no == hit->entry_no, v);
        else
            check_tensor_frame(h, r, no, no >= hit->first && no < hit->end, v);
    }
}

static void count_damage(void *arg, const struct swt_diag *damage)
{
    (void)damage;
    ++*(unsigned *)arg;
}

static void check_named(struct store_dir *dir, const struct hit *hit, struct verdict *v)
{
    struct swt_verify_report report = {0};
    unsigned n = 0;
    (void)store_verify(dir, STREAM, count_damage, &n, &report, NULL); /* what counts is `n` */
    if (n == 0)
        verdict_set(v, V_VERIFY, "frame %" PRIu64 " lost a bit %s, verify does not name it",
                    hit->frame, hit->is_entry ? "of its entry" : "of its bytes");
}

bool check_rot(const struct history *h, const struct trace *t, size_t at, struct rnd *rnd,
               struct verdict *ret)
{
    AUTO(store_dir_close) struct store_dir *dir = NULL;
    struct swt_diag why = {0};
    struct hit hit;
    uint64_t promised = promised_by_slots(t, at);
    if (promised == 0 || ret->frames < promised)
        return false;
    if (store_dir_open(RECORDING, &dir, &why) < 0 ||
        find_hit(dir, rnd_below(rnd, promised), &hit, &why) < 0) {
        verdict_set(ret, V_OPEN, "before the bit is lost: %s", why.text);
        return true;
    }
    hit.is_entry = rnd_percent(rnd, 50);
    flip(&hit, rnd);
    check_items(h, dir, &hit, ret);
    check_named(dir, &hit, ret);
    return true;
}
