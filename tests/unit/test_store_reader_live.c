/* SPDX-License-Identifier: MIT
 *
 * test_store_reader_live.c - the store's own writer and its readers at the same time: what is visible is right,
 * whatever the writer does just then; readers never need to be opened again.
 */
#include <pthread.h>

#include "segmaker.h"
#include "store/store.h"
#include "t.h"

#define SECOND INT64_C(1000000000)

struct job {
    struct maker m; /* the recording and its path; nothing is made by it */
    enum seg_kind kind;
    uint64_t frame_bytes, segment_bytes, n;
    _Atomic bool failed;
    _Atomic uint64_t looks;
};

static void job_begin(struct job *j)
{
    maker_open(&j->m, j->kind);
    j->m.params.frame_bytes = j->frame_bytes;
    (void)snprintf(j->m.params.media, sizeof j->m.params.media, "rows");
    j->m.params.time_base = (struct swt_ratio){1, 1000000000};
    j->m.params.rate = (struct swt_ratio){1000, 1};
}

static struct store_writer *start(struct job *j)
{
    struct store_writer *w = NULL;
    struct swt_diag d = {0};
    struct store_writer_spec spec = {.name = MAKER_STREAM,
                                     .kind = j->kind,
                                     .segment_bytes = j->segment_bytes,
                                     .sync_ns = SECOND / 50,
                                     .made_from = ""};
    if (store_writer_open(j->m.dir, &spec, &w, &d) < 0 ||
        store_writer_format(w, &j->m.params, &d) < 0) {
        printf("# writer: %d %s: %s\n", d.code, d.path, d.text);
        store_writer_abandon(&w);
    }
    return w;
}

/* ---- tensors --------------------------------------------------------------------------------------- */

static void *write_frames(void *arg)
{
    struct job *j = arg;
    struct store_writer *w = start(j);
    size_t most = 7;
    uint8_t *data = malloc(most * j->frame_bytes);
    for (uint64_t at = 0; w && at < j->n;) {
        uint64_t n = 1 + maker_mix(at) % most, stored = 0;
        n = n < j->n - at ? n : j->n - at;
        struct store_item item = {.time_ns = (int64_t)at * 1000000,
                                  .src_pts = INT64_MIN,
                                  .duration = (uint32_t)n * 1000000,
                                  .capture_ns = clock_boot_ns()};
        maker_fill(0, at * j->frame_bytes, data, (size_t)(n * j->frame_bytes));
        if (store_writer_frames(w, &item, data, n, &stored, NULL) < 0)
            break;
        at += stored;
        if (at % 3 == 0)
            (void)usleep(200);
    }
    free(data);
    if (!w || store_writer_close(&w, NULL) < 0)
        j->failed = true; /* what a reader has found stays */
    return NULL;
}

static bool window_is_right(struct job *j, struct store_reader *r, uint64_t first, uint64_t n,
                            struct swt_diag *d)
{
    const void *data = NULL;
    uint64_t fb = j->frame_bytes;
    return store_reader_map(r, first, n, &data, d) == 0 &&
           maker_differs(0, first * fb, data, (size_t)(n * fb)) == n * fb &&
           store_reader_check(r, first, n, d) == 0;
}

/* One look: the newest frames, and some older ones. */
static bool look(struct job *j, struct store_reader *r, uint64_t *end, struct swt_diag *d)
{
    struct store_reader_state s;
    struct store_frame f;
    if (store_reader_wait(r, *end, SECOND, d) < 0 || store_reader_refresh(r, &s, d) < 0 ||
        s.end_frame < *end || s.durable_frames > s.end_frame)
        return false;
    *end = s.end_frame;
    if (*end == 0)
        return true;
    uint64_t n = *end < 20 ? *end : 20, first = maker_mix(*end) % *end;
    j->looks++;
    return window_is_right(j, r, *end - n, n, d) &&
           window_is_right(j, r, first, n < *end - first ? n : *end - first, d) &&
           store_reader_frame(r, first, &f, d) == 0 && f.time_ns == (int64_t)first * 1000000;
}

static void *read_frames(void *arg)
{
    struct job *j = arg;
    struct store_reader *r = NULL;
    struct swt_diag d = {0};
    uint64_t end = 0;
    while (!r && !j->failed && store_reader_open(j->m.dir, MAKER_STREAM, &r, NULL) < 0)
        (void)usleep(1000);
    while (r && !j->failed && end < j->n) {
        if (!look(j, r, &end, &d)) {
            printf("# at %" PRIu64 ": %d %s: %s\n", end, d.code, d.path, d.text);
            j->failed = true;
        }
    }
    store_reader_close(&r);
    return NULL;
}

static void together(struct job *j, void *(*write)(void *), void *(*read)(void *))
{
    pthread_t threads[3];
    maker_must(pthread_create(&threads[0], NULL, read, j) == 0, "thread");
    maker_must(pthread_create(&threads[1], NULL, read, j) == 0, "thread");
    maker_must(pthread_create(&threads[2], NULL, write, j) == 0, "thread");
    for (int i = 0; i < 3; i++)
        (void)pthread_join(threads[i], NULL);
    printf("# %" PRIu64 " looks\n", j->looks);
}

static void close_job(struct job *j)
{
    maker_close(&j->m);
}

static bool is_verified(struct job *j, uint64_t frames)
{
    struct swt_verify_report report = {0};
    struct swt_diag d = {0};
    int rc = store_verify(j->m.dir, MAKER_STREAM, NULL, NULL, &report, &d);
    return rc == 0 && report.frames == frames;
}

static void check_tensor(uint64_t frame_bytes, uint64_t segment_bytes, uint64_t n)
{
    AUTO(close_job)
    struct job j = {.kind = SEG_KIND_TENSOR,
                    .frame_bytes = frame_bytes,
                    .segment_bytes = segment_bytes,
                    .n = n};
    AUTO(store_reader_close) struct store_reader *r = NULL;
    struct store_reader_state s;
    struct swt_diag d = {0};
    job_begin(&j);
    together(&j, write_frames, read_frames);
    CHECK(!j.failed);
    CHECK(j.looks > 0);
    CHECK_INT(store_reader_open(j.m.dir, MAKER_STREAM, &r, &d), 0);
    CHECK_INT(store_reader_refresh(r, &s, &d), 0);
    CHECK(!s.is_live);
    CHECK_INT(s.end_frame, n);
    CHECK_INT(s.durable_frames, n);
    CHECK_INT(s.bytes, n * frame_bytes);
    CHECK(s.segments > 3);
    CHECK(window_is_right(&j, r, 0, n, &d));
    CHECK(is_verified(&j, n));
}

TEST(live__pictures_of_odd_size)
{
    check_tensor(225 * 225 * 3, 1500000, 200);
}

TEST(live__small_frames_in_groups)
{
    check_tensor(1000, 100000, 3000);
}

TEST(live__frames_larger_than_a_segment_wants_to_be)
{
    check_tensor(70001, 1000, 100);
}

/* ---- packets --------------------------------------------------------------------------------------- */

/* I P b P b …: entry of frame k, and frame of entry k, are the neighbours' of each pair. */
static uint64_t swapped(uint64_t k)
{
    return k == 0 ? 0 : ((k - 1) ^ 1) + 1;
}

static void *write_packets(void *arg)
{
    struct job *j = arg;
    struct store_writer *w = start(j);
    uint8_t data[600];
    bool ok = w;
    for (uint64_t k = 0; ok && k < j->n; k++) {
        uint64_t frame = swapped(k);
        struct store_item item = {.time_ns = (int64_t)frame * 1000000,
                                  .src_pts = (int64_t)frame * 1000000,
                                  .dts_delta = (int32_t)((int64_t)k - (int64_t)frame - 1) * 1000000,
                                  .duration = 1000000,
                                  .capture_ns = clock_boot_ns(),
                                  .flags = k % 20 == 0 ? SEG_FLAG_KEY : 0};
        size_t n = 1 + maker_mix(k) % sizeof data;
        struct iovec piece = {data, n};
        maker_fill(k, 0, data, n);
        ok = store_writer_packet(w, &item, &piece, 1, 0, NULL) == 0;
        if (k % 16 == 0)
            (void)usleep(200);
    }
    if (!ok || store_writer_close(&w, NULL) < 0)
        j->failed = true;
    return NULL;
}

static bool packet_look(struct job *j, struct store_reader *r, uint64_t *end, struct swt_diag *d)
{
    struct store_reader_state s;
    struct store_frame f;
    struct store_packet p;
    uint64_t shown = 0;
    if (store_reader_wait(r, *end, SECOND, d) < 0 || store_reader_refresh(r, &s, d) < 0 ||
        s.end_frame < *end || s.end_frame > s.end_entry)
        return false;
    *end = s.end_frame;
    for (uint64_t i = 0; *end > 0 && i < 8; i++) {
        uint64_t frame = i < 4 && i < *end ? *end - 1 - i : maker_mix(*end + i) % *end;
        if (store_reader_frame(r, frame, &f, d) < 0 || f.entry_no != swapped(frame) ||
            f.time_ns != (int64_t)frame * 1000000 ||
            store_reader_shown(r, f.entry_no, &shown, d) < 0 || shown != frame ||
            store_reader_packet(r, f.entry_no, true, &p, d) < 0 ||
            maker_differs(f.entry_no, 0, p.data, p.n_data) != p.n_data)
            return false;
    }
    j->looks++;
    return true;
}

static void *read_packets(void *arg)
{
    struct job *j = arg;
    struct store_reader *r = NULL;
    struct swt_diag d = {0};
    uint64_t end = 0;
    while (!r && !j->failed && store_reader_open(j->m.dir, MAKER_STREAM, &r, NULL) < 0)
        (void)usleep(1000);
    while (r && !j->failed && end < j->n) {
        if (!packet_look(j, r, &end, &d)) {
            printf("# at %" PRIu64 ": %d %s: %s\n", end, d.code, d.path, d.text);
            j->failed = true;
        }
    }
    store_reader_close(&r);
    return NULL;
}

TEST(live__packets_in_display_order)
{
    AUTO(close_job) struct job j = {.kind = SEG_KIND_PACKETS, .segment_bytes = 20000, .n = 2001};
    AUTO(store_reader_close) struct store_reader *r = NULL;
    struct store_reader_state s;
    struct swt_diag d = {0};
    uint64_t end = 0;
    job_begin(&j);
    together(&j, write_packets, read_packets);
    CHECK(!j.failed);
    CHECK_INT(store_reader_open(j.m.dir, MAKER_STREAM, &r, &d), 0);
    CHECK_INT(store_reader_refresh(r, &s, &d), 0);
    CHECK_INT(s.end_frame, j.n);
    CHECK(s.segments > 3);
    CHECK(packet_look(&j, r, &end, &d));
    CHECK(is_verified(&j, j.n));
}

T_MAIN(RUN(live__pictures_of_odd_size) RUN(live__small_frames_in_groups)
           RUN(live__frames_larger_than_a_segment_wants_to_be) RUN(live__packets_in_display_order))
