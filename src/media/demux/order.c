/* SPDX-License-Identifier: MIT
 *
 * order.c - presentation times for streams of pictures whose container gives none (raw streams, AVI): packets
 * come in decode order, the time of a picture follows from its place in display order. Nothing is dropped.
 *
 * Every packet brings a slot of time, its dts, or one step after the slot before where there is none. The
 * picture shown as number r of all gets slot r + delay: so pts >= dts for each, and the first slots are used up
 * while the decoder waits, as in players. Places in display order come from a key that rises with it inside a
 * sequence: H.264 and H.265 carry one (picture order count); elsewhere a B picture is shown before the picture
 * that was sent before it, all others before the next of their kind.
 */
#include <libavcodec/avcodec.h>
#include <stdlib.h>

#include "media/demux/demux.h"

#define QUEUE       64  /* packets held at most; a place not known by then is taken as it is */
#define RECENT      256 /* slots and keys remembered; more than QUEUE plus any reordering */
#define KEY_UNKNOWN INT64_MAX

struct held {
    AVPacket *packet; /* owned, made once */
    int64_t key, idx, sequence, capture_ns;
};

struct demux_order {
    struct held queue[QUEUE]; /* ring, in decode order */
    int head, n_queue;
    bool by_count, is_draining;
    int delay;
    int64_t step; /* ticks of one picture, where a packet does not say */
    int64_t n_in, sequence, max_key;
    int64_t out_sequence, sequence_base,
        n_out; /* of the queue's head: number, first place, packets out */
    int64_t slot[RECENT], out_key[RECENT];
    int64_t next_slot; /* where the dts is unknown */
};

void demux_order_free(struct demux_order **order)
{
    struct demux_order *o = *order;
    if (!o)
        return;
    for (int i = 0; i < QUEUE; i++)
        av_packet_free(&o->queue[i].packet);
    free(o);
    *order = NULL;
}

int demux_order_new(const AVCodecParameters *par, AVRational time_base, AVRational rate,
                    struct demux_order **ret)
{
    AUTO(demux_order_free) struct demux_order *o = calloc(1, sizeof *o);
    if (!o)
        return -ENOMEM;
    for (int i = 0; i < QUEUE; i++)
        if (!(o->queue[i].packet = av_packet_alloc()))
            return -ENOMEM;
    o->by_count = par->codec_id == AV_CODEC_ID_H264 || par->codec_id == AV_CODEC_ID_HEVC;
    o->delay = par->video_delay > 0 && par->video_delay < QUEUE / 2 ? par->video_delay : 0;
    AVRational frame = rate.num > 0 && rate.den > 0 ? av_inv_q(rate) : (AVRational){1, 25};
    o->step = av_rescale_q(1, frame, time_base);
    if (o->step < 1)
        o->step = 1;
    o->next_slot = -o->delay * o->step;
    o->max_key = INT64_MIN;
    *ret = o;
    o = NULL;
    return 0;
}

static struct held *at(struct demux_order *o, int i) /* i-th of the queue */
{
    return &o->queue[(o->head + i) % QUEUE];
}

static void begin_sequence(struct demux_order *o)
{
    o->sequence++;
    o->max_key = INT64_MIN;
}

/* Key from the order count. A key picture that does not come after all before it begins a new sequence. */
static int64_t count_key(struct demux_order *o, const AVCodecParserContext *parser)
{
    int64_t key = parser->output_picture_number;
    if (o->n_in > 0 && parser->key_frame == 1 && key <= o->max_key)
        begin_sequence(o);
    if (key > o->max_key)
        o->max_key = key;
    return key;
}

/* Key from the picture type: the one before that waits for its successor has it now. */
static int64_t type_key(struct demux_order *o, const AVCodecParserContext *parser)
{
    if (parser->pict_type == AV_PICTURE_TYPE_B)
        return 2 * o->n_in;
    for (int i = 0; i < o->n_queue; i++)
        if (at(o, i)->key == KEY_UNKNOWN)
            at(o, i)->key = 2 * o->n_in - 1;
    return KEY_UNKNOWN;
}

static int64_t key_of(struct demux_order *o, const struct demux_parse *parse)
{
    if (o->delay == 0 || !parse->parser)
        return 2 * o->n_in;
    return o->by_count ? count_key(o, parse->parser) : type_key(o, parse->parser);
}

static void take_slot(struct demux_order *o, AVPacket *packet)
{
    int64_t duration = packet->duration > 0 && packet->duration < INT32_MAX ? packet->duration
                                                                            : o->step;
    if (packet->dts == AV_NOPTS_VALUE)
        packet->dts = o->next_slot;
    o->slot[o->n_in % RECENT] = packet->dts;
    if (__builtin_add_overflow(packet->dts, duration, &o->next_slot))
        o->next_slot = packet->dts;
}

int demux_order_push(struct demux_order *o, AVPacket *packet, const struct demux_parse *parse,
                     int64_t capture_ns)
{
    if (o->n_queue == QUEUE)
        return -ENOBUFS; /* the caller pops first */
    int64_t key = key_of(o, parse);
    take_slot(o, packet);
    struct held *h = at(o, o->n_queue++);
    av_packet_move_ref(h->packet, packet);
    h->key = key;
    h->idx = o->n_in++;
    h->sequence = o->sequence;
    h->capture_ns = capture_ns;
    return 0;
}

void demux_order_drain(struct demux_order *o)
{
    o->is_draining = true;
}

/* Pictures of the head's sequence that are out already and shown after this key; that are held behind the head
 * and shown before it, or not before it. */
static int64_t count_out_after(const struct demux_order *o, int64_t key)
{
    int64_t n = 0, known = o->n_out < RECENT ? o->n_out : RECENT;
    for (int64_t i = o->n_out - known; i < o->n_out; i++)
        n += o->out_key[i % RECENT] > key;
    return n;
}

static int64_t count_held(struct demux_order *o, int64_t key, bool is_before)
{
    int64_t n = 0;
    for (int i = 1; i < o->n_queue && at(o, i)->sequence == at(o, 0)->sequence; i++)
        n += is_before ? at(o, i)->key < key : at(o, i)->key >= key;
    return n;
}

/* Whether no packet that is still to come can be shown before the head. With a reordering of at most `delay`
 * pictures, delay + 1 pictures from the head on in display order are proof. */
static bool is_settled(struct demux_order *o)
{
    const struct held *h = at(o, 0);
    if (o->n_queue == QUEUE || o->is_draining || o->delay == 0)
        return true;
    if (at(o, o->n_queue - 1)->sequence != h->sequence)
        return true;
    if (!o->by_count)
        return h->key != KEY_UNKNOWN;
    return 1 + count_out_after(o, h->key) + count_held(o, h->key, false) > o->delay;
}

static int64_t slot_of(const struct demux_order *o, int64_t place)
{
    int64_t last = o->n_in - 1, time;
    if (place <= last)
        return o->slot[(place < 0 ? 0 : place) % RECENT];
    if (__builtin_mul_overflow(place - last - 1, o->step, &time) ||
        __builtin_add_overflow(o->next_slot, time, &time))
        return o->next_slot;
    return time;
}

static void enter_sequence(struct demux_order *o)
{
    if (at(o, 0)->sequence == o->out_sequence)
        return;
    o->out_sequence = at(o, 0)->sequence;
    o->sequence_base += o->n_out;
    o->n_out = 0;
}

bool demux_order_pop(struct demux_order *o, AVPacket *ret_packet, int64_t *ret_capture_ns)
{
    if (o->n_queue == 0)
        return false;
    enter_sequence(o);
    if (!is_settled(o))
        return false;
    struct held *h = at(o, 0);
    int64_t before = o->n_out - count_out_after(o, h->key) + count_held(o, h->key, true);
    av_packet_move_ref(ret_packet, h->packet);
    ret_packet->pts = slot_of(o, o->sequence_base + before + o->delay);
    if (ret_packet->pts < ret_packet->dts)
        ret_packet->pts = ret_packet->dts; /* a stream that reorders more than it says */
    *ret_capture_ns = h->capture_ns;
    o->out_key[o->n_out++ % RECENT] = h->key;
    o->head = (o->head + 1) % QUEUE;
    o->n_queue--;
    return true;
}
