/* SPDX-License-Identifier: MIT
 *
 * wav.c - the header of RIFF/WAVE files and of RF64, their form above 4 GiB (EBU Tech 3306). Sizes are
 * known beforehand, so nothing is patched afterwards.
 */
#include "exchange/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"

#define WAV_CAP         160 /* the longest header: RF64, ds64, extensible fmt, fact, data */
#define WAV_PCM         1
#define WAV_FLOAT       3
#define WAV_EXTENSIBLE  0xfffe
#define WAV_MASK_MONO   0x4u
#define WAV_MASK_STEREO 0x3u

struct wav_out {
    uint8_t bytes[WAV_CAP];
    size_t n;
};

static void put_tag(struct wav_out *o, const char *tag)
{
    memcpy(o->bytes + o->n, tag, 4);
    o->n += 4;
}

static void put_le(struct wav_out *o, uint64_t value, int n_bytes)
{
    for (int i = 0; i < n_bytes; i++)
        o->bytes[o->n++] = (uint8_t)(value >> (8 * i));
}

/* Speakers by bit, the order in which WAV and FFmpeg hold channels. */
static const char *const speakers[] = {"FL", "FR", "FC", "LFE", "BL",  "BR",  "FLC", "FRC", "BC",
                                       "SL", "SR", "TC", "TFL", "TFC", "TFR", "TBL", "TBC", "TBR"};

static const struct {
    const char *name;
    uint32_t mask;
} layouts[] = {
    {"mono", 0x4},
    {"stereo", 0x3},
    {"2.1", 0xb},
    {"3.0", 0x7},
    {"3.0(back)", 0x103},
    {"4.0", 0x107},
    {"quad", 0x33},
    {"quad(side)", 0x603},
    {"3.1", 0xf},
    {"5.0", 0x37},
    {"5.0(side)", 0x607},
    {"4.1", 0x10f},
    {"5.1", 0x3f},
    {"5.1(side)", 0x60f},
    {"6.0", 0x707},
    {"6.0(front)", 0x6c3},
    {"hexagonal", 0x137},
    {"6.1", 0x70f},
    {"6.1(back)", 0x13f},
    {"6.1(front)", 0x6cb},
    {"7.0", 0x637},
    {"7.0(front)", 0x6c7},
    {"7.1", 0x63f},
    {"7.1(wide)", 0xff},
    {"7.1(wide-side)", 0x6cf},
    {"octagonal", 0x737},
};

/* Mask of one name in "FL+FR+LFE", 0 if it is no speaker that WAV knows. */
static uint32_t speaker_mask(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof speakers / sizeof *speakers; i++)
        if (strlen(speakers[i]) == n && !memcmp(speakers[i], name, n))
            return UINT32_C(1) << i;
    return 0;
}

/* "FL+FR+LFE" or "3 channels (FL+FR+LFE)"; 0 when the order is not the one of the bits, for which WAV
 * has no words. */
static uint32_t list_mask(const char *list)
{
    const char *paren = strchr(list, '(');
    uint32_t mask = 0;

    if (paren)
        list = paren + 1;
    for (;;) {
        size_t n = strcspn(list, "+)");
        uint32_t bit = speaker_mask(list, n);

        if (bit <= mask)
            return 0;
        mask |= bit;
        if (list[n] != '+')
            return mask;
        list += n + 1;
    }
}

/* dwChannelMask of FFmpeg's name of a layout; 0 = not known, or not of so many channels. */
static uint32_t layout_mask(const char *layout, int channels)
{
    uint32_t mask = 0;

    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (!strcmp(layouts[i].name, layout))
            mask = layouts[i].mask;
    if (!mask)
        mask = list_mask(layout);
    return __builtin_popcount(mask) == channels ? mask : 0;
}

static bool is_usual(uint32_t mask, int channels)
{
    return channels == 1 ? mask == WAV_MASK_MONO : channels == 2 && mask == WAV_MASK_STEREO;
}

static void put_fmt(struct wav_out *o, int tag, int sample_bytes, int channels, uint32_t mask,
                    bool is_extensible, int rate_hz)
{
    static const uint8_t guid_tail[14] = {0, 0, 0,    0, 0x10, 0,    0x80,
                                          0, 0, 0xaa, 0, 0x38, 0x9b, 0x71};
    uint64_t block = (uint64_t)channels * (uint64_t)sample_bytes;

    put_tag(o, "fmt ");
    put_le(o, is_extensible ? 40 : tag == WAV_PCM ? 16 : 18, 4);
    put_le(o, is_extensible ? WAV_EXTENSIBLE : (uint64_t)tag, 2);
    put_le(o, (uint64_t)channels, 2);
    put_le(o, (uint64_t)rate_hz, 4);
    put_le(o, (uint64_t)rate_hz * block, 4);
    put_le(o, block, 2);
    put_le(o, (uint64_t)sample_bytes * 8, 2);
    if (is_extensible) {
        put_le(o, 22, 2);
        put_le(o, (uint64_t)sample_bytes * 8, 2);
        put_le(o, mask, 4);
        put_le(o, (uint64_t)tag, 2);
        memcpy(o->bytes + o->n, guid_tail, sizeof guid_tail);
        o->n += sizeof guid_tail;
    } else if (tag != WAV_PCM) {
        put_le(o, 0, 2);
    }
}

/* What comes before the fmt chunk; patch_sizes fills in the sizes when the length is known. */
static void put_riff(struct wav_out *o, bool is_rf64)
{
    put_tag(o, is_rf64 ? "RF64" : "RIFF");
    put_le(o, UINT32_MAX, 4);
    put_tag(o, "WAVE");
    if (is_rf64) {
        put_tag(o, "ds64");
        put_le(o, 28, 4);
        o->n += 28; /* zero until patched; so is the length of its empty table */
    }
}

/* `riff_bytes`: what follows the first eight bytes. */
static void patch_sizes(struct wav_out *o, bool is_rf64, uint64_t riff_bytes, uint64_t data_bytes,
                        uint64_t n_samples)
{
    struct wav_out sizes = {.n = 0};

    if (!is_rf64) {
        put_le(&sizes, riff_bytes, 4);
        memcpy(o->bytes + 4, sizes.bytes, sizes.n);
        return;
    }
    put_le(&sizes, riff_bytes, 8);
    put_le(&sizes, data_bytes, 8);
    put_le(&sizes, n_samples, 8);
    memcpy(o->bytes + 20, sizes.bytes, sizes.n);
}

static int sample_tag(enum swt_dtype dtype)
{
    if (dtype == SWT_U8 || dtype == SWT_S16 || dtype == SWT_S32)
        return WAV_PCM;
    return dtype == SWT_F32 || dtype == SWT_F64 ? WAV_FLOAT : 0;
}

static int wav_check(enum swt_dtype dtype, int channels, int rate_hz, uint64_t data_bytes,
                     struct swt_diag *reterr)
{
    uint64_t block = (uint64_t)(channels > 0 ? channels : 0) * dtype_get(dtype)->bytes;

    if (!sample_tag(dtype))
        return err_set(reterr, SWT_E_UNSUPPORTED,
                       "wav cannot hold %s: --dtype u8, s16, s32, f32 or f64",
                       dtype_get(dtype)->name);
    if (block < 1 || block > UINT16_MAX)
        return err_set(reterr, SWT_E_UNSUPPORTED, "wav cannot hold %d channels of %s", channels,
                       dtype_get(dtype)->name);
    if (rate_hz < 1 || (uint64_t)rate_hz * block > UINT32_MAX)
        return err_set(reterr, SWT_E_UNSUPPORTED, "wav cannot hold %d channels at %d Hz", channels,
                       rate_hz);
    if (data_bytes > INT64_MAX)
        return err_set(reterr, SWT_E_UNSUPPORTED, "wav: more than 2^63 bytes");
    return 0;
}

int files_wav_header(enum swt_dtype dtype, int channels, const char *layout, int rate_hz,
                     uint64_t data_bytes, uint8_t **ret_header, size_t *ret_n,
                     struct swt_diag *reterr)
{
    int sample_bytes = (int)dtype_get(dtype)->bytes, tag = sample_tag(dtype);
    uint32_t mask = layout_mask(layout ? layout : "", channels);
    bool is_rf64 = data_bytes > UINT32_MAX - WAV_CAP;
    struct wav_out o = {.n = 0};
    uint64_t n_samples;
    int r = wav_check(dtype, channels, rate_hz, data_bytes, reterr);

    if (r < 0)
        return r;
    n_samples = data_bytes / ((uint64_t)channels * (uint64_t)sample_bytes);
    put_riff(&o, is_rf64);
    put_fmt(&o, tag, sample_bytes, channels, mask,
            channels > 2 || (mask && !is_usual(mask, channels)), rate_hz);
    if (tag == WAV_FLOAT) {
        put_tag(&o, "fact");
        put_le(&o, 4, 4);
        put_le(&o, is_rf64 ? UINT32_MAX : n_samples, 4);
    }
    put_tag(&o, "data");
    put_le(&o, is_rf64 ? UINT32_MAX : data_bytes, 4);
    patch_sizes(&o, is_rf64, o.n - 8 + data_bytes + (data_bytes & 1), data_bytes, n_samples);

    *ret_header = malloc(o.n);
    if (!*ret_header)
        return err_set(reterr, -ENOMEM, "wav: out of memory");
    memcpy(*ret_header, o.bytes, o.n);
    *ret_n = o.n;
    return 0;
}
