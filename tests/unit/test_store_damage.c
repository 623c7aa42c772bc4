/* SPDX-License-Identifier: MIT
 *
 * test_store_damage.c - files changed at random, seeded: no reader faults, what passes its check is right, and
 * verify finds whatever a reader stumbles over.
 */
#include "segmaker.h"
#include "store/store.h"
#include "t.h"

#define STEP_NS  INT64_C(33333333)
#define ROUNDS   250
#define SEGMENTS 4

/* A file as it was. */
struct copy {
    uint64_t base;
    uint8_t *data;
    size_t n;
};

static void take_copy(struct maker *m, uint64_t base, struct copy *ret)
{
    char name[32];
    segfile_name(base, name);
    ret->base = base;
    maker_must(io_read_file(m->seg_fd, name, 1 << 24, (char **)&ret->data, &ret->n) == 0, "copy");
}

static void put_back(struct maker *m, const struct copy *c)
{
    char name[32];
    segfile_name(c->base, name);
    int fd = openat(m->seg_fd, name, O_RDWR | O_CREAT, 0644);
    maker_must(fd >= 0 && ftruncate(fd, 0) == 0 && io_pwrite_all(fd, c->data, c->n, 0) == 0,
               "put back");
    (void)close(fd);
}

/* Flip bits, overwrite a stretch, cut or remove: one of them, in one segment. */
static void harm(struct maker *m, const struct copy *c, uint64_t seed)
{
    char name[32];
    uint64_t how = maker_mix(seed) % 8, at = maker_mix(seed + 1) % c->n;
    if (how < 3) /* where the index and the superblock are */
        at = maker_mix(seed + 1) % 16384;
    segfile_name(c->base, name);
    int fd = openat(m->seg_fd, name, O_RDWR);
    maker_must(fd >= 0, "harm");
    if (how == 7 && seed % 3 == 0)
        maker_must(unlinkat(m->seg_fd, name, 0) == 0, "unlink");
    else if (how == 7)
        maker_must(ftruncate(fd, (off_t)at) == 0, "cut");
    else if (how == 6)
        maker_must(io_pwrite_all(fd, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, at) == 0, "zeros");
    else
        for (uint64_t i = 0; i <= how % 3; i++)
            maker_flip(m, c->base, i ? maker_mix(seed + 2 + i) % c->n : at);
    (void)close(fd);
}

static void count(void *arg, const struct swt_diag *damage)
{
    (void)damage;
    ++*(int *)arg;
}

/* The errors that damage may lead to. */
static bool is_honest(int rc)
{
    return rc >= 0 || rc == SWT_E_CORRUPT || rc == SWT_E_NO_WINDOW || rc == SWT_E_RUNS ||
           rc == SWT_E_NEWER;
}

/* Read everything there is: 1 damage was met, 0 not, -1 something is wrong. */
static int read_tensor(struct store_reader *r, const struct maker *m,
                       const struct store_reader_state *s)
{
    int met = 0;
    uint64_t fb = m->params.frame_bytes, at = 0;
    struct store_totals t;
    if (!is_honest(store_reader_totals(r, &t, NULL)) ||
        !is_honest(store_reader_find_time(r, 9 * STEP_NS, &at, NULL)) ||
        !is_honest(store_reader_find_gap(r, 0, s->end_frame, &at, NULL)))
        return -1;
    for (uint64_t k = s->first_frame; k < s->end_frame; k++) {
        struct store_frame f;
        const void *data = NULL;
        int rc = store_reader_frame(r, k, &f, NULL);
        if (!is_honest(rc) || (rc == 0 && f.time_ns != (int64_t)k * STEP_NS))
            return -1;
        met |= rc == SWT_E_CORRUPT;
        rc = store_reader_map(r, k, 1, &data, NULL);
        met |= rc == SWT_E_CORRUPT;
        if (rc == 0)
            rc = store_reader_check(r, k, 1, NULL);
        met |= rc == SWT_E_CORRUPT;
        if (!is_honest(rc) || (rc == 0 && maker_differs(0, k * fb, data, fb) != fb))
            return -1;
    }
    return met;
}

static int read_packets(struct store_reader *r, const struct store_reader_state *s)
{
    int met = 0;
    uint64_t at = 0;
    for (uint64_t k = s->first_frame; k < s->end_frame; k++) {
        struct store_frame f;
        int rc = store_reader_frame(r, k, &f, NULL);
        if (!is_honest(rc) || (rc == 0 && f.time_ns != (int64_t)k * STEP_NS))
            return -1;
        met |= rc == SWT_E_CORRUPT;
        if (!is_honest(store_reader_key(r, k, &at, NULL)))
            return -1;
    }
    for (uint64_t i = s->first_entry; i < s->end_entry; i++) {
        struct store_packet p;
        int rc = store_reader_packet(r, i, true, &p, NULL);
        if (!is_honest(rc) || (rc == 0 && maker_differs(i, 0, p.data, p.n_data) != p.n_data))
            return -1;
        met |= rc == SWT_E_CORRUPT;
        if (!is_honest(store_reader_shown(r, i, &at, NULL)))
            return -1;
    }
    return met;
}

static bool survives(struct maker *m)
{
    struct store_reader *r = NULL;
    struct store_reader_state s;
    struct swt_verify_report report = {0};
    int n = 0, met = 0;
    int rc = store_reader_open(m->dir, MAKER_STREAM, &r, NULL);
    if (rc == 0)
        rc = store_reader_refresh(r, &s, NULL);
    if (rc == 0)
        met = m->meta.kind == SEG_KIND_PACKETS ? read_packets(r, &s) : read_tensor(r, m, &s);
    store_reader_close(&r);
    met |= rc == SWT_E_CORRUPT;
    int verified = store_verify(m->dir, MAKER_STREAM, count, &n, &report, NULL);
    bool ok = is_honest(rc) && met >= 0 && (verified == 0 || verified == SWT_E_LOST) &&
              (met == 0 || n > 0);
    if (!ok)
        printf("# open %d, met %d, verify %d with %d damages\n", rc, met, verified, n);
    return ok;
}

static void rounds(struct maker *m, struct copy *copies)
{
    CHECK(survives(m));
    for (uint64_t i = 0; i < ROUNDS; i++) {
        const struct copy *c = &copies[maker_mix(i) % SEGMENTS];
        harm(m, c, i * 16);
        bool ok = survives(m);
        put_back(m, c);
        if (!ok)
            T_FAIL("round %" PRIu64 ", segment %" PRIu64, i, c->base);
    }
    CHECK(survives(m));
}

TEST(damage__tensors)
{
    AUTO(maker_close) struct maker m;
    struct copy copies[SEGMENTS];
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 3001, (struct swt_ratio){30, 1});
    for (int s = 0; s < SEGMENTS; s++) {
        uint64_t base = m.frames;
        maker_segment(&m, 8 * 3001);
        for (int i = 0; i < 8; i++)
            maker_frames(&m, 1, (int64_t)m.frames * STEP_NS, (uint32_t)STEP_NS, SEG_FLAG_KEY);
        maker_end(&m, true);
        take_copy(&m, base, &copies[s]);
    }
    rounds(&m, copies);
    for (int s = 0; s < SEGMENTS; s++)
        free(copies[s].data);
}

TEST(damage__packets)
{
    AUTO(maker_close) struct maker m;
    struct copy copies[SEGMENTS];
    maker_open(&m, SEG_KIND_PACKETS);
    maker_run(&m, 0, (struct swt_ratio){30, 1});
    for (int s = 0; s < SEGMENTS; s++) {
        uint64_t base = m.entries;
        maker_segment(&m, 1 << 14);
        for (uint64_t i = 0; i < 40; i++)
            maker_packet(&m, 20 + maker_mix(i) % 200, (int64_t)(m.frames ^ 1) * STEP_NS,
                         i == 0 ? SEG_FLAG_KEY : 0);
        maker_end(&m, true);
        take_copy(&m, base, &copies[s]);
    }
    rounds(&m, copies);
    for (int s = 0; s < SEGMENTS; s++)
        free(copies[s].data);
}

T_MAIN(RUN(damage__tensors) RUN(damage__packets))
