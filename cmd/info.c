/* SPDX-License-Identifier: MIT
 *
 * info.c - swt info: one line a stream, for people or as ndjson. Reads the index only.
 */
#include "cli.h"

#include <inttypes.h>
#include <string.h>

struct info_args {
    struct cli_common common;
    int format;
};

static const char *format_name(size_t i)
{
    static const char *const names[] = {"text", "ndjson"};
    return i < CLI_N(names) ? names[i] : NULL;
}

static const struct cli_option options[] = {
    OPT_ENUM(struct info_args, format, .name = "format", .arg = "FORMAT", .choice = format_name,
             .preset = "text", .heading = "Options", .help = "how to print"),
};

static const char *kind_name(enum swt_kind kind)
{
    switch (kind) {
    case SWT_KIND_TENSOR:
        return "tensor";
    case SWT_KIND_PACKETS:
        return "packets";
    case SWT_KIND_ARRAY:
        return "array";
    case SWT_KIND_NONE:
        break;
    }
    return "none";
}

/* ---- text --------------------------------------------------------------------------------------
 */

static void print_format(const struct swt_stream_info *s)
{
    if (s->codec[0])
        printf(" %s", s->codec);
    if (s->pixel[0])
        printf(" %s", s->pixel);
    if (s->dtype != SWT_DTYPE_NONE && !s->pixel[0])
        printf(" %s", swt_dtype_name(s->dtype));
    if (s->width > 0)
        printf(" %dx%d", s->width, s->height);
    if (s->channels > 0 && strcmp(s->media, "audio") == 0)
        printf(" %d ch", s->channels);
    for (int i = 0; i < s->n_dims && s->width == 0 && s->channels == 0; i++)
        printf("%s%" PRId64 "%s", i ? "x" : " [", s->shape[i], i + 1 == s->n_dims ? "]" : "");
    if (s->rate.num > 0 && s->rate.den == 1)
        printf(" %" PRId64 " Hz", s->rate.num);
    else if (s->rate.num > 0)
        printf(" %" PRId64 "/%" PRId64 " Hz", s->rate.num, s->rate.den);
    if (s->sar.num > 0 && s->sar.num != s->sar.den)
        printf(" sar %" PRId64 ":%" PRId64, s->sar.num, s->sar.den);
    if (s->rotation)
        printf(" turned %d", s->rotation);
}

static void print_extent(const struct swt_stream_info *s)
{
    char seconds[32], size[32];
    bool is_known = s->first_ns != INT64_MIN && s->end_ns != INT64_MIN; /* else damaged */
    printf(", %" PRId64 " frames", s->frames);
    if (s->frames > 0)
        printf(" %" PRId64 "..%" PRId64 ", %s", s->first_frame, s->first_frame + s->frames - 1,
               is_known ? cli_seconds(s->end_ns - s->first_ns, seconds, sizeof seconds)
                        : "length unknown");
    printf(", %s in %" PRIu64 " segment%s", cli_bytes(s->bytes, size, sizeof size), s->segments,
           s->segments == 1 ? "" : "s");
}

static void print_trouble(const struct swt_stream_info *s)
{
    const struct {
        uint64_t n;
        const char *what;
    } counts[] = {{s->gaps, "gaps"},
                  {s->discontinuities, "discontinuities"},
                  {s->dropped, "dropped"},
                  {s->damaged, "damaged"}};
    for (size_t i = 0; i < CLI_N(counts); i++)
        if (counts[i].n > 0)
            printf(", %" PRIu64 " %s", counts[i].n, counts[i].what);
    if (s->is_live)
        printf(", live (process %" PRId64 ")", s->writer_pid);
}

static void print_text(const struct swt_stream_info *s)
{
    printf("%s: %s %s", s->name, s->media, kind_name(s->kind));
    print_format(s);
    print_extent(s);
    print_trouble(s);
    printf("%s\n", s->is_default ? ", default" : "");
}

/* ---- ndjson ------------------------------------------------------------------------------------
 */

static void json_ratio(struct cli_json *json, const char *key, struct swt_ratio r, char separator)
{
    char text[48] = "";
    if (r.num > 0)
        snprintf(text, sizeof text, "%" PRId64 "%c%" PRId64, r.num, separator, r.den);
    cli_json_text(json, key, text);
}

static void json_format(struct cli_json *json, const struct swt_stream_info *s)
{
    cli_json_text(json, "name", s->name);
    cli_json_text(json, "kind", kind_name(s->kind));
    cli_json_text(json, "media", s->media);
    cli_json_text(json, "codec", s->codec);
    cli_json_text(json, "dtype", s->dtype == SWT_DTYPE_NONE ? "" : swt_dtype_name(s->dtype));
    cli_json_text(json, "pixel", s->pixel);
    cli_json_counts(json, "shape", s->shape, (size_t)s->n_dims);
    cli_json_count(json, "width", s->width);
    cli_json_count(json, "height", s->height);
    json_ratio(json, "rate", s->rate, '/');
    json_ratio(json, "sar", s->sar, ':');
    cli_json_count(json, "rotation", s->rotation);
    cli_json_count(json, "channels", s->channels);
    cli_json_text(json, "channel_layout", s->channel_layout);
    cli_json_text(json, "matrix", s->matrix);
    cli_json_text(json, "range", s->range);
    cli_json_text(json, "transfer", s->transfer);
    cli_json_text(json, "primaries", s->primaries);
    cli_json_text(json, "field_order", s->field_order);
}

static void json_extent(struct cli_json *json, const struct swt_stream_info *s)
{
    cli_json_count(json, "frames", s->frames);
    cli_json_count(json, "first_frame", s->first_frame);
    cli_json_count(json, "durable_frames", s->durable_frames);
    cli_json_count(json, "packets", s->packets);
    cli_json_ns(json, "first_ns", s->first_ns);
    cli_json_ns(json, "last_ns", s->last_ns);
    cli_json_ns(json, "end_ns", s->end_ns);
    cli_json_ns(json, "first_wall_ns", s->first_wall_ns);
    cli_json_ns(json, "last_wall_ns", s->last_wall_ns);
    cli_json_count(json, "bytes", (int64_t)s->bytes);
    cli_json_count(json, "segments", (int64_t)s->segments);
    cli_json_count(json, "runs", (int64_t)s->runs);
    cli_json_count(json, "sessions", (int64_t)s->sessions);
    cli_json_count(json, "gaps", (int64_t)s->gaps);
    cli_json_count(json, "discontinuities", (int64_t)s->discontinuities);
    cli_json_count(json, "dropped", (int64_t)s->dropped);
    cli_json_count(json, "damaged", (int64_t)s->damaged);
    cli_json_bool(json, "live", s->is_live);
    cli_json_bool(json, "default", s->is_default);
}

static void print_json(const struct swt_stream_info *s)
{
    struct cli_json json;
    cli_json_begin(&json, stdout);
    json_format(&json, s);
    json_extent(&json, s);
    cli_json_end(&json);
}

/* ---- the command -------------------------------------------------------------------------------
 */

static int run(const void *args)
{
    const struct info_args *a = args;
    AUTO(swt_recording_close) struct swt_recording *recording = NULL;
    struct swt_diag diag = CLI_DIAG;
    int rc = swt_recording_open(a->common.words[0], &recording, &diag);
    int status = rc < 0 ? cli_fail("info", rc, &diag) : 0;
    for (size_t i = 0; rc >= 0 && i < swt_recording_n_streams(recording); i++) {
        struct swt_stream_info s;
        struct swt_diag why = CLI_DIAG;
        int one = swt_recording_stream(recording, i, &s, &why);
        if (one < 0) {
            status = cli_fail("info", one, &why); /* one damaged stream hides no other */
            continue;
        }
        if (a->format == 0)
            print_text(&s);
        else
            print_json(&s);
    }
    return status;
}

static const struct cli_note examples[] = {
    {"swt info clip.swt", "What a recording holds, one line a stream"},
    {"swt info clip.swt --format ndjson",
     "The same for a program: one JSON object a line, times as integer nanoseconds"},
    {NULL, NULL}};

const struct cli_command cmd_info = {
    .name = "info",
    .summary = "Show the streams of a recording",
    .synopsis = "RECORDING [options]",
    .word = "RECORDING",
    .min_words = 1,
    .max_words = 1,
    .complete = CLI_COMPLETE_DIR,
    CLI_OPTIONS(options),
    .examples = examples,
    CLI_ARGS(struct info_args, {.format = 0}),
    .run = run,
};
