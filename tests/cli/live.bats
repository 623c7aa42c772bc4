#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Reading while recording, stopping in order, two recorders, and runs over many segments.

# shellcheck disable=SC2016,SC2154 # inner scripts; variables that bats sets
load ../tools/e2e

setup() { cd "$BATS_TEST_TMPDIR" || return; }
teardown() { stop_all; }

@test "window: 24g-read-while-write, 20 calls during recording give 16 consecutive whole pictures" {
    live --fps 200
    start_recorder -o r.swt
    wait_for 20 has_frames r.swt video 16
    for k in {1..20}; do
        swt window r.swt --last 16 --pixel stored -o "w$k.npy"
    done
    py <<'PY'
newest = -1
for k in range(1, 21):
    got = live_run("w%d.npy" % k)
    same(len(got), 16, "pictures of call %d" % k)
    true(got[-1] >= newest, "newest id %d after %d" % (got[-1], newest))
    newest = got[-1]
true(newest > 16, "the recording grew while it was read")
PY
    kill -INT "$RECORDER"
    wait "$RECORDER"
}

stopped_by() {
    live --fps 50
    start_recorder -o r.swt
    wait_for 20 has_frames r.swt video 30
    at=$(date +%s.%N)
    kill "-$1" "$RECORDER"
    if [ -n "${2:-}" ]; then
        sleep 0.05
        kill "-$2" "$RECORDER" 2>/dev/null || true
    fi
    wait "$RECORDER"
    cat record.err
    grep -q 'video' record.err
    swt window r.swt --from start --to end --pixel stored -o all.npy
    swt verify r.swt
    py "$at" <<'PY'
got = live_run("all.npy")
same(got[0], 0, "first id")
need = handed_over("live.log", float(sys.argv[1]) - 0.01)
true(len(got) >= need, "%d pictures, %d had been handed over" % (len(got), need))
n = len(got)
true(re.search(r"\b%d\b" % n, open("record.err").read()), "the summary counts %d pictures" % n)
PY
}
@test "record: 24b-interrupt, SIGINT ends the recording with its summary, exit 0" { stopped_by INT; }
@test "record: 24b-interrupt, SIGTERM ends the recording with its summary, exit 0" { stopped_by TERM; }
@test "record: 24b-interrupt, a second SIGINT 50 ms later spoils nothing" { stopped_by INT INT; }

@test "record: a second recorder is refused in under a second and told who holds the stream" {
    live --fps 50
    start_recorder -o r.swt
    wait_for 20 has_frames r.swt video 5
    "$PYTHON" "$TESTS/cases/live.py" --frames 3 --rate 100 >other.y4m
    begin=$(date +%s%N)
    run -1 --separate-stderr swt record other.y4m -o r.swt
    took=$((($(date +%s%N) - begin) / 1000000))
    one_line
    [[ $stderr == *"$RECORDER"* ]]
    [ "$took" -lt "${SWT_TEST_SECOND_MS:-1000}" ]
    kill -INT "$RECORDER"
    wait "$RECORDER"
    swt window r.swt --from start --to end --pixel stored -o all.npy
    py <<'PY'
same(live_run("all.npy")[0], 0, "first id")
PY
}

@test "record: 24f-two-recorders started at the same instant, exactly one records" {
    for k in {1..5}; do
        "$PYTHON" "$TESTS/cases/live.py" --frames 40 --start $((k * 100)) --rate 2 >one.y4m &
        wait $!
        pids=()
        for side in a b; do
            { cat one.y4m && sleep 0.4; } | "$SWT" record - -o "r$k.swt" 2>"$side.err" 3>&- &
            pids+=($!)
        done
        codes=
        for pid in "${pids[@]}"; do
            rc=0
            wait "$pid" || rc=$?
            codes+=$rc
        done
        [ "$codes" = 01 ] || [ "$codes" = 10 ] || {
            echo "exit codes $codes" && cat a.err b.err
            return 1
        }
        swt window "r$k.swt" --from start --to end --pixel stored -o w.npy
        py $((k * 100)) <<'PY'
first = int(sys.argv[1])
same(live_run("w.npy"), list(range(first, first + 40)), "one unbroken run")
PY
    done
}

# ------------------------------------------------------------------ one run over many segments
odd=225x225x3

@test "window: a run of 225x225x3 rows over many segments and three sessions is the source, byte for byte" {
    rows --rows 4000 --rate 100 --shape $odd
    start_recorder --tensor u8:$odd --fps 50 --segment-bytes 1MiB -o r.swt
    wait_for 20 has_frames r.swt tensor 40
    kill -9 "$RECORDER"
    wait "$RECORDER" || true
    killed=$(info_of r.swt tensor frames)
    "$PYTHON" "$TESTS/tools/rows.py" --rows 23 --shape $odd --start 7000 |
        swt record - --tensor u8:$odd --fps 50 --segment-duration 100ms -o r.swt
    "$PYTHON" "$TESTS/tools/rows.py" --rows 17 --shape $odd --start 9000 |
        swt record - --tensor u8:$odd --fps 50 --segment-bytes 300KiB -o r.swt
    swt verify r.swt
    py "$killed" <<'PY'
from rows import byte_rows
killed, size = int(sys.argv[1]), 225 * 225 * 3
want = np.concatenate([byte_rows(a, n, size) for a, n in ((0, killed), (7000, 23), (9000, 17))])
n = len(want)
s = info("r.swt")["tensor"]
same(s["frames"], n, "frames")
true(s["segments"] >= killed // 7 + 23 // 6 + 17 // 3, "%d segments" % s["segments"])

def window(*args):
    swt("window", "r.swt", *args, "-o", "w.npy")
    a = npy("w.npy")
    same(a.shape[1:], (225, 225, 3), "row shape")
    return a.reshape(len(a), size)

same(window("--from", "start", "--to", "end"), want, "all")
same(swt("window", "r.swt", "--from", "start", "--to", "end"), want.tobytes(), "all, raw")
same(window("--from", 0, "--to", n), want, "all by number")
rng = random.Random(225)
for _ in range(12):
    lo = rng.randrange(n)
    hi = rng.randrange(lo + 1, n + 1)
    same(window("--from", lo, "--to", hi), want[lo:hi], "from %d to %d" % (lo, hi))
    at = [rng.randrange(n) for _ in range(9)]
    same(window("--frames", ",".join(map(str, at))), want[at], "frames %s" % at)
    step = rng.randrange(2, 9)
    same(window("--from", 0, "--to", n, "--stride", step), want[::step], "stride %d" % step)
    k = rng.randrange(1, n + 1)
    same(window("--last", k), want[n - k:], "last %d" % k)
PY
}

@test "window: readers of a rotating run of odd frames never see a wrong byte while it grows" {
    rows --rows 100000 --rate 150 --shape $odd
    start_recorder --tensor u8:$odd --fps 150 --segment-duration 60ms -o r.swt
    wait_for 20 has_frames r.swt tensor 20
    py <<'PY'
from rows import byte_rows
newest, size = -1, 225 * 225 * 3
for _ in range(20):
    a = np.frombuffer(swt("window", "r.swt", "--last", 20), np.uint8).reshape(20, size)
    lo = int.from_bytes(a[0, :4].tobytes(), "little")
    same(a, byte_rows(lo, 20, size), "20 consecutive rows from %d" % lo)
    true(lo + 19 >= newest, "newest row %d after %d" % (lo + 19, newest))
    newest = lo + 19
true(info("r.swt")["tensor"]["segments"] >= 3, "rotated while read")
PY
    kill -INT "$RECORDER"
    wait "$RECORDER"
}

@test "window: pictures of 225x225 rgb24 scaled while recording are one array over all segments" {
    py <<'PY'
open("in.y4m", "wb").write(ffmpeg("-f", "lavfi", "-i", "testsrc2=s=320x240:r=25", "-t", "2",
                                  "-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe", "-"))
PY
    swt record in.y4m -o one.swt --size 225x225 --pixel rgb24
    swt record in.y4m -o many.swt --size 225x225 --pixel rgb24 --segment-bytes 400KiB
    swt record in.y4m -o many.swt --size 225x225 --pixel rgb24 --segment-duration 150ms
    py <<'PY'
one = swt("window", "one.swt", "--from", "start", "--to", "end")
same(len(one), 50 * 225 * 225 * 3, "bytes of 50 pictures")
same(swt("window", "many.swt", "--from", "start", "--to", "end"), one + one, "two sessions")
true(info("many.swt")["video"]["segments"] >= 20, "segments")
PY
}
