/* SPDX-License-Identifier: MIT
 *
 * sink.h - one stream of the recording while it is being written: its writer and its account of what came in and
 * what was stored. Used by one input thread; the account is read by others.
 */
#ifndef SESSION_SINK_H
#define SESSION_SINK_H

#include <pthread.h>

#include "media/media.h"
#include "store/store.h"

struct sink {
    struct store_writer *writer; /* owned; NULL until the recording is open */
    enum seg_kind kind;
    struct params params;  /* of what is written now; owned */
    uint64_t start_frames; /* frames of the stream before this session */
    int64_t start_end_ns;  /* end of the latest of them; INT64_MIN none */
    int64_t first_ns, end_ns;
    uint32_t dropped;     /* units dropped since the last one stored */
    pthread_mutex_t lock; /* guards `stats` */
    struct swt_record_stream stats;
};

void sink_init(struct sink *s, const char *name, enum seg_kind kind);
void sink_done(struct sink *s); /* closes the writer, error ignored */

int sink_open(struct sink *s, struct store_dir *dir, const struct swt_record_spec *spec,
              const char *made_from, struct swt_diag *reterr);
/* Format of what follows; the run goes on when it is the same. `params` is copied. */
int sink_format(struct sink *s, const struct params *params, struct swt_diag *reterr);

/* Store a packet, or `n` frames that start at item->time_ns. Counts them in, and stored or dropped. */
int sink_packet(struct sink *s, const struct store_item *item, const struct media_packet *p,
                struct swt_diag *reterr);
int sink_frames(struct sink *s, const struct store_item *item, const void *data, uint64_t n,
                struct swt_diag *reterr);
/* Something came in and could not be stored. */
void sink_drop(struct sink *s, uint64_t n);
void sink_stats(struct sink *s, struct swt_record_stream *ret);
/* Flush, seal, sync. `keep`: also a stream without frames stays, with its format. */
int sink_close(struct sink *s, bool keep, struct swt_diag *reterr);

#endif
