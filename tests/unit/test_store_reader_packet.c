/* SPDX-License-Identifier: MIT
 *
 * test_store_reader_packet.c - packet streams read back: frame numbers against a sort of everything, keys,
 * payloads, side data, damage, pruned beginnings. The recordings are made by segmaker.h.
 */
#include "t.h"
#include "segmaker.h"
#include "store/control.h"
#include "store/store.h"

#define MAX_PACKETS 4096
#define STEP_NS     INT64_C(33333333)

/* What was put in, in decode order. */
struct model {
    int64_t time_ns[MAX_PACKETS];
    uint32_t flags[MAX_PACKETS], len[MAX_PACKETS];
    uint64_t run_base[MAX_PACKETS];
    size_t n;
    size_t order[MAX_PACKETS]; /* entry of frame k */
    size_t n_frames;
};

static struct model model;

static int by_time(const void *a, const void *b)
{
    int64_t x = model.time_ns[*(const size_t *)a], y = model.time_ns[*(const size_t *)b];
    return (x > y) - (x < y);
}

static void model_sort(void)
{
    model.n_frames = 0;
    for (size_t i = 0; i < model.n; i++) {
        if (!(model.flags[i] & SEG_FLAG_NOPIC))
            model.order[model.n_frames++] = i;
    }
    qsort(model.order, model.n_frames, sizeof model.order[0], by_time);
}

static void put(struct maker *m, int64_t time_ns, uint32_t flags)
{
    size_t len = 20 + maker_mix(m->entries) % 300;
    if (m->fd < 0) {
        maker_segment(m, 1 << 18);
        if (!(flags & SEG_FLAG_KEY))
            flags |= SEG_FLAG_CONTINUES;
    }
    model.time_ns[model.n] = time_ns;
    model.flags[model.n] = flags;
    model.len[model.n] = (uint32_t)len;
    model.run_base[model.n] = m->run_base_entry;
    model.n++;
    maker_packet(m, len, time_ns, flags);
}

/* Groups of pictures with B pictures between: in decode order I P b b P b b …, open: the first b pictures of a
 * group come before its key on display. `gop` pictures each, a new segment every `per_segment` packets at a
 * key; `nopic` of 1000 packets show nothing. */
static void put_gops(struct maker *m, int n_gops, int gop, int n_b, int per_segment, uint32_t nopic)
{
    int in_segment = 0, shown = (int)m->frames;
    for (int g = 0; g < n_gops; g++) {
        if (in_segment >= per_segment) {
            maker_end(m, true);
            in_segment = 0;
        }
        for (int at = 0; at < gop; at += n_b + 1) {
            bool is_key = at == 0;
            int64_t anchor = (int64_t)(shown + n_b) * STEP_NS; /* after its b pictures */
            put(m, anchor, is_key ? SEG_FLAG_KEY : 0);
            for (int b = 0; b < n_b; b++)
                put(m, (int64_t)(shown + b) * STEP_NS, 0);
            if (maker_mix(m->entries) % 1000 < nopic)
                put(m, anchor, SEG_FLAG_NOPIC);
            shown += n_b + 1;
            in_segment += n_b + 1;
        }
    }
}

static void begin(struct maker *m)
{
    maker_open(m, SEG_KIND_PACKETS);
    maker_run(m, 0, (struct swt_ratio){30, 1});
    model.n = 0;
}

static struct store_reader *open_reader(struct maker *m, struct store_reader_state *ret_state)
{
    struct store_reader *r = NULL;
    struct swt_diag d = {0};
    model_sort();
    if (store_reader_open(m->dir, MAKER_STREAM, &r, &d) < 0 ||
        store_reader_refresh(r, ret_state, &d) < 0) {
        printf("# %d %s: %s\n", d.code, d.path, d.text);
        store_reader_close(&r);
    }
    return r;
}

/* By the definition in store.h. */
static size_t model_key(size_t entry)
{
    for (size_t i = entry; i > model.run_base[entry]; i--) {
        if (model.flags[i] & (SEG_FLAG_KEY | SEG_FLAG_FRESH) &&
            model.time_ns[i] <= model.time_ns[entry])
            return i;
    }
    return (size_t)model.run_base[entry];
}

/* Everything about frames from `first` to `end` - 1: the first wrong one, or -1. */
static int64_t wrong(struct store_reader *r, size_t first, size_t end)
{
    for (size_t k = first; k < end; k++) {
        struct store_frame f;
        uint64_t shown = 0, key = 0;
        struct swt_diag d = {0};
        size_t e = model.order[k];
        if (store_reader_frame(r, k, &f, &d) < 0 || store_reader_shown(r, e, &shown, &d) < 0 ||
            store_reader_key(r, k, &key, &d) < 0) {
            printf("# frame %zu: %d %s: %s\n", k, d.code, d.path, d.text);
            return (int64_t)k;
        }
        if (f.entry_no != e || f.time_ns != model.time_ns[e] || f.entry.len != model.len[e] ||
            shown != k || key != model_key(e)) {
            printf("# frame %zu: entry %" PRIu64 " not %zu, shown %" PRIu64 ", key %" PRIu64
                   " not %zu\n",
                   k, f.entry_no, e, shown, key, model_key(e));
            return (int64_t)k;
        }
    }
    return -1;
}

static bool packet_is_right(struct store_reader *r, uint64_t no, size_t n_data)
{
    struct store_packet p;
    struct swt_diag d = {0};
    if (store_reader_packet(r, no, true, &p, &d) < 0) {
        printf("# packet %" PRIu64 ": %d %s: %s\n", no, d.code, d.path, d.text);
        return false;
    }
    return p.n_data == n_data && maker_differs(no, 0, p.data, n_data) == n_data;
}

TEST(frames__numbered_by_time_over_segments)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    begin(&m);
    put_gops(&m, 60, 12, 2, 40, 50);
    maker_end(&m, true);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.end_frame, model.n_frames);
    CHECK_INT(s.end_entry, model.n);
    CHECK(s.segments > 10);
    CHECK_INT(wrong(r, 0, model.n_frames), -1);
    for (size_t k = model.n_frames; k-- > 0;)
        CHECK_INT(wrong(r, k, k + 1), -1);
    for (uint64_t i = 0; i < model.n; i++)
        CHECK(packet_is_right(r, i, model.len[i]));
    CHECK_INT(store_reader_check(r, 0, model.n_frames, NULL), 0);
    uint64_t bytes = 0;
    for (size_t i = 0; i < model.n; i++)
        bytes += model.len[i];
    CHECK_INT(s.bytes, bytes);
}

TEST(frames__random_order_within_the_reorder_distance)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    begin(&m);
    /* blocks of 64 pictures, each in any order: ranks and ordinals differ by up to 63 */
    for (int block = 0; block < 20; block++) {
        int perm[64];
        for (int i = 0; i < 64; i++)
            perm[i] = i;
        for (int i = 63; i > 0; i--) {
            int j = (int)(maker_mix((uint64_t)(block * 64 + i)) % (uint64_t)(i + 1));
            int t = perm[i];
            perm[i] = perm[j];
            perm[j] = t;
        }
        for (int i = 0; i < 64; i++) {
            put(&m, (block * 64 + perm[i]) * STEP_NS, i == 0 ? SEG_FLAG_KEY : 0);
            if (maker_mix(m.entries) % 7 == 0)
                put(&m, 5, SEG_FLAG_NOPIC);
            if (maker_mix(m.entries * 31) % 50 == 0)
                maker_end(&m, true); /* segments end anywhere */
        }
    }
    maker_end(&m, false);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.end_frame, 20 * 64);
    CHECK_INT(wrong(r, 0, model.n_frames), -1);
    for (uint64_t i = 0; i < 500; i++) {
        size_t k = maker_mix(i) % model.n_frames;
        CHECK_INT(wrong(r, k, k + 1), -1);
    }
}

TEST(frames__runs_and_fresh_entries_bound_decoding)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct store_frame f;
    uint64_t key = 0;
    begin(&m);
    put_gops(&m, 5, 12, 2, 30, 0);
    maker_end(&m, true);
    maker_run(&m, 0, (struct swt_ratio){25, 1});
    int64_t t = (int64_t)m.frames * STEP_NS;
    put(&m, t, SEG_FLAG_FRESH); /* joined in the middle: no key */
    put(&m, t + 1, 0);
    put(&m, t + 2, SEG_FLAG_KEY);
    put(&m, t + 3, 0);
    maker_end(&m, true);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(wrong(r, 0, model.n_frames), -1);
    CHECK_INT(store_reader_key(r, 61, &key, NULL), 0);
    CHECK_INT(key, 60);
    CHECK_INT(store_reader_frame(r, 10, &f, NULL), 0);
    CHECK_INT(f.run_end_frame, 60);
    CHECK_INT(store_reader_frame(r, 63, &f, NULL), 0);
    CHECK_INT(f.run_no, 1);
    CHECK_INT(f.run_base_frame, 60);
    CHECK_INT(f.run_end_frame, 64);
    CHECK_INT(store_reader_frame(r, 64, &f, NULL), SWT_E_NO_WINDOW);
    const struct params *p = NULL;
    CHECK_INT(store_reader_params(r, 62, &p, NULL), 0);
    CHECK_INT(p->rate.num, 25);
}

TEST(packet__side_data_and_pictures_not_shown)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct store_packet p;
    struct swt_diag d = {0};
    uint64_t shown = 0;
    begin(&m);
    put(&m, 0, SEG_FLAG_KEY | SEG_FLAG_SIDE);
    put(&m, 5, SEG_FLAG_NOPIC);
    put(&m, 10, 0);
    maker_packet(&m, 3, 20, SEG_FLAG_KEY); /* the only thing wrong with it is its flag, below */
    uint64_t data_off = m.super.data_off;
    maker_end(&m, true);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(store_reader_packet(r, 0, true, &p, &d), 0);
    CHECK_INT(p.n_side, 12);
    CHECK_INT(p.n_data + 12 + 4, p.entry.len);
    CHECK(p.side == p.data + p.n_data);
    CHECK_INT(maker_differs(0, 0, p.data, p.n_data), p.n_data);
    CHECK_INT(store_reader_shown(r, 1, &shown, &d), SWT_E_NO_WINDOW);
    CHECK_INT(store_reader_shown(r, 2, &shown, &d), 0);
    CHECK_INT(shown, 1);
    CHECK_INT(store_reader_packet(r, 4, true, &p, &d), SWT_E_NO_WINDOW);
    maker_flip(&m, 0, data_off + 3);
    CHECK_INT(store_reader_packet(r, 0, true, &p, &d), SWT_E_CORRUPT);
    CHECK_INT(d.offset, data_off);
    CHECK_INT(store_reader_packet(r, 0, false, &p, &d), 0);
    CHECK_INT(store_reader_check(r, 0, 1, &d), SWT_E_CORRUPT);
    CHECK_INT(d.frame, 0);
}

TEST(packet__side_data_that_contradicts_itself)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct store_packet p;
    begin(&m);
    put(&m, 0, SEG_FLAG_KEY | SEG_FLAG_SIDE);
    uint64_t total_off = m.super.data_off + m.seg_bytes - 4;
    uint64_t head_off = m.super.data_off + m.seg_bytes - 16 + 4;
    maker_end(&m, true);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    maker_flip(&m, 0, total_off + 3);
    CHECK_INT(store_reader_packet(r, 0, false, &p, NULL), SWT_E_CORRUPT);
    maker_flip(&m, 0, total_off + 3);
    CHECK_INT(store_reader_packet(r, 0, false, &p, NULL), 0);
    maker_flip(&m, 0, head_off);
    CHECK_INT(store_reader_packet(r, 0, false, &p, NULL), SWT_E_CORRUPT);
}

TEST(damage__an_index_entry_hides_only_its_neighbourhood)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct store_frame f;
    struct swt_diag d = {0};
    begin(&m);
    for (int i = 0; i < 1000; i++)
        put(&m, i * STEP_NS, i % 10 == 0 ? SEG_FLAG_KEY : 0);
    uint64_t index_off = m.super.index_off;
    maker_end(&m, true);
    maker_flip(&m, 0, index_off + 500 * 64 + 16);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.end_frame, 1000);
    CHECK_INT(wrong(r, 0, 500 - 64), -1);
    CHECK_INT(wrong(r, 500 + 65, 1000), -1);
    CHECK_INT(store_reader_frame(r, 500, &f, &d), SWT_E_CORRUPT);
    CHECK_INT(d.frame, 500);
    CHECK_INT(d.offset, index_off + 500 * 64);
    CHECK_STR(d.stream, MAKER_STREAM);
}

TEST(damage__missing_segment_is_named)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct store_frame f;
    struct swt_diag d = {0};
    begin(&m);
    for (int i = 0; i < 900; i++) {
        put(&m, i * STEP_NS, i % 10 == 0 ? SEG_FLAG_KEY : 0);
        if (i % 300 == 299)
            maker_end(&m, true);
    }
    CHECK_INT(unlinkat(m.seg_fd, "00000000000000000300.swt", 0), 0);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.end_frame, 900);
    CHECK_INT(store_reader_frame(r, 450, &f, &d), SWT_E_CORRUPT);
    CHECK(strstr(d.text, "1 segment(s) missing"));
    CHECK_INT(wrong(r, 0, 300 - 64), -1);
    CHECK_INT(wrong(r, 600 + 65, 900), -1);
    struct store_packet p;
    CHECK_INT(store_reader_packet(r, 450, true, &p, &d), SWT_E_CORRUPT);
    CHECK(packet_is_right(r, 299, model.len[299]));
    CHECK(packet_is_right(r, 600, model.len[600]));
}

TEST(damage__superblock_in_the_middle)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct store_frame f;
    struct swt_diag d = {0};
    begin(&m);
    for (int i = 0; i < 900; i++) {
        put(&m, i * STEP_NS, i % 10 == 0 ? SEG_FLAG_KEY : 0);
        if (i % 300 == 299)
            maker_end(&m, true);
    }
    maker_flip(&m, 300, 200);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(store_reader_frame(r, 450, &f, &d), SWT_E_CORRUPT);
    CHECK(strstr(d.path, "00000000000000000300.swt"));
    CHECK_INT(wrong(r, 0, 300 - 64), -1);
    CHECK_INT(wrong(r, 600 + 65, 900), -1);
}

/* Retention: the first frame is the first whose key is there; numbers stay. */
TEST(pruned__numbers_stay_and_the_first_frame_is_a_key)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    char name[32];
    begin(&m);
    put_gops(&m, 40, 12, 2, 24, 0);
    maker_end(&m, true);
    uint64_t cut = 24 * 4; /* four segments of two groups */
    for (uint64_t base = 0; base < cut; base += 24) {
        segfile_name(base, name);
        CHECK_INT(unlinkat(m.seg_fd, name, 0), 0);
    }
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.first_entry, cut);
    /* the key of an open group is decoded first and shown after its two b pictures */
    CHECK_INT(s.first_frame, cut + 2);
    CHECK_INT(s.end_frame, 480);
    CHECK_INT(wrong(r, cut + 2, 480), -1);
    struct store_frame f;
    CHECK_INT(store_reader_frame(r, cut + 1, &f, NULL), SWT_E_NO_WINDOW);
    struct store_totals t;
    CHECK_INT(store_reader_totals(r, &t, NULL), 0);
    CHECK_INT(t.times.first_ns, (int64_t)(cut + 2) * STEP_NS);
    CHECK_INT(t.times.last_ns, 479 * STEP_NS);
    CHECK_INT(t.times.end_ns, 479 * STEP_NS + 1000);
}

TEST(time__and_gaps_against_a_linear_search)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    begin(&m);
    put_gops(&m, 30, 12, 2, 40, 20);
    size_t i = model.n;
    put(&m, (int64_t)m.frames * STEP_NS * 2, SEG_FLAG_KEY | SEG_FLAG_GAP);
    put(&m, (int64_t)m.frames * STEP_NS * 2, 0);
    maker_end(&m, false);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    for (int64_t t = -STEP_NS; t < 900 * STEP_NS; t += STEP_NS * 37 / 5) {
        uint64_t at = 0, want = 0;
        while (want < model.n_frames && model.time_ns[model.order[want]] < t)
            want++;
        CHECK_INT(store_reader_find_time(r, t, &at, NULL), 0);
        CHECK_INT(at, want);
    }
    uint64_t gap = 0;
    CHECK_INT(store_reader_find_gap(r, 0, s.end_frame, &gap, NULL), 1);
    CHECK_INT(model.order[gap], i);
    CHECK_INT(store_reader_find_gap(r, gap, s.end_frame, &gap, NULL), 0);
    CHECK_INT(store_reader_find_gap(r, gap - 1, gap, &gap, NULL), 1);
    CHECK_INT(store_reader_find_gap(r, 5, gap - 1, &gap, NULL), 0);
}

/* While it is written only what the page calls visible has a number. */
TEST(live__visible_frames_only)
{
    AUTO(maker_close) struct maker m;
    struct store_reader_state s;
    struct control c = {0};
    struct store_frame f;
    uint64_t shown = 0;
    int lock = -1;
    begin(&m);
    CHECK_INT(dir_stream_lock(m.stream_fd, MAKER_STREAM, &lock, NULL), 0);
    CHECK_INT(control_create(m.stream_fd, lock, m.meta.uuid, NULL, 0644, &c, NULL), 0);
    control_begin(&c, 0, 0, 0);
    put(&m, 3 * STEP_NS, SEG_FLAG_KEY);
    put(&m, 1 * STEP_NS, 0);
    control_publish(&c, 2, 1);
    AUTO(store_reader_close) struct store_reader *r = open_reader(&m, &s);
    CHECK(r);
    CHECK_INT(s.end_frame, 1);
    CHECK_INT(s.end_entry, 2);
    CHECK_INT(store_reader_frame(r, 0, &f, NULL), 0);
    CHECK_INT(f.entry_no, 1);
    CHECK_INT(store_reader_frame(r, 1, &f, NULL), SWT_E_NO_WINDOW);
    CHECK_INT(store_reader_shown(r, 0, &shown, NULL), SWT_E_NO_WINDOW);
    put(&m, 2 * STEP_NS, 0);
    control_publish(&c, 3, 2);
    CHECK_INT(store_reader_wait(r, 1, 1000000000, NULL), 1);
    CHECK_INT(store_reader_frame(r, 1, &f, NULL), 0);
    CHECK_INT(f.entry_no, 2);
    CHECK_INT(store_reader_wait(r, 2, 10000000, NULL), 0);
    control_publish(&c, 3, 3); /* the end of a session makes all visible, with no entry more */
    CHECK_INT(store_reader_wait(r, 2, 1000000000, NULL), 1);
    CHECK_INT(store_reader_frame(r, 2, &f, NULL), 0);
    CHECK_INT(f.entry_no, 0);
    CHECK_INT(store_reader_shown(r, 0, &shown, NULL), 0);
    CHECK_INT(shown, 2);
    control_end(&c, m.stream_fd);
    (void)close(lock);
}

T_MAIN(RUN(frames__numbered_by_time_over_segments)
           RUN(frames__random_order_within_the_reorder_distance)
               RUN(frames__runs_and_fresh_entries_bound_decoding)
                   RUN(packet__side_data_and_pictures_not_shown)
                       RUN(packet__side_data_that_contradicts_itself)
                           RUN(damage__an_index_entry_hides_only_its_neighbourhood)
                               RUN(damage__missing_segment_is_named)
                                   RUN(damage__superblock_in_the_middle)
                                       RUN(pruned__numbers_stay_and_the_first_frame_is_a_key)
                                           RUN(time__and_gaps_against_a_linear_search)
                                               RUN(live__visible_frames_only))
