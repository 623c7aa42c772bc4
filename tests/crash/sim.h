/* SPDX-License-Identifier: MIT
 *
 * sim.h - the machine that the store believes to run on: files under /sim, clocks, random numbers, no
 * threads. The calls are caught at the boundary to libc (-Wl,--wrap), so that the store's own objects run.
 * One thread, one machine at a time; everything follows from the seed.
 */
#ifndef CRASH_SIM_H
#define CRASH_SIM_H

#include "disk.h"

#define SIM_ROOT    "/sim"
#define SIM_CONTROL "/sim/ctl" /* is in memory: empty after a power cut */

struct control_page;

struct sim {
    struct disk base, view; /* at the beginning of the trace; as programs see it now */
    struct trace trace;
    bool is_frozen; /* the trace stands still: what happens now never happened */
    struct facts facts;
    const struct control_page *page; /* of the session that writes, once it is mapped; else NULL */
    struct rnd rnd;                  /* getrandom, boot ids */
    int64_t now_ns;
    uint8_t boot_id[16];
    /* Called within fdatasync, where another thread of the writer may append; NULL: nothing. */
    void (*during_sync)(void *arg);
    void *during_sync_arg;
};
extern struct sim sim;

/* A machine with an empty disk. */
void sim_begin(uint64_t seed);
void sim_end(void);
/* The machine comes up with `image`, which is taken. */
void sim_boot(struct disk *image);
/* All programs are killed before operation `at`; the page cache stays. */
void sim_kill(size_t at);
/* Operation that does nothing: here promises are looked at. */
void sim_mark(void);
void sim_sleep(int64_t ns);
/* Descriptors that are open: none between sessions, or somebody leaks. */
int sim_open_files(void);

#endif
