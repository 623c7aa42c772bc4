/* SPDX-License-Identifier: MIT
 *
 * test_tensor_resize.c - sizes against Pillow (whose antialiased filters torchvision shares): 8 bits within 1 of its
 * answer, deeper pictures within 2 of its answer in floats.
 */
#include "t.h"
#include "tensor/convert.h"
#include "tool.h"

#define CLIP "/usr/share/doc/opencv-doc/examples/data/vtest.avi"

/* argv: mode width height in, new width height, filter, crop box or "", out. */
static const char script[] =
    "import sys, numpy\n"
    "from PIL import Image\n"
    "mode, w, h, name, W, H, kind, box, out = sys.argv[1:]\n"
    "w, h, W, H = int(w), int(h), int(W), int(H)\n"
    "if mode == 'words':\n"
    "    im = Image.fromarray(numpy.fromfile(name, '<u2').reshape(h, w).astype('f4'), 'F')\n"
    "else:\n"
    "    c = {'L': 1, 'RGB': 3, 'RGBA': 4}[mode]\n"
    "    im = numpy.fromfile(name, 'u1')[:w * h * c].reshape(h, w, c)\n"
    "    im = Image.fromarray(im[:, :, 0] if c == 1 else im)\n"
    "if box:\n"
    "    im = im.crop([int(n) for n in box.split(',')])\n"
    "im = im.resize((W, H), getattr(Image, kind))\n"
    "a = numpy.asarray(im)\n"
    "if mode == 'words':\n"
    "    a = numpy.clip(numpy.rint(a), 0, 65535).astype('<u2')\n"
    "a.tofile(out)\n";

static const char *const kinds[] = {[SWT_FILTER_BILINEAR] = "BILINEAR",
                                    [SWT_FILTER_AREA] = "BOX",
                                    [SWT_FILTER_BICUBIC] = "BICUBIC",
                                    [SWT_FILTER_NEAREST] = "NEAREST"};

static bool ask_pillow(const char *mode, int w, int h, const char *in, int to_w, int to_h,
                       enum swt_filter filter, const char *box)
{
    tool_write("resize.py", script, sizeof script - 1, NULL, 0);
    return !strcmp(tool_run("/usr/bin/python3 -W ignore resize.py %s %d %d %s %d %d %s '%s' theirs",
                            mode, w, h, in, to_w, to_h, kinds[filter], box),
                   "");
}

/* A picture of the clip in file `name`, and in memory (to be freed). */
static uint8_t *picture_of(const char *name, const char *format, int w, int h, struct picture *p)
{
    const struct pixfmt *f = pixfmt_find(format);
    uint64_t n = pixfmt_bytes(f, w, h);
    uint8_t *data = malloc(n);

    tool_enter();
    tool_run("ffmpeg -v error -y -ss 10 -i " CLIP
             " -frames:v 1 -vf crop=%d:%d:exact=1,eq=contrast=2 "
             "-f rawvideo -pix_fmt %s %s",
             w, h, f->ff_name, name);
    if (tool_read(name, data, n) != n)
        memset(data, 0, n);
    picture_tight(f, w, h, data, p);
    return data;
}

/* Largest difference between our answer and the file `theirs`, whose data begin at `skip` of ours. */
static int off_by(const struct picture *p, const struct convert_spec *spec, bool is_word,
                  uint64_t skip)
{
    struct converter *c = NULL;
    struct swt_diag diag;
    uint8_t *ours, *theirs;
    uint64_t n;
    int most = 0;

    if (converter_new(p, spec, &c, &diag) < 0) {
        printf("# %s\n", diag.text);
        return -1;
    }
    n = converter_shape(c)->bytes;
    ours = malloc(n);
    theirs = malloc(n + 1);
    converter_run(c, p, ours);
    converter_free(&c);
    n = tool_read("theirs", theirs, n + 1);
    for (uint64_t i = 0; i < n; i += is_word ? 2 : 1) {
        int a = ours[skip + i], b = theirs[i];

        if (is_word) {
            a |= ours[skip + i + 1] << 8;
            b |= theirs[i + 1] << 8;
        }
        most = abs(a - b) > most ? abs(a - b) : most;
    }
    if (!n)
        most = -1;
    free(ours);
    free(theirs);
    return most;
}

static const int sizes[][4] = {
    {768, 576, 224, 224}, {101, 77, 50, 33},   {101, 77, 300, 200}, {101, 77, 101, 30},
    {101, 77, 30, 77},    {101, 77, 101, 200}, {101, 77, 333, 77},  {768, 576, 7, 5},
    {101, 77, 1, 1},      {3, 2, 40, 50},
};

static void compare_8_bits(enum swt_filter filter)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int *s = sizes[i];
        struct picture p;
        struct convert_spec spec = {.width = s[2], .height = s[3], .filter = filter};
        uint8_t *data = picture_of("in", "rgb24", s[0], s[1], &p);
        int d;

        CHECK(ask_pillow("RGB", s[0], s[1], "in", s[2], s[3], filter, ""));
        d = off_by(&p, &spec, false, 0);
        if (d < 0 || d > 1)
            T_FAIL("%dx%d to %dx%d: off by %d", s[0], s[1], s[2], s[3], d);
        free(data);
    }
}

TEST(bilinear__is_pillows_within_1)
{
    compare_8_bits(SWT_FILTER_BILINEAR);
}

TEST(bicubic__is_pillows_within_1)
{
    compare_8_bits(SWT_FILTER_BICUBIC);
}

TEST(area_and_nearest__are_pillows_at_whole_ratios)
{
    static const enum swt_filter filters[] = {SWT_FILTER_AREA, SWT_FILTER_NEAREST};
    static const int whole[][4] = {
        {768, 576, 96, 64}, {99, 77, 33, 7}, {99, 77, 99, 11}, {30, 20, 90, 100}};

    for (size_t i = 0; i < 8; i++) {
        const int *s = whole[i / 2];
        struct picture p;
        struct convert_spec spec = {.width = s[2], .height = s[3], .filter = filters[i % 2]};
        uint8_t *data = picture_of("in", "rgba", s[0], s[1], &p);
        int d;

        CHECK(ask_pillow("RGBA", s[0], s[1], "in", s[2], s[3], filters[i % 2], ""));
        d = off_by(&p, &spec, false, 0);
        if (d < 0 || d > (i % 2 ? 0 : 1))
            T_FAIL("%s %dx%d to %dx%d: off by %d", kinds[filters[i % 2]], s[0], s[1], s[2], s[3],
                   d);
        free(data);
    }
}

/* Share of each sample under the result's square, summed up in real numbers. */
TEST(area__at_any_ratio_is_the_mean_of_what_lies_under)
{
    enum { W = 101, TO = 37 };
    struct picture p;
    struct convert_spec spec = {.width = TO, .filter = SWT_FILTER_AREA};
    uint8_t *data = picture_of("in", "gray", W, 1, &p), out[TO];
    struct converter *c;

    CHECK_INT(converter_new(&p, &spec, &c, NULL), 0);
    converter_run(c, &p, out);
    converter_free(&c);
    for (int i = 0; i < TO; i++) {
        double low = (double)i * W / TO, high = (double)(i + 1) * W / TO, sum = 0;

        for (int x = 0; x < W; x++) {
            double a = x > low ? x : low, b = x + 1 < high ? x + 1 : high;

            sum += b > a ? (b - a) * data[x] : 0;
        }
        sum /= high - low;
        if (out[i] < sum - 0.51 || out[i] > sum + 0.51)
            T_FAIL("%d is %d, not %.3f", i, out[i], sum);
    }
    free(data);
}

TEST(words__are_pillows_in_floats)
{
    static const enum swt_filter filters[] = {SWT_FILTER_BILINEAR, SWT_FILTER_BICUBIC};

    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        const int *s = sizes[i / 2];
        struct picture p;
        struct convert_spec spec = {.width = s[2], .height = s[3], .filter = filters[i % 2]};
        uint8_t *data = picture_of("in", "gray16", s[0], s[1], &p);
        int d;

        /* in the middle of the scale, as clipping between the passes is ours alone */
        for (int k = 0; k < s[0] * s[1]; k++)
            data[2 * k + 1] = (uint8_t)(data[2 * k + 1] / 2 + 64);
        tool_write("in", data, (size_t)s[0] * (size_t)s[1] * 2, NULL, 0);
        CHECK(ask_pillow("words", s[0], s[1], "in", s[2], s[3], filters[i % 2], ""));
        d = off_by(&p, &spec, true, 0);
        if (d < 0 || d > 2)
            T_FAIL("%s %dx%d to %dx%d: off by %d", kinds[filters[i % 2]], s[0], s[1], s[2], s[3],
                   d);
        free(data);
    }
}

TEST(planar_yuv__is_resized_plane_by_plane)
{
    struct picture p;
    struct convert_spec spec = {.width = 64, .height = 50};
    uint8_t *data = picture_of("in", "yuv420p", 101, 77, &p);

    CHECK(ask_pillow("L", 101, 77, "in", 64, 50, SWT_FILTER_BILINEAR, ""));
    CHECK(off_by(&p, &spec, false, 0) <= 1);
    tool_write("plane", p.plane[1], 51 * 39, NULL, 0);
    CHECK(ask_pillow("L", 51, 39, "plane", 32, 25, SWT_FILTER_BILINEAR, ""));
    CHECK(off_by(&p, &spec, false, 64 * 50) <= 1);
    tool_write("plane", p.plane[2], 51 * 39, NULL, 0);
    CHECK(ask_pillow("L", 51, 39, "plane", 32, 25, SWT_FILTER_BILINEAR, ""));
    CHECK(off_by(&p, &spec, false, 64 * 50 + 32 * 25) <= 1);
    free(data);
}

TEST(cropped__nothing_outside_the_crop_is_seen)
{
    struct picture p;
    struct convert_spec spec = {
        .width = 20, .height = 31, .crop_width = 50, .crop_height = 43, .crop_x = 7, .crop_y = 11};
    uint8_t *data = picture_of("in", "rgb24", 101, 77, &p);

    CHECK(ask_pillow("RGB", 101, 77, "in", 20, 31, SWT_FILTER_BILINEAR, "7,11,57,54"));
    CHECK(off_by(&p, &spec, false, 0) <= 1);
    free(data);
}

TEST(flat_pictures__stay_flat)
{
    static const enum swt_filter filters[] = {SWT_FILTER_BILINEAR, SWT_FILTER_AREA,
                                              SWT_FILTER_BICUBIC, SWT_FILTER_NEAREST};
    static uint8_t data[1000 * 700], out[3000 * 100];

    for (int i = 0; i < 4 * 256; i += 3) {
        struct convert_spec spec = {
            .width = 1 + i * 7 % 290, .height = 1 + i * 13 % 99, .filter = filters[i % 4]};
        int w = 1 + i * 31 % 999, h = 1 + i * 17 % 699;
        struct converter *c;
        struct picture p;

        memset(data, i / 4, sizeof data);
        picture_tight(pixfmt_find("gray"), w, h, data, &p);
        CHECK_INT(converter_new(&p, &spec, &c, NULL), 0);
        converter_run(c, &p, out);
        converter_free(&c);
        for (int k = 0; k < spec.width * spec.height; k++)
            if (out[k] != i / 4)
                T_FAIL("%dx%d of %d to %dx%d: %d", w, h, i / 4, spec.width, spec.height, out[k]);
    }
}

T_MAIN(RUN(bilinear__is_pillows_within_1) RUN(bicubic__is_pillows_within_1)
           RUN(area_and_nearest__are_pillows_at_whole_ratios)
               RUN(area__at_any_ratio_is_the_mean_of_what_lies_under)
                   RUN(words__are_pillows_in_floats) RUN(planar_yuv__is_resized_plane_by_plane)
                       RUN(cropped__nothing_outside_the_crop_is_seen) RUN(flat_pictures__stay_flat))
