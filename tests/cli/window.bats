#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Which frames a window holds, in which shape and format. One clip of 100 numbered pictures (25/s, B
# pictures, a key picture every 12) with sound is recorded as packets (p.swt) and as tensors (t.swt).

# shellcheck disable=SC2016,SC2154 # inner scripts; variables that bats sets
load ../tools/e2e

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    py <<'PY'
mk.wav16("clip.wav", np.stack([np.arange(192000) % 30011, np.arange(192000) % 20011 - 9000], 1), 48000)
mk.ff(*mk.rawin(), "-i", "clip.wav", *mk.BX, *mk.x264(2, 12), "-c:a", "pcm_s16le", "clip.mkv",
      inp=mk.clip(range(100)))
PY
    swt record clip.mkv -o p.swt
    swt record clip.mkv -o t.swt --store tensor
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    ln -s "$BATS_FILE_TMPDIR/p.swt" "$BATS_FILE_TMPDIR/t.swt" "$BATS_FILE_TMPDIR/clip.mkv" .
}

# window ARGS gives the pictures EXPECTED (a Python expression), from packets and from tensors.
gives() { # EXPECTED ARGS...
    py "$@" <<'PY'
for rec in ("p.swt", "t.swt"):
    swt("window", rec, *sys.argv[2:], "-o", "w.npy")
    same(ids(npy("w.npy")), list(eval(sys.argv[1])), "%s %s" % (rec, " ".join(sys.argv[2:])))
PY
}

none() { # ARGS...: exit 4, one line, nothing written
    for rec in p.swt t.swt; do
        run -4 --separate-stderr swt window "$rec" "$@" -o none.npy
        one_line
        [ ! -e none.npy ]
    done
}

@test "window: --last counts frames and takes a time" {
    gives "range(36, 100)" --last 64
    gives "[99]" --last 1
    gives "range(100)" --last 100
    gives "range(50, 100)" --last 2s
    gives "range(75, 100)" --last 1000ms
}

@test "window: --from and --to are frames, times, start, end, or counted back from the end" {
    gives "range(10, 20)" --from 10 --to 20
    gives "range(25, 50)" --from 1s --to 2s
    gives "range(26, 51)" --from 1.001s --to 2.001s
    gives "range(0, 3)" --from start --to 3
    gives "range(90, 100)" --from -10 --to end
    gives "range(50, 75)" --from -2s --to -1s
    gives "range(25, 50)" --from 00:00:01 --to 00:00:02
    gives "range(13, 14)" --from 13 --to 14
}

@test "window: --for is a length from --from on" {
    gives "range(25, 35)" --from 1s --for 10
    gives "range(25, 50)" --from 25 --for 1s
}

@test "window: --at is the frame on display" {
    gives "[0]" --at 0s
    gives "[24]" --at 0.999s
    gives "[25]" --at 1s
    gives "[25]" --at 1.039s
    gives "[99]" --at -1
    none --at 4.1s
}

@test "window: --frames gives exactly these, in this order, also twice" {
    gives "[0, 7, 21]" --frames 0,7,21
    gives "[99, 3, 3, 50, 0]" --frames 99,3,3,50,0
    none --frames 5,100
}

@test "window: --stride counts frames given; with --last it ends with the newest" {
    gives "range(1, 100, 2)" --last 50 --stride 2
    gives "[69, 79, 89, 99]" --last 4 --stride 10
    gives "range(10, 40, 3)" --from 10 --to 40 --stride 3
    gives "range(10, 30, 2)" --from 10 --for 10 --stride 2
    none --last 51 --stride 2
}

@test "window: too few frames are exit 4; --edge trims, repeats or fills with zeros" {
    none --last 101
    none --from 90 --to 110
    none --from 100 --to 110
    gives "range(100)" --last 101 --edge trim
    gives "range(90, 100)" --from 90 --to 110 --edge trim
    gives "[0, 0, 0, *range(100)]" --last 103 --edge repeat
    gives "[*range(98, 100), 99, 99]" --from 98 --to 102 --edge repeat
    py <<'PY'
for rec in ("p.swt", "t.swt"):
    swt("window", rec, "--last", 103, "--edge", "zero", "-o", "w.npy")
    a = npy("w.npy")
    same(a[:3], np.zeros((3, 64, 96, 3), np.uint8), "zeros in front")
    same(ids(a[3:]), list(range(100)), "pictures behind them")
PY
}

@test "window: the same command gives the same bytes from packets and from tensors" {
    py <<'PY'
rng = random.Random(11)
for _ in range(12):
    a, b = sorted(rng.sample(range(101), 2))
    t, u = rng.randrange(3900), rng.randrange(1, 4000)
    for sel in (["--from", a, "--to", b, "--stride", rng.randrange(1, 5)],
                ["--from", "%dms" % t, "--to", "%dms" % min(t + u, 4000), "--edge", "trim"],
                ["--frames", ",".join(str(rng.randrange(100)) for _ in range(5))],
                ["--at", "%dms" % t]):
        shape = rng.choice([[], ["--pixel", "stored"], ["--size", "31x17"], ["--pixel", "bgr24"]])
        p, q = (swt("window", rec, *sel, *shape) for rec in ("p.swt", "t.swt"))
        true(len(p) > 0 and p == q, "window %s %s: %d and %d bytes" % (sel, shape, len(p), len(q)))
PY
}

@test "window: a time range of sound has exactly round(rate * duration) samples" {
    py <<'PY'
want = np.stack([np.arange(192000) % 30011, np.arange(192000) % 20011 - 9000], 1)
for a, b in ((0, 192000), (24000, 48000), (1, 2), (47999, 96001)):
    swt("window", "p.swt", "--stream", "audio", "--from", "%dns" % round(a * 1e9 / 48000),
        "--to", "%dns" % round(b * 1e9 / 48000), "--dtype", "s16", "-o", "w.npy")
    same(npy("w.npy"), want[a:b], "samples %d to %d" % (a, b))
swt("window", "p.swt", "--stream", "audio", "--last", "2s", "-o", "w.wav")
rate, x = wav("w.wav")
same(rate, 48000, "rate")
same(x, (want[96000:] / 32768).astype("<f4"), "the last 2 s")
swt("window", "p.swt", "--stream", "audio", "--last", 5, "--dtype", "s16", "-o", "w.wav")
same(wav("w.wav")[1], want[-5:], "the last 5 samples")
PY
}

@test "window: --size stretches as an antialiased bilinear filter does" {
    py <<'PY'
for rec in ("p.swt", "t.swt"):
    swt("window", rec, "--frames", "3,50,97", "-o", "full.npy")
    for w, h in ((224, 224), (48, 32), (33, 21), (96, 17), (7, 64), (192, 128)):
        swt("window", rec, "--frames", "3,50,97", "--size", "%dx%d" % (w, h), "-o", "w.npy")
        a = npy("w.npy")
        same(a.shape, (3, h, w, 3), "shape")
        for got, full in zip(a, npy("full.npy")):
            within(got, np.rint(resize(full, w, h)), 1, "%s at %dx%d" % (rec, w, h))
PY
}

@test "window: --pixel and --layout turn channels and axes, nothing else" {
    py <<'PY'
for rec in ("p.swt", "t.swt"):
    def window(*args):
        swt("window", rec, "--last", 5, *args, "-o", "w.npy")
        return npy("w.npy")
    rgb = window()
    within(rgb, ref_rgb("clip.mkv", 96, 64, range(95, 100)), 2, "rgb against ffmpeg")
    same(window("--pixel", "rgb24"), rgb, "rgb24 is the default")
    same(window("--pixel", "bgr24"), rgb[..., ::-1], "bgr24")
    same(window("--layout", "THWC"), rgb, "THWC is the default")
    same(window("--layout", "TCHW"), rgb.transpose(0, 3, 1, 2), "TCHW")
    same(window("--layout", "CTHW"), rgb.transpose(3, 0, 1, 2), "CTHW")
    same(window("--pixel", "stored"), ref_planes("clip.mkv", 9216)[95:], "stored planes")
    same(window("--pixel", "yuv420p"), ref_planes("clip.mkv", 9216)[95:], "planes by name")
    rgba = window("--pixel", "rgba")
    same(rgba[..., :3], rgb, "colours of rgba")
    same(rgba[..., 3], np.full((5, 64, 96), 255, np.uint8), "alpha of a picture without alpha")
PY
}

@test "window: --dtype gives sound as the type asked for" {
    py <<'PY'
def window(*args):
    swt("window", "p.swt", "--stream", "audio", "--last", 4800, *args, "-o", "w.npy")
    return npy("w.npy")
f32, s16 = window(), window("--dtype", "s16")
same((f32.dtype.str, s16.dtype.str), ("<f4", "<i2"), "types")
same(f32, (s16 / 32768).astype("<f4"), "f32 is s16 / 32768")
same(window("--dtype", "f16"), f32.astype("<f2"), "f16")
PY
}

@test "window: npy has the documented header and raw is its payload" {
    py <<'PY'
for rec in ("p.swt", "t.swt"):
    swt("window", rec, "--last", 7, "-o", "w.npy")
    same(npy_header("w.npy"), {"descr": "|u1", "fortran_order": False, "shape": (7, 64, 96, 3)}, "header")
    same(swt("window", rec, "--last", 7), npy("w.npy").tobytes(), "raw on standard output")
    same(swt("window", rec, "--last", 7, "--format", "npy", "-o", "-"), open("w.npy", "rb").read(),
         "npy on standard output")
    swt("window", rec, "--last", 7, "-o", "w.raw")
    same(open("w.raw", "rb").read(), npy("w.npy").tobytes(), "the suffix .raw")
PY
}

@test "window: y4m is read by ffmpeg as the stored planes" {
    py <<'PY'
want = ref_planes("clip.mkv", 9216)
for rec in ("p.swt", "t.swt"):
    swt("window", rec, "--from", 20, "--to", 50, "-o", "w.y4m")
    same(ref_planes("w.y4m", 9216), want[20:50], "planes")
    true(b" F25:1 " in open("w.y4m", "rb").readline(), "rate in the header")
PY
}

@test "window: ndjson has one object a line, times as quoted integers" {
    py <<'PY'
keys = {"frame", "frames", "pts_ns", "wall_ns", "src_pts", "key", "gap", "dropped_before", "damaged",
        "bytes", "segment", "offset", "crc32c"}
for rec in ("p.swt", "t.swt"):
    rows = ndjson_text(swt("window", rec, "--from", 10, "--to", 40, "--format", "ndjson").decode())
    rows = [r for r in rows if r["frames"]]
    same(sorted(r["frame"] for r in rows), list(range(10, 40)), "frames")
    for r in rows:
        true(keys <= set(r), "keys missing: %s" % (keys - set(r)))
        same(r["pts_ns"], str(r["frame"] * 40000000), "pts_ns of frame %d" % r["frame"])
        true(all(isinstance(r[k], str) for k in ("pts_ns", "wall_ns")), "times are strings")
        true(all(type(r[k]) is int for k in ("frame", "frames", "bytes")), "counts are numbers")
    if rec == "p.swt":
        key = [r["frame"] for r in rows if r["key"]]
        same(key, [12, 24, 36], "key pictures")
PY
}

@test "window: --times writes the frame list beside any format" {
    py <<'PY'
for rec in ("p.swt", "t.swt"):
    swt("window", rec, "--last", 10, "--stride", 3, "-o", "w.npy", "--times", "t.ndjson")
    rows = ndjson("t.ndjson")
    same([r["frame"] for r in rows], list(range(72, 100, 3)), "frames")
    same([r["pts_ns"] for r in rows], [str(k * 40000000) for k in range(72, 100, 3)], "times")
PY
}

@test "window: the default stream is the first video, else the first sound" {
    swt record "$BATS_FILE_TMPDIR/clip.wav" -o sound.swt
    swt window p.swt --last 1 -o v.npy
    swt window sound.swt --last 1 -o a.npy
    py <<'PY'
same((npy("v.npy").ndim, npy("a.npy").shape), (4, (1, 2)), "shapes")
PY
    run -1 --separate-stderr swt window p.swt --stream nothing --last 1 -o w.npy
    one_line
    [[ $stderr == *nothing* ]]
}

@test "window: two streams do not fit into one raw, npy or wav: exit 2" {
    for f in raw npy wav y4m; do
        run -2 --separate-stderr swt window p.swt --stream video,audio --last 4 -o "w.$f"
        [ ! -e "w.$f" ]
    done
}

@test "window: across a format change is an error that names both, unless the shape makes them equal" {
    py <<'PY'
mk.ff(*mk.rawin(128, 96), *mk.BX, *mk.x264(2, 12), "big.mkv", inp=mk.clip(range(200, 220), 128, 96))
mk.ff(*mk.rawin(), *mk.BX, *mk.x264(2, 12), "small.mkv", inp=mk.clip(range(20)))
PY
    for store in packets tensor; do
        swt record small.mkv -o "$store.swt" --store $store
        swt record big.mkv -o "$store.swt" --store $store
        run -1 --separate-stderr swt window "$store.swt" --from 15 --to 25 -o w.npy
        one_line
        [[ $stderr == *96x64* && $stderr == *128x96* ]]
        [ ! -e w.npy ]
        swt window "$store.swt" --from 10 --to 20 -o a.npy
        swt window "$store.swt" --from 20 --to 40 -o b.npy
        swt window "$store.swt" --from 15 --to 25 --size 96x64 -o c.npy
        py <<'PY'
same(ids(npy("a.npy")), list(range(10, 20)), "before the change")
same((ids(npy("b.npy")), npy("b.npy").shape), (list(range(200, 220)), (20, 96, 128, 3)), "after it")
c = npy("c.npy")
same(c.shape, (10, 64, 96, 3), "across it, made equal")
same(ids(c[:5]), list(range(15, 20)), "unscaled part")
PY
    done
}

# Libraries a command loads, by the dynamic linker's own account.
loads_ffmpeg() {
    LD_DEBUG=files LD_DEBUG_OUTPUT=ld "$SWT" "$@" >out || return 2
    cat ld.* >all.ld && rm -f ld.*
    grep -q 'file=libc\.so' all.ld || return 3
    grep -qE 'libav(codec|format|util|device)|libsw(scale|resample)|libsndfile|swt-(codec|demux)' all.ld
}
@test "window: a tensor window, info and verify load no media library" {
    swt window t.swt --last 3 -o w.npy
    run -1 loads_ffmpeg window t.swt --last 3 -o w.npy
    run -1 loads_ffmpeg window t.swt --last 3 --size 40x30 --format npy -o w.npy
    run -1 loads_ffmpeg window t.swt --stream audio --last 1s -o w.wav
    run -1 loads_ffmpeg info t.swt
    run -1 loads_ffmpeg info p.swt --format ndjson
    run -1 loads_ffmpeg verify t.swt
    run -1 loads_ffmpeg verify p.swt
    run -0 loads_ffmpeg window p.swt --last 3 -o w.npy
}
