/* SPDX-License-Identifier: MIT
 *
 * test_format_layout.c - where new segments put things: every promise of super_layout on random segments,
 * and the figures of the usual ones.
 */
#include "format/check.h"

#include <errno.h>

#include "t.h"

static uint64_t seed = 20251130;

static uint64_t random64(void) /* xorshift64 */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

TEST(layout__keeps_every_promise)
{
    for (int i = 0; i < 200000; i++) {
        bool is_packets = random64() % 3 == 0;
        struct super s = {.kind = is_packets ? SEG_KIND_PACKETS : SEG_KIND_TENSOR,
                          .frame_bytes = is_packets ? 0
                                                    : 1 + (random64() >> (36 + random64() % 28)),
                          .run_base_frame = random64() >> 34};
        s.base_frame = s.run_base_frame + (random64() >> (34 + random64() % 30));
        uint64_t want = random64() >> (30 + random64() % 34), each = random64() % 5000;
        size_t params = 8 + (size_t)(random64() % ((1u << 20) - 7));
        CHECK_INT(super_layout(&s, params, want, each, NULL), 0);

        uint64_t flat = super_flat(&s, s.base_frame), seam = s.data_off - s.seam_off;
        uint64_t align = s.data_cap >= SEG_LARGE_BYTES ? SEG_ALIGN_LARGE : SEG_ALIGN_SMALL;
        CHECK_INT(s.params_off, SEG_PARAMS_OFF);
        CHECK_INT(s.params_bytes, params);
        CHECK(s.index_off >= s.params_off + params && s.index_off % 4096 == 0);
        CHECK(s.seam_off >= s.index_off + s.index_cap * SEG_ENTRY_BYTES);
        CHECK(s.seam_off % SEG_SEAM_BYTES == 0);
        CHECK_INT(seam, flat % SEG_SEAM_BYTES);
        CHECK_INT(s.data_off % align, flat % align);
        CHECK(s.data_off < s.index_off + s.index_cap * SEG_ENTRY_BYTES + seam + align);
        CHECK(s.index_cap <= 262144);
        if (s.frame_bytes < 4096)
            CHECK(s.index_cap >= 1024);
        if (is_packets) {
            CHECK(s.data_off == s.seam_off && s.data_cap == (want ? want : 1));
        } else {
            CHECK(s.data_cap % s.frame_bytes == 0 && s.data_cap >= s.frame_bytes);
            CHECK(s.data_cap <= want || s.data_cap == s.frame_bytes);
            CHECK(want < s.frame_bytes || want - s.data_cap < s.frame_bytes);
        }
    }
}

TEST(layout__of_usual_segments)
{
    struct super s = {.kind = SEG_KIND_TENSOR, .frame_bytes = 224 * 224 * 3};
    CHECK_INT(super_layout(&s, 400, 512ull << 20, 0, NULL), 0);
    CHECK_INT(s.data_cap, UINT64_C(3566) * 224 * 224 * 3);
    CHECK(s.index_cap >= 3566 && s.index_cap < 3600);
    CHECK_INT(s.data_off, 2u << 20);
    CHECK_INT(s.seam_off, 2u << 20);

    s = (struct super){.kind = SEG_KIND_TENSOR, .frame_bytes = 4}; /* sound in groups of 4 KiB */
    CHECK_INT(super_layout(&s, 200, 64ull << 20, 4096, NULL), 0);
    CHECK(s.index_cap >= 16384 && s.index_cap < 20000);

    s = (struct super){.kind = SEG_KIND_PACKETS};
    CHECK_INT(super_layout(&s, 200, 64ull << 20, 512, NULL), 0);
    CHECK_INT(s.index_cap, 131072 + 131072 / 8);
    CHECK_INT(s.data_off % 65536, 0);
    CHECK_INT(super_layout(&s, 200, 64ull << 20, 0, NULL), 0);
    CHECK_INT(s.index_cap, 262144);

    s = (struct super){.kind = SEG_KIND_TENSOR,
                       .frame_bytes = 1 << 20}; /* one frame, none wanted */
    CHECK_INT(super_layout(&s, 200, 0, 0, NULL), 0);
    CHECK_INT(s.data_cap, 1 << 20);
}

TEST(layout__refuses_what_cannot_be)
{
    struct swt_diag diag;
    struct super s = {
        .kind = SEG_KIND_TENSOR, .frame_bytes = 1000, .base_frame = UINT64_C(1) << 60};
    CHECK_INT(super_layout(&s, 200, 1000, 0, &diag), -EOVERFLOW);
    CHECK(strstr(diag.text, "run"));
    s.base_frame = 0;
    CHECK_INT(super_layout(&s, 7, 1000, 0, NULL), -EOVERFLOW);
    CHECK_INT(super_layout(&s, (1u << 20) + 1, 1000, 0, NULL), -EOVERFLOW);
    CHECK_INT(super_layout(&s, 200, UINT64_MAX, 0, NULL), -EOVERFLOW);
    s.frame_bytes = UINT64_MAX;
    CHECK_INT(super_layout(&s, 200, 1000, 0, NULL), -EOVERFLOW);
}

T_MAIN(RUN(layout__keeps_every_promise) RUN(layout__of_usual_segments)
           RUN(layout__refuses_what_cannot_be))
