/* SPDX-License-Identifier: MIT
 *
 * crc.c - CRC32C through ISA-L, which picks the fastest instructions of the machine at run time.
 */
#include "base/crc.h"

#include <isa-l/crc.h>

/* ISA-L takes lengths as int. */
#define STEP_BYTES ((size_t)1 << 30)

uint32_t crc32c(uint32_t crc, const void *data, size_t n)
{
    /* crc32_iscsi neither inverts its initial value nor its result. It does not write to the
     * buffer; its prototype only lacks the const. */
    unsigned char *at = (unsigned char *)(uintptr_t)data;
    uint32_t state = ~crc;
    while (n > STEP_BYTES) {
        state = crc32_iscsi(at, (int)STEP_BYTES, state);
        at += STEP_BYTES;
        n -= STEP_BYTES;
    }
    return n > 0 ? ~crc32_iscsi(at, (int)n, state) : ~state;
}
