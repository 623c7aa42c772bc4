#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The exit status and the one line of every kind of failure; and what is left behind.
load ../lib/common
setup() { common_setup; }

# fails STATUS ARGS...: one line on stderr that begins with the command, no stdout
fails() {
    local status_wanted=$1
    shift
    run -"$status_wanted" --separate-stderr swt "$@"
    [ -z "$output" ] && [ "${#stderr_lines[@]}" = 1 ] && [[ "$stderr" == "swt $1: "* ]] || {
        printf 'swt %s\nstdout: %s\nstderr: %s\n' "$*" "$output" "$stderr"
        return 1
    }
}

@test "exit: not a recording is 1: missing, a file, an empty directory, another directory" {
    : >file
    mkdir empty other
    : >other/data
    for path in missing file empty other /dev/null; do
        fails 1 info "$path"
        [[ "$stderr" == *"$path"* ]]
        fails 1 window "$path" --last 1
        fails 1 verify "$path"
    done
}

@test "exit: record refuses a path that holds something else, and leaves it as it is" {
    mkdir other
    echo precious >other/data
    echo precious >file
    for path in other file; do
        fails 1 record lavfi:testsrc2=size=32x32:rate=10 -o "$path" --frames 3
    done
    [ "$(cat other/data)" = precious ]
    [ "$(ls -A other)" = data ]
    [ "$(cat file)" = precious ]
}

@test "exit: an input that is missing, a directory, or no media is 1 and leaves no recording" {
    mkdir dir
    head -c 5000 /dev/urandom >noise.mp4
    : >empty.mp4
    for input in missing.mp4 dir noise.mp4 empty.mp4 lavfi:nosuchfilter; do
        fails 1 record "$input" -o r.swt
        [ ! -e r.swt ]
    done
}

@test "exit: a window that is not there is 4 and leaves no file; what is there is 0" {
    make_clip
    fails 4 window clip.swt --last 91 -o w.npy
    fails 4 window clip.swt --from 5s --to 6s -o w.npy
    fails 4 window clip.swt --frames 0,90 -o w.npy
    [ -z "$(find . -name 'w.npy*')" ]
    run -0 --separate-stderr swt window clip.swt --last 91 --edge trim -o w.npy
    [ -s w.npy ]
}

@test "exit: an unknown stream is 1 and names the ones there are" {
    make_clip
    run -1 --separate-stderr swt window clip.swt --stream vidio --last 1
    [ "${#stderr_lines[@]}" = 1 ]
    [[ "$stderr" == *vidio* ]]
}

@test "exit: an output that cannot be written is 1, an older file stays, nothing else is left" {
    make_clip
    fails 1 window clip.swt --last 2 -o no/such/dir/w.npy
    mkdir w.npy
    fails 1 window clip.swt --last 2 -o w.npy
    fails 1 window clip.swt --last 2 --format raw -o /dev/full
    [ -c /dev/full ]
    echo old >keep.npy
    fails 4 window clip.swt --last 99999 -o keep.npy
    [ "$(cat keep.npy)" = old ]
    [ "$(find . -maxdepth 1 -type f ! -name 'separate-stderr-*')" = ./keep.npy ]
}

@test "exit: a full device behind stdout is 1, for data and for text" {
    make_clip
    run -1 bash -c '"$SWT" window clip.swt --last 2 2>err >/dev/full'
    [ "$(wc -l <err)" = 1 ]
    run -1 bash -c '"$SWT" --help 2>err >/dev/full'
    [ "$(cat err)" = "swt: standard output: No space left on device" ]
    run -1 bash -c '"$SWT" info clip.swt 2>err >&-'
    [ "$(wc -l <err)" = 1 ]
}

@test "exit: a stdout that closes early ends quietly" {
    make_clip
    run -0 bash -c '"$SWT" window clip.swt --from start 2>err | head -c 1000 | wc -c; echo "${PIPESTATUS[0]}" >status'
    [ "$output" = 1000 ]
    [ ! -s err ]
    case $(cat status) in 0 | 1 | 141) ;; *) cat status && false ;; esac
}

@test "exit: a link to a file and a pipe are written through, not replaced" {
    make_clip
    : >real.npy
    ln -s real.npy link.npy
    swt window clip.swt --last 2 -o link.npy
    [ -L link.npy ] && [ -s real.npy ]
    mkfifo pipe
    cat pipe >got 3>&- &
    swt window clip.swt --last 2 --format npy -o pipe
    wait $!
    [ -p pipe ] && cmp got real.npy
}

@test "exit: --quiet says nothing, --verbose explains" {
    run -0 --separate-stderr swt record -q lavfi:testsrc2=size=32x32:rate=10 -o q.swt --frames 3
    [ -z "$output$stderr" ]
    run -0 --separate-stderr swt window -v q.swt --last 1 -o w.npy
    [ -z "$output" ] && [ -n "$stderr" ]
}

@test "exit: record ends with one line a stream: in = stored + dropped" {
    run -0 --separate-stderr swt record lavfi:testsrc2=size=32x32:rate=10 lavfi:sine=sample_rate=8000 -o s.swt --duration 1s
    [ -z "$output" ] && [ "${#stderr_lines[@]}" = 2 ]
    for line in "${stderr_lines[@]}"; do
        [[ "$line" =~ ^(video|audio):\ ([0-9]+)\ frames\ in,\ ([0-9]+)\ stored,\ ([0-9]+)\ dropped, ]]
        [ "${BASH_REMATCH[2]}" = $((BASH_REMATCH[3] + BASH_REMATCH[4])) ]
    done
}

@test "exit: a terminal gets no binary data" {
    make_clip
    run -2 script -qec "'$SWT' window clip.swt --last 1" /dev/null
    [[ "$output" == *"binary data is not written to a terminal"* ]]
    run -0 script -qec "'$SWT' window clip.swt --last 1 --format ndjson" /dev/null
}

@test "exit: a signal before an input is open ends record in a moment, with one line and no recording" {
    mkfifo silent
    run -1 --separate-stderr timeout --preserve-status -s INT 0.5 "$SWT" record silent -o r.swt --timeout 60s
    [ "$stderr" = "swt record: interrupted before an input was open" ]
    [ ! -e r.swt ]
}
