/* SPDX-License-Identifier: MIT
 *
 * record.c - swt record: inputs into a recording until they end, a limit is reached, or a signal
 * asks to stop. Options, signals, progress and the summary; the work is swt_record_run's.
 */
#include "cli.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

struct record_args {
    struct cli_common common;
    const char *output;
    int store, dtype; /* positions in their choices; dtype -1 = not given */
    struct cli_dims size;
    struct swt_ratio fps;
    const char *pixel, *tensor, *names, *video, *audio, *control;
    int64_t rate, channels, frames;
    int64_t duration, segment_duration, sync, timeout; /* ns; sync -1 = not given */
    uint64_t segment_bytes;
};

/* Positions are values of enum swt_store; the default cannot be typed. */
static const char *store_name(size_t i)
{
    static const char *const names[] = {"", "packets", "tensor", "both"};
    return i < CLI_N(names) ? names[i] : NULL;
}

static const enum swt_dtype sound_dtypes[] = {SWT_U8, SWT_S16, SWT_S32, SWT_F32};

static const char *dtype_name(size_t i)
{
    return i < CLI_N(sound_dtypes) ? swt_dtype_name(sound_dtypes[i]) : NULL;
}

#define ROW(kind, field, ...) OPT_##kind(struct record_args, field, __VA_ARGS__)
static const struct cli_option options[] = {
    ROW(TEXT, output, .name = "output", .letter = 'o', .arg = "RECORDING",
        .complete = CLI_COMPLETE_DIR, .flags = CLI_REQUIRED, .heading = "Output",
        .help = "the recording, a directory; made if it is not there, appended to if it is"),
    ROW(ENUM, store, .name = "store", .arg = "KIND", .choice = store_name,
        .help = "how to keep streams",
        .preset = "encoded video as packets, encoded sound as both, the rest as tensor"),
    ROW(TEXT, names, .name = "name", .arg = "A,B", .help = "names of the streams, in order",
        .preset = "video, audio, video2, ..."),
    ROW(DIMS, size, .name = "size", .arg = "WxH", .heading = "Video as tensors",
        .help = "scale pictures to this size"),
    ROW(RATIO, fps, .name = "fps", .arg = "RATE",
        .help = "keep this many pictures a second, e.g. 30 or 30000/1001; "
                "with --tensor the rate of the rows"),
    ROW(WORD, pixel, .name = "pixel", .arg = "FORMAT", .choice = swt_pixel_name,
        .help = "pixel format, see swt(1)", .preset = "the source's own"),
    ROW(INT, rate, .name = "rate", .arg = "HZ", .min = 1, .max = 1000000,
        .heading = "Sound as tensors", .help = "resample to this rate",
        .preset = "the source's own"),
    ROW(INT, channels, .name = "channels", .arg = "N", .min = 1, .max = 64,
        .help = "mix to this many channels", .preset = "the source's own"),
    ROW(ENUM, dtype, .name = "dtype", .arg = "DTYPE", .choice = dtype_name, .help = "sample type",
        .preset = "what the source decodes to"),
    ROW(TEXT, tensor, .name = "tensor", .arg = "DTYPE[:SHAPE]", .heading = "Rows",
        .help = "standard input is raw little-endian rows of this type and shape, e.g. f32:7 or "
                "u8:64x64x3; "
                "stream `tensor'"),
    ROW(TEXT, video, .name = "video", .arg = "N|none", .heading = "Which streams, how long",
        .help = "which video stream of an input, from 0", .preset = "the best"),
    ROW(TEXT, audio, .name = "audio", .arg = "N|none|all",
        .help = "which sound stream of an input, from 0", .preset = "the best"),
    ROW(DURATION, duration, .name = "duration", .arg = "DUR", .min = 1, .max = INT64_MAX,
        .help = "stop after this much media time"),
    ROW(INT, frames, .name = "frames", .arg = "N", .min = 1, .max = INT64_MAX,
        .help = "stop after so many frames of the first video, else of the first stream"),
    ROW(BYTES, segment_bytes, .name = "segment-bytes", .arg = "SIZE", .min = 1, .max = INT64_MAX,
        .heading = "Storage", .help = "begin a new segment file after this much",
        .preset = "512MiB for tensors, 64MiB for packets"),
    ROW(DURATION, segment_duration, .name = "segment-duration", .arg = "DUR", .min = 1,
        .max = INT64_MAX, .help = "begin a new segment file after this much time"),
    ROW(DURATION, sync, .name = "sync", .arg = "DUR", .flags = CLI_BARE_ZERO, .min = 0,
        .max = INT64_MAX,
        .help = "make data safe against power loss this often; 0 after each entry", .preset = "1s"),
    ROW(DURATION, timeout, .name = "timeout", .arg = "DUR", .min = 1, .max = INT64_MAX,
        .help = "give up a source that is silent for this long", .preset = "10s"),
    ROW(TEXT, control, .name = "control", .arg = "DIR", .complete = CLI_COMPLETE_DIR,
        .help = "where the control files that readers follow live", .preset = "/dev/shm/swt-UID"),
};

/* ---- signals -----------------------------------------------------------------------------------
 */

enum {
    OPEN_GRACE_S = 2
}; /* a signal while an input is being opened: how long that may still take */

static struct swt_record
    *volatile running; /* what the handler stops; signals give handlers no argument */
static volatile sig_atomic_t is_stopped, stopped_status;

static void on_stop(int sig)
{
    (void)sig;
    is_stopped = 1;
    if (running)
        swt_record_stop(running);
    else
        alarm(OPEN_GRACE_S);
}

static void on_alarm(int sig)
{
    static const char text[] = "swt record: interrupted before an input was open\n";
    (void)sig;
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    (void)n; /* there is nobody left to tell */
    _exit(stopped_status);
}

static void catch_signals(void)
{
    struct sigaction stop = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    struct sigaction grace = {.sa_handler = on_alarm};
    stopped_status = swt_exit_code(SWT_E_STOPPED);
    sigaction(SIGALRM, &grace, NULL);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
}

/* From here on a signal stops `record`; one that came while it was opened stops it now. */
static void signals_stop(struct swt_record *record)
{
    running = record;
    alarm(0);
    if (is_stopped && record)
        swt_record_stop(record);
}

/* ---- progress and summary ----------------------------------------------------------------------
 */

static void show_progress(void *arg, const struct swt_record_stream *streams, size_t n_streams)
{
    char line[400] = "", size[32], seconds[32];
    size_t used = 0;
    (void)arg;
    for (size_t i = 0; i < n_streams && used < sizeof line; i++) {
        const struct swt_record_stream *s = &streams[i];
        int n = snprintf(line + used, sizeof line - used, "%s%s %" PRIu64 " %s%s", i ? "  " : "",
                         s->name, s->frames_stored,
                         cli_seconds(s->duration_ns, seconds, sizeof seconds),
                         s->frames_dropped ? " DROPPED" : "");
        used += n > 0 ? (size_t)n : 0;
        n = used < sizeof line ? snprintf(line + used, sizeof line - used, " %s",
                                          cli_bytes(s->bytes, size, sizeof size))
                               : 0;
        used += n > 0 ? (size_t)n : 0;
    }
    cli_progress("%.*s", 78, line); /* one row of a terminal: a longer line would not be replaced */
}

static const char *per_hour(const struct swt_record_stream *s, char *buf, size_t cap)
{
    char size[32];
    buf[0] = 0;
    if (s->duration_ns > 0)
        snprintf(buf, cap, ", %s/h",
                 cli_bytes((uint64_t)((double)s->bytes * 3600e9 / (double)s->duration_ns), size,
                           sizeof size));
    return buf;
}

static void summary_line(const struct swt_record_stream *s)
{
    char seconds[32], rate[48], kept[300], note[300];
    fprintf(stderr,
            "%s: %" PRIu64 " %s in, %" PRIu64 " stored, %" PRIu64 " dropped, %" PRIu64
            " damaged, %" PRIu64 " gaps, %" PRIu64 " bytes, %s%s",
            s->name, s->frames_in, s->is_packets ? "packets" : "frames", s->frames_stored,
            s->frames_dropped, s->frames_damaged, s->gaps, s->bytes,
            cli_seconds(s->duration_ns, seconds, sizeof seconds), per_hour(s, rate, sizeof rate));
    if (s->kept[0])
        fprintf(stderr, "; %s", cli_clean(s->kept, kept, sizeof kept));
    if (s->note[0])
        fprintf(stderr, "; %s", cli_clean(s->note, note, sizeof note));
    fputc('\n', stderr);
}

static void summary(const struct swt_record *record)
{
    struct swt_record_stream s;
    for (size_t i = 0; swt_record_stream_get(record, i, &s) >= 0; i++)
        summary_line(&s);
}

/* ---- the command -------------------------------------------------------------------------------
 */

static void fill_spec(const struct record_args *a, struct cli_log *log,
                      struct swt_record_spec *spec)
{
    static const char *const standard_input[] = {"-"};
    swt_record_spec_init(spec);
    spec->path = a->output;
    spec->inputs = a->common.n_words ? a->common.words : standard_input;
    spec->n_inputs = a->common.n_words ? a->common.n_words : 1;
    spec->store = (enum swt_store)a->store;
    spec->width = a->size.width;
    spec->height = a->size.height;
    spec->fps = a->fps;
    spec->pixel = a->pixel;
    spec->rate_hz = (int)a->rate;
    spec->channels = (int)a->channels;
    spec->dtype = a->dtype < 0 ? SWT_DTYPE_NONE : sound_dtypes[a->dtype];
    spec->tensor = a->tensor;
    spec->names = a->names;
    spec->video = a->video;
    spec->audio = a->audio;
    spec->duration_ns = a->duration;
    spec->frames = a->frames;
    spec->segment_bytes = a->segment_bytes;
    spec->segment_ns = a->segment_duration;
    spec->sync_ns = a->sync;
    spec->timeout_ns = a->timeout;
    spec->control_dir = a->control;
    spec->log = cli_log;
    spec->log_arg = log;
    spec->progress = a->common.is_quiet ? NULL : show_progress;
}

static int check_words(const struct record_args *a)
{
    if (a->common.n_words == 0 && !a->tensor)
        return cli_usage("record", "no INPUT given; try 'swt record --help'");
    if (strcmp(a->output, "-") == 0)
        return cli_usage("record",
                         "-o -: a recording is a directory, it cannot go to standard output");
    return 0;
}

static int run(const void *args)
{
    const struct record_args *a = args;
    struct cli_log log = {"record", &a->common};
    struct swt_diag diag = CLI_DIAG;
    struct swt_record_spec spec;
    AUTO(swt_record_close) struct swt_record *record = NULL;
    int status = check_words(a);
    if (status)
        return status;
    fill_spec(a, &log, &spec);
    catch_signals();
    int rc = swt_record_open(&spec, &record, &diag);
    signals_stop(record);
    if (rc < 0) {
        int failed = cli_fail("record", rc, &diag);
        return failed == CLI_USAGE ? failed
                                   : CLI_FAILED; /* nothing was recorded: nothing is lost */
    }
    rc = swt_record_run(record, &diag);
    running = NULL;
    if (!a->common.is_quiet) {
        cli_progress("%s", "");
        summary(record);
    }
    return rc < 0 ? cli_fail("record", rc, &diag) : 0;
}

static const struct cli_note exits[] = {
    {"3", "done, but something that existed is not stored or not intact: dropped, corrupt, or a "
          "source fell silent"},
    {NULL, NULL}};
static const struct cli_note examples[] = {
    {"swt record clip.mp4 -o clip.swt", "A video with its sound, kept as it is and indexed"},
    {"swt record lavfi:testsrc2=size=320x240:rate=30 -o test.swt --duration 3s",
     "Three seconds of FFmpeg's test picture, as a tensor"},
    {"swt record clip.mp4 -o small.swt --size 224x224 --pixel rgb24 --fps 10",
     "A video decoded while recording, ready for a model"},
    {"head -c 28000 /dev/zero | swt record - -o rows.swt --tensor f32:7 --fps 100",
     "Rows of seven floats from another program, a hundred a second"},
    {NULL, NULL}};

const struct cli_command cmd_record = {
    .name = "record",
    .summary = "Record streams into a recording",
    .synopsis = "INPUT... -o RECORDING [options]",
    .word = "INPUT",
    .max_words = 64,
    .complete = CLI_COMPLETE_FILE,
    CLI_OPTIONS(options),
    .exits = exits,
    .examples = examples,
    CLI_ARGS(struct record_args, {.dtype = -1, .sync = -1, .fps = {0, 1}}),
    .run = run,
};
