#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A hundred writers of one stream, let go at the same instant: one writes, the others are told who within a
# second, and the recording is one unbroken run. The judge is tests/fault/two_writers.c.

load ../fault/fault

setup_file() { "$TESTS/fault/build" two_writers frames; }
setup() { cd "$BATS_TEST_TMPDIR" || return; }
teardown() { leave_memory; }

starters() { is_sanitized && echo 24 || echo 100; }

@test "record: of 100 programs that append at once one does, the others name it" {
    for k in {1..3}; do
        fault two_writers api "new$k.swt" "$(starters)"
        [ "$(fault frames check "new$k.swt" 5000 | head -n 1)" = "300 frames, 1 runs" ]
    done
    fault two_writers api new1.swt "$(starters)" # an old recording: it goes on
    [ "$(fault frames check new1.swt 5000 | head -n 1)" = "600 frames, 2 runs" ]
    swt verify new1.swt
}

@test "record: of 100 recorders started at once one records, the others exit 1 and name it" {
    fault two_writers run "$(starters)" "$SWT" record -q - --tensor u8:5000 --fps 1000 -o r.swt
    [ "$(fault frames check r.swt 5000 | head -n 1)" = "10 frames, 1 runs" ]
    swt verify r.swt
    fault frames rows 5000 7 10 1 | swt record -q - --tensor u8:5000 --fps 1000 -o r.swt
    [ "$(fault frames check r.swt 5000 | head -n 1)" = "17 frames, 2 runs" ]
}
