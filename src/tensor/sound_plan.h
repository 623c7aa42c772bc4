/* SPDX-License-Identifier: MIT
 *
 * sound_plan.h - which samples of encoded sound: decodes the stretch that a selection names and plans the window over
 * it.
 */
#ifndef TENSOR_SOUND_PLAN_H
#define TENSOR_SOUND_PLAN_H

#include "tensor/plan.h"
#include "tensor/sound.h"

/* `plan` gets sample numbers of `ret_sound`, not frame numbers of the stream. Chosen by time: --last, --from, --to; counts
 * are samples.
 * errors: those of plan_resolve and sound_decode */
int sound_plan(struct store_reader *reader, const struct swt_window_spec *spec,
               const struct params *params, const struct log_to *log, struct sound *ret_sound,
               struct plan *plan, struct swt_diag *reterr);

#endif
