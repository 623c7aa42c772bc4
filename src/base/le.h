/* SPDX-License-Identifier: MIT
 *
 * le.h - little-endian integers as byte arrays: alignment 1, and plain `=` does not compile. Used for
 * everything that is on disk; not for the control page, which never leaves the machine.
 */
#ifndef BASE_LE_H
#define BASE_LE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint8_t b[4];
} le32;
typedef struct {
    uint8_t b[8];
} le64;

static inline uint32_t le32_get(le32 v)
{
    uint32_t x;
    memcpy(&x, v.b, sizeof x);
    return le32toh(x);
}

static inline uint64_t le64_get(le64 v)
{
    uint64_t x;
    memcpy(&x, v.b, sizeof x);
    return le64toh(x);
}

static inline void le32_set(le32 *v, uint32_t x)
{
    x = htole32(x);
    memcpy(v->b, &x, sizeof x);
}

static inline void le64_set(le64 *v, uint64_t x)
{
    x = htole64(x);
    memcpy(v->b, &x, sizeof x);
}

static inline int64_t le64_get_signed(le64 v)
{
    return (int64_t)le64_get(v);
}

#endif
