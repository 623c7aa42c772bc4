#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Usage errors: exit 2, one line on stderr, nothing on stdout, nothing written.
load ../lib/common
setup() { common_setup; }

@test "usage: no command, an unknown command, a mistyped command" {
    expect 2 "swt: no command given; try 'swt --help'"
    expect 2 "swt: unknown command 'frobnicate'; try 'swt --help'" frobnicate
    expect 2 "swt: unknown command 'windw'; did you mean window?" windw
    expect 2 "swt: unknown command 'recrod'; did you mean record?" recrod
    expect 2 "swt: unknown command 'inof'; did you mean info?" help inof
}

@test "usage: an unknown option gets the nearest name, or none" {
    expect 2 "swt record: unknown option --rat; did you mean --rate?" record --rat 3
    expect 2 "swt window: unknown option --formt; did you mean --format?" window --formt=npy x
    expect 2 "swt window: unknown option --zzzzzz" window --zzzzzz
    expect 2 "swt window: unknown option -z in '-qz'" window -qz
    expect 2 "swt info: unknown option --last" info x --last 3
}

@test "usage: an option without its value, a flag with one" {
    expect 2 "swt record: --output needs a value: RECORDING" record x -o
    expect 2 "swt window: --last needs a value: N|DUR" window x --last
    expect 2 "swt info: --quiet takes no value" info --quiet=yes x
    expect 2 "swt window: --stream '': empty" window x --stream= --last 1
}

@test "usage: missing and superfluous words" {
    expect 2 "swt info: no RECORDING given; try 'swt info --help'" info
    expect 2 "swt info: one word too many: 'b'" info a b
    expect 2 "swt record: --output RECORDING is missing" record x
    expect 2 "swt record: no INPUT given; try 'swt record --help'" record -o r.swt
    expect 2 "swt record: -o -: a recording is a directory, it cannot go to standard output" record x -o -
    [ ! -e r.swt ]
}

@test "usage: a selection is needed, and only one" {
    expect 2 "swt window: no selection given: --last, --from, --to, --for, --at or --frames" window x
    expect 2 "swt window: --last and --at exclude each other" window x --last 3 --at 2
    expect 2 "swt window: --from and --frames exclude each other" window x --from 3 --frames 2
    expect 2 "swt window: --to and --for exclude each other" window x --from 0 --to 3 --for 2
}

@test "usage: unknown choices list what there is or name the nearest" {
    expect 2 "swt info: --format 'xml': unknown; one of text, ndjson" info --format=xml a
    expect 2 "swt window: --dtype 'f23': unknown; did you mean f32?" window x --last 1 --dtype f23
    expect 2 "swt record: --store 'tensr': unknown; did you mean tensor?" record x -o y --store tensr
    expect 2 "swt record: --store '': unknown; one of packets, tensor, both" record x -o y --store ''
    expect 2 "swt window: --pixel 'rgb25': unknown; did you mean rgb24?" window x --last 1 --pixel rgb25
}

@test "usage: numbers must be whole words and in range" {
    expect 2 "swt window: --stride '2x': not a whole number" window x --last 1 --stride 2x
    expect 2 "swt window: --stride '0': too small: must be more than 0" window x --last 1 --stride 0
    expect 2 "swt window: --stride '99999999999999999999': not a whole number" window x --last 1 --stride 99999999999999999999
    expect 2 "swt record: --rate '1000001': too large: at most 1000000" record x -o y --rate 1000001
    expect 2 "swt record: --frames '-1': too small: must be more than 0" record x -o y --frames -1
    expect 2 "swt window: --size '224': not a size such as 224x224 (1 to 65535 each)" window x --last 1 --size 224
    expect 2 "swt window: --size '0x3': not a size such as 224x224 (1 to 65535 each)" window x --last 1 --size 0x3
    expect 2 "swt window: --size '70000x3': not a size such as 224x224 (1 to 65535 each)" window x --last 1 --size 70000x3
    expect 2 "swt window: --crop '2x3+1': not a crop such as 224x224 or 224x224+10+20" window x --last 1 --crop 2x3+1
    expect 2 "swt window: --frames '1,,2': not a list of frame numbers such as 0,7,21" window x --frames 1,,2
    expect 2 "swt window: --norm '1': not 0..1, -1..1, imagenet or MEAN:STD" window x --last 1 --norm 1
    expect 2 "swt window: --norm '0:0': a deviation must be more than 0" window x --last 1 --norm 0:0
}

# The texts are the library's; what matters is the status, one line, the option and the value in it.
bad() {
    run -2 --separate-stderr swt "$@"
    [ -z "$output" ] && [ "${#stderr_lines[@]}" = 1 ]
}

@test "usage: times need a unit, counts none, and both must be more than nothing" {
    for v in 64x 0 0s 1.5 '' 10parsecs 99999999999999999999 1e3; do
        bad window x --last "$v"
        [[ "$stderr" == "swt window: --last '$v': "* ]]
    done
    for v in 10 x 0s -3s; do
        bad record x -o y --duration "$v"
        [[ "$stderr" == "swt record: --duration '$v': "* ]]
    done
    bad window x --from 2026-11-30T14:00:00
    bad window x --at 12h30
    bad record x -o y --fps 0
    bad record x -o y --fps 30/0
    bad record x -o y --segment-bytes 10xB
    bad record x -o y --segment-bytes 99999999999999999999GB
    [ ! -e y ]
}

@test "usage: option values may begin with a hyphen, and -- ends the options" {
    run -1 --separate-stderr swt window missing.swt --from -2s
    [[ "$stderr" == *missing.swt* ]]
    run -1 --separate-stderr swt window missing.swt --from=-64 --to -1
    [[ "$stderr" == *missing.swt* ]]
    run -1 --separate-stderr swt info -- --help
    [[ "$stderr" == *--help* ]]
}

@test "usage: an output whose suffix says nothing needs --format" {
    expect 2 "swt window: w.xyz: the suffix names no format that swt writes; --format says which" \
        window x --last 1 -o w.xyz
    [ ! -e w.xyz ]
}

@test "usage: control bytes of a name do not reach the terminal" {
    run -1 --separate-stderr swt info $'evil\e[31m\nname'
    [ "${#stderr_lines[@]}" = 1 ]
    [[ "$stderr" == *'evil?[31m?name'* ]]
}
