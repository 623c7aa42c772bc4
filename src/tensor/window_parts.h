/* SPDX-License-Identifier: MIT
 *
 * window_parts.h - inside of a window, shared by window.c (selection), shape.c (what a frame looks like) and fill.c
 * (frames into the caller's buffer).
 */
#ifndef TENSOR_WINDOW_PARTS_H
#define TENSOR_WINDOW_PARTS_H

#include "tensor/convert.h"
#include "tensor/decode.h"
#include "tensor/sound.h"
#include "tensor/window.h"

struct window {
    struct store_reader *reader; /* borrowed */
    struct swt_window_spec spec;
    struct log_to log;
    struct plan plan, spare; /* spare: the next one is made here, then they change places */
    uint64_t end_frame;      /* of the stream, as the plan saw it */
    enum seg_kind kind;
    const struct params *params; /* of the run being converted; borrowed from the reader */
    uint64_t run_base;           /* first frame of that run */
    struct convert_spec shape;
    struct converter *converter; /* pictures only; owned */
    struct decode *decode;       /* pictures of packet streams; owned */
    struct sound sound;          /* encoded sound, decoded when the window is opened; owned */
    struct swt_window_info info;
};

static inline bool window_is_picture(const struct window *w)
{
    return strcmp(w->params->media, "video") == 0;
}

static inline bool window_is_sound(const struct window *w)
{
    return strcmp(w->params->media, "audio") == 0;
}

/* Samples in memory rather than in the store. */
static inline bool window_holds_sound(const struct window *w)
{
    return w->sound.channels > 0;
}

static inline bool window_is_planes_first(const struct window *w)
{
    return w->spec.layout == SWT_LAYOUT_CTHW && w->info.n_dims == 4;
}

/* shape.c: fill `info` for the plan and `params` as they are, and make the converter. */
int window_shape(struct window *w, struct swt_diag *reterr);
/* A picture of a run as the index describes it; a packet's real picture may yet differ. */
int window_like(const struct window *w, const struct params *p, struct picture *ret,
                struct swt_diag *reterr);

#endif
