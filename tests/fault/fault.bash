# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For the command-line tests of what can go wrong: builds the programs of this folder (fault NAME is one of them),
# and gives folders on a disk and in memory. Not for judging: that is the programs' and the tests' own.
#
# SWT_FAULT_KILLS, SWT_FAULT_SWEEP=full: how much; `make check-slow` asks for more than the default.

# shellcheck source=../tools/e2e.bash
. "${BATS_TEST_DIRNAME}/../tools/e2e.bash"
FAULT=$TESTS/fault
FAULT_BIN=$(cd "$TESTS/.." && realpath -m "${B:-build/release}")/fault
export FAULT FAULT_BIN

fault() { "$FAULT_BIN/$1" "${@:2}"; }

# Are sanitizers built in? They are slow: counts are smaller then.
is_sanitized() { case ${B:-} in *asan* | *tsan*) ;; *) return 1 ;; esac }

# A folder of this test in memory, in MEMORY; gone with the test where `leave_memory` is its teardown.
enter_memory() { MEMORY=$(mktemp -d /dev/shm/swt-fault.XXXXXX); }
leave_memory() { [ -z "${MEMORY:-}" ] || rm -rf "$MEMORY"; }
