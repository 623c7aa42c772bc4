/* SPDX-License-Identifier: MIT
 *
 * segment.h - the bytes of a segment file, format version 1: superblock, checkpoint slots, params block,
 * index entries. swt-format(5) is generated from the comment columns here. No I/O, no allocation.
 */
#ifndef FORMAT_SEGMENT_H
#define FORMAT_SEGMENT_H

#include "base/le.h"

#define SEG_MAGIC       "\x89SWT\r\n\x1a\n"
#define SEG_VERSION     1u
#define SEG_SUPER_BYTES 4096u
#define SEG_SLOT_OFF0   4096u /* checkpoint slot 0 */
#define SEG_SLOT_OFF1   8192u /* checkpoint slot 1 */
#define SEG_PARAMS_OFF  12288u
#define SEG_PARAMS_MAX  (1u << 20)
#define SEG_SEAM_BYTES  65536u     /* seams and mappings begin at multiples of this */
#define SEG_ALIGN_SMALL 65536u     /* data_off is congruent to the flat address modulo this … */
#define SEG_ALIGN_LARGE (2u << 20) /* … or this, for segments of SEG_LARGE_BYTES payload and more */
#define SEG_LARGE_BYTES (32ull << 20)
#define SEG_ENTRY_BYTES 64u
#define SEG_TIME_MAX_NS (INT64_C(1) << 61) /* times of entries lie within +- this: 73 years */

/* Feature bits known to this version. Unknown incompat bits: refuse; unknown ro_compat bits: read, but do
 * not write to the stream; unknown compat bits: carry on. */
#define SEG_COMPAT_KNOWN    0u
#define SEG_RO_COMPAT_KNOWN 0u
#define SEG_INCOMPAT_KNOWN  0u

enum seg_kind { SEG_KIND_TENSOR = 1, SEG_KIND_PACKETS = 2, SEG_KIND_ARRAY = 3 };

/* The comment columns are the document. */
/* clang-format off */

/* Written once, before the first commit; never changed. */
struct seg_super {        /*  off  unit    meaning                                              since */
    uint8_t magic[8];     /*    0  -       89 'S' 'W' 'T' 0d 0a 1a 0a                               1 */
    le32 version;         /*    8  -       format version: 1                                        1 */
    le32 super_bytes;     /*   12  bytes   size of this superblock: 4096                            1 */
    le32 compat;          /*   16  bits    unknown bits: read on                                    1 */
    le32 ro_compat;       /*   20  bits    unknown bits: read, do not write                         1 */
    le32 incompat;        /*   24  bits    unknown bits: refuse                                     1 */
    le32 kind;            /*   28  -       1 tensor, 2 packets, 3 array                             1 */
    uint8_t rec_uuid[16]; /*   32  -       uuid of the recording                                    1 */
    uint8_t stream_uuid[16]; /* 48 -       uuid of the stream                                       1 */
    uint8_t session_uuid[16]; /* 64 -      uuid of the writer's session                             1 */
    uint8_t boot_id[16];  /*   80  -       boot during which the segment was made                   1 */
    le64 salt;            /*   96  -       random; part of every entry's and slot's checksum        1 */
    le64 segment_no;      /*  104  -       ordinal of the segment in the stream, from 0             1 */
    le64 session_no;      /*  112  -       ordinal of the session in the stream, from 0             1 */
    le64 run_no;          /*  120  -       ordinal of the run in the stream, from 0                 1 */
    le64 run_base_frame;  /*  128  frames  number of the first frame of the run                     1 */
    le64 run_base_entry;  /*  136  entries number of the first entry of the run                     1 */
    le64 base_frame;      /*  144  frames  frames of the stream before this segment                 1 */
    le64 base_entry;      /*  152  entries entries of the stream before this segment                1 */
    le64 frame_bytes;     /*  160  bytes   tensor: of one frame; packets: 0                         1 */
    le64 params_off;      /*  168  bytes   params block, from file start                            1 */
    le64 params_bytes;    /*  176  bytes   length of the params block, header included              1 */
    le64 index_off;       /*  184  bytes   first entry, from file start                             1 */
    le64 index_cap;       /*  192  entries room for so many entries                                 1 */
    le64 seam_off;        /*  200  bytes   first byte of the seam: a multiple of 65536              1 */
    le64 data_off;        /*  208  bytes   first payload byte; data_off - seam_off = seam length    1 */
    le64 data_cap;        /*  216  bytes   room for so much payload                                 1 */
    le64 made_boot_ns;    /*  224  ns      CLOCK_BOOTTIME when made                                 1 */
    le64 made_wall_ns;    /*  232  ns      CLOCK_REALTIME when made                                 1 */
    le64 past_bytes;      /*  240  bytes   payload of all earlier segments                          1 */
    le64 past_gaps;       /*  248  -       entries flagged gap in earlier segments                  1 */
    le64 past_disconts;   /*  256  -       entries flagged discont in earlier segments              1 */
    le64 past_dropped;    /*  264  units   sum of dropped_before of earlier segments                1 */
    le64 past_damaged;    /*  272  frames  frames flagged corrupt or damaged in earlier segments    1 */
    le64 stream_first_ns; /*  280  ns      media time of the stream's first frame; INT64_MIN none   1 */
    le64 past_end_ns;     /*  288  ns      latest frame end of earlier segments; INT64_MIN none     1 */
    uint8_t reserved[3796]; /* 296 -       zero when written, ignored when read                     1 */
    le32 crc;             /* 4092  -       CRC32C of bytes 0 .. 4091                                1 */
};

/* Two of them, at 4096 and 8192, alternate. Written only after fdatasync has succeeded. */
struct seg_slot {        /*  off  unit    meaning                                              since */
    le64 generation;     /*    0  -       rises by 1; the valid slot with the higher one counts    1 */
    le64 entries;        /*    8  entries entries of this segment that survive power loss          1 */
    le64 frames;         /*   16  frames  frames of this segment that survive power loss           1 */
    le64 data_bytes;     /*   24  bytes   payload bytes of those entries                           1 */
    le32 is_sealed;      /*   32  -       1: nothing more will be written to this segment          1 */
    le32 reserved0;      /*   36  -       zero                                                     1 */
    le64 salt;           /*   40  -       the superblock's salt                                    1 */
    uint8_t reserved[460]; /* 48  -       zero when written, ignored when read                     1 */
    le32 crc;            /*  508  -       CRC32C of bytes 0 .. 507                                 1 */
};

/* Header of the params block; `n_bytes` of records follow. */
struct seg_params {   /*  off  unit    meaning                                              since */
    le32 n_bytes;     /*    0  bytes   records that follow this header                          1 */
    le32 crc;         /*    4  -       CRC32C of those bytes                                    1 */
};

/* One record of the params block; its value follows, padded with zeros to a multiple of 8. */
struct seg_param {    /*  off  unit    meaning                                              since */
    le32 key;         /*    0  -       see the table of keys; unknown keys are skipped          1 */
    le32 n_bytes;     /*    4  bytes   length of the value without padding                      1 */
};

/* Keys: text is UTF-8 without NUL, int is a le64 signed, ratio is two le64 signed (num, den). Records ascend
 * by key, each key at most once; what has its default is left out: empty text, 0, ratio 0/1 (none), and
 * -99 for profile and level. */
enum seg_param_key {              /* key  type    meaning                                      since */
    SEG_PARAM_MEDIA = 1,          /*   1  text    video, audio, rows or text                       1 */
    SEG_PARAM_CODEC = 2,          /*   2  text    codec by FFmpeg's name                           1 */
    SEG_PARAM_CODEC_TAG = 3,      /*   3  int     container's codec tag                            1 */
    SEG_PARAM_PROFILE = 4,        /*   4  int     codec profile, -99 unknown                       1 */
    SEG_PARAM_LEVEL = 5,          /*   5  int     codec level, -99 unknown                         1 */
    SEG_PARAM_EXTRADATA = 6,      /*   6  bytes   codec's set-up bytes                             1 */
    SEG_PARAM_BITS = 7,           /*   7  int     bits per coded sample                            1 */
    SEG_PARAM_BLOCK_ALIGN = 8,    /*   8  int     bytes of a block of the codec                    1 */
    SEG_PARAM_PADDING = 9,        /*   9  int     samples of encoder delay                         1 */
    SEG_PARAM_PREROLL = 10,       /*  10  int     samples to decode before the wanted one          1 */
    SEG_PARAM_BIT_RATE = 11,      /*  11  int     bits a second, nominal                           1 */
    SEG_PARAM_B_FRAMES = 12,      /*  12  int     1: decode order differs from display order       1 */
    SEG_PARAM_TIME_BASE = 13,     /*  13  ratio   seconds a tick of src_pts                        1 */
    SEG_PARAM_RATE = 14,          /*  14  ratio   frames a second; exact for sound                 1 */
    SEG_PARAM_WIDTH = 15,         /*  15  int     pixels; tensors: as stored; packets: as coded    1 */
    SEG_PARAM_HEIGHT = 16,        /*  16  int     pixels; tensors: as stored; packets: as coded    1 */
    SEG_PARAM_PIXEL = 17,         /*  17  text    pixel format                                     1 */
    SEG_PARAM_SAR = 18,           /*  18  ratio   sample aspect ratio                              1 */
    SEG_PARAM_ROTATION = 19,      /*  19  int     degrees clockwise that turn it upright: 0 to 270 1 */
    SEG_PARAM_HFLIP = 20,         /*  20  int     1: mirror left-right before turning              1 */
    SEG_PARAM_MATRIX = 21,        /*  21  text    colour matrix                                    1 */
    SEG_PARAM_RANGE = 22,         /*  22  text    tv (limited) or pc (full)                        1 */
    SEG_PARAM_PRIMARIES = 23,     /*  23  text    colour primaries                                 1 */
    SEG_PARAM_TRANSFER = 24,      /*  24  text    transfer characteristic                          1 */
    SEG_PARAM_CHROMA = 25,        /*  25  text    chroma sample location                           1 */
    SEG_PARAM_FIELD_ORDER = 26,   /*  26  text    progressive, tt, bb, tb or bt                    1 */
    SEG_PARAM_MASTERING = 27,     /*  27  bytes   mastering display: 10 pairs of le32, then 2 le32 1 */
    SEG_PARAM_DTYPE = 28,         /*  28  text    u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64   1 */
    SEG_PARAM_CHANNELS = 29,      /*  29  int     sound channels                                   1 */
    SEG_PARAM_LAYOUT = 30,        /*  30  text    channel layout                                   1 */
    SEG_PARAM_SHAPE = 31,         /*  31  le64s   shape of one frame, outermost first              1 */
    SEG_PARAM_FRAME_BYTES = 32    /*  32  int     tensors: bytes of one frame                      1 */
};

/* Index entry; entry k of a segment lies at index_off + 64 k. Written once, after its payload. */
struct seg_entry {      /*  off  unit    meaning                                              since */
    le64 pos;           /*    0  -       tensor: number of its first frame; packets: bytes from data_off 1 */
    le32 len;           /*    8  -       tensor: frames; packets: bytes, side data included        1 */
    le32 flags;         /*   12  bits    see the table of flags                                    1 */
    le64 time_ns;       /*   16  ns      media time of the (first) frame on the recording's line; within 2^61 1 */
    le64 src_pts;       /*   24  ticks   source time stamp; INT64_MIN: the source had none         1 */
    le32 dts_delta;     /*   32  ticks   source decode time - src_pts, signed; INT32_MIN: unknown  1 */
    le32 duration;      /*   36  ticks   of the whole entry, in the time base of the params block  1 */
    le64 capture_ns;    /*   40  ns      CLOCK_BOOTTIME when it arrived                            1 */
    le32 dropped_before; /*  48  units   frames or packets dropped just before this one            1 */
    le32 pics_before;   /*   52  -       packets: pictures shown before this one in this segment   1 */
    le32 crc_payload;   /*   56  -       CRC32C of the payload bytes                               1 */
    le32 crc_entry;     /*   60  -       CRC32C of salt (le64), entry number in the stream (le64), bytes 0 .. 59  1 */
};

enum seg_flag {                   /* bit  meaning                                              since */
    SEG_FLAG_KEY = 1u << 0,       /*   0  decoding can begin here                                  1 */
    SEG_FLAG_GAP = 1u << 1,       /*   1  time between the frame before and this one is missing    1 */
    SEG_FLAG_DISCONT = 1u << 2,   /*   2  source time stamps jumped; the time line was mended      1 */
    SEG_FLAG_NOPIC = 1u << 3,     /*   3  packet that shows no picture; not counted as a frame     1 */
    SEG_FLAG_SIDE = 1u << 4,      /*   4  side data follows the packet's bytes                     1 */
    SEG_FLAG_CORRUPT = 1u << 5,   /*   5  the source said that the data is corrupt                 1 */
    SEG_FLAG_DAMAGED = 1u << 6,   /*   6  decoding failed or was concealed                         1 */
    SEG_FLAG_CONTINUES = 1u << 7, /*   7  first entry of a segment that does not begin with a key  1 */
    SEG_FLAG_INTERLACED = 1u << 8, /*  8  two fields                                               1 */
    SEG_FLAG_TOP_FIRST = 1u << 9, /*   9  top field first                                          1 */
    SEG_FLAG_FRESH = 1u << 10     /*  10  decoder state of earlier packets is void (first of a session, after a break)  1 */
};

/* Side data behind a packet's bytes: records of this header and n_bytes of value, unpadded; then the
 * total size of all records as a le32, the last 4 bytes of the payload. */
struct seg_side {     /*  off  unit    meaning                                              since */
    le32 kind;        /*    0  -       see the table of side data kinds                         1 */
    le32 n_bytes;     /*    4  bytes   length of the value                                      1 */
};

enum seg_side_kind {            /* kind  meaning                                               since */
    SEG_SIDE_SKIP_SAMPLES = 1,  /*    1  le32 skip at start, le32 discard at end, u8 u8 reasons    1 */
    SEG_SIDE_BLOCK_ADDITIONAL = 2, /* 2  Matroska block additional (alpha plane): le64 id, bytes   1 */
    SEG_SIDE_NEW_EXTRADATA = 3, /*    3  replaces the codec's set-up bytes from here on            1 */
    SEG_SIDE_PALETTE = 4        /*    4  256 le32 0xAARRGGBB                                       1 */
};

/* clang-format on */

_Static_assert(sizeof(struct seg_super) == SEG_SUPER_BYTES, "superblock");
_Static_assert(sizeof(struct seg_slot) == 512, "slot");
_Static_assert(sizeof(struct seg_entry) == SEG_ENTRY_BYTES, "entry");

#endif
