/* SPDX-License-Identifier: MIT
 *
 * recording.c - swt_recording_*: an open recording and what can be said about its streams.
 */
#include "api/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/size.h"

/* ---- open ---------------------------------------------------------------------------------------- */

static int rank(const char *name)
{
    return strncmp(name, "video", 5) == 0 ? 0 : strncmp(name, "audio", 5) == 0 ? 1 : 2;
}

/* Pictures, then sound, then the rest; by name within each, shorter first so that video2 precedes video10. */
static int by_name(const void *a, const void *b)
{
    const char *x = a, *y = b;
    int rx = rank(x), ry = rank(y);
    if (rx != ry)
        return rx - ry;
    return strverscmp(x, y);
}

void swt_recording_close(struct swt_recording **recording)
{
    struct swt_recording *r = recording ? *recording : NULL;
    if (!r)
        return;
    for (size_t i = 0; r->readers && i < r->n_names; i++)
        store_reader_close(&r->readers[i]);
    free(r->readers);
    free(r->names);
    store_dir_close(&r->dir);
    free(r);
    *recording = NULL;
}

int swt_recording_open(const char *path, struct swt_recording **ret_recording,
                       struct swt_diag *reterr)
{
    if (!path || !ret_recording)
        return err_set(reterr, -EINVAL, "swt_recording_open: path and ret_recording are needed");
    AUTO(swt_recording_close) struct swt_recording *r = calloc(1, sizeof *r);
    if (!r)
        return err_set(reterr, -ENOMEM, "out of memory");
    int rc = store_dir_open(path, &r->dir, reterr);
    if (rc >= 0)
        rc = store_dir_streams(r->dir, &r->names, &r->n_names, reterr);
    if (rc < 0)
        return rc;
    if (r->n_names)
        qsort(r->names, r->n_names, sizeof r->names[0], by_name);
    r->readers = calloc(r->n_names + 1, sizeof(struct store_reader *));
    if (!r->readers)
        return err_set(reterr, -ENOMEM, "out of memory");
    io_uuid_text(store_dir_info(r->dir)->uuid, r->uuid);
    *ret_recording = r;
    r = NULL;
    return 0;
}

size_t swt_recording_n_streams(const struct swt_recording *recording)
{
    return recording->n_names;
}

const char *swt_recording_path(const struct swt_recording *recording)
{
    return store_dir_path(recording->dir);
}

const char *swt_recording_uuid(const struct swt_recording *recording)
{
    return recording->uuid;
}

int recording_reader(struct swt_recording *r, size_t i, struct store_reader **ret_reader,
                     struct swt_diag *reterr)
{
    if (i >= r->n_names)
        return err_set(reterr, SWT_E_NO_STREAM, "the recording has %zu streams", r->n_names);
    int rc = r->readers[i] ? 0 : store_reader_open(r->dir, r->names[i], &r->readers[i], reterr);
    *ret_reader = r->readers[i];
    err_stream(rc < 0 ? reterr : NULL, r->names[i]);
    return rc;
}

/* ---- default stream ------------------------------------------------------------------------------ */

/* Format of the newest frame; of the newest segment when there is none, or its entry is damaged. */
static int newest_params(struct store_reader *reader, const struct store_reader_state *state,
                         const struct params **ret_params, struct swt_diag *reterr)
{
    uint64_t frame = state->end_frame > state->first_frame ? state->end_frame - 1
                                                           : state->end_frame;
    int rc = store_reader_params(reader, frame, ret_params, reterr);
    return rc == SWT_E_CORRUPT ? store_reader_params(reader, state->end_frame, ret_params, reterr)
                               : rc;
}

static int media_of(struct swt_recording *r, size_t i, const char **ret_media, bool *ret_is_packets)
{
    struct store_reader *reader;
    struct store_reader_state state;
    const struct params *p;
    int rc = recording_reader(r, i, &reader, NULL);
    if (rc >= 0)
        rc = store_reader_refresh(reader, &state, NULL);
    if (rc >= 0)
        rc = newest_params(reader, &state, &p, NULL);
    if (rc < 0)
        return rc;
    *ret_media = p->media;
    *ret_is_packets = state.kind == SEG_KIND_PACKETS;
    return 0;
}

static int default_stream(struct swt_recording *r, size_t *ret_i)
{
    int best_rank = 3;
    for (size_t i = 0; i < r->n_names && best_rank > 0; i++) {
        const char *media;
        bool is_packets;
        if (media_of(r, i, &media, &is_packets) < 0) {
            if (rank(r->names[i]) >= best_rank)
                continue;
            *ret_i =
                i; /* by its name it would be the one: say what is wrong with it, give no other */
            return true;
        }
        int now = strcmp(media, "video") == 0                  ? 0
                  : strcmp(media, "audio") == 0 && !is_packets ? 1
                                                               : 3;
        if (now < best_rank) {
            best_rank = now;
            *ret_i = i;
        }
    }
    return best_rank < 3;
}

int recording_find(struct swt_recording *r, const char *name, size_t *ret_i,
                   struct swt_diag *reterr)
{
    for (size_t i = 0; name && i < r->n_names; i++) {
        if (strcmp(r->names[i], name) == 0) {
            *ret_i = i;
            return 0;
        }
    }
    if (!name && (default_stream(r, ret_i) || (r->n_names == 1 && (*ret_i = 0, true))))
        return 0;
    char list[256] = "";
    size_t n = 0;
    for (size_t i = 0; i < r->n_names && n < sizeof list - SWT_NAME_CAP - 2; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", r->names[i]);
    if (r->n_names == 0)
        return err_set(reterr, SWT_E_NO_STREAM, "the recording has no streams yet");
    if (!name)
        return err_set(reterr, SWT_E_NO_STREAM, "which stream? --stream takes one of: %s", list);
    return err_set(reterr, SWT_E_NO_STREAM, "no stream '%s': there are %s", name, list);
}

/* ---- info ---------------------------------------------------------------------------------------- */

static void copy_params(const struct params *p, enum seg_kind kind, struct swt_stream_info *info)
{
    bool turned = kind == SEG_KIND_PACKETS && p->rotation % 180 != 0;
    (void)snprintf(info->media, sizeof info->media, "%s", p->media);
    (void)snprintf(info->codec, sizeof info->codec, "%s", p->codec);
    (void)snprintf(info->pixel, sizeof info->pixel, "%s", p->pixel);
    (void)snprintf(info->channel_layout, sizeof info->channel_layout, "%s", p->channel_layout);
    (void)snprintf(info->matrix, sizeof info->matrix, "%s", p->matrix);
    (void)snprintf(info->range, sizeof info->range, "%s", p->range);
    (void)snprintf(info->transfer, sizeof info->transfer, "%s", p->transfer);
    (void)snprintf(info->primaries, sizeof info->primaries, "%s", p->primaries);
    (void)snprintf(info->field_order, sizeof info->field_order, "%s", p->field_order);
    info->dtype = p->dtype;
    info->n_dims = p->n_dims;
    memcpy(info->shape, p->shape, sizeof info->shape);
    info->width = turned ? p->height : p->width;
    info->height = turned ? p->width : p->height;
    info->rotation = p->rotation;
    info->rate = p->rate;
    info->sar = p->sar;
    info->channels = p->channels;
}

/* INT64_MIN where the frame's entry is damaged: the rest can still be said. */
static int wall_of(struct store_reader *reader, uint64_t frame, int64_t *ret_ns,
                   struct swt_diag *reterr)
{
    struct store_frame f;
    int rc = store_reader_frame(reader, frame, &f, reterr);
    *ret_ns = rc < 0 ? INT64_MIN : f.wall_ns;
    return rc == SWT_E_CORRUPT ? 0 : rc;
}

static int copy_frames(struct store_reader *reader, const struct store_reader_state *s,
                       struct swt_stream_info *info, struct swt_diag *reterr)
{
    info->first_frame = (int64_t)s->first_frame;
    info->frames = (int64_t)(s->end_frame - s->first_frame);
    info->durable_frames = (int64_t)s->durable_frames;
    info->packets = s->kind == SEG_KIND_PACKETS ? (int64_t)(s->end_entry - s->first_entry) : 0;
    info->bytes = s->bytes;
    info->segments = s->segments;
    info->is_live = s->is_live;
    info->writer_pid = s->writer_pid;
    info->kind = s->kind == SEG_KIND_TENSOR ? SWT_KIND_TENSOR : SWT_KIND_PACKETS;
    info->first_wall_ns = info->last_wall_ns = INT64_MIN;
    if (info->frames == 0)
        return 0;
    int rc = wall_of(reader, s->first_frame, &info->first_wall_ns, reterr);
    return rc < 0 ? rc : wall_of(reader, s->end_frame - 1, &info->last_wall_ns, reterr);
}

int swt_recording_stream(struct swt_recording *recording, size_t i,
                         struct swt_stream_info *ret_info, struct swt_diag *reterr)
{
    struct store_reader *reader;
    struct store_reader_state state;
    struct store_totals t;
    const struct params *p;
    struct swt_stream_info info = {0};
    size_t def = SIZE_MAX;
    if (!recording || !ret_info)
        return err_set(reterr, -EINVAL, "swt_recording_stream: recording and ret_info are needed");
    int rc = recording_reader(recording, i, &reader, reterr);
    if (rc < 0)
        return rc;
    (void)snprintf(info.name, sizeof info.name, "%s", recording->names[i]);
    rc = store_reader_refresh(reader, &state, reterr);
    if (rc >= 0)
        rc = copy_frames(reader, &state, &info, reterr);
    if (rc >= 0)
        rc = store_reader_totals(reader, &t, reterr);
    if (rc >= 0 && (state.segments > 0 || info.frames > 0))
        rc = newest_params(reader, &state, &p, reterr);
    else if (rc >= 0)
        p = NULL;
    if (rc < 0) {
        err_stream(reterr, info.name);
        return rc;
    }
    if (p)
        copy_params(p, state.kind, &info);
    info.runs = t.runs;
    info.sessions = t.sessions;
    info.gaps = t.gaps;
    info.discontinuities = t.disconts;
    info.dropped = t.dropped;
    info.damaged = t.damaged;
    info.first_ns = t.times.first_ns;
    info.last_ns = t.times.last_ns;
    info.end_ns = t.times.end_ns;
    info.is_default = recording_find(recording, NULL, &def, NULL) >= 0 && def == i;
    *ret_info = info;
    return 0;
}
