/* SPDX-License-Identifier: MIT
 *
 * session.h - what is recorded under the power cuts, and the record of it that the store's answers are held
 * against. Frames and packets carry bytes that follow from their number and from who wrote them, so that a stale
 * one is known.
 */
#ifndef CRASH_SESSION_H
#define CRASH_SESSION_H

#include "sim.h"
#include "store/writer_impl.h"

#define RECORDING  "/sim/rec"
#define STREAM     "s"
#define ITEMS      1024u /* frames or packets of one history */
#define FRAME_NS   INT64_C(40000000)
#define ITEM_BYTES (16u << 10)

enum flavour { BIG_FRAMES, SMALL_FRAMES, PACKETS, N_FLAVOURS };
extern const char *const flavour_names[N_FLAVOURS];

/* How a history is recorded; the same for all its sessions. */
struct plan {
    enum flavour flavour;
    uint32_t frame_bytes[2]; /* two formats of tensors */
    uint64_t segment_bytes;
    int64_t sync_ns;
    unsigned steps; /* of a session */
    unsigned sync_percent, flush_percent, format_percent, nest_percent, close_percent, gap_percent;
};

/* One frame of a tensor, or one packet. */
struct item {
    uint32_t tag, bytes;
    int64_t time_ns; /* packets: as asked for */
    bool is_key, shows;
};

/* What was handed to the store, by number. */
struct history {
    struct plan plan;
    struct item items[ITEMS];
    uint64_t n;
    uint32_t tag; /* of the newest session */
    int format;
};

void plan_make(struct plan *p, struct rnd *rnd);
/* The bytes of item `no`. */
void item_bytes(const struct item *item, uint64_t no, uint8_t *ret_bytes);

/* One session on the machine as it is: open, record, and close or not. Frames in `history` behind what the store
 * recovered are forgotten first. `may_close`: the plan decides; else `must_close`. Returns 0, or the store's
 * error with `what` naming the call. The trace holds all of it, but not what happens after the session
 * has stopped without being closed. */
enum session_end { END_BY_PLAN, END_CLOSED };
int session_run(struct history *h, struct rnd *rnd, enum session_end end, uint64_t ret_resumed[2],
                const char **ret_what, struct swt_diag *reterr);
/* A session of these appends, with a sync after each if `syncs`; for the exhaustive search. */
int session_run_exact(struct history *h, const unsigned *appends, size_t n_appends, bool syncs,
                      const char **ret_what, struct swt_diag *reterr);

#endif
