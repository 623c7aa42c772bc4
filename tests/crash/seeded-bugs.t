#!/bin/sh
# SPDX-License-Identifier: MIT
# Does the net catch fish: stores with one fault each (bugs/*.patch) under the cuts that the store itself withstands.
# Environment: B build folder; CUTS for each at most; STOP after so many failed cases.
cd "$(dirname "$0")/../.." || exit 1
case $B in *asan* | *tsan* | *cov*) echo "seeded bugs are looked for in the plain build"; exit 77 ;; esac
cuts=${CUTS:-20000} stop=${STOP:-3} n=0 status=0
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
for patch in tests/crash/bugs/*.patch; do
    n=$((n + 1)) name=$(basename "$patch" .patch)
    program=$B/crash-bugs/$name
    if [ ! -x "$program" ]; then
        sed 's/^/# /' "$program.why"
        echo "not ok $n - $name: the fault does not fit the store any more: make $patch anew"
        status=1
        continue
    fi
    "$program" --cuts "$cuts" --workers "${WORKERS:-1}" --stop-after "$stop" >"$out" 2>&1
    figures=$(sed -n 's/^# \([0-9]* power cuts\), \([0-9]* kills\), \([0-9]* bits lost\) in .*/\1, \2, \3/p' "$out")
    failed=$(sed -n 's/^# failed cases: //p' "$out")
    echo "# $(head -n 1 "$patch")"
    case $failed in
    0 | '')
        sed 's/^/# /' "$out"
        echo "not ok $n - $name is not caught in $figures"
        status=1
        ;;
    *) echo "ok $n - $name is caught: $failed, in $figures" ;;
    esac
done
echo "1..$n"
exit $status
