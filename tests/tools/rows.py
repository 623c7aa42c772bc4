# SPDX-License-Identifier: MIT
"""rows.py: a paced, self-checking source of raw rows on standard output.

  rows.py --rows N [--rate HZ] [--shape 225x225x3] [--start ID] [--log FILE]

Without --shape a row is seven f32: value k of row n is 8n + k, exact below 2^21 rows. With --shape
a row is bytes: the first four are n, little endian, byte i is (31n + 7i + i/256) mod 256. --rate 0 delivers without pause.
--log: one line "id unix_time" per row handed over.
"""
import argparse
import sys
import time

import numpy as np


def f32_rows(first, count):
    n = np.arange(first, first + count)
    return (n[:, None] * 8 + np.arange(7)[None, :]).astype("<f4")


def byte_rows(first, count, size):
    n, i = np.arange(first, first + count), np.arange(size)
    rows = ((31 * n[:, None] + (7 * i + i // 256)[None, :]) & 255).astype(np.uint8)
    rows[:, :4] = n.astype("<u4").view(np.uint8).reshape(count, 4)
    return rows


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, required=True)
    ap.add_argument("--rate", type=float, default=0)
    ap.add_argument("--shape")
    ap.add_argument("--start", type=int, default=0)
    ap.add_argument("--log")
    a = ap.parse_args()
    size = int(np.prod([int(k) for k in a.shape.split("x")])) if a.shape else 0
    log = open(a.log, "w", buffering=1) if a.log else None
    out, t0 = sys.stdout.buffer, time.monotonic()
    try:
        for k in range(a.rows):
            wait = t0 + k / a.rate - time.monotonic() if a.rate else 0
            if wait > 0:
                time.sleep(wait)
            n = a.start + k
            out.write((byte_rows(n, 1, size) if a.shape else f32_rows(n, 1)).tobytes())
            if a.rate:
                out.flush()
            if log:
                log.write("%d %.6f\n" % (n, time.time()))
    except BrokenPipeError:
        sys.stderr.close()


if __name__ == "__main__":
    main()
