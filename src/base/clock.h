/* SPDX-License-Identifier: MIT
 *
 * clock.h - the clocks of this machine as signed 64-bit ns, and the id of this boot.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

int64_t clock_boot_ns(void); /* CLOCK_BOOTTIME: capture times; goes on in suspend, never steps */
int64_t clock_wall_ns(void); /* CLOCK_REALTIME: may step */
int64_t clock_mono_ns(void); /* CLOCK_MONOTONIC: time-outs */

/* The 16 bytes of /proc/sys/kernel/random/boot_id; zeros where it cannot be read. */
void clock_boot_id(uint8_t ret_id[16]);

#endif
