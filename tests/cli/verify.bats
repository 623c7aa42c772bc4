#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# `swt verify` of sound recordings; what it says of damaged ones is in bad-input.bats.

load ../tools/e2e

setup() { cd "$BATS_TEST_TMPDIR" || return; }
teardown() { stop_all; }

@test "verify: accepts recordings of packets, tensors and rows over several segments and sessions" {
    py <<'PY'
mk.ff(*mk.rawin(), *mk.BX, *mk.x264(2, 12), "clip.mkv", inp=mk.clip(range(60), noise=120))
PY
    for _ in 1 2; do
        swt record clip.mkv -o r.swt --store both --segment-bytes 100KiB
        "$PYTHON" "$TESTS/tools/rows.py" --rows 500 | swt record - --tensor f32:7 --fps 100 -o r.swt
    done
    run -0 --separate-stderr swt verify r.swt
    [ -z "$stderr" ]
    py <<'PY'
s = info("r.swt")
same(sorted(s), ["tensor", "video", "video.t"], "streams")
true(s["video.t"]["segments"] >= 10 and s["video"]["segments"] >= 2, "several segments")
same([s[k]["frames"] for k in ("video", "video.t", "tensor")], [120, 120, 1000], "frames")
PY
}

@test "verify: accepts a running recording again and again" {
    live --fps 200
    start_recorder -o r.swt --segment-bytes 256KiB
    wait_for 20 has_frames r.swt video 10
    for _ in {1..10}; do
        swt verify r.swt
    done
    kill -INT "$RECORDER"
    wait "$RECORDER"
    swt verify r.swt
}

@test "verify: of what is no recording says so, exit 1" {
    mkdir folder
    run -1 --separate-stderr swt verify folder
    one_line
}
