/* SPDX-License-Identifier: MIT
 *
 * source.c - the source table of swt-demux.so: finds out what an input is, gives it to libsndfile or FFmpeg, and
 * is the same through the table for both.
 */
#include <stdlib.h>

#include "media/demux/demux.h"

int demux_end(struct media_source *s, struct swt_diag *reterr)
{
    int code = s->end_code;
    if (code != SWT_E_LOST && code != SWT_E_END)
        return err_at(reterr, code, s->input.text, -1, "%s", s->end_text);
    s->end_code = SWT_E_END;
    if (code == SWT_E_END)
        return err_at(reterr, code, s->input.text, -1, "'%.200s' has ended", s->input.text);
    return err_at(reterr, code, s->input.text, -1, "'%.200s': %s", s->input.text, s->end_text);
}

static void source_close(struct media_source **source)
{
    struct media_source *s = *source;
    if (!s)
        return;
    AUTO(av_log_end) struct av_log_scope scope = demux_log_begin(&s->log);
    (void)scope;
    if (s->kind)
        s->kind->free(s);
    for (int i = 0; s->streams && i < s->info.n_streams; i++)
        params_done(&s->streams[i].params);
    free(s->streams);
    demux_input_close(&s->input);
    free(s->text);
    free(s);
    *source = NULL;
}

static int open_kind(struct demux_input *in, struct media_source **ret, struct swt_diag *reterr)
{
    if (in->kind == DEMUX_FILE && in->is_regular) {
        int rc = demux_soundfile_open(in, ret, reterr);
        if (rc <= 0)
            return rc;
    }
    *ret = demux_av_new();
    return *ret ? 0 : err_errno(reterr, ENOMEM, NULL, "source");
}

static int adopt(struct media_source *s, const struct media_source_spec *spec,
                 struct demux_input *in)
{
    s->log = spec->log;
    /* A file or a filter graph is never silent, only slow. */
    bool is_patient = in->is_regular || strcmp(in->device, "lavfi") == 0;
    s->wait = (struct demux_wait){.stop = spec->stop,
                                  .timeout_ns = is_patient ? 0 : spec->timeout_ns};
    demux_wait_alive(&s->wait);
    s->input = *in;
    in->fd = -1; /* moved */
    s->text = strdup(in->text);
    if (!s->text)
        return -ENOMEM;
    s->input.name = s->text + (in->name - in->text);
    s->input.text = s->text;
    return 0;
}

/* The last line of FFmpeg while it opens: of a device it says more than the error. */
struct listener {
    struct log_to to;
    char line[160];
};

static void listen(void *arg, enum swt_log_level level, const char *room, const char *text)
{
    struct listener *l = arg;
    const char *said = strstr(text, "] "); /* behind "[lavfi @ 0x…" */
    av_copy_text(l->line, sizeof l->line, said ? said + 2 : text);
    log_line(&l->to, level, room, "%s", text);
}

static int start(struct media_source *s, struct swt_diag *reterr)
{
    struct listener l = {.to = s->log};
    struct log_to through = {listen, &l};
    AUTO(av_log_end) struct av_log_scope scope = demux_log_begin(&through);
    (void)scope;
    int rc = demux_av_start(s, reterr);
    if (rc == SWT_E_INPUT && s->input.kind == DEMUX_DEVICE && l.line[0] && reterr)
        (void)err_at(reterr, rc, s->text, -1, "%s: %s", reterr->text, l.line);
    return rc;
}

static int source_open(const struct media_source_spec *spec, struct media_source **ret_source,
                       struct swt_diag *reterr)
{
    AUTO(av_log_end) struct av_log_scope scope = demux_log_begin(&spec->log);
    (void)scope;
    AUTO(demux_input_close) struct demux_input in = {.fd = -1};
    AUTO(source_close) struct media_source *s = NULL;
    int rc = demux_input_open(spec->input, &in, reterr);
    if (rc >= 0)
        rc = open_kind(&in, &s, reterr);
    if (rc < 0)
        return rc;
    if (adopt(s, spec, &in) < 0)
        return err_errno(reterr, ENOMEM, NULL, "source");
    rc = s->streams ? 0 : start(s, reterr);
    if (rc < 0)
        return rc;
    s->info.streams = s->streams;
    *ret_source = s;
    s = NULL;
    return 0;
}

static const struct media_source_info *source_info(const struct media_source *s)
{
    return &s->info;
}

static void source_choose(struct media_source *s, const uint8_t *keep)
{
    s->kind->choose(s, keep);
}

static int source_read(struct media_source *s, struct media_packet *ret_packet, int *ret_changed,
                       struct swt_diag *reterr)
{
    AUTO(av_log_end) struct av_log_scope scope = demux_log_begin(&s->log);
    (void)scope;
    *ret_changed = -1;
    demux_wait_alive(&s->wait);
    return s->kind->read(s, ret_packet, ret_changed, reterr);
}

const struct media_source_ops demux_source_ops = {
    source_open, source_info, source_choose, source_read, source_close,
};
