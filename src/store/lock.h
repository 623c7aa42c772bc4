/* SPDX-License-Identifier: MIT
 *
 * lock.h - OFD locks on whole files: they belong to the open descriptor, conflict also within one process,
 * and vanish with the descriptor, so a killed holder never leaves one behind.
 */
#ifndef STORE_LOCK_H
#define STORE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Take the write lock, waiting for it. 0 or -errno. */
int lock_wait(int fd);
/* Take it at once or fail with -EAGAIN. */
int lock_try(int fd);
/* Does another descriptor hold the write lock? */
bool lock_is_held(int fd);

/* Start time of a process in clock ticks since boot; -1 if there is no such process. */
int64_t lock_pid_start(int64_t pid);

#endif
