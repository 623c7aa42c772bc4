/* SPDX-License-Identifier: MIT
 *
 * check.h - the promises of storage.md held against a machine that has come up after a cut.
 */
#ifndef CRASH_CHECK_H
#define CRASH_CHECK_H

#include "session.h"

enum violation {
    V_NONE,
    V_OPEN, /* recording or stream does not open */
    V_LOST, /* something acknowledged is not there */
    V_FOREIGN, /* served, though never written, or other bytes than were written last under that number */
    V_DAMAGED, /* counted, but cannot be read: not an unbroken prefix */
    V_VERIFY,  /* verify does not accept */
    V_CHANGED, /* looked at again, or by a writer, the stream ends elsewhere */
    V_APPEND,  /* the next session does not work */
    V_CRASHED, /* the program went down */
    N_VIOLATIONS
};
extern const char *const violation_names[N_VIOLATIONS];

struct verdict {
    enum violation violation;
    char text[700];
    uint64_t frames, entries; /* that the reader gives */
    bool has_stream;
};

/* What must be there at least: of a power cut `durable`, of a kill all that was visible. */
struct floor {
    uint64_t frames, entries;
};

/* Read everything. `facts`: at the cut. */
void check_all(const struct history *h, const struct facts *facts, const struct floor *floor,
               struct verdict *ret);
/* Of the frames that slots on the disk promise for certain, one loses a bit, in its bytes or in its entry: all are
 * still counted, that one is an error to whoever asks for it, others are what they were, and verify names it.
 * `ret` comes from check_all, without violation; `t` and `at` are those of the cut. False: nothing is promised. */
bool check_rot(const struct history *h, const struct trace *t, size_t at, struct rnd *rnd,
               struct verdict *ret);
/* Does it write a checkpoint slot? */
bool rot_is_slot(const struct op *op);
__attribute__((format(printf, 3, 4))) void verdict_set(struct verdict *v, enum violation violation,
                                                       const char *fmt, ...);

#endif
