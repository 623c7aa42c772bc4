#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What `swt info` says of a recording, closed and live.

load ../tools/e2e

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    py <<'PY'
mk.wav16("clip.wav", np.arange(2 * 96000).reshape(-1, 2) % 30000, 48000)
mk.ff(*mk.rawin(), "-i", "clip.wav", *mk.BX, *mk.x264(2, 12), "-c:a", "aac", "clip.mp4",
      inp=mk.clip(range(50)))
PY
    swt record clip.mp4 -o r.swt
}
setup() {
    cd "$BATS_TEST_TMPDIR" || return
    ln -s "$BATS_FILE_TMPDIR/r.swt" .
}
teardown() { stop_all; }

@test "info: text has one line a stream, the first video first" {
    run -0 --separate-stderr swt info r.swt
    [ -z "$stderr" ]
    [ "$(grep -c -E '^ *(video|audio|audio\.p)\b' <<<"$output")" -eq 3 ]
    [[ $output == *h264* && $output == *96x64* && $output == *50* ]]
}

@test "info: ndjson has one object a stream with counts as numbers and times as strings" {
    py <<'PY'
s = info("r.swt")
same(list(s), ["video", "audio", "audio.p"], "streams, in order")
for name, r in s.items():
    need = {"name", "kind", "frames", "first_frame", "first_ns", "last_ns", "bytes", "segments",
            "gaps", "dropped", "damaged", "rate"}
    true(need <= set(r), "%s lacks %s" % (name, need - set(r)))
    true(all(type(r[k]) is int for k in ("frames", "first_frame", "bytes", "segments", "gaps",
                                         "dropped", "damaged")), name + ": counts are numbers")
    true(all(type(r[k]) is str for k in ("first_ns", "last_ns")), name + ": times are strings")
    same((r["first_frame"], r["gaps"], r["dropped"], r["damaged"]), (0, 0, 0, 0), name)
v, a, p = s["video"], s["audio"], s["audio.p"]
same((v["kind"], v["codec"], v["pixel"], v["frames"]), ("packets", "h264", "yuv420p", 50), "video")
same((v["first_ns"], v["last_ns"]), ("0", "1960000000"), "times of video")
same(Fraction(v["rate"]), 25, "rate of video")
same((a["kind"], a["dtype"], p["kind"], p["codec"]), ("tensor", "f32", "packets", "aac"), "sound")
same(Fraction(a["rate"]), 48000, "rate of sound")
true(a["frames"] >= 96000 and a["bytes"] == a["frames"] * 8, "bytes of sound are frames * 8")
PY
}

@test "info: names rotation and size of a turned video" {
    need_cases
    swt record "$CASES/rot90.mp4" -o t.swt
    py <<'PY'
r = info("t.swt")["video"]
same(r["rotation"] % 180, 90, "rotation")
same((r["width"], r["height"]), (64, 96), "upright size")
PY
}

@test "info: of a running recording grows, of a closed one stays" {
    live --fps 100
    start_recorder -o live.swt
    wait_for 20 has_frames live.swt video 10
    a=$(info_of live.swt video frames)
    wait_for 20 has_frames live.swt video $((a + 20))
    kill -INT "$RECORDER"
    wait "$RECORDER"
    [ "$(info_of live.swt video frames)" = "$(info_of live.swt video frames)" ]
    swt window live.swt --last "$(info_of live.swt video frames)" --pixel stored -o w.npy
    py <<<'same(live_run("w.npy")[0], 0, "first id")'
}

@test "info: of what is no recording says so, exit 1" {
    mkdir folder
    echo text >file
    for what in folder file nothing; do
        run -1 --separate-stderr swt info $what
        one_line
        [[ $stderr == *$what* ]]
        [ -z "$output" ]
    done
}
