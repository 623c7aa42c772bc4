/* SPDX-License-Identifier: MIT
 *
 * params.c - the params block: a struct params as records of key, length and value, and back. One table
 * row a key; what has its default is left out, so that equal params are equal bytes.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "base/dtype.h"
#include "base/size.h"
#include "format/check.h"

enum type { TEXT, INT, RATIO, EXTRA, MASTERING, DTYPE, SHAPE };

struct row {
    enum seg_param_key key;
    enum type type;
    size_t off;       /* of the field in struct params */
    size_t cap;       /* bytes of the field; of a text, its NUL included */
    int64_t min, max; /* INT: what it may be */
    int64_t preset;   /* INT: the value that is left out */
};

#define MAX_PX       (1 << 24) /* more than any codec codes, and its square is far from 2^63 */
#define MAX_CHANNELS 65536
#define MAX_BYTES    (INT64_C(1) << 60)

#define AT(field)       .off = offsetof(struct params, field), .cap = sizeof((struct params *)0)->field
#define FROM_TO(lo, hi) .min = (lo), .max = (hi)
#define ANY_INT32       FROM_TO(INT32_MIN, INT32_MAX)

static const struct row rows[] = {
    {SEG_PARAM_MEDIA, TEXT, AT(media)},
    {SEG_PARAM_CODEC, TEXT, AT(codec)},
    {SEG_PARAM_CODEC_TAG, INT, AT(codec_tag), FROM_TO(0, UINT32_MAX)},
    {SEG_PARAM_PROFILE, INT, AT(profile), ANY_INT32, .preset = -99},
    {SEG_PARAM_LEVEL, INT, AT(level), ANY_INT32, .preset = -99},
    {SEG_PARAM_EXTRADATA, EXTRA, AT(extra)},
    {SEG_PARAM_BITS, INT, AT(bits_per_sample), ANY_INT32},
    {SEG_PARAM_BLOCK_ALIGN, INT, AT(block_align), ANY_INT32},
    {SEG_PARAM_PADDING, INT, AT(initial_padding), ANY_INT32},
    {SEG_PARAM_PREROLL, INT, AT(seek_preroll), ANY_INT32},
    {SEG_PARAM_BIT_RATE, INT, AT(bit_rate), FROM_TO(INT64_MIN, INT64_MAX)},
    {SEG_PARAM_B_FRAMES, INT, AT(has_b_frames), FROM_TO(0, 1)},
    {SEG_PARAM_TIME_BASE, RATIO, AT(time_base)},
    {SEG_PARAM_RATE, RATIO, AT(rate)},
    {SEG_PARAM_WIDTH, INT, AT(width), FROM_TO(0, MAX_PX)},
    {SEG_PARAM_HEIGHT, INT, AT(height), FROM_TO(0, MAX_PX)},
    {SEG_PARAM_PIXEL, TEXT, AT(pixel)},
    {SEG_PARAM_SAR, RATIO, AT(sar)},
    {SEG_PARAM_ROTATION, INT, AT(rotation), FROM_TO(0, 270)},
    {SEG_PARAM_HFLIP, INT, AT(hflip), FROM_TO(0, 1)},
    {SEG_PARAM_MATRIX, TEXT, AT(matrix)},
    {SEG_PARAM_RANGE, TEXT, AT(range)},
    {SEG_PARAM_PRIMARIES, TEXT, AT(primaries)},
    {SEG_PARAM_TRANSFER, TEXT, AT(transfer)},
    {SEG_PARAM_CHROMA, TEXT, AT(chroma)},
    {SEG_PARAM_FIELD_ORDER, TEXT, AT(field_order)},
    {SEG_PARAM_MASTERING, MASTERING, AT(mastering)},
    {SEG_PARAM_DTYPE, DTYPE, AT(dtype)},
    {SEG_PARAM_CHANNELS, INT, AT(channels), FROM_TO(0, MAX_CHANNELS)},
    {SEG_PARAM_LAYOUT, TEXT, AT(channel_layout)},
    {SEG_PARAM_SHAPE, SHAPE, AT(shape)},
    {SEG_PARAM_FRAME_BYTES, INT, AT(frame_bytes), FROM_TO(0, MAX_BYTES)},
};
#define N_ROWS (sizeof rows / sizeof rows[0])

#define SHAPE_MAX (SWT_MAX_DIMS - 1) /* the time axis is not in it */

/* ---- what a value must be, when written and when read -------------------------------------------- */

static bool text_is_valid(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    return true;
}

static bool int_is_valid(const struct row *row, int64_t v)
{
    if (row->key == SEG_PARAM_ROTATION && v % 90 != 0)
        return false;
    return v >= row->min && v <= row->max;
}

/* 31 bits each, so that times 1e9 fits 63 bits. */
static bool ratio_is_valid(int64_t num, int64_t den)
{
    return num > 0 && num <= INT32_MAX && den > 0 && den <= INT32_MAX;
}

/* The product of all dimensions, times 8 bytes of the largest dtype, fits 63 bits. */
static bool shape_is_valid(const int64_t *shape, size_t n)
{
    uint64_t product = 8;
    for (size_t i = 0; i < n; i++)
        if (shape[i] < 1 || !size_mul(product, (uint64_t)shape[i], &product) || product > INT64_MAX)
            return false;
    return n <= SHAPE_MAX;
}

/* ---- encoding ------------------------------------------------------------------------------------ */

/* One record's value as it goes to disk; large ones stay where they are. */
struct value {
    const void *data; /* n bytes; borrowed, or `own` */
    size_t n;         /* 0: has its default, is left out */
    bool is_valid;
    le64 own[SWT_MAX_DIMS];
};

/* A field of 1 (bool), 4 or 8 bytes; unsigned if it cannot be below 0, so that what the field's type
 * cannot mean is out of range here. */
static int64_t int_get(const struct row *row, const void *field)
{
    if (row->cap == sizeof(bool))
        return *(const bool *)field;
    if (row->cap == sizeof(int64_t))
        return *(const int64_t *)field;
    return row->min < 0 ? *(const int32_t *)field : (int64_t) * (const uint32_t *)field;
}

static void value_of_int(const struct row *row, int64_t v, struct value *ret)
{
    le64_set(&ret->own[0], (uint64_t)v);
    ret->n = v == row->preset ? 0 : sizeof(le64);
    ret->is_valid = int_is_valid(row, v);
}

static void value_of_text(const char *text, size_t cap, struct value *ret)
{
    ret->data = text;
    ret->n = strnlen(text, cap);
    ret->is_valid = ret->n < cap && text_is_valid(text, ret->n);
}

static void value_of_ratio(const struct swt_ratio *r, struct value *ret)
{
    le64_set(&ret->own[0], (uint64_t)r->num);
    le64_set(&ret->own[1], (uint64_t)r->den);
    ret->n = r->num == 0 ? 0 : 2 * sizeof(le64);
    ret->is_valid = r->num == 0 || ratio_is_valid(r->num, r->den);
}

static void value_of_shape(const struct params *p, struct value *ret)
{
    ret->is_valid = p->n_dims >= 0 && p->n_dims <= SHAPE_MAX &&
                    shape_is_valid(p->shape, (size_t)p->n_dims);
    ret->n = 0;
    for (int i = 0; ret->is_valid && i < p->n_dims; i++)
        le64_set(&ret->own[i], (uint64_t)p->shape[i]);
    if (ret->is_valid)
        ret->n = (size_t)p->n_dims * sizeof(le64);
}

static void value_get(const struct params *p, const struct row *row, struct value *ret)
{
    const void *field = (const char *)p + row->off;
    *ret = (struct value){.data = ret->own, .is_valid = true};
    switch (row->type) {
    case TEXT:
        value_of_text(field, row->cap, ret);
        break;
    case RATIO:
        value_of_ratio(field, ret);
        break;
    case EXTRA:
        ret->data = p->extra;
        ret->n = p->n_extra;
        break;
    case MASTERING:
        ret->data = p->mastering;
        ret->n = p->n_mastering;
        ret->is_valid = p->n_mastering <= row->cap;
        break;
    case DTYPE:
        if (p->dtype != SWT_DTYPE_NONE)
            value_of_text(dtype_get(p->dtype)->name, SWT_FORMAT_CAP, ret);
        ret->is_valid = (unsigned)p->dtype < SWT_N_DTYPES;
        break;
    case SHAPE:
        value_of_shape(p, ret);
        break;
    case INT:
        value_of_int(row, int_get(row, field), ret);
        break;
    }
}

static size_t padded(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

size_t params_encoded_bytes(const struct params *p)
{
    size_t sum = sizeof(struct seg_params);
    for (size_t i = 0; i < N_ROWS; i++) {
        struct value v;
        value_get(p, &rows[i], &v);
        if (!v.is_valid || v.n > SEG_PARAMS_MAX)
            return 0;
        sum += v.n > 0 ? sizeof(struct seg_param) + padded(v.n) : 0;
    }
    return sum <= SEG_PARAMS_MAX ? sum : 0;
}

void params_encode(const struct params *p, void *buf)
{
    uint8_t *start = (uint8_t *)buf + sizeof(struct seg_params), *at = start;
    for (size_t i = 0; i < N_ROWS; i++) {
        struct value v;
        struct seg_param head;
        value_get(p, &rows[i], &v);
        assert(v.is_valid);
        if (v.n == 0)
            continue;
        le32_set(&head.key, (uint32_t)rows[i].key);
        le32_set(&head.n_bytes, (uint32_t)v.n);
        memcpy(at, &head, sizeof head);
        at += sizeof head;
        memcpy(at, v.data, v.n);
        memset(at + v.n, 0, padded(v.n) - v.n);
        at += padded(v.n);
    }
    struct seg_params head;
    le32_set(&head.n_bytes, (uint32_t)(at - start));
    le32_set(&head.crc, crc32c(0, start, (size_t)(at - start)));
    memcpy(buf, &head, sizeof head);
}

/* ---- decoding ------------------------------------------------------------------------------------ */

static int64_t le64_at(const uint8_t *data, size_t i)
{
    le64 v;
    memcpy(&v, data + i * sizeof v, sizeof v);
    return le64_get_signed(v);
}

static bool int_set(const struct row *row, const uint8_t *data, size_t n, void *field)
{
    if (n != sizeof(le64) || !int_is_valid(row, le64_at(data, 0)))
        return false;
    int64_t v = le64_at(data, 0);
    if (row->cap == sizeof(bool))
        *(bool *)field = v != 0;
    else if (row->cap == sizeof(int64_t))
        *(int64_t *)field = v;
    else
        *(uint32_t *)field = (uint32_t)v;
    return true;
}

static bool text_set(const uint8_t *data, size_t n, char *field, size_t cap)
{
    if (n >= cap || !text_is_valid((const char *)data, n))
        return false;
    memcpy(field, data, n);
    field[n] = 0;
    return true;
}

static bool dtype_set(const uint8_t *data, size_t n, struct params *p)
{
    char name[SWT_FORMAT_CAP];
    if (!text_set(data, n, name, sizeof name))
        return false;
    p->dtype = dtype_find(name);
    return p->dtype != SWT_DTYPE_NONE;
}

static bool ratio_set(const uint8_t *data, size_t n, struct swt_ratio *field)
{
    if (n != 2 * sizeof(le64) || !ratio_is_valid(le64_at(data, 0), le64_at(data, 1)))
        return false;
    *field = (struct swt_ratio){le64_at(data, 0), le64_at(data, 1)};
    return true;
}

static bool shape_set(const uint8_t *data, size_t n, struct params *p)
{
    size_t n_dims = n / sizeof(le64);
    if (n % sizeof(le64) != 0 || n_dims > SHAPE_MAX)
        return false;
    for (size_t i = 0; i < n_dims; i++)
        p->shape[i] = le64_at(data, i);
    p->n_dims = (int32_t)n_dims;
    return shape_is_valid(p->shape, n_dims);
}

static int extra_set(const uint8_t *data, size_t n, struct params *p)
{
    p->extra = malloc(n);
    if (!p->extra)
        return -ENOMEM;
    memcpy(p->extra, data, n);
    p->n_extra = (uint32_t)n;
    return 0;
}

/* 0, -ENOMEM, or SWT_E_CORRUPT for a value that cannot be. n > 0. */
static int value_set(const struct row *row, const uint8_t *data, size_t n, struct params *p)
{
    void *field = (char *)p + row->off;
    bool is_valid = false;
    switch (row->type) {
    case TEXT:
        is_valid = text_set(data, n, field, row->cap);
        break;
    case RATIO:
        is_valid = ratio_set(data, n, field);
        break;
    case EXTRA:
        return extra_set(data, n, p);
    case MASTERING:
        is_valid = n <= row->cap;
        if (is_valid)
            memcpy(p->mastering, data, n);
        p->n_mastering = is_valid ? (uint32_t)n : 0;
        break;
    case DTYPE:
        is_valid = dtype_set(data, n, p);
        break;
    case SHAPE:
        is_valid = shape_set(data, n, p);
        break;
    case INT:
        is_valid = int_set(row, data, n, field);
        break;
    }
    return is_valid ? 0 : SWT_E_CORRUPT;
}

static const struct row *find_row(uint32_t key)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if ((uint32_t)rows[i].key == key)
            return &rows[i];
    return NULL;
}

/* Records from `block` + 8 to its end. `ret_off`: where it stopped. */
static int decode_records(const uint8_t *block, size_t n, struct params *p, size_t *ret_off)
{
    uint32_t last_key = 0;
    size_t off = sizeof(struct seg_params);
    for (; off < n; *ret_off = off) {
        struct seg_param head;
        if (n - off < sizeof head)
            return SWT_E_CORRUPT;
        memcpy(&head, block + off, sizeof head);
        uint32_t key = le32_get(head.key);
        size_t n_value = le32_get(head.n_bytes), room = n - off - sizeof head;
        if (key <= last_key || n_value == 0 || n_value > room || padded(n_value) > room)
            return SWT_E_CORRUPT;
        const struct row *row = find_row(key);
        int rc = row ? value_set(row, block + off + sizeof head, n_value, p) : 0;
        if (rc < 0)
            return rc;
        last_key = key;
        off += sizeof head + padded(n_value);
    }
    return 0;
}

int params_decode(const void *block, size_t n, struct params *ret_params, struct swt_diag *reterr)
{
    struct seg_params head;
    if (n < sizeof head || n > SEG_PARAMS_MAX)
        return err_at(reterr, SWT_E_CORRUPT, NULL, 0, "params block: wrong size");
    memcpy(&head, block, sizeof head);
    if (le32_get(head.n_bytes) != n - sizeof head)
        return err_at(reterr, SWT_E_CORRUPT, NULL, 0, "params block: wrong size");
    if (le32_get(head.crc) != crc32c(0, (const uint8_t *)block + sizeof head, n - sizeof head))
        return err_at(reterr, SWT_E_CORRUPT, NULL, 0, "params block: wrong checksum");
    AUTO(params_done) struct params p;
    params_init(&p);
    size_t off = sizeof head;
    int rc = decode_records(block, n, &p, &off);
    if (rc == SWT_E_CORRUPT)
        return err_at(reterr, rc, NULL, (int64_t)off, "params block: a record that cannot be");
    if (rc < 0)
        return err_errno(reterr, -rc, NULL, "params block");
    *ret_params = p;
    p.extra = NULL;
    return 0;
}
