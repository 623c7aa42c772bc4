/* SPDX-License-Identifier: MIT
 *
 * test_exchange_wav.c - WAV and RF64 headers as FFmpeg reads them.
 */
#include "exchange/files.h"
#include "t.h"
#include "tool.h"

#define PROBE                                                            \
    "ffprobe -v error -show_entries "                                    \
    "stream=codec_name,sample_rate,channels,channel_layout,duration_ts " \
    "-of csv=p=0 a.wav"

static size_t header_bytes;

static const char *as_ffmpeg(enum swt_dtype dtype, int channels, const char *layout,
                             uint64_t data_bytes)
{
    uint8_t *header = NULL;

    if (files_wav_header(dtype, channels, layout, 48000, data_bytes, &header, &header_bytes, NULL) <
        0)
        return "no header";
    tool_enter();
    tool_write("a.wav", header, header_bytes, NULL, 0);
    free(header);
    if (truncate("a.wav", (off_t)(header_bytes + data_bytes)))
        return "no space";
    return tool_run(PROBE);
}

TEST(wav__usual_layouts_are_plain)
{
    CHECK_STR(as_ffmpeg(SWT_S16, 1, "mono", 2000), "pcm_s16le,48000,1,unknown,1000");
    CHECK_INT(header_bytes, 44);
    CHECK_STR(as_ffmpeg(SWT_S16, 2, "stereo", 4000), "pcm_s16le,48000,2,unknown,1000");
    CHECK_INT(header_bytes, 44);
    CHECK_STR(as_ffmpeg(SWT_U8, 2, "", 2000), "pcm_u8,48000,2,unknown,1000");
    CHECK_STR(as_ffmpeg(SWT_S32, 2, "", 8000), "pcm_s32le,48000,2,unknown,1000");
    CHECK_STR(as_ffmpeg(SWT_F32, 1, "", 4000), "pcm_f32le,48000,1,unknown,1000");
    CHECK_INT(header_bytes, 58);
    CHECK_STR(as_ffmpeg(SWT_F64, 1, "", 8000), "pcm_f64le,48000,1,unknown,1000");
}

TEST(wav__other_layouts_carry_their_mask)
{
    CHECK_STR(as_ffmpeg(SWT_F32, 6, "5.1(side)", 24000), "pcm_f32le,48000,6,5.1(side),1000");
    CHECK_STR(as_ffmpeg(SWT_S16, 6, "5.1", 12000), "pcm_s16le,48000,6,5.1,1000");
    CHECK_STR(as_ffmpeg(SWT_S16, 8, "7.1", 16000), "pcm_s16le,48000,8,7.1,1000");
    CHECK_STR(as_ffmpeg(SWT_S16, 2, "FL+LFE", 4000), "pcm_s16le,48000,2,2 channels (FL+LFE),1000");
    CHECK_STR(as_ffmpeg(SWT_S16, 3, "3 channels (FL+FR+LFE)", 6000), "pcm_s16le,48000,3,2.1,1000");
    CHECK_STR(as_ffmpeg(SWT_S16, 1, "1 channels (FR)", 2000),
              "pcm_s16le,48000,1,1 channels (FR),1000");
}

TEST(wav__an_order_that_wav_cannot_say_has_no_mask)
{
    CHECK_STR(as_ffmpeg(SWT_S16, 3, "3 channels (FC+FL+FR)", 6000),
              "pcm_s16le,48000,3,unknown,1000");
    CHECK_STR(as_ffmpeg(SWT_S16, 5, "5.1", 10000), "pcm_s16le,48000,5,unknown,1000");
    CHECK_STR(as_ffmpeg(SWT_S16, 4, "ambisonic 1", 8000), "pcm_s16le,48000,4,unknown,1000");
}

TEST(wav__above_4_gib_is_rf64)
{
    CHECK_STR(as_ffmpeg(SWT_S16, 2, "stereo", UINT64_C(4) * 1100000000),
              "pcm_s16le,48000,2,unknown,1100000000");
    CHECK_STR(tool_run("head -c 4 a.wav"), "RF64");
    CHECK_STR(as_ffmpeg(SWT_F32, 6, "5.1", UINT64_C(24) * 200000000),
              "pcm_f32le,48000,6,5.1,200000000");
    CHECK_STR(as_ffmpeg(SWT_S16, 2, "stereo", UINT32_MAX - 163),
              "pcm_s16le,48000,2,unknown,1073741783");
    CHECK_STR(tool_run("head -c 4 a.wav"), "RIFF");
}

TEST(wav__samples_come_back)
{
    int16_t data[3000], back[3001];
    uint8_t *header;
    size_t n;

    tool_enter();
    for (int i = 0; i < 3000; i++)
        data[i] = (int16_t)(i * 7919);
    CHECK_INT(files_wav_header(SWT_S16, 3, "2.1", 44100, sizeof data, &header, &n, NULL), 0);
    tool_write("b.wav", header, n, data, sizeof data);
    free(header);
    CHECK_STR(tool_run("ffmpeg -v error -y -i b.wav -f s16le b.raw"), "");
    CHECK_INT(tool_read("b.raw", back, sizeof back), sizeof data);
    CHECK_MEM(back, data, sizeof data);
}

TEST(wav__what_does_not_fit_is_refused)
{
    struct swt_diag diag;
    uint8_t *header;
    size_t n;

    CHECK_INT(files_wav_header(SWT_F16, 1, "", 48000, 2, &header, &n, &diag), SWT_E_UNSUPPORTED);
    CHECK(strstr(diag.text, "f16") && strstr(diag.text, "f32"));
    CHECK_INT(files_wav_header(SWT_S16, 0, "", 48000, 2, &header, &n, NULL), SWT_E_UNSUPPORTED);
    CHECK_INT(files_wav_header(SWT_S16, 40000, "", 48000, 2, &header, &n, NULL), SWT_E_UNSUPPORTED);
    CHECK_INT(files_wav_header(SWT_S16, 30000, "", 96000, 2, &header, &n, NULL), SWT_E_UNSUPPORTED);
    CHECK_INT(files_wav_header(SWT_S16, 1, "", 0, 2, &header, &n, NULL), SWT_E_UNSUPPORTED);
    CHECK_INT(files_wav_header(SWT_S16, 1, "", 48000, UINT64_MAX, &header, &n, NULL),
              SWT_E_UNSUPPORTED);
}

T_MAIN(RUN(wav__usual_layouts_are_plain) RUN(wav__other_layouts_carry_their_mask)
           RUN(wav__an_order_that_wav_cannot_say_has_no_mask) RUN(wav__above_4_gib_is_rf64)
               RUN(wav__samples_come_back) RUN(wav__what_does_not_fit_is_refused))
