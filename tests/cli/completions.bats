#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The committed completion scripts, run in their shells.
load ../lib/common
setup() { common_setup; }

# bash_completes WORDS...: what is offered for the last word
bash_completes() {
    bash -c '
        source "$ROOT/completions/swt.bash"
        compopt() { :; }
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _swt
        printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}

@test "completions: bash offers commands, options and choices" {
    [ "$(bash_completes swt wi)" = window ]
    [ "$(bash_completes swt record --sto)" = --store ]
    [ "$(bash_completes swt record --store '' | tr '\n' ' ')" = "packets tensor both " ]
    [ "$(bash_completes swt window --layout = T)" = "$(printf 'THWC\nTCHW')" ]
    [ "$(bash_completes swt window --edge = | tr '\n' ' ')" = "error trim repeat zero " ]
    bash_completes swt info -- | grep -qx -e --format
    [ -z "$(bash_completes swt info --las)" ]
}

@test "completions: bash offers every option of every command" {
    for c in $(all_commands); do
        want=$(swt cli-dump json | jq -r --arg c "$c" 'if .command then .command as $n | {n: $n} else . end |
            [.n // empty, .option // empty] | join("")' | awk -v c="$c" '$0 == c { on = 1; next }
            /^(record|window|info|verify)$/ { on = 0 } on { print "--" $0 }' | sort)
        [ -n "$want" ]
        [ "$(bash_completes swt "$c" -- | sort)" = "$want" ]
    done
}

@test "completions: bash offers files where files go" {
    mkdir a.swt
    : >a.mp4
    [ "$(bash_completes swt info a)" = a.swt ]
    [ "$(bash_completes swt record a | sort | tr '\n' ' ')" = "a.mp4 a.swt " ]
    [ "$(bash_completes swt record a.mp4 -o a)" = a.swt ]
}

@test "completions: fish offers commands, options and choices" {
    command -v fish >/dev/null || skip "fish is not installed"
    offers() { fish --no-config -c 'source $ROOT/completions/swt.fish; complete -C "$argv[1]"' -- "$1" | cut -f 1; }
    [ "$(offers 'swt ver')" = verify ]
    [ "$(offers 'swt record --sto')" = --store ]
    offers 'swt window x --edge ' | grep -qx repeat
}

@test "completions: zsh loads the function" {
    command -v zsh >/dev/null || skip "zsh is not installed"
    zsh -fc 'fpath=($ROOT/completions $fpath); autoload -Uz compinit; compinit -D -u; autoload +X -Uz _swt; functions _swt' |
        grep -q -e --store
}
