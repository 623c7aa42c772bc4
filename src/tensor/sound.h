/* SPDX-License-Identifier: MIT
 *
 * sound.h - a stretch of encoded sound, decoded into memory: the samples that lie between two times, cut to the
 * sample. Which stretch is asked for is the window's business.
 */
#ifndef TENSOR_SOUND_H
#define TENSOR_SOUND_H

#include "media/media.h"
#include "store/store.h"

#define SOUND_MAX_BYTES (UINT64_C(1) << 30) /* of decoded sound held at a time */

struct sound {
    uint8_t *samples; /* owned; interleaved, `n` samples of all channels */
    uint64_t cap;     /* bytes */
    int64_t n;
    int64_t first_ns; /* time of sample 0 */
    enum swt_dtype dtype;
    int channels, rate_hz;
    char channel_layout[64];
};

/* Decode what of entries first .. end - 1 lies in [from_ns, to_ns); INT64_MIN and INT64_MAX: from the first, to the last
 * sample. Holes become zeros. Decoding begins early enough for the decoder to have settled.
 * errors: SWT_E_UNSUPPORTED (format change inside, more than SOUND_MAX_BYTES), SWT_E_CORRUPT, SWT_E_NO_DECODER */
int sound_decode(struct store_reader *reader, int64_t from_ns, int64_t to_ns,
                 const struct log_to *log, struct sound *ret_sound, struct swt_diag *reterr);
void sound_done(struct sound *s);

#endif
