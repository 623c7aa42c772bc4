/* SPDX-License-Identifier: MIT
 *
 * test_format_check.c - superblocks, slots and entries: where each field lies, random round trips, every
 * flipped bit, every bound. Reserved bytes are free as long as the checksum holds.
 */
#include "format/check.h"

#include "base/crc.h"
#include "t.h"

static uint64_t seed = 4711;

static uint64_t random64(void) /* xorshift64 */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static uint64_t below(uint64_t n)
{
    return random64() % n;
}

static void random_bytes(uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)random64();
}

static struct super random_super(enum seg_kind kind)
{
    struct super s = {.kind = kind, .salt = random64(), .ro_compat = (uint32_t)random64()};
    random_bytes(s.rec_uuid, 16);
    random_bytes(s.stream_uuid, 16);
    random_bytes(s.session_uuid, 16);
    random_bytes(s.boot_id, 16);
    s.segment_no = below(1000);
    s.session_no = below(1000);
    s.run_no = below(1000);
    s.run_base_frame = below(1u << 30);
    s.run_base_entry = below(1u << 30);
    s.base_frame = s.run_base_frame + below(1u << 30);
    s.base_entry = s.run_base_entry + below(1u << 30);
    s.frame_bytes = kind == SEG_KIND_PACKETS ? 0 : 1 + below(1u << 20);
    s.made_boot_ns = (int64_t)random64();
    s.made_wall_ns = (int64_t)random64();
    s.past_bytes = below(UINT64_C(1) << 40);
    s.past_gaps = below(1000);
    s.past_disconts = below(1000);
    s.past_dropped = below(1000);
    s.past_damaged = below(1000);
    s.stream_first_ns = (int64_t)random64();
    s.past_end_ns = INT64_MIN;
    if (super_layout(&s, 8 + below(10000), 1 + below(1u << 27), 1 + below(4096), NULL) < 0)
        abort();
    return s;
}

static enum seg_kind any_kind(void)
{
    return (enum seg_kind)(1 + below(3));
}

static bool super_equal(const struct super *a, const struct super *b)
{
    struct seg_super x, y;
    super_encode(a, &x);
    super_encode(b, &y);
    return memcmp(&x, &y, sizeof x) == 0;
}

static void reseal(struct seg_super *b)
{
    le32_set(&b->crc, crc32c(0, b, offsetof(struct seg_super, crc)));
}

/* The page swt-format(5) promises these places. */
TEST(layout__of_structs_is_as_documented)
{
#define PLACE(type, field, off) CHECK_INT(offsetof(struct type, field), off)
    PLACE(seg_super, magic, 0);
    PLACE(seg_super, version, 8);
    PLACE(seg_super, super_bytes, 12);
    PLACE(seg_super, compat, 16);
    PLACE(seg_super, ro_compat, 20);
    PLACE(seg_super, incompat, 24);
    PLACE(seg_super, kind, 28);
    PLACE(seg_super, rec_uuid, 32);
    PLACE(seg_super, stream_uuid, 48);
    PLACE(seg_super, session_uuid, 64);
    PLACE(seg_super, boot_id, 80);
    PLACE(seg_super, salt, 96);
    PLACE(seg_super, segment_no, 104);
    PLACE(seg_super, run_base_frame, 128);
    PLACE(seg_super, base_frame, 144);
    PLACE(seg_super, frame_bytes, 160);
    PLACE(seg_super, params_off, 168);
    PLACE(seg_super, index_off, 184);
    PLACE(seg_super, seam_off, 200);
    PLACE(seg_super, data_off, 208);
    PLACE(seg_super, data_cap, 216);
    PLACE(seg_super, past_bytes, 240);
    PLACE(seg_super, stream_first_ns, 280);
    PLACE(seg_super, past_end_ns, 288);
    PLACE(seg_super, reserved, 296);
    PLACE(seg_super, crc, 4092);
    PLACE(seg_slot, generation, 0);
    PLACE(seg_slot, data_bytes, 24);
    PLACE(seg_slot, is_sealed, 32);
    PLACE(seg_slot, salt, 40);
    PLACE(seg_slot, crc, 508);
    PLACE(seg_entry, pos, 0);
    PLACE(seg_entry, len, 8);
    PLACE(seg_entry, flags, 12);
    PLACE(seg_entry, time_ns, 16);
    PLACE(seg_entry, src_pts, 24);
    PLACE(seg_entry, dts_delta, 32);
    PLACE(seg_entry, duration, 36);
    PLACE(seg_entry, capture_ns, 40);
    PLACE(seg_entry, dropped_before, 48);
    PLACE(seg_entry, pics_before, 52);
    PLACE(seg_entry, crc_payload, 56);
    PLACE(seg_entry, crc_entry, 60);
#undef PLACE
}

/* ---- superblock ---------------------------------------------------------------------------------- */

TEST(super__round_trip)
{
    for (int i = 0; i < 1000; i++) {
        struct super s = random_super(any_kind()), back;
        struct seg_super bytes;
        struct swt_diag diag = {.text = ""};
        super_encode(&s, &bytes);
        if (super_decode(&bytes, &back, &diag) != 0)
            T_FAIL("round %d: %s", i, diag.text);
        CHECK(super_equal(&s, &back));
        CHECK_INT(back.kind, s.kind);
        CHECK_INT(back.past_end_ns, INT64_MIN);
        CHECK_INT(back.stream_first_ns, s.stream_first_ns);
        CHECK_MEM(back.boot_id, s.boot_id, 16);
    }
}

TEST(super__every_flipped_bit_is_detected)
{
    struct super s = random_super(SEG_KIND_TENSOR), back;
    struct seg_super bytes;
    super_encode(&s, &bytes);
    uint8_t *at = (uint8_t *)&bytes;
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        at[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK_INT(super_decode(&bytes, &back, NULL), SWT_E_CORRUPT);
        at[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    CHECK_INT(super_decode(&bytes, &back, NULL), 0);
}

TEST(super__of_zeros_is_corrupt_with_offset)
{
    struct seg_super bytes = {.version = {{0}}};
    struct super back;
    struct swt_diag diag;
    CHECK_INT(super_decode(&bytes, &back, &diag), SWT_E_CORRUPT);
    CHECK_INT(diag.offset, 0);
    CHECK(strstr(diag.text, "not a segment"));
}

TEST(super__newer_version_and_unknown_features)
{
    struct super s = random_super(SEG_KIND_PACKETS), back;
    struct seg_super bytes;
    struct swt_diag diag;
    super_encode(&s, &bytes);
    le32_set(&bytes.version, 2);
    reseal(&bytes);
    CHECK_INT(super_decode(&bytes, &back, &diag), SWT_E_NEWER);
    CHECK(strstr(diag.text, "format version 2"));
    le32_set(&bytes.version, 0);
    reseal(&bytes);
    CHECK_INT(super_decode(&bytes, &back, NULL), SWT_E_CORRUPT);
    for (int bit = 0; bit < 32; bit++) {
        super_encode(&s, &bytes);
        le32_set(&bytes.incompat, UINT32_C(1) << bit);
        reseal(&bytes);
        CHECK_INT(super_decode(&bytes, &back, &diag), SWT_E_NEWER);
        super_encode(&s, &bytes);
        le32_set(&bytes.compat, UINT32_C(1) << bit);
        le32_set(&bytes.ro_compat, UINT32_C(1) << bit);
        memset(bytes.reserved, 0xff, sizeof bytes.reserved);
        reseal(&bytes);
        CHECK_INT(super_decode(&bytes, &back, NULL), 0);
        CHECK_INT(back.ro_compat, UINT32_C(1) << bit);
    }
}

/* One wrong field of an otherwise sound superblock, with its checksum right. */
static const struct wrong {
    const char *what;
    size_t off;
    uint64_t value;
} wrongs[] = {
#define WRONG(field, value)                                         \
    {                                                               \
#field " " #value, offsetof(struct seg_super, field), value \
    }
    WRONG(segment_no, UINT64_MAX),
    WRONG(run_no, UINT64_C(1) << 62),
    WRONG(run_base_frame, 1001),
    WRONG(run_base_entry, 1001),
    WRONG(base_frame, UINT64_MAX),
    WRONG(base_frame, 999),
    WRONG(base_frame, 1001), /* the seam is another one then */
    WRONG(base_frame, UINT64_C(1) << 61),
    WRONG(base_entry, UINT64_MAX),
    WRONG(frame_bytes, 0),
    WRONG(frame_bytes, UINT64_C(1) << 61),
    WRONG(frame_bytes, UINT64_MAX),
    WRONG(params_off, 0),
    WRONG(params_off, 12287),
    WRONG(params_off, UINT64_MAX),
    WRONG(params_bytes, 7),
    WRONG(params_bytes, (1u << 20) + 1),
    WRONG(params_bytes, UINT64_MAX),
    WRONG(index_off, 12288),
    WRONG(index_off, 16384 + 32),
    WRONG(index_off, UINT64_MAX - 63),
    WRONG(index_cap, 0),
    WRONG(index_cap, UINT64_C(1) << 58),
    WRONG(index_cap, UINT64_MAX),
    WRONG(index_cap, 1u << 20),
    WRONG(seam_off, 0),
    WRONG(seam_off, UINT64_MAX),
    WRONG(seam_off, 65536 * 2 + 1),
    WRONG(data_off, 0),
    WRONG(data_off, UINT64_MAX),
    WRONG(data_cap, 0),
    WRONG(data_cap, 224 * 224 * 3 - 1),
    WRONG(data_cap, UINT64_MAX),
    WRONG(data_cap, UINT64_C(1) << 62),
    WRONG(past_bytes, UINT64_MAX),
    WRONG(past_damaged, UINT64_MAX),
#undef WRONG
};

static struct super sound_super(void)
{
    struct super s = {.kind = SEG_KIND_TENSOR,
                      .base_frame = 1000,
                      .base_entry = 1000,
                      .run_base_frame = 990,
                      .run_base_entry = 990,
                      .frame_bytes = 224 * 224 * 3};
    if (super_layout(&s, 1000, 1u << 20, 0, NULL) < 0)
        abort();
    return s;
}

TEST(super__every_bound_is_checked)
{
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct super s = sound_super(), back;
        struct seg_super bytes;
        le64 value;
        super_encode(&s, &bytes);
        CHECK_INT(super_decode(&bytes, &back, NULL), 0);
        le64_set(&value, wrongs[i].value);
        memcpy((uint8_t *)&bytes + wrongs[i].off, &value, sizeof value);
        reseal(&bytes);
        if (super_decode(&bytes, &back, NULL) != SWT_E_CORRUPT)
            T_FAIL("accepted: %s", wrongs[i].what);
    }
}

TEST(super__kind_decides_about_frames_and_seam)
{
    struct super s = sound_super(), back;
    struct seg_super bytes;
    super_encode(&s, &bytes);
    for (uint32_t kind = 0; kind < 5; kind++) {
        le32_set(&bytes.kind, kind);
        reseal(&bytes);
        bool is_fine = kind == SEG_KIND_TENSOR || kind == SEG_KIND_ARRAY;
        CHECK_INT(super_decode(&bytes, &back, NULL), is_fine ? 0 : SWT_E_CORRUPT);
    }
    s.kind = SEG_KIND_PACKETS;
    s.frame_bytes = 0;
    super_encode(&s, &bytes); /* the seam of the pictures is still there */
    CHECK_INT(super_decode(&bytes, &back, NULL), SWT_E_CORRUPT);
}

/* What survives decoding can be added and multiplied: noise in all numbers, right checksum. */
TEST(super__noise_is_refused_or_harmless)
{
    int n_accepted = 0;
    for (int i = 0; i < 200000; i++) {
        struct super s = sound_super(), back;
        struct seg_super bytes;
        super_encode(&s, &bytes);
        for (uint64_t n = 1 + below(3); n > 0; n--) {
            size_t off = offsetof(struct seg_super, segment_no) + 8 * (size_t)below(24);
            le64 value;
            le64_set(&value, random64() >> below(64));
            memcpy((uint8_t *)&bytes + off, &value, sizeof value);
        }
        reseal(&bytes);
        if (super_decode(&bytes, &back, NULL) != 0)
            continue;
        n_accepted++;
        uint64_t last = back.base_frame + back.data_cap / back.frame_bytes;
        CHECK(back.data_off + back.data_cap < UINT64_C(1) << 62);
        CHECK(back.index_off + back.index_cap * SEG_ENTRY_BYTES <= back.seam_off);
        CHECK((last - back.run_base_frame) <= (UINT64_C(1) << 62) / back.frame_bytes);
        CHECK(super_flat(&back, last) < UINT64_C(1) << 62);
    }
    CHECK(n_accepted > 0);
}

/* ---- slots --------------------------------------------------------------------------------------- */

static struct slot random_slot(const struct super *s)
{
    struct slot slot = {.generation = 1 + below(1000), .is_sealed = random64() & 1};
    slot.entries = below(s->index_cap + 1);
    if (s->kind == SEG_KIND_PACKETS) {
        slot.frames = below(slot.entries + 1);
        slot.data_bytes = below(s->data_cap + 1);
        return slot;
    }
    uint64_t room = s->data_cap / s->frame_bytes;
    slot.entries = slot.entries < room ? slot.entries : room;
    slot.frames = slot.entries > 0 ? slot.entries + below(room - slot.entries + 1) : 0;
    slot.data_bytes = slot.frames * s->frame_bytes;
    return slot;
}

TEST(slot__round_trip)
{
    for (int i = 0; i < 2000; i++) {
        struct super s = random_super(any_kind());
        struct slot slot = random_slot(&s), back;
        struct seg_slot bytes;
        slot_encode(&slot, s.salt, &bytes);
        CHECK(slot_decode(&bytes, &s, &back));
        CHECK_INT(back.generation, slot.generation);
        CHECK_INT(back.entries, slot.entries);
        CHECK_INT(back.frames, slot.frames);
        CHECK_INT(back.data_bytes, slot.data_bytes);
        CHECK_INT(back.is_sealed, slot.is_sealed);
        s.salt++;
        CHECK(!slot_decode(&bytes, &s, &back));
    }
}

TEST(slot__every_flipped_bit_is_detected)
{
    struct super s = random_super(SEG_KIND_PACKETS);
    struct slot slot = random_slot(&s), back;
    struct seg_slot bytes;
    slot_encode(&slot, s.salt, &bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        ((uint8_t *)&bytes)[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(!slot_decode(&bytes, &s, &back));
        ((uint8_t *)&bytes)[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    CHECK(slot_decode(&bytes, &s, &back));
}

TEST(slot__every_bound_is_checked)
{
    struct super tensor = sound_super(), packets = random_super(SEG_KIND_PACKETS);
    uint64_t f = tensor.frame_bytes, room = tensor.data_cap / f;
    const struct {
        const struct super *super;
        struct slot slot;
        bool is_fine;
    } cases[] = {
        {&tensor, {1, 0, 0, 0, false}, true},
        {&tensor, {0, 0, 0, 0, false}, false}, /* never written */
        {&tensor, {1, 2, 2, 2 * f, true}, true},
        {&tensor, {1, 1, room, room * f, true}, true},
        {&tensor, {1, 1, room + 1, (room + 1) * f, true}, false},
        {&tensor, {1, 2, 1, f, true}, false},     /* an entry without a frame */
        {&tensor, {1, 0, 1, f, true}, false},     /* a frame without an entry */
        {&tensor, {1, 1, 1, f + 1, true}, false}, /* part of a frame */
        {&tensor, {1, 1, UINT64_MAX, f, true}, false},
        {&tensor, {1, tensor.index_cap + 1, room, room * f, true}, false},
        {&packets, {1, packets.index_cap, 0, packets.data_cap, true}, true},
        {&packets, {1, packets.index_cap + 1, 0, 0, true}, false},
        {&packets, {1, 1, 2, 10, true}, false},
        {&packets, {1, 1, 1, packets.data_cap + 1, true}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct seg_slot bytes;
        struct slot back;
        slot_encode(&cases[i].slot, cases[i].super->salt, &bytes);
        if (slot_decode(&bytes, cases[i].super, &back) != cases[i].is_fine)
            T_FAIL("case %zu", i);
    }
    struct seg_slot bytes;
    struct slot back;
    slot_encode(&(struct slot){1, 0, 0, 0, false}, tensor.salt, &bytes);
    le32_set(&bytes.is_sealed, 2);
    le32_set(&bytes.crc, crc32c(0, &bytes, offsetof(struct seg_slot, crc)));
    CHECK(!slot_decode(&bytes, &tensor, &back));
}

/* ---- entries ------------------------------------------------------------------------------------- */

static struct entry random_entry(const struct super *s, uint64_t entry_idx)
{
    struct entry e = {.flags = (uint32_t)random64(),
                      .time_ns = (int64_t)below(UINT64_C(1) << 61) * (random64() & 1 ? 1 : -1),
                      .src_pts = (int64_t)random64(),
                      .dts_delta = (int32_t)random64(),
                      .duration = (uint32_t)random64(),
                      .capture_ns = (int64_t)below(UINT64_C(1) << 61),
                      .dropped_before = (uint32_t)random64(),
                      .crc_payload = (uint32_t)random64()};
    if (s->kind == SEG_KIND_PACKETS) {
        e.pos = below(s->data_cap + 1);
        e.len = (uint32_t)below(s->data_cap - e.pos + 1);
        e.pics_before = (uint32_t)below(entry_idx + 1);
        return e;
    }
    uint64_t room = s->data_cap / s->frame_bytes, first = below(room);
    e.pos = s->base_frame + first;
    e.len = (uint32_t)(1 + below(room - first));
    e.pics_before = (uint32_t)random64();
    return e;
}

static bool entry_equal(const struct entry *a, const struct entry *b)
{
    struct seg_entry x, y;
    entry_encode(a, 1, 2, &x);
    entry_encode(b, 1, 2, &y);
    return memcmp(&x, &y, sizeof x) == 0;
}

TEST(entry__round_trip)
{
    for (int i = 0; i < 20000; i++) {
        struct super s = random_super(any_kind());
        uint64_t k = below(s.index_cap), no = s.base_entry + k;
        struct entry e = random_entry(&s, k), back = {.pos = 0};
        struct seg_entry bytes;
        entry_encode(&e, s.salt, no, &bytes);
        if (!entry_decode(&bytes, &s, no, &back))
            T_FAIL("round %d, kind %d", i, (int)s.kind);
        CHECK(entry_equal(&e, &back));
        CHECK_INT(back.time_ns, e.time_ns);
        CHECK_INT(back.dts_delta, e.dts_delta);
        if (k + 1 < s.index_cap)
            CHECK(!entry_decode(&bytes, &s, no + 1, &back)); /* in another's place */
        s.salt ^= UINT64_C(1) << below(64);
        CHECK(!entry_decode(&bytes, &s, no, &back)); /* stale: of an earlier file */
    }
}

TEST(entry__every_flipped_bit_is_detected)
{
    for (int i = 0; i < 100; i++) {
        struct super s = random_super(any_kind());
        struct entry e = random_entry(&s, 0), back;
        struct seg_entry bytes;
        entry_encode(&e, s.salt, s.base_entry, &bytes);
        for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
            ((uint8_t *)&bytes)[bit / 8] ^= (uint8_t)(1 << bit % 8);
            CHECK(!entry_decode(&bytes, &s, s.base_entry, &back));
            ((uint8_t *)&bytes)[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

TEST(entry__of_zeros_is_none)
{
    struct seg_entry bytes;
    struct entry back;
    memset(&bytes, 0, sizeof bytes);
    for (int i = 0; i < 100; i++) {
        struct super s = random_super(any_kind());
        CHECK(!entry_decode(&bytes, &s, s.base_entry, &back));
    }
}

TEST(entry__every_bound_is_checked)
{
    struct super t = sound_super(), p = random_super(SEG_KIND_PACKETS);
    uint64_t room = t.data_cap / t.frame_bytes;
    const struct {
        const struct super *super;
        uint64_t entry_idx, pos;
        uint32_t len, pics_before;
        bool is_fine;
    } cases[] = {
        {&t, 0, 1000, 1, 0, true},
        {&t, 0, 1000, 0, 0, false},
        {&t, 0, 999, 1, 0, false},
        {&t, 0, 1000, (uint32_t)room, 0, true},
        {&t, 0, 1000, (uint32_t)room + 1, 0, false},
        {&t, 0, 1000 + room, 1, 0, false},
        {&t, 0, UINT64_MAX, 1, 0, false},
        {&t, 0, 1000, UINT32_MAX, 0, false},
        {&t, t.index_cap - 1, 1000, 1, 0, true},
        {&t, t.index_cap, 1000, 1, 0, false},
        {&t, UINT64_MAX, 1000, 1, 0, false}, /* the entry before the first */
        {&p, 0, 0, 0, 0, true},
        {&p, 0, 0, (uint32_t)p.data_cap, 0, true},
        {&p, 0, 1, (uint32_t)p.data_cap, 0, false},
        {&p, 0, p.data_cap, 0, 0, true},
        {&p, 0, p.data_cap + 1, 0, 0, false},
        {&p, 0, UINT64_MAX, 2, 0, false},
        {&p, 5, 0, 1, 5, true},
        {&p, 5, 0, 1, 6, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct entry e = {.pos = cases[i].pos,
                          .len = cases[i].len,
                          .pics_before = cases[i].pics_before},
                     back;
        struct seg_entry bytes;
        uint64_t no = cases[i].super->base_entry + cases[i].entry_idx;
        entry_encode(&e, cases[i].super->salt, no, &bytes);
        if (entry_decode(&bytes, cases[i].super, no, &back) != cases[i].is_fine)
            T_FAIL("case %zu", i);
    }
}

TEST(entry__wild_times_are_brought_near)
{
    static const int64_t wild[][2] = {{INT64_MAX, SEG_TIME_MAX_NS},
                                      {INT64_MIN, -SEG_TIME_MAX_NS},
                                      {SEG_TIME_MAX_NS + 1, SEG_TIME_MAX_NS},
                                      {SEG_TIME_MAX_NS, SEG_TIME_MAX_NS},
                                      {-1, -1}};
    struct super s = sound_super();
    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
        struct entry e = {.pos = 1000, .len = 1, .time_ns = wild[i][0], .capture_ns = wild[i][0]};
        struct entry back = {.pos = 0};
        struct seg_entry bytes;
        entry_encode(&e, s.salt, s.base_entry, &bytes);
        CHECK(entry_decode(&bytes, &s, s.base_entry, &back));
        CHECK_INT(back.time_ns, wild[i][1]);
        CHECK_INT(back.capture_ns, wild[i][1]);
        le64_set(&bytes.time_ns, (uint64_t)SEG_TIME_MAX_NS + 1); /* not by us, but well signed */
        le64 head[2];
        le64_set(&head[0], s.salt);
        le64_set(&head[1], s.base_entry);
        le32_set(&bytes.crc_entry, crc32c(crc32c(0, head, sizeof head), &bytes, 60));
        CHECK(!entry_decode(&bytes, &s, s.base_entry, &back));
    }
}

T_MAIN(RUN(layout__of_structs_is_as_documented) RUN(super__round_trip)
           RUN(super__every_flipped_bit_is_detected) RUN(super__of_zeros_is_corrupt_with_offset)
               RUN(super__newer_version_and_unknown_features) RUN(super__every_bound_is_checked)
                   RUN(super__kind_decides_about_frames_and_seam)
                       RUN(super__noise_is_refused_or_harmless) RUN(slot__round_trip)
                           RUN(slot__every_flipped_bit_is_detected)
                               RUN(slot__every_bound_is_checked) RUN(entry__round_trip)
                                   RUN(entry__every_flipped_bit_is_detected)
                                       RUN(entry__of_zeros_is_none)
                                           RUN(entry__every_bound_is_checked)
                                               RUN(entry__wild_times_are_brought_near))
