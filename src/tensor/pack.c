/* SPDX-License-Identifier: MIT
 *
 * pack.c - scatters rows. Values become elements by tables made beforehand, so that no element type costs
 * arithmetic per sample.
 */
#include "tensor/pack.h"

#include <string.h>

#include "base/dtype.h"
#include "tensor/colour.h"
#include "tensor/elements.h"
#include "tensor/rows.h"

bool pack_is_tensor(const struct pixfmt *f)
{
    return f->is_packed;
}

static uint64_t plane_offset(const struct pixfmt *f, int plane, int width, int height)
{
    uint64_t sum = 0;

    for (int i = 0; i < plane; i++)
        sum += pixfmt_row_bytes(f, i, width) * (uint64_t)pixfmt_rows(f, i, height);
    return sum;
}

/* Bytes that no component writes are the same each time: full scale where there could have been alpha. */
static int fill_of(const struct pixfmt *f, int width)
{
    if (f->comp[0].depth < 8 || (f->log2_cw && f->n_planes == 1 && width % 2))
        return 0;
    return f->is_rgb && f->n_planes == 1 && f->comp[0].depth == 8 && f->comp[0].step > f->n_comps
               ? 0xff
               : -1;
}

void pack_init_picture(struct pack *p, const struct pixfmt *f, int width, int height)
{
    *p = (struct pack){.n_comps = f->n_comps,
                       .is_word = f->comp[0].depth > 8,
                       .element_bytes = f->comp[0].depth > 8 ? 2 : 1,
                       .fill = fill_of(f, width),
                       .bytes = pixfmt_bytes(f, width, height)};
    for (int i = 0; i < f->n_comps; i++) {
        const struct pixfmt_comp *c = &f->comp[i];
        bool is_field = c->depth < 8;
        int shift = c->shift +
                    (is_field ? 8 * c->offset : 0); /* fields: in the word that all share */

        p->comp[i] = (struct pack_comp){
            .offset = plane_offset(f, c->plane, width, height) + (is_field ? 0 : c->offset),
            .row_step = pixfmt_row_bytes(f, c->plane, width),
            .step = c->step,
            .shift = (uint8_t)shift,
            .depth = (uint8_t)colour_depth(f, i),
            .narrow = is_field ? c->depth : 0,
        };
    }
}

/* Element of every value that a component can have. */
static const uint8_t *make_table(const struct convert_spec *spec, int depth, int channel,
                                 struct arena *arena)
{
    size_t bytes = dtype_get(spec->dtype)->bytes, n = (size_t)1 << depth;
    uint8_t *table = arena_take(arena, n, bytes);
    double full = (double)(n - 1), narrow = spec->dtype == SWT_U8 && depth > 8 ? 255 / full : 1;

    for (size_t i = 0; table && i < n; i++) {
        double value = (double)i * narrow;

        if (spec->has_norm)
            value = ((double)i / full - spec->mean[channel]) / spec->std[channel];
        element_put(spec->dtype, value, table + i * bytes);
    }
    return table;
}

void pack_init_tensor(struct pack *p, const struct pixfmt *f, int width, int height,
                      const struct convert_spec *spec, struct arena *arena)
{
    int n = f->n_comps, depth = f->comp[0].depth, bytes = (int)dtype_get(spec->dtype)->bytes;
    bool is_own = !spec->has_norm && spec->dtype == (depth > 8 ? SWT_U16 : SWT_U8);
    const uint8_t *table = NULL;

    *p = (struct pack){.n_comps = n,
                       .is_word = depth > 8,
                       .element_bytes = bytes,
                       .fill = -1,
                       .bytes = (uint64_t)width * (uint64_t)height * (uint64_t)n * (uint64_t)bytes};
    for (int i = 0; i < n; i++) {
        int channel = f->comp[i].offset / (depth > 8 ? 2 : 1); /* as in memory, for every layout */
        uint64_t row = (uint64_t)width * (uint64_t)bytes;

        if (!is_own && (!table || spec->has_norm))
            table = make_table(spec, depth, channel, arena);
        p->order[channel] = i;
        p->comp[i] = (struct pack_comp){
            .offset = spec->is_chw ? row * (uint64_t)height * (uint64_t)channel
                                   : (uint64_t)(channel * bytes),
            .row_step = spec->is_chw ? row : row * (uint64_t)n,
            .step = (uint32_t)(spec->is_chw ? bytes : bytes * n),
            .depth = (uint8_t)depth,
            .table = table,
        };
    }
    if (is_own && !spec->is_chw && !p->is_word && n >= 3)
        p->interleaved = n;
}

void pack_begin(const struct pack *p, uint8_t *out)
{
    if (p->fill >= 0)
        memset(out, p->fill, p->bytes);
}

static unsigned sample(const void *row, bool is_word, int x)
{
    return is_word ? ((const uint16_t *)row)[x] : ((const uint8_t *)row)[x];
}

static void put_table(const struct pack_comp *c, int bytes, const void *row, bool is_word, int n,
                      uint8_t *out)
{
    unsigned mask = (1u << c->depth) - 1; /* words from disk may have more bits than they should */

    for (int x = 0; x < n; x++, out += c->step) {
        const uint8_t *element = c->table + (sample(row, is_word, x) & mask) * (size_t)bytes;

        if (bytes == 4)
            memcpy(out, element, 4);
        else if (bytes == 2)
            memcpy(out, element, 2);
        else
            memcpy(out, element, (size_t)bytes);
    }
}

static void put_field(const struct pack_comp *c, const uint8_t *row, int n, uint8_t *out)
{
    unsigned top = (1u << c->narrow) - 1;

    for (int x = 0; x < n; x++, out += c->step) {
        unsigned bits = (row[x] * top + 127) / 255 << c->shift;

        out[0] = (uint8_t)(out[0] | (bits & 0xff));
        out[1] = (uint8_t)(out[1] | bits >> 8);
    }
}

static void put_plain(const struct pack_comp *c, const void *row, bool is_word, int n, uint8_t *out)
{
    const uint16_t *words = row;
    const uint8_t *bytes = row;

    if (!c->shift && c->step == (is_word ? 2u : 1u)) {
        memcpy(out, row, (size_t)n * c->step);
    } else if (is_word) {
        for (int x = 0; x < n; x++, out += c->step) {
            uint16_t word = (uint16_t)(words[x] << c->shift);

            memcpy(out, &word, sizeof word);
        }
    } else {
        for (int x = 0; x < n; x++, out += c->step)
            *out = bytes[x];
    }
}

void pack_row(const struct pack *p, const int *which, int n_which, const void *const row[4], int y,
              int n, uint8_t *out)
{
    const void *side[4];

    if (p->interleaved == n_which) {
        out += p->comp[p->order[0]].offset + (uint64_t)y * p->comp[0].row_step;
        for (int i = 0; i < n_which; i++)
            side[i] = row[p->order[i]];
        if (n_which == 3)
            rows_interleave3(side[0], side[1], side[2], n, out);
        else
            rows_interleave4(side[0], side[1], side[2], side[3], n, out);
        return;
    }
    for (int i = 0; i < n_which; i++) {
        const struct pack_comp *c = &p->comp[which[i]];
        uint8_t *at = out + c->offset + (uint64_t)y * c->row_step;

        if (c->table)
            put_table(c, p->element_bytes, row[i], p->is_word, n, at);
        else if (c->narrow)
            put_field(c, row[i], n, at);
        else
            put_plain(c, row[i], p->is_word, n, at);
    }
}
