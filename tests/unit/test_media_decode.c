/* SPDX-License-Identifier: MIT
 *
 * test_media_decode.c - pictures and sound through both media modules against what the ffmpeg tool decodes of
 * the same files: every byte, every time stamp, nothing kept back at the end.
 */
#include "format/segment.h"
#include "media_t.h"

_Static_assert((int)MEDIA_SIDE_SKIP_SAMPLES == (int)SEG_SIDE_SKIP_SAMPLES, "pinned kind");
_Static_assert((int)MEDIA_SIDE_BLOCK_ADDITIONAL == (int)SEG_SIDE_BLOCK_ADDITIONAL, "pinned kind");
_Static_assert((int)MEDIA_SIDE_NEW_EXTRADATA == (int)SEG_SIDE_NEW_EXTRADATA, "pinned kind");
_Static_assert((int)MEDIA_SIDE_PALETTE == (int)SEG_SIDE_PALETTE, "pinned kind");

/* Arguments of ffmpeg, file, format to compare in ("": as decoded), pictures. */
static const struct clip {
    const char *arguments, *file, *as;
    int pictures;
} clips[] = {
    {VIDEO_IN "-c:v libx264 -bf 3", "b.mp4", "", 25},
    {VIDEO_IN "-c:v libx264 -bf 3", "b.mkv", "", 25},
    {VIDEO_IN "-c:v libx264 -bf 8 -x264-params bframes=8:b-adapt=0", "b8.h264", "", 25},
    {VIDEO_IN "-c:v libx264 -bf 2 -bsf:v h264_mp4toannexb", "b.avi", "", 25},
    {VIDEO_IN "-vf setfield=tff -c:v libx264 -flags +ildct+ilme -x264-params tff=1:bframes=3",
     "tff.mkv", "", 25},
    {VIDEO_IN "-c:v mpeg4 -bf 2 -q:v 3", "asp.avi", "", 25},
    {VIDEO_IN "-c:v mpeg4 -bf 2 -q:v 3", "asp.m4v", "", 25},
    {VIDEO_IN "-c:v mpeg2video -bf 2 -q:v 3", "m2.mpg", "", 25},
    {VIDEO_IN "-c:v msmpeg4 -q:v 3", "ms.avi", "", 25},
    {VIDEO_IN "-c:v mjpeg -q:v 3", "m.avi", "", 25},
    {VIDEO_IN "-c:v ffv1 -level 3 -slices 4", "f.mkv", "", 25},
    {VIDEO_IN "-c:v ffv1 -pix_fmt yuv422p10le", "f10.mkv", "", 25},
    {VIDEO_IN "-c:v ffv1 -pix_fmt gbrp", "gbr.mkv", "", 25},
    {VIDEO_IN "-c:v rawvideo -pix_fmt yuv420p", "r.avi", "", 25},
    {VIDEO_IN "-c:v rawvideo -pix_fmt bgr24 -vf crop=101:77", "bgr.avi", "", 25},
    {VIDEO_IN "-c:v rawvideo -pix_fmt yuv422p", "r.nut", "", 25},
    {VIDEO_IN "-c:v rawvideo -pix_fmt pal8 -vf crop=100:76", "pal.avi", "rgba", 25},
    {VIDEO_IN, "y.y4m", "", 25},
    {VIDEO_IN "-frames:v 1 -pix_fmt rgb48be", "p48.png", "rgb48le", 1},
    {VIDEO_IN "-frames:v 1 -pix_fmt monob", "p1.png", "gray", 1},
    {VIDEO_IN "-frames:v 1", "p.jpg", "", 1},
    {VIDEO_IN "-frames:v 3 -c:v libx264 -bf 3", "three.mp4", "", 3},
    {VIDEO_IN "-frames:v 1 -c:v libx264 -bf 3", "one.mp4", "", 1},
};
#define N_CLIPS (sizeof clips / sizeof clips[0])

static int64_t count_out_of_order(const struct decoded *d)
{
    int64_t bad = 0;
    for (int i = 0; i < d->n_frames; i++)
        bad += d->tag[i] == MEDIA_NO_PTS || (i > 0 && d->tag[i] <= d->tag[i - 1]);
    return bad;
}

static bool clip_is_same(const struct clip *c, int threads)
{
    struct decoded d;
    if (!make("%s %s", c->arguments, c->file) || decode_all(c->file, 0, threads, &d) < 0)
        return false;
    size_t n = 0;
    uint8_t *want = reference(c->file, "0:v:0", c->as, &n);
    bool ok = is_same(&d, want, n) && d.n_frames == c->pictures && d.n_corrupt == 0 &&
              d.n_errors == 0 && count_out_of_order(&d) == 0;
    if (!ok)
        printf("# %s: %d pictures, %d corrupt, %d errors, %" PRId64 " tags out of order, %s\n",
               c->file, d.n_frames, d.n_corrupt, d.n_errors, count_out_of_order(&d),
               d.last.pixel_name);
    free(want);
    free(d.bytes);
    return ok;
}

TEST(decode__pictures_are_those_of_the_ffmpeg_tool)
{
    int bad = 0;
    for (size_t i = 0; i < N_CLIPS; i++)
        bad += !clip_is_same(&clips[i], 0);
    CHECK_INT(bad, 0);
}

TEST(decode__one_thread_gives_the_same)
{
    CHECK(clip_is_same(&clips[0], 1));
    CHECK(clip_is_same(&clips[5], 1));
}

/* Arguments, file, stream, sample format of the decoder as PCM. */
static const struct tune {
    const char *arguments, *file;
    int stream;
    const char *as;
} tunes[] = {
    {SOUND_IN "-c:a aac", "t.m4a", 0, "f32le"},
    {SOUND_IN "-c:a aac", "t.mkv", 0, "f32le"},
    {SOUND_IN "-c:a libmp3lame", "t.mp3", 0, "f32le"},
    {SOUND_IN "-c:a libopus", "t.opus", 0, "f32le"},
    {SOUND_IN "-c:a libopus", "to.mka", 0, "f32le"},
    {SOUND_IN "-c:a ac3", "t.ac3", 0, "f32le"},
    {SOUND_IN "-c:a alac -sample_fmt s16p", "ta.m4a", 0, "s16le"},
    {SOUND_IN "-c:a flac -sample_fmt s16", "t.flac", 0, "s16le"},
    {SOUND_IN "-c:a flac -sample_fmt s32", "t24.flac", 0, "s32le"},
    {SOUND_IN "-c:a flac -sample_fmt s16", "tf.mka", 0, "s16le"},
    {SOUND_IN "-c:a pcm_alaw", "alaw.wav", 0, "s16le"},
    {SOUND_IN "-c:a pcm_u8", "u8.wav", 0, "u8"},
    {SOUND_IN "-c:a pcm_s8", "s8.aiff", 0, "u8"},
    {SOUND_IN "-c:a pcm_s24le", "s24.wav", 0, "s32le"},
    {SOUND_IN "-c:a pcm_s24be", "s24.mov", 0, "s32le"},
    {SOUND_IN "-c:a pcm_s32le", "s32.w64", 0, "s32le"},
    {SOUND_IN "-c:a pcm_f32be", "f32.au", 0, "f32le"},
    {SOUND_IN "-c:a pcm_f64le", "f64.wav", 0, "f64le"},
    {SOUND_IN "-c:a pcm_s16be", "s16.caf", 0, "s16le"},
    {VIDEO_IN SOUND_IN "-c:v mpeg4 -c:a aac", "both.mp4", 1, "f32le"},
};

static bool tune_is_same(const struct tune *t)
{
    struct decoded d;
    if (!make("%s %s", t->arguments, t->file) || decode_all(t->file, t->stream, 0, &d) < 0)
        return false;
    size_t n = 0;
    uint8_t *want = reference(t->file, "0:a:0", t->as, &n);
    bool ok = is_same(&d, want, n) && d.n_errors == 0 && d.last.channels == 2 &&
              strcmp(d.last.channel_layout, "stereo") == 0;
    if (!ok)
        printf("# %s: %d frames, %d errors, %d channels %s\n", t->file, d.n_frames, d.n_errors,
               d.last.channels, d.last.channel_layout);
    free(want);
    free(d.bytes);
    return ok;
}

TEST(decode__sound_is_that_of_the_ffmpeg_tool)
{
    int bad = 0;
    for (size_t i = 0; i < sizeof tunes / sizeof tunes[0]; i++)
        bad += !tune_is_same(&tunes[i]);
    CHECK_INT(bad, 0);
}

TEST(decode__encoder_delay_is_cut_and_the_first_tag_is_time_zero)
{
    struct decoded d;
    CHECK(make("-f lavfi -i \"aevalsrc='0.9*eq(n,1000)-0.9*eq(n,30000)':s=44100:d=1\" -c:a aac "
               "-b:a 192k prime.m4a"));
    CHECK_INT(decode_all("prime.m4a", 0, 0, &d), 0);
    int n = (int)(d.n_bytes / sizeof(float)), top = 0, low = 0;
    const float *x = (const void *)d.bytes;
    for (int i = 0; i < n; i++) {
        top = x[i] > x[top] ? i : top;
        low = x[i] < x[low] ? i : low;
    }
    CHECK(n >= 44100 && n <= 45056);
    CHECK_INT(top, 1000);
    CHECK_INT(low, 30000);
    CHECK_INT(d.tag[0], 0);
    CHECK_INT(d.tag[1], 1024);
    free(d.bytes);
}

TEST(decode__what_an_edit_list_hides_is_not_given)
{
    struct decoded d;
    CHECK(make(VIDEO_IN "-c:v libx264 -bf 2 -g 25 whole.mp4"));
    CHECK(make("-ss 0.48 -i whole.mp4 -c copy cut.mp4"));
    CHECK_INT(decode_all("cut.mp4", 0, 0, &d), 0);
    CHECK_INT(d.n_frames, 13);
    CHECK_INT(d.tag[0], 0);
    free(d.bytes);
}

TEST(decode__interlaced_pictures_stay_whole_and_say_so)
{
    struct decoded d;
    CHECK_INT(decode_all("tff.mkv", 0, 0, &d), 0);
    CHECK_INT(d.n_frames, 25);
    CHECK(d.is_interlaced && d.is_top_first);
    free(d.bytes);
}

TEST(decode__colour_is_told_by_name)
{
    struct decoded d;
    CHECK(make(
        VIDEO_IN
        "-c:v libx264 -pix_fmt yuv420p10le -colorspace bt2020nc -color_range tv -color_primaries "
        "bt2020 -color_trc smpte2084 -vf setsar=16/15 colour.mkv"));
    CHECK_INT(decode_all("colour.mkv", 0, 0, &d), 0);
    CHECK_STR(d.last.matrix, "bt2020nc");
    CHECK_STR(d.last.range, "tv");
    CHECK_STR(d.last.primaries, "bt2020");
    CHECK_STR(d.last.transfer, "smpte2084");
    CHECK_STR(d.last.pixel_name, "yuv420p10");
    CHECK_INT(d.last.sar.num, 16);
    CHECK_INT(d.last.sar.den, 15);
    free(d.bytes);
    CHECK_INT(decode_all("m.avi", 0, 0, &d), 0);
    CHECK_STR(d.last.range, "pc"); /* yuvj420p is yuv420p in full range */
    CHECK_STR(d.last.pixel_name, "yuv420p");
    free(d.bytes);
}

/* A stream that begins at a picture which leans on one that is not there. */
TEST(decode__leading_pictures_of_an_open_group_are_flagged)
{
    struct decoded d;
    CHECK(make(VIDEO_IN "-c:v mpeg2video -bf 2 -g 12 -q:v 3 -flags -cgop og.m2v"));
    FILE *f = fopen("og.m2v", "rb"), *g = fopen("og2.m2v", "wb");
    static uint8_t b[1 << 20];
    size_t n = fread(b, 1, sizeof b, f), second = 0;
    for (size_t i = 4; i + 4 < n && !second; i++)
        if (memcmp(b + i, "\0\0\1\xb3", 4) == 0)
            second = i;
    CHECK(second > 0);
    fwrite(b + second, 1, n - second, g);
    fclose(f);
    fclose(g);
    CHECK_INT(decode_all("og2.m2v", 0, 0, &d), 0);
    size_t want_n = 0;
    uint8_t *want = reference("og2.m2v", "0:v:0", "", &want_n);
    size_t picture = 112 * 80 * 3 / 2;
    CHECK_INT(d.n_frames - d.n_corrupt, want_n / picture);
    free(want);
    free(d.bytes);
}

TEST(decode__a_broken_picture_is_an_error_or_flagged_and_the_rest_is_intact)
{
    struct decoded d, whole;
    CHECK_INT(decode_all("m.avi", 0, 0, &whole), 0);
    static uint8_t b[4 << 20];
    size_t n = tool_read("m.avi", b, sizeof b), at = 0;
    int seen = 0;
    for (size_t i = 0; i + 8 < n && !at; i++) { /* "00dc" is in the header, too */
        seen = memcmp(b + i, "movi", 4) == 0 ? 0 : seen + (memcmp(b + i, "00dc", 4) == 0);
        at = seen == 10 ? i : 0;
    }
    CHECK(at > 0);
    memset(b + at + 8, 0, 600);
    tool_write("broken.avi", b, n, NULL, 0);
    CHECK_INT(decode_all("broken.avi", 0, 0, &d), 0);
    CHECK_INT(d.n_frames - d.n_corrupt, 24);
    CHECK(d.n_errors + d.n_corrupt > 0);
    size_t picture = whole.n_bytes / 25;
    CHECK_MEM(d.bytes, whole.bytes, 9 * picture);
    CHECK_MEM(d.bytes + d.n_bytes - 15 * picture, whole.bytes + 10 * picture, 15 * picture);
    free(whole.bytes);
    free(d.bytes);
}

TEST(decode__flush_and_a_key_packet_begin_anew)
{
    struct media_source_spec spec = {.input = "b.mp4", .timeout_ns = INT64_C(5000000000)};
    struct decoded first = {0}, again = {0};
    for (int turn = 0; turn < 2; turn++) {
        struct media_source *source = NULL;
        static struct media_decoder *decoder;
        CHECK_INT(sources()->open(&spec, &source, NULL), 0);
        if (!decoder)
            CHECK_INT(decoders()->open(&sources()->info(source)->streams[0].params, 0, NULL,
                                       &decoder, NULL),
                      0);
        struct media_packet p;
        int changed, n = 0;
        struct decoded *to = turn ? &again : &first;
        while (sources()->read(source, &p, &changed, NULL) == 0 && n++ < 12 + 8 * turn) {
            CHECK_INT(decoders()->send(decoder, &p, NULL), 0);
            take_frames(decoder, to);
        }
        (void)decoders()->send(decoder, NULL, NULL);
        take_frames(decoder, to);
        decoders()->flush(decoder);
        sources()->close(&source);
        if (turn)
            decoders()->close(&decoder);
    }
    CHECK_INT(first.n_frames, 12);
    CHECK_INT(again.n_frames, 20);
    free(first.bytes);
    free(again.bytes);
}

TEST(decode__unknown_codec_is_no_decoder)
{
    AUTO(params_done) struct params p;
    struct media_decoder *decoder = NULL;
    struct swt_diag d;
    params_init(&p);
    strcpy(p.codec, "smell");
    CHECK_INT(decoders()->open(&p, 0, NULL, &decoder, &d), SWT_E_NO_DECODER);
    CHECK(strstr(d.text, "smell"));
    strcpy(p.codec, "subrip");
    CHECK_INT(decoders()->open(&p, 0, NULL, &decoder, &d), SWT_E_NO_DECODER);
}

TEST(decode__noise_neither_crashes_nor_hangs)
{
    static const char *const codecs[] = {"h264", "hevc",     "mpeg4", "mjpeg", "vp9",
                                         "ffv1", "rawvideo", "aac",   "flac"};
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
        AUTO(params_done) struct params p;
        params_init(&p);
        strcpy(p.codec, codecs[i]);
        p.width = 64;
        p.height = 48;
        p.channels = 2;
        p.rate = (struct swt_ratio){44100, 1};
        strcpy(p.pixel, "yuv420p");
        struct media_decoder *decoder = NULL;
        if (decoders()->open(&p, 2, NULL, &decoder, NULL) < 0)
            continue;
        struct decoded d = {0};
        uint8_t noise[2000];
        for (int k = 0; k < 50; k++) {
            for (size_t j = 0; j < sizeof noise; j++)
                noise[j] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
            struct media_packet packet = {
                .data = noise, .n_data = sizeof noise, .pts = k, .dts = k};
            (void)decoders()->send(decoder, &packet, NULL);
            take_frames(decoder, &d);
        }
        (void)decoders()->send(decoder, NULL, NULL);
        take_frames(decoder, &d);
        decoders()->close(&decoder);
        free(d.bytes);
    }
}

/* ---- sound conversion ---------------------------------------------------------------------------- */

static const struct media_resampler_ops *resamplers(void)
{
    const struct media_resampler_ops *ops = NULL;
    (void)media_resamplers(&ops, NULL);
    return ops;
}

TEST(resampler__float_to_s16_clips_and_never_wraps)
{
    const float in[] = {0, .5f, -.5f, 1.0f, -1.0f, 1.5f, -1.5f, 2.0f, -2.0f, .49998474f};
    const int16_t want[] = {0, 16384, -16384, 32767, -32768, 32767, -32768, 32767, -32768, 16384};
    struct media_resampler_spec spec = {.in_rate_hz = 48000,
                                        .in_channels = 1,
                                        .out_rate_hz = 48000,
                                        .out_channels = 1,
                                        .in_dtype = SWT_F32,
                                        .out_dtype = SWT_S16};
    struct media_resampler *r = NULL;
    const void *out;
    int n = 0;
    CHECK_INT(resamplers()->open(&spec, &r, NULL), 0);
    CHECK_INT(resamplers()->convert(r, in, 10, &out, &n, NULL), 0);
    CHECK_INT(n, 10);
    for (int i = 0; i < 10; i++)
        CHECK(abs(((const int16_t *)out)[i] - want[i]) <= 1);
    resamplers()->close(&r);
    CHECK(!r);
}

TEST(resampler__a_new_rate_gives_as_many_samples_as_the_time_holds)
{
    static int16_t in[48000 * 2];
    struct media_resampler_spec spec = {.in_rate_hz = 48000,
                                        .in_channels = 2,
                                        .out_rate_hz = 16000,
                                        .out_channels = 1,
                                        .in_layout = "stereo",
                                        .in_dtype = SWT_S16,
                                        .out_dtype = SWT_F32};
    struct media_resampler *r = NULL;
    const void *out;
    int n = 0, total = 0;
    for (size_t i = 0; i < 96000; i++)
        in[i] = 16384;
    CHECK_INT(resamplers()->open(&spec, &r, NULL), 0);
    for (int i = 0; i < 10; i++) {
        CHECK_INT(resamplers()->convert(r, in + 9600 * i, 4800, &out, &n, NULL), 0);
        total += n;
        if (i == 5)
            CHECK(((const float *)out)[n / 2] > 0.49f && ((const float *)out)[n / 2] < 0.51f);
    }
    CHECK_INT(resamplers()->convert(r, NULL, 0, &out, &n, NULL), 0);
    total += n;
    CHECK(total >= 15999 && total <= 16001);
    resamplers()->close(&r);
}

TEST(resampler__what_cannot_be_is_refused)
{
    struct media_resampler_spec spec = {
        .in_rate_hz = 0, .in_channels = 2, .out_rate_hz = 16000, .out_channels = 0};
    struct media_resampler *r = NULL;
    CHECK_INT(resamplers()->open(&spec, &r, NULL), SWT_E_UNSUPPORTED);
    CHECK(!r);
}

T_MAIN(RUN(decode__pictures_are_those_of_the_ffmpeg_tool) RUN(
    decode__one_thread_gives_the_same) RUN(decode__sound_is_that_of_the_ffmpeg_tool)
           RUN(decode__encoder_delay_is_cut_and_the_first_tag_is_time_zero) RUN(
               decode__what_an_edit_list_hides_is_not_given)
               RUN(decode__interlaced_pictures_stay_whole_and_say_so) RUN(
                   decode__colour_is_told_by_name)
                   RUN(decode__leading_pictures_of_an_open_group_are_flagged) RUN(
                       decode__a_broken_picture_is_an_error_or_flagged_and_the_rest_is_intact)
                       RUN(decode__flush_and_a_key_packet_begin_anew)
                           RUN(decode__unknown_codec_is_no_decoder) RUN(
                               decode__noise_neither_crashes_nor_hangs)
                               RUN(resampler__float_to_s16_clips_and_never_wraps) RUN(
                                   resampler__a_new_rate_gives_as_many_samples_as_the_time_holds)
                                   RUN(resampler__what_cannot_be_is_refused))
