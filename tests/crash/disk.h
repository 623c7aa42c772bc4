/* SPDX-License-Identifier: MIT
 *
 * disk.h - a small file tree in memory, the trace of what was done to it, and what a power cut may leave of
 * it. Pure: it makes no system call and knows nothing of the store. vfs.c puts it behind the libc calls.
 *
 * The model. What was synced is on the disk. Of the rest, a file's 512-byte sectors are each on the disk or
 * not, whatever the order they were written in, in any state they have had in the page cache; where a cut falls
 * into the writing of one, its new bytes may be torn or garbage (bytes next to those being written are not
 * harmed: power-safe overwrite). A file's length is any it has had since its last sync. Creations, renames and
 * removals are each done or not, unless their directory was synced since.
 */
#ifndef CRASH_DISK_H
#define CRASH_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_BYTES   4096u
#define SECTOR_BYTES 512u
#define NAME_BYTES   128u
#define ROOT         0 /* node of the root directory */
#define GHOSTS       6u

/* ---- random numbers ------------------------------------------------------------------------------ */

struct rnd {
    uint64_t state;
};
uint64_t rnd_u64(struct rnd *r);
uint64_t rnd_below(struct rnd *r, uint64_t n); /* 0 .. n - 1; n >= 1 */
bool rnd_percent(struct rnd *r, unsigned percent);
/* One seed from two. */
uint64_t rnd_mix(uint64_t a, uint64_t b);

/* ---- files --------------------------------------------------------------------------------------- */

struct page {
    uint32_t refs;
    uint8_t bytes[PAGE_BYTES];
};

/* Content of a file: sparse, pages shared until they are written. */
struct content {
    struct page **pages; /* NULL: zeros */
    size_t n;
    uint64_t size;
};
void page_drop(struct page **p);
void content_share(struct content *to, const struct content *from);
void content_done(struct content *c);
void content_read(const struct content *c, uint64_t off, void *buf, size_t n);
void content_write(struct content *c, uint64_t off, const void *data, size_t n);
void content_resize(struct content *c, uint64_t size);

struct link_name {
    char text[NAME_BYTES];
    uint64_t hash; /* of text */
    int node;
};

enum node_kind { NODE_NONE, NODE_FILE, NODE_DIR };
#define NEW_VOLATILE 16u

struct node {
    enum node_kind kind;
    bool is_volatile; /* a directory of tmpfs: empty after a cut */
    struct content data;
    struct link_name *names;
    size_t n_names;
    int parent;        /* of directories */
    void *shared;      /* page of a volatile file that is mapped shared; borrowed */
    int64_t change_ns; /* of a directory */
};

struct disk {
    struct node *nodes;
    size_t n;
    struct content ghosts[GHOSTS]; /* what deleted or lost files held: stale bytes */
    size_t n_ghosts;
};
void disk_begin(struct disk *d); /* an empty root */
void disk_copy(struct disk *to, const struct disk *from);
void disk_done(struct disk *d);
int disk_find(const struct disk *d, int dir, const char *name); /* node, or -1 */

/* Segments, or what is left of them, become ghosts of another disk: at most `most`. */
void disk_ghosts(const struct disk *from, size_t most, struct disk *to);

/* ---- trace --------------------------------------------------------------------------------------- */

enum op_kind {
    OP_MARK,   /* nothing but its facts */
    OP_CREATE, /* node `other` of kind `off` (+ NEW_VOLATILE) as `text` in directory `node` */
    OP_RENAME, /* `text` to `text2` in directory `node` */
    OP_UNLINK, /* `text` in directory `node` */
    OP_WRITE,
    OP_SIZE, /* to `off` */
    OP_SYNC  /* begun here, done at op `end` */
};

/* What was promised when an operation began. */
struct facts {
    uint64_t durable, visible, committed; /* by the control page */
    uint64_t frames, entries;             /* handed to the store, whether stored or not */
    bool has_recording, has_stream;       /* calls that made them have returned */
};

struct op {
    enum op_kind kind;
    int node, other;
    uint64_t off, n;
    size_t at;  /* of its bytes or names in the trace's arena */
    size_t end; /* OP_SYNC: SIZE_MAX while it runs */
    struct facts facts;
};

struct trace {
    struct op *ops;
    size_t n, cap;
    uint8_t *arena;
    size_t n_arena, cap_arena;
};
struct op *trace_add(struct trace *t, enum op_kind kind, int node, const void *bytes, size_t n);
/* Forget all from op `n` on. */
void trace_cut(struct trace *t, size_t n);
void trace_copy(struct trace *to, const struct trace *from, size_t n);
void trace_done(struct trace *t);
/* The node of an OP_CREATE, not yet under any name. */
void disk_new_node(struct disk *d, const struct op *op);
/* Do an operation to a tree. */
void disk_apply(struct disk *d, const struct trace *t, const struct op *op);

/* ---- power cuts ---------------------------------------------------------------------------------- */

/* What becomes of what was not synced. */
enum cut_style {
    CUT_DROP, /* nothing of it is there */
    CUT_KEEP, /* all of it is there */
    CUT_SECTORS,
    CUT_PAGES,
    CUT_WRITES, /* each write whole or not */
    CUT_TORN,   /* bytes */
    CUT_GARBAGE,
    CUT_STALE,  /* what another file held there before */
    CUT_CHOICE, /* `choice` says: for the exhaustive search */
    N_CUT_STYLES
};
extern const char *const cut_style_names[N_CUT_STYLES];

/* The decisions of one cut in turn, each one of so many. choices_next makes them those of the next cut. */
#define CHOICES 64u
struct choices {
    uint8_t taken[CHOICES], of[CHOICES];
    size_t n;
    struct rnd *by_chance; /* decides instead; NULL: nothing */
};
bool choices_next(struct choices *c); /* false: there are no more */

struct cut {
    size_t at; /* ops before this one were done */
    uint64_t seed;
    enum cut_style style;
    /* CUT_CHOICE: for each directory operation, whether it is on the disk; for each file that has a name then,
     * which length; for each dirty page within it, which of its states since the last sync. */
    struct choices *choices;
};
/* The disk after the power comes back. */
void disk_cut(const struct disk *base, const struct trace *t, const struct cut *cut,
              struct disk *ret_disk);

#endif
