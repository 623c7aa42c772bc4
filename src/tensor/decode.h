/* SPDX-License-Identifier: MIT
 *
 * decode.h - the picture behind a frame number of a packet stream: starts at the key, feeds packets in
 * decode order, keeps the decoder between frames so that walking forward never decodes anything twice.
 */
#ifndef TENSOR_DECODE_H
#define TENSOR_DECODE_H

#include "media/media.h"
#include "store/store.h"

struct decode; /* one packet stream; one thread */

/* owner: the reader must outlive it. Nothing is opened before the first frame is asked for. */
int decode_new(struct store_reader *reader, const struct log_to *log, struct decode **ret_decode);
void decode_free(struct decode **decode);

/* Decode one frame. `ret_picture` is borrowed until the next call.
 * errors: SWT_E_CORRUPT with the frame's number when it cannot be decoded, SWT_E_NO_DECODER, SWT_E_NO_MEDIA */
int decode_frame(struct decode *d, const struct store_frame *frame, struct media_frame *ret_picture,
                 struct swt_diag *reterr);

#endif
