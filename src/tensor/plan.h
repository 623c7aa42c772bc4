/* SPDX-License-Identifier: MIT
 *
 * plan.h - which frames: turns a selection into pieces of frame numbers and padding. Reads the index only.
 */
#ifndef TENSOR_PLAN_H
#define TENSOR_PLAN_H

#include "store/store.h"

enum plan_kind {
    PLAN_FRAMES, /* first, first + stride, … : frames that are there */
    PLAN_ZERO,   /* padding or missing sound: zeros, mask 0 */
    PLAN_REPEAT  /* padding: frame `first` again and again, mask 0 */
};

struct plan_piece {
    enum plan_kind kind;
    int64_t first;
    int64_t n; /* frames given */
};

struct plan {
    struct plan_piece *pieces; /* owned */
    size_t n_pieces, cap;
    int64_t n_frames, n_valid; /* given in all; of those, real ones */
    int64_t stride;
};

/* Resolve `spec` on what the reader has seen. `rate`: frames a second, {0, 1} none; `is_sound`: chosen by time
 * it has exactly round(rate * duration) samples, missing ones as PLAN_ZERO. `plan` is zeroed at first; its memory is
 * used again, and what it held is gone also on failure.
 * errors: SWT_E_NO_WINDOW, SWT_E_GAP, SWT_E_USAGE, SWT_E_CORRUPT */
int plan_resolve(struct store_reader *reader, const struct store_reader_state *state,
                 const struct swt_window_spec *spec, struct swt_ratio rate, bool is_sound,
                 struct plan *plan, struct swt_diag *reterr);
/* Append `n` frames of a kind; joins the last piece where it goes on. 0 or -ENOMEM. */
int plan_add(struct plan *plan, enum plan_kind kind, int64_t first, int64_t n);
void plan_done(struct plan *plan);

/* Piece and position in it of frame `i` of the window; i < n_frames. */
const struct plan_piece *plan_at(const struct plan *plan, int64_t i, int64_t *ret_within);

/* Number of the frame behind `within` of a piece; -1 for zeros. */
static inline int64_t plan_frame(const struct plan *plan, const struct plan_piece *piece,
                                 int64_t within)
{
    return piece->kind == PLAN_ZERO     ? -1
           : piece->kind == PLAN_REPEAT ? piece->first
                                        : piece->first + within * plan->stride;
}

#endif
