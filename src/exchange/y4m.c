/* SPDX-License-Identifier: MIT
 *
 * y4m.c - the stream header of YUV4MPEG2 with the tags that FFmpeg, mpv, x264 and the codec test tools
 * share: colour space and chroma siting in C, what has no field of its own in X.
 */
#include "exchange/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/pixfmt.h"

/* The C tag of formats whose siting needs no telling; deeper ones are these with "p10", mono with "10". */
static const struct {
    const char *pixel, *tag;
} plain[] = {
    {"gray", "mono"},        {"gray9", "mono9"},      {"gray10", "mono10"},
    {"gray12", "mono12"},    {"gray16", "mono16"},    {"yuv411p", "411"},
    {"yuv422p", "422"},      {"yuv444p", "444"},      {"yuvj411p", "411"},
    {"yuvj422p", "422"},     {"yuvj444p", "444"},     {"yuv420p9", "420p9"},
    {"yuv422p9", "422p9"},   {"yuv444p9", "444p9"},   {"yuv420p10", "420p10"},
    {"yuv422p10", "422p10"}, {"yuv444p10", "444p10"}, {"yuv420p12", "420p12"},
    {"yuv422p12", "422p12"}, {"yuv444p12", "444p12"}, {"yuv420p14", "420p14"},
    {"yuv422p14", "422p14"}, {"yuv444p14", "444p14"}, {"yuv420p16", "420p16"},
    {"yuv422p16", "422p16"}, {"yuv444p16", "444p16"},
};

static const char *colour_tag(const char *pixel, const char *chroma)
{
    if (!strcmp(pixel, "yuv420p") || !strcmp(pixel, "yuvj420p")) {
        if (!strcmp(chroma, "left"))
            return "420mpeg2";
        return !strcmp(chroma, "topleft") ? "420paldv" : "420jpeg";
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!strcmp(plain[i].pixel, pixel))
            return plain[i].tag;
    return NULL;
}

static char interlace_tag(const char *field_order)
{
    if (!strcmp(field_order, "tt") || !strcmp(field_order, "tb"))
        return 't';
    return !strcmp(field_order, "bb") || !strcmp(field_order, "bt") ? 'b' : 'p';
}

/* What no field stands for: the siting of 8-bit 4:2:0 once more, for readers that take it from there
 * only, and the range where it is known. */
static void extension_text(char *text, size_t cap, const char *tag, const char *range)
{
    const char *siting = !strcmp(tag, "420mpeg2")   ? " XYSCSS=420MPEG2"
                         : !strcmp(tag, "420paldv") ? " XYSCSS=420PALDV"
                         : !strcmp(tag, "420jpeg")  ? " XYSCSS=420JPEG"
                                                    : "";
    const char *levels = !strcmp(range, "pc")   ? " XCOLORRANGE=FULL"
                         : !strcmp(range, "tv") ? " XCOLORRANGE=LIMITED"
                                                : "";

    snprintf(text, cap, "%s%s", siting, levels);
}

/* Readers take these as int; 0:0 is y4m's word for unknown. */
static struct swt_ratio y4m_ratio(struct swt_ratio r)
{
    if (r.num <= 0 || r.den <= 0)
        return (struct swt_ratio){0, 0};
    while (r.num > INT32_MAX || r.den > INT32_MAX) {
        r.num >>= 1;
        r.den >>= 1;
    }
    return r.num && r.den ? r : (struct swt_ratio){0, 0};
}

int files_y4m_header(const char *pixel, int width, int height, struct swt_ratio rate,
                     struct swt_ratio sar, const char *range, const char *chroma,
                     const char *field_order, char ret_header[256], struct swt_diag *reterr)
{
    const char *tag = colour_tag(pixel, chroma);
    struct swt_ratio f = y4m_ratio(rate), a = y4m_ratio(sar);
    char extension[64];

    if (!tag)
        return err_set(
            reterr, SWT_E_UNSUPPORTED,
            "y4m cannot hold %s: --pixel gray, gray16, yuv420p, yuv422p, yuv444p, yuv411p, "
            "yuv420p10 and other planar yuv of 9 to 16 bits",
            pixel);
    if (width < 1 || height < 1)
        return err_set(reterr, SWT_E_USAGE, "y4m: a picture of %dx%d", width, height);
    extension_text(extension, sizeof extension, tag, strncmp(pixel, "yuvj", 4) ? range : "pc");
    return snprintf(
        ret_header, 256,
        "YUV4MPEG2 W%d H%d F%" PRId64 ":%" PRId64 " I%c A%" PRId64 ":%" PRId64 " C%s%s\n", width,
        height, f.num, f.den, interlace_tag(field_order), a.num, a.den, tag, extension);
}
