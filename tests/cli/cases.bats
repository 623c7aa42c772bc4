#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The rows of tests/cases/cases.tsv that a file or a pipe shows: each with the right values written
# there. Rows about pictures run for the default store (packets) and for --store tensor alike.

# shellcheck disable=SC2002,SC2016,SC2154 # pipes on purpose; inner scripts; variables that bats sets
load ../tools/e2e

setup_file() { need_cases; }
setup() { cd "$BATS_TEST_TMPDIR" || return; }
teardown() { stop_all; }

# ------------------------------------------------------------------ 04
edit_list() {
    record_as "$1" "$CASES/trim.mp4"
    window_all -o all.npy
    window_all --format ndjson >all.ndjson
    swt window r.swt --at 0s -o at.npy
    py <<'PY'
same(ids(npy("all.npy")), list(range(37, 60)), "ids")
same(ids(npy("at.npy")), [37], "id at 0 s")
t = picture_times(ndjson("all.ndjson"))
within(t, [k / 25 for k in range(23)], 1e-9, "times")
v = info("r.swt")["video"]
same((v["frames"], v["first_ns"], v["last_ns"]), (23, "0", "880000000"), "info")
PY
    run -4 --separate-stderr swt window r.swt --frames 29 -o past.npy
    [ ! -e past.npy ]
}
@test "window: 04-edit-list gives the 23 pictures that are shown (default)" { edit_list default; }
@test "window: 04-edit-list gives the 23 pictures that are shown (tensor)" { edit_list tensor; }

# ------------------------------------------------------------------ 05
rotated() {
    record_as "$1" "$CASES/$2"
    window_all -o rgb.npy
    window_all --pixel stored --format raw -o planes.raw
    ffmpeg -nostdin -v error -i "$CASES/$2" -f rawvideo planes.want
    cmp planes.raw planes.want
    py "${@:3}" <<'PY'
w, h = int(sys.argv[1]), int(sys.argv[2])
name = dict(r=(255, 0, 0), g=(0, 255, 0), b=(0, 0, 255), w=(255, 255, 255))
a = npy("rgb.npy")
same(a.shape, (5, h, w, 3), "upright shape")
for p in a:
    got = [p[8, 8], p[8, w - 9], p[h - 9, 8], p[h - 9, w - 9]]
    within(got, [name[c] for c in sys.argv[3]], 3, "corners TL, TR, BL, BR")
PY
}
@test "window: 05a-rotate gives upright pictures (default)" { rotated default rot90.mp4 64 96 brwg; }
@test "window: 05a-rotate gives upright pictures (tensor)" { rotated tensor rot90.mp4 64 96 brwg; }
@test "window: 05b-rotate gives upright pictures (default)" { rotated default rot180.mp4 96 64 wbgr; }
@test "window: 05b-rotate gives upright pictures (tensor)" { rotated tensor rot180.mp4 96 64 wbgr; }

# ------------------------------------------------------------------ 06
odd_size() {
    record_as "$1" "$CASES/odd.mkv"
    window_all --pixel stored -o planes.npy
    window_all -o rgb.npy
    window_all --format raw -o rgb.raw
    py <<'PY'
w, h = 101, 77
a = npy("planes.npy")
same(a.shape, (12, 11755), "stored shape")
x, y = np.meshgrid(np.arange(w), np.arange(h))
for n, p in enumerate(a):
    want = mk.bars((16 + (x + 2 * y + 3 * n) % 200).astype(np.uint8), n)
    same(p[:w * h].reshape(h, w), want, "luma of picture %d" % n)
    same(p[w * h:], np.repeat(np.uint8([90, 170]), 51 * 39), "chroma of picture %d" % n)
rgb = npy("rgb.npy")
same(rgb.shape, (12, h, w, 3), "rgb shape")
within(rgb[0, 76, 100], (128, 41, 0), 2, "RGB(100,76)")
for n, p in enumerate(rgb):
    want = [[mk.yuv2rgb((v, 90, 170), .299, .114, 8, 0) for v in row]
            for row in a[n, :w * h].reshape(h, w)]
    within(p, np.array(want), 2, "rgb of picture %d" % n)
same(os.path.getsize("rgb.raw"), 12 * 23331, "bytes of the raw window")
same(open("rgb.raw", "rb").read(), rgb.tobytes(), "raw against npy")
PY
}
@test "window: 06a-odd rounds chroma up and pads no row (default)" { odd_size default; }
@test "window: 06a-odd rounds chroma up and pads no row (tensor)" { odd_size tensor; }

aspect() {
    record_as "$1" "$CASES/sar.mp4"
    window_all -o rgb.npy
    window_all -o all.y4m
    py <<'PY'
a = npy("rgb.npy")
same(a.shape, (10, 72, 88, 3), "unscaled shape")
same(ids(a), list(range(10)), "ids")
same(info("r.swt")["video"]["sar"], "16:15", "sar in info")
head = open("all.y4m", "rb").readline().split()
true({b"W88", b"H72", b"A16:15"} <= set(head), "y4m header %r" % head)
PY
}
@test "window: 06b-sar leaves the picture unscaled and passes the ratio on (default)" { aspect default; }
@test "window: 06b-sar leaves the picture unscaled and passes the ratio on (tensor)" { aspect tensor; }

# ------------------------------------------------------------------ 07
colour() {
    record_as "$1" "$CASES/$2"
    window_all -o rgb.npy
    window_all --pixel stored --format raw -o planes.raw
    ffmpeg -nostdin -v error -i "$CASES/$2" -f rawvideo planes.want
    cmp planes.raw planes.want
    py "$2" <<'PY'
a = npy("rgb.npy")
same(a.shape, (10, 64, 96, 3), "shape")
for p in a:
    for x, _, rgb in colour_rows(sys.argv[1]):
        within(p[32, x], rgb, 2, "patch at x=%d" % x)
PY
}
@test "window: 07a-709 gives the colours of BT.709 limited range (default)" { colour default c709.mp4; }
@test "window: 07a-709 gives the colours of BT.709 limited range (tensor)" { colour tensor c709.mp4; }
@test "window: 07b-601full gives the colours of BT.601 full range (default)" { colour default c601full.mp4; }
@test "window: 07b-601full gives the colours of BT.601 full range (tensor)" { colour tensor c601full.mp4; }

hdr() {
    record_as "$1" "$CASES/hdr10.mp4"
    window_all --pixel stored --format raw -o planes.raw
    window_all -o deep.npy
    window_all --pixel rgb24 -o rgb.npy
    py <<'PY'
planes = np.fromfile("planes.raw", "<u2").reshape(6, -1)
same(planes.tobytes(), ffmpeg("-i", CASES + "/hdr10.mp4", "-f", "rawvideo", "-"), "planes")
luma = planes[:, :96 * 64].reshape(6, 64, 96)
deep, rgb = npy("deep.npy"), npy("rgb.npy")
same((deep.dtype.str, deep.shape), ("<u2", (6, 64, 96, 3)), "deep colour by default")
same((rgb.dtype.str, rgb.shape), ("|u1", (6, 64, 96, 3)), "8-bit colour when asked")
same(int(luma[0, 32, 24]), 560, "Y of patch 1")
for n in range(6):
    for x, yuv, want in colour_rows("hdr10.mp4"):
        same(int(luma[n, 32, x]), yuv[0], "Y at x=%d" % x)
        within(rgb[n, 32, x], want, 2, "8-bit patch at x=%d" % x)
        want16 = mk.yuv2rgb(yuv, .2627, .0593, 10, 0, 16)
        within(deep[n, 32, x], want16, 65535 * .005, "16-bit patch at x=%d" % x)
same(info("r.swt")["video"]["transfer"], "smpte2084", "transfer in info")
PY
}
@test "window: 07c-hdr10 keeps ten bits and maps no tone (default)" { hdr default; }
@test "window: 07c-hdr10 keeps ten bits and maps no tone (tensor)" { hdr tensor; }

# ------------------------------------------------------------------ 13
@test "record: 13a-pipe-tail says that this input needs seeking and leaves nothing that looks good" {
    begin=$SECONDS
    run -1 --separate-stderr bash -c 'cat "$1" | "$SWT" record - -o r.swt' - "$CASES/tail.mp4"
    [ $((SECONDS - begin)) -lt 10 ]
    one_line
    [[ $stderr == *seek* || $stderr == *file* ]]
    if [ -e r.swt ]; then
        run -4 --separate-stderr swt window r.swt --last 1 -o w.npy
    fi
    [ ! -e w.npy ]
}

twenty() {
    window_all -o all.npy
    py <<'PY'
a = npy("all.npy")
same((a.shape, ids(a)), ((20, 192, 256, 3), list(range(20))), "pictures")
true(info("r.swt")["audio"]["frames"] >= 48000, "1 s of sound")
PY
}
tail_by_path() {
    record_as "$1" "$CASES/tail.mp4"
    twenty
}
@test "record: 13b-file-tail reads a file with its index at the end (default)" { tail_by_path default; }
@test "record: 13b-file-tail reads a file with its index at the end (tensor)" { tail_by_path tensor; }

front_by_pipe() {
    cat "$CASES/front.mp4" | record_as "$1" -
    twenty
}
@test "record: 13c-pipe-front reads a pipe with the index in front (default)" { front_by_pipe default; }
@test "record: 13c-pipe-front reads a pipe with the index in front (tensor)" { front_by_pipe tensor; }

fragments_by_pipe() {
    feed bash -c 'cat "$1"; exec tail -f /dev/null' - "$CASES/frag.mp4" # the pipe stays open
    local store=()
    [ "$1" = default ] || store=(--store "$1")
    start_recorder -o r.swt "${store[@]}"
    wait_for 15 has_frames r.swt video 10
    swt window r.swt --frames 0,1,2,3,4,5,6,7,8,9 -o early.npy
    kill -9 "$SOURCE"
    wait "$RECORDER"
    twenty
    py <<'PY'
same(npy("early.npy"), npy("all.npy")[:10], "pictures read before the input ended")
PY
}
@test "record: 13d-pipe-frag is readable before the input ends (default)" { fragments_by_pipe default; }
@test "record: 13d-pipe-frag is readable before the input ends (tensor)" { fragments_by_pipe tensor; }

ramp() { # r.swt holds 10000 stereo frames counting from -32768
    window_all --stream audio -o f32.npy
    window_all --stream audio --dtype s16 -o s16.npy
    py <<'PY'
want = (np.arange(20000) % 65536 - 32768).reshape(10000, 2)
same(npy("s16.npy"), want.astype("<i2"), "s16")
same(npy("f32.npy"), (want / 32768).astype("<f4"), "f32")
a = info("r.swt")["audio"]
same((a["frames"], a["channels"]), (10000, 2), "frames and channels in info")
PY
}
@test "record: 13e-pipe-wav reads a WAV of unknown size from a pipe" {
    cat "$CASES/unk.wav" | record_as default -
    ramp
}

# ------------------------------------------------------------------ 14
dropped() {
    record_as "$1" "$CASES/drop.avi"
    window_all -o all.npy
    window_all --format ndjson >all.ndjson
    swt window r.swt --at 0.36s -o at.npy
    swt window r.swt --last 27 -o last.npy
    run -4 --separate-stderr swt window r.swt --last 28 -o more.npy
    one_line
    [ ! -e more.npy ]
    swt window r.swt --last 28 --edge trim -o trim.npy
    py <<'PY'
want = [i for i in range(30) if i not in (8, 9, 20)]
same(ids(npy("all.npy")), want, "ids")
t = [float(row.split("\t")[2]) for row in open(CASES + "/drop.avi.frames.tsv").readlines()[1:]]
within(picture_times(ndjson("all.ndjson")), t, 1e-9, "times")
same(ids(npy("at.npy")), [7], "id at 0.36 s")
same(npy("last.npy"), npy("all.npy"), "--last 27")
same(npy("trim.npy"), npy("all.npy"), "--last 28 --edge trim")
same(info("r.swt")["video"]["frames"], 27, "frames in info")
PY
}
@test "window: 14a-dropped counts the pictures that are there (default)" { dropped default; }
@test "window: 14a-dropped counts the pictures that are there (tensor)" { dropped tensor; }

tiny() {
    record_as "$1" "$CASES/tiny$2.mp4"
    window_all -o all.npy
    swt window r.swt --last "$2" -o last.npy
    py "$2" <<'PY'
n = int(sys.argv[1])
same(ids(npy("all.npy")), list(range(700, 700 + n)), "ids")
same(npy("last.npy"), npy("all.npy"), "--last")
same(info("r.swt")["video"]["frames"], n, "frames in info")
PY
}
@test "record: 14b-one keeps the only picture (default)" { tiny default 1; }
@test "record: 14b-one keeps the only picture (tensor)" { tiny tensor 1; }
@test "record: 14c-three keeps all three pictures (default)" { tiny default 3; }
@test "record: 14c-three keeps all three pictures (tensor)" { tiny tensor 3; }

# ------------------------------------------------------------------ 15
priming() {
    record_as "$1" "$CASES/prime.m4a"
    window_all --stream "$2" -o all.npy
    swt window r.swt --stream "$2" --from 0s --to 1s -o second.npy
    py "$2" <<'PY'
a, s = npy("all.npy")[:, 0], npy("second.npy")[:, 0]
same((int(a.argmax()), int(a.argmin())), (1000, 30000), "impulses")
true(44100 <= len(a) <= 45056, "%d samples" % len(a))
same((len(s), int(s.argmax())), (44100, 1000), "first second: samples, impulse")
same(a, ref_sound(CASES + "/prime.m4a")[:, 0], "samples")
first = int(info("r.swt")[sys.argv[1]]["first_ns"])
same(first, -round(1024e9 / 44100) if sys.argv[1] == "audio.p" else 0, "first_ns") # packets: the delay's own
PY
}
@test "window: 15-priming leaves out the encoder's delay (default, tensor audio)" { priming default audio; }
@test "window: 15-priming leaves out the encoder's delay (default, packets audio.p)" { priming default audio.p; }
@test "window: 15-priming leaves out the encoder's delay (tensor)" { priming tensor audio; }

# ------------------------------------------------------------------ 17, 18, 19
@test "window: 17a-24bit gives every 24-bit value as value / 8388608" {
    record_as default "$CASES/s24.wav"
    window_all -o all.npy
    window_all -o all.wav
    py <<'PY'
want = np.stack([mk.S24L, mk.S24R], 1)
same(npy("all.npy"), (want / 8388608).astype("<f4"), "f32")
rate, x = wav("all.wav")
same((rate, x.dtype.kind), (48000, "f"), "wav rate and sample kind")
same(np.rint(x.astype(float) * 8388608).astype(int), want, "24-bit integers back from the wav")
same(info("r.swt")["audio"]["frames"], 10, "frames in info")
PY
}
@test "record: 17b-rf64 reads its sizes from ds64 and no trailing chunk as sound" {
    record_as default "$CASES/rf64.wav"
    ramp
}
@test "record: 17c-bigendian swaps no bytes" {
    record_as default "$CASES/be.aiff"
    ramp
}
@test "window: 18-float is bit-exact as f32 and clips as s16" {
    record_as default "$CASES/float.wav"
    window_all -o f32.npy
    window_all --dtype s16 -o s16.npy
    py <<'PY'
want = np.array(mk.FLOATS, "<f4")[:, None]
same(npy("f32.npy").tobytes(), want.tobytes(), "f32 bits")
a = npy("s16.npy")
same(a.dtype.str, "<i2", "s16")
w16 = [0, 16384, -16384, 8192, 1, -1, 32767, 32767, -32768, 32767, -32768, 32767, -32768, 0, 16384]
within(a[:, 0], w16, 1, "s16")
true(not ((a[:, 0] < 0) & (np.array(w16) > 0)).any(), "no wrapped sign")
PY
}
@test "window: 19-order keeps FL FR FC LFE SL SR" {
    record_as default "$CASES/51.wav"
    window_all --dtype s16 -o all.npy
    py <<'PY'
same(npy("all.npy"), np.tile(np.arange(1, 7, dtype="<i2") * 1000, (4800, 1)), "samples")
same(info("r.swt")["audio"]["channel_layout"], "5.1(side)", "layout in info")
PY
}

# ------------------------------------------------------------------ 21
long_gop() {
    record_as "$1" "$CASES/longgop.mp4"
    swt window r.swt --last 64 -o last.npy
    py <<'PY'
for k in (399, 0, 200, 1, 123, 50, 7, 49):
    swt("window", "r.swt", "--at", "%.2fs" % (k / 50), "-o", "at.npy")
    same(ids(npy("at.npy")), [k], "id at %.2f s" % (k / 50))
same(ids(npy("last.npy")), list(range(336, 400)), "--last 64")
PY
}
@test "window: 21a-long-gop finds any picture behind one key picture (default)" { long_gop default; }
@test "window: 21a-long-gop finds any picture behind one key picture (tensor)" { long_gop tensor; }

open_gop() {
    record_as "$1" "$CASES/opengop.ts"
    window_all -o all.npy
    py <<'PY'
same(ids(npy("all.npy")), list(range(15, 60)), "ids")
same(info("r.swt")["video"]["frames"], 45, "frames in info")
PY
}
@test "window: 21b-open-gop leaves out the pictures that lean on a missing one (default)" { open_gop default; }
@test "window: 21b-open-gop leaves out the pictures that lean on a missing one (tensor)" { open_gop tensor; }

# ------------------------------------------------------------------ 23
@test "record: 23a-names takes a name that exists as a file, whatever it looks like" {
    py <<'PY'
def check(where, i):
    swt("window", where, "--from", "start", "--to", "end", "--dtype", "s16", "-o", "w.npy")
    same(npy("w.npy"), np.full((100 + i, 1), 1000 + i, "<i2"), where)
same(len(mk.NAMES), 11, "names")
here = os.getcwd()
for i, name in enumerate(mk.NAMES):
    os.chdir(CASES)
    swt("record", "names/" + name, "-o", "%s/path%d.swt" % (here, i))
    os.chdir(CASES + "/names")
    dash = ["--"] if name.startswith("-") else []
    swt("record", "-o", "%s/plain%d.swt" % (here, i), *dash, name)
    if dash:
        swt("record", "./" + name, "-o", here + "/dot.swt")
    os.chdir(here)
    check("path%d.swt" % i, i)
    check("plain%d.swt" % i, i)
check("dot.swt", 0)
PY
}
@test "record: 23b-empty names the file and the reason, exit 1" {
    for f in zero.mp4 zero.wav; do
        run -1 --separate-stderr swt record "$CASES/$f" -o "$f.swt"
        one_line
        [[ $stderr == *"$f"* ]]
        if [ -e "$f.swt" ]; then
            run -4 --separate-stderr swt window "$f.swt" --last 1 -o w.npy
        fi
        [ ! -e w.npy ]
    done
}
@test "record: 23c-header-only is a stream without samples" {
    record_as default "$CASES/header.wav"
    run -4 --separate-stderr swt window r.swt --last 64 -o none.npy
    one_line
    [ ! -e none.npy ]
    swt window r.swt --last 64 --edge trim -o trim.npy
    py <<'PY'
a = info("r.swt")["audio"]
same((a["frames"], Fraction(a["rate"]), a["channels"]), (0, 48000, 2), "frames, rate, channels")
same(npy("trim.npy").shape, (0, 2), "trimmed shape")
PY
    swt verify r.swt
}

# ------------------------------------------------------------------ 26
grey16() {
    record_as "$1" "$CASES/gray16.mkv"
    window_all -o g.npy
    window_all --dtype u16 -o u.npy
    py <<'PY'
i = np.arange(48 * 64).reshape(48, 64) * 21 + 5
want = np.stack([(i + 997 * n) % 65536 for n in range(6)]).astype("<u2")[..., None]
for f in ("g.npy", "u.npy"):
    h = npy_header(f)
    same((h["descr"], h["fortran_order"], h["shape"]), ("<u2", False, (6, 48, 64, 1)), f)
    same(npy(f), want, f)
    same(np.load(f, mmap_mode="r", allow_pickle=False), want, f + " mapped")
PY
}
@test "window: 26-npy of 16-bit grey is <u2 with all 16 bits (default)" { grey16 default; }
@test "window: 26-npy of 16-bit grey is <u2 with all 16 bits (tensor)" { grey16 tensor; }

npy_rgb() {
    record_as "$1" "$CASES/odd.mkv"
    window_all -o rgb.npy
    py <<'PY'
h = npy_header("rgb.npy")
same((h["descr"], h["fortran_order"], h["shape"]), ("|u1", False, (12, 77, 101, 3)), "header")
want = ref_rgb(CASES + "/odd.mkv", 101, 77)
within(npy("rgb.npy"), want, 2, "rgb")
within(np.load("rgb.npy", mmap_mode="r", allow_pickle=False), want, 2, "mapped")
PY
}
@test "window: 26-npy of colour is |u1 (default)" { npy_rgb default; }
@test "window: 26-npy of colour is |u1 (tensor)" { npy_rgb tensor; }

@test "window: 26-npy of sound is <f4, with --dtype s16 <i2" {
    for f in 51 s24; do
        swt record "$CASES/$f.wav" -o "$f.swt"
        swt window "$f.swt" --from start --to end -o "$f.npy"
        swt window "$f.swt" --from start --to end --dtype s16 -o "$f.i.npy"
    done
    py <<'PY'
for f, shape in (("51", (4800, 6)), ("s24", (10, 2))):
    for name, descr in ((f + ".npy", "<f4"), (f + ".i.npy", "<i2")):
        h = npy_header(name)
        same((h["descr"], h["fortran_order"], h["shape"]), (descr, False, shape), name)
        same(np.load(name, mmap_mode="r", allow_pickle=False), npy(name), name + " mapped")
same(npy("51.npy"), np.tile((np.arange(1, 7) * 1000 / 32768).astype("<f4"), (4800, 1)), "51")
same(npy("s24.npy"), (np.stack([mk.S24L, mk.S24R], 1) / 8388608).astype("<f4"), "s24")
PY
}
