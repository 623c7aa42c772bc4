/* SPDX-License-Identifier: MIT
 *
 * strike.h - one call that fails. Linked with --wrap for every name in strike.c's table, a program can let call
 * number `k` of one of its threads fail in one of the ways that call knows, or be killed in it.
 */
#ifndef STRIKE_H
#define STRIKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum strike_thread {
    STRIKE_MAIN,
    STRIKE_OTHER,
    STRIKE_THREADS
}; /* the arming one, and all others */

enum strike_mode {
    STRIKE_NONE, /* calls are counted only */
    STRIKE_ONCE, /* that call fails */
    STRIKE_ON,   /* and all of its kind that come after: a disk that stays full */
    STRIKE_KILL, /* the process is killed before it; or, way 1, when half of a write is done */
};

struct strike_plan {
    enum strike_mode mode;
    enum strike_thread thread;
    uint64_t k; /* from 1 */
    int way;    /* which of the call's failures, from 0 */
};

/* What happened; may lie in memory that outlives the process. */
struct strike_record {
    _Atomic uint64_t counts[STRIKE_THREADS];
    _Atomic bool has_struck;
    _Atomic bool no_such_way; /* call k is there, but has not so many ways to fail */
    char call[24], error[24]; /* of the strike */
};

/* From here on calls count, as the plan says. The calling thread is the main one. */
void strike_arm(const struct strike_plan *plan, struct strike_record *record);
void strike_disarm(void);

/* An allocator for libraries that take one. */
void *strike_malloc(size_t n);

#endif
