#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Programs that append are killed a thousand times while others read: what was acknowledged or seen is there,
# nothing wrong is ever given out, and nothing has to be repaired. The judge is tests/fault/kill_loop.c.
# SWT_FAULT_KILLS: how many kills, half of them on the disk (default 1000).

load ../fault/fault

export BATS_TEST_TIMEOUT=${SWT_FAULT_TIMEOUT:-300}

setup_file() { "$TESTS/fault/build" kill_loop; }
setup() { cd "$BATS_TEST_TMPDIR" || return; }
teardown() { leave_memory; }

kills() { echo $((${SWT_FAULT_KILLS:-$(is_sanitized && echo 100 || echo 1000)} / 2)); }

@test "window: kill -9 of writers and readers on a disk, nothing acknowledged is lost, nothing wrong is given" {
    mkdir disk
    fault kill_loop disk "$(kills)"
}

@test "window: kill -9 of writers and readers in memory, nothing acknowledged is lost, nothing wrong is given" {
    enter_memory
    fault kill_loop "$MEMORY" "$(kills)"
}
