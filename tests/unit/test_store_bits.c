/* SPDX-License-Identifier: MIT
 *
 * test_store_bits.c - two small segments of the store's own writer, of each kind, with every bit flipped of
 * superblock, slots, params and index, one bit of every 31st byte of seam and payload, and cut off at every page:
 * verify names the file, and what a reader gives is an error or the bytes that were written. (Damage of several
 * bits at once, at random, is test_store_damage.c.)
 */
#include "store/store.h"
#include "store_t.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define IS_SLOW true
#else
#define IS_SLOW false
#endif
#define STREAM      "cam"
#define ROW_BYTES   UINT64_C(1501) /* three make an entry */
#define N_FRAMES    UINT64_C(21)
#define N_PACKETS   UINT64_C(18)
#define STEP_NS     INT64_C(40000000)
#define SIDE_BYTES  12u
#define MAX_PACKETS 32u
#define EACH_BYTE   UINT64_C(7)   /* bits from one to the next: in each byte another one */
#define EACH_31ST   UINT64_C(249) /* 31 bytes and a bit */

/* One segment as the writer left it. */
struct seg {
    int fd; /* to harm it */
    char name[32];
    struct super super;
    uint64_t n_entries, data_bytes, file_bytes;
};

/* What a reader must give of a packet. */
struct kept {
    struct entry e;
    uint8_t *bytes; /* side data included */
    size_t n_data, n_side;
};

struct rig {
    char folder[64];
    enum seg_kind kind;
    struct store_dir *dir;
    struct seg seg[2];
    uint8_t *rows;                  /* N_FRAMES of them */
    struct kept kept[MAX_PACKETS];  /* N_PACKETS */
    uint64_t frame_of[MAX_PACKETS]; /* UINT64_MAX: shows none */
};

static void free_bytes(uint8_t **bytes)
{
    free(*bytes);
    *bytes = NULL;
}

/* ---- two segments ----------------------------------------------------------------------------------- */

static int put_rows(struct rig *g, struct store_writer *w)
{
    g->rows = frames_make(0, N_FRAMES, ROW_BYTES);
    int r = 0;
    for (uint64_t k = 0, stored = 0; r == 0 && k < N_FRAMES; k += 3) {
        struct store_item item = item_at((int64_t)k * STEP_NS);
        item.duration = 3;
        r = store_writer_frames(w, &item, g->rows + k * ROW_BYTES, 3, &stored, NULL);
    }
    return r;
}

/* One record of side data: new extradata of 4 bytes. */
static void side_fill(uint8_t side[SIDE_BYTES])
{
    struct seg_side head;
    le32_set(&head.kind, SEG_SIDE_NEW_EXTRADATA);
    le32_set(&head.n_bytes, 4);
    memcpy(side, &head, sizeof head);
    memcpy(side + sizeof head, "side", 4);
}

/* Pictures in decode order I P B I P B ..., every fifth packet shows none, every fourth has side data. */
static int put_packets(struct store_writer *w)
{
    int r = 0;
    int64_t pts = 0;
    for (uint64_t k = 0; r == 0 && k < N_PACKETS; k++) {
        static const int64_t shift[3] = {0, 1, -1};
        bool is_shown = k % 5 != 4;
        uint64_t n = 40 + k * 37 % 900;
        uint8_t *data = frames_make(k, 1, n), side[SIDE_BYTES];
        int64_t at = pts + shift[pts % 3];
        struct store_item item = item_at(at * STEP_NS);
        side_fill(side);
        item.src_pts = at;
        item.dts_delta = (int32_t)(pts - 1 - at);
        item.duration = 1;
        item.flags = (uint32_t)(!is_shown ? SEG_FLAG_NOPIC : pts % 3 == 0 ? SEG_FLAG_KEY : 0);
        struct iovec pieces[2] = {{data, n}, {side, SIDE_BYTES}};
        bool has_side = k % 4 == 1;
        r = store_writer_packet(w, &item, pieces, has_side ? 2 : 1, has_side ? SIDE_BYTES : 0,
                                NULL);
        pts += is_shown;
        free(data);
    }
    return r;
}

static int record(struct rig *g)
{
    struct store_writer *w = NULL;
    AUTO(params_done) struct params params;
    struct store_writer_spec spec = {.name = STREAM,
                                     .kind = g->kind,
                                     .segment_bytes = g->kind == SEG_KIND_TENSOR ? 12 * ROW_BYTES
                                                                                 : 4096,
                                     .sync_ns = 0}; /* so that both slots are written */
    if (g->kind == SEG_KIND_TENSOR)
        params_rows(&params, ROW_BYTES, 25);
    else
        params_h264(&params, 25);
    int r = store_writer_open(g->dir, &spec, &w, NULL);
    if (r == 0)
        r = store_writer_format(w, &params, NULL);
    if (r == 0)
        r = g->kind == SEG_KIND_TENSOR ? put_rows(g, w) : put_packets(w);
    int closed = w ? store_writer_close(&w, NULL) : 0;
    return r < 0 ? r : closed;
}

/* Both segments: what is where. */
static bool look_at_segments(struct rig *g)
{
    char path[PATH_MAX + 64];
    bool ok = seg_count(g->dir, STREAM) == 2;
    for (size_t i = 0; ok && i < 2; i++) {
        struct seg *s = &g->seg[i];
        struct seg_view v;
        ok = seg_view(g->dir, STREAM, i, &v) && v.file.slot.is_sealed;
        s->super = v.file.super;
        s->n_entries = v.n;
        s->data_bytes = v.extent.data_bytes;
        s->file_bytes = v.file.file_bytes;
        segfile_name(v.file.base, s->name);
        (void)snprintf(path, sizeof path, "%s/" STREAM "/seg/%s", store_dir_path(g->dir), s->name);
        s->fd = open(path, O_RDWR | O_CLOEXEC);
        ok = ok && s->fd >= 0;
        seg_view_done(&v);
    }
    return ok;
}

/* What the packets are, from a clean reading, which is held against what was put. */
static bool keep_packets(struct rig *g)
{
    struct store_reader *r = NULL;
    bool ok = store_reader_open(g->dir, STREAM, &r, NULL) == 0;
    for (uint64_t k = 0; ok && k < N_PACKETS; k++) {
        struct kept *kept = &g->kept[k];
        struct store_packet p = {0};
        uint64_t n = 40 + k * 37 % 900;
        AUTO(free_bytes) uint8_t *want = frames_make(k, 1, n);
        uint8_t side[SIDE_BYTES];
        side_fill(side);
        ok = store_reader_packet(r, k, true, &p, NULL) == 0 && p.n_data == n &&
             memcmp(p.data, want, n) == 0 && p.n_side == (k % 4 == 1 ? SIDE_BYTES : 0) &&
             (p.n_side == 0 || memcmp(p.side, side, SIDE_BYTES) == 0);
        kept->e = p.entry;
        kept->n_data = p.n_data;
        kept->n_side = p.n_side;
        kept->bytes = ok ? malloc(p.entry.len) : NULL;
        if (kept->bytes)
            memcpy(kept->bytes, p.data, p.entry.len);
        if (store_reader_shown(r, k, &g->frame_of[k], NULL) < 0)
            g->frame_of[k] = UINT64_MAX;
    }
    store_reader_close(&r);
    return ok;
}

static bool rig_begin(struct rig *g, enum seg_kind kind)
{
    char path[PATH_MAX];
    *g = (struct rig){.kind = kind, .seg = {{.fd = -1}, {.fd = -1}}};
    folder_make("/dev/shm", g->folder);
    path_join(g->folder, "r.swt", path);
    return store_dir_create(path, clock_boot_ns(), &g->dir, NULL) == 0 && record(g) == 0 &&
           look_at_segments(g) && (kind == SEG_KIND_TENSOR || keep_packets(g));
}

static void rig_end(struct rig *g)
{
    for (size_t i = 0; i < 2; i++)
        io_close(&g->seg[i].fd);
    for (size_t k = 0; k < MAX_PACKETS; k++)
        free(g->kept[k].bytes);
    free(g->rows);
    store_dir_close(&g->dir);
    folder_remove(g->folder);
}

/* ---- what must hold --------------------------------------------------------------------------------- */

/* One harm. */
struct harm {
    const struct seg *seg;
    const char *what;
    uint64_t at, count;  /* bit, or length; how many before it */
    uint64_t reads;      /* each so-many-th is followed by reading, all by verify */
    bool is_one;         /* and only one frame or packet is read, each in its turn; else all */
    bool is_meaningless; /* bytes that nobody reads: no damage */
};

/* Damages that verify has told, and those that were not of the file that was harmed. */
struct told {
    const char *name;
    uint64_t n, elsewhere;
};

static void note(void *arg, const struct swt_diag *damage)
{
    struct told *t = arg;
    t->n++;
    t->elsewhere += strstr(damage->path, t->name) == NULL || damage->text[0] == 0 ||
                    strcmp(damage->stream, STREAM) != 0;
}

static bool verify_tells(struct rig *g, const struct harm *h)
{
    struct told t = {.name = h->seg->name};
    struct swt_verify_report report = {0};
    int rc = store_verify(g->dir, STREAM, note, &t, &report, NULL);
    bool ok = h->is_meaningless ? rc == 0 && t.n == 0
                                : rc == SWT_E_LOST && t.n > 0 && t.elsewhere == 0;
    if (!ok)
        printf("# verify: %d, %" PRIu64 " damages, %" PRIu64 " not of this file\n", rc, t.n,
               t.elsewhere);
    return ok;
}

/* An error that says where; `n_errors` counts them. */
static bool is_told(int rc, const struct swt_diag *d, uint64_t *n_errors)
{
    ++*n_errors;
    return rc == SWT_E_CORRUPT && strstr(d->path, ".swt") != NULL && d->text[0] != 0;
}

static bool row_is_honest(struct rig *g, struct store_reader *r, uint64_t k, uint64_t *n_errors)
{
    struct swt_diag d = {0};
    struct store_frame f;
    const void *data = NULL;
    int rc = store_reader_frame(r, k, &f, &d);
    if (rc < 0 ? !is_told(rc, &d, n_errors) : f.time_ns != (int64_t)k * STEP_NS)
        return false;
    rc = store_reader_map(r, k, 1, &data, &d);
    if (rc == 0)
        rc = store_reader_check(r, k, 1, &d);
    return rc < 0 ? is_told(rc, &d, n_errors)
                  : memcmp(data, g->rows + k * ROW_BYTES, ROW_BYTES) == 0;
}

static bool entry_is(const struct entry *a, const struct entry *b)
{
    return a->pos == b->pos && a->len == b->len && a->flags == b->flags &&
           a->time_ns == b->time_ns && a->src_pts == b->src_pts && a->dts_delta == b->dts_delta &&
           a->duration == b->duration && a->capture_ns == b->capture_ns &&
           a->dropped_before == b->dropped_before && a->pics_before == b->pics_before &&
           a->crc_payload == b->crc_payload;
}

static bool packet_is_honest(struct rig *g, struct store_reader *r, uint64_t k, uint64_t *n_errors)
{
    const struct kept *want = &g->kept[k];
    struct swt_diag d = {0};
    struct store_packet p = {0};
    uint64_t frame = UINT64_MAX, key = 0;
    int rc = store_reader_packet(r, k, true, &p, &d);
    if (rc < 0 ? !is_told(rc, &d, n_errors)
               : !entry_is(&p.entry, &want->e) || p.n_data != want->n_data ||
                     p.n_side != want->n_side || memcmp(p.data, want->bytes, want->e.len) != 0)
        return false;
    if (g->frame_of[k] == UINT64_MAX)
        return true;
    rc = store_reader_shown(r, k, &frame, &d); /* which picture it is may be unknown, not another */
    if (rc < 0 ? rc != SWT_E_NO_WINDOW && !is_told(rc, &d, n_errors) : frame != g->frame_of[k])
        return false;
    rc = store_reader_key(r, g->frame_of[k], &key, &d);
    return rc < 0 ? is_told(rc, &d, n_errors) : key <= k;
}

static bool item_is_honest(struct rig *g, struct store_reader *r, uint64_t k, uint64_t *n_errors)
{
    return g->kind == SEG_KIND_TENSOR ? row_is_honest(g, r, k, n_errors)
                                      : packet_is_honest(g, r, k, n_errors);
}

/* Nothing is missing from the end: what was committed is there, or its loss is told. */
static bool reaches_the_end(struct rig *g, const struct store_reader_state *s)
{
    return s->first_entry == 0 && s->first_frame == 0 &&
           (g->kind == SEG_KIND_TENSOR ? s->end_frame == N_FRAMES : s->end_entry == N_PACKETS);
}

static bool reader_is_honest(struct rig *g, const struct harm *h)
{
    struct store_reader *r = NULL;
    struct store_reader_state s;
    struct swt_diag d = {0};
    uint64_t n = g->kind == SEG_KIND_TENSOR ? N_FRAMES : N_PACKETS, n_errors = 0;
    int rc = store_reader_open(g->dir, STREAM, &r, &d);
    if (rc == 0)
        rc = store_reader_refresh(r, &s, &d);
    bool ok = rc < 0 ? is_told(rc, &d, &n_errors) : reaches_the_end(g, &s);
    if (!ok)
        printf("# open: %d (%s)\n", rc, d.text);
    uint64_t from = h->is_one ? h->count / h->reads % n : 0, to = h->is_one ? from + 1 : n;
    for (uint64_t k = from; ok && rc == 0 && k < to; k++) {
        ok = item_is_honest(g, r, k, &n_errors);
        if (!ok)
            printf("# number %" PRIu64 " is neither right nor told\n", k);
    }
    store_reader_close(&r);
    return ok && !(h->is_meaningless && n_errors > 0);
}

static bool holds(struct rig *g, const struct harm *h)
{
    bool ok = verify_tells(g, h) && (h->count % h->reads != 0 || reader_is_honest(g, h));
    if (!ok)
        printf("# %s: %s %" PRIu64 "\n", h->seg->name, h->what, h->at);
    return ok;
}

/* ---- every bit -------------------------------------------------------------------------------------- */

static bool flip(const struct seg *s, uint64_t bit)
{
    uint8_t b;
    if (pread(s->fd, &b, 1, (off_t)(bit / 8)) != 1)
        return false;
    b ^= (uint8_t)(1u << bit % 8);
    return pwrite(s->fd, &b, 1, (off_t)(bit / 8)) == 1;
}

/* Bytes from .. to - 1, each `step`-th bit. */
static bool flip_range(struct rig *g, struct harm h, uint64_t from, uint64_t to, uint64_t step)
{
    bool ok = true;
    for (h.at = 8 * from; ok && h.at < 8 * to; h.at += step, h.count++) {
        ok = flip(h.seg, h.at);
        ok = ok && holds(g, &h);
        ok = flip(h.seg, h.at) && ok;
    }
    return ok;
}

/* A block with a CRC: every bit of what has a meaning. Of the reserved bytes, which only the CRC covers, every bit
 * where `is_thorough`, though read after one of seven only; else one of seven. */
static bool flip_block(struct rig *g, struct harm h, uint64_t off, const uint64_t ends[3],
                       bool is_thorough)
{
    struct harm reserved = h;
    reserved.reads = is_thorough ? EACH_BYTE : 1;
    return flip_range(g, h, off, off + ends[0], 1) &&
           flip_range(g, h, off + ends[1], off + ends[2], 1) &&
           flip_range(g, reserved, off + ends[0], off + ends[1], is_thorough ? 1 : EACH_BYTE);
}

static bool flip_heads(struct rig *g, const struct seg *s)
{
    static const uint64_t super[3] = {offsetof(struct seg_super, reserved),
                                      offsetof(struct seg_super, crc), sizeof(struct seg_super)};
    static const uint64_t slot[3] = {offsetof(struct seg_slot, reserved),
                                     offsetof(struct seg_slot, crc), sizeof(struct seg_slot)};
    bool is_rows = g->kind == SEG_KIND_TENSOR && !IS_SLOW, is_first = s == &g->seg[0];
    struct harm h = {.seg = s, .what = "bit of the superblock", .reads = 1, .is_one = true};
    bool ok = flip_block(g, h, 0, super, is_rows && is_first);
    h = (struct harm){.seg = s, .what = "bit of a slot", .reads = 1};
    return ok && flip_block(g, h, SEG_SLOT_OFF0, slot, is_rows) &&
           flip_block(g, h, SEG_SLOT_OFF1, slot, is_rows);
}

static bool flip_rest(struct rig *g, const struct seg *s)
{
    const struct super *u = &s->super;
    struct harm h = {.seg = s, .reads = 1};
    const size_t n_slot = sizeof(struct seg_slot);
    uint64_t index_end = u->index_off + s->n_entries * SEG_ENTRY_BYTES;
    uint64_t params_end = u->params_off + u->params_bytes, data_end = u->data_off + s->data_bytes;
    h.what = "bit of the params block";
    bool ok = flip_range(g, h, u->params_off, params_end, 1);
    h.what = "bit of the index";
    ok = ok && flip_range(g, h, u->index_off, index_end, 1);
    h.what = "bit of seam or payload";
    ok = ok && flip_range(g, h, u->seam_off, data_end, EACH_31ST);
    h.what = "bit of nothing";
    h.is_meaningless = true;
    return ok && flip_range(g, h, SEG_SLOT_OFF0 + n_slot, SEG_SLOT_OFF1, EACH_31ST) &&
           flip_range(g, h, SEG_SLOT_OFF1 + n_slot, u->params_off, EACH_31ST) &&
           flip_range(g, h, params_end, u->index_off, EACH_31ST) &&
           flip_range(g, h, index_end, u->seam_off, 10 * EACH_31ST) &&
           flip_range(g, h, data_end, s->file_bytes, EACH_31ST);
}

static bool flip_segment(struct rig *g, const struct seg *s)
{
    return flip_heads(g, s) && flip_rest(g, s);
}

TEST(flip__every_bit_of_rows)
{
    struct rig g;
    CHECK(rig_begin(&g, SEG_KIND_TENSOR));
    CHECK(flip_segment(&g, &g.seg[0]));
    CHECK(flip_segment(&g, &g.seg[1]));
    rig_end(&g);
}

TEST(flip__every_bit_of_packets)
{
    struct rig g;
    CHECK(rig_begin(&g, SEG_KIND_PACKETS));
    CHECK(flip_segment(&g, &g.seg[0]));
    CHECK(flip_segment(&g, &g.seg[1]));
    rig_end(&g);
}

/* ---- every length ----------------------------------------------------------------------------------- */

/* Cut to `n` bytes, and back: what was cut off is kept by the caller. */
static bool cut_and_look(struct rig *g, struct harm h, const uint8_t *bytes, uint64_t n)
{
    h.at = n;
    h.is_meaningless = n >= h.seg->super.data_off + h.seg->data_bytes;
    bool ok = ftruncate(h.seg->fd, (off_t)n) == 0 && holds(g, &h);
    return io_pwrite_all(h.seg->fd, bytes + n, (size_t)(h.seg->file_bytes - n), n) == 0 && ok;
}

static bool cut_segment(struct rig *g, const struct seg *s)
{
    struct harm h = {.seg = s, .what = "cut off at", .reads = 1};
    AUTO(free_bytes) uint8_t *bytes = malloc((size_t)s->file_bytes);
    bool ok = bytes != NULL && io_pread_all(s->fd, bytes, (size_t)s->file_bytes, 0) == 0;
    for (uint64_t n = 0; ok && n < s->file_bytes; n += 4096)
        ok = cut_and_look(g, h, bytes, n) && (n == 0 || cut_and_look(g, h, bytes, n - 1)) &&
             cut_and_look(g, h, bytes, n + 1);
    return ok;
}

static bool cut_both(struct rig *g)
{
    return cut_segment(g, &g->seg[0]) && cut_segment(g, &g->seg[1]);
}

TEST(cut__rows_at_every_page)
{
    struct rig g;
    CHECK(rig_begin(&g, SEG_KIND_TENSOR));
    CHECK(cut_both(&g));
    rig_end(&g);
}

TEST(cut__packets_at_every_page)
{
    struct rig g;
    CHECK(rig_begin(&g, SEG_KIND_PACKETS));
    CHECK(cut_both(&g));
    rig_end(&g);
}

T_MAIN(RUN(flip__every_bit_of_rows) RUN(flip__every_bit_of_packets) RUN(cut__rows_at_every_page)
           RUN(cut__packets_at_every_page))
