/* SPDX-License-Identifier: MIT
 *
 * disk.c - files in memory, sparse and shared; the trace of what was done to them. Power cuts are cut.c.
 */
#include "disk.h"

#include <stdlib.h>
#include <string.h>

/* ---- random numbers ------------------------------------------------------------------------------ */

uint64_t rnd_u64(struct rnd *r) /* splitmix64, Steele et al. 2014 */
{
    uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t rnd_below(struct rnd *r, uint64_t n)
{
    return rnd_u64(r) % n;
}

bool rnd_percent(struct rnd *r, unsigned percent)
{
    return rnd_below(r, 100) < percent;
}

uint64_t rnd_mix(uint64_t a, uint64_t b)
{
    struct rnd r = {a};
    r.state = rnd_u64(&r) ^ b;
    return rnd_u64(&r);
}

/* ---- memory -------------------------------------------------------------------------------------- */

static void *must(void *p)
{
    if (p == NULL)
        abort();
    return p;
}

/* Room for one more element behind `n`. */
static void *grow(void *array, size_t n, size_t *cap, size_t more, size_t each)
{
    if (n + more <= *cap)
        return array;
    while (n + more > *cap)
        *cap = *cap == 0 ? 64 : *cap * 2;
    return must(realloc(array, *cap * each));
}

/* ---- content ------------------------------------------------------------------------------------- */

void page_drop(struct page **p)
{
    if (*p != NULL && --(*p)->refs == 0)
        free(*p);
    *p = NULL;
}

static struct page *page_own(struct page **p)
{
    if (*p != NULL && (*p)->refs == 1)
        return *p;
    struct page *own = must(malloc(sizeof *own));
    if (*p != NULL)
        memcpy(own->bytes, (*p)->bytes, PAGE_BYTES);
    else
        memset(own->bytes, 0, PAGE_BYTES);
    own->refs = 1;
    page_drop(p);
    *p = own;
    return own;
}

void content_share(struct content *to, const struct content *from)
{
    *to = *from;
    to->pages = from->n > 0 ? must(malloc(from->n * sizeof(struct page *))) : NULL;
    for (size_t i = 0; i < from->n; i++) {
        to->pages[i] = from->pages[i];
        if (to->pages[i] != NULL)
            to->pages[i]->refs++;
    }
}

void content_done(struct content *c)
{
    for (size_t i = 0; i < c->n; i++)
        page_drop(&c->pages[i]);
    free(c->pages);
    *c = (struct content){0};
}

void content_read(const struct content *c, uint64_t off, void *buf, size_t n)
{
    uint8_t *to = buf;
    while (n > 0) {
        size_t i = (size_t)(off / PAGE_BYTES), in = (size_t)(off % PAGE_BYTES);
        size_t part = PAGE_BYTES - in < n ? PAGE_BYTES - in : n;
        if (i < c->n && c->pages[i] != NULL)
            memcpy(to, c->pages[i]->bytes + in, part);
        else
            memset(to, 0, part);
        to += part;
        off += part;
        n -= part;
    }
}

void content_write(struct content *c, uint64_t off, const void *data, size_t n)
{
    const uint8_t *from = data;
    size_t need = (size_t)((off + n + PAGE_BYTES - 1) / PAGE_BYTES);
    if (n > 0 && need > c->n) {
        c->pages = must(realloc(c->pages, need * sizeof(struct page *)));
        memset(c->pages + c->n, 0, (need - c->n) * sizeof(struct page *));
        c->n = need;
    }
    if (n > 0 && off + n > c->size)
        c->size = off + n;
    while (n > 0) {
        size_t in = (size_t)(off % PAGE_BYTES);
        size_t part = PAGE_BYTES - in < n ? PAGE_BYTES - in : n;
        memcpy(page_own(&c->pages[off / PAGE_BYTES])->bytes + in, from, part);
        from += part;
        off += part;
        n -= part;
    }
}

void content_resize(struct content *c, uint64_t size)
{
    size_t keep = (size_t)((size + PAGE_BYTES - 1) / PAGE_BYTES);
    for (size_t i = keep; i < c->n; i++)
        page_drop(&c->pages[i]);
    if (keep < c->n)
        c->n = keep;
    size_t in = (size_t)(size % PAGE_BYTES);
    if (in > 0 && keep <= c->n && size < c->size && c->pages[keep - 1] != NULL)
        memset(page_own(&c->pages[keep - 1])->bytes + in, 0, PAGE_BYTES - in);
    c->size = size;
}

/* ---- tree ---------------------------------------------------------------------------------------- */

void disk_new_node(struct disk *d, const struct op *op)
{
    size_t want = (size_t)op->other + 1;
    if (want > d->n) {
        d->nodes = must(realloc(d->nodes, want * sizeof *d->nodes));
        memset(d->nodes + d->n, 0, (want - d->n) * sizeof *d->nodes);
        d->n = want;
    }
    if (d->nodes[op->other].kind == NODE_NONE)
        d->nodes[op->other] = (struct node){.kind = (enum node_kind)(op->off % NEW_VOLATILE),
                                            .is_volatile = op->off >= NEW_VOLATILE,
                                            .parent = op->node};
}

void disk_begin(struct disk *d)
{
    *d = (struct disk){0};
    disk_new_node(d, &(struct op){.other = ROOT, .off = NODE_DIR});
}

void disk_copy(struct disk *to, const struct disk *from)
{
    *to = *from;
    to->nodes = must(malloc(from->n * sizeof *to->nodes));
    for (size_t i = 0; i < from->n; i++) {
        struct node *a = &to->nodes[i];
        const struct node *b = &from->nodes[i];
        *a = *b;
        content_share(&a->data, &b->data);
        a->names = must(malloc((b->n_names + 1) * sizeof *a->names));
        if (b->n_names > 0)
            memcpy(a->names, b->names, b->n_names * sizeof *a->names);
    }
    for (size_t i = 0; i < from->n_ghosts; i++)
        content_share(&to->ghosts[i], &from->ghosts[i]);
}

void disk_done(struct disk *d)
{
    for (size_t i = 0; i < d->n; i++) {
        content_done(&d->nodes[i].data);
        free(d->nodes[i].names);
    }
    for (size_t i = 0; i < d->n_ghosts; i++)
        content_done(&d->ghosts[i]);
    free(d->nodes);
    *d = (struct disk){0};
}

static uint64_t name_hash(const char *text) /* FNV-1a */
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != 0; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static struct link_name *name_of(const struct node *dir, const char *text)
{
    uint64_t hash = name_hash(text);
    for (size_t i = 0; i < dir->n_names; i++) {
        if (dir->names[i].hash == hash && strcmp(dir->names[i].text, text) == 0)
            return &dir->names[i];
    }
    return NULL;
}

int disk_find(const struct disk *d, int dir, const char *name)
{
    const struct link_name *l = name_of(&d->nodes[dir], name);
    return l == NULL ? -1 : l->node;
}

static void name_put(struct node *dir, const char *text, int node)
{
    struct link_name *l = name_of(dir, text);
    if (l == NULL) {
        dir->names = must(realloc(dir->names, (dir->n_names + 1) * sizeof *dir->names));
        l = &dir->names[dir->n_names++];
        *l = (struct link_name){.hash = name_hash(text)};
        memcpy(l->text, text, strlen(text) + 1);
    }
    l->node = node;
}

static void name_drop(struct node *dir, const char *text)
{
    struct link_name *l = name_of(dir, text);
    if (l != NULL)
        *l = dir->names[--dir->n_names];
}

/* ---- trace --------------------------------------------------------------------------------------- */

struct op *trace_add(struct trace *t, enum op_kind kind, int node, const void *bytes, size_t n)
{
    t->ops = grow(t->ops, t->n, &t->cap, 1, sizeof *t->ops);
    t->arena = grow(t->arena, t->n_arena, &t->cap_arena, n, 1);
    struct op *op = &t->ops[t->n++];
    *op = (struct op){.kind = kind, .node = node, .n = n, .at = t->n_arena, .end = SIZE_MAX};
    if (n > 0)
        memcpy(t->arena + t->n_arena, bytes, n);
    t->n_arena += n;
    return op;
}

void trace_cut(struct trace *t, size_t n)
{
    if (n < t->n)
        t->n_arena = t->ops[n].at;
    t->n = n;
    for (size_t i = 0; i < n; i++) {
        if (t->ops[i].end > n)
            t->ops[i].end = SIZE_MAX;
    }
}

void trace_copy(struct trace *to, const struct trace *from, size_t n)
{
    size_t n_arena = n < from->n ? from->ops[n].at : from->n_arena;
    *to = (struct trace){.n = n, .cap = n + 64, .n_arena = n_arena, .cap_arena = n_arena + 4096};
    to->ops = must(malloc(to->cap * sizeof *to->ops));
    to->arena = must(malloc(to->cap_arena));
    if (n > 0)
        memcpy(to->ops, from->ops, n * sizeof *to->ops);
    if (n_arena > 0)
        memcpy(to->arena, from->arena, n_arena);
    trace_cut(to, n);
}

void trace_done(struct trace *t)
{
    free(t->ops);
    free(t->arena);
    *t = (struct trace){0};
}

void disk_apply(struct disk *d, const struct trace *t, const struct op *op)
{
    const char *text = (const char *)t->arena + op->at;
    if (op->kind == OP_CREATE)
        disk_new_node(d, op);
    struct node *node = &d->nodes[op->node];
    switch (op->kind) {
    case OP_CREATE:
        name_put(node, text, op->other);
        break;
    case OP_RENAME:
        name_put(node, text + strlen(text) + 1, op->other);
        name_drop(node, text);
        break;
    case OP_UNLINK:
        name_drop(node, text);
        break;
    case OP_WRITE:
        content_write(&node->data, op->off, t->arena + op->at, op->n);
        break;
    case OP_SIZE:
        content_resize(&node->data, op->off);
        break;
    case OP_MARK:
    case OP_SYNC:
        break;
    }
}
