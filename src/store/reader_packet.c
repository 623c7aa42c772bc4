/* SPDX-License-Identifier: MIT
 *
 * reader_packet.c - packet streams: entries by number, frames by display order, where decoding begins, and
 * payloads. It never looks into a packet.
 *
 * Numbers. A shown packet's *ordinal* counts the shown packets before it in decode order; the index has it
 * (base_frame + pics_before). Its frame number is its *rank* by time over the whole stream, and the two
 * differ by STORE_REORDER at most. So of the packets with ordinals from a = n - 2 * STORE_REORDER on, the
 * frame n is the one at place n - a by time: all with smaller ordinals come before it, all from
 * n + 2 * STORE_REORDER on after it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/crc.h"
#include "store/reader.h"

#define REACH    (2u * STORE_REORDER)
#define PICS_CAP (READER_RANKS + 2 * REACH)

/* ---- walking over entries -------------------------------------------------------------------------- */

struct cursor {
    size_t i; /* segment; r->n: at the end */
    struct rseg *seg;
    uint64_t k, n; /* next entry in it, entries in it */
    uint64_t lost; /* damaged ones since the last that could be read */
};

static int cursor_enter(struct store_reader *r, struct cursor *c, size_t i)
{
    for (c->k = c->n = 0; i < r->n; i++) {
        int rc = rseg_get(r, i, &c->seg, NULL);
        if (rc == 0)
            rc = rseg_entries(r, i, c->seg, &c->n);
        if (rc != SWT_E_CORRUPT) {
            c->i = i;
            return rc;
        }
    }
    c->i = i;
    return 0;
}

/* The next entry that can be read: 1, 0 at the end, -errno. Damaged ones show as holes in the ordinals. */
static int cursor_next(struct store_reader *r, struct cursor *c, struct entry *ret_entry,
                       uint64_t *ret_no)
{
    c->lost = 0;
    while (c->i < r->n) {
        while (c->k < c->n) {
            int rc = rseg_entry(r, c->seg, c->k++, ret_entry);
            *ret_no = c->seg->super.base_entry + c->k - 1;
            if (rc != 0)
                return rc;
            c->lost++;
        }
        int rc = cursor_enter(r, c, c->i + 1);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static uint64_t ordinal_of(const struct cursor *c, const struct entry *e)
{
    return c->seg->super.base_frame + e->pics_before;
}

static uint64_t number_frame(const struct super *s)
{
    return s->base_frame;
}

/* Stand before the first entry whose ordinal may be `ordinal`. */
static int cursor_to(struct store_reader *r, uint64_t ordinal, struct cursor *c,
                     struct swt_diag *reterr)
{
    size_t i = 0;
    int rc = rseg_by_number(r, number_frame, ordinal, &i, reterr);
    if (rc == 0)
        rc = cursor_enter(r, c, i);
    if (rc < 0 || c->i == r->n)
        return rc;
    uint64_t lo = 0, hi = c->n;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2, k = mid;
        struct entry e;
        while (k < hi && (rc = rseg_entry(r, c->seg, k, &e)) == 0)
            k++;
        if (rc < 0)
            return rc;
        if (k < hi && ordinal_of(c, &e) < ordinal)
            lo = k + 1;
        else
            hi = mid;
    }
    c->k = lo;
    return 0;
}

/* ---- order of display ------------------------------------------------------------------------------ */

static int compare_pics(const void *a, const void *b)
{
    const struct rpic *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

/* Too many to keep apart: the last one takes in what lies between, and says less of it, but nothing wrong. */
static void note_hole(struct store_reader *r, uint64_t from, uint64_t to)
{
    struct rhole *last = &r->holes[READER_HOLES - 1];
    if (r->n_holes == READER_HOLES) {
        last->to = to;
        last->n += to - from;
    } else {
        r->holes[r->n_holes++] = (struct rhole){from, to, to - from};
    }
}

/* Collect the pictures with ordinals from .. to - 1. */
static int collect(struct store_reader *r, uint64_t from, uint64_t to, struct swt_diag *reterr)
{
    struct cursor c;
    struct entry e;
    uint64_t no = 0, expected = from;
    r->n_pics = r->n_holes = 0;
    int rc = cursor_to(r, from, &c, reterr);
    while (rc == 0 && (rc = cursor_next(r, &c, &e, &no)) == 1) {
        uint64_t ordinal = ordinal_of(&c, &e);
        rc = 0;
        if (ordinal > expected)
            note_hole(r, expected, ordinal < to ? ordinal : to);
        if (ordinal >= to)
            return rc;
        if (ordinal < expected)
            continue; /* before `from`, or an index that contradicts itself */
        expected = ordinal;
        if (e.flags & SEG_FLAG_NOPIC)
            continue;
        r->pics[r->n_pics++] = (struct rpic){e.time_ns, ordinal, no};
        expected++;
    }
    if (rc == 0 && c.lost > 0) /* the last ones: any of them may show a picture */
        note_hole(r, expected, expected + c.lost);
    return rc;
}

static int rank_block(struct store_reader *r, uint64_t frame, struct swt_diag *reterr)
{
    if (frame >= r->pics_first && frame < r->pics_end)
        return 0;
    struct rseg *first = NULL;
    uint64_t begin = frame - frame % READER_RANKS, oldest = 0;
    r->pics_end = r->pics_first = 0;
    if (!r->pics)
        r->pics = malloc(PICS_CAP * sizeof *r->pics);
    if (!r->pics)
        return err_errno(reterr, ENOMEM, r->path, "order frames");
    if (r->bases[0] > 0) {
        int rc = rseg_get(r, 0, &first, reterr);
        if (rc < 0)
            return rc;
        oldest = first->super.base_frame;
    }
    r->pics_from = begin > REACH + oldest ? begin - REACH : oldest;
    int rc = collect(r, r->pics_from, begin + READER_RANKS + REACH, reterr);
    if (rc < 0)
        return rc;
    if (r->n_pics > 0)
        qsort(r->pics, r->n_pics, sizeof *r->pics, compare_pics);
    r->pics_first = begin;
    r->pics_end = begin + READER_RANKS < r->end_frame ? begin + READER_RANKS : r->end_frame;
    return 0;
}

/* Missing pictures that certainly come before frame n; false if one may be either before or after it. */
static bool holes_before(const struct store_reader *r, uint64_t n, uint64_t *ret_before)
{
    uint64_t sure = n > STORE_REORDER ? n - STORE_REORDER : 0; /* smaller ordinals come before */
    *ret_before = 0;
    for (size_t i = 0; i < r->n_holes; i++) {
        const struct rhole *h = &r->holes[i];
        if (h->from <= n + STORE_REORDER && h->to > sure)
            return false;
        if (h->to <= sure)
            *ret_before += h->n;
    }
    return true;
}

/* No picture is known as this frame: say why, or find that the directory has changed. */
static int lost_rank(struct store_reader *r, uint64_t frame, struct swt_diag *reterr)
{
    struct cursor c;
    uint64_t at = frame;
    for (size_t h = 0; h < r->n_holes; h++) { /* name what is missing nearest to it */
        if (r->holes[h].from <= frame + STORE_REORDER)
            at = r->holes[h].from;
    }
    int rc = cursor_to(r, at, &c, reterr);
    if (rc == 0)
        rc = c.i < r->n ? rseg_lost_entry(r, c.i, c.k, (int64_t)frame, reterr) : -ESTALE;
    if (rc == -ESTALE)
        r->pics_end = r->pics_first = 0;
    return rc;
}

/* NULL: none is known, its entry or one beside it is damaged. */
static int pic_of_frame(struct store_reader *r, uint64_t frame, const struct rpic **ret_pic,
                        struct swt_diag *reterr)
{
    uint64_t before = 0;
    int rc = rank_block(r, frame, reterr);
    if (rc < 0)
        return rc;
    bool is_known = holes_before(r, frame, &before) && frame >= r->pics_from + before &&
                    frame - r->pics_from - before < r->n_pics;
    *ret_pic = is_known ? &r->pics[frame - r->pics_from - before] : NULL;
    return 0;
}

int packet_of_frame_once(struct store_reader *r, uint64_t frame, uint64_t *ret_entry_no,
                         struct swt_diag *reterr)
{
    const struct rpic *pic = NULL;
    int rc = reader_has(r, frame, 1, reterr);
    if (rc == 0 && r->n == 0)
        rc = -ESTALE;
    if (rc == 0)
        rc = pic_of_frame(r, frame, &pic, reterr);
    if (rc < 0)
        return rc;
    if (!pic)
        return lost_rank(r, frame, reterr);
    *ret_entry_no = pic->entry_no;
    return 0;
}

/* Earlier segments are gone: the first frame is the first key picture kept, whose number is its place among
 * the kept pictures, since everything before its segment was shown before it. */
int packet_first_frame_once(struct store_reader *r, uint64_t *ret_frame, struct swt_diag *reterr)
{
    struct cursor c;
    struct entry e, key = {0};
    uint64_t no = 0, ordinal = 0, before = 0;
    *ret_frame = 0;
    if (r->bases[0] == 0)
        return 0;
    int rc = cursor_enter(r, &c, 0);
    if (rc < 0 || c.i == r->n)
        return rc;
    uint64_t begin = c.seg->super.base_frame;
    while ((rc = cursor_next(r, &c, &e, &no)) == 1) {
        if (e.flags & SEG_FLAG_KEY && !(e.flags & SEG_FLAG_NOPIC)) {
            ordinal = ordinal_of(&c, &e);
            key = e;
            break;
        }
    }
    if (rc == 1) /* else nothing kept can be decoded */
        rc = cursor_to(r, begin, &c, reterr);
    else if (rc == 0)
        before = r->end_frame > begin ? r->end_frame - begin : 0;
    while (key.flags && rc == 0 && (rc = cursor_next(r, &c, &e, &no)) == 1) {
        if (ordinal_of(&c, &e) > ordinal + REACH)
            break;
        if (!(e.flags & SEG_FLAG_NOPIC) && e.time_ns < key.time_ns)
            before++;
        rc = 0;
    }
    *ret_frame = begin + before;
    return rc < 0 ? rc : 0;
}

/* ---- entries --------------------------------------------------------------------------------------- */

int packet_entry_once(struct store_reader *r, uint64_t entry_no, struct entry *ret_entry,
                      size_t *ret_i, struct swt_diag *reterr)
{
    struct rseg *seg = NULL;
    if (entry_no < r->first_entry || entry_no >= r->end_entry) {
        int rc = err_at(reterr, SWT_E_NO_WINDOW, r->path, -1,
                        "packet %" PRIu64 " is not there: the stream has %" PRIu64 " to %" PRIu64,
                        entry_no, r->first_entry, r->end_entry);
        err_stream(reterr, r->meta.name);
        return rc;
    }
    if (r->n == 0 || r->bases[0] > entry_no)
        return -ESTALE;
    size_t i = rseg_by_base(r, entry_no);
    int rc = rseg_get(r, i, &seg, reterr);
    if (rc < 0)
        return rc;
    rc = rseg_entry(r, seg, entry_no - seg->super.base_entry, ret_entry);
    if (rc == 0)
        return rseg_lost_entry(r, i, entry_no - seg->super.base_entry, -1, reterr);
    *ret_i = i;
    return rc < 0 ? rc : 0;
}

/* Side data: records, then their total size as the last four bytes. False: it contradicts itself. */
static bool split_side(struct store_packet *p)
{
    le32 total;
    size_t n = p->entry.len;
    if (n < sizeof total)
        return false;
    memcpy(&total, p->data + n - sizeof total, sizeof total);
    p->n_side = le32_get(total);
    if (p->n_side > n - sizeof total)
        return false;
    p->n_data = n - sizeof total - p->n_side;
    p->side = p->data + p->n_data;
    size_t at = 0;
    while (at < p->n_side) {
        struct seg_side head;
        if (p->n_side - at < sizeof head)
            return false;
        memcpy(&head, p->side + at, sizeof head);
        at += sizeof head;
        if (le32_get(head.n_bytes) > p->n_side - at)
            return false;
        at += le32_get(head.n_bytes);
    }
    return true;
}

static int packet_once(struct store_reader *r, uint64_t entry_no, bool check,
                       struct store_packet *ret, struct swt_diag *reterr)
{
    struct store_packet p = {.entry_no = entry_no};
    const uint8_t *payload = NULL;
    uint64_t off = 0, n = 0;
    size_t i = 0;
    int rc = packet_entry_once(r, entry_no, &p.entry, &i, reterr);
    if (rc < 0)
        return rc;
    struct rseg *seg = r->segs[i];
    segfile_payload(&seg->super, &p.entry, &off, &n);
    rc = rseg_reaches(r, seg, off + n, reterr);
    if (rc == 0)
        return rseg_corrupt(r, seg->base, (int64_t)seg->file_bytes, -1, reterr,
                            "segment is cut off within packet %" PRIu64, entry_no);
    if (rc > 0)
        rc = map_packets_once(r, seg, &payload, reterr);
    if (rc < 0)
        return rc;
    p.data = payload + p.entry.pos;
    p.n_data = p.entry.len;
    if (check && crc32c(0, p.data, p.entry.len) != p.entry.crc_payload)
        return rseg_corrupt(r, seg->base, (int64_t)off, -1, reterr,
                            "packet %" PRIu64 " is damaged: wrong checksum", entry_no);
    if (p.entry.flags & SEG_FLAG_SIDE && !split_side(&p))
        return rseg_corrupt(r, seg->base, (int64_t)off, -1, reterr,
                            "side data of packet %" PRIu64 " is damaged", entry_no);
    *ret = p;
    return 0;
}

int store_reader_packet(struct store_reader *r, uint64_t entry_no, bool check,
                        struct store_packet *ret, struct swt_diag *reterr)
{
    if (r->meta.kind != SEG_KIND_PACKETS)
        return err_at(reterr, SWT_E_UNSUPPORTED, r->path, -1, "a tensor stream has no packets");
    for (int tries = 0;; tries++) {
        int rc = packet_once(r, entry_no, check, ret, reterr);
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}

/* ---- where decoding begins ------------------------------------------------------------------------- */

static int key_once(struct store_reader *r, uint64_t frame, uint64_t *ret_entry_no,
                    struct swt_diag *reterr)
{
    uint64_t no = 0;
    size_t i = 0;
    struct entry e;
    int rc = packet_of_frame_once(r, frame, &no, reterr);
    if (rc == 0)
        rc = packet_entry_once(r, no, &e, &i, reterr);
    if (rc < 0)
        return rc;
    int64_t time_ns = e.time_ns;
    uint64_t least = r->segs[i]->super.run_base_entry;
    least = least > r->first_entry ? least : r->first_entry;
    while (no > least) {
        struct rseg *seg = NULL;
        i = rseg_by_base(r, no);
        rc = rseg_get(r, i, &seg, reterr);
        if (rc == 0)
            rc = rseg_entry(r, seg, no - seg->super.base_entry, &e);
        if (rc < 0)
            return rc;
        if (rc == 1 && e.flags & (SEG_FLAG_KEY | SEG_FLAG_FRESH) && e.time_ns <= time_ns)
            break;
        no--;
    }
    *ret_entry_no = no;
    return 0;
}

int store_reader_key(struct store_reader *r, uint64_t frame, uint64_t *ret_entry_no,
                     struct swt_diag *reterr)
{
    for (int tries = 0;; tries++) {
        int rc = key_once(r, frame, ret_entry_no, reterr);
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}

/* ---- what a packet shows --------------------------------------------------------------------------- */

static int shows_nothing(const struct store_reader *r, uint64_t entry_no, const char *why,
                         struct swt_diag *reterr)
{
    int rc = err_at(reterr, SWT_E_NO_WINDOW, r->path, -1, "packet %" PRIu64 " %s", entry_no, why);
    err_stream(reterr, r->meta.name);
    return rc;
}

/* Is `frame` the picture with this ordinal? 1, 0, -errno. */
static int is_pic(struct store_reader *r, uint64_t frame, uint64_t ordinal)
{
    const struct rpic *pic = NULL;
    if (frame < r->first_frame || frame >= r->end_frame)
        return 0;
    int rc = pic_of_frame(r, frame, &pic, NULL);
    return rc < 0 ? rc : pic && pic->ordinal == ordinal;
}

static int shown_once(struct store_reader *r, uint64_t entry_no, uint64_t *ret_frame,
                      struct swt_diag *reterr)
{
    struct entry e;
    size_t i = 0;
    int rc = packet_entry_once(r, entry_no, &e, &i, reterr);
    if (rc < 0)
        return rc;
    if (e.flags & SEG_FLAG_NOPIC)
        return shows_nothing(r, entry_no, "shows no picture", reterr);
    uint64_t ordinal = r->segs[i]->super.base_frame + e.pics_before;
    for (uint64_t d = 0; d <= STORE_REORDER; d++) {
        rc = is_pic(r, ordinal + d, ordinal);
        if (rc == 1)
            *ret_frame = ordinal + d;
        if (rc == 0 && d > 0 && d <= ordinal) {
            rc = is_pic(r, ordinal - d, ordinal);
            if (rc == 1)
                *ret_frame = ordinal - d;
        }
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
    return shows_nothing(r, entry_no, "shows a picture that is not visible yet, or not kept",
                         reterr);
}

int store_reader_shown(struct store_reader *r, uint64_t entry_no, uint64_t *ret_frame,
                       struct swt_diag *reterr)
{
    for (int tries = 0;; tries++) {
        int rc = shown_once(r, entry_no, ret_frame, reterr);
        if (!reader_again(r, &rc, tries, reterr))
            return rc;
    }
}
