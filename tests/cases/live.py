# SPDX-License-Identifier: MIT
"""live.py: a paced, self-checking live source on standard output (YUV4MPEG2).

  live.py [--fps 50] [--rate 1.0] [--frames N] [--start ID] [--size WxH]
          [--stall-after N --stall S] [--log FILE]

--fps   frame rate written in the stream header
--rate  speed of delivery (1.0 = real time, 0.5 = half as fast as the header says)
--stall-after/--stall   stop delivering for S seconds after N pictures
--log   one line "id unix_time" per picture handed over (for the checks)

Picture N: bar code of N as in make-cases.py (10 blocks of 8x8, most significant
bit left, N taken modulo 1024); all other luma samples are
    Y(x, y) = 16 + (3*x + 5*y + 11*N) mod 200        chroma 128
so a torn or stale picture is recognised from any of its pixels.
live.py --check N FILE    verifies one raw planar 4:2:0 picture.
"""
import argparse
import sys
import time


def picture(n, w, h, rows={}):
    if not rows:
        for p in range(200):
            rows[p] = bytes(16 + (3 * x + p) % 200 for x in range(w))
    code = b"".join((b"\xeb" if ((n % 1024) >> (9 - b)) & 1 else b"\x10") * 8
                    for b in range(10))
    y = [rows[(5 * k + 11 * n) % 200] for k in range(h)]
    y[:8] = [code + r[80:] for r in y[:8]]
    return b"".join(y) + b"\x80" * (2 * ((w + 1) // 2) * ((h + 1) // 2))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--fps", type=int, default=50)
    ap.add_argument("--rate", type=float, default=1.0)
    ap.add_argument("--frames", type=int, default=0)
    ap.add_argument("--start", type=int, default=0)
    ap.add_argument("--size", default="96x64")
    ap.add_argument("--stall-after", type=int, default=-1)
    ap.add_argument("--stall", type=float, default=0)
    ap.add_argument("--log")
    ap.add_argument("--check", nargs=2, metavar=("N", "FILE"))
    a = ap.parse_args()
    w, h = map(int, a.size.split("x"))
    if a.check:
        ok = open(a.check[1], "rb").read() == picture(int(a.check[0]), w, h)
        print("same" if ok else "DIFFERENT")
        sys.exit(not ok)
    log = open(a.log, "w", buffering=1) if a.log else None
    out = sys.stdout.buffer
    try:
        out.write(b"YUV4MPEG2 W%d H%d F%d:1 Ip A1:1 C420jpeg\n" % (w, h, a.fps))
        t0, k = time.monotonic(), 0
        while not a.frames or k < a.frames:
            if k == a.stall_after:
                time.sleep(a.stall)
                t0 += a.stall
            d = t0 + k / (a.fps * a.rate) - time.monotonic()
            if d > 0:
                time.sleep(d)
            out.write(b"FRAME\n" + picture(a.start + k, w, h))
            out.flush()
            if log:
                log.write("%d %.6f\n" % (a.start + k, time.time()))
            k += 1
    except BrokenPipeError:
        sys.stderr.close()


main()
