/* SPDX-License-Identifier: MIT
 *
 * hold.h - packets held back until it is known which of them show a picture: at the start of a session (pictures
 * that lean on ones never received) and at its end (--frames, when pictures arrive out of order).
 */
#ifndef SESSION_HOLD_H
#define SESSION_HOLD_H

#include "media/media.h"
#include "store/store.h"

#define HOLD_MAX (4 * STORE_REORDER) /* packets held at most */

struct held {
    struct media_packet packet; /* data owned by the queue */
    struct store_item item;
};

struct hold {
    struct held *queue; /* owned, HOLD_MAX of them */
    int n;
    bool has_key;    /* the first key of the session has come */
    bool is_passing; /* the start is over */
    int64_t key_ns;  /* time of that key */
    /* --frames */
    int64_t limit;   /* pictures wanted, 0 = all */
    int64_t passed;  /* pictures passed on */
    bool is_full;    /* all wanted pictures are known: nothing more is needed */
    int64_t last_ns; /* time of the last wanted picture, when is_full */
};

int hold_init(struct hold *h, int64_t limit);
void hold_done(struct hold *h);

/* Is this packet to be held (copied) rather than passed on? */
bool hold_wants(const struct hold *h);
int hold_push(struct hold *h, const struct store_item *item, const struct media_packet *packet);

/* After a push, or at the end of the input: may the queue go on? Marks NOPIC what shows no picture. `params`: for
 * the decoder that is asked about leading pictures. `dts_ns`: newest decode time, INT64_MAX at the end. */
bool hold_is_ready(struct hold *h, const struct params *params, int64_t dts_ns,
                   const struct log_to *log);
/* Drop the queue after it has been passed on. */
void hold_clear(struct hold *h);
/* A packet went by without being held. */
void hold_passed(struct hold *h, const struct store_item *item);

#endif
