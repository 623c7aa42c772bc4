#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Wrong words, wrong files, damaged recordings, outputs that fail: one line, the right exit status,
# nothing bad given out, no partial file under the final name.

# shellcheck disable=SC2016,SC2154 # inner scripts; variables that bats sets
load ../tools/e2e

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    "$PYTHON" "$TESTS/tools/rows.py" --rows 12 --shape 60x50x3 >rows.raw
    swt record - --tensor u8:60x50x3 --fps 10 -o rows.swt <rows.raw # 12 rows of 9000 bytes
    py <<'PY'
mk.ff(*mk.rawin(), *mk.BX, *mk.x264(2, 10), "clip.mkv", inp=mk.clip(range(30), noise=120))
PY
    swt record clip.mkv -o pics.swt
}
setup() {
    cd "$BATS_TEST_TMPDIR" || return
    cp -r "$BATS_FILE_TMPDIR"/*.swt .
    cp "$BATS_FILE_TMPDIR/rows.raw" "$BATS_FILE_TMPDIR/clip.mkv" .
}
teardown() { stop_all; }

refuse() { # STATUS ARGS...: that exit status, one line, nothing on stdout
    run --separate-stderr swt "${@:2}"
    [ "$status" -eq "$1" ] || {
        echo "swt ${*:2}: exit $status, want $1: $stderr" >&2
        return 1
    }
    [ -z "$output" ] && one_line
}

# ------------------------------------------------------------------ words
@test "window: words that cannot be right are exit 2" {
    for words in '--last 0' '--last 64x' '--last -5' '--last 1.5' '--last 0s' '--last ""' '--last 5parsecs' \
        '--last 99999999999999999999' '--last 99999999999999999999s' '--last 9223372036854775807h' \
        '--last 5 --size 0x0' '--last 5 --size 224' '--last 5 --size 224x' '--last 5 --size -1x5' \
        '--last 5 --size 4294967297x4294967297' '--last 5 --size 99999999999999999999x2' \
        '--last 5 --stride 0' '--last 5 --stride -1' '--last 5 --stride 99999999999999999999' \
        '--last 5 --edge maybe' '--last 5 --pixel nope' '--last 5 --dtype f31' '--last 5 --layout WHCT' \
        '--last 5 --format nope' '--frames 1,,2' '--frames 1,x' '--frames 99999999999999999999' \
        '--last 5 --from 3' '--from 2025-06-01T12:00:00 --to end' '--from 2025-02-29T00:00:00Z --to end' \
        '' '--no-such-option'; do
        eval "refuse 2 window rows.swt $words -o w.npy"
        [ ! -e w.npy ]
    done
}

@test "window: lengths beyond everything recorded are exit 4, not an overflow" {
    for words in '--last 9223372036854775807' '--last 4611686018427387904 --stride 4' \
        '--frames 9223372036854775807' '--from 9223372036854775806 --to 9223372036854775807' \
        '--at 200000h' '--from 100000h --to 200000h' '--last 5 --stride 9223372036854775807'; do
        eval "refuse 4 window rows.swt $words -o w.npy"
        [ ! -e w.npy ]
    done
}

@test "record: words that cannot be right are exit 2 and leave nothing" {
    for words in '--duration 10' '--duration 0s' '--frames 0' '--frames 5s' '--fps abc' '--fps 0' \
        '--size 0x5' '--size 99999999999x9' '--store nope' '--pixel nope' '--dtype q8' '--rate 0' \
        '--channels 0' '--segment-bytes 99999999999GiB' '--segment-bytes 5x' '--segment-duration 5' \
        '--sync 5' '--tensor q8:7' '--tensor f32:0' '--tensor f32:x' '--tensor f32:-1' \
        '--tensor u8:4294967295x4294967295x4294967295' '--tensor f64:9223372036854775807'; do
        eval "refuse 2 record - $words -o new.swt" <rows.raw
        [ ! -e new.swt ]
    done
    refuse 2 record -o new.swt
    refuse 2 record rows.raw
}

# ------------------------------------------------------------------ inputs
@test "record: a missing file, a directory, an empty file and text are exit 1 and leave nothing" {
    mkdir folder
    : >empty.mp4
    echo 'this is text' >text.mp4
    head -c 3000 /dev/urandom >noise.mkv
    for input in missing.mp4 folder empty.mp4 text.mp4 noise.mkv 'lavfi:nosuchfilter' nosuch:device; do
        refuse 1 record "$input" -o new.swt
        [[ $stderr == *"$input"* ]]
        [ ! -e new.swt ]
    done
    refuse 1 record - -o new.swt </dev/null
    refuse 1 record clip.mkv --video 7 --audio none -o new.swt
    [ ! -e new.swt ]
}

@test "record: never writes into a directory or file that is something else" {
    mkdir folder
    echo keep >folder/file
    echo keep >plain
    refuse 1 record clip.mkv -o folder
    refuse 1 record clip.mkv -o plain
    refuse 1 record clip.mkv -o plain/new.swt
    refuse 1 record clip.mkv -o no/such/place/new.swt
    refuse 1 record clip.mkv -o /proc/new.swt
    [ "$(ls -A folder)" = file ]
    [ "$(cat folder/file plain)" = $'keep\nkeep' ]
}

# ------------------------------------------------------------------ recordings
@test "window, info, verify: what is not a recording is exit 1" {
    mkdir folder hollow.swt broken.swt
    echo text >file
    echo '{"magic": 5}' >broken.swt/swt.json
    : >hollow.swt/swt.json
    for what in missing file folder hollow.swt broken.swt clip.mkv; do
        refuse 1 window $what --last 1
        refuse 1 info $what
        refuse 1 verify $what
        [[ $stderr == *$what* ]]
    done
}

@test "window, info, verify, record: a newer format version is refused and said so" {
    cp -r rows.swt newer.swt
    py <<'PY'
import glob
from patch import set_super
d = json.load(open("newer.swt/swt.json"))
keys = [k for k, v in d.items() if "version" in k and v == 1]
same(len(keys), 1, "the version in swt.json: %s" % d)
d[keys[0]] = 2
os.chmod("newer.swt/swt.json", 0o644)
json.dump(d, open("newer.swt/swt.json", "w"))
set_super(glob.glob("rows.swt/tensor/seg/*")[0], version=2)
PY
    for r in newer rows; do
        refuse 1 window $r.swt --last 1
        [[ $stderr == *newer* ]]
        refuse 1 info $r.swt
        refuse 1 verify $r.swt
        run -1 --separate-stderr swt record - --tensor u8:60x50x3 --fps 10 -o $r.swt <rows.raw
        one_line
        [ "$(find $r.swt -name '*.swt' -type f | wc -l)" -eq 1 ]
    done
}

@test "window, record: unknown incompat bits refuse reading, unknown ro_compat bits refuse writing" {
    for field in incompat ro_compat compat; do
        cp -r rows.swt $field.swt
        py $field <<'PY'
import glob
from patch import set_super
set_super(glob.glob(sys.argv[1] + ".swt/tensor/seg/*")[0], **{sys.argv[1]: 1 << 30})
PY
    done
    refuse 1 window incompat.swt --last 1
    [[ $stderr == *newer* || $stderr == *feature* || $stderr == *bit* ]]
    refuse 1 info incompat.swt
    refuse 1 verify incompat.swt
    for field in ro_compat compat; do
        swt window $field.swt --from start --to end >out.raw
        cmp out.raw rows.raw
        swt info $field.swt
        swt verify $field.swt
    done
    for field in incompat ro_compat; do
        run -1 --separate-stderr swt record - --tensor u8:60x50x3 --fps 10 -o $field.swt <rows.raw
        one_line
        [ "$(find $field.swt -name '*.swt' -type f | wc -l)" -eq 1 ]
    done
}

# Python for damage: never_bad runs windows of a damaged recording; what comes out is good or nothing.
damage_kit='
import glob, shutil
from patch import *
good = {"rows.swt": open("rows.raw", "rb").read(),
        "pics.swt": swt("window", "pics.swt", "--from", "start", "--to", "end", "--pixel", "stored")}
per = {"rows.swt": 9000, "pics.swt": 9216}
extra = {"rows.swt": [], "pics.swt": ["--pixel", "stored"]}
def fresh(rec):
    shutil.rmtree("d.swt", ignore_errors=True)
    shutil.copytree(rec, "d.swt")
    return glob.glob("d.swt/*/seg/*.swt")[0]
def never_bad(rec, what):
    """Exit statuses of three windows; their bytes are a prefix of the good ones."""
    codes = []
    n = len(good[rec]) // per[rec]
    for lo, hi in ((0, n), (n // 2, n), (0, 2)):
        r = subprocess.run([SWT, "window", "d.swt", "--from", str(lo), "--to", str(hi), *extra[rec]],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        want = good[rec][lo * per[rec]:hi * per[rec]]
        true(r.returncode in (0, 1, 3, 4), "%s: exit %d: %s" % (what, r.returncode, r.stderr))
        true(want.startswith(r.stdout), "%s: bad bytes given for %d to %d" % (what, lo, hi))
        same(r.returncode == 0, r.stdout == want, "%s: exit 0 if and only if all is given" % what)
        codes.append(r.returncode)
    return codes
def verify(what, codes=(3,)):
    r = subprocess.run([SWT, "verify", "d.swt"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    true(r.returncode in codes, "%s: verify exit %d: %r" % (what, r.returncode, r.stdout))
    return r.stdout.decode()
'

@test "verify: names file, offset and frame of a flipped payload bit, exit 3; window gives what is before it" {
    py <<PY
$damage_kit
seg = fresh("rows.swt")
at = get(seg, "data_off") + 9000 * 7 + 4321
flip(seg, at, 5)
text = verify("flipped bit in frame 7")
for part in (os.path.basename(seg), "frame 7"):
    true(part in text, "%r in %r" % (part, text))
offsets = [int(x) for x in re.findall(r"(?:offset|byte) (\d+)", text)]
true(any(at - 9000 < x <= at for x in offsets), "an offset in frame 7 in %r" % text)
codes = never_bad("rows.swt", "flipped bit in frame 7")
same(codes, [3, 3, 0], "exit of the windows")
r = subprocess.run([SWT, "window", "d.swt", "--last", "8", "-o", "w.npy"], stderr=subprocess.PIPE)
same(r.returncode, 3, "exit with -o")
true(b"7" in r.stderr and not os.path.exists("w.npy"), "frame named and no file: %r" % r.stderr)
same(swt("window", "d.swt", "--from", 8, "--to", 12), good["rows.swt"][8 * 9000:], "frames behind it")
PY
}

@test "verify: names the damaged packet of a video, exit 3; no picture that leans on it is given" {
    py <<PY
$damage_kit
for k in (3, 11, 25):
    seg = fresh("pics.swt")
    with open(seg, "rb") as f:
        f.seek(get(seg, "index_off") + 64 * k)
        pos, n = struct.unpack("<QI", f.read(12))
    flip(seg, get(seg, "data_off") + pos + n // 2, 1)
    text = verify("flipped bit in packet %d" % k)
    true(os.path.basename(seg) in text and "frame" in text, text)
    codes = never_bad("pics.swt", "flipped bit in packet %d" % k)
    same(codes[0], 3, "exit of the window over all")
PY
}

@test "window: flipped bits anywhere in a segment give an error or good frames, never bad ones" {
    py <<PY
$damage_kit
rng = random.Random(1)
for rec, n in (("rows.swt", 12), ("pics.swt", 30)):
    seg = fresh(rec)
    index, data, params = get(seg, "index_off"), get(seg, "data_off"), get(seg, "params_bytes")
    used = per[rec] * 12 if rec == "rows.swt" else os.path.getsize(seg) - data
    promised = ([rng.randrange(0, 4096) for _ in range(8)]           # superblock
                + [12288 + rng.randrange(params) for _ in range(6)]
                + [index + rng.randrange(64 * n) for _ in range(12)])
    free = [4096 + rng.randrange(8192) for _ in range(6)] + [rng.randrange(os.path.getsize(seg)) for _ in range(8)]
    payload = [data + rng.randrange(per[rec] * 12) for _ in range(6)] if rec == "rows.swt" else []
    for at in promised + payload + free:
        seg, bit = fresh(rec), rng.randrange(8)
        flip(seg, at, bit)
        what = "%s: bit %d of byte %d" % (rec, bit, at)
        never_bad(rec, what)
        verify(what, (0, 3) if at in free else (3,))
PY
}

@test "window: a truncated segment gives an error or good frames; verify exit 3" {
    py <<PY
$damage_kit
for rec in ("rows.swt", "pics.swt"):
    seg = fresh(rec)
    size, index, data = os.path.getsize(seg), get(seg, "index_off"), get(seg, "data_off")
    for at in (0, 1, 100, 4095, 4096, 8192, 12288, 12300, index, index + 64, index + 100, data,
               data + 1, data + 9000 * 5 // (1 if rec == "rows.swt" else 3)):
        seg = fresh(rec)
        os.truncate(seg, at)
        never_bad(rec, "%s cut at %d of %d" % (rec, at, size))
        text = verify("%s cut at %d" % (rec, at))
        true(os.path.basename(seg) in text, "%s cut at %d: file named in %r" % (rec, at, text))
PY
}

@test "window: sizes in the superblock that overflow or overlap, under a right checksum, are refused" {
    py <<PY
$damage_kit
big = (0, 1, 4095, 2 ** 31, 2 ** 32, 2 ** 40, 2 ** 62, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1, 2 ** 64 - 4096)
fields = ("frame_bytes", "params_off", "params_bytes", "index_off", "index_cap", "seam_off", "data_off",
          "run_base_frame", "base_frame", "base_entry")
for rec in ("rows.swt", "pics.swt"):
    for field in fields:
        for value in big:
            seg = fresh(rec)
            if value == get(seg, field):
                continue
            set_super(seg, **{field: value})
            what = "%s: %s = %d" % (rec, field, value)
            never_bad(rec, what)
            verify(what, (0, 3) if rec == "pics.swt" and field in ("frame_bytes", "run_base_frame", "base_frame")
                   or field == "index_cap" and value >= 4095 else (3,))
PY
}

@test "window: entries that point outside their segment, under a right checksum, are refused" {
    py <<PY
$damage_kit
for rec in ("rows.swt", "pics.swt"):
    for field, values in (("pos", (2 ** 40, 2 ** 63, 2 ** 64 - 1)), ("len", (0, 2 ** 31, 2 ** 32 - 1))):
        for value in values:
            for k in (0, 5):
                seg = fresh(rec)
                set_entry(seg, k, **{field: value})
                what = "%s: entry %d: %s = %d" % (rec, k, field, value)
                never_bad(rec, what)
                verify(what)
PY
}

# ------------------------------------------------------------------ outputs
@test "window: an output that cannot be written is exit 1 and leaves no file" {
    mkdir out
    echo old >out/old.npy
    : >file
    refuse 1 window rows.swt --last 5 -o no/such/dir/w.npy
    refuse 1 window rows.swt --last 5 -o file/w.npy
    refuse 1 window rows.swt --last 5 -o out
    refuse 1 window rows.swt --last 5 -o /proc/w.npy
    for name in new.npy old.npy; do
        run -1 --separate-stderr bash -c \
            'trap "" XFSZ; ulimit -f 8; exec "$SWT" window rows.swt --last 5 -o out/'$name
        one_line
    done
    [ "$(ls -A out)" = old.npy ]
    [ "$(cat out/old.npy)" = old ]
}

@test "window: a full device on standard output is exit 1 with the reason" {
    for args in 'window rows.swt --last 5' 'window rows.swt --last 5 --format npy' \
        'window rows.swt --last 5 --format ndjson' 'info rows.swt' 'verify rows.swt'; do
        # shellcheck disable=SC2086
        run -1 --separate-stderr bash -c '"$SWT" "$@" >/dev/full' - $args
        one_line
        [[ $stderr == *"No space left"* || $stderr == *"no space left"* ]]
    done
}

@test "window: -o of a device or a pipe writes into it and does not replace it" {
    mkfifo pipe
    cat pipe >got 3>&- &
    swt window rows.swt --last 5 --format raw -o pipe
    wait $!
    [ -p pipe ]
    tail -c 45000 rows.raw | cmp - got
    mknod full c 1 7 2>/dev/null && { : >full; } 2>/dev/null || skip "no device node can be made here"
    refuse 1 window rows.swt --last 5 --format raw -o full
    [ -c full ]
}

@test "window: a reader that closes early gets right bytes and no noise" {
    for rec in rows.swt pics.swt; do
        swt window $rec --last 12 >whole
        for n in 1 1000 20000; do
            run -0 --separate-stderr bash -c '
                "$SWT" window "$1" --last 12 | head -c "$2" >part
                echo "${PIPESTATUS[0]}" >status' - $rec $n
            [ -z "$stderr" ]
            head -c $n whole | cmp - part
            [[ $(cat status) =~ ^(0|1|141)$ ]]
        done
    done
}

@test "window: no binary to a terminal; text formats are fine" {
    run script -qec "'$SWT' window rows.swt --last 1" /dev/null
    [ "$status" -eq 1 ] || [ "$status" -eq 2 ]
    [ "${#output}" -lt 1000 ]
    [[ $output == *terminal* ]]
    run -0 script -qec "'$SWT' window rows.swt --last 1 --format ndjson" /dev/null
    [[ $output == *'"frame"'* ]]
}
