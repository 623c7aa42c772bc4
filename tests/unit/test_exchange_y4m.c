/* SPDX-License-Identifier: MIT
 *
 * test_exchange_y4m.c - YUV4MPEG2 headers as FFmpeg reads them, with every pixel format that they can say.
 */
#include "base/pixfmt.h"
#include "exchange/files.h"
#include "t.h"
#include "tool.h"

#define W 21
#define H 13

static const struct swt_ratio rate = {30000, 1001}, sar = {16, 15};

/* Two frames of random bytes out and, through FFmpeg, back: 0 if they are the same. Samples stay within the
 * format's bits, as FFmpeg masks nothing. */
static int round_trip(const struct pixfmt *f, const char *header)
{
    static uint8_t data[2][W * H * 8], back[2 * W * H * 8 + 1];
    size_t n = (size_t)pixfmt_bytes(f, W, H);
    FILE *file = fopen("a.y4m", "wb");

    fputs(header, file);
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < n; i++)
            data[k][i] = (uint8_t)(f->comp[0].depth > 8 && i % 2
                                       ? rand() % (1 << (f->comp[0].depth - 8))
                                       : rand());
        fputs("FRAME\n", file);
        fwrite(data[k], 1, n, file);
    }
    fclose(file);
    if (strcmp(tool_run("ffmpeg -v error -y -i a.y4m -f rawvideo -pix_fmt %s a.raw", f->ff_name),
               ""))
        return -1;
    if (tool_read("a.raw", back, sizeof back) != 2 * n)
        return -2;
    return memcmp(back, data[0], n) || memcmp(back + n, data[1], n);
}

TEST(y4m__ffmpeg_reads_every_format_bit_by_bit)
{
    const struct pixfmt *f;
    char header[256];
    int n = 0;

    tool_enter();
    for (size_t i = 0; (f = pixfmt_at(i)); i++) {
        const char *got, *want;

        if (files_y4m_header(f->name, W, H, rate, sar, "", "", "", header, NULL) < 0)
            continue;
        CHECK_INT(round_trip(f, header), 0);
        got = tool_run("ffprobe -v error -show_entries stream=pix_fmt,width,height,r_frame_rate,"
                       "sample_aspect_ratio -of csv=p=0 a.y4m");
        want = got + strlen("21,13,16:15,");
        CHECK(!strncmp(got, "21,13,16:15,", strlen("21,13,16:15,")));
        CHECK(strstr(got, "30000/1001"));
        if (strncmp(f->name, "yuvj", 4))
            CHECK(!strncmp(want, f->ff_name, strlen(f->ff_name)));
        n++;
    }
    CHECK_INT(n, 28);
}

TEST(y4m__siting_range_and_fields_are_told)
{
    static const char probe[] = "ffprobe -v error -show_entries "
                                "stream=chroma_location,color_range,field_order -of csv=p=0 b.y4m";
    char header[256];

    tool_enter();
    CHECK(files_y4m_header("yuv420p", W, H, rate, sar, "tv", "left", "tt", header, NULL) > 0);
    CHECK_STR(header, "YUV4MPEG2 W21 H13 F30000:1001 It A16:15 C420mpeg2 XYSCSS=420MPEG2 "
                      "XCOLORRANGE=LIMITED\n");
    tool_write("b.y4m", header, strlen(header), NULL, 0);
    CHECK_STR(tool_run("%s", probe), "tv,left,tt");
    CHECK(files_y4m_header("yuvj420p", W, H, rate, sar, "", "center", "bt", header, NULL) > 0);
    tool_write("b.y4m", header, strlen(header), NULL, 0);
    CHECK_STR(tool_run("%s", probe), "pc,center,bb");
    CHECK(files_y4m_header("yuv420p", W, H, rate, sar, "pc", "topleft", "progressive", header,
                           NULL) > 0);
    tool_write("b.y4m", header, strlen(header), NULL, 0);
    CHECK_STR(tool_run("%s", probe), "pc,topleft,progressive");
}

TEST(y4m__unknown_rates_are_said_to_be_unknown)
{
    static const struct swt_ratio none = {0, 1}, huge = {INT64_MAX, INT64_MAX / 3};
    char header[256];

    CHECK(files_y4m_header("gray", W, H, none, none, "", "", "", header, NULL) > 0);
    CHECK_STR(header, "YUV4MPEG2 W21 H13 F0:0 Ip A0:0 Cmono\n");
    CHECK(files_y4m_header("gray", 65536, 65536, huge, huge, "", "", "", header, NULL) > 0);
    CHECK(strstr(header, " F2147483647:715827882 "));
}

TEST(y4m__other_formats_are_refused_by_name)
{
    struct swt_diag diag;
    char header[256];

    CHECK_INT(files_y4m_header("rgb24", W, H, rate, sar, "", "", "", header, &diag),
              SWT_E_UNSUPPORTED);
    CHECK(strstr(diag.text, "rgb24") && strstr(diag.text, "yuv420p"));
    CHECK_INT(files_y4m_header("nv12", W, H, rate, sar, "", "", "", header, NULL),
              SWT_E_UNSUPPORTED);
    CHECK_INT(files_y4m_header("yuv420p", 0, H, rate, sar, "", "", "", header, NULL), SWT_E_USAGE);
}

T_MAIN(RUN(y4m__ffmpeg_reads_every_format_bit_by_bit) RUN(y4m__siting_range_and_fields_are_told)
           RUN(y4m__unknown_rates_are_said_to_be_unknown)
               RUN(y4m__other_formats_are_refused_by_name))
