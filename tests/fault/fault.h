/* SPDX-License-Identifier: MIT
 *
 * fault.h - what the programs here share: frames whose bytes say which frame of which session they are, and
 * checks that say what is wrong and where. Not a test by itself.
 *
 * A frame holds its number and its session (8 bytes each, the machine's order), then bytes of a fixed table
 * from a place that both decide: a torn, stale, zero or misplaced frame differs somewhere.
 */
#ifndef FAULT_H
#define FAULT_H

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "swt.h"

#define FRAME_MAX  (1u << 18) /* bytes */
#define FRAME_HEAD 16u        /* number and session */
#define PLACES     4099u      /* places in the table; a prime */
#define RATE_HZ    1000       /* of streams with a rate: a frame lasts 1 ms */

/* ---- telling ------------------------------------------------------------------------------------- */

/* Prints who and why, and ends the process. */
__attribute__((format(printf, 1, 2), noreturn)) static inline void die(const char *fmt, ...)
{
    va_list args;
    char text[1200];
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)dprintf(STDERR_FILENO, "# process %ld: %s\n", (long)getpid(), text);
    _exit(1);
}

#define DIE_DIAG(what, code, diag)                                                              \
    die("%s: %d %s: %s (%s, stream %s, offset %" PRId64 ", frame %" PRId64 ")", (what), (code), \
        swt_strerror(code), (diag)->text, (diag)->path, (diag)->stream, (diag)->offset,         \
        (diag)->frame)

static inline int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void sleep_ns(int64_t ns)
{
    struct timespec t = {ns / 1000000000, ns % 1000000000};
    (void)nanosleep(&t, NULL);
}

/* ---- chance -------------------------------------------------------------------------------------- */

/* splitmix64 */
static inline uint64_t chance(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static inline uint64_t below(uint64_t *state, uint64_t n)
{
    return n == 0 ? 0 : chance(state) % n;
}

/* ---- frames -------------------------------------------------------------------------------------- */

static uint8_t frame_table[FRAME_MAX + PLACES];

static inline void frames_init(void)
{
    uint64_t state = 20261130;
    for (size_t i = 0; i < sizeof frame_table; i++)
        frame_table[i] = (uint8_t)(chance(&state) | 1); /* never zero */
}

static inline const uint8_t *frame_tail(uint64_t number, uint64_t session)
{
    return frame_table + (number * 127 + session * 1009) % PLACES;
}

static inline void frame_put(uint64_t number, uint64_t session, uint8_t *frame, size_t n_bytes)
{
    memcpy(frame, &number, 8);
    memcpy(frame + 8, &session, 8);
    memcpy(frame + FRAME_HEAD, frame_tail(number, session), n_bytes - FRAME_HEAD);
}

static inline uint64_t frame_session(const uint8_t *frame)
{
    uint64_t session;
    memcpy(&session, frame + 8, 8);
    return session;
}

/* Are these the bytes of frame `number` of the session they name? */
static inline bool frame_is(uint64_t number, const uint8_t *frame, size_t n_bytes)
{
    uint64_t stored;
    memcpy(&stored, frame, 8);
    return stored == number && memcmp(frame + FRAME_HEAD, frame_tail(number, frame_session(frame)),
                                      n_bytes - FRAME_HEAD) == 0;
}

/* What a wrong frame is, for the message. */
static inline void frame_describe(const uint8_t *frame, size_t n_bytes, char *ret_text, size_t cap)
{
    uint64_t number, wrong = FRAME_HEAD, zeros = 0;
    memcpy(&number, frame, 8);
    const uint8_t *tail = frame_tail(number, frame_session(frame)) - FRAME_HEAD;
    while (wrong < n_bytes && frame[wrong] == tail[wrong])
        wrong++;
    for (size_t i = FRAME_HEAD; i < n_bytes; i++)
        zeros += frame[i] == 0;
    (void)snprintf(ret_text, cap,
                   "it says frame %" PRIu64 " of session %" PRIu64 ", is right up to byte %" PRIu64
                   " of %zu, %" PRIu64 " bytes are zero",
                   number, frame_session(frame), wrong, n_bytes, zeros);
}

/* ---- folders ------------------------------------------------------------------------------------- */

static inline int remove_step(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static inline void remove_tree(const char *path)
{
    if (nftw(path, remove_step, 8, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
        die("cannot remove %s: %s", path, strerror(errno));
}

/* ---- opening ------------------------------------------------------------------------------------- */

static inline void spec_rows(struct swt_append_spec *spec, const char *path, size_t frame_bytes)
{
    swt_append_spec_init(spec);
    spec->path = path;
    spec->dtype = SWT_U8;
    spec->n_dims = 1;
    spec->shape[0] = (int64_t)frame_bytes;
    spec->rate = (struct swt_ratio){RATE_HZ, 1};
}

static inline void spec_range(struct swt_window_spec *spec, int64_t first, int64_t end)
{
    swt_window_spec_init(spec);
    spec->select = SWT_SELECT_RANGE;
    spec->from = (struct swt_pos){SWT_POS_FRAME, first};
    spec->to = (struct swt_pos){SWT_POS_FRAME, end};
}

#endif
