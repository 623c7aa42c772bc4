/* SPDX-License-Identifier: MIT
 *
 * files.h - headers of other people's file formats for one window: npy, wav, y4m. Only bytes into a
 * buffer; who writes them where is not decided here.
 */
#ifndef EXCHANGE_FILES_H
#define EXCHANGE_FILES_H

#include "base/err.h"
#include "base/params.h"

/* npy format 1.0: magic, header padded to a multiple of 64 in all. `ret_header` is a heap block.
 * errors: SWT_E_UNSUPPORTED for bf16 and for more than SWT_MAX_DIMS dimensions. */
int files_npy_header(enum swt_dtype dtype, int n_dims, const int64_t *shape, uint8_t **ret_header,
                     size_t *ret_n, struct swt_diag *reterr);

/* RIFF/WAVE, or RF64 above 4 GiB; WAVE_FORMAT_EXTENSIBLE for more than 2 channels or a known layout that is not
 * the usual one, IEEE float for f32/f64. `data_bytes` of samples follow (plus a pad byte if odd).
 * errors: SWT_E_UNSUPPORTED dtype (u8 s16 s32 f32 f64 only) */
int files_wav_header(enum swt_dtype dtype, int channels, const char *layout, int rate_hz,
                     uint64_t data_bytes, uint8_t **ret_header, size_t *ret_n,
                     struct swt_diag *reterr);

/* YUV4MPEG2 stream header (text with its newline) for a planar YUV or gray pixel format that y4m knows;
 * each frame is "FRAME\n" and its tight planes. errors: SWT_E_UNSUPPORTED names the formats that work. */
int files_y4m_header(const char *pixel, int width, int height, struct swt_ratio rate,
                     struct swt_ratio sar, const char *range, const char *chroma,
                     const char *field_order, char ret_header[256], struct swt_diag *reterr);

#endif
