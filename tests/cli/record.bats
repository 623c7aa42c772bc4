#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# What `swt record` stores of which input, how it counts, and where sessions begin.

load ../tools/e2e

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    py <<'PY'
t = np.arange(96000)
mk.wav16("clip.wav", np.stack([12000 * np.sin(2 * np.pi * 440 * t / 48000),
                               9000 * np.sin(2 * np.pi * 1000 * t / 48000)], 1), 48000)
mk.ff(*mk.rawin(), "-i", "clip.wav", *mk.BX, *mk.x264(2, 10), "-c:a", "aac", "clip.mp4",
      inp=mk.clip(range(50), noise=120))
PY
}
setup() {
    cd "$BATS_TEST_TMPDIR" || return
    ln -s "$BATS_FILE_TMPDIR"/clip.* .
}
teardown() { stop_all; }

@test "record: keeps encoded video as packets, encoded sound as tensor and packets" {
    swt record clip.mp4 -o r.swt
    py <<'PY'
s = info("r.swt")
same([(k, r["kind"]) for k, r in s.items()],
     [("video", "packets"), ("audio", "tensor"), ("audio.p", "packets")], "streams")
true(s["video"]["bytes"] < os.path.getsize("clip.mp4"), "packets are not larger than the file")
PY
}

@test "record: the summary has one line a stream, and in = stored + dropped" {
    run -0 --separate-stderr swt record clip.mp4 -o r.swt
    [ -z "$output" ]
    printf '%s\n' "$stderr" >summary
    cat summary
    py <<'PY'
lines = open("summary").read().splitlines()
for name in ("video", "audio", "audio.p"):
    mine = [x for x in lines if re.match(r"(swt record: )?%s\b(?!\.)" % re.escape(name), x)]
    true(len(mine) >= 1, "no line for %s in %s" % (name, lines))
    n = {k: int(v) for v, k in re.findall(r"(\d+)(?: frames| packets)? (in|stored|dropped|damaged)\b", mine[0])}
    true({"in", "stored", "dropped"} <= set(n), "figures in %r" % mine[0])
    same(n["in"], n["stored"] + n["dropped"], "in = stored + dropped of " + name)
    same(n["dropped"], 0, "dropped of " + name)
    if name == "video":
        same(n["in"], 50, "in of video")
PY
}

@test "record: -q says nothing, and nothing but the summary is said when piped" {
    run -0 --separate-stderr swt record clip.mp4 -o q.swt -q
    [ -z "$output$stderr" ]
    run -0 --separate-stderr swt record clip.mp4 -o r.swt
    [[ $stderr != *$'\r'* && $stderr != *$'\e'* ]]
}

@test "record: --store tensor, packets and both keep what they say, with the same pictures" {
    for store in tensor packets both; do
        swt record clip.mp4 -o $store.swt --store $store
    done
    py <<'PY'
def kinds(rec):
    return {k: r["kind"] for k, r in info(rec).items()}
same(kinds("tensor.swt"), {"video": "tensor", "audio": "tensor"}, "tensor")
same(set(kinds("packets.swt").values()), {"packets"}, "packets")
k = kinds("both.swt")
same((k["video"], k["video.t"]), ("packets", "tensor"), "both")
want = ref_planes("clip.mp4", 9216)
for rec, stream in (("tensor.swt", "video"), ("packets.swt", "video"), ("both.swt", "video"),
                    ("both.swt", "video.t")):
    swt("window", rec, "--stream", stream, "--from", "start", "--to", "end", "--pixel", "stored",
        "-o", "w.npy")
    same(npy("w.npy"), want, "%s %s" % (rec, stream))
PY
}

@test "record: --size and --pixel store tensors of that shape and say that the original is not kept" {
    swt record clip.mp4 -o r.swt --size 48x32 --pixel rgb24 2>summary
    cat summary
    grep -q -- '--store both' summary
    swt record clip.mp4 -o p.swt
    swt window r.swt --from start --to end -o w.npy
    swt window p.swt --from start --to end --size 48x32 -o want.npy
    py <<'PY'
r = info("r.swt")["video"]
same((r["kind"], r["pixel"], r["frames"]), ("tensor", "rgb24", 50), "info")
same(npy("w.npy").shape, (50, 32, 48, 3), "shape")
within(npy("w.npy"), npy("want.npy"), 1, "scaled while recording or while reading")
PY
}

@test "record: --fps gives regular pictures of the rate asked for" {
    for fps in 10 50 30000/1001; do
        swt record clip.mp4 -o "r${fps%/*}.swt" --fps $fps
        swt window "r${fps%/*}.swt" --from start --to end -o w.npy
        swt window "r${fps%/*}.swt" --from start --to end --format ndjson >w.ndjson
        py $fps <<'PY'
fps = Fraction(sys.argv[1])
got, t = ids(npy("w.npy")), picture_times(ndjson("w.ndjson"))
true(abs(len(got) - 2 * fps) <= 1, "%d pictures of 2 s at %s/s" % (len(got), fps))
within(t, [float(k / fps) for k in range(len(t))], 2e-9, "times")
for k, (n, s) in enumerate(zip(got, t)):
    true(abs(n - s * 25) <= 1, "picture %d at %.3f s has id %d" % (k, s, n))
PY
    done
}

@test "record: --rate, --channels and --dtype convert the sound" {
    swt record clip.wav -o r.swt --rate 16000 --channels 1 --dtype s16
    swt window r.swt --from start --to end --dtype s16 -o w.npy
    py <<'PY'
r = info("r.swt")["audio"]
same((r["dtype"], Fraction(r["rate"])), ("s16", 16000), "info")
a = npy("w.npy")
true(a.shape[1] == 1 and abs(len(a) - 32000) <= 32, "shape %s" % (a.shape,))
f = np.abs(np.fft.rfft(a[8000:24000, 0].astype(float)))
same(sorted(int(k) for k in np.argsort(f)[-2:]), [440, 1000], "the two tones of the channels")
PY
}

@test "record: --frames stops after so many pictures, --duration after so much time" {
    swt record clip.mp4 -o frames.swt --frames 10
    swt record clip.mp4 -o duration.swt --duration 1s
    swt record clip.mp4 -o tensor.swt --frames 10 --store tensor
    swt record clip.wav -o sound.swt --duration 250ms
    for r in frames duration tensor; do
        swt window $r.swt --from start --to end -o $r.npy
    done
    py <<'PY'
same(ids(npy("frames.npy")), list(range(10)), "--frames 10")
same(ids(npy("tensor.npy")), list(range(10)), "--frames 10 --store tensor")
same(ids(npy("duration.npy")), list(range(25)), "--duration 1s")
n = info("duration.swt")["audio"]["frames"]
true(abs(n - 48000) <= 1024, "%d samples in 1 s" % n)
same(info("sound.swt")["audio"]["frames"], 12000, "--duration 250ms of sound")
PY
}

@test "record: --segment-bytes and --segment-duration end segments; packets begin them with a key" {
    swt record clip.mp4 -o b.swt --segment-bytes 60KiB
    swt record clip.mp4 -o d.swt --segment-duration 400ms
    swt record clip.mp4 -o t.swt --store tensor --segment-duration 400ms
    swt record clip.wav -o a.swt --segment-duration 100ms
    py <<'PY'
true(info("b.swt")["video"]["segments"] >= 2, "segments by bytes")
same([info(r)[s]["segments"] for r, s in (("d.swt", "video"), ("t.swt", "video"))], [5, 5], "by time")
true(18 <= info("a.swt")["audio"]["segments"] <= 21, "segments of sound by time")
for rec in ("b.swt", "d.swt"):
    seen = set()
    rows = ndjson_text(swt("window", rec, "--from", "start", "--to", "end", "--format", "ndjson").decode())
    for r in sorted(rows, key=lambda r: (str(r["segment"]), r["offset"])):
        if r["segment"] not in seen:
            true(r["key"], "%s: segment %s begins with a key" % (rec, r["segment"]))
            seen.add(r["segment"])
    true(len(seen) >= 2, "segments in ndjson")
for rec in ("b.swt", "d.swt", "t.swt"):
    swt("window", rec, "--from", "start", "--to", "end", "--pixel", "stored", "-o", "w.npy")
    same(npy("w.npy"), ref_planes("clip.mp4", 9216), rec)
    swt("verify", rec)
PY
}

@test "record: appends; the new session begins one frame after the latest end" {
    for store in packets tensor; do
        for _ in 1 2 3; do
            swt record clip.mp4 -o $store.swt --store $store
        done
        swt window $store.swt --from start --to end -o w.npy
        swt window $store.swt --from start --to end --format ndjson >w.ndjson
        py $store <<'PY'
same(ids(npy("w.npy")), list(range(50)) * 3, "ids")
t = picture_times(ndjson("w.ndjson"))
step = [b - a for a, b in zip(t, t[1:])]
true(all(.039 < s < .041 for k, s in enumerate(step) if k not in (49, 99)), "steps within a session")
true(all(.039 < step[k] < .12 for k in (49, 99)), "steps between sessions: %s" % [step[49], step[99]])
same(info(sys.argv[1] + ".swt")["video"]["frames"], 150, "frames")
PY
        swt verify $store.swt
    done
}

@test "record: two inputs with sound keep picture and sound of one file together in time" {
    swt record clip.mp4 -o r.swt
    swt record clip.mp4 -o r.swt
    py <<'PY'
s = info("r.swt")
rows = ndjson_text(swt("window", "r.swt", "--frames", "50", "--format", "ndjson").decode())
second = int([r for r in rows if r["frame"] == 50][0]["pts_ns"])
# The second sound session begins with the second picture session.
n = s["audio"]["frames"] // 2
rows = ndjson_text(swt("window", "r.swt", "--stream", "audio", "--frames", n, "--format", "ndjson").decode())
same(rows[0]["frame"] <= n < rows[0]["frame"] + rows[0]["frames"], True, "entry of the sample")
true(abs(int(rows[0]["pts_ns"]) - second) < 25000000, "sound at %s, picture at %d" % (rows[0]["pts_ns"], second))
PY
}

@test "record: lavfi: is a source, stored as tensors, picture for picture what ffmpeg makes" {
    graph='testsrc2=s=96x64:r=25:d=2'
    swt record "lavfi:$graph" -o r.swt
    swt window r.swt --from start --to end --pixel stored -o w.npy
    py "$graph" <<'PY'
d = ffmpeg("-f", "lavfi", "-i", sys.argv[1], "-pix_fmt", info("r.swt")["video"]["pixel"],
           "-f", "rawvideo", "-")
same(info("r.swt")["video"]["kind"], "tensor", "kind")
same(npy("w.npy").tobytes(), d, "pictures")
PY
}

@test "record: lavfi: with picture and sound makes both streams" {
    swt record 'lavfi:testsrc2=s=64x48:r=20:d=1[out0];sine=f=440:r=8000:d=1[out1]' -o r.swt
    py <<'PY'
s = info("r.swt")
same((s["video"]["frames"], s["audio"]["frames"]), (20, 8000), "frames")
PY
}

@test "record: sound files of many kinds keep every sample" {
    py <<'PY'
rng = np.random.default_rng(3)
x = rng.integers(-32768, 32768, (5000, 2)).astype("<i2")
mk.wav16("in.wav", x, 44100)
for name, opt in (("a.flac", []), ("a.aiff", []), ("a.w64", []), ("a.au", []), ("a.caf", ["-c:a", "pcm_s16be"]),
                  ("a.wv", []), ("a.mka", ["-c:a", "pcm_s16le"])):
    mk.ff("-i", "in.wav", *opt, name)
    swt("record", name, "-o", name + ".swt")
    stream = "audio"
    swt("window", name + ".swt", "--from", "start", "--to", "end", "--dtype", "s16", "-o", "w.npy")
    same(npy("w.npy"), x, name)
mk.ff("-i", "in.wav", "-c:a", "libvorbis", "a.ogg")
swt("record", "a.ogg", "-o", "ogg.swt")
swt("window", "ogg.swt", "--from", "start", "--to", "end", "-o", "w.npy")
want = len(ffmpeg("-i", "a.ogg", "-f", "s16le", "-")) // 4 # libvorbis' last block is given whole by some versions
same(len(npy("w.npy")), want, "samples of ogg")
PY
}

@test "record: --tensor takes rows of any type and shape, with or without a rate" {
    py <<'PY'
rng = np.random.default_rng(4)
for word, kind, shape in (("f32:7", "<f4", (7,)), ("u8", "u1", ()), ("s16:2x3", "<i2", (2, 3)),
                          ("f64:1", "<f8", (1,)), ("u16:5", "<u2", (5,)), ("s64:3", "<i8", (3,))):
    n = np.dtype(kind).itemsize
    raw = rng.integers(0, 256, 400 * n * int(np.prod(shape)), np.uint8)
    if "f" in kind:
        raw = rng.random(400 * int(np.prod(shape))).astype(kind).view(np.uint8)
    want = raw.view(kind).reshape(400, *shape)
    for fps in ([], ["--fps", "100"]):
        rec = "%s%d.swt" % (word.replace(":", "-"), len(fps))
        swt("record", "-", "--tensor", word, *fps, "-o", rec, stdin=raw.tobytes())
        swt("window", rec, "--from", "start", "--to", "end", "-o", "w.npy")
        got = npy("w.npy")
        same((got.dtype.str.lstrip("|<"), len(got)), (np.dtype(kind).str.lstrip("|<"), 400), rec)
        same(got.reshape(want.shape), want, rec)
        true(shape == () or got.shape == want.shape, "%s: shape %s" % (rec, got.shape))
    s = info(word.replace(":", "-") + "2.swt")["tensor"]
    same((s["last_ns"], s["dtype"]), ("3990000000", word.split(":")[0]), "times at 100 rows a second")
PY
}

@test "record: a last row that is cut short is counted, exit 3" {
    "$PYTHON" "$TESTS/tools/rows.py" --rows 10 | head -c 270 >rows
    run -3 --separate-stderr swt record - --tensor f32:7 -o r.swt <rows
    [ "$(info_of r.swt tensor frames)" = 9 ]
    swt verify r.swt
}

@test "record: --sync 0 makes every picture durable" {
    "$PYTHON" "$TESTS/cases/live.py" --frames 30 --rate 20 | swt record - -o r.swt --sync 0
    swt window r.swt --from start --to end --pixel stored -o w.npy
    py <<<'same(live_run("w.npy"), list(range(30)), "ids")'
    swt verify r.swt
}

@test "record: --video none and --audio none leave a stream out" {
    swt record clip.mp4 -o a.swt --video none
    swt record clip.mp4 -o v.swt --audio none
    py <<'PY'
same(sorted(info("a.swt")), ["audio", "audio.p"], "--video none")
same(list(info("v.swt")), ["video"], "--audio none")
PY
}
