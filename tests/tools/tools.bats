#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The checks themselves: they accept what is right and reject what is wrong.

load e2e

setup() { cd "$BATS_TEST_TMPDIR" || return; }

@test "tools: two formulas of the live picture agree, and one wrong pixel is found" {
    "$PYTHON" "$TESTS/cases/live.py" --frames 12 --start 1020 --rate 100 >live.y4m
    py <<'PY'
d = open("live.y4m", "rb").read().split(b"\n", 1)[1]
a = np.frombuffer(d, np.uint8).reshape(12, 6 + 9216)[:, 6:]
np.save("good.npy", a)
same(live_run("good.npy"), list(range(1020, 1032)), "ids")
b = a.copy()
b[7, 3000] ^= 1
np.save("bad.npy", b)
np.save("gap.npy", np.concatenate([a[:5], a[6:]]))
PY
    for f in bad gap; do
        run -1 py $f.npy <<<'live_run(sys.argv[1])'
        [[ $output == check:* ]]
    done
}

@test "tools: within, same, ids and compare reject what is off" {
    wrong() { run -1 py <<<"$1" && [[ $output == check:* ]]; }
    right() { run -0 py <<<"$1"; }
    right 'within(np.uint8([250]), np.uint8([252]), 2)'
    wrong 'within(np.uint8([0]), np.uint8([255]), 2)'
    wrong 'within(np.uint8([249]), np.uint8([252]), 2)'
    wrong 'within(np.float32([np.nan]), np.float32([0]), 9)'
    wrong 'same(np.zeros(3), np.zeros(4))'
    right 'same(ids(np.stack([mk.picture(k) for k in (3, 900)])[..., None]), [3, 900])'
    wrong 'same(ids(np.stack([mk.picture(k) for k in (3, 901)])[..., None]), [3, 900])'
    right 'same(compare(["printf", "aabb"], ["printf", "aabc"], 2, 1), 2)'
    wrong 'compare(["printf", "aabb"], ["printf", "aabd"], 2, 1)'
    wrong 'compare(["printf", "aabb"], ["printf", "aa"], 2, 1)'
    wrong 'compare(["sh", "-c", "printf aa; exit 3"], ["printf", "aa"], 2, 1)'
}

@test "tools: npy and wav readers reject wrong headers" {
    py <<'PY'
np.save("good.npy", np.zeros((2, 3), "<u2"))
same(npy_header("good.npy")["shape"], (2, 3))
d = open("good.npy", "rb").read()
open("short.npy", "wb").write(d[:-1])
mk.wav16("good.wav", np.arange(10), 8000)
same(wav("good.wav")[1][:, 0], np.arange(10))
d = open("good.wav", "rb").read()
open("size.wav", "wb").write(d[:4] + b"\0\0\0\0" + d[8:])
PY
    run -1 py <<<'npy_header("short.npy")'
    run -1 py <<<'wav("size.wav")'
}

@test "tools: the damage tool's checksum is CRC32C and its changes are what they say" {
    py <<'PY'
from patch import crc32c, flip
same(crc32c(b"123456789"), 0xe3069283, "check value of CRC32C")
open("f", "wb").write(bytes(4))
flip("f", 2, 3)
same(open("f", "rb").read(), b"\0\0\x08\0", "flipped bit")
PY
}

@test "tools: the resize formula keeps flat pictures and averages two by two" {
    py <<'PY'
same(resize(np.full((8, 8, 1), 77.0), 3, 5).round(9), np.full((5, 3, 1), 77.0))
a = np.arange(16.0).reshape(1, 16, 1) * np.ones((4, 1, 1))
within(resize(a, 16, 4), a, 1e-9, "same size")
true(abs(resize(a, 4, 4)[0, 1, 0] - 5.5) < .01, "the middle of four")
PY
}

@test "tools: the made inputs have the conditions their rows are about" {
    need_cases
    run -0 "$PYTHON" "$TESTS/cases/check-inputs.py" "$CASES"
    [[ $output != *FAIL* ]]
}
