/* SPDX-License-Identifier: MIT
 *
 * test_format_params.c - the params block: round trips, equal bytes for equal params, other bytes for any
 * difference, what cannot be is neither written nor read.
 */
#include "format/check.h"

#include "base/crc.h"
#include "t.h"

static uint64_t seed = 99;

static uint64_t random64(void) /* xorshift64 */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static bool flip_coin(void)
{
    return random64() >> 63;
}

static void random_text(char *field, size_t cap)
{
    size_t n = random64() % cap;
    for (size_t i = 0; i < n; i++)
        field[i] = (char)(' ' + random64() % 95);
    memset(field + n, 0, cap - n);
}

static struct swt_ratio random_ratio(void)
{
    if (flip_coin())
        return (struct swt_ratio){0, 1};
    return (struct swt_ratio){(int64_t)(1 + random64() % INT32_MAX),
                              (int64_t)(1 + random64() % INT32_MAX)};
}

static void random_shape(struct params *p)
{
    p->n_dims = (int32_t)(random64() % SWT_MAX_DIMS);
    for (int i = 0; i < p->n_dims; i++)
        p->shape[i] = (int64_t)(1 + random64() % 200);
}

static void random_params(struct params *p)
{
    params_init(p);
    random_text(p->media, sizeof p->media);
    random_text(p->codec, sizeof p->codec);
    p->codec_tag = (uint32_t)random64();
    p->profile = flip_coin() ? -99 : (int32_t)random64();
    p->level = flip_coin() ? -99 : (int32_t)random64();
    p->n_extra = (uint32_t)(random64() % 300);
    p->extra = p->n_extra ? malloc(p->n_extra) : NULL;
    for (uint32_t i = 0; i < p->n_extra; i++)
        p->extra[i] = (uint8_t)random64();
    p->bits_per_sample = (int32_t)random64();
    p->block_align = (int32_t)random64();
    p->initial_padding = (int32_t)random64();
    p->seek_preroll = (int32_t)random64();
    p->bit_rate = (int64_t)random64();
    p->has_b_frames = flip_coin();
    p->time_base = random_ratio();
    p->rate = random_ratio();
    p->width = (int32_t)(random64() % 5000);
    p->height = (int32_t)(random64() % 5000);
    random_text(p->pixel, sizeof p->pixel);
    p->sar = random_ratio();
    p->rotation = (int32_t)(random64() % 4) * 90;
    p->hflip = flip_coin();
    random_text(p->matrix, sizeof p->matrix);
    random_text(p->range, sizeof p->range);
    random_text(p->primaries, sizeof p->primaries);
    random_text(p->transfer, sizeof p->transfer);
    random_text(p->chroma, sizeof p->chroma);
    random_text(p->field_order, sizeof p->field_order);
    p->n_mastering = (uint32_t)(random64() % (sizeof p->mastering + 1));
    for (uint32_t i = 0; i < p->n_mastering; i++)
        p->mastering[i] = (uint8_t)random64();
    p->dtype = (enum swt_dtype)(random64() % SWT_N_DTYPES);
    p->channels = (int32_t)(random64() % 100);
    random_text(p->channel_layout, sizeof p->channel_layout);
    random_shape(p);
    p->frame_bytes = random64() >> 10;
}

/* Both are made by params_init, so bytes between fields are zero; extra is compared by content. */
static bool params_equal(const struct params *a, const struct params *b)
{
    struct params x = *a, y = *b;
    x.extra = y.extra = NULL;
    return memcmp(&x, &y, sizeof x) == 0 && a->n_extra == b->n_extra &&
           (a->n_extra == 0 || memcmp(a->extra, b->extra, a->n_extra) == 0);
}

/* Heap block of the exact size, so that a sanitizer sees every byte too many. */
static uint8_t *encoded(const struct params *p, size_t *ret_n)
{
    *ret_n = params_encoded_bytes(p);
    uint8_t *block = *ret_n ? malloc(*ret_n) : NULL;
    if (block)
        params_encode(p, block);
    return block;
}

static void reseal(uint8_t *block, size_t n)
{
    struct seg_params head;
    le32_set(&head.n_bytes, (uint32_t)(n - sizeof head));
    le32_set(&head.crc, crc32c(0, block + sizeof head, n - sizeof head));
    memcpy(block, &head, sizeof head);
}

static void round_trip(const struct params *p)
{
    size_t n = 0, n_again = 0;
    AUTO(params_done) struct params back;
    params_init(&back);
    uint8_t *block = encoded(p, &n), *again = NULL;
    bool is_fine = block && n % 8 == 0 && params_decode(block, n, &back, NULL) == 0 &&
                   params_equal(p, &back);
    if (is_fine) {
        again = encoded(&back, &n_again);
        is_fine = again && n == n_again && memcmp(block, again, n) == 0;
    }
    free(block);
    free(again);
    CHECK(is_fine);
}

TEST(params__round_trip)
{
    for (int i = 0; i < 5000 && !t_failed; i++) {
        struct params p;
        random_params(&p);
        round_trip(&p);
        params_done(&p);
    }
}

TEST(params__of_nothing_are_a_header)
{
    struct params p, back;
    struct seg_params bytes;
    params_init(&p);
    CHECK_INT(params_encoded_bytes(&p), sizeof bytes);
    params_encode(&p, &bytes);
    CHECK_INT(params_decode(&bytes, sizeof bytes, &back, NULL), 0);
    CHECK(params_equal(&p, &back));
}

/* Bytes of a real block, as swt-format(5) says: a change of the format on disk shows here. */
TEST(params__bytes_are_as_documented)
{
    struct params p;
    size_t n;
    params_init(&p);
    memcpy(p.media, "audio", 6);
    p.rate = (struct swt_ratio){48000, 1};
    p.dtype = SWT_F32;
    p.channels = 2;
    p.n_dims = 1;
    p.shape[0] = 2;
    p.frame_bytes = 8;
    static const uint8_t want[] = {
        1,  0, 0, 0, 5,  0, 0, 0, 'a',  'u',  'd', 'i', 'o', 0, 0, 0, /* media */
        14, 0, 0, 0, 16, 0, 0, 0, 0x80, 0xbb, 0,   0,   0,   0, 0, 0,
        1,  0, 0, 0, 0,  0, 0, 0,                                     /* rate */
        28, 0, 0, 0, 3,  0, 0, 0, 'f',  '3',  '2', 0,   0,   0, 0, 0, /* dtype */
        29, 0, 0, 0, 8,  0, 0, 0, 2,    0,    0,   0,   0,   0, 0, 0, /* channels */
        31, 0, 0, 0, 8,  0, 0, 0, 2,    0,    0,   0,   0,   0, 0, 0, /* shape */
        32, 0, 0, 0, 8,  0, 0, 0, 8,    0,    0,   0,   0,   0, 0, 0, /* frame bytes */
    };
    uint8_t *block = encoded(&p, &n);
    bool is_same = block && n == 8 + sizeof want && memcmp(block + 8, want, sizeof want) == 0;
    free(block);
    CHECK(is_same);
}

TEST(params__any_difference_shows)
{
    for (int i = 0; i < 200; i++) {
        struct params p;
        random_params(&p);
        struct params q = p;
        switch (i % 10) {
        case 0:
            q.width ^= 1;
            break;
        case 1:
            q.hflip = !q.hflip;
            break;
        case 2:
            q.rate = (struct swt_ratio){p.rate.num + 1, 7};
            break;
        case 3:
            q.pixel[0] = q.pixel[0] == 'x' ? 'y' : 'x';
            break;
        case 4:
            q.frame_bytes ^= 1;
            break;
        case 5:
            q.profile ^= 1;
            break;
        case 6:
            q.dtype = (enum swt_dtype)((q.dtype + 1) % SWT_N_DTYPES);
            break;
        case 7:
            q.n_extra = p.n_extra / 2;
            q.channels++;
            break;
        case 8:
            q.n_mastering = (p.n_mastering + 1) % (sizeof p.mastering + 1);
            break;
        default:
            q.n_dims = (p.n_dims + 1) % SWT_MAX_DIMS;
            for (int d = 0; d < q.n_dims; d++)
                q.shape[d] = q.shape[d] > 0 ? q.shape[d] : 1;
            break;
        }
        size_t n_p, n_q;
        uint8_t *a = encoded(&p, &n_p), *b = encoded(&q, &n_q);
        bool differs = a && b && (n_p != n_q || memcmp(a, b, n_p) != 0);
        free(a);
        free(b);
        params_done(&p);
        if (!differs)
            T_FAIL("round %d", i);
    }
}

TEST(params__every_flipped_bit_is_detected)
{
    struct params p, back;
    size_t n = 0;
    random_params(&p);
    uint8_t *block = encoded(&p, &n);
    params_done(&p);
    size_t missed = 0;
    for (size_t bit = 0; bit < 8 * n; bit++) {
        block[bit / 8] ^= (uint8_t)(1 << bit % 8);
        missed += params_decode(block, n, &back, NULL) != SWT_E_CORRUPT;
        block[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(block);
    CHECK_INT(missed, 0);
}

/* Wrong bytes with a right checksum, as somebody might make them: refused, or read as something that can
 * be written again; never out of bounds. */
TEST(params__noise_is_refused_or_sound)
{
    size_t n_refused = 0, n_unsound = 0;
    for (int i = 0; i < 20000; i++) {
        struct params p, back;
        size_t n = 0;
        random_params(&p);
        uint8_t *block = encoded(&p, &n);
        params_done(&p);
        for (uint64_t k = 1 + random64() % 4; k > 0; k--)
            block[8 + random64() % (n - 8)] = (uint8_t)(random64() >> (random64() % 64));
        reseal(block, n);
        if (params_decode(block, n, &back, NULL) == 0) {
            n_unsound += params_encoded_bytes(&back) == 0;
            params_done(&back);
        } else {
            n_refused++;
        }
        free(block);
    }
    CHECK(n_refused > 0);
    CHECK_INT(n_unsound, 0);
}

TEST(params__every_cut_is_refused)
{
    struct params p, back;
    size_t n = 0, wrong = 0;
    random_params(&p);
    uint8_t *block = encoded(&p, &n);
    params_done(&p);
    for (size_t cut = 0; cut < n; cut++) {
        uint8_t *part = malloc(cut ? cut : 1);
        memcpy(part, block, cut);
        wrong += params_decode(part, cut, &back, NULL) != SWT_E_CORRUPT;
        if (cut >= sizeof(struct seg_params) && cut % 8 != 0) {
            reseal(part, cut);
            wrong += params_decode(part, cut, &back, NULL) != SWT_E_CORRUPT;
        }
        free(part);
    }
    free(block);
    CHECK_INT(wrong, 0);
}

/* One record by hand: key, length of the value, value. */
struct record {
    uint32_t key, n_bytes;
    char value[25]; /* zeros after what is given */
    bool is_fine;
};

TEST(params__every_value_is_judged)
{
    static const struct record records[] = {
        {SEG_PARAM_MEDIA, 5, "video", true},
        {SEG_PARAM_MEDIA, 8, "toolong!", false},
        {SEG_PARAM_MEDIA, 5, "vi\0eo", false},
        {SEG_PARAM_MEDIA, 5, "vi\neo", false},
        {SEG_PARAM_MEDIA, 0, "", false},
        {SEG_PARAM_DTYPE, 2, "u8", true},
        {SEG_PARAM_DTYPE, 2, "u9", false},
        {SEG_PARAM_DTYPE, 4, "none", false},
        {SEG_PARAM_WIDTH, 8, "\x80\x02", true},
        {SEG_PARAM_WIDTH, 4, "\x80\x02", false},
        {SEG_PARAM_WIDTH, 16, "\x80\x02", false},
        {SEG_PARAM_WIDTH, 8, "\xff\xff\xff\xff\xff\xff\xff\xff", false},
        {SEG_PARAM_WIDTH, 8, "\x01\x00\x00\x01", false},
        {SEG_PARAM_ROTATION, 8, "\x5a", true},
        {SEG_PARAM_ROTATION, 8, "\x2d", false},
        {SEG_PARAM_ROTATION, 8, "\x68\x01", false},
        {SEG_PARAM_HFLIP, 8, "\x01", true},
        {SEG_PARAM_HFLIP, 8, "\x02", false},
        {SEG_PARAM_RATE, 16, "\x1e\0\0\0\0\0\0\0\x01", true},
        {SEG_PARAM_RATE, 16, "\x1e", false},
        {SEG_PARAM_RATE, 8, "\x1e", false},
        {SEG_PARAM_RATE, 16, "\x1e\0\0\0\x01\0\0\0\x01", false},
        {SEG_PARAM_RATE, 16, "\xff\xff\xff\xff\xff\xff\xff\xff\x01", false},
        {SEG_PARAM_SHAPE, 16, "\x02\0\0\0\0\0\0\0\x03", true},
        {SEG_PARAM_SHAPE, 16, "\x02", false},
        {SEG_PARAM_SHAPE, 12, "\x02\0\0\0\0\0\0\0\x03", false},
        {SEG_PARAM_SHAPE, 16, "\0\0\0\0\0\0\0\x40\x02", false},
        {SEG_PARAM_SHAPE, 8, "\xff\xff\xff\xff\xff\xff\xff\xff", false},
        {SEG_PARAM_FRAME_BYTES, 8, "\xff\xff\xff\xff\xff\xff\xff\xff", false},
        {SEG_PARAM_PROFILE, 8, "\xff\xff\xff\xff\xff\xff\xff\xff", true},
        {SEG_PARAM_PROFILE, 8, "\xff\xff\xff\xff\x01", false},
        {SEG_PARAM_CODEC_TAG, 8, "\xff\xff\xff\xff", true},
        {SEG_PARAM_CODEC_TAG, 8, "\0\0\0\0\x01", false},
        {SEG_PARAM_MEDIA, UINT32_MAX, "video", false},
        {SEG_PARAM_MEDIA, UINT32_MAX - 7, "video", false},
        {0, 8, "x", false},
        {33, 8, "of a later version", true},
        {UINT32_MAX, 24, "of a later version", true},
    };
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        const struct record *r = &records[i];
        struct params back;
        uint8_t block[8 + 8 + 24];
        size_t n = 16 + (r->n_bytes <= 24 ? (r->n_bytes + 7u) & ~7u : 24);
        le32 head[2];
        le32_set(&head[0], r->key);
        le32_set(&head[1], r->n_bytes);
        memcpy(block + 8, head, 8);
        memcpy(block + 16, r->value, 24);
        reseal(block, n);
        int rc = params_decode(block, n, &back, NULL);
        if (rc == 0)
            params_done(&back);
        if (rc != (r->is_fine ? 0 : SWT_E_CORRUPT))
            T_FAIL("record %zu (key %u): %d", i, r->key, rc);
    }
}

TEST(params__keys_ascend)
{
    struct params p, back;
    uint8_t block[8 + 32];
    struct swt_diag diag;
    params_init(&p);
    p.width = 2;
    p.height = 3;
    CHECK_INT(params_encoded_bytes(&p), sizeof block);
    params_encode(&p, block);
    CHECK_INT(params_decode(block, sizeof block, &back, NULL), 0);
    block[24] = SEG_PARAM_WIDTH; /* twice */
    reseal(block, sizeof block);
    CHECK_INT(params_decode(block, sizeof block, &back, &diag), SWT_E_CORRUPT);
    CHECK_INT(diag.offset, 24);
    block[24] = SEG_PARAM_RATE; /* back */
    reseal(block, sizeof block);
    CHECK_INT(params_decode(block, sizeof block, &back, NULL), SWT_E_CORRUPT);
}

TEST(params__that_cannot_be_are_not_written)
{
    struct params p;
#define REFUSED(change)                         \
    do {                                        \
        params_init(&p);                        \
        CHECK(params_encoded_bytes(&p) > 0);    \
        change;                                 \
        CHECK_INT(params_encoded_bytes(&p), 0); \
    } while (0)
    REFUSED(memset(p.codec, 'x', sizeof p.codec));
    REFUSED(p.pixel[0] = '\n');
    REFUSED(p.width = -1);
    REFUSED(p.rotation = 45);
    REFUSED(p.channels = 65537);
    REFUSED(p.rate = ((struct swt_ratio){INT64_C(1) << 31, 1}));
    REFUSED(p.rate = ((struct swt_ratio){30, 0}));
    REFUSED(p.time_base = ((struct swt_ratio){-1, 30}));
    REFUSED(p.n_dims = SWT_MAX_DIMS);
    REFUSED(p.n_dims = -1);
    REFUSED(p.n_dims = 1);
    REFUSED((p.n_dims = 2, p.shape[0] = p.shape[1] = INT64_C(1) << 31));
    REFUSED(p.n_mastering = sizeof p.mastering + 1);
    REFUSED(p.dtype = SWT_N_DTYPES);
    REFUSED(p.frame_bytes = UINT64_MAX);
#undef REFUSED
}

TEST(params__extradata_up_to_the_limit)
{
    struct params p, back;
    size_t n;
    params_init(&p);
    p.n_extra = SEG_PARAMS_MAX - 16;
    p.extra = calloc(1, p.n_extra + 8);
    uint8_t *block = encoded(&p, &n);
    int rc = block ? params_decode(block, n, &back, NULL) : -1;
    uint32_t n_back = rc == 0 ? back.n_extra : 0;
    if (rc == 0)
        params_done(&back);
    free(block);
    p.n_extra++;
    size_t too_many = params_encoded_bytes(&p);
    p.n_extra = UINT32_MAX;
    size_t far_too_many = params_encoded_bytes(&p);
    params_done(&p);
    CHECK_INT(n, SEG_PARAMS_MAX);
    CHECK_INT(n_back, SEG_PARAMS_MAX - 16);
    CHECK_INT(too_many, 0);
    CHECK_INT(far_too_many, 0);
}

T_MAIN(RUN(params__round_trip) RUN(params__of_nothing_are_a_header)
           RUN(params__bytes_are_as_documented) RUN(params__any_difference_shows)
               RUN(params__every_flipped_bit_is_detected) RUN(params__noise_is_refused_or_sound)
                   RUN(params__every_cut_is_refused) RUN(params__every_value_is_judged)
                       RUN(params__keys_ascend) RUN(params__that_cannot_be_are_not_written)
                           RUN(params__extradata_up_to_the_limit))
