# SPDX-License-Identifier: MIT
"""Checks for the command-line tests: read what swt wrote and compare it with ffmpeg or arithmetic.

It knows the documented file formats (npy, wav, y4m, ndjson) and the bar code of the test pictures,
and nothing of how swt works inside. Every check ends the program with one line when it fails.
"""
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CASES = os.environ.get("CASES", "")
SWT = os.environ.get("SWT", "swt")
SWS = ["-sws_flags", "accurate_rnd+full_chroma_int+bitexact"]


def _case_maker():
    path = os.path.join(TESTS, "cases", "make-cases.py")
    spec = importlib.util.spec_from_file_location("make_cases", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


mk = _case_maker()


def fail(text):
    sys.exit("check: " + text)


def same(got, want, what="value"):
    """Exactly equal; of arrays the first difference is shown."""
    if isinstance(got, np.ndarray) or isinstance(want, np.ndarray):
        within(got, want, 0, what)
    elif got != want:
        fail("%s: got %r, want %r" % (what, got, want))


def within(got, want, tol, what="value", stray=0):
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        fail("%s: shape %s, want %s" % (what, got.shape, want.shape))
    kind = np.float64 if "f" in got.dtype.kind + want.dtype.kind else np.int64
    far = ~(np.abs(got.astype(kind) - want.astype(kind)) <= tol)  # a NaN is far
    if far.sum() > stray:
        at = tuple(int(k) for k in np.argwhere(far)[0])
        fail("%s: %d of %d differ by more than %s, first at %s: got %s, want %s"
             % (what, far.sum(), far.size, tol, at, got[at], want[at]))


def true(ok, what):
    if not ok:
        fail(what)


# ------------------------------------------------------------------ swt
def swt(*args, rc=0, stdin=None):
    """Run swt, expect the exit status, return its standard output."""
    r = subprocess.run([SWT, *map(str, args)], input=stdin, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    if r.returncode != rc:
        fail("swt %s: exit %d, want %d: %s" % (" ".join(map(str, args)), r.returncode, rc,
                                               r.stderr.decode(errors="replace").strip()))
    return r.stdout


def info(recording):
    """Streams of a recording by name."""
    rows = ndjson_text(swt("info", recording, "--format", "ndjson").decode())
    return {r["name"]: r for r in rows if "name" in r}


def ndjson_text(text):
    return [json.loads(line) for line in text.splitlines()]


def ndjson(path):
    return ndjson_text(open(path, encoding="utf-8").read())


def picture_times(rows):
    """Seconds of every picture, in order, from `window --format ndjson`."""
    shown = sorted((r["frame"], int(r["pts_ns"])) for r in rows if r.get("frames", 1))
    return [ns / 1e9 for _, ns in shown]


# ------------------------------------------------------------------ files
def npy(path):
    return np.load(path, allow_pickle=False)


def npy_header(path):
    """The header's dictionary, with the rules of the format checked on the way."""
    data = open(path, "rb").read()
    same(data[:8], b"\x93NUMPY\x01\x00", path + ": magic and version")
    n = int.from_bytes(data[8:10], "little")
    same((10 + n) % 64, 0, path + ": header length modulo 64")
    same(data[9 + n:10 + n], b"\n", path + ": end of header")
    head = eval(data[10:10 + n].decode("latin1"), {"__builtins__": {}})  # a literal, see npy format
    size = int(np.prod(head["shape"], dtype=np.int64)) * np.dtype(head["descr"]).itemsize
    same(len(data), 10 + n + size, path + ": file size")
    return head


def wav(path):
    """(rate, samples [T, C]) of a WAV file; sizes and tags checked."""
    d = open(path, "rb").read()
    same((d[:4], d[8:12]), (b"RIFF", b"WAVE"), path + ": RIFF tags")
    same(int.from_bytes(d[4:8], "little"), len(d) - 8, path + ": RIFF size")
    at, fmt = 12, None
    while at + 8 <= len(d):
        tag, n = d[at:at + 4], int.from_bytes(d[at + 4:at + 8], "little")
        if tag == b"fmt ":
            fmt = d[at + 8:at + 8 + n]
        if tag == b"data":
            code = int.from_bytes(fmt[24:26] if fmt[:2] == b"\xfe\xff" else fmt[:2], "little")
            bits = int.from_bytes(fmt[14:16], "little")
            kind = {(1, 16): "<i2", (1, 32): "<i4", (1, 8): "u1", (3, 32): "<f4"}[(code, bits)]
            ch = int.from_bytes(fmt[2:4], "little")
            true(at + 8 + n <= len(d), path + ": data chunk longer than the file")
            return (int.from_bytes(fmt[4:8], "little"),
                    np.frombuffer(d[at + 8:at + 8 + n], kind).reshape(-1, ch))
        at += 8 + n + (n & 1)
    fail(path + ": no data chunk")


# ------------------------------------------------------------------ pictures
def ids(a):
    """Bar codes of [T, H, W, C] pictures, from their first channel."""
    true(a.ndim == 4, "pictures have shape %s, want [T, H, W, C]" % (a.shape,))
    scale = 257 if a.dtype.itemsize == 2 else 1
    return [mk.read_id(p[:, :, 0] / scale) for p in a]


def planar_ids(a, w, h):
    """Bar codes of [T, bytes] planar pictures, from the luma plane."""
    return [mk.read_id(p[:w * h].reshape(h, w)) for p in a]


def colour_rows(name):
    """(x, (Y, U, V), (R, G, B)) of each patch of a file in colour.tsv."""
    out = []
    for line in open(os.path.join(CASES, "colour.tsv"), encoding="utf-8"):
        f = line.split("\t")
        if f[0] == name:
            out.append((int(f[2]), tuple(map(int, f[4:7])), tuple(map(int, f[7:10]))))
    true(len(out) == 6, "colour.tsv: six patches of " + name)
    return out


def live_picture(n, w=96, h=64):
    """Picture n of live.py as a 4:2:0 planar row; written apart from live.py on purpose."""
    x, y = np.meshgrid(np.arange(w), np.arange(h))
    luma = mk.bars((16 + (3 * x + 5 * y + 11 * n) % 200).astype(np.uint8), n % 1024)
    chroma = np.full(2 * ((w + 1) // 2) * ((h + 1) // 2), 128, np.uint8)
    return np.concatenate([luma.reshape(-1), chroma])


def live_number(p, w=96, h=64):
    """The number of a live picture: bar code (modulo 1024) and first pixel below it (modulo 200)."""
    code = planar_ids(p[None], w, h)[0]
    for n in range(code, 25600, 1024):
        if p[8 * w] == 16 + (5 * 8 + 11 * n) % 200:
            return n
    fail("the bar code says %d, the first pixel below it %d: torn" % (code, p[8 * w]))


def live_run(path, w=96, h=64):
    """The numbers of the live pictures in a stored-format npy file: consecutive, every pixel right."""
    a = npy(path)
    true(a.ndim == 2 and len(a) > 0, "%s: shape %s" % (path, a.shape))
    first = live_number(a[0], w, h)
    for k, p in enumerate(a):
        same(p, live_picture(first + k, w, h), "%s: picture %d (id %d)" % (path, k, first + k))
    return list(range(first, first + len(a)))


def handed_over(log, before):
    """How many pictures the live source had handed over at unix time `before`."""
    return sum(float(line.split()[1]) <= before for line in open(log) if line.count(" ") == 1
               and line.endswith("\n"))


# ------------------------------------------------------------------ the reference
def ffmpeg(*args):
    r = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", *map(str, args)],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if r.returncode:
        fail("ffmpeg %s: %s" % (" ".join(map(str, args)), r.stderr.decode(errors="replace")))
    return r.stdout


def ref_cmd(path, pixel=None, select=None):
    """ffmpeg command that writes every shown picture of a file raw, in `pixel` or as decoded."""
    vf = ["-vf", "select='%s'" % "+".join("eq(n,%d)" % n for n in select)] if select else []
    pix = ["-pix_fmt", pixel] if pixel else []
    return ["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-map", "0:v:0", "-fps_mode",
            "passthrough", *vf, *SWS, "-f", "rawvideo", *pix, "-"]


def ref_planes(path, frame_bytes):
    d = subprocess.run(ref_cmd(path), stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(d, np.uint8).reshape(-1, frame_bytes)


def ref_rgb(path, w, h, select=None, pixel="rgb24"):
    d = subprocess.run(ref_cmd(path, pixel, select), stdout=subprocess.PIPE, check=True).stdout
    kind = "<u2" if "48" in pixel else "u1"
    return np.frombuffer(d, kind).reshape(-1, h, w, 3)


def ref_sound(path, stream="0:a:0"):
    channels = int(subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", stream[2:], "-show_entries",
         "stream=channels", "-of", "csv=p=0", path], stdout=subprocess.PIPE,
        check=True).stdout.split()[0])
    d = ffmpeg("-i", path, "-map", stream, "-f", "f32le", "-")
    return np.frombuffer(d, "<f4").reshape(-1, channels)


def compare(cmd_got, cmd_want, frame_bytes, tol, stray=0):
    """Run two commands and compare their raw pictures one by one; how many there were. `stray`: samples of a
    picture that may be off by more."""
    got = subprocess.Popen(cmd_got, stdout=subprocess.PIPE)
    want = subprocess.Popen(cmd_want, stdout=subprocess.PIPE)
    n = 0
    while True:
        a, b = got.stdout.read(frame_bytes), want.stdout.read(frame_bytes)
        if len(a) != len(b) or len(a) not in (0, frame_bytes):
            fail("picture %d: %d bytes, the reference has %d" % (n, len(a), len(b)))
        if not a:
            break
        if a != b:
            x, y = np.frombuffer(a, np.uint8), np.frombuffer(b, np.uint8)
            off = np.maximum(x, y) - np.minimum(x, y)
            if int((off > tol).sum()) > stray:
                fail("picture %d is off by up to %d, allowed %d, at %d samples" % (n, off.max(), tol, (off > tol).sum()))
        n += 1
    same((got.wait(), want.wait()), (0, 0), "exit status, and of the reference")
    return n


def resize(pic, w, h):
    """Antialiased bilinear of one [H, W, C] picture as torchvision defines it, in doubles."""
    def weights(n_in, n_out):
        scale = n_in / n_out
        support = max(scale, 1.0)
        m = np.zeros((n_out, n_in))
        for o in range(n_out):
            centre = (o + .5) * scale
            lo, hi = max(int(centre - support + .5), 0), min(int(centre + support + .5), n_in)
            k = np.arange(lo, hi)
            t = np.maximum(0, 1 - np.abs((k + .5 - centre) / support))
            m[o, lo:hi] = t / t.sum()
        return m
    wy, wx = weights(pic.shape[0], h), weights(pic.shape[1], w)
    return np.einsum("yh,hwc,xw->yxc", wy, pic.astype(float), wx, optimize=True)
