#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Copies of a recording that is being written are crash images: they open, show what was there, and are their own
# from then on. A recording may be moved, be read-only, and belong to somebody else.

# shellcheck disable=SC2154 # variables that bats sets
load ../fault/fault

bytes=5000

setup_file() { "$TESTS/fault/build" frames; }
setup() {
    # Everybody may pass: other users read here too.
    PLACE=$(mktemp -d /tmp/swt-copies.XXXXXX)
    chmod 755 "$PLACE"
    cd "$PLACE" || return
}
teardown() {
    stop_all
    cd / || return
    mountpoint -q "$PLACE/ro" && umount "$PLACE/ro"
    leave_memory
    rm -rf "$PLACE"
}

# A program that appends 5000 bytes 500 times a second, in segments of 20.
start_writer() { # RECORDING
    "$FAULT_BIN/frames" append "$1" $bytes 100000 500 >acked 2>record.err 3>&- &
    RECORDER=$!
    wait_for 20 has_frames "$1" tensor 45
}
stop_writer() {
    kill -9 "$RECORDER"
    wait "$RECORDER" || true
    RECORDER=
}

count() { info_of "$1" tensor frames; }

# All commands work on it; every frame is right. Its number of frames is in N.
is_whole() { # RECORDING
    fault frames check "$1" $bytes >check.out
    N=$(head -n 1 check.out | cut -d ' ' -f 1)
    local now
    now=$(count "$1")
    [ "$now" = "$N" ] || { [ "$now" -gt "$N" ] && [ "$(info_of "$1" tensor live)" = true ]; }
    swt verify "$1"
    swt window "$1" --last 5 >window.raw
    [ "$(stat -c %s window.raw)" = $((5 * bytes)) ]
}

# copied COMMAND: takes r.swt to copyK.swt. Between the frames before and after, none after that; and the
# original goes on.
copied() {
    local k before after
    start_writer r.swt
    for k in {1..4}; do
        before=$(count r.swt)
        "$@" "copy$k.swt"
        after=$(count r.swt)
        echo "$before $after" >"span$k"
        wait_for 20 has_frames r.swt tensor $((after + 7))
    done
    for k in {1..4}; do
        read -r before after <"span$k"
        is_whole "copy$k.swt"
        echo "copy $k: $N of $before to $after"
        [ "$N" -ge "$before" ]
        [ "$N" -le "$after" ]
        [ "$(info_of "copy$k.swt" tensor live)" = false ]
    done
    stop_writer
    is_whole r.swt
    [ "$N" -gt "$after" ]
}

# What a copier says when a segment got its name meanwhile; anything else is a failure.
but_new_segments() {
    "$@" 2>copy.err || [ -s copy.err ] || return 1
    ! grep -vE '\.new-segment|vanished' copy.err
}
by_cp() { but_new_segments cp -r r.swt "$1"; }
by_cp_sparse() { but_new_segments cp -a --sparse=always r.swt "$1"; }
by_rsync() { but_new_segments rsync -a r.swt/ "$1/"; }
by_tar() {
    mkdir "$1"
    # 1: a file has changed as it was read
    { tar -C r.swt -cf - . 2>/dev/null || [ $? = 1 ]; } | tar -C "$1" -xf -
}
@test "window: cp -r of a live recording opens as a crash image" { copied by_cp; }
@test "window: cp -a --sparse=always of a live recording opens as a crash image" { copied by_cp_sparse; }
@test "window: rsync -a of a live recording opens as a crash image" {
    command -v rsync >/dev/null || skip "rsync is not installed"
    copied by_rsync
}
@test "window: tar of a live recording opens as a crash image" { copied by_tar; }

@test "window: rsync -a again and again keeps one copy up to date" {
    command -v rsync >/dev/null || skip "rsync is not installed"
    start_writer r.swt
    local before
    for _ in {1..4}; do
        before=$(count r.swt)
        # Without --checksum rsync leaves a file alone that was written again within the second, at its old size.
        but_new_segments rsync -a --checksum --delete r.swt/ copy.swt/
        is_whole copy.swt
        [ "$N" -ge "$before" ]
        wait_for 20 has_frames r.swt tensor $((before + 30))
    done
}

@test "record: a copy of a live recording is written and read for itself" {
    start_writer r.swt
    cp -r r.swt copy.swt
    local n first=$RECORDER
    n=$(count copy.swt)
    "$FAULT_BIN/frames" append copy.swt $bytes 1000000 200 >copy.acked 2>copy.err 3>&- &
    SOURCE=$!
    wait_for 20 has_frames copy.swt tensor $((n + 30))
    run -1 --separate-stderr fault frames append copy.swt $bytes 1
    [[ $stderr == *"process $SOURCE:"* ]]
    run -1 --separate-stderr fault frames append r.swt $bytes 1
    [[ $stderr == *"process $first:"* ]]
    # The original's end does not end the copy, and the other way round.
    stop_writer
    [ "$(info_of copy.swt tensor live)" = true ]
    n=$(count copy.swt)
    wait_for 20 has_frames copy.swt tensor $((n + 30))
    [ "$(info_of r.swt tensor live)" = false ]
    kill -9 "$SOURCE"
    wait "$SOURCE" || true
    is_whole copy.swt
    [ "$N" -ge "$(wc -l <copy.acked)" ]
    is_whole r.swt
}

@test "window: a copy that takes the place of a killed original is not taken for it" {
    start_writer r.swt
    cp -r r.swt copy.swt
    is_whole copy.swt
    local n=$N
    wait_for 20 has_frames r.swt tensor $((n + 50))
    stop_writer
    rm -r r.swt # its control file is still there
    mv copy.swt r.swt
    is_whole r.swt
    [ "$N" = "$n" ]
    fault frames append r.swt $bytes 10 >acked
    [ "$(head -n 1 acked)" = "$n" ]
    is_whole r.swt
    [ "$N" = $((n + 10)) ]
}

@test "window: a recording moved, also to another file system, is as it was and goes on" {
    fault frames append r.swt $bytes 100 >acked
    mkdir elsewhere
    mv r.swt elsewhere/other-name.swt
    is_whole elsewhere/other-name.swt
    [ "$N" = 100 ]
    enter_memory
    mv elsewhere/other-name.swt "$MEMORY/r.swt"
    is_whole "$MEMORY/r.swt"
    fault frames append "$MEMORY/r.swt" $bytes 50 >acked
    [ "$(head -n 1 acked)" = 100 ]
    is_whole "$MEMORY/r.swt"
    [ "$N" = 150 ]
}

# ------------------------------------------------------------------ read-only, and other people
need_root() {
    [ "$(id -u)" = 0 ] || skip "changing users and mounting need root"
    command -v setpriv >/dev/null || skip "setpriv is not installed"
    # A place where everybody can run it.
    mkdir bin
    cp "$(dirname "$(realpath "$SWT")")"/swt* bin/
    cp "$FAULT_BIN/frames" bin/
    chmod -R a+rX bin
}

nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent "$@"; }
nobody_swt() { nobody "$PLACE/bin/swt" "$@"; }

# What a reader without write access does.
reads_as_nobody() { # RECORDING
    nobody_swt info "$1" --format ndjson | jq -e '.frames >= 45' >/dev/null
    nobody "$PLACE/bin/frames" check "$1" $bytes >/dev/null
    nobody_swt verify "$1"
    nobody_swt window "$1" --last 16 >window.raw
    [ "$(stat -c %s window.raw)" = $((16 * bytes)) ]
}
nobody_has() { # RECORDING AT-LEAST
    [ "$(nobody_swt info "$1" --format ndjson | jq .frames)" -ge "$2" ]
}

@test "window: a recording whose files nobody may write is read by another user" {
    need_root
    fault frames append r.swt $bytes 100 >acked
    chmod -R a-w r.swt
    find r.swt -exec stat -c '%n %a %Y %Z' {} + | sort >before
    reads_as_nobody r.swt
    find r.swt -exec stat -c '%n %a %Y %Z' {} + | sort | diff before -
    run -1 --separate-stderr nobody "$PLACE/bin/frames" append r.swt $bytes 1
    [[ $stderr == *"ermission denied"* ]]
}

@test "window: a killed recording on a read-only mount is read, and recording into it is refused" {
    need_root
    start_writer r.swt
    stop_writer
    mkdir ro
    mount --bind . ro 2>/dev/null && mount -o remount,ro,bind ro 2>/dev/null || skip "bind mounts do not work here"
    is_whole ro/r.swt
    reads_as_nobody ro/r.swt
    fault frames rows $bytes 3 >rows
    run -1 --separate-stderr swt record - --tensor u8:$bytes --fps 1000 -o ro/r.swt <rows
    one_line
    [[ $stderr == *"ead-only file system"* ]]
}

@test "window: a live recording is followed through a read-only mount" {
    need_root
    start_writer r.swt
    mkdir ro
    mount --bind . ro 2>/dev/null && mount -o remount,ro,bind ro 2>/dev/null || skip "bind mounts do not work here"
    local n
    for _ in {1..3}; do
        n=$(count r.swt)
        is_whole ro/r.swt
        [ "$N" -ge "$n" ]
        nobody_has ro/r.swt "$n"
        wait_for 20 has_frames ro/r.swt tensor $((n + 10))
    done
}

@test "window: another user reads a live recording whose modes allow it" {
    need_root
    umask 022
    start_writer r.swt
    local n
    for _ in {1..3}; do
        n=$(count r.swt)
        nobody_has r.swt "$n"
        reads_as_nobody r.swt
        wait_for 20 nobody_has r.swt $((n + 10))
    done
}

@test "window: another user is refused a live recording that is private" {
    need_root
    umask 077
    start_writer r.swt
    run -1 --separate-stderr nobody_swt window r.swt --last 1
    one_line
    [[ $stderr == *"ermission denied"* ]]
    find /dev/shm/swt-0 -name "$(jq -r .uuid r.swt/tensor/meta.json)*" -perm /077 | diff /dev/null -
}

@test "window: a group reads a live recording that belongs to it" {
    need_root
    umask 027
    install -d -m 2750 -g 65534 shared
    start_writer shared/r.swt
    local n
    n=$(count shared/r.swt)
    reads_as_nobody shared/r.swt
    wait_for 20 nobody_has shared/r.swt $((n + 10))
    run -1 --separate-stderr setpriv --reuid 65533 --regid 65533 --clear-groups \
        "$PLACE/bin/swt" window shared/r.swt --last 1
    [[ $stderr == *"ermission denied"* ]]
}

@test "window: root reads what another user records, and goes on with it when that has ended" {
    need_root
    install -d -o 65534 -g 65534 theirs
    setpriv --reuid 65534 --regid 65534 --clear-groups \
        "$PLACE/bin/frames" append theirs/r.swt $bytes 100000 500 >acked 2>record.err 3>&- &
    RECORDER=$!
    wait_for 20 has_frames theirs/r.swt tensor 45
    local n
    n=$(count theirs/r.swt)
    is_whole theirs/r.swt
    wait_for 20 has_frames theirs/r.swt tensor $((n + 10))
    stop_writer
    is_whole theirs/r.swt
    n=$N
    fault frames append theirs/r.swt $bytes 10 >acked
    [ "$(head -n 1 acked)" = "$n" ]
    is_whole theirs/r.swt
}
