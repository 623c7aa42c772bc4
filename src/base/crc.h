/* SPDX-License-Identifier: MIT
 *
 * crc.h - CRC32C (Castagnoli, reflected, initial value and final xor 0xffffffff), by ISA-L.
 */
#ifndef BASE_CRC_H
#define BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* CRC of `n` bytes; `crc` is 0 at first, or the CRC of the bytes before to go on from. */
uint32_t crc32c(uint32_t crc, const void *data, size_t n);

#endif
