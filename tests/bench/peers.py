#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""peers.py - the same jobs with numpy.memmap, h5py and zarr, written as somebody who knows them would.

    peers.py MODULE DIR            orders on stdin, one a line; answers: time in ns, or what is wrong
    peers.py MODULE DIR last N     whole process: the newest N frames to stdout
    peers.py MODULE DIR sound N    whole process: the last N samples of sound.wav to stdout
"""
import os
import sys
import time

MODULE, DIR = sys.argv[1], sys.argv[2]
SHAPE = (224, 224, 3)
FRAME = 224 * 224 * 3
RING = 16
H5_CHUNK = 1      # frames: a window reads whole chunks, whatever frame it begins at
ZARR_CHUNK = 16   # frames, buffered by hand before each write


def path(name):
    return os.path.join(DIR, name)


try:
    if MODULE == "soundfile":
        import soundfile
    else:
        import numpy as np
    if MODULE == "h5py":
        import h5py
    elif MODULE == "zarr":
        import zarr
except Exception as e:  # any reason is a reason to be skipped
    print(f"{MODULE} does not import: {e}", flush=True)
    sys.exit(0)


class Frames:
    """The frames of bench's data.c: numbered at both ends, a ring of bytes between."""

    def __init__(self):
        raw = np.fromfile(path("ring.raw"), dtype=np.uint8)
        self.ring = raw.reshape((RING,) + SHAPE)
        self.words = raw.view("<u8").reshape(RING, FRAME // 8)
        self.sums = [int(w[1:-1].sum(dtype=np.uint64)) for w in self.words]

    def make(self, no):
        w = self.words[no % RING]
        w[0] = w[-1] = no
        return self.ring[no % RING]

    def check(self, data, first):
        words = np.ascontiguousarray(data).reshape(-1).view("<u8").reshape(len(data), FRAME // 8)
        numbers = np.arange(first, first + len(data), dtype=np.uint64)
        if not ((words[:, 0] == numbers).all() and (words[:, -1] == numbers).all()):
            raise ValueError(f"{MODULE}: wrong frame numbers at {first}")
        want = sum(self.sums[(first + i) % RING] + 2 * (first + i) for i in range(len(data)))
        if int(words.sum(dtype=np.uint64)) != want % 2**64:
            raise ValueError(f"{MODULE}: wrong bytes at {first}")


class Memmap:
    name = "data.mm"

    def append(self, n, make):
        mm = np.memmap(path(self.name), dtype=np.uint8, mode="w+", shape=(n,) + SHAPE)
        for i in range(n):
            mm[i] = make(i)
        mm.flush()

    def open(self, n):
        name = self.name if os.path.exists(path(self.name)) else "data.raw"
        self.mm = np.memmap(path(name), dtype=np.uint8, mode="r", shape=(n,) + SHAPE)

    def read(self, a, b, out):
        np.copyto(out, self.mm[a:b])

    def close(self):
        self.mm._mmap.close()
        del self.mm


class H5:
    name = "data.h5"

    def append(self, n, make):
        with h5py.File(path(self.name), "w", libver="latest") as f:
            d = f.create_dataset("x", (0,) + SHAPE, np.uint8, maxshape=(None,) + SHAPE,
                                 chunks=(H5_CHUNK,) + SHAPE)
            for i in range(n):
                if i >= len(d):
                    d.resize(min(n, i + 1024), axis=0)
                d[i] = make(i)
            f.flush()
            os.fsync(f.id.get_vfd_handle())

    def open(self, n):
        self.f = h5py.File(path(self.name), "r")
        self.d = self.f["x"]

    def read(self, a, b, out):
        self.d.read_direct(out, np.s_[a:b])

    def close(self):
        self.f.close()


class Zarr:
    name = "data.zarr"

    def append(self, n, make):
        z = zarr.open(path(self.name), mode="w", shape=(n,) + SHAPE,
                      chunks=(ZARR_CHUNK,) + SHAPE, dtype=np.uint8, compressor=None)
        buf = np.empty((ZARR_CHUNK,) + SHAPE, np.uint8)
        for i in range(n):
            buf[i % ZARR_CHUNK] = make(i)
            if i % ZARR_CHUNK == ZARR_CHUNK - 1 or i == n - 1:
                z[i - i % ZARR_CHUNK:i + 1] = buf[:i % ZARR_CHUNK + 1]
        os.sync()

    def open(self, n):
        self.z = zarr.open(path(self.name), mode="r")

    def read(self, a, b, out):
        self.z.get_basic_selection(slice(a, b), out=out)

    def close(self):
        del self.z


KINDS = {"numpy": Memmap, "h5py": H5, "zarr": Zarr}


def append(store, frames, n):
    t0 = time.monotonic_ns()
    store.append(n, frames.make)
    ns = time.monotonic_ns() - t0
    store.open(n)
    out = np.empty((64,) + SHAPE, np.uint8)
    for a in range(0, n - 64 + 1, max(1, n // 20)):
        store.read(a, a + 64, out)
        frames.check(out, a)
    store.close()
    return ns


def windows(store, frames, out, starts):
    ns = 0
    for a in starts:
        t0 = time.monotonic_ns()
        store.read(a, a + 64, out)
        ns += time.monotonic_ns() - t0
        frames.check(out, a)
    return ns


# --- live: a writer and a reader, each a process; times go into live.times: [0] writer, [1] reader ----------

def live_times(n):
    return np.memmap(path("live.times"), dtype="<i8", mode="r+", shape=(2, n))


def paced(n, fps, put, times):
    deadline = time.monotonic() + 20
    for i in range(n):
        while i == 64 and times[1, 63] == 0 and time.monotonic() < deadline:
            time.sleep(0.001)  # until the reader has the first window
        if i == 64:
            start = time.monotonic_ns() + 20000000
        if i >= 64:
            wait = start + (i - 64) * 1000000000 // fps - time.monotonic_ns()
            if wait > 0:
                time.sleep(wait / 1e9)
        put(i)
        times[0, i] = time.monotonic_ns()


def note(times, seen, now, data):
    t = time.monotonic_ns()
    times[1, seen:now] = t
    numbers = data.reshape(len(data), -1)[:, :8].copy().view("<u8")[:, 0]
    if not (numbers == np.arange(now - 64, now, dtype=np.uint64)).all():
        raise ValueError(f"{MODULE}: wrong frames at {now}")


def counter():
    return np.memmap(path("live.count"), dtype="<i8", mode="r+", shape=(1,))


def live_write(frames, n, fps):
    times = live_times(n)
    if MODULE == "h5py":
        f = h5py.File(path("live.h5"), "w", libver="latest")
        d = f.create_dataset("x", (0,) + SHAPE, np.uint8, maxshape=(None,) + SHAPE,
                             chunks=(1,) + SHAPE)
        f.swmr_mode = True

        def put(i):
            d.resize(i + 1, axis=0)
            d[i] = frames.make(i)
            d.flush()
    else:
        count = counter()
        if MODULE == "numpy":
            store = np.memmap(path("live.mm"), dtype=np.uint8, mode="w+", shape=(n,) + SHAPE)
        else:
            store = zarr.open(path("live.zarr"), mode="w", shape=(n,) + SHAPE,
                              chunks=(1,) + SHAPE, dtype=np.uint8, compressor=None)

        def put(i):
            store[i] = frames.make(i)
            count[0] = i + 1
    paced(n, fps, put, times)


def live_read(n):
    times = live_times(n)
    out = np.empty((64,) + SHAPE, np.uint8)
    deadline = time.monotonic() + 60
    seen = 0
    if MODULE == "h5py":
        while True:
            try:
                d = h5py.File(path("live.h5"), "r", libver="latest", swmr=True)["x"]
                break
            except (OSError, KeyError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

        def newest():
            d.refresh()
            return d.shape[0]

        def read(a, b):
            d.read_direct(out, np.s_[a:b])
    else:
        count = counter()
        while count[0] < 64 and time.monotonic() < deadline:
            time.sleep(0.001)
        if MODULE == "numpy":
            store = np.memmap(path("live.mm"), dtype=np.uint8, mode="r", shape=(n,) + SHAPE)

            def read(a, b):
                np.copyto(out, store[a:b])
        else:
            store = zarr.open(path("live.zarr"), mode="r")

            def read(a, b):
                store.get_basic_selection(slice(a, b), out=out)

        def newest():
            return int(count[0])
    while seen < n:
        now = newest()
        if now == seen or now < 64:
            if time.monotonic() > deadline:
                raise ValueError(f"{MODULE}: no new frame")
            continue
        read(now - 64, now)
        note(times, seen, now, out)
        seen = now


def orders():
    frames = Frames()
    store = KINDS[MODULE]()
    out = np.zeros((64,) + SHAPE, np.uint8)
    print("ready", flush=True)
    for line in sys.stdin:
        word = line.split()
        try:
            if word[0] == "append":
                ns = append(store, frames, int(word[1]))
            elif word[0] == "open":
                ns = 0
                store.open(int(word[1]))
            elif word[0] == "close":
                ns = 0
                store.close()
            elif word[0] == "windows":
                ns = windows(store, frames, out, np.fromfile(path(word[1]), dtype="<i8").tolist())
            else:
                raise ValueError(f"unknown order {word[0]}")
            print(ns, flush=True)
        except Exception as e:
            print(f"{type(e).__name__}: {e}", flush=True)


def last(n):
    out = sys.stdout.buffer
    if MODULE == "numpy":
        mm = np.memmap(path("data.raw"), dtype=np.uint8, mode="r").reshape((-1,) + SHAPE)
        out.write(mm[-n:])
    elif MODULE == "h5py":
        with h5py.File(path("data.h5"), "r") as f:
            out.write(f["x"][-n:])
    else:
        z = zarr.open(path("data.zarr"), mode="r")
        out.write(z[-n:])


def sound(n):
    out = sys.stdout.buffer
    if MODULE == "numpy":
        mm = np.memmap(path("sound.wav"), dtype="<i2", mode="r", offset=44).reshape(-1, 2)
        out.write(mm[-n:])
    else:
        with soundfile.SoundFile(path("sound.wav")) as f:
            f.seek(-n, soundfile.SEEK_END)
            out.write(f.buffer_read(n, dtype="int16"))


what = sys.argv[3] if len(sys.argv) > 3 else "orders"
if what == "orders":
    if MODULE == "soundfile":
        print("ready", flush=True)
    else:
        orders()
elif what == "last":
    last(int(sys.argv[4]))
elif what == "sound":
    sound(int(sys.argv[4]))
elif what == "live-write":
    live_write(Frames(), int(sys.argv[4]), int(sys.argv[5]))
elif what == "live-read":
    live_read(int(sys.argv[4]))
