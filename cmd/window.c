/* SPDX-License-Identifier: MIT
 *
 * window.c - swt window: one selection of frames as one tensor, to a file or to standard output.
 * Words into a swt_window_spec and the choice of the output; the work is the library's.
 */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct window_args {
    struct cli_common common;
    const char *stream, *frames, *pixel, *norm, *output, *times;
    struct swt_length last, length;
    struct swt_pos from, to, at;
    int64_t stride;
    int edge, filter, layout; /* values of their enums */
    int dtype, format;        /* positions in their choices, -1 = not given */
    struct cli_dims size;
    struct cli_crop crop;
};

/* ---- choices: positions are values of the enum in swt.h unless said otherwise -------------------
 */

static const char *edge_name(size_t i)
{
    static const char *const names[] = {"error", "trim", "repeat", "zero"};
    return i < CLI_N(names) ? names[i] : NULL;
}

static const char *filter_name(size_t i)
{
    static const char *const names[] = {"bilinear", "area", "bicubic", "nearest"};
    return i < CLI_N(names) ? names[i] : NULL;
}

static const char *layout_name(size_t i)
{
    static const char *const names[] = {"THWC", "TCHW", "CTHW"};
    return i < CLI_N(names) ? names[i] : NULL;
}

static const char *pixel_name(size_t i)
{
    return i == 0 ? "stored" : swt_pixel_name(i - 1);
}

static const enum swt_dtype dtypes[] = {SWT_U8, SWT_U16, SWT_S16, SWT_F16, SWT_BF16, SWT_F32};

static const char *dtype_name(size_t i)
{
    return i < CLI_N(dtypes) ? swt_dtype_name(dtypes[i]) : NULL;
}

/* Position i is format i + 1: NONE cannot be asked for. */
static const char *format_name(size_t i)
{
    return i + 1 < SWT_N_FILE_FORMATS ? swt_file_format_name((enum swt_file_format)(i + 1)) : NULL;
}

#define ROW(kind, field, ...) OPT_##kind(struct window_args, field, __VA_ARGS__)
static const struct cli_option options[] = {
    ROW(LENGTH, last, .name = "last", .arg = "N|DUR", .group = "last",
        .heading = "Selection (one of)", .help = "the newest N frames, or those of the newest DUR"),
    ROW(POS, from, .name = "from", .arg = "POS", .group = "range",
        .help = "from this frame number or time on, which is included; a leading minus counts back "
                "from the end",
        .preset = "start"),
    ROW(POS, to, .name = "to", .arg = "POS", .group = "range",
        .help = "up to here, which is excluded", .preset = "end"),
    ROW(LENGTH, length, .name = "for", .arg = "N|DUR", .group = "range",
        .help = "in place of --to: this much"),
    ROW(POS, at, .name = "at", .arg = "POS", .group = "at",
        .help = "the frame on display at this time"),
    ROW(TEXT, frames, .name = "frames", .arg = "N,N,...", .group = "frames",
        .help = "these frame numbers"),
    ROW(TEXT, stream, .name = "stream", .arg = "NAME", .heading = "Which frames",
        .help = "the stream", .preset = "first video, else first sound, else the only one"),
    ROW(INT, stride, .name = "stride", .arg = "K", .min = 1, .max = INT64_MAX,
        .help = "every K-th frame; N counts frames given", .preset = "1"),
    ROW(ENUM, edge, .name = "edge", .arg = "HOW", .choice = edge_name, .preset = "error",
        .help = "when fewer frames are there than asked for"),
    ROW(DIMS, size, .name = "size", .arg = "WxH", .heading = "Shape",
        .help = "scale to this size; stretches"),
    ROW(ENUM, filter, .name = "filter", .arg = "FILTER", .choice = filter_name,
        .preset = "bilinear", .help = "how to scale"),
    ROW(CROP, crop, .name = "crop", .arg = "WxH[+X+Y]",
        .help = "cut this out before scaling, X and Y from the top left", .preset = "centred"),
    ROW(WORD, pixel, .name = "pixel", .arg = "FORMAT", .choice = pixel_name,
        .help = "pixel format, see swt(1)",
        .preset = "rgb24; gray for one component, rgb48 and gray16 for more than 8 bits"),
    ROW(ENUM, dtype, .name = "dtype", .arg = "DTYPE", .choice = dtype_name,
        .help = "type of a number", .preset = "pictures and rows as stored, sound f32"),
    ROW(ENUM, layout, .name = "layout", .arg = "LAYOUT", .choice = layout_name, .preset = "THWC",
        .help = "order of the axes of pictures"),
    ROW(TEXT, norm, .name = "norm", .arg = "HOW",
        .help = "scale values: 0..1, -1..1, imagenet, or MEAN:STD, each one number or one a "
                "channel with commas"),
    ROW(TEXT, output, .name = "output", .letter = 'o', .arg = "FILE", .complete = CLI_COMPLETE_FILE,
        .heading = "Output", .help = "the file; complete or not there at all",
        .preset = "standard output"),
    ROW(ENUM, format, .name = "format", .arg = "FORMAT", .choice = format_name,
        .help = "file format", .preset = "by the file's suffix, raw on standard output"),
    ROW(TEXT, times, .name = "times", .arg = "FILE", .complete = CLI_COMPLETE_FILE,
        .help = "write number and time of each frame to this file as well, one JSON object a line"),
};

/* ---- words into numbers ------------------------------------------------------------------------
 */

static void free_frames(int64_t **frames)
{
    free(*frames);
    *frames = NULL;
}

/* "0,7,21" into a list; 0 or an exit status. */
static int parse_frames(const char *text, int64_t **ret_frames, size_t *ret_n)
{
    int64_t *frames = calloc(strlen(text) / 2 + 1, sizeof *frames);
    size_t n = 0;
    *ret_frames = frames; /* the caller frees it in every case */
    if (!frames)
        return cli_fail("window", -ENOMEM, &(struct swt_diag)CLI_DIAG);
    for (const char *s = text;; s++) {
        char *end = NULL;
        errno = 0;
        intmax_t v = *s >= '0' && *s <= '9' ? strtoimax(s, &end, 10) : -1;
        if (v < 0 || errno || (*end && *end != ','))
            return cli_usage("window", "--frames '%s': not a list of frame numbers such as 0,7,21",
                             text);
        frames[n++] = (int64_t)v;
        s = end;
        if (!*s)
            break;
    }
    *ret_n = n;
    return 0;
}

/* One number or up to four with commas, ended by `stop`; the last one fills up. Returns the end, or
 * NULL. */
static const char *parse_numbers(const char *s, char stop, double ret[4], int *ret_n)
{
    for (int i = 0; i < 4; i++) {
        char *end = NULL;
        if (!*s || !strchr("+-.0123456789", *s))
            return NULL;
        double v = strtod(s, &end);
        if (end == s || (*end != ',' && *end != stop) || !(v > -1e30 && v < 1e30))
            return NULL;
        *ret_n = i + 1;
        for (int k = i; k < 4; k++)
            ret[k] = v;
        s = end;
        if (*s == stop)
            return s;
        s++;
    }
    return NULL;
}

static int parse_norm(const char *text, struct swt_window_spec *spec)
{
    static const struct {
        const char *name;
        double mean[4], std[4];
    } known[] = {{"0..1", {0, 0, 0, 0}, {1, 1, 1, 1}},
                 {"-1..1", {0.5, 0.5, 0.5, 0.5}, {0.5, 0.5, 0.5, 0.5}},
                 {"imagenet", {0.485, 0.456, 0.406, 0}, {0.229, 0.224, 0.225, 1}}};
    spec->has_norm = 1;
    for (size_t i = 0; i < CLI_N(known); i++)
        if (strcmp(known[i].name, text) == 0) {
            memcpy(spec->mean, known[i].mean, sizeof spec->mean);
            memcpy(spec->std, known[i].std, sizeof spec->std);
            spec->n_norm = i == 2 ? 3 : 1;
            return 0;
        }
    int n_mean = 0, n_std = 0;
    const char *colon = parse_numbers(text, ':', spec->mean, &n_mean);
    const char *end = colon ? parse_numbers(colon + 1, 0, spec->std, &n_std) : NULL;
    if (!end || (n_mean != n_std && n_mean != 1 && n_std != 1))
        return cli_usage("window", "--norm '%s': not 0..1, -1..1, imagenet or MEAN:STD", text);
    spec->n_norm = n_mean > n_std ? n_mean : n_std;
    for (int i = 0; i < 4; i++)
        if (!(spec->std[i] > 1e-30))
            return cli_usage("window", "--norm '%s': a deviation must be more than 0", text);
    return 0;
}

/* ---- the selection -----------------------------------------------------------------------------
 */

static int fill_selection(const struct window_args *a, struct swt_window_spec *spec)
{
    bool has_length = a->length.kind != SWT_LENGTH_NONE;
    if (a->last.kind != SWT_LENGTH_NONE) {
        spec->select = SWT_SELECT_LAST;
        spec->length = a->last;
    } else if (a->at.kind != SWT_POS_NONE) {
        spec->select = SWT_SELECT_AT;
        spec->from = a->at;
    } else if (a->frames) {
        spec->select = SWT_SELECT_FRAMES;
    } else {
        spec->select = SWT_SELECT_RANGE;
        spec->length = a->length;
        spec->from = a->from.kind == SWT_POS_NONE ? (struct swt_pos){SWT_POS_START, 0} : a->from;
        spec->to = a->to.kind == SWT_POS_NONE && !has_length ? (struct swt_pos){SWT_POS_END, 0}
                                                             : a->to;
    }
    return has_length && a->to.kind != SWT_POS_NONE
               ? cli_usage("window", "--to and --for exclude each other")
               : 0;
}

static int fill_shape(const struct window_args *a, struct swt_window_spec *spec)
{
    spec->stride = a->stride;
    spec->edge = (enum swt_edge)a->edge;
    spec->width = a->size.width;
    spec->height = a->size.height;
    spec->filter = (enum swt_filter)a->filter;
    spec->crop_width = a->crop.width;
    spec->crop_height = a->crop.height;
    spec->crop_x = a->crop.x;
    spec->crop_y = a->crop.y;
    spec->pixel = a->pixel;
    spec->layout = (enum swt_layout)a->layout;
    spec->dtype = a->dtype < 0 ? SWT_DTYPE_NONE : dtypes[a->dtype];
    if (!a->norm)
        return 0;
    if (spec->dtype == SWT_DTYPE_NONE)
        spec->dtype = SWT_F32;
    return parse_norm(a->norm, spec);
}

/* ---- the output --------------------------------------------------------------------------------
 */

static bool to_stdout(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int choose_format(const struct window_args *a, enum swt_file_format *ret_format)
{
    if (!to_stdout(a->output) && is_folder(a->output)) {
        cli_error("window", "%s: is a directory", a->output);
        return CLI_FAILED;
    }
    *ret_format = a->format >= 0 ? (enum swt_file_format)(a->format + 1) : SWT_FORMAT_RAW;
    if (a->format < 0 && !to_stdout(a->output))
        *ret_format = swt_file_format_of_path(a->output);
    if (*ret_format == SWT_FORMAT_NONE)
        return cli_usage("window",
                         "%s: the suffix names no format that swt writes; --format says which",
                         a->output);
    if (to_stdout(a->output) && *ret_format != SWT_FORMAT_NDJSON && isatty(STDOUT_FILENO))
        return cli_usage("window",
                         "binary data is not written to a terminal: use -o FILE or a pipe");
    return 0;
}

static int check_times(const struct window_args *a)
{
    if (!a->times)
        return 0;
    if (strcmp(a->times, "-") == 0 && to_stdout(a->output))
        return cli_usage("window", "--times -: the window itself goes to standard output");
    if (a->output && strcmp(a->times, a->output) == 0)
        return cli_usage("window", "--times '%s': the window itself goes there", a->times);
    return 0;
}

static int give(struct swt_window *window, enum swt_file_format format, const char *path,
                struct swt_diag *diag)
{
    return to_stdout(path) ? swt_window_write(window, format, STDOUT_FILENO, diag)
                           : swt_window_save(window, format, path, diag);
}

/* ---- the command -------------------------------------------------------------------------------
 */

static void tell(const struct window_args *a, const struct swt_window *window)
{
    struct swt_window_info info;
    swt_window_info_get(window, &info);
    if (info.note[0] && !a->common.is_quiet)
        cli_error("window", "note: %s", info.note);
    if (a->common.is_verbose)
        cli_error("window", "%s: %" PRId64 " frames (%" PRId64 " real), %" PRIu64 " bytes of %s",
                  info.stream, info.n_frames, info.n_valid, info.bytes, swt_dtype_name(info.dtype));
}

static int take(const struct window_args *a, const struct swt_window_spec *spec,
                enum swt_file_format format)
{
    AUTO(swt_recording_close) struct swt_recording *recording = NULL;
    AUTO(swt_window_close) struct swt_window *window = NULL;
    struct swt_diag diag = CLI_DIAG;
    int rc = swt_recording_open(a->common.words[0], &recording, &diag);
    if (rc >= 0)
        rc = swt_window_open(recording, spec, &window, &diag);
    if (rc < 0)
        return cli_fail("window", rc, &diag);
    tell(a, window);
    rc = give(window, format, a->output, &diag);
    if (rc >= 0 && a->times)
        rc = strcmp(a->times, "-") == 0
                 ? swt_window_write(window, SWT_FORMAT_NDJSON, STDOUT_FILENO, &diag)
                 : swt_window_save_times(window, a->times, &diag);
    return rc < 0 ? cli_fail("window", rc, &diag) : 0;
}

static int run(const void *args)
{
    const struct window_args *a = args;
    struct cli_log log = {"window", &a->common};
    AUTO(free_frames) int64_t *frames = NULL;
    enum swt_file_format format = SWT_FORMAT_NONE;
    struct swt_window_spec spec;
    swt_window_spec_init(&spec);
    spec.stream = a->stream;
    spec.log = cli_log;
    spec.log_arg = &log;
    int status = fill_selection(a, &spec);
    if (!status)
        status = fill_shape(a, &spec);
    if (!status && a->frames)
        status = parse_frames(a->frames, &frames, &spec.n_frames);
    spec.frames = frames;
    if (!status)
        status = check_times(a);
    if (!status)
        status = choose_format(a, &format);
    spec.for_format = (int)format;
    return status ? status : take(a, &spec, format);
}

static const struct cli_note exits[] = {
    {"3", "damage was found; the output ends before it and the message names the frame"},
    {"4", "the window asked for is not there: not yet recorded, or the stream is too short"},
    {NULL, NULL}};
static const struct cli_note examples[] = {
    {"swt window clip.swt --last 64 --size 224x224 -o w.npy",
     "The newest 64 pictures as one array [64, 224, 224, 3]"},
    {"swt window clip.swt --stream audio --last 2s -o w.wav", "The newest two seconds of sound"},
    {"swt window clip.swt --from 1s --to 2s --stride 2 -o w.y4m",
     "Every other picture of the second second, as a file that video programs read"},
    {"swt window clip.swt --last 16 --layout TCHW --norm imagenet | wc -c",
     "Normalised f32 for a network, to another program"},
    {"swt window clip.swt --last 3 --format ndjson",
     "What the newest three frames are: number, times, flags"},
    {NULL, NULL}};

const struct cli_command cmd_window = {
    .name = "window",
    .summary = "Give a range or choice of frames as one tensor",
    .synopsis = "RECORDING SELECTION [options]",
    .word = "RECORDING",
    .min_words = 1,
    .max_words = 1,
    .complete = CLI_COMPLETE_DIR,
    CLI_OPTIONS(options),
    .need_group = "no selection given: --last, --from, --to, --for, --at or --frames",
    .exits = exits,
    .examples = examples,
    CLI_ARGS(struct window_args, {.stride = 1, .dtype = -1, .format = -1}),
    .run = run,
};
