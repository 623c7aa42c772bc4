# SPDX-License-Identifier: MIT
#
# What the end-to-end tests share: the made inputs, Python checks, a live source with a recorder
# behind it. Not for single values of one test.

bats_require_minimum_version 1.5.0
TESTS=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
export TESTS
export SWT=${SWT:-$TESTS/../build/swt}
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TESTS/tools
export BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-120}
PYTHON=/usr/bin/python3

swt() { "$SWT" "$@"; }

# Python from standard input with the names of sw.py; arguments are in sys.argv[1:].
py() {
    { echo 'from sw import *' && cat; } | "$PYTHON" - "$@"
}

# Makes the inputs of tests/cases once in a run of all tests (of bats, if run alone); sets CASES.
need_cases() {
    export CASES=${results:-$BATS_SUITE_TMPDIR}/cases
    (
        flock 9
        [ -e "$CASES.done" ] ||
            { "$PYTHON" "$TESTS/cases/make-cases.py" "$CASES" && : >"$CASES.done"; }
    ) 9>"$CASES.lock"
}

# record INPUT... into r.swt with the default store or as tensors.
record_as() {
    local store=()
    [ "$1" = default ] || store=(--store "$1")
    swt record "${@:2}" -o r.swt "${store[@]}" 2>record.err || {
        local rc=$?
        cat record.err >&2
        return "$rc"
    }
}

# window with all pictures or samples of r.swt.
window_all() { swt window r.swt --from start --to end "$@"; }

# One value of one stream, from `info`.
info_of() { # RECORDING STREAM KEY
    swt info "$1" --format ndjson 2>/dev/null |
        jq -r --arg s "$2" --arg k "$3" 'select(.name == $s) | .[$k]' 2>/dev/null | grep .
}

has_frames() { # RECORDING STREAM AT-LEAST
    local n
    n=$(info_of "$1" "$2" frames) && [ "${n:-0}" -ge "$3" ]
}

wait_for() { # SECONDS COMMAND...; with a recorder started, as long as it lives
    local end=$((SECONDS + $1)) why=
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || why='gave up waiting'
        kill -0 "${RECORDER:-$$}" 2>/dev/null || why='the recorder has ended'
        if [ -n "$why" ]; then
            echo "$why for: $*" >&2
            cat record.err >&2 2>/dev/null || true
            return 1
        fi
        sleep 0.03
    done
}

# A live source into `swt record - ARGS`: first its command line by feed, live or rows, then
# start_recorder ARGS. RECORDER and SOURCE are the process ids.
feed() { source_cmd=("$@"); }
live() { feed "$PYTHON" "$TESTS/cases/live.py" --log live.log "$@"; }
rows() { feed "$PYTHON" "$TESTS/tools/rows.py" --log rows.log "$@"; }
start_recorder() {
    rm -f feed && mkfifo feed
    "${source_cmd[@]}" >feed 2>/dev/null 3>&- &
    SOURCE=$!
    env --default-signal=INT,TERM "$SWT" record - "$@" <feed 2>record.err 3>&- &
    RECORDER=$!
}

# Ends what start_recorder left running; for teardown.
stop_all() {
    local pid
    for pid in ${RECORDER:-} ${SOURCE:-}; do
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
}

# The last `run --separate-stderr` said one line, and it names the command.
one_line() {
    # shellcheck disable=SC2154 # set by run
    if [ "${#stderr_lines[@]}" -ne 1 ] || [[ $stderr != "swt "* ]]; then
        printf 'want one line "swt COMMAND: ...", got:\n%s\n' "$stderr" >&2
        return 1
    fi
}
