# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For the tests of the command line itself. Each test runs in a folder of its own; results are compared exactly.

bats_require_minimum_version 1.5.0
ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
export ROOT LC_ALL=C SWT=${SWT:-$ROOT/build/swt} BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-60}

common_setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export HOME=$PWD XDG_RUNTIME_DIR=$PWD XDG_CACHE_HOME=$PWD
}

swt() { "$SWT" "$@"; }

# expect STATUS STDERR ARGS...: nothing on stdout, exactly this on stderr
expect() {
    local want_status=$1 want=$2
    shift 2
    run -"$want_status" --separate-stderr swt "$@"
    # shellcheck disable=SC2154
    [ -z "$output" ] && [ "$stderr" = "$want" ] || {
        printf 'swt %s\nstdout: %s\nstderr: %s\nwant:   %s\n' "$*" "$output" "$stderr" "$want"
        return 1
    }
}

# Three seconds of picture and sound in clip.swt.
make_clip() {
    swt record -q lavfi:testsrc2=size=160x120:rate=30 lavfi:sine=frequency=440:sample_rate=8000 \
        -o clip.swt --duration 3s
}

all_commands() { swt cli-dump json | jq -r 'select(.command) | .command'; }
