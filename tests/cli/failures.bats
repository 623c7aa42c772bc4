#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Every system call and allocation of a small workload fails once, in every way it can; the process is killed in
# each. The judge is tests/fault/sweep.c; memory is watched where the build has AddressSanitizer.
# SWT_FAULT_SWEEP: fast (default; every fifth call with sanitizers) or full, which adds failures that last and crashes that come late.

load ../fault/fault

export BATS_TEST_TIMEOUT=${SWT_FAULT_TIMEOUT:-600}

setup_file() { "$TESTS/fault/build" sweep; }
setup() {
    enter_memory
}
teardown() { leave_memory; }

@test "append: every call that fails once is told or made good, and leaves a recording that verifies" {
    fault sweep "$MEMORY" 5000 "${SWT_FAULT_SWEEP:-$(is_sanitized && echo fast/5 || echo fast)}"
}

@test "append: every call that fails once is told or made good, with small frames that wait for each other" {
    [ "${SWT_FAULT_SWEEP:-fast}" = full ] || skip "SWT_FAULT_SWEEP=full does it"
    fault sweep "$MEMORY" 1000 full
}
