/* SPDX-License-Identifier: MIT
 *
 * soundfile.c - sound files by libsndfile: WAV, RF64, W64, AIFF, AU, CAF with PCM or float, and FLAC, as packets
 * of PCM that hold the file's own values. Everything else is FFmpeg's.
 */
#include <libavcodec/avcodec.h>
#include <sndfile.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "media/demux/demux.h"

#define PACKET_BYTES (64 << 10)

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE "le"
#else
#define NATIVE "be"
#endif

/* How samples of a subtype are given: exact, and one of swt's own types. */
struct sample_row {
    int subtype;
    enum swt_dtype dtype;
    int bits, bytes; /* significant bits in the file; bytes as given */
    const char *codec;
};

struct sound_source {
    struct media_source base;
    SNDFILE *file;
    SF_INFO format;
    const struct sample_row *row;
    uint8_t *buffer; /* owned: one packet */
    sf_count_t packet_frames, pos;
    bool is_short; /* the file says that it is longer */
};

static const struct sample_row rows[] = {
    {SF_FORMAT_PCM_U8, SWT_U8, 8, 1, "pcm_u8"},
    {SF_FORMAT_PCM_S8, SWT_U8, 8, 1, "pcm_u8"},
    {SF_FORMAT_PCM_16, SWT_S16, 16, 2, "pcm_s16" NATIVE},
    {SF_FORMAT_PCM_24, SWT_S32, 24, 4, "pcm_s32" NATIVE},
    {SF_FORMAT_PCM_32, SWT_S32, 32, 4, "pcm_s32" NATIVE},
    {SF_FORMAT_FLOAT, SWT_F32, 32, 4, "pcm_f32" NATIVE},
    {SF_FORMAT_DOUBLE, SWT_F64, 64, 8, "pcm_f64" NATIVE},
};

static const struct {
    int format;
    const char *name;
} format_rows[] = {
    {SF_FORMAT_WAV, "wav"}, {SF_FORMAT_WAVEX, "wav"}, {SF_FORMAT_RF64, "rf64"},
    {SF_FORMAT_W64, "w64"}, {SF_FORMAT_AIFF, "aiff"}, {SF_FORMAT_AU, "au"},
    {SF_FORMAT_CAF, "caf"}, {SF_FORMAT_FLAC, "flac"},
};

static const char *format_name(int format)
{
    for (size_t i = 0; i < sizeof format_rows / sizeof format_rows[0]; i++)
        if (format_rows[i].format == (format & SF_FORMAT_TYPEMASK))
            return format_rows[i].name;
    return NULL;
}

static const struct sample_row *sample_row(int format)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].subtype == (format & SF_FORMAT_SUBMASK))
            return &rows[i];
    return NULL;
}

/* ---- layout -------------------------------------------------------------------------------------- */

static enum AVChannel channel_of(int place)
{
    static const struct {
        int place;
        enum AVChannel channel;
    } map[] = {
        {SF_CHANNEL_MAP_MONO, AV_CHAN_FRONT_CENTER},
        {SF_CHANNEL_MAP_LEFT, AV_CHAN_FRONT_LEFT},
        {SF_CHANNEL_MAP_RIGHT, AV_CHAN_FRONT_RIGHT},
        {SF_CHANNEL_MAP_CENTER, AV_CHAN_FRONT_CENTER},
        {SF_CHANNEL_MAP_FRONT_LEFT, AV_CHAN_FRONT_LEFT},
        {SF_CHANNEL_MAP_FRONT_RIGHT, AV_CHAN_FRONT_RIGHT},
        {SF_CHANNEL_MAP_FRONT_CENTER, AV_CHAN_FRONT_CENTER},
        {SF_CHANNEL_MAP_REAR_CENTER, AV_CHAN_BACK_CENTER},
        {SF_CHANNEL_MAP_REAR_LEFT, AV_CHAN_BACK_LEFT},
        {SF_CHANNEL_MAP_REAR_RIGHT, AV_CHAN_BACK_RIGHT},
        {SF_CHANNEL_MAP_LFE, AV_CHAN_LOW_FREQUENCY},
        {SF_CHANNEL_MAP_FRONT_LEFT_OF_CENTER, AV_CHAN_FRONT_LEFT_OF_CENTER},
        {SF_CHANNEL_MAP_FRONT_RIGHT_OF_CENTER, AV_CHAN_FRONT_RIGHT_OF_CENTER},
        {SF_CHANNEL_MAP_SIDE_LEFT, AV_CHAN_SIDE_LEFT},
        {SF_CHANNEL_MAP_SIDE_RIGHT, AV_CHAN_SIDE_RIGHT},
        {SF_CHANNEL_MAP_TOP_CENTER, AV_CHAN_TOP_CENTER},
        {SF_CHANNEL_MAP_TOP_FRONT_LEFT, AV_CHAN_TOP_FRONT_LEFT},
        {SF_CHANNEL_MAP_TOP_FRONT_RIGHT, AV_CHAN_TOP_FRONT_RIGHT},
        {SF_CHANNEL_MAP_TOP_FRONT_CENTER, AV_CHAN_TOP_FRONT_CENTER},
        {SF_CHANNEL_MAP_TOP_REAR_LEFT, AV_CHAN_TOP_BACK_LEFT},
        {SF_CHANNEL_MAP_TOP_REAR_RIGHT, AV_CHAN_TOP_BACK_RIGHT},
        {SF_CHANNEL_MAP_TOP_REAR_CENTER, AV_CHAN_TOP_BACK_CENTER},
    };
    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++)
        if (map[i].place == place)
            return map[i].channel;
    return AV_CHAN_NONE;
}

/* FFmpeg's name of the file's channel map: a known layout where the order is its own, else "FR+FL". False: the
 * file does not say, or says what FFmpeg has no word for. */
static bool layout_of_map(SNDFILE *file, int channels, char *ret_name, size_t cap)
{
    int places[64];
    AVChannelLayout layout = {0};
    char text[512] = "";
    if (channels > 64 ||
        !sf_command(file, SFC_GET_CHANNEL_MAP_INFO, places, channels * (int)sizeof places[0]))
        return false;
    for (int i = 0; i < channels; i++) {
        char name[16];
        size_t used = strlen(text);
        enum AVChannel c = channel_of(places[i]);
        if (c == AV_CHAN_NONE || av_channel_name(name, sizeof name, c) < 0)
            return false;
        snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? "+" : "", name);
    }
    if (av_channel_layout_from_string(&layout, text) < 0)
        return false;
    int n = av_channel_layout_describe(&layout, ret_name, cap);
    av_channel_layout_uninit(&layout);
    return n > 0 && (size_t)n <= cap;
}

static void set_layout(SNDFILE *file, int channels, char *ret_name, size_t cap)
{
    AVChannelLayout usual = {.nb_channels = channels};
    if (!layout_of_map(file, channels, ret_name, cap))
        av_layout_name(&usual, ret_name, cap);
}

/* ---- opening ------------------------------------------------------------------------------------- */

static void sound_free(struct media_source *base)
{
    struct sound_source *s = (struct sound_source *)base;
    if (s->file)
        sf_close(s->file);
    free(s->buffer);
}

static void sound_choose(struct media_source *base, const uint8_t *keep)
{
    if (!keep[0])
        base->end_code = SWT_E_END;
}

/* libsndfile is asked only about what begins like one of its files: it would try everything else, too. */
static bool is_like_soundfile(int fd)
{
    uint8_t p[12];
    if (pread(fd, p, sizeof p, 0) != sizeof p)
        return false;
    static const char *const begins[] = {"RF64", ".snd", "caff", "fLaC", "riff"};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (memcmp(p, begins[i], 4) == 0)
            return true;
    if (memcmp(p, "RIFF", 4) == 0 || memcmp(p, "RIFX", 4) == 0)
        return memcmp(p + 8, "WAVE", 4) == 0;
    return memcmp(p, "FORM", 4) == 0 && memcmp(p + 8, "AIF", 3) == 0;
}

/* libsndfile takes what is there of a WAV for all of it; the header knows how much there was. */
static bool is_cut_off(int fd)
{
    uint8_t p[12];
    struct stat st;
    bool is_read = pread(fd, p, sizeof p, 0) == sizeof p && fstat(fd, &st) == 0;
    return is_read && demux_riff_end(p, sizeof p) > st.st_size;
}

static int read_samples(struct sound_source *s, sf_count_t n, sf_count_t *ret_n)
{
    sf_count_t got = 0;
    int16_t *half = (int16_t *)(void *)s->buffer;
    if (s->row->dtype == SWT_S32)
        got = sf_readf_int(s->file, (int *)(void *)s->buffer, n);
    else if (s->row->dtype == SWT_F32)
        got = sf_readf_float(s->file, (float *)(void *)s->buffer, n);
    else if (s->row->dtype == SWT_F64)
        got = sf_readf_double(s->file, (double *)(void *)s->buffer, n);
    else
        got = sf_readf_short(s->file, half, n);
    for (sf_count_t i = 0; s->row->bytes == 1 && i < got * s->format.channels; i++)
        s->buffer[i] = (uint8_t)((half[i] >> 8) + 128); /* in place: i never passes 2 i */
    *ret_n = got;
    return sf_error(s->file) == SF_ERR_NO_ERROR ? 0 : SWT_E_LOST;
}

static int fill_stream(struct sound_source *s)
{
    struct media_stream *m = s->base.streams = calloc(1, sizeof *m);
    size_t frame_bytes = (size_t)s->row->bytes * (size_t)s->format.channels;
    s->packet_frames = frame_bytes < PACKET_BYTES ? (sf_count_t)(PACKET_BYTES / frame_bytes) : 1;
    /* 8-bit samples arrive as 16 bits. */
    s->buffer = calloc((size_t)s->packet_frames, 2 * frame_bytes + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!m || !s->buffer)
        return -ENOMEM;
    params_init(&m->params);
    av_copy_text(m->params.media, sizeof m->params.media, "audio");
    av_copy_text(m->params.codec, sizeof m->params.codec, s->row->codec);
    m->params.dtype = s->row->dtype;
    m->params.bits_per_sample = s->row->bits;
    m->params.block_align = (int32_t)frame_bytes;
    m->params.channels = s->format.channels;
    m->params.rate = (struct swt_ratio){s->format.samplerate, 1};
    m->params.time_base = (struct swt_ratio){1, s->format.samplerate};
    set_layout(s->file, s->format.channels, m->params.channel_layout,
               sizeof m->params.channel_layout);
    m->is_default = m->is_raw = true;
    s->base.info.n_streams = 1;
    s->base.info.is_seekable = true;
    return 0;
}

static int sound_read(struct media_source *base, struct media_packet *ret_packet, int *ret_changed,
                      struct swt_diag *reterr);
static const struct demux_kind kind = {sound_read, sound_choose, sound_free};

static void free_sound(struct sound_source **s)
{
    if (*s) {
        sound_free(&(*s)->base);
        free((*s)->base.streams);
        free(*s);
    }
    *s = NULL;
}

int demux_soundfile_open(const struct demux_input *input, struct media_source **ret,
                         struct swt_diag *reterr)
{
    if (!is_like_soundfile(input->fd))
        return 1;
    AUTO(free_sound) struct sound_source *s = calloc(1, sizeof *s);
    if (!s)
        return err_errno(reterr, ENOMEM, NULL, "source");
    s->base.kind = &kind;
    s->base.input.fd = -1;
    s->file = sf_open_fd(input->fd, SFM_READ, &s->format, 0);
    s->row = s->file ? sample_row(s->format.format) : NULL;
    const char *name = s->file ? format_name(s->format.format) : NULL;
    bool is_sane = s->row && name && s->format.channels >= 1 && s->format.samplerate >= 1;
    if (!is_sane)
        return lseek(input->fd, 0, SEEK_SET) < 0 ? err_errno(reterr, errno, input->text, "seek")
                                                 : 1;
    av_copy_text(s->base.info.format, sizeof s->base.info.format, name);
    if (fill_stream(s) < 0)
        return err_errno(reterr, ENOMEM, NULL, "source");
    s->is_short = is_cut_off(input->fd);
    *ret = &s->base;
    s = NULL;
    return 0;
}

/* ---- reading ------------------------------------------------------------------------------------- */

static void sound_end(struct sound_source *s, int rc)
{
    bool is_lost = rc < 0 || s->is_short || s->pos < s->format.frames;
    s->base.end_code = is_lost ? SWT_E_LOST : SWT_E_END;
    const char *why = rc < 0 ? sf_strerror(s->file) : "the input ends early";
    av_copy_text(s->base.end_text, sizeof s->base.end_text, why);
}

static int sound_read(struct media_source *base, struct media_packet *ret_packet, int *ret_changed,
                      struct swt_diag *reterr)
{
    struct sound_source *s = (struct sound_source *)base;
    (void)ret_changed; /* a sound file never changes */
    if (base->end_code)
        return demux_end(base, reterr);
    if (demux_wait_check(&base->wait) < 0 && base->wait.why == DEMUX_STOPPED)
        return err_at(reterr, SWT_E_STOPPED, base->input.text, -1, "stopped");
    sf_count_t n;
    int rc = read_samples(s, s->packet_frames, &n);
    if (n <= 0) {
        sound_end(s, rc);
        return demux_end(base, reterr);
    }
    *ret_packet = (struct media_packet){
        .data = s->buffer,
        .n_data = (size_t)n * (size_t)base->streams[0].params.block_align,
        .pts = s->pos,
        .dts = s->pos,
        .duration = n,
        .flags = MEDIA_PACKET_KEY,
        .capture_ns = clock_boot_ns(),
    };
    s->pos += n;
    return 0;
}
