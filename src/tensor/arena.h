/* SPDX-License-Identifier: MIT
 *
 * arena.h - memory of a converter: taken piece by piece while it is planned, given back at once. Nothing is
 * taken from it while pictures are converted.
 */
#ifndef TENSOR_ARENA_H
#define TENSOR_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#define ARENA_SLACK 64 /* zero bytes after each piece, for loops that go in steps */

struct arena_piece;

struct arena {
    struct arena_piece *last;
    bool is_full; /* some piece could not be had */
};

/* Zeroed, aligned to 64 bytes, with slack; owned by the arena. NULL, and the arena is full, when there is no
 * memory or n * size does not fit. */
void *arena_take(struct arena *a, size_t n, size_t size);
void arena_done(struct arena *a);

#endif
