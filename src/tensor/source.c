/* SPDX-License-Identifier: MIT
 *
 * source.c - gathers samples out of packed, shifted and bit-field layouts.
 */
#include "tensor/source.h"

static int ceil_shift(int n, int log2)
{
    return (n + (1 << log2) - 1) >> log2;
}

void source_of(const struct picture *p, struct source *ret)
{
    const struct pixfmt *f = p->pixfmt;

    ret->n_comps = f->n_comps;
    for (int i = 0; i < f->n_comps; i++) {
        const struct pixfmt_comp *c = &f->comp[i];
        bool is_chroma = !f->is_rgb && f->n_comps >= 3 && (i == 1 || i == 2);
        bool is_word = c->depth > 8;

        ret->comp[i] = (struct source_comp){
            .data = p->plane[c->plane] ? p->plane[c->plane] + c->offset : NULL,
            .stride = p->stride[c->plane],
            .width = is_chroma ? ceil_shift(p->width, f->log2_cw) : p->width,
            .height = is_chroma ? ceil_shift(p->height, f->log2_ch) : p->height,
            .step = c->step,
            .shift = c->shift,
            .depth = c->depth,
            .is_word = is_word,
            .is_plain = c->step == (is_word ? 2 : 1) && !c->shift && c->depth >= 8,
        };
    }
}

static uint16_t load_word(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

/* Fields of 8 bits at most; those that cross bytes are read as a word. */
static void gather_bytes(const struct source_comp *c, const uint8_t *p, int n, uint8_t *out)
{
    unsigned mask = (1u << c->depth) - 1;

    if (c->depth == 8) {
        for (int i = 0; i < n; i++)
            out[i] = p[i * c->step];
    } else if (c->depth + c->shift > 8) {
        for (int i = 0; i < n; i++)
            out[i] = (uint8_t)(load_word(p + i * c->step) >> c->shift & mask);
    } else {
        for (int i = 0; i < n; i++)
            out[i] = (uint8_t)(p[i * c->step] >> c->shift & mask);
    }
}

const void *source_row(const struct source_comp *c, int y, int x, int n, void *scratch)
{
    const uint8_t *p = c->data + y * c->stride + (ptrdiff_t)x * c->step;
    uint16_t *words = scratch;

    /* a tight row of words may begin at an odd address */
    if (c->is_plain && (!c->is_word || (uintptr_t)p % 2 == 0))
        return p;
    if (!c->is_word) {
        gather_bytes(c, p, n, scratch);
        return scratch;
    }
    for (int i = 0; i < n; i++)
        words[i] = (uint16_t)(load_word(p + i * c->step) >> c->shift);
    return scratch;
}

const uint16_t *source_row_words(const struct source_comp *c, int y, int x, int n,
                                 uint16_t *scratch)
{
    const uint8_t *p = c->data + y * c->stride + (ptrdiff_t)x * c->step;
    uint8_t *bytes = (uint8_t *)scratch + n;

    if (c->is_word)
        return source_row(c, y, x, n, scratch);
    /* bytes in the second half of the row widen from the front without overtaking */
    gather_bytes(c, p, n, bytes);
    for (int i = 0; i < n; i++)
        scratch[i] = bytes[i];
    return scratch;
}
