# SPDX-License-Identifier: MIT
"""check-inputs.py OUTDIR

Shows that each generated input really has the condition its case is about, and
that the expected values hold for an independent reader (ffmpeg/ffprobe command
line, sox, or plain arithmetic on the bytes).  Prints one line per check; exit
status 1 if any fails.  It does not run the product.
"""
import importlib.util
import json
import os
import subprocess
import sys

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("mk", os.path.join(here, "make-cases.py"))
mk = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mk)
bad = 0


def say(name, ok, what):
    global bad
    bad += not ok
    print("%s  %-14s %s" % ("ok  " if ok else "FAIL", name, what))


def run(*cmd, inp=None):
    r = subprocess.run(list(map(str, cmd)), input=inp, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    return r.returncode, r.stdout, r.stderr.decode(errors="replace")


def probe(f, *a):
    return json.loads(run("ffprobe", "-v", "quiet", "-of", "json", *a, f)[1] or b"{}")


def streams(f, *a):
    return probe(f, "-show_streams", *a)["streams"]


def frames(f, sel="v:0"):
    return probe(f, "-select_streams", sel, "-show_frames").get("frames", [])


def packets(f, sel="v:0"):
    return probe(f, "-select_streams", sel, "-show_packets").get("packets", [])


def raw(f, *opt, pre=()):
    return run("ffmpeg", "-v", "quiet", *pre, "-i", f, *opt, "-")[1]


def pcm(f, fmt="s16le", *opt, pre=()):
    t = {"s16le": "<i2", "s32le": "<i4", "f32le": "<f4"}[fmt]
    return np.frombuffer(raw(f, "-vn", *opt, "-f", fmt, pre=pre), t)


def grey(f, w=96, h=64, *opt, pre=()):
    d = raw(f, "-map", "0:v:0", "-vsync", "passthrough", *opt, "-f", "rawvideo",
            "-pix_fmt", "gray", pre=pre)
    return np.frombuffer(d, np.uint8).reshape(-1, h, w)


def ids(f, w=96, h=64, *opt, pre=()):
    return [mk.read_id(y) for y in grey(f, w, h, *opt, pre=pre)]


def times(f):
    return [float(x.get("pts_time", x.get("best_effort_timestamp_time", "nan")))
            for x in frames(f)]


def table(f):
    rows = [r.rstrip("\n").split("\t") for r in open(f + ".frames.tsv")][1:]
    return [int(r[1]) for r in rows], [float(r[2]) for r in rows]


def close(a, b, tol=1e-6):
    return len(a) == len(b) and all(abs(x - y) <= tol for x, y in zip(a, b))


def rel(t):
    return [x - t[0] for x in t]


def rgb(f, w, h, fmt="rgb24", pre=()):
    b = raw(f, "-frames:v", "1", "-sws_flags", "accurate_rnd+full_chroma_int+bitexact",
            "-f", "rawvideo", "-pix_fmt", fmt, pre=pre)
    return np.frombuffer(b, np.uint8).reshape(h, w, -1).astype(int)


def main():
    os.chdir(sys.argv[1])
    # 01
    i, t = table("vfr.mp4")
    s = streams("vfr.mp4")[0]
    n, d = map(int, s["avg_frame_rate"].split("/"))
    wrong = sum(min(39, round(x * n / d)) != k for k, x in enumerate(t))
    say("vfr.mp4", ids("vfr.mp4") == i and close(times("vfr.mp4"), t)
        and s["has_b_frames"] > 0,
        "40 ids in order, pts exact; index = round(t*avg_fps) is wrong for %d of 40" % wrong)
    # 02
    p = packets("raw10.h264")
    say("raw10.h264", ids("raw10.h264") == list(range(50))
        and all("pts" not in x for x in p) and float(p[0]["duration_time"]) == .1
        and streams("raw10.h264")[0]["has_b_frames"] > 0,
        "50 ids; %d of %d packets without pts; duration 0.1 s" % (
            sum("pts" not in x for x in p), len(p)))
    p = [float(x["dts_time"]) for x in packets("restart.ts")]
    say("restart.ts", ids("restart.ts") == list(range(50)) and p[25] < p[24],
        "50 ids; dts goes %.3f -> %.3f s at the join" % (p[24], p[25]))
    # 03
    i, t = table("wrap33.ts")
    p = [float(x["pts_time"]) for x in probe("wrap33.ts", "-correct_ts_overflow", "0",
         "-select_streams", "v:0", "-show_packets")["packets"]]
    say("wrap33.ts", ids("wrap33.ts") == i and close(rel(times("wrap33.ts")), t, 2e-5)
        and max(p) > 95443 and min(p) < 1,
        "75 ids, 40 ms apart; coded pts runs to %.3f then restarts at %.3f" % (max(p), min(p)))
    # 04
    i, t = table("trim.mp4")
    s = streams("trim.mp4")[0]
    say("trim.mp4", ids("trim.mp4") == i and close(times("trim.mp4"), t)
        and s["nb_frames"] == "30" and packets("trim.mp4")[0]["flags"].startswith("KD"),
        "nb_frames 30, shown 23 (ids 37..59), first packets marked discard")
    # 05
    for f, w, h, want, rot in (
            ("rot90.mp4", 64, 96, ((0, 0, 255), (255, 0, 0), (255, 255, 255), (0, 255, 0)), -90),
            ("rot180.mp4", 96, 64, ((255, 255, 255), (0, 0, 255), (0, 255, 0), (255, 0, 0)), -180)):
        a = rgb(f, w, h)
        got = (a[8, 8], a[8, w - 9], a[h - 9, 8], a[h - 9, w - 9])
        sd = [x for x in streams(f)[0]["side_data_list"] if "rotation" in x][0]
        say(f, all(abs(np.array(g) - q).max() <= 3 for g, q in zip(got, want))
            and int(sd["rotation"]) == rot,
            "matrix rotation %s; upright %dx%d corners TL,TR,BL,BR = %s" % (
                sd["rotation"], w, h, [tuple(map(int, g)) for g in got]))
    # 06
    d = raw("odd.mkv", "-f", "rawvideo")
    size = 101 * 77 + 2 * 51 * 39
    y0 = np.frombuffer(d[:101 * 77], np.uint8).reshape(77, 101)
    a = rgb("odd.mkv", 101, 77)
    y = int(y0[76, 100])
    want = mk.yuv2rgb((y, 90, 170), .299, .114, 8, 0)
    say("odd.mkv", len(d) == 12 * size and abs(a[76, 100] - want).max() <= 2,
        "12 x %d bytes planar; RGB(100,76) %s want %s" % (size, a[76, 100].tolist(), want))
    s = streams("sar.mp4")[0]
    say("sar.mp4", (s["width"], s["height"], s["sample_aspect_ratio"]) == (88, 72, "16:15")
        and ids("sar.mp4", 88, 72) == list(range(10)), "88x72, SAR 16:15, 10 ids")
    # 07
    rows = [r.rstrip("\n").split("\t") for r in open("colour.tsv")][1:]
    for f in ("c709.mp4", "c601full.mp4", "hdr10.mp4"):
        a, worst, swap = rgb(f, 96, 64), 0, 0
        for r in (r for r in rows if r[0] == f):
            x, yuv, want = int(r[2]), list(map(int, r[4:7])), np.array(list(map(int, r[7:10])))
            worst = max(worst, abs(a[32, x] - want).max())
            for kr, kb, full in ((.299, .114, 0), (.299, .114, 1), (.2126, .0722, 0), (.2126, .0722, 1)):
                alt = mk.yuv2rgb(yuv, kr, kb, 10 if f == "hdr10.mp4" else 8, full)
                e = abs(np.array(alt) - want).max()
                swap = max(swap, e if e else 0)
        s = streams(f)[0]
        say(f, worst <= 2, "%s %s %s; reference within %d; a wrong matrix/range is off by up to %d" % (
            s["pix_fmt"], s.get("color_range"), s.get("color_space"), worst, swap))
    # 08
    al = np.frombuffer(raw("alpha.webm", "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgba",
                           pre=["-c:v", "libvpx-vp9"]), np.uint8).reshape(48, 64, 4)
    no = np.frombuffer(raw("alpha.webm", "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgba"),
                       np.uint8).reshape(48, 64, 4)
    say("alpha.webm", al[20, [8, 24, 40, 56], 3].tolist() == [0, 64, 128, 255]
        and (no[..., 3] == 255).all(), "libvpx-vp9: A = 0,64,128,255; default decoder: all 255")
    g = np.frombuffer(raw("gray16.mkv", "-f", "rawvideo"), "<u2").reshape(-1, 48, 64)
    k = np.arange(48 * 64).reshape(48, 64) * 21 + 5
    say("gray16.mkv", all((g[n] == (k + 997 * n) % 65536).all() for n in range(6)) and len(g) == 6,
        "6 pictures, every value = (21*i+5+997*n) mod 65536")
    # 09
    y = grey("tff.mkv", 96, 64)
    y = np.frombuffer(raw("tff.mkv", "-f", "rawvideo", "-pix_fmt", "yuv420p"), np.uint8)
    y = y.reshape(25, -1)[:, :96 * 64].reshape(25, 64, 96)
    fr = frames("tff.mkv")
    say("tff.mkv", all((y[n, 0::2] == 40 + 4 * n).all() and (y[n, 1::2] == 42 + 4 * n).all()
        for n in range(25)) and all(x["interlaced_frame"] == 1 and x["top_field_first"] == 1 for x in fr),
        "25 frames, flagged interlaced, top field first; lines untouched")
    # 10
    fr = frames("res.ts")
    say("res.ts", [(x["width"], x["height"]) for x in fr] == [(96, 64)] * 20 + [(128, 96)] * 20
        and close(rel(times("res.ts")), table("res.ts")[1], 2e-5), "20 x 96x64 then 20 x 128x96")
    # 11
    fr = frames("chan.ts", "a:0")
    n = {c: sum(x["nb_samples"] for x in fr if x["channels"] == c) for c in (6, 2)}
    say("chan.ts", n == {6: 46080, 2: 46080}, "AC-3 samples per layout %s" % n)
    # 12
    _, _, err = run("ffmpeg", "-v", "error", "-i", "corrupt.avi", "-f", "null", "-")
    say("corrupt.avi", ids("corrupt.avi") == [i for i in range(40) if i not in (17, 29)]
        and close(times("corrupt.avi"), [i / 25 for i in range(40) if i not in (17, 29)])
        and "Invalid data" in err, "38 ids (17 and 29 lost), all other times kept")
    got = ids("cut.mkv")
    _, _, err = run("ffmpeg", "-v", "error", "-i", "cut.mkv", "-f", "null", "-")
    say("cut.mkv", got[:34] == list(range(34)) and "prematurely" in err
        and float(probe("cut.mkv", "-show_format")["format"]["duration"]) == 2.4,
        "header says 2.4 s = 60 pictures; ffmpeg gives %d, last ids %s" % (len(got), got[-4:]))
    # 13
    for f in ("tail.mp4", "front.mp4", "frag.mp4"):
        rc, out, err = run("ffmpeg", "-v", "error", "-i", "-", "-map", "0:v", "-f", "framecrc", "-",
                           inp=open(f, "rb").read())
        n = sum(not x.startswith(b"#") for x in out.splitlines())
        say(f, ids(f, 256, 192) == list(range(20)) and (n == 20) == (f != "tail.mp4"),
            "20 ids as a file; through a pipe ffmpeg: rc %d, %d pictures" % (rc, n))
    a = np.arange(20000) % 65536 - 32768
    x = np.frombuffer(run("ffmpeg", "-v", "quiet", "-i", "-", "-f", "s16le", "-",
                          inp=open("unk.wav", "rb").read())[1], "<i2")
    say("unk.wav", len(x) == 20000 and (x == a).all(), "sizes ffffffff; piped: 10000 stereo frames exact")
    # 14
    i, t = table("drop.avi")
    s = streams("drop.avi")[0]
    say("drop.avi", ids("drop.avi") == i and close(times("drop.avi"), t) and s["nb_frames"] == "60",
        "header nb_frames %s, real 27; gaps at 8, 9, 20" % s["nb_frames"])
    for n in (1, 3):
        say("tiny%d.mp4" % n, ids("tiny%d.mp4" % n) == list(range(700, 700 + n)), "%d picture(s)" % n)
    # 15
    x = pcm("prime.m4a", "f32le")
    sk = sum(f["nb_samples"] for f in probe("prime.m4a", "-flags2", "+skip_manual", "-show_frames")["frames"])
    say("prime.m4a", int(x.argmax()) == 1000 and int(x.argmin()) == 30000 and 44100 <= len(x) <= 45056
        and sk > 45056, "impulses at 1000 and 30000; %d samples (untrimmed %d)" % (len(x), sk))
    # 16
    x = pcm("offset.mkv")
    say("offset.mkv", len(x) == 84000 and int((x == 20000).argmax()) + 12000 == 48000
        and float(streams("offset.mkv")[1]["start_time"]) == .25,
        "audio starts 0.250; beep at sample 48000 of the common clock")
    y = grey("offset.mkv")
    say("offset.mkv", [n for n in range(50) if y[n, 60, 60] > 200] == [25], "flash = picture 25 = 1.000 s")
    p = packets("gap.mka", "a:0")
    g = [(float(a["pts_time"]) + .01, float(b["pts_time"])) for a, b in zip(p, p[1:])
         if float(b["pts_time"]) - float(a["pts_time"]) > .015]
    x = pcm("gap.mka", "s16le", "-af", "aresample=async=1:min_hard_comp=0.001:first_pts=0")
    k = np.arange(120000)
    want = np.where((k >= 48000) & (k < 72000), 0, k * 7 % 30000 + 1)
    say("gap.mka", len(g) == 1 and (x == want).all() and len(pcm("gap.mka")) == 96000,
        "one hole %.3f..%.3f s; filled = 120000 samples, unfilled 96000" % g[0])
    p = packets("drift.mka", "a:0")
    j = 302400 // 320
    say("drift.mka", abs(float(p[j]["pts_time"]) - 18.9 * 1.005) < .001 and len(pcm("drift.mka")) == 320000,
        "packet of sample 302400 (nominal 18.900 s) is stamped %s s" % p[j]["pts_time"])
    # 17
    x = (pcm("s24.wav", "s32le") >> 8).reshape(-1, 2)
    say("s24.wav", x[:, 0].tolist() == mk.S24L and x[:, 1].tolist() == mk.S24R, "10 frames exact in 24 bits")
    for f in ("rf64.wav", "be.aiff"):
        x = pcm(f)
        say(f, len(x) == 20000 and (x == a).all(), "10000 stereo frames exact")
    # 18
    v = np.array(mk.FLOATS, "<f4")
    want = np.clip(np.rint(v.astype(float) * 32768), -32768, 32767)
    say("float.wav", (pcm("float.wav", "f32le") == v).all() and (pcm("float.wav") == want).all(),
        "s16 = %s" % want.astype(int).tolist())
    # 19
    x = pcm("51.wav").reshape(-1, 6)
    say("51.wav", (x == [1000, 2000, 3000, 4000, 5000, 6000]).all() and len(x) == 4800
        and streams("51.wav")[0]["channel_layout"] == "5.1(side)", "order FL FR FC LFE SL SR")
    # 20
    s = streams("cover.mp3")
    x = pcm("cover.mp3", "f32le")
    say("cover.mp3", s[1]["disposition"]["attached_pic"] == 1 and len(x) == 48000
        and int(x.argmax()) == 2000, "video stream 1 is an attached picture; 48000 samples")
    s = streams("many.mkv")
    say("many.mkv", [x["codec_type"][0] for x in s] == list("vvaaasa")
        and [x["index"] for x in s if x["disposition"]["default"]] == [1, 3],
        "2 video, 3 audio, subtitle, attachment; defaults 1 and 3")
    # 21
    i, t = table("longgop.mp4")
    say("longgop.mp4", ids("longgop.mp4") == i and close(times("longgop.mp4"), t)
        and sum(x["flags"][0] == "K" for x in packets("longgop.mp4")) == 1, "400 ids, one key picture")
    got = ids("opengop.ts")
    say("opengop.ts", got[0] == 15 and got[-1] == 59, "ids from 15; ffmpeg shows %d, first ids %s" % (len(got), got[:4]))
    # 22
    clean = [y.tobytes() for y in grey("feed.ts")]
    los = grey("lossy.ts")
    okc = sum(y.tobytes() in clean for y in los)
    say("lossy.ts", len(clean) == 100 and 94 <= okc < 100,
        "%d pictures decoded, %d identical to the clean ones" % (len(los), okc))
    bads = [n for n in range(100) if clean[n] not in {y.tobytes() for y in los}]
    print("                     pictures not intact in lossy.ts:", bads)
    say("cam.h264", ids("cam.h264") == list(range(100)), "100 ids, no B pictures")
    # 23
    for i, n in enumerate(mk.NAMES):
        _, out, _ = run("ffmpeg", "-v", "quiet", "-i", "file:names/" + n, "-f", "s16le", "-")
        x = np.frombuffer(out, "<i2")
        say("names", len(x) == 100 + i and (x == 1000 + i).all(), ascii(n))
    say("zero.*", os.path.getsize("zero.mp4") == 0 and os.path.getsize("header.wav") == 44, "0, 0 and 44 bytes")
    sys.exit(bad > 0)


main()
