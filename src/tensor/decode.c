/* SPDX-License-Identifier: MIT
 *
 * decode.c - the picture behind a frame number of a packet stream. Packets carry their entry number as time
 * stamp through the decoder, so that a picture is known by its entry and not by a time that may repeat.
 */
#include "tensor/decode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "tensor/side.h"

struct decode {
    struct store_reader *reader; /* borrowed */
    struct log_to log;
    const struct media_decoder_ops *ops;
    struct media_decoder *decoder; /* owned */
    uint64_t run_base_frame;       /* of the run the decoder was opened for */
    uint64_t next_entry;           /* to be sent next */
    uint64_t start_entry;          /* where decoding last began */
    int64_t shown_ns;              /* time of the last picture that came out; INT64_MIN: none */
    bool is_drained;               /* the decoder has got its end mark */
};

int decode_new(struct store_reader *reader, const struct log_to *log, struct decode **ret_decode)
{
    struct decode *d = calloc(1, sizeof *d);
    if (!d)
        return -ENOMEM;
    d->reader = reader;
    d->log = *log;
    *ret_decode = d;
    return 0;
}

void decode_free(struct decode **decode)
{
    struct decode *d = *decode;
    if (!d)
        return;
    if (d->decoder)
        d->ops->close(&d->decoder);
    free(d);
    *decode = NULL;
}

static int open_decoder(struct decode *d, const struct store_frame *f, struct swt_diag *reterr)
{
    const struct params *params;
    int rc = store_reader_params(d->reader, f->frame, &params, reterr);
    if (rc >= 0 && !d->ops)
        rc = media_decoders(&d->ops, reterr);
    if (rc < 0)
        return rc;
    if (d->decoder)
        d->ops->close(&d->decoder);
    d->run_base_frame = f->run_base_frame;
    return d->ops->open(params, 0, &d->log, &d->decoder, reterr);
}

/* Make the decoder stand where feeding on reaches the frame: stay if that is ahead, else go to its key. */
static int position(struct decode *d, const struct store_frame *f, struct swt_diag *reterr)
{
    uint64_t key;
    int rc = store_reader_key(d->reader, f->frame, &key, reterr);
    if (rc < 0)
        return rc;
    bool is_open = d->decoder && d->run_base_frame == f->run_base_frame;
    bool is_ahead = is_open && key < d->next_entry && d->start_entry <= f->entry_no &&
                    d->shown_ns < f->time_ns;
    if (is_ahead)
        return 0;
    if (!is_open)
        rc = open_decoder(d, f, reterr);
    else
        d->ops->flush(d->decoder);
    d->next_entry = d->start_entry = key;
    d->shown_ns = INT64_MIN;
    d->is_drained = false;
    return rc;
}

static int drain(struct decode *d, struct swt_diag *reterr)
{
    struct media_packet end = {.pts = MEDIA_NO_PTS, .dts = MEDIA_NO_PTS};
    d->is_drained = true;
    return d->ops->send(d->decoder, &end, reterr);
}

/* Send the next packet of the run, or the end mark at its end and where an earlier session ended. */
static int feed(struct decode *d, struct swt_diag *reterr)
{
    struct store_reader_state state;
    struct store_packet p;
    int rc = store_reader_refresh(d->reader, &state, reterr);
    if (rc < 0)
        return rc;
    if (d->next_entry >= state.end_entry)
        return drain(d, reterr);
    rc = store_reader_packet(d->reader, d->next_entry, true, &p, reterr);
    if (rc < 0)
        return rc;
    if ((p.entry.flags & SEG_FLAG_FRESH) && d->next_entry != d->start_entry && !d->is_drained)
        return drain(d, reterr);
    struct media_packet packet = {.data = p.data,
                                  .n_data = p.n_data,
                                  .pts = (int64_t)d->next_entry,
                                  .dts = (int64_t)d->next_entry,
                                  .flags = p.entry.flags & SEG_FLAG_KEY ? MEDIA_PACKET_KEY : 0};
    rc = side_read(&p, &packet);
    if (rc >= 0)
        rc = d->ops->send(d->decoder, &packet, reterr);
    if (rc == -EAGAIN)
        return 0;
    d->next_entry++;
    return rc == SWT_E_CORRUPT ? 0 : rc;
}

static int undecodable(const struct store_frame *f, struct swt_diag *reterr)
{
    int rc = err_set(reterr, SWT_E_CORRUPT, "frame %" PRIu64 " cannot be decoded from its packets",
                     f->frame);
    err_frame(reterr, (int64_t)f->frame);
    return rc;
}

/* After the end mark the decoder begins afresh with the session that follows. 1: there is one. */
static int next_session(struct decode *d, const struct store_frame *f)
{
    if (d->next_entry > f->entry_no)
        return 0;
    d->ops->flush(d->decoder);
    d->start_entry = d->next_entry;
    d->is_drained = false;
    return 1;
}

int decode_frame(struct decode *d, const struct store_frame *frame, struct media_frame *ret_picture,
                 struct swt_diag *reterr)
{
    int rc = position(d, frame, reterr);
    while (rc >= 0) {
        rc = d->ops->receive(d->decoder, ret_picture, reterr);
        if (rc == SWT_E_CORRUPT)
            rc = 0;
        else if (rc == SWT_E_END)
            rc = next_session(d, frame) ? 0 : undecodable(frame, reterr);
        else if (rc == 0)
            rc = feed(d, reterr);
        else if (rc > 0 && ret_picture->tag == (int64_t)frame->entry_no) {
            d->shown_ns = frame->time_ns;
            return ret_picture->is_corrupt ? undecodable(frame, reterr) : 0;
        } else if (rc > 0 && ret_picture->tag >= 0) {
            struct store_packet p;
            rc = store_reader_packet(d->reader, (uint64_t)ret_picture->tag, false, &p, reterr);
            if (rc >= 0 && !(p.entry.flags & SEG_FLAG_NOPIC)) {
                d->shown_ns = p.entry.time_ns;
                rc = p.entry.time_ns > frame->time_ns ? undecodable(frame, reterr) : 0;
            }
        }
    }
    return rc;
}
