#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The second reader (swtread.py, written from swt-format(5) alone) and swt agree: on the golden
# recordings of each format version, which stay as they are forever, and on fresh ones.

load ../tools/e2e

setup() { cd "$BATS_TEST_TMPDIR" || return; }
teardown() { stop_all; }

export READER=$BATS_TEST_DIRNAME/swtread.py

# Compares the two readers on one recording: streams, frames or packets, entries, checksums.
agree() { # RECORDING
    "$PYTHON" "$READER" check "$1"
    "$PYTHON" "$READER" info "$1" >theirs.ndjson
    py "$1" <<'PY'
rec, reader = sys.argv[1], os.environ["READER"]
ours, theirs = info(rec), {r["name"]: r for r in ndjson("theirs.ndjson")}
same(sorted(ours), sorted(theirs), "streams")

def other(*args):
    return subprocess.run(["/usr/bin/python3", reader, *map(str, args)], stdout=subprocess.PIPE,
                          check=True).stdout

rng = random.Random(1)
for name, want in theirs.items():
    same({k: ours[name][k] for k in want}, want, "info of " + name)
    n, first = want["frames"], want["first_frame"]
    rows = ndjson_text(swt("window", rec, "--stream", name, "--from", "start", "--to", "end",
                           "--format", "ndjson").decode()) if n and want["runs"] == 1 else []
    entries = {(int(e["segment"]), e["offset"]): e
               for e in ndjson_text(other("entries", rec, name).decode())}
    for r in rows:
        e = entries[(int(str(r["segment"]).split("/")[-1].split(".")[0]), r["offset"])]
        for k in ("frame", "frames", "pts_ns", "key", "bytes"):
            same(r[k], e[k], "%s of the entry at %s" % (k, r["offset"]))
        crc = r["crc32c"]
        same(int(crc, 16) if isinstance(crc, str) else crc, e["crc32c"], "crc32c")
    if want["kind"] == "tensor" and n and want["runs"] == 1:
        pixel = ["--pixel", "stored"] if ours[name]["pixel"] else []
        dtype = ["--dtype", ours[name]["dtype"]] if ours[name]["media"] == "audio" else []
        for _ in range(5):
            lo = first + rng.randrange(n)
            hi = rng.randrange(lo + 1, first + n + 1)
            got = swt("window", rec, "--stream", name, "--from", lo, "--to", hi, *pixel, *dtype)
            true(got == other("frames", rec, name, lo, hi), "%s: frames %d to %d" % (name, lo, hi))
PY
}

@test "reader: agrees on golden recordings, which swt reads as on the day they were made" {
    found=0
    for golden in "$TESTS"/golden/v*/*.swt; do
        [ -e "$golden/swt.json" ] || continue
        found=$((found + 1))
        cp -r "$golden" copy.swt
        find copy.swt -type f -exec cksum {} + | sort >before
        py copy.swt "$golden.info.ndjson" <<'PY'
# Later versions may say more of a stream, never something else.
ours, want = info(sys.argv[1]), {r["name"]: r for r in ndjson(sys.argv[2])}
same({n: {k: ours[n][k] for k in r} for n, r in want.items()}, want, "info")
PY
        while read -r hash args; do
            # shellcheck disable=SC2086
            [ "$(swt window copy.swt $args | sha256sum | cut -d' ' -f1)" = "$hash" ] || {
                echo "$golden: window $args has other bytes" >&2
                return 1
            }
        done <"$golden.sha256"
        swt verify copy.swt
        agree copy.swt
        find copy.swt -type f -exec cksum {} + | sort | cmp - before
        rm -rf copy.swt
    done
    [ "$found" -ge 3 ]
}

@test "reader: agrees on rows of an odd size over segments, sessions and a kill" {
    rows --rows 4000 --rate 200 --shape 31x17x3
    start_recorder --tensor u8:31x17x3 --fps 100 --segment-bytes 20KiB -o r.swt
    wait_for 20 has_frames r.swt tensor 40
    kill -9 "$RECORDER"
    wait "$RECORDER" || true
    "$PYTHON" "$TESTS/tools/rows.py" --rows 30 --shape 31x17x3 --start 7000 |
        swt record - --tensor u8:31x17x3 --fps 100 --segment-bytes 10KiB -o r.swt
    agree r.swt
}

@test "reader: agrees on packets with B pictures, on decoded pictures, and on sound as both" {
    py <<'PY'
mk.wav16("clip.wav", np.arange(48000) % 3001, 48000)
mk.ff(*mk.rawin(), "-i", "clip.wav", *mk.BX, *mk.x264(2, 10), "-c:a", "aac", "clip.mp4",
      inp=mk.clip(range(25)))
PY
    swt record clip.mp4 -o r.swt --segment-bytes 8KiB
    swt record clip.mp4 -o r.swt --segment-bytes 8KiB
    agree r.swt
    # The packets are those of the file.
    ffmpeg -nostdin -v error -i clip.mp4 -map 0:v -c copy -bsf:v null -f data want.bin
    "$PYTHON" "$READER" packets r.swt video 0 25 | cmp - want.bin
    swt record clip.mp4 -o t.swt --store tensor --segment-duration 300ms
    agree t.swt
}

@test "reader: finds a wrong byte" {
    "$PYTHON" "$TESTS/tools/rows.py" --rows 9 --shape 31x17x3 | swt record - --tensor u8:31x17x3 -o r.swt
    "$PYTHON" "$READER" check r.swt
    py <<'PY'
import glob
from patch import flip, get
seg = glob.glob("r.swt/tensor/seg/*.swt")[0]
flip(seg, get(seg, "data_off") + 5000)
PY
    run -1 "$PYTHON" "$READER" check r.swt
    [[ $output == *payload* ]]
}
