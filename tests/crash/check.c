/* SPDX-License-Identifier: MIT
 *
 * check.c - reads a recording after a cut as programs read it, and compares each byte with what was written.
 */
#include "check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"

const char *const violation_names[N_VIOLATIONS] = {
    [V_NONE] = "none",       [V_OPEN] = "open",       [V_LOST] = "lost",
    [V_FOREIGN] = "foreign", [V_DAMAGED] = "damaged", [V_VERIFY] = "verify",
    [V_CHANGED] = "changed", [V_APPEND] = "append",   [V_CRASHED] = "crashed",
};

void verdict_set(struct verdict *v, enum violation violation, const char *fmt, ...)
{
    if (v->violation != V_NONE)
        return;
    va_list args;
    va_start(args, fmt);
    v->violation = violation;
    (void)vsnprintf(v->text, sizeof v->text, fmt, args);
    va_end(args);
}

static bool is_clean(const struct verdict *v)
{
    return v->violation == V_NONE;
}

/* ---- tensors ------------------------------------------------------------------------------------- */

static void check_frame(const struct history *h, struct store_reader *r, uint64_t no,
                        struct verdict *v)
{
    struct swt_diag why = {0};
    struct store_frame f;
    int rc = store_reader_frame(r, no, &f, &why);
    if (rc < 0)
        verdict_set(v, V_DAMAGED, "frame %" PRIu64 " of %" PRIu64 ": %s", no, v->frames, why.text);
    else if (f.time_ns != h->items[no].time_ns)
        verdict_set(v, V_FOREIGN, "frame %" PRIu64 ": time %" PRId64 ", not %" PRId64, no,
                    f.time_ns, h->items[no].time_ns);
}

/* Frames first .. end - 1 of one size, as one array. */
static void check_stretch(const struct history *h, struct store_reader *r, uint64_t first,
                          uint64_t end, struct verdict *v)
{
    struct swt_diag why = {0};
    const void *data = NULL;
    uint8_t expected[ITEM_BYTES];
    int rc = store_reader_check(r, first, end - first, &why);
    if (rc == 0)
        rc = store_reader_map(r, first, end - first, &data, &why);
    if (rc < 0) {
        verdict_set(v, V_DAMAGED, "map of frames %" PRIu64 " to %" PRIu64 ": %s", first, end,
                    why.text);
        return;
    }
    for (uint64_t no = first; no < end; no++) {
        const struct item *item = &h->items[no];
        const uint8_t *got = (const uint8_t *)data + (no - first) * item->bytes;
        item_bytes(item, no, expected);
        if (memcmp(got, expected, item->bytes) != 0) {
            verdict_set(v, V_FOREIGN, "frame %" PRIu64 " has other bytes than were written", no);
            return;
        }
    }
}

static void check_tensor(const struct history *h, struct store_reader *r, struct verdict *v)
{
    for (uint64_t no = 0; no < v->frames && is_clean(v); no++)
        check_frame(h, r, no, v);
    for (uint64_t first = 0, end; first < v->frames && is_clean(v); first = end) {
        end = first + 1;
        while (end < v->frames && h->items[end].bytes == h->items[first].bytes)
            end++;
        check_stretch(h, r, first, end, v);
    }
}

/* ---- packets ------------------------------------------------------------------------------------- */

struct shown {
    int64_t time_ns;
    uint64_t no; /* packet */
};

static int by_time(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->no > y->no) - (x->no < y->no);
}

static bool check_packet(const struct history *h, struct store_reader *r, uint64_t no,
                         struct verdict *v, struct store_packet *ret)
{
    struct swt_diag why = {0};
    const struct item *item = &h->items[no];
    uint8_t expected[ITEM_BYTES];
    int rc = store_reader_packet(r, no, true, ret, &why);
    if (rc < 0) {
        verdict_set(v, V_DAMAGED, "packet %" PRIu64 " of %" PRIu64 ": %s", no, v->entries,
                    why.text);
        return false;
    }
    item_bytes(item, no, expected);
    bool is_moved = (ret->entry.flags & SEG_FLAG_DISCONT) != 0;
    if (ret->n_data != item->bytes || memcmp(ret->data, expected, item->bytes) != 0 ||
        (ret->entry.time_ns != item->time_ns && !is_moved))
        verdict_set(v, V_FOREIGN, "packet %" PRIu64 " is not what was written", no);
    return is_clean(v);
}

static void check_packets(const struct history *h, struct store_reader *r, struct verdict *v)
{
    static struct shown shown[ITEMS];
    uint64_t n = 0;
    for (uint64_t no = 0; no < v->entries; no++) {
        struct store_packet p;
        if (!check_packet(h, r, no, v, &p))
            return;
        if (h->items[no].shows)
            shown[n++] = (struct shown){p.entry.time_ns, no};
    }
    if (n > 0)
        qsort(shown, n, sizeof shown[0], by_time);
    if (n != v->frames)
        verdict_set(v, V_CHANGED, "%" PRIu64 " packets show %" PRIu64 " pictures, not %" PRIu64,
                    v->entries, n, v->frames);
    for (uint64_t i = 0; i < n && is_clean(v); i++) {
        struct swt_diag why = {0};
        struct store_frame f;
        if (store_reader_frame(r, i, &f, &why) < 0)
            verdict_set(v, V_DAMAGED, "frame %" PRIu64 " of %" PRIu64 ": %s", i, n, why.text);
        else if (f.entry_no != shown[i].no)
            verdict_set(v, V_FOREIGN, "frame %" PRIu64 " is packet %" PRIu64 ", not %" PRIu64, i,
                        f.entry_no, shown[i].no);
    }
}

/* ---- all ----------------------------------------------------------------------------------------- */

static void note_damage(void *arg, const struct swt_diag *damage)
{
    verdict_set(arg, V_VERIFY, "verify: %s: %s", damage->path, damage->text);
}

static void check_verify(struct store_dir *dir, struct verdict *v)
{
    struct swt_verify_report report = {0};
    struct swt_diag why = {0};
    if (!is_clean(v))
        return;
    int rc = store_verify(dir, STREAM, note_damage, v, &report, &why);
    if (rc < 0)
        verdict_set(v, V_VERIFY, "verify: %s", why.text);
}

static void check_again(struct store_dir *dir, struct verdict *v)
{
    AUTO(store_reader_close) struct store_reader *r = NULL;
    struct store_reader_state state;
    struct swt_diag why = {0};
    if (store_reader_open(dir, STREAM, &r, &why) < 0 || store_reader_refresh(r, &state, &why) < 0)
        verdict_set(v, V_CHANGED, "opened a second time: %s", why.text);
    else if (state.end_frame != v->frames || state.end_entry != v->entries)
        verdict_set(v, V_CHANGED, "opened a second time it has %" PRIu64 " frames, not %" PRIu64,
                    state.end_frame, v->frames);
}

static void check_extent(const struct history *h, const struct facts *facts,
                         const struct floor *floor, struct verdict *v)
{
    bool is_packets = h->plan.flavour == PACKETS;
    if (v->frames < floor->frames)
        verdict_set(v, V_LOST, "%" PRIu64 " frames were promised, %" PRIu64 " are there",
                    floor->frames, v->frames);
    if (v->entries < floor->entries)
        verdict_set(v, V_LOST, "%" PRIu64 " entries were promised, %" PRIu64 " are there",
                    floor->entries, v->entries);
    if (v->frames > facts->frames || (is_packets && v->entries > facts->entries))
        verdict_set(v, V_FOREIGN, "%" PRIu64 " frames are there, only %" PRIu64 " were written",
                    v->frames, facts->frames);
}

static void check_stream(const struct history *h, struct store_dir *dir, const struct facts *facts,
                         const struct floor *floor, struct verdict *v)
{
    AUTO(store_reader_close) struct store_reader *r = NULL;
    struct store_reader_state state;
    struct swt_diag why = {0};
    int rc = store_reader_open(dir, STREAM, &r, &why);
    if (rc == SWT_E_NO_STREAM && !facts->has_stream)
        return;
    if (rc == 0)
        rc = store_reader_refresh(r, &state, &why);
    if (rc < 0) {
        verdict_set(v, V_OPEN, "the stream does not open: %s", why.text);
        return;
    }
    v->has_stream = true;
    v->frames = state.end_frame;
    v->entries = state.end_entry;
    check_extent(h, facts, floor, v);
    if (state.first_frame != 0 || state.is_live)
        verdict_set(v, V_CHANGED, "first frame %" PRIu64 ", live %d", state.first_frame,
                    state.is_live);
    if (is_clean(v) && h->plan.flavour == PACKETS)
        check_packets(h, r, v);
    else if (is_clean(v))
        check_tensor(h, r, v);
}

void check_all(const struct history *h, const struct facts *facts, const struct floor *floor,
               struct verdict *ret)
{
    AUTO(store_dir_close) struct store_dir *dir = NULL;
    struct swt_diag why = {0};
    *ret = (struct verdict){0};
    int rc = store_dir_open(RECORDING, &dir, &why);
    if (rc < 0) {
        if (facts->has_recording)
            verdict_set(ret, V_OPEN, "the recording does not open: %s", why.text);
        return;
    }
    check_stream(h, dir, facts, floor, ret);
    if (!ret->has_stream)
        return;
    check_verify(dir, ret);
    if (is_clean(ret))
        check_again(dir, ret);
}
