/* SPDX-License-Identifier: MIT
 *
 * arena.c - a list of heap blocks. No reuse, no growth: a converter takes some dozen pieces once.
 */
#include "tensor/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"

#define ARENA_ALIGN 64

struct arena_piece {
    struct arena_piece *before;
    char pad[ARENA_ALIGN - sizeof(struct arena_piece *)];
};

void *arena_take(struct arena *a, size_t n, size_t size)
{
    uint64_t bytes;
    struct arena_piece *piece = NULL;

    if (size_mul(n, size, &bytes) && bytes < SIZE_MAX / 2) {
        bytes = size_up(bytes + ARENA_SLACK, ARENA_ALIGN) + sizeof *piece;
        piece = aligned_alloc(ARENA_ALIGN, bytes);
    }
    if (!piece) {
        a->is_full = true;
        return NULL;
    }
    memset(piece, 0, bytes);
    piece->before = a->last;
    a->last = piece;
    return piece + 1;
}

void arena_done(struct arena *a)
{
    while (a->last) {
        struct arena_piece *piece = a->last;

        a->last = piece->before;
        free(piece);
    }
}
