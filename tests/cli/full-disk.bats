#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A disk that fills while it is recorded to, really: small ext4 images and tmpfs. Recording ends with one line that
# says why, what was stored before is whole and readable, and goes on when there is room again.
# SWT_FAULT_DISKS: which (default "ext4 tmpfs"; xfs and btrfs are known too).

# shellcheck disable=SC2154 # variables that bats sets
load ../fault/fault

export BATS_TEST_TIMEOUT=${SWT_FAULT_TIMEOUT:-240}

setup_file() { "$TESTS/fault/build" frames; }
setup() { cd "$BATS_TEST_TMPDIR" || return; }
teardown() {
    stop_all
    local kind
    for kind in $(disks); do
        mountpoint -q "$kind" && "$TESTS/fault/small_disk" drop "$kind"
    done
    true
}

disks() { echo "${SWT_FAULT_DISKS:-ext4 tmpfs}"; }

# on_disks MIB TEST...: the test on each of the disks, in a folder of the disk's name.
on_disks() {
    local kind why mib=$1 rc
    shift
    for kind in $(disks); do
        rc=0
        why=$("$TESTS/fault/small_disk" make "$kind" "$mib" "$kind" 2>&1) || rc=$?
        [ "$rc" != 77 ] || skip "$why"
        [ "$rc" = 0 ]
        echo "--- $kind"
        "$@" "$kind"
        "$TESTS/fault/small_disk" drop "$kind"
    done
}

free_bytes() { df -B1 --output=avail "$1" | tail -n 1; }
fill_but() { # FOLDER BYTES-LEFT
    local n=$(($(free_bytes "$1") - $2))
    [ "$n" -le 0 ] || fallocate -l "$n" "$1/ballast" 2>/dev/null || head -c "$n" /dev/zero >"$1/ballast"
}

# record ARGUMENTS: its status in `rc`, its words in record.err; never a signal.
try_record() {
    rc=0
    timeout 60 "$SWT" record "$@" 2>record.err || rc=$?
    cat record.err
}

# Ended by the full disk: exit 3 and a reason, in one line; the summary lines beside it.
ended_full() {
    [ "$rc" = 3 ]
    [ "$(grep -c '^swt record: ' record.err)" = 1 ]
    grep -qi '^swt record: .*no space left' record.err
}

# Rows of r.swt: all whole, in one run from 0, and at least so many bytes of them.
whole_rows() { # RECORDING ROW-BYTES AT-LEAST-BYTES [RUNS]
    local first n
    first=$(fault frames check "$1" "$2" | tee check.out | head -n 1)
    n=${first%% *}
    [ "$first" = "$n frames, ${4:-1} runs" ]
    [ $((n * $2)) -ge "$3" ]
    [ "$(info_of "$1" tensor frames)" = "$n" ]
    swt verify "$1"
}

rows_until_full() {
    local free
    free=$(free_bytes "$1")
    try_record - --tensor u8:"$2" --fps 1000 "${@:3}" -o "$1/r.swt" < <(fault frames rows "$2" 1000000)
    ended_full
    whole_rows "$1/r.swt" "$2" $((free * 6 / 10))
    swt window "$1/r.swt" --last 1 >last.raw
    [ "$(stat -c %s last.raw)" = "$2" ]
}
rows_5000() { rows_until_full "$1" 5000; }
rows_151875_small_segments() { rows_until_full "$1" 151875 --segment-bytes 2MiB; }
rows_28() { rows_until_full "$1" 28; }

@test "record: a full disk ends rows with exit 3, all before it is whole" { on_disks 12 rows_5000; }
@test "record: a full disk ends rows over many segments with exit 3, all before it is whole" {
    on_disks 16 rows_151875_small_segments
}
@test "record: a full disk ends rows of 28 bytes with exit 3, all before it is whole" { on_disks 12 rows_28; }

goes_on() {
    fill_but "$1" 4000000
    try_record - --tensor u8:5000 --fps 1000 -o "$1/r.swt" < <(fault frames rows 5000 100000)
    ended_full
    local before
    before=$(info_of "$1/r.swt" tensor frames)
    rm "$1/ballast"
    try_record -q - --tensor u8:5000 --fps 1000 -o "$1/r.swt" < <(fault frames rows 5000 300 "$before" 1)
    [ "$rc" = 0 ]
    [ "$(info_of "$1/r.swt" tensor frames)" = $((before + 300)) ]
    whole_rows "$1/r.swt" 5000 0 2
}
@test "record: when there is room again, recording goes on behind what was stored" { on_disks 16 goes_on; }

nothing_fits() {
    fill_but "$1" 40000
    head -c 200000 /dev/zero >"$1/rest" 2>/dev/null || true
    try_record - --tensor u8:5000 --fps 1000 -o "$1/r.swt" < <(fault frames rows 5000 1000)
    [ "$rc" = 1 ]
    [ "$(wc -l <record.err)" = 1 ]
    grep -qi '^swt record: .*no space left' record.err
    run swt window "$1/r.swt" --last 1
    [ "$status" = 1 ] || [ "$status" = 4 ] # nothing that passes as good
    rm "$1/ballast" "$1/rest"
    try_record -q - --tensor u8:5000 --fps 1000 -o "$1/r.swt" < <(fault frames rows 5000 10)
    [ "$rc" = 0 ]
    whole_rows "$1/r.swt" 5000 50000
}
@test "record: a disk on which nothing fits is exit 1 and one line, and harms nothing" { on_disks 12 nothing_fits; }

three_mib() {
    fill_but "$1" $((3 << 20))
    try_record -q - --tensor u8:5000 --fps 1000 -o "$1/rows.swt" < <(fault frames rows 5000 100)
    [ "$rc" = 0 ]
    whole_rows "$1/rows.swt" 5000 500000
    rm -r "$1/rows.swt"
    try_record -q lavfi:testsrc2=size=64x48:rate=30 -o "$1/video.swt" --duration 1s
    [ "$rc" = 0 ]
    [ "$(info_of "$1/video.swt" video frames)" = 30 ]
    swt verify "$1/video.swt"
    rm -r "$1/video.swt"
    try_record -q lavfi:testsrc2=size=64x48:rate=30 lavfi:sine=frequency=440:sample_rate=8000 -o "$1/av.swt" \
        --duration 1s
    [ "$rc" = 0 ]
    [ "$(info_of "$1/av.swt" video frames)" = 30 ]
    [ "$(info_of "$1/av.swt" audio frames)" = 8000 ]
    swt verify "$1/av.swt"
}
@test "record: a disk with 3 MiB free still takes frames, rows and pictures and sound" { on_disks 24 three_mib; }

# The live source of the cases: pictures that are a formula of their number.
case_24d() {
    fill_but "$1" $((3 << 20))
    local begin end
    begin=$(date +%s)
    try_record - -o "$1/r.swt" < <("$PYTHON" "$TESTS/cases/live.py" --fps 400 --frames 2000)
    end=$(date +%s)
    ended_full
    [ $((end - begin)) -le $((2000 / 400 + 2)) ]
    swt verify "$1/r.swt"
    swt window "$1/r.swt" --from start --to end --pixel stored -o all.npy
    py "$(info_of "$1/r.swt" video frames)" <<'PY'
got = live_run("all.npy")
same((got[0], len(got)), (0, int(sys.argv[1])), "first id and number of pictures")
true(len(got) >= 100, "%d pictures fitted" % len(got))
PY
}
@test "record: 24d-disk-full, 3 MiB of live pictures, then exit 3 and the reason" { on_disks 24 case_24d; }

sound_and_pictures() {
    try_record lavfi:testsrc2=size=320x240:rate=30 lavfi:sine=frequency=440:sample_rate=48000 -o "$1/r.swt" \
        --duration 1h
    ended_full
    swt verify "$1/r.swt"
    [ "$(info_of "$1/r.swt" video frames)" -ge 30 ]
    [ "$(info_of "$1/r.swt" audio frames)" -ge 30000 ]
    swt window "$1/r.swt" --stream video --last 1 -o v.npy
    swt window "$1/r.swt" --stream audio --last 1000 -o a.npy
}
@test "record: a full disk ends pictures and sound together with exit 3" { on_disks 12 sound_and_pictures; }

appends() {
    rc=0
    fault frames append "$1/r.swt" 5000 100000 >acked 2>append.err || rc=$?
    cat append.err
    [ "$rc" = 1 ]
    grep -qi 'no space left' append.err
    [ "$(info_of "$1/r.swt" tensor frames)" = "$(wc -l <acked)" ]
    whole_rows "$1/r.swt" 5000 5000000
}
@test "append: a program is told of the full disk, and every acknowledged frame is there" { on_disks 12 appends; }

no_control_page() {
    try_record -q - --tensor u8:5000 --fps 1000 --control "$1" -o r.swt < <(fault frames rows 5000 100)
    echo "exit $rc"
    [ "$rc" -le 1 ]
    [ "$rc" = 1 ] || whole_rows r.swt 5000 500000
}
full_control() {
    mkdir -m 711 "$1/control"
    fill_but "$1" 0
    head -c 200000 /dev/zero >"$1/rest" 2>/dev/null || true
    no_control_page "$1/control"
    [ "$rc" = 0 ] || { [ "$(wc -l <record.err)" = 1 ] && grep -qi 'no space left' record.err; }
    rm -rf r.swt
}
@test "record: a full file system for the control files is told, never a fault" { on_disks 4 full_control; }
