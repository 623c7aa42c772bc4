#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every example of every man page is run as it stands, in a folder that holds a clip and a recording of it.
load ../lib/common

setup_file() {
    mkdir -p "$BATS_FILE_TMPDIR/bin"
    ffmpeg -v error -f lavfi -i testsrc2=size=320x240:rate=30 -f lavfi -i sine=sample_rate=48000 -t 4 \
        -c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac "$BATS_FILE_TMPDIR/clip.mp4"
}

setup() {
    common_setup
    ln -s "$SWT" "$BATS_FILE_TMPDIR/bin/swt" 2>/dev/null || true
    export PATH=$BATS_FILE_TMPDIR/bin:$PATH
    cp "$BATS_FILE_TMPDIR/clip.mp4" .
}

# Literal displays of the EXAMPLES section, one command a line.
examples() {
    awk '/^\.Sh EXAMPLES/ { on = 1 } /^\.Sh SEE/ { on = 0 } /^\.Ed/ { lit = 0 } on && lit; /^\.Bd -literal/ { lit = 1 }' \
        "$ROOT/man/swt-$1.1" | sed 's/\\-/-/g; s/\\e/\\/g'
}

run_examples() {
    local n=0 line
    while IFS= read -r line; do
        echo "\$ $line"
        bash -euo pipefail -c "$line" </dev/null
        n=$((n + 1))
    done < <(examples "$1")
    [ "$n" -gt 0 ]
}

@test "man-examples: swt-record" {
    run_examples record
    [ "$(swt info rows.swt --format ndjson | jq -r .frames)" = 1000 ]
    [ "$(swt info test.swt --format ndjson | jq -r .frames)" = 90 ]
}

@test "man-examples: swt-window" {
    swt record -q clip.mp4 -o clip.swt
    run_examples window
    [ -s w.npy ] && [ -s w.wav ] && [ -s w.y4m ]
}

@test "man-examples: swt-info" {
    swt record -q clip.mp4 -o clip.swt
    run_examples info
}

@test "man-examples: swt-verify" {
    swt record -q clip.mp4 -o clip.swt
    run_examples verify
}

@test "man-examples: every command has a page with examples" {
    for c in $(all_commands); do
        [ -n "$(examples "$c")" ]
    done
}
