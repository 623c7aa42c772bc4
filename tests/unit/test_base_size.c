/* SPDX-License-Identifier: MIT
 *
 * test_base_size.c - exact scaling against long division in a slow model, CRC32C, clocks.
 */
#include "base/size.h"

#include <sys/mman.h>

#include "base/clock.h"
#include "base/crc.h"
#include "t.h"

static uint64_t seed = 88172645463325252u;

static uint64_t random64(void) /* xorshift64 */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Values of every magnitude, both signs. */
static int64_t random_signed(void)
{
    uint64_t x = random64() >> (random64() % 64);
    return random64() & 1 ? -(int64_t)(x >> 1) : (int64_t)(x >> 1);
}

/* |x| * |num| as two 64-bit halves, by 32-bit pieces: shares nothing with the code under test. */
static void multiply(uint64_t a, uint64_t b, uint64_t *ret_high, uint64_t *ret_low)
{
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t mid = a1 * b0 + (a0 * b0 >> 32), mid2 = a0 * b1 + (mid & UINT32_MAX);
    *ret_high = a1 * b1 + (mid >> 32) + (mid2 >> 32);
    *ret_low = (mid2 << 32) | (a0 * b0 & UINT32_MAX);
}

/* Bit by bit; `ret_huge` when the quotient passes 64 bits. */
static uint64_t divide(uint64_t high, uint64_t low, uint64_t den, uint64_t *ret_rest,
                       bool *ret_huge)
{
    uint64_t rest = 0, quotient = 0;
    *ret_huge = false;
    for (int i = 127; i >= 0; i--) {
        uint64_t bit = i >= 64 ? high >> (i - 64) & 1 : low >> i & 1;
        rest = rest << 1 | bit; /* den < 2^63, so nothing is shifted out */
        if (rest < den)
            continue;
        rest -= den;
        if (i >= 64)
            *ret_huge = true;
        else
            quotient |= UINT64_C(1) << i;
    }
    *ret_rest = rest;
    return quotient;
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

static int64_t with_sign(uint64_t x, bool is_negative, bool is_huge)
{
    if (is_negative)
        return is_huge || x >= UINT64_C(1) << 63 ? INT64_MIN : -(int64_t)x;
    return is_huge || x > INT64_MAX ? INT64_MAX : (int64_t)x;
}

static void compare_with_model(int64_t x, int64_t num, int64_t den)
{
    uint64_t high, low, rest;
    bool is_huge, is_negative = (x < 0) != (num < 0);
    multiply(magnitude(x), magnitude(num), &high, &low);
    uint64_t q = divide(high, low, (uint64_t)den, &rest, &is_huge);
    is_huge = is_huge || q >= UINT64_MAX - 1;
    uint64_t away = q + (rest > 0), near = q + (rest >= (uint64_t)den - rest);
    int64_t down = with_sign(is_negative ? away : q, is_negative, is_huge);
    int64_t up = with_sign(is_negative ? q : away, is_negative, is_huge);
    if (size_scale(x, num, den) != with_sign(near, is_negative, is_huge) ||
        size_scale_down(x, num, den) != down || size_scale_up(x, num, den) != up)
        T_FAIL("%" PRId64 " * %" PRId64 " / %" PRId64, x, num, den);
}

TEST(scale__agrees_with_long_division)
{
    static const int64_t edges[] = {0, 1, -1, 2, 3, 1001, INT64_MAX, INT64_MIN, INT64_MAX - 1};
    const size_t n = sizeof edges / sizeof edges[0];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < n; k++)
                if (edges[k] > 0 && !t_failed)
                    compare_with_model(edges[i], edges[j], edges[k]);
    for (int i = 0; i < 100000 && !t_failed; i++) {
        int64_t den = random_signed();
        compare_with_model(random_signed(), random_signed(), den > 0 ? den : 1 - den);
    }
}

TEST(scale__halves_go_away_from_zero)
{
    CHECK_INT(size_scale(5, 1, 2), 3);
    CHECK_INT(size_scale(-5, 1, 2), -3);
    CHECK_INT(size_scale(7, 1, 3), 2);
    CHECK_INT(size_scale_down(-7, 1, 3), -3);
    CHECK_INT(size_scale_up(-7, 1, 3), -2);
}

TEST(frames__at_a_rate_never_drift)
{
    struct swt_ratio ntsc = {30000, 1001};
    CHECK_INT(size_frames_ns(0, ntsc), 0);
    CHECK_INT(size_frames_ns(1, ntsc), 33366667);
    CHECK_INT(size_frames_ns(30000, ntsc), INT64_C(1001000000000));
    CHECK_INT(size_frames_ns(INT64_C(30000) * 1000000, ntsc), INT64_C(1001000000000) * 1000000);
    CHECK_INT(size_frames_ns(5, (struct swt_ratio){0, 1}), 0);
    CHECK_INT(size_ticks_ns(-90000, (struct swt_ratio){1, 90000}), -1000000000);
    CHECK_INT(size_ticks_ns(INT64_MAX, (struct swt_ratio){INT32_MAX, 1}), INT64_MAX);
}

TEST(reduce__gives_lowest_terms)
{
    static const int64_t cases[][4] = {
        {60, 2, 30, 1},
        {30000, 1001, 30000, 1001},
        {0, 7, 0, 1},
        {7, 0, 0, 1},
        {-6, 4, -3, 2},
        {6, -4, -3, 2},
        {-6, -4, 3, 2},
        {INT64_MIN, 2, INT64_MIN / 2, 1},
        {INT64_MAX, INT64_MAX, 1, 1},
        {INT64_MIN, INT64_MIN, 1, 1},
        {1, INT64_MIN, -1, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct swt_ratio r = size_reduce(cases[i][0], cases[i][1]);
        CHECK_INT(r.num, cases[i][2]);
        CHECK_INT(r.den, cases[i][3]);
    }
}

TEST(add_mul_up__say_when_it_does_not_fit)
{
    uint64_t x = 0;
    CHECK(size_add(UINT64_MAX - 1, 1, &x) && x == UINT64_MAX);
    CHECK(!size_add(UINT64_MAX, 1, &x));
    CHECK(size_mul(UINT32_MAX, UINT32_MAX, &x));
    CHECK(!size_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &x));
    CHECK(size_up(0, 4096) == 0 && size_up(1, 4096) == 4096 && size_up(4096, 4096) == 4096);
    CHECK(size_up(UINT64_MAX, 4096) == UINT64_MAX - 4095);
    CHECK(size_down(4095, 4096) == 0 && size_down(8191, 4096) == 4096);
}

TEST(crc__is_castagnoli)
{
    CHECK_INT(crc32c(0, "123456789", 9), 0xe3069283);
    CHECK_INT(crc32c(0, "", 0), 0);
    uint8_t bytes[32] = {0}; /* RFC 3720, B.4 */
    CHECK_INT(crc32c(0, bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    CHECK_INT(crc32c(0, bytes, 32), 0x62a8ab43);
}

TEST(crc__goes_on_from_any_cut)
{
    uint8_t data[1000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)random64();
    uint32_t whole = crc32c(0, data, sizeof data);
    for (size_t cut = 0; cut <= sizeof data; cut++)
        CHECK_INT(crc32c(crc32c(0, data, cut), data + cut, sizeof data - cut), whole);
}

/* ISA-L counts in int, so long buffers go in pieces. Pages that nobody wrote cost no memory to read. */
TEST(crc__of_more_than_a_gigabyte)
{
    size_t n = ((size_t)1 << 30) + 12345;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *zeros = mmap(NULL, n, PROT_READ | PROT_WRITE, flags, -1, 0);
    CHECK(zeros != MAP_FAILED);
    zeros[n - 100] = 1;
    uint32_t half = crc32c(1, zeros, n / 2);
    uint32_t pieces = crc32c(half, zeros + n / 2, n - n / 2), whole = crc32c(1, zeros, n);
    (void)munmap(zeros, n);
    CHECK_INT(whole, pieces);
}

TEST(clocks__run_forward)
{
    int64_t mono = clock_mono_ns(), boot = clock_boot_ns();
    CHECK(mono > 0 && boot > 0);
    CHECK(clock_mono_ns() >= mono && clock_boot_ns() >= boot);
    CHECK(clock_wall_ns() > INT64_C(1700000000) * 1000000000); /* November 2023 */
}

TEST(boot_id__is_the_same_twice)
{
    uint8_t a[16], b[16];
    memset(a, 1, sizeof a);
    memset(b, 2, sizeof b);
    clock_boot_id(a);
    clock_boot_id(b);
    CHECK_MEM(a, b, sizeof a);
}

T_MAIN(RUN(scale__agrees_with_long_division) RUN(scale__halves_go_away_from_zero)
           RUN(frames__at_a_rate_never_drift) RUN(reduce__gives_lowest_terms)
               RUN(add_mul_up__say_when_it_does_not_fit) RUN(crc__is_castagnoli)
                   RUN(crc__goes_on_from_any_cut) RUN(crc__of_more_than_a_gigabyte)
                       RUN(clocks__run_forward) RUN(boot_id__is_the_same_twice))
