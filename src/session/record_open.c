/* SPDX-License-Identifier: MIT
 *
 * record_open.c - which streams of which inputs become which streams of the recording, and what they are called.
 */
#include "session/record_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- names --------------------------------------------------------------------------------------- */

/* The k-th name of --name, counted over all inputs; else video, video2, audio, … */
static int next_name(struct record *r, const char *media, char ret_name[SWT_NAME_CAP],
                     struct swt_diag *reterr)
{
    size_t k = 0, same = 0;
    for (size_t i = 0; i < r->n_sinks; i++) {
        const char *dot = strchr(r->sinks[i]->stats.name, '.');
        bool is_twin = dot && (strcmp(dot, ".p") == 0 || strcmp(dot, ".t") == 0);
        k += !is_twin;
        same += !is_twin && strncmp(r->sinks[i]->stats.kept, media, strlen(media)) == 0;
    }
    const char *at = r->spec.names;
    while (at && k-- > 0) {
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    if (at) {
        size_t n = strcspn(at, ",");
        (void)snprintf(ret_name, SWT_NAME_CAP, "%.*s", n < SWT_NAME_CAP ? (int)n : 0, at);
    } else if (same == 0) {
        (void)snprintf(ret_name, SWT_NAME_CAP, "%s", media);
    } else {
        (void)snprintf(ret_name, SWT_NAME_CAP, "%s%zu", media, same + 1);
    }
    if (!store_name_is_valid(ret_name))
        return err_set(reterr, SWT_E_USAGE,
                       "--name '%s': a stream name is [a-z0-9][a-z0-9._-]*, 63 at most",
                       r->spec.names);
    return 0;
}

static int add_sink(struct record *r, const char *name, const char *suffix, enum seg_kind kind,
                    const char *media, struct sink **ret_sink, struct swt_diag *reterr)
{
    char full[SWT_NAME_CAP];
    int n = snprintf(full, sizeof full, "%s%s", name, suffix);
    if (n < 0 || (size_t)n >= sizeof full)
        return err_set(reterr, SWT_E_USAGE, "stream name '%s%s' is too long", name, suffix);
    for (size_t i = 0; i < r->n_sinks; i++)
        if (strcmp(r->sinks[i]->stats.name, full) == 0)
            return err_set(reterr, SWT_E_USAGE,
                           "two streams would be called '%s': --name tells them apart", full);
    struct sink *s = r->n_sinks < RECORD_MAX_SINKS ? malloc(sizeof *s) : NULL;
    if (!s)
        return err_set(reterr, -ENOMEM, "too many streams");
    sink_init(s, full, kind);
    (void)snprintf(s->stats.kept, sizeof s->stats.kept, "%s", media);
    r->sinks[r->n_sinks++] = s;
    *ret_sink = s;
    return 0;
}

static void free_bytes(uint8_t **p)
{
    free(*p);
}

/* ---- streams ------------------------------------------------------------------------------------- */

/* How one media stream is kept. */
struct keep {
    bool packets, tensor;
};

static struct keep how(const struct swt_record_spec *spec, const struct media_stream *m,
                       bool is_video)
{
    if (m->is_raw || spec->store == SWT_STORE_TENSOR)
        return (struct keep){.tensor = true};
    if (spec->store == SWT_STORE_BOTH)
        return (struct keep){.packets = true, .tensor = true};
    if (spec->store == SWT_STORE_PACKETS)
        return (struct keep){.packets = true};
    bool shaped = spec->width > 0 || spec->fps.num > 0 || spec->pixel;
    return is_video ? (struct keep){.packets = !shaped, .tensor = shaped}
                    : (struct keep){true, true};
}

static bool is_video(const struct media_stream *m)
{
    return strcmp(m->params.media, "video") == 0;
}

/* Sound as tensor has the plain name, its packets NAME.p; pictures as packets have it, their tensor NAME.t. */
static int add_track(struct record *r, struct input *in, int index, struct swt_diag *reterr)
{
    const struct media_stream *m = &in->info->streams[index];
    bool video = is_video(m);
    const char *media = video ? "video" : "audio";
    struct keep keep = how(&r->spec, m, video);
    struct sink *packets = NULL, *tensor = NULL;
    char name[SWT_NAME_CAP];
    int rc = next_name(r, media, name, reterr);
    if (rc >= 0 && keep.tensor)
        rc = add_sink(r, name, video && keep.packets ? ".t" : "", SEG_KIND_TENSOR, media, &tensor,
                      reterr);
    if (rc >= 0 && keep.packets)
        rc = add_sink(r, name, video ? "" : ".p", SEG_KIND_PACKETS, media, &packets, reterr);
    if (rc < 0)
        return rc;
    if (in->n_tracks == RECORD_MAX_TRACKS)
        return err_set(reterr, SWT_E_UNSUPPORTED, "more than %d streams in one input",
                       RECORD_MAX_TRACKS);
    struct track *t = &in->tracks[in->n_tracks++];
    t->index = index;
    t->packets = packets;
    t->tensor = tensor;
    return 0;
}

/* Index of the wanted stream of a kind: by number among its kind, or the default one; -1 none. */
static int pick(const struct input *in, bool video, long number)
{
    int first = -1;
    long k = 0;
    for (int i = 0; i < in->info->n_streams; i++) {
        const struct media_stream *m = &in->info->streams[i];
        if (is_video(m) != video || (video && m->is_attached))
            continue;
        if (number == k++)
            return i;
        if (number < 0 && m->is_default)
            return i;
        first = first < 0 ? i : first;
    }
    return number < 0 ? first : -1;
}

static int choose_kind(struct record *r, struct input *in, bool video, const char *which,
                       struct swt_diag *reterr)
{
    int n = 0, rc = 0;
    char *end = NULL;
    long number = -1;
    if (which && strcmp(which, "none") == 0)
        return 0;
    if (which && strcmp(which, "all") == 0) {
        for (int i = 0; i < in->info->n_streams && rc >= 0; i++) {
            const struct media_stream *m = &in->info->streams[i];
            if (is_video(m) == video && !(video && m->is_attached))
                rc = add_track(r, in, i, reterr);
        }
        return rc;
    }
    if (which && (number = strtol(which, &end, 10), *end || end == which || number < 0))
        return err_set(reterr, SWT_E_USAGE, "--%s '%s' is not a number, none%s",
                       video ? "video" : "audio", which, video ? "" : " or all");
    n = pick(in, video, number);
    if (n < 0 && number >= 0)
        return err_set(reterr, SWT_E_INPUT, "'%s' has no %s stream %ld", in->name,
                       video ? "video" : "audio", number);
    return n < 0 ? 0 : add_track(r, in, n, reterr);
}

static int choose_media(struct record *r, struct input *in, struct swt_diag *reterr)
{
    in->tracks = calloc(RECORD_MAX_TRACKS, sizeof *in->tracks);
    AUTO(free_bytes) uint8_t *keep = calloc((size_t)in->info->n_streams + 1, 1);
    if (!in->tracks || !keep)
        return err_set(reterr, -ENOMEM, "out of memory");
    int rc = choose_kind(r, in, true, r->spec.video, reterr);
    if (rc >= 0)
        rc = choose_kind(r, in, false, r->spec.audio, reterr);
    if (rc < 0)
        return rc;
    if (in->n_tracks == 0)
        return err_set(reterr, SWT_E_INPUT, "'%s' has no video and no sound to record", in->name);
    for (int i = 0; i < in->n_tracks; i++)
        keep[in->tracks[i].index] = 1;
    in->ops->choose(in->source, keep);
    if (in->info->left_out[0])
        log_line(&r->log, SWT_LOG_INFO, "record", "%s: left out: %s", in->name, in->info->left_out);
    return 0;
}

int record_choose(struct record *r, struct input *in, struct swt_diag *reterr)
{
    if (!in->is_rows)
        return choose_media(r, in, reterr);
    char name[SWT_NAME_CAP] = "tensor";
    int rc = r->spec.names ? next_name(r, "tensor", name, reterr) : 0;
    return rc < 0 ? rc : add_sink(r, name, "", SEG_KIND_TENSOR, "tensor", &in->rows_sink, reterr);
}
