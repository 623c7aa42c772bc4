/* SPDX-License-Identifier: MIT
 *
 * writer_impl.h - inside of a stream's writer, for writer*.c and helper.c.
 *
 * Two threads: the caller's, which appends, and the helper's, which publishes groups that have waited long
 * enough, syncs, seals and keeps the clock. `lock` guards everything that changes; the caller's thread holds
 * it through an append, the helper never while it waits for the disk. `sync_lock` is held around syncs and
 * slots and is taken before `lock`, never after it.
 */
#ifndef STORE_WRITER_IMPL_H
#define STORE_WRITER_IMPL_H

#include <pthread.h>

#include "store/control.h"
#include "store/dir.h"
#include "store/reorder.h"
#include "store/segment_writer.h"

#define WRITER_BATCH        1024u             /* entries written at once: 64 KiB */
#define WRITER_SMOOTH_BYTES (8u << 20)        /* payload handed to write-back at once */
#define WRITER_GROUP_BYTES  4096u             /* smaller frames are grouped to so much … */
#define WRITER_GROUP_NS     INT64_C(10000000) /* … or for so long */

/* A stretch of one format. */
struct run {
    uint64_t no, base_frame, base_entry;
    void *block; /* params block; owned */
    size_t n_block;
    bool has_entries;
    struct entry_clock clock;
    uint64_t frame_bytes;  /* tensors */
    uint64_t second_bytes; /* payload of about one second; 0 unknown */
};

/* Small frames that wait for their entry; their payload is written already. */
struct group {
    struct entry e;     /* e.len frames so far; 0: none wait */
    int64_t started_ns; /* CLOCK_MONOTONIC */
};

/* Entries to be published together. */
struct batch {
    struct segscan scan; /* of the segment, these included */
    size_t n;
};

/* What the wall clock did against CLOCK_BOOTTIME. */
struct clock_watch {
    struct anchor seen;       /* last reading */
    int64_t anchored_boot_ns; /* of the last anchor written */
};

struct store_writer {
    char name[SWT_NAME_CAP];
    char *path; /* of the recording, for messages; owned */
    enum seg_kind kind;
    uint64_t segment_bytes;
    int64_t segment_ns, sync_ns;
    struct log_to log;
    uint8_t rec_uuid[16], stream_uuid[16], session_uuid[16], boot_id[16];
    int stream_fd, seg_fd, lock_fd;
    uint64_t session_no;
    struct seg_entry *batch; /* WRITER_BATCH of them; owned */

    pthread_mutex_t lock;
    struct control control;
    struct run run;  /* of what follows */
    struct run past; /* of the last entry, while `run` has none yet */
    bool has_past;
    struct segw *cur; /* NULL: none yet */
    struct segfile
        prev; /* the non-empty segment before `cur`: where seams come from; fd -1: none */
    struct segw *finished; /* wait for the helper to seal them, oldest first; owned */
    uint64_t next_segment_no;
    uint64_t frames, entries; /* committed, of the whole stream */
    uint64_t visible;
    struct segfile_extent
        past_sums; /* of all segments before `cur`: data_bytes, gaps, disconts, dropped, damaged */
    int64_t first_ns, last_ns, end_ns; /* of the stream; INT64_MIN: none */
    uint64_t session_bytes;
    struct group group;
    struct reorder reorder;
    bool is_fresh;        /* the next entry begins a session or a run */
    bool has_told_growth; /* that the file system cannot reserve */
    bool must_rotate;     /* nothing more into `cur` */
    uint64_t durable_frames;
    int lost_error; /* the first one that lost durability; `durable` is frozen then. 0 none */

    pthread_mutex_t sync_lock;
    pthread_cond_t wake;
    pthread_t helper;
    bool has_helper, must_stop;
    int64_t wake_ns;                /* when the helper looks next; CLOCK_MONOTONIC */
    struct clock_watch clock_watch; /* the helper's */
};

/* writer.c; the caller holds `lock` */
void batch_begin(const struct store_writer *w, struct batch *ret_batch);
void batch_add(struct store_writer *w, struct batch *b, const struct entry *e);
int writer_publish(struct store_writer *w, struct iovec *pieces, int n_pieces, uint64_t n_bytes,
                   const struct batch *b, uint64_t visible);
int writer_begin_segment(struct store_writer *w, uint64_t want_bytes, struct swt_diag *reterr);
void writer_end_segment(struct store_writer *w);
/* Room in `cur` for entries and for `want` payload bytes, on a full disk for `least`. */
int writer_reserve(struct store_writer *w, uint64_t n_entries, uint64_t want, uint64_t least);
int writer_fail(const struct store_writer *w, int code, const char *what, struct swt_diag *reterr);
void writer_show_all(struct store_writer *w);
void run_done(struct run *run);

/* writer_tensor.c; the caller holds `lock` */
int writer_flush_group(struct store_writer *w);

/* helper.c */
int helper_start(struct store_writer *w);
void helper_stop(struct store_writer *w);
void helper_wake_by(struct store_writer *w, int64_t at_ns); /* `lock` is held */
/* Seal what is finished and sync the current segment; then `durable` says so. No lock is held. */
void writer_sync(struct store_writer *w);
/* Write the stream's first wall-clock anchor. */
void writer_first_anchor(struct store_writer *w);

#endif
