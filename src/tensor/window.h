/* SPDX-License-Identifier: MIT
 *
 * window.h - a selection of one stream as one tensor: the plan, the shape, and filling the caller's buffer.
 */
#ifndef TENSOR_WINDOW_H
#define TENSOR_WINDOW_H

#include "tensor/plan.h"

struct window; /* one thread; the reader must outlive it */

/* Resolve and prepare; pictures of packet streams are decoded only when read. `name`: of the stream, for info.
 * errors: those of swt_window_open */
int window_open(struct store_reader *reader, const char *name, const struct swt_window_spec *spec,
                struct window **ret_window, struct swt_diag *reterr);
/* Resolve again; on failure the window is as before. Wait: 1 a newer frame is there, 0 not. */
int window_refresh(struct window *w, struct swt_diag *reterr);
int window_wait(struct window *w, int64_t timeout_ns, struct swt_diag *reterr);
void window_close(struct window **w);

const struct swt_window_info *window_info(const struct window *w);
const struct params *window_params(const struct window *w); /* of its first frame's run */
enum seg_kind window_kind(const struct window *w);
int window_frame(struct window *w, int64_t i, struct swt_frame_info *ret, struct swt_diag *reterr);

/* The tensor in place; SWT_E_UNSUPPORTED when it is not one stretch of stored bytes. */
int window_map(struct window *w, const void **ret_data, struct swt_diag *reterr);

/* Can it be read as a whole only? */
bool window_is_whole(const struct window *w);
/* Can its frames be given at all, or only what the index says of them? */
int window_can_read(const struct window *w, struct swt_diag *reterr);

/* Frames first .. first + n - 1 into `buf`, each checked before it is given. */
int window_read(struct window *w, int64_t first, int64_t n, void *buf, size_t cap,
                struct swt_diag *reterr);

/* Borrow as many frames from `first` on as lie in one stretch of stored bytes, at most `max_bytes` (one frame at
 * least), checked. 0 in `ret_n`: this window must be read. */
int window_peek(struct window *w, int64_t first, uint64_t max_bytes, const void **ret_data,
                int64_t *ret_n, struct swt_diag *reterr);

/* The index entry behind frame `i` of the window; SWT_E_NO_WINDOW for padding. */
int window_entry(struct window *w, int64_t i, struct store_frame *ret, struct swt_diag *reterr);

#endif
