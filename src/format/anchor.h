/* SPDX-License-Identifier: MIT
 *
 * anchor.h - the bytes of STREAM/clock: pairs of the two clocks, appended while a stream is written. Wall
 * time of a frame = its capture time + (wall - boot) of the nearest anchor of the same boot.
 */
#ifndef FORMAT_ANCHOR_H
#define FORMAT_ANCHOR_H

#include "base/le.h"

#define SEG_ANCHOR_BYTES 64u

/* clang-format off */

/* Record k of the file lies at 64 k; one whose CRC is wrong is skipped. */
struct seg_anchor {       /*  off  unit    meaning                                              since */
    le64 boot_ns;         /*    0  ns      CLOCK_BOOTTIME                                           1 */
    le64 wall_ns;         /*    8  ns      CLOCK_REALTIME at the same instant                       1 */
    uint8_t boot_id[16];  /*   16  -       boot during which both were read                         1 */
    uint8_t reserved[28]; /*   32  -       zero when written, ignored when read                     1 */
    le32 crc;             /*   60  -       CRC32C of bytes 0 .. 59                                  1 */
};

/* clang-format on */

_Static_assert(sizeof(struct seg_anchor) == SEG_ANCHOR_BYTES, "anchor");

#endif
