/* SPDX-License-Identifier: MIT
 *
 * record_parts.h - inside of a recording session, shared by record.c (threads, limits, end), record_open.c (inputs,
 * streams, names) and record_text.c (what is kept, for the summary).
 */
#ifndef SESSION_RECORD_PARTS_H
#define SESSION_RECORD_PARTS_H

#include <pthread.h>

#include "session/record.h"
#include "session/rows.h"

#define RECORD_MAX_TRACKS 32 /* of one input */
#define RECORD_MAX_SINKS  128

struct input {
    struct record *record;
    const char *name; /* as given; borrowed from the spec */
    bool is_rows;
    struct rows rows;
    const struct media_source_ops *ops;
    struct media_source *source; /* owned */
    const struct media_source_info *info;
    struct timeline line;
    struct track *tracks; /* owned */
    int n_tracks;
    struct sink *rows_sink;
    int64_t rows_limit;
    pthread_t thread;
    bool has_thread;
    bool is_placed; /* live: the first packet has fixed the offset */
    int rc;         /* result of the thread */
    struct swt_diag diag;
};

struct record {
    struct swt_record_spec spec;
    struct log_to log;
    struct input *inputs; /* owned */
    size_t n_inputs;
    struct sink *sinks[RECORD_MAX_SINKS]; /* owned */
    size_t n_sinks;
    struct limits limits;
    atomic_int stop;      /* somebody wants the end */
    atomic_int n_running; /* input threads */
    atomic_int has_begun; /* `dir` and all writers are open */
    pthread_mutex_t begin_lock;
    struct store_dir *dir; /* NULL until the first frame of a live session */
    int64_t zero_boot_ns;  /* CLOCK_BOOTTIME of this boot at media time 0 */
    int64_t start_ns;      /* media time at which this session starts */
    int64_t base_ns;       /* latest end of the streams it writes, 0 for new ones */
};

/* record_open.c: choose the streams of an opened source, or set up rows; makes tracks and sinks. */
int record_choose(struct record *r, struct input *in, struct swt_diag *reterr);

/* record_text.c */
void record_describe(struct sink *s, const struct track *t, const struct swt_record_spec *spec);

/* record.c: open the recording and its writers once; `capture_ns` fixes time 0 of a new recording. */
int record_begin(struct record *r, int64_t capture_ns, struct swt_diag *reterr);

static inline bool input_is_live(const struct input *in)
{
    return in->is_rows ? in->rows.params.rate.num == 0 : in->info->is_live;
}

#endif
