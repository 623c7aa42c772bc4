/* SPDX-License-Identifier: MIT
 *
 * side.h - the side data records behind a stored packet's bytes, as a decoder wants them.
 */
#ifndef TENSOR_SIDE_H
#define TENSOR_SIDE_H

#include "media/media.h"
#include "store/store.h"

/* Borrowed from the stored packet. SWT_E_CORRUPT when a record reaches past the end. */
static inline int side_read(const struct store_packet *p, struct media_packet *out)
{
    size_t at = 0;
    while (p->n_side - at >= sizeof(struct seg_side) && out->n_side < MEDIA_MAX_SIDE) {
        struct seg_side head;
        memcpy(&head, p->side + at, sizeof head);
        at += sizeof head;
        uint32_t n = le32_get(head.n_bytes);
        if (n > p->n_side - at)
            return SWT_E_CORRUPT;
        out->side[out->n_side++] = (struct media_side){le32_get(head.kind), n, p->side + at};
        at += n;
    }
    return 0;
}

#endif
