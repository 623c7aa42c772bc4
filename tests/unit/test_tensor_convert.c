/* SPDX-License-Identifier: MIT
 *
 * test_tensor_convert.c - what is around the colours: turning, cropping, element types, layouts, shapes, refusals.
 */
#include "t.h"
#include "tensor/convert.h"

#define W 5
#define H 3

static struct picture rgb_picture(uint8_t data[H][W][3])
{
    struct picture p;

    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < 3; c++)
                data[y][x][c] = (uint8_t)(40 * y + 7 * x + 80 * c + 1);
    picture_tight(pixfmt_find("rgb24"), W, H, data[0][0], &p);
    return p;
}

static struct converter *converter_of(const struct picture *p, const struct convert_spec *spec)
{
    struct converter *c = NULL;
    struct swt_diag diag;

    if (converter_new(p, spec, &c, &diag) < 0)
        printf("# %s\n", diag.text);
    return c;
}

TEST(turn__every_way_is_upright)
{
    uint8_t data[H][W][3], out[H * W * 3];
    struct picture p = rgb_picture(data);

    for (int i = 0; i < 8; i++) {
        struct convert_spec spec = {.filter = SWT_FILTER_BILINEAR};
        struct converter *c;
        int w = i % 2 ? H : W, h = i % 2 ? W : H;

        p.rotation = i % 4 * 90;
        p.hflip = i >= 4;
        c = converter_of(&p, &spec);
        CHECK(c && !converter_is_identity(c) == (i > 0));
        CHECK_INT(converter_shape(c)->width, w);
        CHECK_INT(converter_shape(c)->height, h);
        converter_run(c, &p, out);
        converter_free(&c);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                int mx = p.hflip ? W - 1 - x
                                 : x; /* where (x, y) is after the mirror, then after the turn */
                int tx = (int[]){mx, H - 1 - y, W - 1 - mx, y}[i % 4];
                int ty = (int[]){y, mx, H - 1 - y, W - 1 - mx}[i % 4];

                CHECK_MEM(out + 3 * (ty * w + tx), data[y][x], 3);
            }
    }
}

/* 4:2:2 turned by 90 degrees is 4:4:0, sample by sample. */
TEST(turn__chroma_goes_with_luma)
{
    struct picture p;
    struct convert_spec spec = {.pixfmt = pixfmt_find("yuv440p")};
    uint8_t data[12 * 9 * 2], out[9 * 12 * 2];
    struct converter *c;

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 37);
    picture_tight(pixfmt_find("yuv422p"), 12, 9, data, &p);
    p.rotation = 90;
    c = converter_of(&p, &spec);
    CHECK(c);
    CHECK_INT(converter_shape(c)->bytes, sizeof out);
    converter_run(c, &p, out);
    converter_free(&c);
    for (int y = 0; y < 12; y++)
        for (int x = 0; x < 9; x++) {
            CHECK_INT(out[9 * y + x], p.plane[0][12 * (8 - x) + y]);
            if (y < 6)
                CHECK_INT(out[108 + 9 * y + x], p.plane[1][6 * (8 - x) + y]);
            if (y < 6)
                CHECK_INT(out[162 + 9 * y + x], p.plane[2][6 * (8 - x) + y]);
        }
}

TEST(crop__is_a_part_of_the_whole)
{
    static const struct convert_spec whole = {.filter = SWT_FILTER_BILINEAR};
    uint8_t data[40 * 30 * 3 / 2], all[40 * 30 * 3], part[40 * 30 * 3];
    const struct pixfmt *rgb = pixfmt_find("rgb24");
    struct picture p;
    struct convert_spec spec = whole;
    struct converter *c;

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(60 + i * 37 % 100);
    picture_tight(pixfmt_find("yuv420p"), 40, 30, data, &p);
    spec.pixfmt = rgb;
    c = converter_of(&p, &spec);
    converter_run(c, &p, all);
    converter_free(&c);
    for (int i = 0; i < 200; i++) {
        int w = 1 + i * 7 % 39, h = 1 + i * 11 % 29, x = i * 13 % (41 - w), y = i * 17 % (31 - h);

        spec = (struct convert_spec){
            .pixfmt = rgb, .crop_width = w, .crop_height = h, .crop_x = x, .crop_y = y};
        c = converter_of(&p, &spec);
        CHECK(c);
        CHECK_INT(converter_shape(c)->bytes, w * h * 3);
        converter_run(c, &p, part);
        converter_free(&c);
        for (int k = 0; k < h; k++)
            if (memcmp(part + 3 * k * w, all + 3 * ((y + k) * 40 + x), (size_t)(3 * w)))
                T_FAIL("%dx%d+%d+%d row %d", w, h, x, y, k);
    }
}

TEST(crop__even_parts_of_planar_formats_are_copied)
{
    uint8_t data[40 * 30 * 3 / 2], out[1000];
    struct picture p;
    struct convert_spec spec = {.crop_width = 13, .crop_height = 7, .crop_x = 6, .crop_y = 4};
    struct converter *c;

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 37);
    picture_tight(pixfmt_find("yuv420p"), 40, 30, data, &p);
    c = converter_of(&p, &spec);
    CHECK(c);
    CHECK_INT(converter_shape(c)->bytes, 13 * 7 + 2 * 7 * 4);
    converter_run(c, &p, out);
    converter_free(&c);
    for (int y = 0; y < 7; y++)
        CHECK_MEM(out + 13 * y, p.plane[0] + 40 * (4 + y) + 6, 13);
    for (int y = 0; y < 4; y++) {
        CHECK_MEM(out + 91 + 7 * y, p.plane[1] + 20 * (2 + y) + 3, 7);
        CHECK_MEM(out + 91 + 28 + 7 * y, p.plane[2] + 20 * (2 + y) + 3, 7);
    }
}

TEST(crop__centred_and_outside)
{
    uint8_t data[H][W][3], out[9];
    struct picture p = rgb_picture(data);
    struct convert_spec spec = {.crop_width = 3, .crop_height = 1, .crop_x = -1, .crop_y = -1};
    struct converter *c = converter_of(&p, &spec);
    struct swt_diag diag;

    CHECK(c);
    converter_run(c, &p, out);
    converter_free(&c);
    CHECK_MEM(out, data[1][1], 9);
    spec.crop_x = 3;
    CHECK_INT(converter_new(&p, &spec, &c, &diag), SWT_E_USAGE);
    CHECK(strstr(diag.text, "3x1+3+1") && strstr(diag.text, "5x3"));
    spec = (struct convert_spec){.crop_width = 6, .crop_height = 1};
    CHECK_INT(converter_new(&p, &spec, &c, NULL), SWT_E_USAGE);
}

TEST(layout__chw_is_hwc_transposed)
{
    uint8_t data[H][W][3], out[3][H][W];
    struct picture p = rgb_picture(data);
    struct convert_spec spec = {.is_chw = true};
    struct converter *c = converter_of(&p, &spec);

    CHECK(c && !converter_is_identity(c));
    CHECK_INT(converter_shape(c)->shape[0], 3);
    CHECK_INT(converter_shape(c)->shape[1], H);
    CHECK_INT(converter_shape(c)->shape[2], W);
    converter_run(c, &p, out[0][0]);
    converter_free(&c);
    for (int i = 0; i < H * W * 3; i++)
        CHECK_INT(out[i % 3][i / 3 / W][i / 3 % W], data[i / 3 / W][i / 3 % W][i % 3]);
}

TEST(layout__channels_are_in_the_order_of_the_format)
{
    uint8_t data[H][W][3], out[H][W][4], planes[4][H][W];
    struct picture p = rgb_picture(data);
    struct convert_spec spec = {.pixfmt = pixfmt_find("abgr")};
    struct converter *c = converter_of(&p, &spec);

    converter_run(c, &p, out[0][0]);
    converter_free(&c);
    spec.is_chw = true;
    c = converter_of(&p, &spec);
    converter_run(c, &p, planes[0][0]);
    converter_free(&c);
    for (int i = 0; i < H * W; i++) {
        const uint8_t want[4] = {255, data[i / W][i % W][2], data[i / W][i % W][1],
                                 data[i / W][i % W][0]};

        CHECK_MEM(out[i / W][i % W], want, 4);
        for (int k = 0; k < 4; k++)
            CHECK_INT(planes[k][i / W][i % W], want[k]);
    }
}

TEST(dtype__values_are_kept_without_norm)
{
    uint8_t data[H][W][3];
    struct picture p = rgb_picture(data);
    struct convert_spec spec = {.dtype = SWT_F32};
    float out[H][W][3];
    struct converter *c = converter_of(&p, &spec);

    CHECK_INT(converter_shape(c)->bytes, sizeof out);
    CHECK_INT(converter_shape(c)->dtype, SWT_F32);
    converter_run(c, &p, (uint8_t *)out);
    converter_free(&c);
    for (int i = 0; i < H * W * 3; i++)
        CHECK(out[i / 3 / W][i / 3 % W][i % 3] == (float)data[i / 3 / W][i / 3 % W][i % 3]);
}

TEST(norm__is_scaled_value_less_mean_by_deviation)
{
    uint8_t data[H][W][3];
    struct picture p = rgb_picture(data);
    struct convert_spec spec = {.dtype = SWT_F32,
                                .is_chw = true,
                                .has_norm = true,
                                .mean = {0.485, 0.456, 0.406},
                                .std = {0.229, 0.224, 0.225}};
    float out[3][H][W];
    struct converter *c = converter_of(&p, &spec);

    converter_run(c, &p, (uint8_t *)out);
    converter_free(&c);
    for (int i = 0; i < H * W * 3; i++) {
        double want = (data[i / 3 / W][i / 3 % W][i % 3] / 255.0 - spec.mean[i % 3]) /
                      spec.std[i % 3];

        CHECK(out[i % 3][i / 3 / W][i / 3 % W] == (float)want);
    }
}

TEST(norm__knows_the_full_scale_of_deep_formats)
{
    const uint16_t data[4] = {0, 65535, 32768, 1}, ten[4] = {0, 1023, 512, 0xffff};
    struct convert_spec spec = {.dtype = SWT_F32, .has_norm = true, .std = {1, 1, 1, 1}};
    struct picture p;
    struct converter *c;
    float out[4];

    picture_tight(pixfmt_find("gray16"), 4, 1, (const uint8_t *)data, &p);
    c = converter_of(&p, &spec);
    converter_run(c, &p, (uint8_t *)out);
    converter_free(&c);
    CHECK(out[0] == 0 && out[1] == 1 && out[2] == (float)(32768 / 65535.0));
    picture_tight(pixfmt_find("gray10"), 4, 1, (const uint8_t *)ten, &p);
    c = converter_of(&p, &spec);
    converter_run(c, &p, (uint8_t *)out);
    converter_free(&c);
    CHECK(out[0] == 0 && out[1] == 1 && out[2] == (float)(512 / 1023.0));
    CHECK(out[3] <= 1); /* bits that a 10-bit sample cannot have do no harm */
}

TEST(gray16__keeps_all_bits)
{
    static uint16_t data[65536], out[65536];
    struct picture p;
    struct convert_spec spec = {.dtype = SWT_U16}, as_s16 = {.dtype = SWT_S16},
                        as_u8 = {.dtype = SWT_U8};
    struct converter *c;

    for (int i = 0; i < 65536; i++)
        data[i] = (uint16_t)i;
    picture_tight(pixfmt_find("gray16"), 256, 256, (const uint8_t *)data, &p);
    c = converter_of(&p, &spec);
    CHECK(converter_is_identity(c));
    converter_free(&c);
    p.hflip = true;
    c = converter_of(&p, &spec);
    converter_run(c, &p, (uint8_t *)out);
    converter_free(&c);
    for (int i = 0; i < 65536; i++)
        CHECK_INT(out[i], data[i ^ 255]);
    p.hflip = false;
    c = converter_of(&p, &as_s16);
    converter_run(c, &p, (uint8_t *)out);
    converter_free(&c);
    CHECK(out[5] == 5 && out[32767] == 32767 && out[40000] == 32767);
    c = converter_of(&p, &as_u8);
    converter_run(c, &p, (uint8_t *)out);
    converter_free(&c);
    CHECK_INT(((uint8_t *)out)[65535], 255);
    CHECK_INT(((uint8_t *)out)[32896], 128);
}

TEST(stride__padded_and_upside_down_pictures_are_read)
{
    uint8_t data[H][W][3], padded[H * 32], out[H][W][3];
    struct picture p = rgb_picture(data);
    struct convert_spec spec = {.filter = SWT_FILTER_BILINEAR},
                        bgr = {.pixfmt = pixfmt_find("bgr24")};
    struct converter *c = converter_of(&p, &spec), *d = converter_of(&p, &bgr);

    for (int y = 0; y < H; y++)
        memcpy(padded + 32 * (H - 1 - y), data[y], sizeof data[y]);
    p.plane[0] = padded + 32 * (H - 1);
    p.stride[0] = -32;
    CHECK(converter_is_identity(c) && converter_fits(c, &p));
    converter_run(c, &p, out[0][0]);
    CHECK_MEM(out, data, sizeof data);
    converter_run(d, &p, out[0][0]);
    for (int i = 0; i < H * W; i++)
        CHECK(out[i / W][i % W][0] == data[i / W][i % W][2] &&
              out[i / W][i % W][2] == data[i / W][i % W][0]);
    converter_free(&c);
    converter_free(&d);
}

TEST(fits__only_the_same_kind_of_picture)
{
    uint8_t data[H][W][3];
    struct picture p = rgb_picture(data), q = p;
    struct convert_spec spec = {.dtype = SWT_F32};
    char matrix[8] = "bt709";
    struct converter *c;

    p.matrix = matrix;
    c = converter_of(&p, &spec);
    strcpy(matrix, "gone"); /* the converter keeps its own copy */
    q.matrix = "bt709";
    CHECK(converter_fits(c, &q));
    q.width--;
    CHECK(!converter_fits(c, &q));
    q.width++;
    q.range = "pc";
    CHECK(!converter_fits(c, &q));
    q.range = NULL;
    CHECK(converter_fits(c, &q));
    q.hflip = true;
    CHECK(!converter_fits(c, &q));
    converter_free(&c);
    CHECK(c == NULL);
}

TEST(refused__what_cannot_be_given)
{
    struct picture p;
    struct convert_spec spec = {.is_chw = true};
    struct swt_diag diag;
    struct converter *c;

    picture_tight(pixfmt_find("yuv420p"), 4, 4, NULL, &p);
    CHECK_INT(converter_new(&p, &spec, &c, &diag), SWT_E_UNSUPPORTED);
    CHECK(strstr(diag.text, "yuv420p") && strstr(diag.text, "rgb24"));
    spec = (struct convert_spec){.dtype = SWT_F32};
    CHECK_INT(converter_new(&p, &spec, &c, NULL), SWT_E_UNSUPPORTED);
    spec = (struct convert_spec){
        .pixfmt = pixfmt_find("rgb24"), .has_norm = true, .std = {1, 1, 1}};
    CHECK_INT(converter_new(&p, &spec, &c, &diag), SWT_E_USAGE);
    CHECK(strstr(diag.text, "f32"));
    spec = (struct convert_spec){
        .pixfmt = pixfmt_find("rgb24"), .dtype = SWT_F32, .has_norm = true, .std = {1, 1}};
    CHECK_INT(converter_new(&p, &spec, &c, NULL), SWT_E_USAGE);
    spec = (struct convert_spec){.width = 70000, .height = 1};
    CHECK_INT(converter_new(&p, &spec, &c, NULL), SWT_E_USAGE);
    spec = (struct convert_spec){.width = 1, .height = -4};
    CHECK_INT(converter_new(&p, &spec, &c, NULL), SWT_E_USAGE);
    p.rotation = 45;
    CHECK_INT(converter_new(&p, &(struct convert_spec){.width = 1}, &c, NULL), SWT_E_UNSUPPORTED);
}

TEST(default__is_what_the_command_line_promises)
{
    static const char *const pairs[][2] = {
        {"yuv420p", "rgb24"},   {"nv12", "rgb24"},   {"rgba", "rgb24"},    {"rgb565", "rgb24"},
        {"gray", "gray"},       {"ya8", "gray"},     {"gray10", "gray16"}, {"ya16", "gray16"},
        {"yuv420p10", "rgb48"}, {"gbrp12", "rgb48"}, {"rgba64", "rgb48"},  {"p010", "rgb48"}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        CHECK_STR(convert_default(pixfmt_find(pairs[i][0]))->name, pairs[i][1]);
}

/* Every format to every format, small and with odd sizes, crop and turn: nothing is read or written out of place
 * (the sanitizers look), and shapes are what they should be. */
TEST(all_pairs__stay_within_their_memory)
{
    const struct pixfmt *f, *t;

    for (size_t i = 0; (f = pixfmt_at(i)); i++)
        for (size_t k = 0; (t = pixfmt_at(k)); k++) {
            int w = 1 + (int)(i * 7 + k) % 19, h = 1 + (int)(i + k * 5) % 17;
            uint64_t n = pixfmt_bytes(f, w, h);
            uint8_t *data = malloc(n), *out;
            struct picture p;
            struct convert_spec spec = {.pixfmt = t,
                                        .crop_width = 1 + w / 2,
                                        .crop_height = 1 + h / 2,
                                        .crop_x = -1,
                                        .crop_y = -1,
                                        .filter = (enum swt_filter)(k % 4)};
            struct converter *c;

            for (uint64_t b = 0; b < n; b++)
                data[b] = (uint8_t)(b * 89 + i);
            picture_tight(f, w, h, data, &p);
            p.rotation = (int)(i + k) % 4 * 90;
            if (p.rotation % 180)
                spec.crop_width = 1 + h / 2, spec.crop_height = 1 + w / 2;
            if (k % 2)
                spec.width = 1 + (int)(i * k) % 23, spec.height = 1 + (int)(i + k) % 29;
            c = converter_of(&p, &spec);
            CHECK(c);
            CHECK_INT(converter_shape(c)->bytes,
                      pixfmt_bytes(t, converter_shape(c)->width, converter_shape(c)->height));
            out = malloc(converter_shape(c)->bytes);
            converter_run(c, &p, out);
            converter_free(&c);
            free(out);
            free(data);
        }
}

T_MAIN(RUN(turn__every_way_is_upright) RUN(turn__chroma_goes_with_luma)
           RUN(crop__is_a_part_of_the_whole) RUN(crop__even_parts_of_planar_formats_are_copied)
               RUN(crop__centred_and_outside) RUN(layout__chw_is_hwc_transposed)
                   RUN(layout__channels_are_in_the_order_of_the_format)
                       RUN(dtype__values_are_kept_without_norm)
                           RUN(norm__is_scaled_value_less_mean_by_deviation)
                               RUN(norm__knows_the_full_scale_of_deep_formats)
                                   RUN(gray16__keeps_all_bits)
                                       RUN(stride__padded_and_upside_down_pictures_are_read)
                                           RUN(fits__only_the_same_kind_of_picture)
                                               RUN(refused__what_cannot_be_given)
                                                   RUN(default__is_what_the_command_line_promises)
                                                       RUN(all_pairs__stay_within_their_memory))
