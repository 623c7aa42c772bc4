/* SPDX-License-Identifier: MIT
 *
 * reorder.c - the pictures between decode order and display order, at most STORE_REORDER of them.
 */
#include "store/reorder.h"

#include <assert.h>
#include <string.h>

void reorder_init(struct reorder *r, int64_t shown_ns)
{
    r->n = 0;
    r->shown_ns = shown_ns;
}

void reorder_put(struct reorder *r, int64_t time_ns)
{
    assert(r->n <= STORE_REORDER);
    int at = r->n;
    while (at > 0 && r->waiting[at - 1] < time_ns)
        at--;
    memmove(&r->waiting[at + 1], &r->waiting[at], (size_t)(r->n - at) * sizeof r->waiting[0]);
    r->waiting[at] = time_ns;
    r->n++;
}

uint64_t reorder_take(struct reorder *r, int64_t dts_ns, int64_t slack_ns)
{
    uint64_t n_taken = 0;
    while (r->n > 0 && (r->n > STORE_REORDER || r->waiting[r->n - 1] - slack_ns <= dts_ns)) {
        r->shown_ns = r->waiting[--r->n];
        n_taken++;
    }
    return n_taken;
}

uint64_t reorder_take_all(struct reorder *r)
{
    uint64_t n_taken = (uint64_t)r->n;
    if (r->n > 0)
        r->shown_ns = r->waiting[0];
    r->n = 0;
    return n_taken;
}
