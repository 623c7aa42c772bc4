/* SPDX-License-Identifier: MIT
 *
 * hold.c - packets held back until it is known which of them show a picture. Leading pictures of an open group
 * are not guessed from codec rules: the decoder is asked.
 */
#include "session/hold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PADDING 64 /* zeros behind a packet, as decoders want */

int hold_init(struct hold *h, int64_t limit)
{
    *h = (struct hold){.limit = limit, .key_ns = INT64_MIN, .last_ns = INT64_MIN};
    h->queue = calloc(HOLD_MAX, sizeof *h->queue);
    return h->queue ? 0 : -ENOMEM;
}

static void free_held(struct held *e)
{
    for (int k = 0; k < e->packet.n_side; k++)
        free((void *)(uintptr_t)e->packet.side[k].data);
    free((void *)(uintptr_t)e->packet.data);
}

void hold_clear(struct hold *h)
{
    for (int i = 0; i < h->n; i++) {
        hold_passed(h, &h->queue[i].item);
        free_held(&h->queue[i]);
    }
    h->n = 0;
}

void hold_done(struct hold *h)
{
    if (h->queue)
        hold_clear(h);
    free(h->queue);
    h->queue = NULL;
}

static bool is_shown(const struct store_item *item)
{
    return !(item->flags & SEG_FLAG_NOPIC);
}

static bool is_near_limit(const struct hold *h)
{
    return h->limit > 0 && h->passed + STORE_REORDER >= h->limit;
}

bool hold_wants(const struct hold *h)
{
    return !h->is_full && (!h->is_passing || is_near_limit(h));
}

void hold_passed(struct hold *h, const struct store_item *item)
{
    h->passed += is_shown(item);
}

static const uint8_t *copy(const uint8_t *data, size_t n)
{
    uint8_t *p = calloc(1, n + PADDING);
    if (p && n)
        memcpy(p, data, n);
    return p;
}

int hold_push(struct hold *h, const struct store_item *item, const struct media_packet *packet)
{
    struct held *e = &h->queue[h->n];
    if (h->n == HOLD_MAX)
        return -ENOBUFS;
    *e = (struct held){.packet = *packet, .item = *item};
    e->packet.n_side = 0;
    e->packet.data = copy(packet->data, packet->n_data);
    if (!e->packet.data)
        return -ENOMEM;
    h->n++;
    for (int i = 0; i < packet->n_side; i++) {
        e->packet.side[i].data = copy(packet->side[i].data, packet->side[i].n_bytes);
        if (!e->packet.side[i].data)
            return -ENOMEM;
        e->packet.n_side++;
    }
    bool is_key = item->flags & SEG_FLAG_KEY;
    if (!h->has_key && !is_key)
        e->item.flags |= SEG_FLAG_NOPIC;
    if (!h->has_key && is_key) {
        h->has_key = true;
        h->key_ns = item->time_ns;
    }
    return 0;
}

/* ---- leading pictures ---------------------------------------------------------------------------- */

static void take_tags(const struct media_decoder_ops *ops, struct media_decoder *d, bool *seen)
{
    struct media_frame f;
    int rc;
    while ((rc = ops->receive(d, &f, NULL)) > 0 || rc == SWT_E_CORRUPT)
        if (rc > 0 && f.tag >= 0 && f.tag < HOLD_MAX && !f.is_corrupt)
            seen[f.tag] = true;
}

/* Decode the queue and see which pictures come out. */
static int ask_decoder(const struct hold *h, const struct params *params, const struct log_to *log,
                       bool *seen)
{
    const struct media_decoder_ops *ops;
    struct media_decoder *d = NULL;
    int rc = media_decoders(&ops, NULL);
    if (rc >= 0)
        rc = ops->open(params, 1, log, &d, NULL);
    if (rc < 0)
        return rc;
    for (int i = 0; i <= h->n; i++) {
        struct media_packet p = {.pts = MEDIA_NO_PTS, .dts = MEDIA_NO_PTS};
        if (i < h->n) {
            p = h->queue[i].packet;
            p.pts = p.dts = i;
            p.flags &= ~(uint32_t)MEDIA_PACKET_DISCARD;
        }
        while (ops->send(d, &p, NULL) == -EAGAIN)
            take_tags(ops, d, seen);
        take_tags(ops, d, seen);
    }
    ops->close(&d);
    return 0;
}

static bool is_leading(const struct hold *h, int i, int key)
{
    return i > key && is_shown(&h->queue[i].item) && h->queue[i].item.time_ns < h->key_ns;
}

static void mark_leading(struct hold *h, const struct params *params, const struct log_to *log)
{
    bool seen[HOLD_MAX] = {false};
    int key = 0, n = 0;
    while (key < h->n && !(h->queue[key].item.flags & SEG_FLAG_KEY))
        key++;
    for (int i = 0; i < h->n; i++)
        n += is_leading(h, i, key);
    if (!n || ask_decoder(h, params, log, seen) < 0)
        return;
    for (int i = 0; i < h->n; i++)
        if (is_leading(h, i, key) && !seen[i])
            h->queue[i].item.flags |= SEG_FLAG_NOPIC;
}

/* The start is over when a picture after the key has come: nothing after it can lead. */
static bool start_is_over(const struct hold *h, bool is_end)
{
    const struct store_item *newest = &h->queue[h->n - 1].item;
    return is_end || h->n == HOLD_MAX ||
           (h->has_key && h->n > 1 && is_shown(newest) && newest->time_ns > h->key_ns);
}

/* ---- the end of --frames ------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Do we know the wanted pictures? Then whatever is shown after the last of them is not. */
static bool end_is_known(struct hold *h, int64_t dts_ns)
{
    int64_t times[HOLD_MAX], need = h->limit - h->passed;
    int n = 0;
    for (int i = 0; i < h->n; i++)
        if (is_shown(&h->queue[i].item))
            times[n++] = h->queue[i].item.time_ns;
    qsort(times, (size_t)n, sizeof times[0], by_time);
    bool is_last_call = dts_ns == INT64_MAX || h->n == HOLD_MAX;
    if (n < need || need < 1)
        return is_last_call;
    if (dts_ns < times[need - 1] && !is_last_call)
        return false;
    h->is_full = true;
    h->last_ns = times[need - 1];
    for (int i = 0; i < h->n; i++)
        if (h->queue[i].item.time_ns > h->last_ns)
            h->queue[i].item.flags |= SEG_FLAG_NOPIC;
    while (h->n > 0 && h->queue[h->n - 1].item.time_ns > h->last_ns)
        free_held(&h->queue[--h->n]);
    return true;
}

bool hold_is_ready(struct hold *h, const struct params *params, int64_t dts_ns,
                   const struct log_to *log)
{
    if (h->n == 0)
        return false;
    if (!h->is_passing) {
        if (!start_is_over(h, dts_ns == INT64_MAX))
            return false;
        mark_leading(h, params, log);
        h->is_passing = true;
    }
    return is_near_limit(h) ? end_is_known(h, dts_ns) : true;
}
