/* SPDX-License-Identifier: MIT
 *
 * test_store_verify.c - what verify must find, and what it must not take for damage. The recordings are made by
 * segmaker.h.
 */
#include <errno.h>

#include "segmaker.h"
#include "store/control.h"
#include "store/store.h"
#include "t.h"

#define STEP_NS INT64_C(33333333)

/* The damages of the last run. */
static struct swt_diag seen[64];
static int n_seen;

static void note(void *arg, const struct swt_diag *damage)
{
    (void)arg;
    if (n_seen < 64)
        seen[n_seen] = *damage;
    n_seen++;
}

static int verify(struct maker *m, struct swt_verify_report *ret_report)
{
    struct swt_diag d = {0};
    struct swt_verify_report report = {0};
    n_seen = 0;
    int rc = store_verify(m->dir, MAKER_STREAM, note, NULL, &report, &d);
    if (rc < 0 && rc != SWT_E_LOST)
        printf("# %d %s: %s\n", rc, d.path, d.text);
    if ((rc == SWT_E_LOST) != (n_seen > 0) || report.damages != (uint64_t)n_seen)
        return -EINVAL;
    if (ret_report)
        *ret_report = report;
    return rc;
}

/* Found exactly once, in this segment at this offset and frame. */
static bool found(struct maker *m, uint64_t base, uint64_t offset, int64_t frame)
{
    char name[32];
    segfile_name(base, name);
    int rc = verify(m, NULL);
    bool is_it = rc == SWT_E_LOST && n_seen == 1 && strstr(seen[0].path, name) &&
                 seen[0].offset == (int64_t)offset && seen[0].frame == frame &&
                 strcmp(seen[0].stream, MAKER_STREAM) == 0 && seen[0].text[0] != 0;
    for (int i = 0; !is_it && i < n_seen; i++)
        printf("# %d: %s at %" PRId64 ", frame %" PRId64 ": %s\n", rc, seen[i].path, seen[i].offset,
               seen[i].frame, seen[i].text);
    return is_it;
}

static void frames(struct maker *m, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        maker_frames(m, 1, (int64_t)m->frames * STEP_NS, (uint32_t)STEP_NS, SEG_FLAG_KEY);
}

/* Three segments of 7 frames of 30001 bytes; `supers` of them. */
static void three(struct maker *m, struct super supers[3])
{
    maker_open(m, SEG_KIND_TENSOR);
    maker_run(m, 30001, (struct swt_ratio){30, 1});
    for (int i = 0; i < 3; i++) {
        maker_segment(m, 7 * 30001);
        frames(m, 7);
        supers[i] = m->super;
        maker_end(m, true);
    }
}

TEST(verify__sound_recording_counts_everything)
{
    AUTO(maker_close) struct maker m;
    struct super supers[3];
    struct swt_verify_report report;
    three(&m, supers);
    CHECK_INT(verify(&m, &report), 0);
    CHECK_INT(report.segments, 3);
    CHECK_INT(report.entries, 21);
    CHECK_INT(report.frames, 21);
    CHECK_INT(report.bytes, 21 * 30001);
}

/* A flipped bit anywhere that is promised is found, once, and named. */
TEST(verify__flipped_bits_are_named)
{
    AUTO(maker_close) struct maker m;
    struct super s[3];
    three(&m, s);
    const struct {
        uint64_t base, off, reported;
        int64_t frame;
    } flips[] = {
        {7, 5, 0, 7},                                                     /* magic */
        {7, 300, 0, 7},                                                   /* reserved */
        {7, SEG_SLOT_OFF0 + 8, SEG_SLOT_OFF0, -1},                        /* slot */
        {14, SEG_SLOT_OFF0 + 200, SEG_SLOT_OFF0, -1},                     /* newest's slot */
        {0, SEG_PARAMS_OFF + 20, SEG_PARAMS_OFF, -1},                     /* params */
        {7, s[1].index_off + 3 * 64 + 9, s[1].index_off + 3 * 64, 10},    /* entry */
        {7, s[1].index_off + 6 * 64 + 63, s[1].index_off + 6 * 64, 13},   /* last entry */
        {0, s[0].data_off, s[0].data_off, 0},                             /* first byte */
        {7, s[1].data_off + 2 * 30001 + 7, s[1].data_off + 2 * 30001, 9}, /* payload */
        {7, s[1].data_off + 6 * 30001 + 7, s[1].data_off + 6 * 30001,
         13}, /* what the seam copies */
        {14, s[2].data_off + 7 * 30001 - 1, s[2].data_off + 6 * 30001, 20}, /* last byte */
        {7, s[1].seam_off + 3, s[1].seam_off + 3, 6},                       /* seam */
    };
    for (size_t i = 0; i < sizeof flips / sizeof flips[0]; i++) {
        maker_flip(&m, flips[i].base, flips[i].off);
        CHECK(found(&m, flips[i].base, flips[i].reported, flips[i].frame));
        maker_flip(&m, flips[i].base, flips[i].off);
    }
    CHECK_INT(verify(&m, NULL), 0);
}

TEST(verify__everything_else_is_still_checked)
{
    AUTO(maker_close) struct maker m;
    struct super s[3];
    struct swt_verify_report report;
    three(&m, s);
    maker_flip(&m, 0, s[0].data_off + 5);
    maker_flip(&m, 7, 20);
    maker_flip(&m, 14, s[2].index_off + 64);
    CHECK_INT(verify(&m, &report), SWT_E_LOST);
    CHECK_INT(n_seen, 3);
    CHECK_INT(report.segments, 3);
    CHECK_INT(report.entries, 13);
}

TEST(verify__truncated_file)
{
    AUTO(maker_close) struct maker m;
    struct super s[3];
    char name[32];
    three(&m, s);
    segfile_name(7, name);
    int fd = openat(m.seg_fd, name, O_RDWR);
    CHECK_INT(ftruncate(fd, (off_t)(s[1].data_off + 3 * 30001 + 10)), 0);
    CHECK(found(&m, 7, s[1].data_off + 3 * 30001 + 10, 10));
    CHECK_INT(ftruncate(fd, (off_t)(s[1].index_off + 5 * 64)), 0);
    CHECK_INT(verify(&m, NULL), SWT_E_LOST);
    CHECK_INT(n_seen, 2); /* no payload from frame 7 on, no entry from 12 on */
    CHECK_INT(seen[0].frame, 7);
    CHECK_INT(seen[1].frame, 12);
    CHECK_INT(ftruncate(fd, 100), 0);
    CHECK_INT(verify(&m, NULL), SWT_E_LOST);
    CHECK_INT(n_seen, 1);
    CHECK_INT(ftruncate(fd, 0), 0);
    CHECK_INT(verify(&m, NULL), SWT_E_LOST);
    CHECK_INT(n_seen, 1);
    CHECK(strstr(seen[0].path, name));
    (void)close(fd);
}

TEST(verify__missing_segment)
{
    AUTO(maker_close) struct maker m;
    struct super s[3];
    three(&m, s);
    CHECK_INT(unlinkat(m.seg_fd, "00000000000000000007.swt", 0), 0);
    CHECK_INT(verify(&m, NULL), SWT_E_LOST);
    CHECK_INT(n_seen, 1);
    CHECK_INT(seen[0].frame, 7);
    CHECK(strstr(seen[0].text, "1 segment(s) missing"));
    CHECK(strstr(seen[0].text, "7 frames"));
    CHECK_INT(unlinkat(m.seg_fd, "00000000000000000000.swt", 0),
              0); /* pruned, as far as one can know */
    CHECK_INT(verify(&m, NULL), 0);
}

/* What kill -9 and power cuts leave is no damage: nobody promised it. */
TEST(verify__unclean_ends_are_not_damage)
{
    AUTO(maker_close) struct maker m;
    struct swt_verify_report report;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, (struct swt_ratio){30, 1});
    maker_segment(&m, 50 * 5000);
    frames(&m, 5);
    maker_slot(&m, false);
    frames(&m, 3);
    struct super super = m.super;
    CHECK_INT(io_pwrite_all(m.fd, "torn", 4, SEG_SLOT_OFF1 + 16), 0);
    CHECK_INT(io_pwrite_all(m.fd, "torn", 4, super.index_off + 8 * 64), 0);
    CHECK_INT(io_pwrite_all(m.fd, "torn", 4, super.data_off + 8 * 5000), 0);
    maker_end(&m, false);
    CHECK_INT(verify(&m, &report), 0);
    CHECK_INT(report.frames, 8);
    maker_flip(&m, 0, super.data_off + 6 * 5000); /* its entry was there, its bytes were not */
    CHECK_INT(verify(&m, &report), 0);
    CHECK_INT(report.frames, 6);
    maker_flip(&m, 0, super.data_off + 4 * 5000); /* this one was durable */
    CHECK(found(&m, 0, super.data_off + 4 * 5000, 4));
    maker_flip(&m, 0, super.data_off + 4 * 5000);
    maker_flip(&m, 0, super.data_off + 6 * 5000);
    m.sessions++; /* the next session goes on behind what it found, and so promises it */
    maker_segment(&m, 50 * 5000);
    frames(&m, 2);
    maker_end(&m, true);
    maker_segment(&m, 50 * 5000); /* an empty one at the end */
    maker_end(&m, false);
    CHECK_INT(verify(&m, &report), 0);
    CHECK_INT(report.frames, 10);
    maker_flip(&m, 0, super.data_off + 6 * 5000);
    CHECK(found(&m, 0, super.data_off + 6 * 5000, 6));
}

TEST(verify__foreign_files_and_other_streams)
{
    AUTO(maker_close) struct maker m;
    AUTO(maker_close) struct maker other;
    struct super s[3];
    char command[1200];
    three(&m, s);
    three(&other, s);
    (void)close(openat(m.seg_fd, "notes.txt", O_CREAT | O_WRONLY, 0644));
    CHECK_INT(verify(&m, NULL), 0);
    (void)snprintf(command, sizeof command,
                   "cp '%s/" MAKER_STREAM "/seg/00000000000000000007.swt' '%s/" MAKER_STREAM
                   "/seg/'",
                   other.path, m.path);
    CHECK_INT(system(command), 0);
    CHECK_INT(verify(&m, NULL), SWT_E_LOST);
    CHECK_INT(n_seen, 1);
    CHECK(strstr(seen[0].text, "another stream"));
}

TEST(verify__runs_and_packets)
{
    AUTO(maker_close) struct maker m;
    struct swt_verify_report report;
    maker_open(&m, SEG_KIND_PACKETS);
    maker_run(&m, 0, (struct swt_ratio){30, 1});
    uint64_t data_off = 0, at = 0;
    for (int i = 0; i < 3; i++) {
        maker_segment(&m, 1 << 18);
        for (int k = 0; k < 50; k++) { /* pairs: the second of each is shown first */
            if (i == 1 && k == 20) {
                data_off = m.super.data_off;
                at = m.seg_bytes;
            }
            maker_packet(&m, 100 + (size_t)k, (int64_t)(i * 50 + (k ^ 1)) * STEP_NS,
                         k == 0 ? SEG_FLAG_KEY : 0);
        }
        maker_packet(&m, 9, 0, SEG_FLAG_NOPIC);
        maker_end(&m, true);
        maker_run(&m, 0, (struct swt_ratio){25 + i, 1});
    }
    CHECK_INT(verify(&m, &report), 0);
    CHECK_INT(report.frames, 150);
    CHECK_INT(report.entries, 153);
    maker_flip(&m, 51, data_off + at + 3);
    CHECK(found(&m, 51, data_off + at, 50 + 21)); /* ordinal 20, shown as 21 */
}

TEST(verify__live_up_to_what_is_committed)
{
    AUTO(maker_close) struct maker m;
    struct swt_verify_report report;
    struct control c = {0};
    int lock = -1;
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, (struct swt_ratio){30, 1});
    CHECK_INT(dir_stream_lock(m.stream_fd, MAKER_STREAM, &lock, NULL), 0);
    CHECK_INT(control_create(m.stream_fd, lock, m.meta.uuid, NULL, 0644, &c, NULL), 0);
    control_begin(&c, 0, 0, 0);
    maker_segment(&m, 10 * 5000);
    frames(&m, 10);
    maker_end(&m, false); /* its helper has not sealed it yet */
    maker_segment(&m, 50 * 5000);
    frames(&m, 4);
    control_publish(&c, 14, 14);
    CHECK_INT(io_pwrite_all(m.fd, "torn", 4, m.super.index_off + 4 * 64), 0);
    CHECK_INT(io_pwrite_all(m.fd, "torn", 4, SEG_SLOT_OFF0), 0);
    CHECK_INT(verify(&m, &report), 0);
    CHECK_INT(report.frames, 14);
    uint64_t off = m.super.data_off + 3 * 5000;
    maker_flip(&m, 10, off);
    CHECK(found(&m, 10, off, 13));
    maker_end(&m, false);
    control_end(&c, m.stream_fd);
    (void)close(lock);
}

TEST(verify__stream_that_is_not_there_or_has_a_damaged_description)
{
    AUTO(maker_close) struct maker m;
    struct super s[3];
    struct swt_verify_report report = {0};
    three(&m, s);
    CHECK_INT(store_verify(m.dir, "nobody", NULL, NULL, &report, NULL), SWT_E_NO_STREAM);
    int fd = openat(m.stream_fd, "meta.json", O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, "!", 1, 0) == 1);
    (void)close(fd);
    CHECK_INT(verify(&m, NULL), SWT_E_LOST);
    CHECK_INT(n_seen, 1);
    CHECK_STR(seen[0].stream, MAKER_STREAM);
}

T_MAIN(RUN(verify__sound_recording_counts_everything) RUN(verify__flipped_bits_are_named)
           RUN(verify__everything_else_is_still_checked) RUN(verify__truncated_file)
               RUN(verify__missing_segment) RUN(verify__unclean_ends_are_not_damage)
                   RUN(verify__foreign_files_and_other_streams) RUN(verify__runs_and_packets)
                       RUN(verify__live_up_to_what_is_committed)
                           RUN(verify__stream_that_is_not_there_or_has_a_damaged_description))
