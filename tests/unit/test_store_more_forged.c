/* SPDX-License-Identifier: MIT
 *
 * test_store_more_forged.c - segments that are whole, each checksum right, and yet contradict themselves or each
 * other: verify says so, and no reader gives out a frame that was never recorded. Made by segmaker.h.
 */
#include <errno.h>

#include "segmaker.h"
#include "store/reader.h"
#include "store/store.h"
#include "t.h"

#define STEP_NS INT64_C(33333333)
#define FRAME   5000

static struct swt_diag seen[16];
static int n_seen;

static void note(void *arg, const struct swt_diag *damage)
{
    (void)arg;
    if (n_seen < 16)
        seen[n_seen] = *damage;
    n_seen++;
}

/* verify finds one damage at least, and the first says this. */
static bool says(struct maker *m, const char *text)
{
    struct swt_verify_report report = {0};
    n_seen = 0;
    int rc = store_verify(m->dir, MAKER_STREAM, note, NULL, &report, NULL);
    bool ok = rc == SWT_E_LOST && n_seen > 0 && strstr(seen[0].text, text) != NULL;
    for (int i = 0; !ok && i < n_seen && i < 16; i++)
        printf("# %s at %" PRId64 ": %s\n", seen[i].path, seen[i].offset, seen[i].text);
    if (!ok)
        printf("# verify %d, %d damages\n", rc, n_seen);
    return ok;
}

static bool is_clean(struct maker *m)
{
    struct swt_verify_report report = {0};
    n_seen = 0;
    int rc = store_verify(m->dir, MAKER_STREAM, note, NULL, &report, NULL);
    for (int i = 0; i < n_seen && i < 16; i++)
        printf("# %s at %" PRId64 ": %s\n", seen[i].path, seen[i].offset, seen[i].text);
    return rc == 0 && n_seen == 0;
}

static void rows(struct maker *m, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        maker_frames(m, 1, (int64_t)m->frames * STEP_NS, (uint32_t)STEP_NS, SEG_FLAG_KEY);
}

static void begin(struct maker *m, enum seg_kind kind)
{
    maker_open(m, kind);
    maker_run(m, kind == SEG_KIND_TENSOR ? FRAME : 0, (struct swt_ratio){30, 1});
}

/* Of all frames that the reader has, those it gives and that are not what was recorded as such: none may be.
 * `ret_n`: how many it gives. UINT64_MAX - 1: an error of another kind than damage. */
static uint64_t wrong_frame(struct maker *m, uint64_t *ret_n)
{
    AUTO(store_reader_close) struct store_reader *r = NULL;
    struct store_reader_state s;
    *ret_n = 0;
    int rc = store_reader_open(m->dir, MAKER_STREAM, &r, NULL);
    if (rc == 0)
        rc = store_reader_refresh(r, &s, NULL);
    if (rc < 0)
        return rc == SWT_E_CORRUPT ? UINT64_MAX : UINT64_MAX - 1;
    for (uint64_t k = s.first_frame; k < s.end_frame; k++) {
        const void *data = NULL;
        struct store_frame f;
        rc = store_reader_frame(r, k, &f, NULL);
        if (rc == 0)
            rc = store_reader_map(r, k, 1, &data, NULL);
        if (rc == 0)
            rc = store_reader_check(r, k, 1, NULL);
        if (rc == 0 &&
            maker_differs(f.run_no, (k - f.run_base_frame) * FRAME, data, FRAME) != FRAME)
            return k;
        if (rc < 0 && rc != SWT_E_CORRUPT)
            return UINT64_MAX - 1;
        *ret_n += rc == 0;
    }
    return UINT64_MAX;
}

/* ---- kinds ------------------------------------------------------------------------------------------ */

static int put_meta(struct maker *m, const char *kind)
{
    char text[256], uuid[37];
    io_uuid_text(m->meta.uuid, uuid);
    int n = snprintf(text, sizeof text,
                     "{\"uuid\":\"%s\",\"name\":\"cam\",\"kind\":\"%s\",\"made_from\":\"\"}", uuid,
                     kind);
    AUTO(io_close) int fd = openat(m->stream_fd, "meta.json", O_WRONLY | O_TRUNC);
    return io_write_all(fd, text, (size_t)n);
}

TEST(kind__of_a_stream_that_is_unknown_or_not_for_readers)
{
    AUTO(maker_close) struct maker m;
    struct store_reader *r = NULL;
    struct swt_diag d = {0};
    begin(&m, SEG_KIND_TENSOR);
    CHECK_INT(put_meta(&m, "array"), 0);
    CHECK_INT(store_reader_open(m.dir, MAKER_STREAM, &r, &d), SWT_E_UNSUPPORTED);
    CHECK_STR(d.stream, MAKER_STREAM);
    CHECK_INT(put_meta(&m, "cube"), 0);
    CHECK_INT(store_reader_open(m.dir, MAKER_STREAM, &r, &d), SWT_E_CORRUPT);
    CHECK(strstr(d.text, "meta.json") != NULL);
    CHECK(says(&m, "meta.json"));
    CHECK_INT(put_meta(&m, "tensor"), 0);
    CHECK_INT(store_reader_open(m.dir, MAKER_STREAM, &r, &d), 0);
    store_reader_close(&r);
}

/* A segment of rows, one of packets with the stream's uuid behind it, and rows again. */
TEST(kind__of_a_segment_that_is_not_the_streams)
{
    AUTO(maker_close) struct maker m;
    uint64_t n = 0;
    begin(&m, SEG_KIND_TENSOR);
    maker_segment(&m, 20 * FRAME);
    rows(&m, 7);
    maker_end(&m, true);
    m.meta.kind = SEG_KIND_PACKETS;
    maker_run(&m, 0, (struct swt_ratio){30, 1});
    maker_segment(&m, 1 << 16);
    maker_packet(&m, 100, 7 * STEP_NS, SEG_FLAG_KEY);
    maker_end(&m, true);
    m.meta.kind = SEG_KIND_TENSOR;
    CHECK(says(&m, "another kind"));
    CHECK_INT(wrong_frame(&m, &n), UINT64_MAX); /* the newest one: nothing can be said */
    maker_run(&m, FRAME, (struct swt_ratio){30, 1});
    maker_segment(&m, 20 * FRAME);
    rows(&m, 5);
    maker_end(&m, true);
    CHECK(says(&m, "another kind"));
    CHECK_INT(wrong_frame(&m, &n), UINT64_MAX);
    CHECK_INT(n, 12); /* all but the one that the packet stands for */
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

TEST(numbers__skipped_with_nothing_missing_are_no_damage)
{
    AUTO(maker_close) struct maker m;
    uint64_t n = 0;
    begin(&m, SEG_KIND_TENSOR);
    for (int i = 0; i < 3; i++) {
        maker_segment(&m, 7 * FRAME);
        rows(&m, 7);
        maker_end(&m, true);
        m.segments += 2;
    }
    CHECK(is_clean(&m));
    CHECK_INT(wrong_frame(&m, &n), UINT64_MAX);
    CHECK_INT(n, 21);
}

/* The second segment says that it begins three frames later than the first ends. */
TEST(numbers__a_segment_that_does_not_begin_where_the_one_before_ends)
{
    AUTO(maker_close) struct maker m;
    uint64_t n = 0;
    begin(&m, SEG_KIND_TENSOR);
    maker_segment(&m, 20 * FRAME);
    rows(&m, 7);
    maker_end(&m, true);
    m.frames += 3;
    maker_segment(&m, 20 * FRAME);
    rows(&m, 7);
    maker_end(&m, true);
    CHECK(says(&m, "it begins with frame 10, the segment before ends with 7"));
    CHECK_INT(wrong_frame(&m, &n), UINT64_MAX);
    CHECK_INT(n, 14);
}

TEST(numbers__a_run_or_entries_that_go_back)
{
    AUTO(maker_close) struct maker m;
    begin(&m, SEG_KIND_TENSOR);
    maker_run(&m, FRAME, (struct swt_ratio){25, 1});
    maker_segment(&m, 20 * FRAME);
    rows(&m, 7);
    maker_end(&m, true);
    m.runs--;
    m.run_base_frame = m.frames;
    m.run_base_entry = m.entries;
    maker_segment(&m, 20 * FRAME);
    rows(&m, 7);
    maker_end(&m, true);
    CHECK(says(&m, "does not come after"));
}

TEST(index__an_entry_that_does_not_begin_where_the_one_before_ends)
{
    AUTO(maker_close) struct maker m;
    uint64_t n = 0;
    begin(&m, SEG_KIND_TENSOR);
    maker_segment(&m, 30 * FRAME);
    rows(&m, 5);
    m.frames += 2; /* their bytes are not there, and no entry says anything of them */
    m.seg_bytes += 2 * FRAME;
    m.seg_frames += 2;
    rows(&m, 5);
    maker_end(&m, true);
    CHECK(says(&m, "does not begin where"));
    CHECK_INT(wrong_frame(&m, &n), UINT64_MAX);
    CHECK_INT(n, 10);
}

/* ---- slots and params ------------------------------------------------------------------------------- */

static void slot_put(struct maker *m, uint64_t entries, uint64_t frames, uint32_t off)
{
    struct slot s = {9, entries, frames, frames * FRAME, true};
    struct seg_slot bytes;
    slot_encode(&s, m->super.salt, &bytes);
    maker_must(io_pwrite_all(m->fd, &bytes, sizeof bytes, off) == 0, "slot");
}

TEST(slot__that_promises_other_than_the_index_has)
{
    AUTO(maker_close) struct maker m;
    begin(&m, SEG_KIND_TENSOR);
    maker_segment(&m, 20 * FRAME);
    rows(&m, 7);
    slot_put(&m, 9, 9, SEG_SLOT_OFF0);
    maker_end(&m, false);
    maker_segment(&m, 20 * FRAME);
    rows(&m, 7);
    slot_put(&m, 5, 5, SEG_SLOT_OFF0);
    maker_end(&m, false);
    maker_segment(&m, 20 * FRAME);
    rows(&m, 7);
    slot_put(&m, 7, 8, SEG_SLOT_OFF0);
    maker_end(&m, false);
    maker_segment(&m, 20 * FRAME);
    rows(&m, 2);
    maker_end(&m, true);
    CHECK(says(&m, "promise 9 entries, the segment has 7"));
    CHECK_INT(n_seen, 3);
    CHECK(strstr(seen[1].text, "sealed with 5 entries"));
    CHECK(strstr(seen[2].text, "sealed with 7 entries and 8 frames"));
}

TEST(params__of_another_frame_size_than_the_superblocks)
{
    AUTO(maker_close) struct maker m;
    begin(&m, SEG_KIND_TENSOR);
    maker_segment(&m, 20 * FRAME);
    rows(&m, 7);
    uint8_t block[1024];
    size_t n = params_encoded_bytes(&m.params);
    CHECK(n > 0 && n <= sizeof block);
    m.params.frame_bytes = m.params.frame_bytes * 2;
    m.params.shape[0] *= 2;
    CHECK_INT(params_encoded_bytes(&m.params), n);
    params_encode(&m.params, block);
    CHECK_INT(io_pwrite_all(m.fd, block, n, m.super.params_off), 0);
    maker_end(&m, true);
    CHECK(says(&m, "differ in the size of a frame"));
}

/* ---- what is asked of the wrong stream, or cannot be had -------------------------------------------- */

TEST(reader__rows_have_no_packets_and_packets_are_not_mapped)
{
    AUTO(maker_close) struct maker m;
    AUTO(maker_close) struct maker p;
    AUTO(store_reader_close) struct store_reader *r = NULL;
    AUTO(store_reader_close) struct store_reader *q = NULL;
    struct store_packet packet;
    const void *data = NULL;
    begin(&m, SEG_KIND_TENSOR);
    maker_segment(&m, 20 * FRAME);
    rows(&m, 7);
    maker_end(&m, true);
    begin(&p, SEG_KIND_PACKETS);
    maker_segment(&p, 1 << 16);
    maker_packet(&p, 100, 0, SEG_FLAG_KEY);
    maker_end(&p, true);
    CHECK_INT(store_reader_open(m.dir, MAKER_STREAM, &r, NULL), 0);
    CHECK_INT(store_reader_open(p.dir, MAKER_STREAM, &q, NULL), 0);
    CHECK_INT(store_reader_packet(r, 0, true, &packet, NULL), SWT_E_UNSUPPORTED);
    CHECK_INT(store_reader_map(q, 0, 1, &data, NULL), SWT_E_UNSUPPORTED);
    CHECK_INT(store_reader_packet(q, 1, true, &packet, NULL), SWT_E_NO_WINDOW);
}

TEST(reader__mappings_are_counted_against_the_kernels_limit)
{
    AUTO(maker_close) struct maker m;
    AUTO(store_reader_close) struct store_reader *r = NULL;
    struct swt_diag d = {0};
    const void *data = NULL;
    begin(&m, SEG_KIND_TENSOR);
    for (int i = 0; i < 3; i++) {
        maker_segment(&m, 7 * FRAME);
        rows(&m, 7);
        maker_end(&m, true);
    }
    CHECK_INT(store_reader_open(m.dir, MAKER_STREAM, &r, NULL), 0);
    r->max_maps = 2;
    CHECK_INT(store_reader_map(r, 0, 21, &data, &d), -ENOMEM);
    CHECK(strstr(d.text, "vm.max_map_count") != NULL);
    r->max_maps = 100;
    CHECK_INT(store_reader_map(r, 0, 21, &data, &d), 0);
    CHECK_INT(maker_differs(0, 0, data, 21 * FRAME), 21 * FRAME);
}

/* Retention took the first segment, and the one that is now the oldest is damaged. */
TEST(reader__oldest_segment_kept_is_damaged)
{
    AUTO(maker_close) struct maker m;
    uint64_t n = 0;
    begin(&m, SEG_KIND_TENSOR);
    for (int i = 0; i < 3; i++) {
        maker_segment(&m, 7 * FRAME);
        rows(&m, 7);
        maker_end(&m, true);
    }
    CHECK_INT(unlinkat(m.seg_fd, "00000000000000000000.swt", 0), 0);
    maker_flip(&m, 7, 100);
    CHECK_INT(wrong_frame(&m, &n), UINT64_MAX);
    CHECK_INT(n, 7);
}

/* A reader knows of segments that retention takes before it opens them. */
TEST(reader__segments_that_go_while_it_reads)
{
    AUTO(maker_close) struct maker m;
    AUTO(store_reader_close) struct store_reader *r = NULL;
    struct store_frame f;
    struct store_run run;
    const void *data = NULL;
    uint64_t at = 0;
    begin(&m, SEG_KIND_TENSOR);
    for (int i = 0; i < 4; i++) {
        maker_segment(&m, 7 * FRAME);
        rows(&m, 7);
        maker_end(&m, true);
    }
    CHECK_INT(store_reader_open(m.dir, MAKER_STREAM, &r, NULL), 0);
    CHECK_INT(unlinkat(m.seg_fd, "00000000000000000000.swt", 0), 0);
    CHECK_INT(store_reader_map(r, 3, 8, &data, NULL), SWT_E_NO_WINDOW);
    CHECK_INT(unlinkat(m.seg_fd, "00000000000000000007.swt", 0), 0);
    CHECK_INT(store_reader_refresh(r, NULL, NULL), 0); /* till then what it had opened may answer */
    CHECK_INT(store_reader_frame(r, 9, &f, NULL), SWT_E_NO_WINDOW);
    CHECK_INT(store_reader_run(r, 14, &run, NULL), 0);
    CHECK_INT(store_reader_find_time(r, 0, &at, NULL), 0);
    CHECK_INT(at, 14);
    CHECK_INT(store_reader_map(r, 14, 14, &data, NULL), 0);
    CHECK_INT(maker_differs(0, 14 * FRAME, data, 14 * FRAME), 14 * FRAME);
}

/* ---- packets ---------------------------------------------------------------------------------------- */

/* Every second entry of 200 is damaged: more holes than are kept apart. What is given is right. */
TEST(packets__many_damaged_entries)
{
    AUTO(maker_close) struct maker m;
    AUTO(store_reader_close) struct store_reader *r = NULL;
    begin(&m, SEG_KIND_PACKETS);
    maker_segment(&m, 1 << 16);
    for (int i = 0; i < 400; i++)
        maker_packet(&m, 60, (int64_t)i * STEP_NS, i == 0 ? SEG_FLAG_KEY : 0);
    uint64_t index_off = m.super.index_off;
    maker_end(&m, true);
    for (uint64_t i = 100; i < 300; i += 2)
        maker_flip(&m, 0, index_off + i * SEG_ENTRY_BYTES);
    CHECK_INT(store_reader_open(m.dir, MAKER_STREAM, &r, NULL), 0);
    uint64_t n = 0;
    for (uint64_t k = 0; k < 400; k++) {
        struct store_frame f;
        int rc = store_reader_frame(r, k, &f, NULL);
        CHECK(rc == 0 || rc == SWT_E_CORRUPT);
        CHECK(rc < 0 || (f.entry_no == k && f.time_ns == (int64_t)k * STEP_NS));
        n += rc == 0;
    }
    CHECK(n >= 30 && n < 400);
}

/* Two pictures of one time: the order in which they arrived decides. */
TEST(packets__pictures_of_one_time_keep_their_order)
{
    AUTO(maker_close) struct maker m;
    AUTO(store_reader_close) struct store_reader *r = NULL;
    begin(&m, SEG_KIND_PACKETS);
    maker_segment(&m, 1 << 16);
    for (int i = 0; i < 40; i++)
        maker_packet(&m, 60, (int64_t)(i / 4) * STEP_NS, i == 0 ? SEG_FLAG_KEY : 0);
    maker_end(&m, true);
    CHECK_INT(store_reader_open(m.dir, MAKER_STREAM, &r, NULL), 0);
    for (uint64_t k = 0; k < 40; k++) {
        struct store_frame f;
        CHECK_INT(store_reader_frame(r, k, &f, NULL), 0);
        CHECK_INT(f.entry_no, k);
    }
}

/* Earlier segments are gone and no key is left: no picture can be decoded, so none is kept. */
TEST(packets__pruned_without_a_key)
{
    AUTO(maker_close) struct maker m;
    AUTO(store_reader_close) struct store_reader *r = NULL;
    struct store_reader_state s;
    begin(&m, SEG_KIND_PACKETS);
    for (int k = 0; k < 2; k++) {
        maker_segment(&m, 1 << 16);
        for (int i = 0; i < 20; i++)
            maker_packet(&m, 60, (int64_t)m.frames * STEP_NS, k + i == 0 ? SEG_FLAG_KEY : 0);
        maker_end(&m, true);
    }
    CHECK_INT(unlinkat(m.seg_fd, "00000000000000000000.swt", 0), 0);
    CHECK_INT(store_reader_open(m.dir, MAKER_STREAM, &r, NULL), 0);
    CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
    CHECK_INT(s.first_entry, 20);
    CHECK_INT(s.first_frame, 40);
    CHECK_INT(s.end_frame, 40);
}

T_MAIN(RUN(kind__of_a_stream_that_is_unknown_or_not_for_readers)
           RUN(kind__of_a_segment_that_is_not_the_streams)
               RUN(numbers__skipped_with_nothing_missing_are_no_damage)
                   RUN(numbers__a_segment_that_does_not_begin_where_the_one_before_ends)
                       RUN(numbers__a_run_or_entries_that_go_back)
                           RUN(index__an_entry_that_does_not_begin_where_the_one_before_ends)
                               RUN(slot__that_promises_other_than_the_index_has)
                                   RUN(params__of_another_frame_size_than_the_superblocks) RUN(
                                       reader__rows_have_no_packets_and_packets_are_not_mapped)
                                       RUN(reader__mappings_are_counted_against_the_kernels_limit)
                                           RUN(reader__oldest_segment_kept_is_damaged) RUN(
                                               reader__segments_that_go_while_it_reads)
                                               RUN(packets__many_damaged_entries) RUN(
                                                   packets__pictures_of_one_time_keep_their_order)
                                                   RUN(packets__pruned_without_a_key))
