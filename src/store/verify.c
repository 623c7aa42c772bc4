/* SPDX-License-Identifier: MIT
 *
 * verify.c - a whole stream, segment after segment: which are there, which are missing, where each must end.
 * The bytes of a segment are verify_segment.c's. It repairs nothing and may run while the stream grows.
 */
#include "store/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"
#include "store/control.h"
#include "store/tail.h"

void verify_report(struct verify *v, uint64_t base, int64_t offset, int64_t frame, const char *fmt,
                   ...)
{
    char path[SEGFILE_PATH_CAP], text[512];
    struct swt_diag d = {0};
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof text, fmt, args) < 0)
        text[0] = 0;
    va_end(args);
    (void)err_at(&d, SWT_E_CORRUPT, segfile_path(v->seg_fd, base, path, sizeof path), offset, "%s",
                 text);
    err_stream(&d, v->name);
    err_frame(&d, frame);
    v->n_damages++;
    v->report->damages++;
    if (v->damage)
        v->damage(v->arg, &d);
}

/* ---- the list -------------------------------------------------------------------------------------- */

static void close_seg(struct verify_seg *s)
{
    segfile_close(&s->file);
}

/* Open the i-th segment. 1 opened, 0 not (said, or it has gone meanwhile), or an error. */
static int open_seg(struct verify *v, uint64_t base, struct verify_seg *ret, bool is_silent,
                    struct swt_diag *reterr)
{
    struct swt_diag why = {0};
    struct verify_seg s = {.file = {.fd = -1, .base = base}};
    int rc = segfile_open(v->seg_fd, base, v->meta.uuid, &s.file, &why);
    if (rc == 0 && s.file.super.kind != v->meta.kind) {
        segfile_close(&s.file);
        rc = err_set(&why, SWT_E_CORRUPT, "segment is of another kind than its stream");
    }
    *ret = s;
    if (rc == 0)
        return 1;
    if (rc == -ENOENT) /* retention has taken it since the list was read */
        return 0;
    if (rc != SWT_E_CORRUPT && rc != -EIO && rc != -ELOOP) {
        if (reterr)
            *reterr = why;
        err_stream(reterr, v->name);
        return rc;
    }
    if (!is_silent)
        verify_report(v, base, why.offset < 0 ? 0 : why.offset,
                      v->meta.kind == SEG_KIND_PACKETS ? -1 : (int64_t)base, "%s", why.text);
    return 0;
}

/* How many entries the newest segment promises. A page may have been read before the slot was written. */
static int newest_entries(struct verify *v, struct verify_seg *s, struct swt_diag *reterr)
{
    const struct super *super = &s->file.super;
    struct segfile_extent x;
    if (v->has_page) {
        uint64_t n = v->committed > super->base_entry ? v->committed - super->base_entry : 0;
        n = n > s->file.slot.entries ? n : s->file.slot.entries;
        s->n_entries = n < super->index_cap ? n : super->index_cap;
        return 0;
    }
    int rc = segfile_recover(&s->file, UINT64_MAX, 0, &x, reterr);
    s->n_entries = rc == 0 ? x.entries : 0;
    return rc;
}

/* The same where the next segment cannot be read: only its name says where this one ends. */
static int entries_before(struct verify *v, struct verify_seg *s, uint64_t next_base,
                          struct swt_diag *reterr)
{
    const struct super *super = &s->file.super;
    struct segfile_extent x;
    if (v->meta.kind == SEG_KIND_PACKETS) {
        uint64_t n = next_base - super->base_entry;
        s->n_entries = n < super->index_cap ? n : super->index_cap;
        return 0;
    }
    int rc = segfile_recover(&s->file, next_base - super->base_frame, 0, &x, reterr);
    s->n_entries = rc == 0 ? x.entries : 0;
    return rc;
}

static void report_missing(struct verify *v, const struct verify_seg *s, const struct super *next,
                           const struct segfile_extent *x)
{
    uint64_t from = s->file.super.base_frame + x->frames;
    uint64_t n = next->segment_no > s->file.super.segment_no + 1
                     ? next->segment_no - s->file.super.segment_no - 1
                     : 0;
    verify_report(v, s->file.base, -1, (int64_t)from,
                  "%" PRIu64 " segment(s) missing after it: entries %" PRIu64 " to %" PRIu64
                  ", %" PRIu64 " frames",
                  n, s->file.super.base_entry + x->entries, next->base_entry - 1,
                  next->base_frame > from ? next->base_frame - from : 0);
}

/* How many entries a segment with a successor promises: up to the successor's base. If there is a hole, up to
 * where reading finds its end. */
static int older_entries(struct verify *v, struct verify_seg *s, const struct super *next,
                         struct swt_diag *reterr)
{
    const struct super *super = &s->file.super;
    struct segfile_extent x;
    uint64_t n = next->base_entry > super->base_entry ? next->base_entry - super->base_entry : 0;
    s->n_entries = n;
    if (next->segment_no == super->segment_no + 1 && n <= super->index_cap)
        return 0;
    int rc = segfile_recover(&s->file, UINT64_MAX, 0, &x, reterr);
    if (rc < 0)
        return rc;
    if (x.entries >= n)
        return 0; /* numbers were skipped, but nothing is missing */
    s->n_entries = x.entries;
    report_missing(v, s, next, &x);
    return 0;
}

/* Does `s` begin where `prev` ends? Only said where a successor's base did not decide where that is. */
static void verify_joint(struct verify *v, const struct verify_seg *prev,
                         const struct verify_seg *s)
{
    const struct super *a = &prev->file.super, *b = &s->file.super;
    if (b->base_entry < a->base_entry || b->base_frame < a->base_frame || b->run_no < a->run_no)
        verify_report(v, s->file.base, 144, (int64_t)b->base_frame,
                      "it does not come after the segment before");
    else if (prev->is_end_known && b->base_frame != prev->end_frame &&
             a->base_entry + prev->n_entries == b->base_entry)
        verify_report(v, s->file.base, 144, (int64_t)b->base_frame,
                      "it begins with frame %" PRIu64 ", the segment before ends with %" PRIu64,
                      b->base_frame, prev->end_frame);
}

/* ---- the walk -------------------------------------------------------------------------------------- */

/* `s` is open; `prev` and `next` are, or have fd -1. `next_base`: by name, UINT64_MAX if it is the newest. */
static int one_segment(struct verify *v, const struct verify_seg *prev, struct verify_seg *s,
                       const struct verify_seg *next, uint64_t next_base, struct swt_diag *reterr)
{
    bool has_next = next->file.fd >= 0, has_prev = prev->file.fd >= 0;
    int rc;
    if (has_next)
        rc = older_entries(v, s, &next->file.super, reterr);
    else if (next_base == UINT64_MAX)
        rc = newest_entries(v, s, reterr);
    else
        rc = entries_before(v, s, next_base, reterr);
    if (rc == 0)
        rc = verify_segment(v, s, reterr);
    if (rc < 0)
        return rc;
    if (!has_prev)
        return 0;
    verify_joint(v, prev, s);
    if (prev->file.super.run_no != s->file.super.run_no || s->file.super.kind == SEG_KIND_PACKETS ||
        (prev->is_end_known && prev->end_frame != s->file.super.base_frame))
        return 0;
    return verify_seam(v, prev, s, reterr);
}

/* Of the newest segment that can be read: which session is being written. */
static int find_live_session(struct verify *v, const uint64_t *bases, size_t n,
                             struct swt_diag *reterr)
{
    for (; n > 0; n--) {
        AUTO(close_seg) struct verify_seg s = {.file = {.fd = -1}};
        int rc = open_seg(v, bases[n - 1], &s, true, reterr);
        if (rc == 1)
            v->live_session = s.file.super.session_no;
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
    return 0;
}

static int all_segments(struct verify *v, const uint64_t *bases, size_t n, struct swt_diag *reterr)
{
    AUTO(close_seg) struct verify_seg prev = {.file = {.fd = -1}};
    AUTO(close_seg) struct verify_seg now = {.file = {.fd = -1}};
    AUTO(close_seg) struct verify_seg next = {.file = {.fd = -1}};
    int rc = n > 0 ? open_seg(v, bases[0], &next, false, reterr) : 0;
    for (size_t i = 0; rc >= 0 && i < n; i++) {
        close_seg(&prev);
        prev = now;
        now = next;
        next = (struct verify_seg){.file = {.fd = -1}};
        v->report->segments++;
        rc = i + 1 < n ? open_seg(v, bases[i + 1], &next, false, reterr) : 0;
        if (rc >= 0 && now.file.fd >= 0)
            rc = one_segment(v, &prev, &now, &next, i + 1 < n ? bases[i + 1] : UINT64_MAX, reterr);
    }
    return rc < 0 ? rc : 0;
}

static void free_bases(uint64_t **bases)
{
    free(*bases);
    *bases = NULL;
}

/* How far the stream reaches is asked before the list is read, so that the list has all of it. */
static void look_live(struct verify *v, int stream_fd)
{
    struct control c = {0};
    int64_t pid = 0;
    v->is_live = control_lock_is_held(stream_fd, &pid);
    v->has_page = v->is_live && control_map(stream_fd, v->meta.uuid, &c) == 1;
    if (v->has_page)
        v->committed = atomic_load_explicit(&c.page->committed, memory_order_acquire);
    control_unmap(&c);
}

static int verify_stream(struct verify *v, int stream_fd, struct swt_diag *reterr)
{
    AUTO(free_bases) uint64_t *bases = NULL;
    size_t n = 0;
    look_live(v, stream_fd);
    int rc = segfile_list(v->seg_fd, &bases, &n);
    if (rc < 0)
        return err_errno(reterr, -rc, store_dir_path(v->dir), "list segments");
    if (!v->has_page) {
        AUTO(segfile_close) struct segfile f = {.fd = -1};
        struct segfile_extent x;
        size_t n_left = 0;
        if (tail_find(v->seg_fd, bases, n, v->meta.uuid, 0, &f, &x, &n_left, NULL) == 0)
            n = n_left;
    }
    rc = find_live_session(v, bases, n, reterr);
    return rc < 0 ? rc : all_segments(v, bases, n, reterr);
}

/* meta.json or the stream's folder: damage of the stream, not of the recording. */
static void report_stream(struct verify *v, struct swt_diag *why)
{
    err_stream(why, v->name);
    v->n_damages++;
    v->report->damages++;
    if (v->damage)
        v->damage(v->arg, why);
}

int store_verify(struct store_dir *dir, const char *name, swt_damage_fn *damage, void *arg,
                 struct swt_verify_report *report, struct swt_diag *reterr)
{
    AUTO(io_close) int stream_fd = -1;
    AUTO(io_close) int seg_fd = -1;
    struct swt_diag why = {0};
    struct verify v = {.name = name, .dir = dir, .damage = damage, .arg = arg, .report = report};
    int rc = dir_stream_open(dir, name, &stream_fd, &seg_fd, &v.meta, &why);
    if (rc == SWT_E_CORRUPT)
        report_stream(&v, &why);
    else if (rc < 0 && reterr)
        *reterr = why;
    if (rc < 0)
        return rc == SWT_E_CORRUPT ? SWT_E_LOST : rc;
    v.seg_fd = seg_fd;
    v.buf = malloc(VERIFY_BUF_BYTES);
    rc = v.buf ? verify_stream(&v, stream_fd, reterr)
               : err_errno(reterr, ENOMEM, store_dir_path(dir), "verify");
    free(v.buf);
    store_reader_close(&v.numbers);
    return rc < 0 ? rc : v.n_damages > 0 ? SWT_E_LOST : 0;
}
