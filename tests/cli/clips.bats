#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Real clips against ffmpeg's decode of the same file: every picture once, random windows, the sound
# sample by sample; from packets (the default) and from tensors.

load ../tools/e2e

setup_file() {
    data=/usr/share/doc/opencv-doc/examples/data
    cd "$BATS_FILE_TMPDIR" || return
    for name in vtest Megamind; do
        if [ -e "$data/$name.avi.gz" ]; then
            gzip -dc "$data/$name.avi.gz" >"$name.avi"
        else
            ln -s "$data/$name.avi" .
        fi
    done
    local tags=(-color_range tv -colorspace bt709 -color_primaries bt709 -color_trc bt709)
    ffmpeg -nostdin -v error -f lavfi -i "testsrc2=s=1920x1080:r=30,noise=alls=3:allf=t" -f lavfi \
        -i "aevalsrc='0.4*sin(2*PI*(200+300*t)*t)|0.3*sin(2*PI*997*t)':s=48000" -t 3 -map 0 -map 1 \
        -c:v libx264 -preset veryfast -bf 3 -g 40 -pix_fmt yuv420p "${tags[@]}" -c:a aac -b:a 128k \
        hd.mp4
}

setup() { cd "$BATS_TEST_TMPDIR" || return; }

# Megamind.avi ends in the middle of an AC-3 frame: that is said with exit 3.
record_clip() { # NAME STORE FILE
    if [ "$1" = Megamind.avi ]; then
        record_as "$2" "$3" && return 1
        [ $? = 3 ]
    else
        record_as "$2" "$3"
    fi
}

clip() { # NAME STORE WIDTH HEIGHT PICTURES
    local file=$BATS_FILE_TMPDIR/$1
    [ -e "$file" ] || skip "Debian's opencv-doc is not installed"
    record_clip "$1" "$2" "$file"
    py "$file" "${@:3}" <<'PY'
path, w, h, n = sys.argv[1], *map(int, sys.argv[2:])
planes = w * h + 2 * ((w + 1) // 2) * ((h + 1) // 2)
every = [SWT, "window", "r.swt", "--from", "start", "--to", "end", "--format", "raw"]
same(compare([*every, "--pixel", "stored"], ref_cmd(path), planes, 0), n, "pictures, planes")
# swscale clips what its cubic overshoots between its two passes; beside saturated edges that shows in single samples.
same(compare(every, ref_cmd(path, "rgb24"), 3 * w * h, 2, stray=3 * w * h // 100000), n, "pictures, rgb")
same(info("r.swt")["video"]["frames"], n, "frames in info")

# Random windows: the planes of frame k are known from a decode of the whole file.
ref = np.memmap("ref", np.uint8, "w+", shape=(n, planes))
d = subprocess.Popen(ref_cmd(path), stdout=subprocess.PIPE)
for k in range(n):
    ref[k] = np.frombuffer(d.stdout.read(planes), np.uint8)
rng = random.Random(5)
for _ in range(6):
    first = rng.randrange(n - 9)
    length, stride = rng.randrange(1, 6), rng.randrange(1, 3)
    swt("window", "r.swt", "--from", first, "--to", first + length * stride, "--stride", stride,
        "--pixel", "stored", "-o", "w.npy")
    same(npy("w.npy"), ref[first:first + length * stride:stride], "from %d by %d" % (first, stride))
    at = [rng.randrange(n) for _ in range(3)]
    swt("window", "r.swt", "--frames", ",".join(map(str, at)), "--pixel", "stored", "-o", "w.npy")
    same(npy("w.npy"), ref[at], "frames %s" % at)
some = sorted(rng.sample(range(n), 4))
want = ref_rgb(path, w, h, some)
swt("window", "r.swt", "--frames", ",".join(map(str, some)), "-o", "w.npy")
within(npy("w.npy"), want, 2, "rgb of frames %s" % some, stray=len(some) * (3 * w * h // 100000))
swt("window", "r.swt", "--last", 5, "--pixel", "stored", "-o", "w.npy")
same(npy("w.npy"), ref[n - 5:], "--last 5")
PY
}
@test "window: every picture of vtest.avi is ffmpeg's (default)" { clip vtest.avi default 768 576 795; }
@test "window: every picture of vtest.avi is ffmpeg's (tensor)" { clip vtest.avi tensor 768 576 795; }
@test "window: every picture of Megamind.avi is ffmpeg's (default)" { clip Megamind.avi default 720 528 270; }
@test "window: every picture of Megamind.avi is ffmpeg's (tensor)" { clip Megamind.avi tensor 720 528 270; }
@test "window: every picture of a 1080p H.264 file is ffmpeg's (default)" { clip hd.mp4 default 1920 1080 90; }
@test "window: every picture of a 1080p H.264 file is ffmpeg's (tensor)" { clip hd.mp4 tensor 1920 1080 90; }

sound() { # FILE STORE STREAM
    local file=$BATS_FILE_TMPDIR/$1
    [ -e "$file" ] || skip "Debian's opencv-doc is not installed"
    record_clip "$1" "$2" "$file" --video none
    window_all --stream "$3" -o all.npy
    window_all --stream "$3" -o all.wav
    py "$file" "$3" <<'PY'
want, got = ref_sound(sys.argv[1]), npy("all.npy")
same(got, want, "samples")
rate, x = wav("all.wav")
same(rate, 48000, "rate")
same(x, want, "samples of the wav file")
n, rng = len(want), random.Random(7)
for _ in range(8):
    first = rng.randrange(n - 5000)
    length = rng.randrange(1, 5000)
    swt("window", "r.swt", "--stream", sys.argv[2], "--from", first, "--to", first + length, "-o", "w.npy")
    same(npy("w.npy"), want[first:first + length], "samples from %d" % first)
swt("window", "r.swt", "--stream", sys.argv[2], "--last", "500ms", "-o", "w.npy")
got = npy("w.npy")
if sys.argv[2] == "audio":
    same(got, want[n - 24000:], "the last 500 ms")
else:
    # Decoding that begins in the middle fills noise bands with other noise (AAC PNS, AC-3 dither): a shift by one
    # sample would be off by more.
    same(got.shape, want[n - 24000:].shape, "shape of the last 500 ms")
    true(np.abs(got - want[n - 24000:]).max() < 0.01, "the last 500 ms within the decoder's own noise")
PY
}
@test "window: the sound of Megamind.avi is ffmpeg's, sample by sample (tensor audio)" { sound Megamind.avi default audio; }
@test "window: the sound of Megamind.avi is ffmpeg's, sample by sample (packets audio.p)" { sound Megamind.avi default audio.p; }
@test "window: the AAC sound of an mp4 is ffmpeg's, sample by sample (tensor audio)" { sound hd.mp4 default audio; }
@test "window: the AAC sound of an mp4 is ffmpeg's, sample by sample (packets audio.p)" { sound hd.mp4 default audio.p; }
@test "window: the AAC sound of an mp4 is ffmpeg's, sample by sample (--store tensor)" { sound hd.mp4 tensor audio; }

@test "window: picture and sound of a recorded file end where the file's do" {
    swt record "$BATS_FILE_TMPDIR/hd.mp4" -o r.swt
    py "$BATS_FILE_TMPDIR/hd.mp4" <<'PY'
s = info("r.swt")
same((s["video"]["first_ns"], s["audio"]["first_ns"]), ("0", "0"), "first times")
within(int(s["video"]["last_ns"]) / 1e9, 89 / 30, 1e-6, "last picture")
within(int(s["audio"]["last_ns"]) / 1e9, (len(ref_sound(sys.argv[1])) - 1) / 48000, 1e-6, "last sample")
PY
}
