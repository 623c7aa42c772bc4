/* SPDX-License-Identifier: MIT
 *
 * test_media_source.c - what inputs are called, what is refused and how it is said, streams and packets as they
 * come out: times where the container gives none, pictures apart, the end told once, nobody waiting for ever.
 */
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "media_t.h"

#define SECOND INT64_C(1000000000)

static void put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* A mono 16-bit WAV of n samples of one value; the header says `said` data bytes. */
static void write_wav(const char *name, int n, int16_t value, uint32_t said)
{
    static int16_t samples[1 << 16];
    uint8_t h[44] = "RIFF....WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data";
    put32(h + 4, said + 36);
    put32(h + 40, said);
    for (int i = 0; i < n; i++)
        samples[i] = value;
    tool_enter();
    tool_write(name, h, sizeof h, samples, 2 * (size_t)n);
}

static bool is_one_line(const char *text)
{
    return text[0] && !strchr(text, '\n');
}

TEST(names__an_existing_file_is_a_file_whatever_it_looks_like)
{
    static const char *const names[] = {"-dash.wav",        "a:b.wav",       "100%d.wav",
                                        "two  spaces .wav", "new\nline.wav", "q?x=1&y#z.wav",
                                        "[1-3]*.wav",       "http:.wav",     "concat:a|b.wav",
                                        "lavfi:testsrc",    "it's \"q\".mkv"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        write_wav(names[i], 100 + (int)i, 7, 2 * (100 + (uint32_t)i));
        struct media_all a = read_all(names[i], SECOND, NULL);
        if (a.open_code < 0)
            T_FAIL("%s: %s", names[i], a.diag.text);
        CHECK_INT(a.end_code, SWT_E_END);
        CHECK_INT(a.n_packets, 1);
        CHECK_INT(a.packets[0].n, 2 * (100 + i));
        all_done(&a);
    }
}

/* The same through FFmpeg, which reads patterns, protocols and numbers into names. */
TEST(names__of_containers_are_taken_as_they_are)
{
    static const char *const names[] = {"-dash.mkv", "100%d.mkv", "q?x=1&y#z.mkv",
                                        "http:.mkv", "a|b.mkv",   "%03d.png"};
    CHECK(make(VIDEO_IN "-frames:v 3 -c:v ffv1 plain.mkv"));
    CHECK(make(VIDEO_IN "-frames:v 1 plain.png"));
    static uint8_t b[1 << 20];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bool is_png = strstr(names[i], ".png");
        tool_write(names[i], b, tool_read(is_png ? "plain.png" : "plain.mkv", b, sizeof b), NULL,
                   0);
        struct media_all a = read_all(names[i], SECOND, NULL);
        if (a.open_code < 0)
            T_FAIL("%s: %s", names[i], a.diag.text);
        CHECK_INT(a.n_packets, is_png ? 1 : 3);
        all_done(&a);
    }
}

TEST(open__what_is_no_input_is_refused_in_one_line)
{
    tool_enter();
    tool_write("empty.mp4", "", 0, NULL, 0);
    static uint8_t noise[50000];
    uint32_t seed = 9;
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
    tool_write("noise.bin", noise, sizeof noise, NULL, 0);
    tool_write("text.txt", "swt is not a film\n", 18, NULL, 0);
    static const struct {
        const char *input, *says;
    } rows[] = {{"no-such-file.mp4", "no such file"},
                {".", "directory"},
                {"empty.mp4", "empty"},
                {"noise.bin", "knows what is in it"},
                {"text.txt", "knows what is in it"},
                {"nope://host/x", "no protocol 'nope'"},
                {"", "no such file"},
                {"/dev/null", "no data"},
                {"lavfi:nosuchfilter", "nosuchfilter"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct media_all a = read_all(rows[i].input, SECOND, NULL);
        CHECK_INT(a.open_code, SWT_E_INPUT);
        CHECK(is_one_line(a.diag.text));
        if (!strstr(a.diag.text, rows[i].says))
            T_FAIL("%s: \"%s\" says nothing of \"%s\"", rows[i].input, a.diag.text, rows[i].says);
    }
}

TEST(streams__defaults_are_the_flagged_ones_and_the_rest_is_named)
{
    CHECK(make(VIDEO_IN "-c:v mpeg4 -frames:v 5 v0.mkv"));
    CHECK(make("-f lavfi -i testsrc2=s=64x48:r=10:d=1 -c:v mpeg4 v1.mkv"));
    static const char subtitle[] = "1\n00:00:00,100 --> 00:00:00,900\nhello\n\n";
    tool_write("s.srt", subtitle, sizeof subtitle - 1, NULL, 0);
    CHECK(make("-i v0.mkv -i v1.mkv -f lavfi -t 1 -i sine=r=48000 -f lavfi -t 1 -i sine=r=16000 -i "
               "s.srt -map 0 "
               "-map 1 -map 2 -map 3 -map 4 -c:v copy -c:a pcm_s16le -c:s srt -disposition:v:0 0 "
               "-disposition:v:1 "
               "default -disposition:a:0 0 -disposition:a:1 default -metadata:s:a:1 language=deu "
               "many.mkv"));
    struct media_all a = read_all("many.mkv", SECOND, NULL);
    CHECK_INT(a.open_code, 0);
    CHECK_INT(a.info.n_streams, 4);
    const struct media_stream *s = a.info.streams;
    CHECK(!s[0].is_default && s[1].is_default && !s[2].is_default && s[3].is_default);
    CHECK(!s[1].is_raw && s[2].is_raw);
    CHECK_STR(a.info.left_out, "subtitle (subrip)");
    CHECK_STR(a.info.format, "matroska");
    CHECK_STR(s[3].label, "deu");
    CHECK_STR(s[1].params.codec, "mpeg4");
    CHECK_INT(s[3].params.rate.num, 16000);
    CHECK_INT(s[1].params.width, 64);
    all_done(&a);
    const uint8_t keep[] = {0, 1, 0, 0};
    a = read_all("many.mkv", SECOND, keep);
    CHECK_INT(a.n_packets, 10);
    for (int i = 0; i < a.n_packets; i++)
        CHECK_INT(a.packets[i].stream, 1);
    all_done(&a);
}

TEST(streams__a_cover_is_no_video)
{
    CHECK(make("-f lavfi -i sine=d=1 -f lavfi -i color=red:s=64x64:d=0.04 -map 0 -map 1 -c:a "
               "libmp3lame -c:v mjpeg "
               "-frames:v 1 -disposition:v attached_pic cover.mp3"));
    struct media_all a = read_all("cover.mp3", SECOND, NULL);
    CHECK_INT(a.info.n_streams, 2);
    CHECK(a.info.streams[0].is_default && !a.info.streams[0].is_attached);
    CHECK(!a.info.streams[1].is_default && a.info.streams[1].is_attached);
    all_done(&a);
}

TEST(streams__a_turned_picture_says_how_to_turn_it_upright)
{
    static const struct {
        int32_t a, b, c, d;
        int rotation;
        bool hflip;
    } rows[] = {{0, 1, -1, 0, 90, false}, {-1, 0, 0, -1, 180, false}, {0, -1, 1, 0, 270, false},
                {-1, 0, 0, 1, 0, true},   {1, 0, 0, -1, 180, true},   {1, 0, 0, 1, 0, false}};
    static uint8_t b[1 << 20];
    CHECK(make(VIDEO_IN "-c:v mpeg4 -frames:v 2 turn.mp4"));
    size_t n = tool_read("turn.mp4", b, sizeof b), at = 0;
    for (size_t i = 0; i + 80 < n && !at; i++)
        at = memcmp(b + i, "tkhd", 4) == 0 ? i + 44 : 0;
    CHECK(at > 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int32_t m[4] = {rows[i].a, rows[i].b, rows[i].c, rows[i].d};
        for (int k = 0; k < 4; k++) { /* 16.16 big-endian at 0, 4, 12, 16 */
            uint8_t *p = b + at + (k < 2 ? 4 * k : 4 + 4 * k);
            p[0] = p[1] = m[k] < 0 ? 0xff : 0;
            p[1] = m[k] > 0 ? 1 : p[1];
            p[2] = p[3] = 0;
        }
        tool_write("turned.mp4", b, n, NULL, 0);
        struct media_all a = read_all("turned.mp4", SECOND, NULL);
        CHECK_INT(a.info.streams[0].params.rotation, rows[i].rotation);
        CHECK_INT(a.info.streams[0].params.hflip, rows[i].hflip);
        all_done(&a);
    }
}

/* ---- times --------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Presentation times sorted are first, first + step, …, and no packet is shown before it is decoded. */
static void check_times(const char *file, int pictures, int64_t first, int64_t step)
{
    struct media_all a = read_all(file, SECOND, NULL);
    int64_t pts[64];
    CHECK_INT(a.end_code, SWT_E_END);
    CHECK_INT(a.n_packets, pictures);
    CHECK(pictures <= 64);
    for (int i = 0; i < pictures; i++) {
        pts[i] = a.packets[i].pts;
        CHECK(a.packets[i].pts != MEDIA_NO_PTS && a.packets[i].dts <= a.packets[i].pts);
        CHECK(i == 0 || a.packets[i].dts > a.packets[i - 1].dts);
    }
    qsort(pts, (size_t)pictures, sizeof *pts, compare);
    for (int i = 0; i < pictures; i++)
        CHECK_INT(pts[i], first + i * step);
    all_done(&a);
}

TEST(times__of_raw_h264_follow_the_rate_in_its_header)
{
    CHECK(make("-f lavfi -i testsrc2=s=96x64:r=10:d=5 -c:v libx264 -bf 3 -g 17 raw10.h264"));
    check_times("raw10.h264", 50, 0, 120000); /* 0.1 s of 1/1200000 */
    CHECK(make("-f lavfi -i testsrc2=s=96x64:r=10:d=5 -c:v libx264 -bf 0 raw10b0.h264"));
    check_times("raw10b0.h264", 50, 0, 120000);
}

TEST(times__of_avi_with_b_pictures_are_those_of_a_player)
{
    CHECK(make("-f lavfi -i testsrc2=s=96x64:r=10:d=5 -c:v mpeg4 -bf 2 asp.avi"));
    check_times("asp.avi", 50, 1, 1);
}

TEST(packets__dropped_pictures_of_avi_are_no_packets)
{
    CHECK(make(VIDEO_IN "-vf \"select='not(eq(n,8)+eq(n,9)+eq(n,20))'\" -fps_mode passthrough -c:v "
                        "mjpeg drop.mkv"));
    CHECK(make("-i drop.mkv -c copy drop.avi"));
    struct media_all a = read_all("drop.avi", SECOND, NULL);
    CHECK_INT(a.end_code, SWT_E_END);
    CHECK_INT(a.n_packets, 22);
    CHECK_INT(a.packets[8].pts - a.packets[7].pts, 3 * (a.packets[1].pts - a.packets[0].pts));
    all_done(&a);
}

/* Two pictures in one packet, then an empty one, as DivX and XviD write them into AVI. */
TEST(packets__packed_pictures_come_apart)
{
    static uint8_t b[1 << 20], o[1 << 20];
    CHECK(make(
        "-f lavfi -i testsrc2=s=96x64:r=10:d=1 -c:v mpeg4 -bf 1 -b_strategy 0 -g 10 plain4.avi"));
    size_t n = tool_read("plain4.avi", b, sizeof b), at = 0, to;
    for (size_t i = 12; i + 4 < n && !at; i++)
        at = memcmp(b + i, "movi", 4) == 0 ? i + 4 : 0;
    memcpy(o, b, to = at);
    uint8_t *chunk[64];
    uint32_t size[64];
    int count = 0;
    while (at + 8 < n && memcmp(b + at, "00dc", 4) == 0 && count < 64) {
        memcpy(&size[count], b + at + 4, 4);
        chunk[count] = b + at + 8;
        at += 8 + size[count] + (size[count] & 1);
        count++;
    }
    CHECK(count == 10);
    /* I P B P B …: each P with its B, then a not-coded VOP. The user data says "packed". */
    static const char says[] = "\0\0\1\xb2"
                               "DivX503b1393p";
    static const uint8_t not_coded[] = {0, 0, 1, 0xb6, 0x70, 0, 0x7f};
    for (int i = 0; i < count;) {
        bool is_pair = i > 0 && i + 1 < count;
        uint32_t bytes = size[i] + (is_pair ? size[i + 1] : 0) +
                         (i == 0 ? (uint32_t)sizeof says - 1 : 0);
        memcpy(o + to, "00dc", 4);
        put32(o + to + 4, bytes);
        to += 8;
        if (i == 0) { /* behind the headers, in front of the picture */
            size_t head = 0;
            while (memcmp(chunk[0] + head, "\0\0\1\xb6", 4) != 0 &&
                   memcmp(chunk[0] + head, "\0\0\1\xb3", 4) != 0)
                head++;
            memcpy(o + to, chunk[0], head);
            memcpy(o + to + head, says, sizeof says - 1);
            memcpy(o + to + head + sizeof says - 1, chunk[0] + head, size[0] - head);
        } else {
            memcpy(o + to, chunk[i], size[i]);
            if (is_pair)
                memcpy(o + to + size[i], chunk[i + 1], size[i + 1]);
        }
        to += bytes + (bytes & 1);
        if (is_pair) {
            memcpy(o + to, "00dc\7\0\0\0", 8);
            memcpy(o + to + 8, not_coded, sizeof not_coded);
            to += 16;
        }
        i += is_pair ? 2 : 1;
    }
    put32(o + 4, (uint32_t)to - 8);
    tool_write("packed.avi", o, to, NULL, 0);
    struct media_all a = read_all("packed.avi", SECOND, NULL);
    CHECK_INT(a.n_packets, 10);
    for (int i = 0; i < 10; i++)
        CHECK(a.packets[i].n > sizeof not_coded);
    all_done(&a);
    struct decoded d, plain;
    CHECK_INT(decode_all("packed.avi", 0, 0, &d), 0);
    CHECK_INT(decode_all("plain4.avi", 0, 0, &plain), 0);
    CHECK_INT(d.n_frames, 10);
    CHECK(is_same(&d, plain.bytes, plain.n_bytes));
    free(d.bytes);
    free(plain.bytes);
}

TEST(packets__edit_lists_and_encoder_delay_stay_with_them)
{
    CHECK(make(VIDEO_IN "-c:v libx264 -bf 2 -g 25 whole.mp4"));
    CHECK(make("-ss 0.48 -i whole.mp4 -c copy cut.mp4"));
    struct media_all a = read_all("cut.mp4", SECOND, NULL);
    int hidden = 0;
    for (int i = 0; i < a.n_packets; i++)
        hidden += (a.packets[i].flags & MEDIA_PACKET_DISCARD) != 0;
    CHECK_INT(a.n_packets - hidden, 13);
    CHECK(hidden > 0);
    CHECK_INT(a.info.start_ns, 0);
    all_done(&a);
    CHECK(make("-f lavfi -i sine=d=1 -c:a aac delay.m4a"));
    a = read_all("delay.m4a", SECOND, NULL);
    CHECK(a.packets[0].side & 1u << MEDIA_SIDE_SKIP_SAMPLES);
    CHECK(a.packets[0].pts < 0);
    CHECK_INT(a.info.start_ns, 0);
    all_done(&a);
}

TEST(packets__a_new_picture_size_in_mid_stream_is_told)
{
    CHECK(make("-f lavfi -i testsrc2=s=96x64:r=25:d=0.8 -c:v libx264 -bf 2 -output_ts_offset 1 -f "
               "mpegts r0.ts"));
    CHECK(make("-f lavfi -i testsrc2=s=128x96:r=25:d=0.8 -c:v libx264 -bf 2 -output_ts_offset 1.8 "
               "-f mpegts r1.ts"));
    CHECK_STR(tool_run("cat r0.ts r1.ts > res.ts"), "");
    struct media_all a = read_all("res.ts", SECOND, NULL);
    int changed = -1;
    for (int i = 0; i < a.n_packets; i++) {
        CHECK(a.packets[i].changed < 0 || changed < 0);
        changed = a.packets[i].changed >= 0 ? i : changed;
    }
    CHECK_INT(changed, 20);
    CHECK(a.packets[20].flags & MEDIA_PACKET_KEY);
    CHECK_INT(a.info.streams[0].params.width, 128);
    CHECK_INT(a.info.streams[0].params.height, 96);
    all_done(&a);
}

/* ---- sound files --------------------------------------------------------------------------------- */

TEST(sound__a_header_without_samples_is_an_empty_stream)
{
    write_wav("header.wav", 0, 0, 0);
    struct media_all a = read_all("header.wav", SECOND, NULL);
    CHECK_INT(a.open_code, 0);
    CHECK_INT(a.info.n_streams, 1);
    CHECK_INT(a.end_code, SWT_E_END);
    CHECK_INT(a.n_packets, 0);
    all_done(&a);
}

TEST(sound__what_follows_the_data_is_no_sound)
{
    write_wav("chunk.wav", 1000, 5, 2000);
    static uint8_t b[8192];
    size_t n = tool_read("chunk.wav", b, sizeof b);
    memcpy(b + n, "junk\xa0\x0f\0\0", 8);
    memset(b + n + 8, 0x7f, 4000);
    put32(b + 4, (uint32_t)n + 4000);
    tool_write("chunk.wav", b, n + 4008, NULL, 0);
    struct decoded d;
    CHECK_INT(decode_all("chunk.wav", 0, 0, &d), 0);
    CHECK_INT(d.n_bytes, 2000);
    CHECK_INT(((const int16_t *)(const void *)d.bytes)[999], 5);
    free(d.bytes);
}

TEST(sound__places_of_the_channels_are_named)
{
    CHECK(make("-f lavfi -i 'anullsrc=cl=5.1(side):r=8000:d=0.1' -c:a pcm_s16le six.wav"));
    struct media_all a = read_all("six.wav", SECOND, NULL);
    CHECK_STR(a.info.streams[0].params.channel_layout, "5.1(side)");
    CHECK_INT(a.info.streams[0].params.channels, 6);
    CHECK_STR(a.info.streams[0].params.codec, "pcm_s16le");
    CHECK(a.info.streams[0].is_raw);
    all_done(&a);
}

/* ---- the end ------------------------------------------------------------------------------------- */

static void check_cut(const char *file, int percent)
{
    static uint8_t b[4 << 20];
    size_t n = tool_read(file, b, sizeof b);
    CHECK(n > 100);
    tool_write("cut.bin", b, n * (size_t)percent / 100, NULL, 0);
    struct media_all a = read_all("cut.bin", SECOND, NULL);
    if (a.end_code != SWT_E_LOST || a.after_code != SWT_E_END || a.n_packets == 0 ||
        !is_one_line(a.diag.text))
        T_FAIL("%s cut at %d %%: open %d, %d packets, end %d, then %d: %s", file, percent,
               a.open_code, a.n_packets, a.end_code, a.after_code, a.diag.text);
    all_done(&a);
}

TEST(end__an_input_that_ends_early_says_so_once)
{
    CHECK(make(VIDEO_IN "-c:v mpeg4 long.mkv"));
    CHECK(make(VIDEO_IN "-c:v mjpeg long.avi"));
    CHECK(make(VIDEO_IN "-c:v mpeg4 -movflags +faststart long.mp4"));
    write_wav("long.wav", 30000, 1, 60000);
    check_cut("long.mkv", 60);
    check_cut("long.avi", 60);
    check_cut("long.mp4", 60);
    check_cut("long.wav", 60);
}

TEST(end__of_a_whole_input_is_clean)
{
    static const char *const files[] = {"long.mkv", "long.avi", "long.mp4", "long.wav"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct media_all a = read_all(files[i], SECOND, NULL);
        CHECK_INT(a.end_code, SWT_E_END);
        CHECK_INT(a.after_code, SWT_E_END);
        all_done(&a);
    }
}

/* ---- pipes --------------------------------------------------------------------------------------- */

/* Standard input is what a shell command writes; the one before is ended. */
static void feed(const char *command)
{
    static pid_t child;
    int ends[2];
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    if (pipe2(ends, O_CLOEXEC) < 0 || dup2(ends[0], STDIN_FILENO) < 0 || (child = fork()) < 0)
        abort();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    close(ends[1]);
}

TEST(pipe__an_index_at_the_end_is_refused_with_advice)
{
    CHECK(make(VIDEO_IN "-c:v mpeg4 tail.mp4"));
    feed("cat tail.mp4");
    struct media_all a = read_all("-", SECOND, NULL);
    CHECK_INT(a.open_code, SWT_E_INPUT);
    CHECK(strstr(a.diag.text, "seekable file") && strstr(a.diag.text, "faststart") &&
          is_one_line(a.diag.text));
}

TEST(pipe__the_same_file_as_standard_input_is_read)
{
    int fd = open("tail.mp4", O_RDONLY);
    CHECK(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    struct media_all a = read_all("-", SECOND, NULL);
    CHECK_INT(a.n_packets, 25);
    all_done(&a);
    close(fd);
}

TEST(pipe__what_comes_in_order_is_read_from_one)
{
    CHECK(make(VIDEO_IN "-c:v mpeg4 -movflags +faststart front.mp4"));
    feed("cat front.mp4");
    struct media_all a = read_all("-", SECOND, NULL);
    CHECK_INT(a.n_packets, 25);
    CHECK_INT(a.end_code, SWT_E_END);
    CHECK(!a.info.is_seekable);
    all_done(&a);
    write_wav("endless.wav", 1000, 3, 0xffffffffu);
    feed("cat endless.wav");
    struct decoded d;
    CHECK_INT(decode_all("-", 0, 0, &d), 0);
    CHECK_INT(d.n_bytes, 2000);
    CHECK_INT(d.n_corrupt, 0);
    free(d.bytes);
}

TEST(pipe__that_stays_open_gives_what_it_has_and_then_times_out)
{
    CHECK(make(VIDEO_IN "-c:v libx264 -bf 2 -g 10 -movflags frag_keyframe+empty_moov frag.mp4"));
    feed("cat frag.mp4; exec sleep 20");
    int64_t begin = clock_mono_ns();
    struct media_all a = read_all("-", SECOND, NULL);
    CHECK_INT(a.n_packets, 25);
    CHECK_INT(a.end_code, SWT_E_TIMEOUT);
    CHECK(is_one_line(a.diag.text));
    CHECK(clock_mono_ns() - begin < 15 * SECOND);
    all_done(&a);
}

TEST(pipe__that_says_nothing_times_out)
{
    feed("exec sleep 20");
    int64_t begin = clock_mono_ns();
    struct media_all a = read_all("-", SECOND / 5, NULL);
    CHECK_INT(a.open_code, SWT_E_TIMEOUT);
    CHECK(clock_mono_ns() - begin < 15 * SECOND);
}

static void *raise_flag(void *flag)
{
    struct timespec t = {0, 100000000};
    nanosleep(&t, NULL);
    atomic_store((atomic_int *)flag, 1);
    return NULL;
}

TEST(pipe__the_stop_flag_ends_waiting)
{
    atomic_int stop = 0;
    pthread_t thread;
    struct media_source *source = NULL;
    struct media_source_spec spec = {.input = "-", .timeout_ns = 20 * SECOND, .stop = &stop};
    feed("exec sleep 20");
    int64_t begin = clock_mono_ns();
    CHECK_INT(pthread_create(&thread, NULL, raise_flag, &stop), 0);
    int rc = sources()->open(&spec, &source, NULL);
    pthread_join(thread, NULL);
    CHECK_INT(rc, SWT_E_STOPPED);
    CHECK(clock_mono_ns() - begin < 15 * SECOND);
    feed("true");
}

TEST(pipe__with_a_name_waits_for_its_writer)
{
    tool_enter();
    CHECK_INT(mkfifo("named", 0600), 0);
    CHECK(make(VIDEO_IN "-c:v mpeg4 v.mkv"));
    CHECK_INT(system("(sleep 0.2; cat v.mkv > named) &"), 0);
    struct media_all a = read_all("named", 15 * SECOND, NULL);
    CHECK_INT(a.n_packets, 25);
    CHECK_INT(a.end_code, SWT_E_END);
    all_done(&a);
}

/* ---- devices, log -------------------------------------------------------------------------------- */

TEST(device__a_filter_graph_gives_raw_pictures_and_sound)
{
    struct media_all a = read_all("lavfi:testsrc2=s=64x48:d=1:r=10[out0];sine=d=1[out1]", SECOND,
                                  NULL);
    CHECK_INT(a.open_code, 0);
    CHECK_INT(a.info.n_streams, 2);
    CHECK(a.info.streams[0].is_raw && a.info.streams[1].is_raw && !a.info.is_live);
    CHECK_STR(a.info.streams[0].params.codec, "rawvideo");
    int pictures = 0;
    for (int i = 0; i < a.n_packets; i++)
        pictures += a.packets[i].stream == 0 && a.packets[i].n == 64 * 48 * 3 / 2;
    CHECK_INT(pictures, 10);
    all_done(&a);
}

static int n_lines;

static void count_line(void *arg, enum swt_log_level level, const char *room, const char *text)
{
    (void)arg;
    n_lines += level == SWT_LOG_WARNING && strcmp(room, "media") == 0 && is_one_line(text);
}

TEST(log__noise_of_the_libraries_goes_to_the_log_and_not_to_stderr)
{
    struct media_source *source = NULL;
    struct media_source_spec spec = {
        .input = "lavfi:nosuchfilter", .timeout_ns = SECOND, .log = {count_line, NULL}};
    FILE *f = tmpfile();
    int saved = dup(STDERR_FILENO);
    CHECK(f && saved >= 0);
    dup2(fileno(f), STDERR_FILENO);
    int rc = sources()->open(&spec, &source, NULL);
    dup2(saved, STDERR_FILENO);
    close(saved);
    CHECK_INT(rc, SWT_E_INPUT);
    CHECK(n_lines > 0);
    CHECK_INT(lseek(fileno(f), 0, SEEK_END), 0);
    fclose(f);
}

T_MAIN(
    RUN(names__an_existing_file_is_a_file_whatever_it_looks_like) RUN(
        names__of_containers_are_taken_as_they_are) RUN(open__what_is_no_input_is_refused_in_one_line)
        RUN(streams__defaults_are_the_flagged_ones_and_the_rest_is_named) RUN(
            streams__a_cover_is_no_video) RUN(streams__a_turned_picture_says_how_to_turn_it_upright)
            RUN(times__of_raw_h264_follow_the_rate_in_its_header) RUN(
                times__of_avi_with_b_pictures_are_those_of_a_player)
                RUN(packets__dropped_pictures_of_avi_are_no_packets) RUN(
                    packets__packed_pictures_come_apart)
                    RUN(packets__edit_lists_and_encoder_delay_stay_with_them) RUN(
                        packets__a_new_picture_size_in_mid_stream_is_told)
                        RUN(sound__a_header_without_samples_is_an_empty_stream) RUN(
                            sound__what_follows_the_data_is_no_sound)
                            RUN(sound__places_of_the_channels_are_named) RUN(
                                end__an_input_that_ends_early_says_so_once) RUN(end__of_a_whole_input_is_clean)
                                RUN(pipe__an_index_at_the_end_is_refused_with_advice) RUN(
                                    pipe__the_same_file_as_standard_input_is_read)
                                    RUN(pipe__what_comes_in_order_is_read_from_one) RUN(
                                        pipe__that_stays_open_gives_what_it_has_and_then_times_out)
                                        RUN(pipe__that_says_nothing_times_out) RUN(
                                            pipe__the_stop_flag_ends_waiting)
                                            RUN(pipe__with_a_name_waits_for_its_writer) RUN(
                                                device__a_filter_graph_gives_raw_pictures_and_sound)
                                                RUN(log__noise_of_the_libraries_goes_to_the_log_and_not_to_stderr))
