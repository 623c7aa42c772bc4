#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Recorders that are killed: what was committed is there at once, with no other step, and the next
# recorder goes on after it.

load ../tools/e2e

setup() { cd "$BATS_TEST_TMPDIR" || return; }
teardown() { stop_all; }

now() { date +%s.%N; }

kill_recorder() {
    killed_at=$(now)
    kill -9 "$RECORDER"
    wait "$RECORDER" || true
    kill "$SOURCE" 2>/dev/null || true
    wait "$SOURCE" || true
}

control_file() { # of stream directory $1
    grep -ao '/[^"[:space:]]*shm/[^"[:space:]]*' "$1/live" | head -n 1
}

# Pictures of r.swt are whole and consecutive from 0; all that a reader had seen and all that had been
# handed over 0.2 s before the kill are among them.
check_pictures() { # SHOWN-BEFORE
    swt window r.swt --from start --to end --pixel stored -o after.npy
    py "$killed_at" "$1" <<'PY'
got = live_run("after.npy")
same(got[0], 0, "first id")
need = max(handed_over("live.log", float(sys.argv[1]) - 0.2), int(sys.argv[2]))
true(len(got) >= need, "%d pictures, %d were handed over or seen" % (len(got), need))
same(info("r.swt")["video"]["frames"], len(got), "frames in info")
PY
    swt verify r.swt
}

@test "record: kill -9 loses no committed picture; window, info, verify and append work at once" {
    live --fps 100
    start_recorder -o r.swt
    wait_for 20 has_frames r.swt video 60
    swt window r.swt --last 16 --pixel stored -o before.npy
    shown=$(info_of r.swt video frames)
    kill_recorder
    check_pictures "$shown"

    "$PYTHON" "$TESTS/cases/live.py" --fps 100 --rate 10 --start 500 --frames 40 |
        swt record - -o r.swt
    swt window r.swt --from start --to end --pixel stored -o all.npy
    swt window r.swt --from start --to end --format ndjson >all.ndjson
    py <<'PY'
before, after, every = npy("before.npy"), npy("after.npy"), npy("all.npy")
n = planar_ids(before[-1:], 96, 64)[0]
same(before, after[n - 15:n + 1], "the window seen while recording")
same(every[:len(after)], after, "pictures of the killed session")
same(planar_ids(every[len(after):], 96, 64), list(range(500, 540)), "appended ids")
for k, p in enumerate(every[len(after):]):
    same(p, live_picture(500 + k), "appended picture %d" % k)
t = picture_times(ndjson("all.ndjson"))
same(len(t), len(every), "times")
true(all(a < b for a, b in zip(t, t[1:])), "times increase across the sessions")
PY
    swt verify r.swt
}

@test "record: kill -9 again and again, each time appended to, keeps every run of pictures" {
    echo 0 >counts
    for round in 1 2 3 4 5 6; do
        live --fps 200 --start $((round * 100))
        start_recorder -o r.swt --segment-bytes 256KiB
        wait_for 20 has_frames r.swt video $(($(tail -n 1 counts) + 5 + round * 7))
        kill_recorder
        info_of r.swt video frames >>counts
    done
    swt window r.swt --from start --to end --pixel stored -o all.npy
    swt verify r.swt
    py <<'PY'
counts, a = [int(x) for x in open("counts")], npy("all.npy")
same(len(a), counts[-1], "pictures")
for k, (lo, hi) in enumerate(zip(counts, counts[1:])):
    true(hi >= lo + 12, "session %d stored %d pictures" % (k, hi - lo))
    for j in range(lo, hi):
        same(a[j], live_picture(100 * (k + 1) + j - lo), "frame %d" % j)
PY
}

@test "record: kill -9 with rows of 28 bytes loses no committed row" {
    rows --rows 100000 --rate 1000
    start_recorder --tensor f32:7 --fps 1000 -o r.swt
    wait_for 20 has_frames r.swt tensor 500
    swt window r.swt --last 100 -o before.npy
    shown=$(info_of r.swt tensor frames)
    kill_recorder
    swt window r.swt --from start --to end -o after.npy
    swt verify r.swt
    py "$killed_at" "$shown" <<'PY'
from rows import f32_rows
before, after = npy("before.npy"), npy("after.npy")
same(after, f32_rows(0, len(after)), "rows")
need = max(handed_over("rows.log", float(sys.argv[1]) - 0.2), int(sys.argv[2]))
true(len(after) >= need, "%d rows, %d were handed over or seen" % (len(after), need))
first = int(before[0, 0]) // 8
same(before, f32_rows(first, 100), "rows seen while recording")
PY
    "$PYTHON" "$TESTS/tools/rows.py" --rows 77 --start 5000 |
        swt record - --tensor f32:7 --fps 1000 -o r.swt
    swt window r.swt --last 77 -o appended.npy
    swt window r.swt --from start --to end -o all.npy
    py <<'PY'
from rows import f32_rows
same(npy("appended.npy"), f32_rows(5000, 77), "appended rows")
same(npy("all.npy")[:-77], npy("after.npy"), "rows of the killed session")
PY
}

@test "window: needs no control file after a kill" {
    live --fps 100
    start_recorder -o r.swt
    wait_for 20 has_frames r.swt video 40
    shown=$(info_of r.swt video frames)
    control=$(control_file r.swt/video)
    [ -e "$control" ]
    kill_recorder
    rm -f "$control"
    check_pictures "$shown"
    [ ! -e "$control" ]
}

@test "window: a stale control file of a killed recorder does no harm to the next session" {
    live --fps 100
    start_recorder -o r.swt
    wait_for 20 has_frames r.swt video 40
    control=$(control_file r.swt/video)
    cp "$control" stale
    kill_recorder
    check_pictures 40
    live --fps 100 --start 300
    start_recorder -o r.swt
    wait_for 20 has_frames r.swt video $(($(py <<<'print(len(npy("after.npy")))') + 20))
    kill_recorder
    cp stale "$(control_file r.swt/video)"
    swt window r.swt --from start --to end --pixel stored -o all.npy
    swt verify r.swt
    py <<'PY'
after, every = npy("after.npy"), npy("all.npy")
same(every[:len(after)], after, "first session")
true(len(every) >= len(after) + 20, "%d pictures after the second session" % len(every))
for k, p in enumerate(every[len(after):]):
    same(p, live_picture(300 + k), "picture %d of the second session" % k)
PY
}

@test "window: a reader goes on when someone deletes the control file of a running recorder" {
    live --fps 100
    start_recorder -o r.swt
    wait_for 20 has_frames r.swt video 20
    rm -f "$(control_file r.swt/video)"
    before=$(info_of r.swt video frames)
    wait_for 20 has_frames r.swt video $((before + 100))
    swt window r.swt --last 16 --pixel stored -o w.npy
    py "$before" <<'PY'
got = live_run("w.npy")
true(len(got) == 16 and got[-1] >= int(sys.argv[1]) + 99, "ids %s" % got)
PY
    kill -INT "$RECORDER"
    wait "$RECORDER"
}

@test "window: a copy taken while recording opens as it was and stays so" {
    live --fps 200
    start_recorder -o r.swt --segment-bytes 512KiB
    wait_for 20 has_frames r.swt video 30
    for k in 1 2 3; do
        shown=$(info_of r.swt video frames)
        cp -r r.swt copy$k.swt
        echo "$shown $(info_of r.swt video frames)" >>spans
        wait_for 20 has_frames r.swt video $((shown + 60))
    done
    for k in 1 2 3; do
        swt window copy$k.swt --from start --to end --pixel stored -o copy$k.npy
        swt info copy$k.swt --format ndjson >copy$k.ndjson
        swt verify copy$k.swt
    done
    py <<'PY'
for k, span in enumerate(open("spans")):
    lo, hi = map(int, span.split())
    got = live_run("copy%d.npy" % (k + 1))
    same(got[0], 0, "first id of the copy")
    true(lo <= len(got) <= hi, "copy %d has %d pictures, want %d to %d" % (k + 1, len(got), lo, hi))
    same(ndjson("copy%d.ndjson" % (k + 1))[0]["frames"], len(got), "frames in info of the copy")
PY
    kill -INT "$RECORDER"
    wait "$RECORDER"
    swt window r.swt --from start --to end --pixel stored -o all.npy
    py <<'PY'
same(live_run("all.npy")[0], 0, "first id")
PY
}
