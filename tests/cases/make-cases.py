# SPDX-License-Identifier: MIT
"""make-cases.py OUTDIR [--big]

Writes the input files described in cases.md into OUTDIR.
Needs ffmpeg (5.1), sox and python3-numpy.  No clock, no random numbers, no
network: the same tools give the same bytes.  --big adds a sparse file of more
than 2^31 frames.

Frame identity.  Unless a case says otherwise every picture carries its own
number N ("id") in a bar code: ten 8x8-pixel blocks in the top-left corner, most
significant bit at the left, luma 235 = 1, luma 16 = 0.  read_id() decodes it.
"""
import argparse
import os
import re
import struct
import subprocess
import sys

import numpy as np

BX = ["-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact"]
W, H = 96, 64


# ------------------------------------------------------------------ helpers
def ff(*args, inp=None):
    """Run ffmpeg quietly; return its standard output."""
    cmd = ["ffmpeg", "-hide_banner", "-loglevel", "error", "-y"]
    if inp is None:
        cmd.append("-nostdin")
    r = subprocess.run(cmd + [str(a) for a in args], input=inp,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if r.returncode:
        sys.exit("ffmpeg failed: %s\n%s" % (" ".join(map(str, args)),
                                            r.stderr.decode(errors="replace")))
    return r.stdout


def rawin(w=W, h=H, rate="25", pix="yuv420p"):
    return ["-f", "rawvideo", "-pix_fmt", pix, "-s", "%dx%d" % (w, h),
            "-r", rate, "-i", "-"]


def x264(bframes=2, gop=25, extra="", crf="12"):
    """libx264, one thread, fixed GOP and fixed B-frame pattern."""
    p = ("threads=1:lookahead-threads=1:sliced-threads=0:b-adapt=0:scenecut=0"
         ":bframes=%d:keyint=%s:min-keyint=1%s" % (bframes, gop, extra))
    return ["-c:v", "libx264", "-crf", crf, "-preset", "medium",
            "-threads", "1", "-x264-params", p]


MJPEG = ["-c:v", "mjpeg", "-qscale:v", "2", "-pix_fmt", "yuvj420p"]
TS = ["-muxdelay", "0", "-muxpreload", "0", "-f", "mpegts"]


def bars(y, n):
    for b in range(10):
        y[0:8, b * 8:b * 8 + 8] = 235 if (n >> (9 - b)) & 1 else 16
    return y


def picture(n, w=W, h=H, noise=0):
    """Luma plane of picture n: bar code, grey ground, moving square."""
    y = np.full((h, w), 110, np.uint8)
    if noise:
        xx, yy = np.meshgrid(np.arange(w), np.arange(h))
        k = (xx * 7919 + yy * 104729 + n * 1299709) & 0xffffffff
        k = ((k ^ (k >> 7)) * 2654435761) & 0xffffffff
        y = (80 + ((k >> 13) % noise)).astype(np.uint8)
    x0 = (n * 3) % (w - 16)
    y[24:40, x0:x0 + 16] = 200
    return bars(y, n)


def clip(ids, w=W, h=H, noise=0):
    c = b"\x80" * (2 * ((w + 1) // 2) * ((h + 1) // 2))
    return b"".join(picture(n, w, h, noise).tobytes() + c for n in ids)


def read_id(y):
    return int("".join("1" if y[2:6, b * 8 + 2:b * 8 + 6].mean() > 125 else "0"
                       for b in range(10)), 2)


def riff(path, fmt, data, pre=b"", post=b"", tag=b"RIFF", riffsize=None,
         datasize=None):
    body = (b"WAVE" + pre + b"fmt " + struct.pack("<I", len(fmt)) + fmt + b"data"
            + struct.pack("<I", len(data) if datasize is None else datasize)
            + data + (b"\0" if len(data) & 1 else b"") + post)
    with open(path, "wb") as f:
        f.write(tag + struct.pack("<I", len(body) if riffsize is None
                                  else riffsize) + body)


def fmt_pcm(ch, rate, bits, tag=1):
    return struct.pack("<HHIIHH", tag, ch, rate, rate * ch * bits // 8,
                       ch * bits // 8, bits)


def wav16(path, x, rate):
    x = np.asarray(x)
    x = x.reshape(len(x), -1)
    riff(path, fmt_pcm(x.shape[1], rate, 16), x.astype("<i2").tobytes())


def s24(v):
    v = np.asarray(v, np.int64) & 0xffffff
    return np.stack([v & 255, (v >> 8) & 255, (v >> 16) & 255],
                    -1).astype(np.uint8).tobytes()


def frames_tsv(name, ids, times):
    """Expected list of pictures of file `name`: id and time in seconds."""
    with open(name + ".frames.tsv", "w") as f:
        f.write("index\tid\ttime_s\n")
        for k, (i, t) in enumerate(zip(ids, times)):
            f.write("%d\t%d\t%.9f\n" % (k, i, t))


def avi_chunks(b):
    out, i = [], b.find(b"movi") + 4
    while i + 8 <= len(b):
        t = bytes(b[i:i + 4])
        n = struct.unpack("<I", b[i + 4:i + 8])[0]
        if t not in (b"00dc", b"00db", b"01wb"):
            break
        out.append((i + 8, n))
        i += 8 + n + (n & 1)
    return out


def yuv_patches(pats, w, h, dtype, ssx=2, ssy=2):
    y = np.zeros((h, w), dtype)
    u = np.zeros((h // ssy, w // ssx), dtype)
    v = u.copy()
    pw = w // len(pats)
    for i, (a, b, c) in enumerate(pats):
        y[:, i * pw:(i + 1) * pw] = a
        u[:, i * pw // ssx:(i + 1) * pw // ssx] = b
        v[:, i * pw // ssx:(i + 1) * pw // ssx] = c
    return y.tobytes() + u.tobytes() + v.tobytes()


def yuv2rgb(p, kr, kb, bits, full, outbits=8):
    """The textbook formula (ITU-R BT.601/709/2020 non-constant luminance)."""
    y, u, v = [float(x) for x in p]
    s = 2 ** (bits - 8)
    if full:
        m = 2 ** bits - 1
        Y, U, V = y / m, (u - 128 * s) / m, (v - 128 * s) / m
    else:
        Y = (y - 16 * s) / (219 * s)
        U, V = (u - 128 * s) / (224 * s), (v - 128 * s) / (224 * s)
    r = Y + 2 * (1 - kr) * V
    b = Y + 2 * (1 - kb) * U
    g = (Y - kr * r - kb * b) / (1 - kr - kb)
    m = 2 ** outbits - 1
    return [int(round(min(max(c, 0.0), 1.0) * m)) for c in (r, g, b)]


# ------------------------------------------------------------------ the cases
def c01_vfr():
    ticks, t = [], 0
    for i in range(40):
        if i == 0:
            t = 0
        elif i < 10:
            t += 3600                      # 40 ms
        elif i < 20:
            t += 3003                      # 33.367 ms
        elif i == 20:
            t += 153000                    # 1.7 s pause
        elif i < 25:
            t += 450                       # 5 ms burst
        else:
            t += 1500 * (1 + i % 4)
        ticks.append(t)
    e = "+".join("eq(N,%d)*%d" % kv for kv in enumerate(ticks))
    ff(*rawin(), *BX, "-vf", "settb=1/90000,setpts='%s'" % e, "-vsync",
       "passthrough", "-enc_time_base", "1/90000", *x264(2, 40),
       "-video_track_timescale", "90000", "vfr.mp4", inp=clip(range(40)))
    frames_tsv("vfr.mp4", range(40), [k / 90000 for k in ticks])


def c02_no_timestamps():
    ff(*rawin(rate="10"), *BX, *x264(3, 50), "-f", "h264", "raw10.h264",
       inp=clip(range(50)))
    frames_tsv("raw10.h264", range(50), [k / 10 for k in range(50)])
    part = []
    for k in (0, 1):
        ff(*rawin(), *BX, *x264(2, 25), *TS, "restart.tmp",
           inp=clip(range(25 * k, 25 * k + 25)))
        part.append(open("restart.tmp", "rb").read())
    os.remove("restart.tmp")
    open("restart.ts", "wb").write(b"".join(part))


def c03_wrap():
    n = np.arange(48000 * 3)
    wav16("tmp.wav", 8000 * np.sin(2 * np.pi * 500 * n / 48000), 48000)
    off = (2 ** 33 - 90000) / 90000
    ff(*rawin(), "-i", "tmp.wav", *BX, *x264(2, 25), "-c:a", "mp2", "-b:a", "64k",
       "-output_ts_offset", "%.6f" % off, *TS, "wrap33.ts", inp=clip(range(75)))
    os.remove("tmp.wav")
    frames_tsv("wrap33.ts", range(75), [k / 25 for k in range(75)])


def c04_edit_list():
    ff(*rawin(), *BX, *x264(2, 30), "tmp.mp4", inp=clip(range(60)))
    ff("-ss", "1.48", "-i", "tmp.mp4", "-c", "copy", *BX, "trim.mp4")
    os.remove("tmp.mp4")
    frames_tsv("trim.mp4", range(37, 60), [k / 25 for k in range(23)])


def c05_rotation():
    a = np.zeros((H, W, 3), np.uint8)
    a[:H // 2, :W // 2] = (255, 0, 0)        # top left red
    a[:H // 2, W // 2:] = (0, 255, 0)        # top right green
    a[H // 2:, :W // 2] = (0, 0, 255)        # bottom left blue
    a[H // 2:, W // 2:] = (255, 255, 255)    # bottom right white
    tag = ["-colorspace", "bt709", "-color_range", "tv", "-color_primaries",
           "bt709", "-color_trc", "bt709"]
    ff(*rawin(pix="rgb24"), *BX, "-vf", "scale=out_color_matrix=bt709:out_range=tv",
       "-pix_fmt", "yuv444p", *tag, *x264(0, 5, crf="0"), "tmp.mp4",
       inp=a.tobytes() * 5)
    b = bytearray(open("tmp.mp4", "rb").read())
    os.remove("tmp.mp4")
    m = b.find(b"tkhd") + 44                 # the 3x3 matrix of the track header
    one = 0x10000
    for name, mat in (("rot90.mp4", (0, one, 0, -one, 0, 0, H * one, 0, 1 << 30)),
                      ("rot180.mp4", (-one, 0, 0, 0, -one, 0, W * one, H * one, 1 << 30))):
        b[m:m + 36] = struct.pack(">9i", *mat)
        open(name, "wb").write(b)


def c06_size():
    w, h = 101, 77
    xx, yy = np.meshgrid(np.arange(w), np.arange(h))
    out = []
    for n in range(12):
        y = bars((16 + (xx + 2 * yy + 3 * n) % 200).astype(np.uint8), n)
        out.append(y.tobytes() + bytes([90]) * (51 * 39) + bytes([170]) * (51 * 39))
    tag = ["-colorspace", "smpte170m", "-color_range", "tv"]
    ff(*rawin(w, h), *BX, *tag, "-c:v", "ffv1", "-level", "3", "-threads", "1",
       "odd.mkv", inp=b"".join(out))
    ff(*rawin(88, 72), *BX, *x264(0, 10), "-vf", "setsar=16/15", "sar.mp4",
       inp=clip(range(10), 88, 72))


P8 = [(63, 102, 200), (140, 60, 60), (60, 200, 110), (180, 60, 150),
      (120, 128, 128), (16, 128, 128)]
P10 = [(252, 408, 800), (560, 240, 240), (240, 800, 440), (720, 240, 600),
       (480, 512, 512), (64, 512, 512)]


def c07_colour():
    rows = []
    for name, kr, kb, full, spc in (("c709.mp4", .2126, .0722, 0, "bt709"),
                                    ("c601full.mp4", .299, .114, 1, "smpte170m")):
        tag = ["-colorspace", spc, "-color_range", "pc" if full else "tv",
               "-color_primaries", spc, "-color_trc", spc]
        ff("-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "96x64", "-r", "25", *tag,
           "-i", "-", *BX, *tag, *x264(0, 10, crf="0"), name,
           inp=yuv_patches(P8, W, H, np.uint8) * 10)
        rows += [(name, i, p, yuv2rgb(p, kr, kb, 8, full)) for i, p in enumerate(P8)]
    tag = ["-colorspace", "bt2020nc", "-color_range", "tv", "-color_primaries",
           "bt2020", "-color_trc", "smpte2084"]
    ff("-f", "rawvideo", "-pix_fmt", "yuv420p10le", "-s", "96x64", "-r", "25", *tag,
       "-i", "-", *BX, *tag, "-c:v", "libx265", "-preset", "fast", "-x265-params",
       "lossless=1:log-level=none:pools=none:frame-threads=1:info=0:range=limited:"
       "colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc",
       "-tag:v", "hvc1", "hdr10.mp4", inp=yuv_patches(P10, W, H, np.uint16) * 6)
    rows += [("hdr10.mp4", i, p, yuv2rgb(p, .2627, .0593, 10, 0))
             for i, p in enumerate(P10)]
    with open("colour.tsv", "w") as f:
        f.write("file\tpatch\tx\ty\tY\tU\tV\tR\tG\tB\n")
        for n, i, p, c in rows:
            f.write("%s\t%d\t%d\t32\t%d\t%d\t%d\t%d\t%d\t%d\n" % (n, i, i * 16 + 8, *p, *c))


def c08_alpha_gray16():
    w, h = 64, 48
    a = np.zeros((h, w), np.uint8)
    a[:, 16:32], a[:, 32:48], a[:, 48:] = 64, 128, 255
    f = (bytes([120]) * (w * h) + bytes([90]) * (w * h // 4)
         + bytes([170]) * (w * h // 4) + a.tobytes())
    ff(*rawin(w, h, pix="yuva420p"), *BX, "-c:v", "libvpx-vp9", "-lossless", "1",
       "-auto-alt-ref", "0", "-threads", "1", "-row-mt", "0", "-colorspace", "bt709",
       "-color_range", "tv", "alpha.webm", inp=f * 8)
    g = (np.arange(w * h).reshape(h, w) * 21 + 5) % 65536
    raw = b"".join(((g + 997 * n) % 65536).astype("<u2").tobytes() for n in range(6))
    ff(*rawin(w, h, "30", "gray16le"), *BX, "-c:v", "ffv1", "-level", "3",
       "-threads", "1", "gray16.mkv", inp=raw)


def c09_interlaced():
    out = []
    for n in range(25):
        y = np.empty((H, W), np.uint8)
        y[0::2] = 40 + 4 * n                 # top field
        y[1::2] = 42 + 4 * n                 # bottom field, 20 ms later
        out.append(y.tobytes() + b"\x80" * (W * H // 2))
    ff(*rawin(), *BX, "-vf", "setfield=tff", "-flags:v", "+ildct+ilme+bitexact",
       *x264(0, 25, ":tff=1", crf="0"), "-field_order", "tt", "tff.mkv",
       inp=b"".join(out))


def c10_resolution():
    part = []
    for k, (w, h) in enumerate(((96, 64), (128, 96))):
        ff(*rawin(w, h), *BX, *x264(2, 20), "-output_ts_offset", "%.2f" % (1 + .8 * k),
           *TS, "res.tmp", inp=clip(range(20 * k, 20 * k + 20), w, h))
        part.append(open("res.tmp", "rb").read())
    os.remove("res.tmp")
    open("res.ts", "wb").write(b"".join(part))
    frames_tsv("res.ts", range(40), [k / 25 for k in range(40)])


def c11_channels():
    s = ["-f", "lavfi", "-i"]
    e = "|".join("0.1*sin(2*PI*%d*t)" % f for f in (300, 500, 700, 60, 900, 1100))
    ff(*s, "aevalsrc='%s':s=48000:c=5.1:d=0.96" % e, *BX, "-c:a", "ac3", "-b:a",
       "448k", "-output_ts_offset", "1", *TS, "c0.tmp")
    e = "|".join("0.2*sin(2*PI*%d*t)" % f for f in (400, 800))
    ff(*s, "aevalsrc='%s':s=48000:c=stereo:d=0.96" % e, *BX, "-c:a", "ac3", "-b:a",
       "192k", "-output_ts_offset", "1.96", *TS, "c1.tmp")
    open("chan.ts", "wb").write(open("c0.tmp", "rb").read() + open("c1.tmp", "rb").read())
    os.remove("c0.tmp")
    os.remove("c1.tmp")


def c12_damage():
    ff(*rawin(), *BX, *MJPEG, "tmp.avi", inp=clip(range(40)))
    b = bytearray(open("tmp.avi", "rb").read())
    ch = avi_chunks(b)
    o, n = ch[17]
    b[o:o + n] = bytes(n)                       # picture 17: all zero
    o, n = ch[29]
    b[o + n // 2:o + n] = bytes(n - n // 2)     # picture 29: second half zero
    open("corrupt.avi", "wb").write(b)
    ff(*rawin(), *BX, *x264(2, 10), "tmp.mkv", inp=clip(range(60), noise=60))
    b = open("tmp.mkv", "rb").read()
    open("cut.mkv", "wb").write(b[:len(b) * 6 // 10])
    os.remove("tmp.avi")
    os.remove("tmp.mkv")


def c13_pipe():
    n = np.arange(48000)
    wav16("tmp.wav", n % 30000, 48000)
    for name, opt in (("tail.mp4", []), ("front.mp4", ["-movflags", "+faststart"]),
                      ("frag.mp4", ["-movflags", "frag_keyframe+empty_moov"])):
        ff(*rawin(256, 192), "-i", "tmp.wav", *BX, *x264(2, 10), "-c:a", "aac", "-b:a",
           "64k", *opt, name, inp=clip(range(20), 256, 192, noise=120))
    os.remove("tmp.wav")
    d = (np.arange(20000) % 65536 - 32768).astype("<i2").tobytes()
    riff("unk.wav", fmt_pcm(2, 48000, 16), d, riffsize=0xffffffff, datasize=0xffffffff)


def c14_counts():
    keep = [i for i in range(30) if i not in (8, 9, 20)]
    e = "+".join("eq(N,%d)*%d" % kv for kv in enumerate(keep))
    ff(*rawin(), *BX, "-vf", "settb=1/25,setpts='%s'" % e, "-vsync", "passthrough",
       *MJPEG, "tmp.mkv", inp=clip(keep))
    ff("-i", "tmp.mkv", "-c", "copy", *BX, "drop.avi")
    os.remove("tmp.mkv")
    frames_tsv("drop.avi", keep, [k / 25 for k in keep])
    for n in (1, 3):
        ff(*rawin(), *BX, *x264(3, 10), "tiny%d.mp4" % n, inp=clip(range(700, 700 + n)))


def c15_priming():
    x = np.zeros(44100)
    x[1000], x[30000] = 29491, -29491
    wav16("tmp.wav", x, 44100)
    ff("-i", "tmp.wav", *BX, "-c:a", "aac", "-b:a", "192k", "prime.m4a")
    os.remove("tmp.wav")


def c16_sync():
    vid = []
    for n in range(50):
        y = picture(n)
        if n == 25:
            y[8:] = 235                                  # flash at 1.000 s
        vid.append(y.tobytes() + b"\x80" * (W * H // 2))
    k = np.arange(12000, 96000)                          # audio: 0.25 s .. 2.0 s
    a = np.where((k >= 48000) & (k < 48480), 20000, 7)   # beep at 1.000 s
    wav16("tmp.wav", a, 48000)
    ff(*rawin(), "-itsoffset", "0.25", "-i", "tmp.wav", *BX, "-map", "0:v", "-map",
       "1:a", *x264(2, 25), "-c:a", "pcm_s16le", "offset.mkv", inp=b"".join(vid))
    k = np.arange(120000)
    wav16("tmp.wav", k * 7 % 30000 + 1, 48000)           # never 0
    ff("-i", "tmp.wav", *BX, "-af",
       "asetnsamples=n=480:p=0,aselect='not(between(t,1,1.499))'",
       "-c:a", "pcm_s16le", "gap.mka")
    k = np.arange(16000 * 20)
    a = np.where((k >= 302400) & (k < 302480), 25000, 3)
    wav16("tmp.wav", a, 16000)
    ff("-i", "tmp.wav", *BX, "-af", "asetnsamples=n=320:p=0", "-c:a", "pcm_s16le",
       "-bsf:a", "setts=pts=PTS*1005/1000:dts=DTS*1005/1000", "drift.mka")
    os.remove("tmp.wav")


S24L = [0, 1, -1, 8388607, -8388608, 4194304, -4194304, 256, -256, 65536]
S24R = [5, -5, 1000, -1000, 123456, -123456, 8388606, -8388607, 2, -2]


def c17_wav():
    riff("s24.wav", fmt_pcm(2, 48000, 24), s24(np.stack([S24L, S24R], 1).reshape(-1)))
    d = (np.arange(20000) % 65536 - 32768).astype("<i2").tobytes()
    ds64 = b"ds64" + struct.pack("<IQQQI", 28, 4 + 36 + 24 + 8 + len(d), len(d),
                                 len(d) // 4, 0)
    junk = b"junk" + struct.pack("<I", 4000) + b"\x7f" * 4000
    riff("rf64.wav", fmt_pcm(2, 48000, 16), d, pre=ds64, post=junk, tag=b"RF64",
         riffsize=0xffffffff, datasize=0xffffffff)
    ff("-f", "s16le", "-ar", "48000", "-ac", "2", "-i", "-", *BX, "-f", "aiff",
       "be.aiff", inp=d)


FLOATS = [0, .5, -.5, .25, 1 / 32768, -1 / 32768, .99996948, 1.0, -1.0, 1.5, -1.5,
          2.0, -2.0, 1e-9, .49998474]


def c18_float():
    riff("float.wav", fmt_pcm(1, 48000, 32, 3), np.array(FLOATS, "<f4").tobytes())


def c19_order():
    x = np.tile(np.array([1000, 2000, 3000, 4000, 5000, 6000], "<i2"), (4800, 1))
    f = (fmt_pcm(6, 48000, 16, 0xfffe) + struct.pack("<HHI", 22, 16, 0x60f)
         + bytes.fromhex("0100000000001000800000aa00389b71"))
    riff("51.wav", f, x.tobytes())


def c20_streams():
    x = np.zeros(48000)
    x[2000], x[40000] = 24000, -24000
    wav16("imp.tmp.wav", x, 48000)
    ff("-f", "lavfi", "-i", "color=red:s=64x64:d=0.04", *BX, "-frames:v", "1",
       "-c:v", "mjpeg", "-threads", "1", "cov.tmp.jpg")
    ff("-i", "imp.tmp.wav", "-i", "cov.tmp.jpg", *BX, "-map", "0", "-map", "1",
       "-c:a", "libmp3lame", "-b:a", "128k", "-c:v", "copy", "-id3v2_version", "3",
       "-metadata:s:v", "title=Album cover", "-metadata:s:v", "comment=Cover (front)",
       "cover.mp3")
    ff(*rawin(rate="10"), *BX, *x264(0, 10), "v0.tmp.mkv", inp=clip(range(100, 110)))
    ff(*rawin(128, 96, "20"), *BX, *x264(0, 10), "v1.tmp.mkv",
       inp=clip(range(200, 220), 128, 96))
    wav16("a0.tmp.wav", np.full(48000, 111), 48000)
    wav16("a1.tmp.wav", np.full((16000, 2), 222), 16000)
    wav16("a2.tmp.wav", np.full(8000, 333), 8000)
    open("s.tmp.srt", "w").write("1\n00:00:00,100 --> 00:00:00,900\nhello\n\n")
    open("note.tmp.txt", "w").write("attachment\n")
    ff("-i", "v0.tmp.mkv", "-i", "v1.tmp.mkv", "-i", "a0.tmp.wav", "-i", "a1.tmp.wav",
       "-i", "a2.tmp.wav", "-i", "s.tmp.srt", *BX, "-map", "0:v", "-map", "1:v",
       "-map", "2:a", "-map", "3:a", "-map", "4:a", "-map", "5", "-c", "copy", "-c:s",
       "srt", "-attach", "note.tmp.txt", "-metadata:s:t", "mimetype=text/plain",
       "-metadata:s:t", "filename=note.txt",
       "-disposition:v:0", "0", "-disposition:v:1", "default", "-disposition:a:0", "0",
       "-disposition:a:1", "default", "-disposition:a:2", "0", "many.mkv")
    for n in os.listdir("."):
        if ".tmp." in n:
            os.remove(n)


def c21_gop():
    ff(*rawin(rate="50"), *BX, *x264(3, "infinite"), "longgop.mp4", inp=clip(range(400)))
    frames_tsv("longgop.mp4", range(400), [k / 50 for k in range(400)])
    ff(*rawin(), *BX, *x264(3, 15, ":open-gop=1:b-pyramid=none"), *TS, "og.tmp",
       inp=clip(range(60)))
    b = open("og.tmp", "rb").read()
    os.remove("og.tmp")
    key = []                                  # packets that start a key picture
    for o in range(0, len(b), 188):
        pid = ((b[o + 1] & 31) << 8) | b[o + 2]
        if pid == 0x100 and b[o + 1] & 0x40 and (b[o + 3] & 0x20) and b[o + 4] \
                and b[o + 5] & 0x40:
            key.append(o)
    open("opengop.ts", "wb").write(b[:3 * 188] + b[key[1]:])


def c22_network():
    ff(*rawin(), *BX, "-c:v", "mpeg2video", "-qscale:v", "2", "-g", "1", "-bf", "0",
       "-threads", "1", *TS, "feed.ts", inp=clip(range(100), noise=120))
    b = open("feed.ts", "rb").read()
    d = [b[i:i + 1316] for i in range(0, len(b), 1316)]
    lost = {41, 42, 97, 150}
    open("lossy.ts", "wb").write(b"".join(x for i, x in enumerate(d) if i not in lost))
    ff(*rawin(), *BX, *x264(0, 25), "-f", "h264", "cam.h264", inp=clip(range(100)))


NAMES = ["-dash.wav", "a:b.wav", "100%d.wav", "two  spaces .wav", "new\nline.wav",
         "q?x=1&y#z.wav", "Größe-音.wav", "it's \"q\".wav", "[1-3]*.wav",
         "http:.wav", "concat:a|b.wav"]


def c23_names():
    os.makedirs("names", exist_ok=True)
    for i, n in enumerate(NAMES):
        wav16(os.path.join("names", n), np.full(100 + i, 1000 + i), 8000)
    for n in ("zero.mp4", "zero.wav"):
        open(n, "wb").close()
    riff("header.wav", fmt_pcm(2, 48000, 16), b"")


TIMES = """# text\tTZ\texpected Unix time (s) or rule
2025-03-30T00:59:59.5Z\tany\t1743296399.5
2025-10-26T02:30:00+02:00\tany\t1761438600
2025-10-26T02:30:00+01:00\tany\t1761442200
2025-10-26T02:30:00\tEurope/Berlin\trefuse (no zone; the hour exists twice: 1761438600 / 1761442200)
2025-03-30T02:30:00\tEurope/Berlin\trefuse (no zone; the hour does not exist)
2025-06-01T12:00:00\tEurope/Berlin\trefuse (no zone)
2025-06-01T12:00:00.123456789Z\tany\t1748779200.123456789
2025-06-01T17:30:00+05:30\tany\t1748779200
2025-02-29T00:00:00Z\tany\trefuse
2025-06-31T00:00:00Z\tany\trefuse
2025-06-01T25:00:00Z\tany\trefuse
2025-06-01T12:00:00 02:00\tany\trefuse (a '+' lost in transport)
1969-12-31T23:59:59Z\tany\t-1 (understood; not recorded)
2038-01-19T03:14:08Z\tany\t2147483648
"""


def c25_times():
    open("times.tsv", "w").write(TIMES)


def big():
    """8-bit mono WAV of 2 200 000 000 frames (> 2^31); sparse on disk."""
    n = 2200000000
    with open("big-u8.wav", "wb") as f:
        f.write(b"RIFF" + struct.pack("<I", 36 + n) + b"WAVEfmt "
                + struct.pack("<I", 16) + fmt_pcm(1, 192000, 8) + b"data"
                + struct.pack("<I", n))
        f.seek(44 + n - 1)
        f.write(b"\xff")
        for k in (2 ** 31 - 1, 2 ** 31):
            f.seek(44 + k)
            f.write(bytes([200 + (k & 1)]))


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("outdir")
    ap.add_argument("--big", action="store_true")
    a = ap.parse_args()
    os.makedirs(a.outdir, exist_ok=True)
    os.chdir(a.outdir)
    for name in sorted(n for n in globals() if re.match(r"c\d\d_", n)):
        globals()[name]()
    if a.big:
        big()


if __name__ == "__main__":
    main()
