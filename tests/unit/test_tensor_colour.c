/* SPDX-License-Identifier: MIT
 *
 * test_tensor_colour.c - colours and pixel formats against ffmpeg with exact arithmetic, on a real picture (vtest.avi
 * of Debian's opencv-doc) of odd sizes: at most 2 levels of 8 bits, or half a per cent of deeper scales.
 */
#include "swt.h"
#include "t.h"
#include "tensor/convert.h"
#include "tensor/pixel.h"
#include "tool.h"

#define CLIP        "/usr/share/doc/opencv-doc/examples/data/vtest.avi"
#define EXACT       "-sws_flags accurate_rnd+full_chroma_int+full_chroma_inp+bitexact -sws_dither none"
#define COMMAND_CAP 16384

static uint8_t *load(const char *name, uint64_t bytes)
{
    uint8_t *data = calloc(1, bytes + 1);

    if (tool_read(name, data, bytes + 1) != bytes) {
        printf("# %s has not %" PRIu64 " bytes\n", name, bytes);
        free(data);
        return NULL;
    }
    return data;
}

static uint8_t *convert(const struct picture *p, const struct convert_spec *spec,
                        uint64_t *ret_bytes)
{
    struct converter *c = NULL;
    struct swt_diag diag;
    uint8_t *out;

    if (converter_new(p, spec, &c, &diag) < 0) {
        printf("# %s\n", diag.text);
        return NULL;
    }
    *ret_bytes = converter_shape(c)->bytes;
    out = malloc(*ret_bytes);
    converter_run(c, p, out);
    converter_free(&c);
    return out;
}

static unsigned sample_at(const struct pixfmt *f, int w, int h, const uint8_t *data, int comp,
                          int x, int y)
{
    const struct pixfmt_comp *c = &f->comp[comp];
    struct picture p;
    const uint8_t *at;

    picture_tight(f, w, h, data, &p);
    at = p.plane[c->plane] + (ptrdiff_t)y * p.stride[c->plane] + x * c->step + c->offset;
    return (unsigned)(c->depth + c->shift > 8 ? at[0] | at[1] << 8 : at[0]) >> c->shift &
           ((1u << c->depth) - 1);
}

/* Largest difference of two pictures, in hundredths of what is allowed. */
static int distance(const struct pixfmt *f, int w, int h, const uint8_t *a, const uint8_t *b)
{
    double most = 0;

    for (int c = 0; c < f->n_comps; c++) {
        bool is_chroma = !f->is_rgb && f->n_comps >= 3 && (c == 1 || c == 2);
        int cw = is_chroma ? (w + (1 << f->log2_cw) - 1) >> f->log2_cw : w;
        int ch = is_chroma ? (h + (1 << f->log2_ch) - 1) >> f->log2_ch : h;
        double allowed = f->comp[c].depth > 8 ? 0.005 * (1 << f->comp[c].depth) : 2;

        for (int y = 0; y < ch; y++) {
            for (int x = 0; x < cw; x++) {
                double d = abs((int)sample_at(f, w, h, a, c, x, y) -
                               (int)sample_at(f, w, h, b, c, x, y));

                most = d / allowed > most ? d / allowed : most;
            }
        }
    }
    return (int)(most * 100);
}

/* Our conversion of picture `p` (of file in_FROM) against ffmpeg's in file ff_TO. */
static bool agrees(const struct picture *p, const struct pixfmt *to)
{
    struct convert_spec spec = {.pixfmt = to};
    uint64_t n = pixfmt_bytes(to, p->width, p->height), bytes;
    char name[64];
    uint8_t *ours = convert(p, &spec, &bytes), *theirs;
    int d = -1;

    snprintf(name, sizeof name, "ff_%s", to->name);
    theirs = load(name, n);
    if (ours && theirs && bytes == n)
        d = distance(to, p->width, p->height, ours, theirs);
    if (d < 0 || d > 100)
        printf("# %s %dx%d %s %s to %s: off by %d %% of what is allowed\n", p->pixfmt->name,
               p->width, p->height, p->matrix, p->range, to->name, d);
    free(ours);
    free(theirs);
    return d >= 0 && d <= 100;
}

static bool is_made_by_ffmpeg(const struct pixfmt *f)
{
    return strcmp(f->name, "nv16") != 0; /* read only; see fields__nv16 below */
}

static bool is_among(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

/* One picture in some pixel formats (none given: in all), files in_FORMAT, by one ffmpeg. */
static bool make_inputs(int w, int h, const char *const *only, size_t n_only)
{
    static char command[COMMAND_CAP];
    const struct pixfmt *f;
    int n;

    tool_enter();
    n = snprintf(command, sizeof command,
                 "ffmpeg -v error -y -ss 10 -i " CLIP
                 " -frames:v 1 -vf crop=%d:%d:201:101:exact=1 -f "
                 "rawvideo -pix_fmt yuv420p base && ffmpeg -v error -y -f rawvideo -pix_fmt "
                 "yuv420p -s %dx%d -i base",
                 w, h, w, h);
    for (size_t i = 0; (f = pixfmt_at(i)); i++)
        if (is_made_by_ffmpeg(f) && (!n_only || is_among(f->name, only, n_only)))
            n += snprintf(command + n, sizeof command - (size_t)n,
                          " -map 0 " EXACT " -f rawvideo -pix_fmt %s in_%s", f->ff_name, f->name);
    return system(command) == 0;
}

/* in_FROM to every format in `to`, files ff_TO. */
static bool let_ffmpeg_convert(const struct pixfmt *from, int w, int h, const char *vf,
                               const struct pixfmt *const *to)
{
    static char command[COMMAND_CAP];
    int n = snprintf(command, sizeof command,
                     "ffmpeg -v error -y -f rawvideo -pix_fmt %s -s %dx%d -i in_%s", from->ff_name,
                     w, h, from->name);

    for (; *to; to++)
        n += snprintf(command + n, sizeof command - (size_t)n,
                      " -map 0 " EXACT "%s -f rawvideo -pix_fmt %s ff_%s", vf, (*to)->ff_name,
                      (*to)->name);
    return system(command) == 0;
}

static bool is_field(const struct pixfmt *f)
{
    return f->comp[0].depth < 8;
}

/* Pairs in which ffmpeg is no reference. */
static bool is_comparable(const struct pixfmt *from, const struct pixfmt *to, int width)
{
    bool is_from_j = !strncmp(from->name, "yuvj", 4), is_to_yuv = !to->is_rgb && to->n_comps >= 3;

    if (is_field(from)) /* it scales five bits by shifting but for this one */
        return !strcmp(to->name, "rgb24");
    if (is_field(to)) /* and truncates */
        return false;
    if (is_from_j &&
        is_to_yuv) /* it compresses the range, we keep it, as tags travel with the picture */
        return false;
    /* it averages, and spoils the last column */
    return !(from->n_planes == 1 && from->log2_cw && width % 2 && is_to_yuv);
}

static int failures(const struct pixfmt *from, int w, int h, const struct pixfmt *const *to)
{
    char name[64];
    struct picture p;
    uint8_t *data;
    int n = 0;

    snprintf(name, sizeof name, "in_%s", from->name);
    data = load(name, pixfmt_bytes(from, w, h));
    if (!data || !let_ffmpeg_convert(from, w, h, "", to))
        return 1;
    picture_tight(from, w, h, data, &p);
    for (; *to; to++)
        if (is_comparable(from, *to, w))
            n += !agrees(&p, *to);
    free(data);
    return n;
}

TEST(every_format_read__agrees_with_ffmpeg)
{
    const struct pixfmt *to[] = {pixfmt_find("rgb24"),
                                 pixfmt_find("rgb48"),
                                 pixfmt_find("gray"),
                                 pixfmt_find("gray16"),
                                 pixfmt_find("yuv420p"),
                                 pixfmt_find("rgba"),
                                 NULL};
    const struct pixfmt *f;
    int n = 0;

    CHECK(make_inputs(101, 77, NULL, 0));
    for (size_t i = 0; (f = pixfmt_at(i)); i++)
        if (is_made_by_ffmpeg(f))
            n += failures(f, 101, 77, to);
    CHECK_INT(n, 0);
}

TEST(every_format_written__agrees_with_ffmpeg)
{
    static const char *const from[] = {"yuv420p", "rgb24", "gray16", "yuv444p10", "rgba", "gbrp12"};
    const struct pixfmt *to[200], *f;
    size_t n_to = 0;
    int n = 0;

    CHECK(make_inputs(102, 77, from, sizeof from / sizeof *from));
    for (size_t i = 0; (f = pixfmt_at(i)); i++)
        if (is_made_by_ffmpeg(f))
            to[n_to++] = f;
    to[n_to] = NULL;
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        n += failures(pixfmt_find(from[i]), 102, 77, to);
    CHECK_INT(n, 0);
}

TEST(odd_pictures__agree_with_ffmpeg)
{
    static const int sizes[][2] = {{17, 15}, {13, 14}, {255, 13}, {639, 361}};
    static const char *const from[] = {"yuv420p", "yuv422p",   "yuv444p",
                                       "nv12",    "yuv420p10", "p010"};
    const struct pixfmt *to[] = {pixfmt_find("rgb24"), pixfmt_find("rgb48"), NULL};
    int n = 0;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        CHECK(make_inputs(sizes[s][0], sizes[s][1], from, sizeof from / sizeof *from));
        for (size_t i = 0; i < sizeof from / sizeof *from; i++)
            n += failures(pixfmt_find(from[i]), sizes[s][0], sizes[s][1], to);
    }
    CHECK_INT(n, 0);
}

/* Chroma without any likeness between neighbours shows the weights of every tap, also at the edges. */
TEST(noise__agrees_with_ffmpeg)
{
    static const int sizes[][2] = {{64, 48}, {63, 47}, {202, 131}};
    static const char *const from[] = {"yuv420p", "yuv422p", "yuv440p",
                                       "yuv411p", "yuv410p", "yuv444p"};
    const struct pixfmt *to[] = {pixfmt_find("rgb24"),   pixfmt_find("rgb48"),
                                 pixfmt_find("yuv444p"), pixfmt_find("yuv420p"),
                                 pixfmt_find("yuv411p"), NULL};
    static uint8_t data[202 * 131 * 3];
    int n = 0;

    tool_enter();
    for (size_t i = 0; i < 3 * sizeof from / sizeof *from; i++) {
        int w = sizes[i % 3][0], h = sizes[i % 3][1];
        const struct pixfmt *f = pixfmt_find(from[i / 3]);
        char name[64];

        memset(data, 120, sizeof data);
        for (int k = w * h; k < (int)sizeof data; k++)
            data[k] = (uint8_t)(60 + rand() % 136);
        snprintf(name, sizeof name, "in_%s", f->name);
        tool_write(name, data, pixfmt_bytes(f, w, h), NULL, 0);
        n += failures(f, w, h, to);
    }
    CHECK_INT(n, 0);
}

/* In steps of 1/65536, as whether a tap is lost may hang on it. */
static double centre(int n_src, int n_dst, int i)
{
    return (i + 0.5) * (((n_src << 16) + n_dst / 2) / n_dst) / 65536 - 0.5;
}

/* Chroma of luma sample (x, y) in real numbers: what pixel.h says, written down once more. */
static double real_chroma(const uint8_t *plane, int cw, int ch, int w, int h, int x, int y)
{
    double at_x = centre(cw, w, x), at_y = centre(ch, h, y), sum = 0, weights = 0;

    for (int j = (int)floor(at_y) - 1; j <= (int)floor(at_y) + 2; j++)
        for (int i = (int)floor(at_x) - 1; i <= (int)floor(at_x) + 2; i++) {
            bool is_lost = pixel_tap_is_lost(at_x, (int)floor(at_x) - 1) &&
                           i == (int)floor(at_x) - 1;
            bool is_lost_too = pixel_tap_is_lost(at_y, (int)floor(at_y) - 1) &&
                               j == (int)floor(at_y) - 1;
            double weight = is_lost || is_lost_too
                                ? 0
                                : pixel_cubic(at_x - i, -0.6) * pixel_cubic(at_y - j, -0.6);
            int cx = i < 0 ? 0 : i >= cw ? cw - 1 : i, cy = j < 0 ? 0 : j >= ch ? ch - 1 : j;

            weights += weight;
            sum += weight * (plane[cy * cw + cx] - 128);
        }
    return sum / weights;
}

/* ffmpeg is no reference here: swscale shortens its filter in pictures of fewer than 14 rows or columns. */
TEST(tiny_pictures__agree_with_the_formula)
{
    static uint8_t data[16 * 16 * 2];

    for (int w = 1; w <= 16; w++)
        for (int h = 1; h <= 16; h++) {
            const struct pixfmt *f = pixfmt_find("yuv420p");
            struct convert_spec spec = {.pixfmt = pixfmt_find("rgb24")};
            struct picture p;
            uint64_t n;
            uint8_t *out;

            for (size_t i = 0; i < sizeof data; i++)
                data[i] = (uint8_t)(64 + rand() % 128);
            picture_tight(f, w, h, data, &p);
            out = convert(&p, &spec, &n);
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++) {
                    double luma = (data[y * w + x] - 16) * 255 / 219.0;
                    double v = real_chroma(p.plane[2], (w + 1) / 2, (h + 1) / 2, w, h, x, y);
                    double red = luma + 1.402 * 255 / 224 * v;

                    red = red < 0 ? 0 : red > 255 ? 255 : red;
                    if (fabs(out[(y * w + x) * 3] - red) > 1)
                        T_FAIL("%dx%d: red at %d,%d is %d, not %.2f", w, h, x, y,
                               out[(y * w + x) * 3], red);
                }
            free(out);
        }
}

TEST(every_matrix_and_range__agrees_with_ffmpeg)
{
    static const char *const matrix[][2] = {{"bt709", "bt709"},         {"smpte170m", "smpte170m"},
                                            {"bt470bg", "bt470"},       {"fcc", "fcc"},
                                            {"smpte240m", "smpte240m"}, {"bt2020nc", "bt2020"}};
    static const char *const from[] = {"yuv420p", "yuv444p10"}, *const range[] = {"tv", "pc"};
    const struct pixfmt *to[] = {pixfmt_find("rgb24"), pixfmt_find("rgb48"), pixfmt_find("gray"),
                                 NULL};
    int n = 0;

    CHECK(make_inputs(101, 77, from, 2));
    for (size_t i = 0; i < 24; i++) {
        const struct pixfmt *f = pixfmt_find(from[i % 2]);
        uint8_t *data;
        struct picture p;
        char name[64], vf[200];

        snprintf(vf, sizeof vf, " -vf scale=in_color_matrix=%s:in_range=%s", matrix[i / 4][1],
                 range[i / 2 % 2]);
        CHECK(let_ffmpeg_convert(f, 101, 77, vf, to));
        snprintf(name, sizeof name, "in_%s", f->name);
        data = load(name, pixfmt_bytes(f, 101, 77));
        picture_tight(f, 101, 77, data, &p);
        p.matrix = matrix[i / 4][0];
        p.range = range[i / 2 % 2];
        for (int k = 0; to[k]; k++)
            n += !agrees(&p, to[k]);
        free(data);
    }
    CHECK_INT(n, 0);
}

TEST(mirrored_twice__every_format_is_bit_exact)
{
    const struct pixfmt *f;

    CHECK(make_inputs(101, 77, NULL, 0));
    for (size_t i = 0; (f = pixfmt_at(i)); i++) {
        struct convert_spec spec = {.pixfmt = f};
        uint64_t n = pixfmt_bytes(f, 101, 77), bytes;
        struct picture p;
        uint8_t *data, *out, *back;
        char name[64];

        if (!is_made_by_ffmpeg(f))
            continue;
        snprintf(name, sizeof name, "in_%s", f->name);
        data = load(name, n);
        picture_tight(f, 101, 77, data, &p);
        p.hflip = true; /* there and back, so that every sample goes through the whole machine */
        out = convert(&p, &spec, &bytes);
        CHECK(out && bytes == n);
        picture_tight(f, 101, 77, out, &p);
        p.hflip = true;
        back = convert(&p, &spec, &bytes);
        if (distance(f, 101, 77, data, back))
            T_FAIL("%s is not the same after two mirrors", f->name);
        free(data);
        free(out);
        free(back);
    }
}

TEST(fields__nv16_is_yuv422p_in_another_order)
{
    const struct pixfmt *f = pixfmt_find("yuv422p"), *nv16 = pixfmt_find("nv16"),
                        *rgb = pixfmt_find("rgb24");
    struct convert_spec to_nv16 = {.pixfmt = nv16}, to_rgb = {.pixfmt = rgb};
    uint64_t n, n_a, n_b;
    struct picture p, q;
    static const char *const only[] = {"yuv422p"};
    uint8_t *data, *mid, *a, *b;

    CHECK(make_inputs(101, 77, only, 1));
    data = load("in_yuv422p", pixfmt_bytes(f, 101, 77));
    picture_tight(f, 101, 77, data, &p);
    mid = convert(&p, &to_nv16, &n);
    CHECK_INT(n, 101 * 77 + 2 * 51 * 77);
    CHECK_MEM(mid, data, 101 * 77);
    for (int i = 0; i < 51 * 77; i++) {
        CHECK_INT(mid[101 * 77 + 2 * i], data[101 * 77 + i]);
        CHECK_INT(mid[101 * 77 + 2 * i + 1], data[101 * 77 + 51 * 77 + i]);
    }
    picture_tight(nv16, 101, 77, mid, &q);
    a = convert(&p, &to_rgb, &n_a);
    b = convert(&q, &to_rgb, &n_b);
    CHECK_INT(n_a, n_b);
    CHECK_MEM(a, b, n_a);
    free(data);
    free(mid);
    free(a);
    free(b);
}

TEST(fields__565_and_555_come_back)
{
    static const char *const names[] = {"rgb565", "bgr565", "rgb555", "bgr555"};
    const struct pixfmt *rgb = pixfmt_find("rgb24");

    for (size_t i = 0; i < 4; i++) {
        const struct pixfmt *f = pixfmt_find(names[i]);
        struct convert_spec there = {.pixfmt = rgb}, back = {.pixfmt = f};
        int bits = f->comp[1].depth + 10;
        struct picture p;
        uint64_t n;
        uint8_t *data = malloc(2u << bits), *wide, *again;

        for (int k = 0; k < 1 << bits; k++) {
            data[2 * k] = (uint8_t)k;
            data[2 * k + 1] = (uint8_t)(k >> 8);
        }
        picture_tight(f, 256, (1 << bits) / 256, data, &p);
        wide = convert(&p, &there, &n);
        picture_tight(rgb, 256, (1 << bits) / 256, wide, &p);
        again = convert(&p, &back, &n);
        CHECK_INT(n, 2 << bits);
        CHECK_MEM(data, again, n);
        free(data);
        free(wide);
        free(again);
    }
}

TEST(gray_pixels__stay_gray)
{
    const struct pixfmt *yuv = pixfmt_find("yuv444p"), *rgb = pixfmt_find("rgb24");
    struct convert_spec there = {.pixfmt = rgb}, back = {.pixfmt = yuv};
    uint8_t data[3][256], *out, *again;
    struct picture p;
    uint64_t n;

    for (int i = 0; i < 256; i++) {
        data[0][i] = (uint8_t)i;
        data[1][i] = data[2][i] = 128;
    }
    picture_tight(yuv, 256, 1, data[0], &p);
    out = convert(&p, &there, &n);
    for (int i = 0; i < 256; i++) {
        double exact = (i - 16) * 255 / 219.0;
        int want = exact < 0 ? 0 : exact > 255 ? 255 : (int)(exact + 0.5);

        CHECK(out[3 * i] == out[3 * i + 1] && out[3 * i] == out[3 * i + 2]);
        CHECK(abs(out[3 * i] - want) <= 1);
    }
    picture_tight(rgb, 256, 1, out, &p);
    again = convert(&p, &back, &n);
    for (int i = 16; i <= 235; i++) {
        CHECK_INT(again[i], i);
        CHECK_INT(again[256 + i], 128);
        CHECK_INT(again[512 + i], 128);
    }
    free(out);
    free(again);
}

TEST(a_matrix_that_is_not_known__is_an_error_only_where_it_matters)
{
    const struct pixfmt *yuv = pixfmt_find("yuv420p");
    struct convert_spec rgb = {.pixfmt = pixfmt_find("rgb24")},
                        gray = {.pixfmt = pixfmt_find("gray")};
    struct converter *c;
    struct picture p;
    struct swt_diag diag;

    picture_tight(yuv, 4, 4, NULL, &p);
    p.matrix = "ictcp";
    CHECK_INT(converter_new(&p, &rgb, &c, &diag), SWT_E_UNSUPPORTED);
    CHECK(strstr(diag.text, "ictcp") && strstr(diag.text, "stored"));
    CHECK_INT(converter_new(&p, &gray, &c, &diag), 0);
    converter_free(&c);
}

T_MAIN(RUN(every_format_read__agrees_with_ffmpeg) RUN(every_format_written__agrees_with_ffmpeg)
           RUN(odd_pictures__agree_with_ffmpeg) RUN(noise__agrees_with_ffmpeg)
               RUN(tiny_pictures__agree_with_the_formula)
                   RUN(every_matrix_and_range__agrees_with_ffmpeg)
                       RUN(mirrored_twice__every_format_is_bit_exact)
                           RUN(fields__nv16_is_yuv422p_in_another_order)
                               RUN(fields__565_and_555_come_back) RUN(gray_pixels__stay_gray) RUN(
                                   a_matrix_that_is_not_known__is_an_error_only_where_it_matters))
