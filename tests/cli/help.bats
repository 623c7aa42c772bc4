#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What --help says, and that it says what the parser takes.
load ../lib/common
setup() { common_setup; }

@test "help: swt --help goes to stdout, names every command, and exits 0" {
    run -0 --separate-stderr swt --help
    [ -z "$stderr" ]
    for c in $(all_commands); do
        grep -q "^  $c  " <<<"$output"
    done
    [ "$(swt help)" = "$output" ]
    [ "$(swt -h)" = "$output" ]
}

@test "help: every command's help goes to stdout, begins with its usage, and fits into 80 columns" {
    for c in $(all_commands); do
        run -0 --separate-stderr swt "$c" --help
        [ -z "$stderr" ]
        [ "${lines[0]%% *}" = usage: ]
        [[ "${lines[0]}" == "usage: swt $c "* ]]
        [ "$(swt help "$c")" = "$output" ]
        [ "$(swt "$c" -h)" = "$output" ]
        long=$(grep -v '^  swt \|^  head \|^      [A-Z]' <<<"$output" | awk 'length > 80')
        [ -z "$long" ]
    done
}

@test "help: names every option that the parser takes, with its default" {
    run -0 swt window --help
    for o in last from to for at frames stream stride edge size filter crop pixel dtype layout norm output format times \
        quiet verbose help version; do
        grep -q -e "--$o" <<<"$output"
    done
    grep -q 'error, trim, repeat, zero' <<<"$(tr -s ' \n' ' ' <<<"$output")"
    grep -q '(default: THWC)' <<<"$(tr -s ' \n' ' ' <<<"$output")"
}

@test "help: --help wins over what is missing, and later words are not looked at" {
    run -0 swt record --help --nonsense
    run -0 swt window --last 3 --help
}

@test "help: --version is the version of swt.h, alone and behind a command" {
    want="swt $(sed -n 's/^#define SWT_VERSION *"\(.*\)".*/\1/p' "$ROOT/include/swt.h")"
    [ "$(swt --version)" = "$want" ]
    [ "$(swt info --version)" = "$want" ]
}
