/* SPDX-License-Identifier: MIT
 *
 * test_base_pixfmt.c - the table of pixel formats against FFmpeg's own descriptors and sizes. libavutil is
 * opened at run time, so that base stays free of it.
 */
#include <dlfcn.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#include "base/pixfmt.h"
#include "swt.h"
#include "t.h"

static enum AVPixelFormat (*get_pix_fmt)(const char *);
static const AVPixFmtDescriptor *(*desc_get)(enum AVPixelFormat);
static int (*linesize)(enum AVPixelFormat, int, int);
static int (*buffer_size)(enum AVPixelFormat, int, int, int);

static bool load(void)
{
    void *lib = dlopen("libavutil.so", RTLD_NOW);

    if (!lib)
        return false;
    *(void **)&get_pix_fmt = dlsym(lib, "av_get_pix_fmt");
    *(void **)&desc_get = dlsym(lib, "av_pix_fmt_desc_get");
    *(void **)&linesize = dlsym(lib, "av_image_get_linesize");
    *(void **)&buffer_size = dlsym(lib, "av_image_get_buffer_size");
    return get_pix_fmt && desc_get && linesize && buffer_size;
}

TEST(table__components_are_where_ffmpeg_says)
{
    const struct pixfmt *f;

    CHECK(load());
    for (size_t i = 0; (f = pixfmt_at(i)); i++) {
        const AVPixFmtDescriptor *d = desc_get(get_pix_fmt(f->ff_name));

        if (!d)
            T_FAIL("FFmpeg does not know %s", f->ff_name);
        if (d->nb_components != f->n_comps || d->log2_chroma_w != f->log2_cw ||
            d->log2_chroma_h != f->log2_ch)
            T_FAIL("%s: %d components, chroma %d %d", f->name, d->nb_components, d->log2_chroma_w,
                   d->log2_chroma_h);
        CHECK_INT(!!(d->flags & AV_PIX_FMT_FLAG_RGB), f->is_rgb);
        CHECK_INT(!!(d->flags & AV_PIX_FMT_FLAG_ALPHA), f->has_alpha);
        CHECK(!(d->flags & (AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_PAL)));
        for (int c = 0; c < f->n_comps; c++) {
            const AVComponentDescriptor *want = &d->comp[c];
            const struct pixfmt_comp *got = &f->comp[c];

            if (want->plane != got->plane || want->step != got->step ||
                want->offset != got->offset || want->shift != got->shift ||
                want->depth != got->depth)
                T_FAIL("%s component %d: FFmpeg has plane %d step %d offset %d shift %d depth %d",
                       f->name, c, want->plane, want->step, want->offset, want->shift, want->depth);
        }
    }
}

TEST(table__sizes_are_ffmpegs_for_odd_and_even_pictures)
{
    static const int sizes[][2] = {{1, 1}, {101, 77}, {64, 48}, {1919, 1081}, {65536, 3}};
    const struct pixfmt *f;

    CHECK(load());
    for (size_t i = 0; (f = pixfmt_at(i)); i++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            int w = sizes[s][0], h = sizes[s][1];
            enum AVPixelFormat ff = get_pix_fmt(f->ff_name);

            for (int p = 0; p < f->n_planes; p++)
                if (pixfmt_row_bytes(f, p, w) != (uint64_t)linesize(ff, w, p))
                    T_FAIL("%s plane %d of width %d: FFmpeg has %d", f->name, p, w,
                           linesize(ff, w, p));
            if (pixfmt_bytes(f, w, h) != (uint64_t)buffer_size(ff, w, h, 1))
                T_FAIL("%s %dx%d: FFmpeg has %d bytes", f->name, w, h, buffer_size(ff, w, h, 1));
        }
    }
}

TEST(table__names_are_unique_and_fit)
{
    const struct pixfmt *f, *g;

    for (size_t i = 0; (f = pixfmt_at(i)); i++) {
        CHECK(strlen(f->name) < SWT_FORMAT_CAP);
        for (size_t k = 0; k < i && (g = pixfmt_at(k)); k++)
            CHECK(strcmp(f->name, g->name) && strcmp(f->ff_name, g->ff_name));
        CHECK(pixfmt_find(f->name) == f);
        CHECK(pixfmt_find(f->ff_name) == f);
    }
}

TEST(packed__means_bytes_are_exactly_its_components)
{
    const struct pixfmt *f;

    for (size_t i = 0; (f = pixfmt_at(i)); i++) {
        uint64_t comps = 5u * 3u * f->n_comps * (f->comp[0].depth > 8 ? 2u : 1u);

        if (f->is_packed && pixfmt_bytes(f, 5, 3) != comps)
            T_FAIL("%s is not [H, W, C]", f->name);
    }
}

TEST(sizes__outside_the_limits_are_0)
{
    const struct pixfmt *f = pixfmt_find("yuv420p");

    CHECK_INT(pixfmt_bytes(f, 0, 5), 0);
    CHECK_INT(pixfmt_bytes(f, 5, -1), 0);
    CHECK_INT(pixfmt_bytes(f, 65537, 1), 0);
    CHECK_INT(pixfmt_bytes(f, 101, 77), 11755);
    CHECK(pixfmt_find("no such") == NULL);
}

T_MAIN(RUN(table__components_are_where_ffmpeg_says)
           RUN(table__sizes_are_ffmpegs_for_odd_and_even_pictures)
               RUN(table__names_are_unique_and_fit)
                   RUN(packed__means_bytes_are_exactly_its_components)
                       RUN(sizes__outside_the_limits_are_0))
