/* SPDX-License-Identifier: MIT
 *
 * cut.c - what a power cut leaves: the trace is played again up to the cut, on a page cache and on a disk
 * side by side, and what the disk does not have for certain is decided by chance, or by `choice`.
 */
#include <stdlib.h>
#include <string.h>

#include "disk.h"

#define SECTORS  (PAGE_BYTES / SECTOR_BYTES)
#define LENGTHS  16u
#define STATES   16u
#define BIG_FILE 65536u /* only segments are larger: what they held may come back as stale bytes */

const char *const cut_style_names[N_CUT_STYLES] = {
    [CUT_DROP] = "drop",       [CUT_KEEP] = "keep",     [CUT_SECTORS] = "sectors",
    [CUT_PAGES] = "pages",     [CUT_WRITES] = "writes", [CUT_TORN] = "torn",
    [CUT_GARBAGE] = "garbage", [CUT_STALE] = "stale",   [CUT_CHOICE] = "choice",
};

/* States that a page has had since its last sync; CUT_CHOICE only. */
struct page_states {
    struct page *of[STATES];
    size_t n;
};

/* A file while the trace is played. */
struct play_file {
    struct content cache; /* the disk's part is in the image */
    uint8_t *dirty;       /* a bit for each sector, a byte for each page */
    size_t n_dirty;
    struct page_states *states; /* by page, as long as `dirty`; NULL but for CUT_CHOICE */
    uint64_t lengths[LENGTHS];  /* it has had since its last sync; the first is certain */
    size_t n_lengths;
    unsigned keep_percent, harm_percent;
    const struct content
        *ghost; /* whose bytes come back in all its sectors; NULL: in each another's */
    bool is_touched;
};

struct play {
    const struct trace *trace;
    const struct cut *cut;
    struct disk *image;
    struct play_file *files; /* by node */
    size_t n_files;
    size_t *pending; /* directory operations that no sync has covered, in order */
    size_t n_pending;
    struct rnd rnd;
    unsigned early_percent,
        dir_percent; /* written back before the cut; directory operations kept */
    size_t n_taken;  /* of the cut's choices */
};

static void *must(void *p)
{
    if (p == NULL)
        abort();
    return p;
}

bool choices_next(struct choices *c)
{
    for (; c->n > 0; c->n--) {
        if (c->taken[c->n - 1] + 1 < c->of[c->n - 1]) {
            c->taken[c->n - 1]++;
            return true;
        }
    }
    return false;
}

/* The next choice, one of `n`. */
static size_t choose(struct play *p, size_t n)
{
    struct choices *c = p->cut->choices;
    size_t k = p->n_taken++;
    if (n == 1) {
        p->n_taken--;
        return 0;
    }
    if (c->by_chance != NULL)
        return (size_t)rnd_below(c->by_chance, n);
    if (k >= CHOICES)
        abort(); /* the exhaustive search is for short sessions */
    if (k == c->n)
        c->taken[c->n++] = 0;
    c->of[k] = (uint8_t)n;
    return c->taken[k];
}

static bool decide(struct play *p, unsigned percent)
{
    enum cut_style style = p->cut->style;
    if (style == CUT_DROP || style == CUT_KEEP)
        return style == CUT_KEEP;
    if (style == CUT_CHOICE)
        return choose(p, 2) != 0;
    return rnd_percent(&p->rnd, percent);
}

/* ---- playing ------------------------------------------------------------------------------------- */

static unsigned some_percent(struct rnd *r)
{
    static const unsigned of[] = {0, 0, 10, 50, 50, 90, 100, 100};
    return of[rnd_below(r, sizeof of / sizeof of[0])];
}

static struct play_file *file_of(struct play *p, int node)
{
    if ((size_t)node >= p->n_files) {
        size_t n = (size_t)node + 16;
        p->files = must(realloc(p->files, n * sizeof *p->files));
        memset(p->files + p->n_files, 0, (n - p->n_files) * sizeof *p->files);
        p->n_files = n;
    }
    struct play_file *f = &p->files[node];
    if (!f->is_touched) {
        f->is_touched = true;
        content_share(&f->cache, &p->image->nodes[node].data);
        f->lengths[f->n_lengths++] = f->cache.size;
        f->keep_percent = some_percent(&p->rnd);
        f->harm_percent = rnd_percent(&p->rnd, 50) ? 60 : 100;
    }
    return f;
}

static void note_length(struct play_file *f)
{
    if (f->lengths[f->n_lengths - 1] == f->cache.size)
        return;
    if (f->n_lengths == LENGTHS)
        f->n_lengths--; /* the one before the last is forgotten */
    f->lengths[f->n_lengths++] = f->cache.size;
}

/* A sector as the page cache has it now reaches the disk. */
static void sector_keep(struct play *p, int node, uint64_t sector)
{
    uint8_t bytes[SECTOR_BYTES];
    content_read(&p->files[node].cache, sector * SECTOR_BYTES, bytes, SECTOR_BYTES);
    content_write(&p->image->nodes[node].data, sector * SECTOR_BYTES, bytes, SECTOR_BYTES);
}

static void note_state(struct play_file *f, size_t i)
{
    struct page_states *s = &f->states[i];
    struct page *now = i < f->cache.n ? f->cache.pages[i] : NULL;
    if (s->n > 0 && now != NULL && s->of[s->n - 1] != NULL &&
        memcmp(now->bytes, s->of[s->n - 1]->bytes, PAGE_BYTES) == 0)
        return;
    if (s->n == STATES)
        abort();     /* the exhaustive search is for short sessions */
    if (now != NULL) /* NULL: cut off, zeros */
        now->refs++;
    s->of[s->n++] = now;
}

static void forget_states(struct play_file *f, size_t i)
{
    struct page_states *s = &f->states[i];
    for (; s->n > 0; s->n--)
        page_drop(&s->of[s->n - 1]);
}

/* Room for pages up to `need`. */
static void grow_dirty(struct play *p, struct play_file *f, size_t need)
{
    if (need <= f->n_dirty)
        return;
    f->dirty = must(realloc(f->dirty, need));
    memset(f->dirty + f->n_dirty, 0, need - f->n_dirty);
    if (p->cut->style == CUT_CHOICE) {
        f->states = must(realloc(f->states, need * sizeof *f->states));
        memset(f->states + f->n_dirty, 0, (need - f->n_dirty) * sizeof *f->states);
    }
    f->n_dirty = need;
}

static void mark_dirty(struct play *p, struct play_file *f, int node, uint64_t off, uint64_t n)
{
    if (n == 0)
        return;
    size_t first = (size_t)(off / PAGE_BYTES), last = (size_t)((off + n - 1) / PAGE_BYTES);
    grow_dirty(p, f, last + 1);
    for (size_t i = first; p->cut->style == CUT_CHOICE && i <= last; i++)
        note_state(f, i);
    bool is_early = p->early_percent > 0 && rnd_percent(&p->rnd, p->early_percent);
    for (uint64_t s = off / SECTOR_BYTES; s <= (off + n - 1) / SECTOR_BYTES; s++) {
        f->dirty[s / SECTORS] |= (uint8_t)(1u << s % SECTORS);
        if (is_early && (p->cut->style == CUT_WRITES || rnd_percent(&p->rnd, 50)))
            sector_keep(p, node, s);
    }
}

static void play_write(struct play *p, const struct op *op)
{
    struct play_file *f = file_of(p, op->node);
    content_write(&f->cache, op->off, p->trace->arena + op->at, op->n);
    mark_dirty(p, f, op->node, op->off, op->n);
    note_length(f);
}

/* What is cut off reads as zeros from then on, in the page cache. */
static void play_size(struct play *p, const struct op *op)
{
    struct play_file *f = file_of(p, op->node);
    uint64_t old = f->cache.size, end = f->cache.n * PAGE_BYTES;
    content_resize(&f->cache, op->off);
    if (op->off < old && op->off < end)
        mark_dirty(p, f, op->node, op->off, (end < old ? end : old) - op->off);
    note_length(f);
}

static void sync_file(struct play *p, int node)
{
    struct play_file *f = file_of(p, node);
    for (size_t i = 0; i < f->n_dirty; i++) {
        for (unsigned s = 0; f->dirty[i] != 0 && s < SECTORS; s++) {
            if (f->dirty[i] >> s & 1)
                sector_keep(p, node, i * SECTORS + s);
        }
        f->dirty[i] = 0;
        if (f->states != NULL)
            forget_states(f, i);
    }
    f->lengths[0] = f->cache.size;
    f->n_lengths = 1;
}

static void sync_dir(struct play *p, int node)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->n_pending; i++) {
        const struct op *op = &p->trace->ops[p->pending[i]];
        if (op->node == node)
            disk_apply(p->image, p->trace, op);
        else
            p->pending[kept++] = p->pending[i];
    }
    p->n_pending = kept;
}

/* What a sync covers is decided when it begins: writes during it may or may not be caught by it. */
static void play_sync(struct play *p, const struct op *op)
{
    if (op->end > p->cut->at)
        return;
    if (p->image->nodes[op->node].kind == NODE_DIR)
        sync_dir(p, op->node);
    else
        sync_file(p, op->node);
}

static void play_op(struct play *p, size_t i)
{
    const struct op *op = &p->trace->ops[i];
    switch (op->kind) {
    case OP_CREATE:
        disk_new_node(p->image, op); /* its name comes when the operation is kept */
        p->pending[p->n_pending++] = i;
        break;
    case OP_RENAME:
    case OP_UNLINK:
        p->pending[p->n_pending++] = i;
        break;
    case OP_WRITE:
        play_write(p, op);
        break;
    case OP_SIZE:
        play_size(p, op);
        break;
    case OP_SYNC:
        play_sync(p, op);
        break;
    case OP_MARK:
        break;
    }
}

/* ---- the cut ------------------------------------------------------------------------------------- */

/* Bytes from the first to the last that differ. */
static bool changed_span(const uint8_t *a, const uint8_t *b, size_t *ret_from, size_t *ret_to)
{
    size_t from = 0, to = SECTOR_BYTES;
    while (from < to && a[from] == b[from])
        from++;
    while (to > from && a[to - 1] == b[to - 1])
        to--;
    *ret_from = from;
    *ret_to = to;
    return from < to;
}

static const struct content *some_ghost(struct play *p, uint64_t sector)
{
    uint64_t i = sector / SECTORS;
    for (size_t k = 0, at = p->image->n_ghosts > 0 ? rnd_below(&p->rnd, p->image->n_ghosts) : 0;
         k < p->image->n_ghosts; k++, at = (at + 1) % p->image->n_ghosts) {
        const struct content *g = &p->image->ghosts[at];
        if (i < g->n && g->pages[i] != NULL)
            return g;
    }
    return NULL;
}

static unsigned bits_apart(const uint8_t *a, const uint8_t *b, size_t from, size_t to)
{
    unsigned n = 0;
    for (size_t i = from; i < to; i++)
        n += (unsigned)__builtin_popcount(a[i] ^ b[i]);
    return n;
}

/* A stretch of from .. to - 1: from its beginning, to its end, or in the middle. */
static void some_stretch(struct rnd *r, size_t *from, size_t *to)
{
    size_t a = *from + (size_t)rnd_below(r, *to - *from), b = a + 1 + (size_t)rnd_below(r, *to - a);
    unsigned kind = (unsigned)rnd_below(r, 3);
    *from = kind == 0 ? *from : a;
    *to = kind == 1 ? *to : b;
}

/* What a stretch of a sector holds that was not written: zeros or what was there, chance, another file's. */
static void harm_stretch(struct play *p, int node, uint64_t sector, const uint8_t *old,
                         uint8_t *bytes, size_t from, size_t to)
{
    const struct play_file *f = &p->files[node];
    const struct content *ghost = NULL;
    uint8_t other[SECTOR_BYTES];
    if (p->cut->style == CUT_STALE)
        ghost = f->ghost != NULL ? f->ghost : some_ghost(p, sector);
    if (ghost != NULL) {
        content_read(ghost, sector * SECTOR_BYTES, other, SECTOR_BYTES);
        memcpy(bytes + from, other + from, to - from);
    } else if (p->cut->style == CUT_GARBAGE) {
        for (size_t i = from; i < to; i++)
            bytes[i] = (uint8_t)rnd_u64(&p->rnd);
    } else {
        memcpy(bytes + from, old + from, to - from);
    }
}

/* The new bytes of a sector, harmed. What is one bit from the old or the new ones cannot be told from a disk that
 * lets bits fall over, and verify says so: that is not for here. */
static void sector_harm(struct play *p, int node, uint64_t sector)
{
    uint8_t old[SECTOR_BYTES], new[SECTOR_BYTES], bytes[SECTOR_BYTES];
    size_t from, to;
    content_read(&p->image->nodes[node].data, sector * SECTOR_BYTES, old, SECTOR_BYTES);
    content_read(&p->files[node].cache, sector * SECTOR_BYTES, new, SECTOR_BYTES);
    if (!changed_span(old, new, &from, &to))
        return;
    size_t a = from, b = to;
    if (p->cut->style == CUT_TORN || rnd_percent(&p->rnd, 50))
        some_stretch(&p->rnd, &a, &b);
    memcpy(bytes, new, SECTOR_BYTES);
    harm_stretch(p, node, sector, old, bytes, a, b);
    if (bits_apart(bytes, old, from, to) == 1 || bits_apart(bytes, new, from, to) == 1)
        return;
    content_write(&p->image->nodes[node].data, sector * SECTOR_BYTES, bytes, SECTOR_BYTES);
}

static bool is_harming(enum cut_style style)
{
    return style == CUT_TORN || style == CUT_GARBAGE || style == CUT_STALE;
}

/* One of the states of a page, or what the disk has. */
static void choose_page(struct play *p, int node, size_t i)
{
    const struct page_states *s = &p->files[node].states[i];
    static const struct page zeros;
    size_t k = choose(p, s->n + 1);
    if (k == 0)
        return;
    const struct page *page = s->of[k - 1] != NULL ? s->of[k - 1] : &zeros;
    content_write(&p->image->nodes[node].data, i * PAGE_BYTES, page->bytes, PAGE_BYTES);
}

static void decide_page(struct play *p, int node, size_t i)
{
    struct play_file *f = &p->files[node];
    bool is_whole = p->cut->style == CUT_PAGES;
    bool keep_page = is_whole && decide(p, f->keep_percent);
    for (unsigned s = 0; s < SECTORS; s++) {
        if ((f->dirty[i] >> s & 1) == 0)
            continue;
        bool keep = is_whole ? keep_page : decide(p, f->keep_percent);
        if (keep)
            sector_keep(p, node, i * SECTORS + s);
        else if (is_harming(p->cut->style) && rnd_percent(&p->rnd, f->harm_percent))
            sector_harm(p, node, i * SECTORS + s);
    }
}

static void decide_length(struct play *p, int node)
{
    struct play_file *f = &p->files[node];
    uint64_t size = f->lengths[0];
    if (f->n_lengths > 1 && decide(p, 50)) {
        size = f->lengths[f->n_lengths - 1];
        if (is_harming(p->cut->style) && rnd_percent(&p->rnd, 30))
            size = f->lengths[rnd_below(&p->rnd, f->n_lengths)];
    }
    content_resize(&p->image->nodes[node].data, size);
}

static void ghost_add(struct disk *d, const struct content *c)
{
    if (d->n_ghosts == GHOSTS) {
        content_done(&d->ghosts[0]);
        memmove(&d->ghosts[0], &d->ghosts[1], (GHOSTS - 1) * sizeof d->ghosts[0]);
        d->n_ghosts--;
    }
    content_share(&d->ghosts[d->n_ghosts++], c);
}

void disk_ghosts(const struct disk *from, size_t most, struct disk *to)
{
    for (size_t i = 0; i < from->n_ghosts && most > 0; i++, most--)
        ghost_add(to, &from->ghosts[i]);
    for (size_t i = 0; i < from->n && most > 0; i++) {
        if (from->nodes[i].data.size > BIG_FILE) {
            ghost_add(to, &from->nodes[i].data);
            most--;
        }
    }
}

/* Which nodes can be reached by a name, and are still there when the power is back. */
static void mark_named(const struct disk *d, int node, bool *named)
{
    named[node] = true;
    for (size_t i = 0; i < d->nodes[node].n_names; i++)
        mark_named(d, d->nodes[node].names[i].node, named);
}

/* What of a file does not matter is not decided: no name leads to it, or the page lies behind its end. */
static void choose_files(struct play *p)
{
    bool *named = must(calloc(p->image->n, sizeof *named));
    mark_named(p->image, ROOT, named);
    for (size_t k = 0; k < p->n_files && k < p->image->n; k++) {
        struct play_file *f = &p->files[k];
        if (!f->is_touched || !named[k])
            continue;
        size_t at = choose(p, f->n_lengths);
        for (size_t i = 0; i < f->n_dirty && i * PAGE_BYTES < f->lengths[at]; i++) {
            if (f->dirty[i] != 0)
                choose_page(p, (int)k, i);
        }
        content_resize(&p->image->nodes[k].data, f->lengths[at]);
    }
    free(named);
}

static void decide_files(struct play *p)
{
    size_t n = p->n_files < p->image->n ? p->n_files : p->image->n;
    for (size_t k = 0; k < n; k++) {
        struct play_file *f = &p->files[k];
        if (!f->is_touched)
            continue;
        if (p->image->n_ghosts > 0 && rnd_percent(&p->rnd, 70))
            f->ghost = &p->image->ghosts[rnd_below(&p->rnd, p->image->n_ghosts)];
        for (size_t i = 0; i < f->n_dirty; i++) {
            if (f->dirty[i] != 0)
                decide_page(p, (int)k, i);
        }
        decide_length(p, (int)k);
    }
    for (size_t k = 0; k < n; k++) {
        if (p->files[k].is_touched && p->files[k].cache.size > BIG_FILE)
            ghost_add(p->image, &p->files[k].cache);
    }
}

static void decide_dirs(struct play *p)
{
    for (size_t i = 0; i < p->n_pending; i++) {
        const struct op *op = &p->trace->ops[p->pending[i]];
        if (!p->image->nodes[op->node].is_volatile && decide(p, p->dir_percent))
            disk_apply(p->image, p->trace, op);
    }
    for (size_t k = 0; k < p->image->n; k++) {
        if (p->image->nodes[k].is_volatile)
            p->image->nodes[k].n_names = 0;
        p->image->nodes[k].shared = NULL;
    }
}

void disk_cut(const struct disk *base, const struct trace *t, const struct cut *cut,
              struct disk *ret_disk)
{
    struct play p = {.trace = t, .cut = cut, .image = ret_disk, .rnd = {cut->seed}};
    disk_copy(ret_disk, base);
    p.pending = must(malloc((cut->at + 1) * sizeof *p.pending));
    if (cut->style != CUT_DROP && cut->style != CUT_KEEP && cut->style != CUT_CHOICE) {
        p.early_percent = some_percent(&p.rnd) / 2;
        p.dir_percent = some_percent(&p.rnd);
    }
    for (size_t i = 0; i < cut->at; i++)
        play_op(&p, i);
    if (cut->style != CUT_CHOICE)
        decide_files(&p);
    decide_dirs(&p);
    if (cut->style == CUT_CHOICE)
        choose_files(&p);
    for (size_t i = 0; i < p.n_files; i++) {
        for (size_t k = 0; p.files[i].states != NULL && k < p.files[i].n_dirty; k++)
            forget_states(&p.files[i], k);
        free(p.files[i].states);
        content_done(&p.files[i].cache);
        free(p.files[i].dirty);
    }
    free(p.files);
    free(p.pending);
}
