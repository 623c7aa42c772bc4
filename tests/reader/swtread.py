# SPDX-License-Identifier: MIT
"""A second reader of recordings, written from swt-format(5) alone; no line of swt's own code.

  swtread.py info REC                  one JSON object a stream
  swtread.py entries REC STREAM        one JSON object an index entry
  swtread.py frames REC STREAM A B     bytes of frames A .. B-1 of a tensor stream
  swtread.py packets REC STREAM A B    bytes of the packets of entries A .. B-1, side data left out
  swtread.py check REC                 every checksum and every seam; exit 1 names what is wrong

It reads recordings at rest. Everything is read from the files each time; it is small, not fast.
"""
import json
import os
import struct
import sys
from fractions import Fraction

NONE = -2 ** 63
KEY, GAP, DISCONT, NOPIC, SIDE, CORRUPT, DAMAGED = (1 << k for k in range(7))
PARAMS = {1: ("media", "t"), 2: ("codec", "t"), 13: ("time_base", "r"), 14: ("rate", "r"),
          15: ("width", "i"), 16: ("height", "i"), 17: ("pixel", "t"), 28: ("dtype", "t"),
          29: ("channels", "i"), 31: ("shape", "s"), 32: ("frame_bytes", "i")}


def _crc_table():
    out = []
    for k in range(256):
        for _ in range(8):
            k = (k >> 1) ^ (0x82f63b78 if k & 1 else 0)
        out.append(k)
    return out


_TABLE = _crc_table()


def crc32c(data):
    c = 0xffffffff
    for b in data:
        c = _TABLE[(c ^ b) & 255] ^ (c >> 8)
    return c ^ 0xffffffff


class Bad(Exception):
    pass


def need(ok, what):
    if not ok:
        raise Bad(what)


class Segment:
    def __init__(self, path):
        self.path, self.base = path, int(os.path.basename(path)[:-4])
        with open(path, "rb") as f:
            self.bytes = f.read()
        b = self.bytes[:4096]
        need(len(b) == 4096 and b[:8] == b"\x89SWT\r\n\x1a\n", path + ": magic")
        need(struct.unpack_from("<I", b, 4092)[0] == crc32c(b[:4092]), path + ": superblock checksum")
        (self.version, _, self.compat, self.ro_compat, self.incompat, self.kind) = \
            struct.unpack_from("<6I", b, 8)
        need(self.version == 1 and self.incompat == 0, path + ": newer format")
        self.uuid, self.session = b[48:64], b[64:80]
        (self.salt, self.number, self.session_no, self.run_no, self.run_base_frame, self.run_base_entry,
         self.base_frame, self.base_entry, self.frame_bytes, self.params_off, self.params_bytes,
         self.index_off, self.index_cap, self.seam_off, self.data_off, self.data_cap) = \
            struct.unpack_from("<16Q", b, 96)
        need(self.base == (self.base_frame if self.kind == 1 else self.base_entry), path + ": name")
        self.slot = max((s for s in (self._slot(4096), self._slot(8192)) if s), default=(0, 0, 0, 0, 0))
        self.params = self._params()

    def _slot(self, at):
        s = self.bytes[at:at + 512]
        ok = len(s) == 512 and struct.unpack_from("<I", s, 508)[0] == crc32c(s[:508]) \
            and struct.unpack_from("<Q", s, 40)[0] == self.salt
        return struct.unpack_from("<4QI", s, 0) if ok else None

    def _params(self):
        block = self.bytes[self.params_off:self.params_off + self.params_bytes]
        need(len(block) >= 8, self.path + ": params")
        n, crc = struct.unpack_from("<2I", block)
        need(len(block) >= 8 + n and crc32c(block[8:8 + n]) == crc, self.path + ": params checksum")
        out, at = {}, 8
        while at < 8 + n:
            key, size = struct.unpack_from("<2I", block, at)
            value = block[at + 8:at + 8 + size]
            at += 8 + (size + 7) // 8 * 8
            if key in PARAMS:
                name, kind = PARAMS[key]
                many = struct.unpack("<%dq" % (size // 8), value) if kind != "t" else ()
                out[name] = {"t": lambda: value.decode(), "i": lambda: many[0], "s": lambda: list(many),
                             "r": lambda: Fraction(*many) if many[1] else None}[kind]()
        return out

    def entry(self, k):
        """Entry k of the segment, or None: never written, torn, or not of this segment."""
        b = self.bytes[self.index_off + 64 * k:self.index_off + 64 * k + 64]
        if k >= self.index_cap or len(b) < 64:
            return None
        head = struct.pack("<2Q", self.salt, self.base_entry + k)
        if struct.unpack_from("<I", b, 60)[0] != crc32c(head + b[:60]):
            return None
        names = ("pos", "len", "flags", "time_ns", "src_pts", "dts_delta", "duration", "capture_ns",
                 "dropped_before", "pics_before", "crc_payload")
        e = dict(zip(names, struct.unpack("<QIIqqiIqIII", b[:60])))
        if self.kind == 1:
            off = self.data_off + (e["pos"] - self.base_frame) * self.frame_bytes
            e.update(off=off, size=e["len"] * self.frame_bytes, frames=e["len"])
        else:
            e.update(off=self.data_off + e["pos"], size=e["len"], frames=0 if e["flags"] & NOPIC else 1)
        e.update(segment=self, number=self.base_entry + k)
        return e

    def payload(self, e):
        p = self.bytes[e["off"]:e["off"] + e["size"]]
        need(len(p) == e["size"] and crc32c(p) == e["crc_payload"],
             "%s: payload of entry %d at byte %d" % (self.path, e["number"], e["off"]))
        return p

    def seam_is_right(self, flat_before):
        n = self.data_off - self.seam_off
        return n == 0 or self.bytes[self.seam_off:self.data_off] == flat_before[len(flat_before) - n:]


class Stream:
    def __init__(self, rec, name):
        with open(os.path.join(rec, name, "meta.json")) as f:
            self.meta = json.load(f)
        self.name = name
        seg = os.path.join(rec, name, "seg")
        self.segments = [Segment(os.path.join(seg, x)) for x in sorted(os.listdir(seg)) if x.endswith(".swt")]
        self.entries = []
        for s, after in zip(self.segments, self.segments[1:] + [None]):
            self.entries += self._extent(s, after)
        shown = sorted((e for e in self.entries if e["frames"]), key=lambda e: e["time_ns"])
        frame = self.segments[0].base_frame if self.segments else 0
        for e in shown:
            e["frame"] = e["pos"] if e["segment"].kind == 1 else frame
            frame += e["frames"]
        self.frames = sum(e["frames"] for e in shown)
        self.shown = shown

    @staticmethod
    def _extent(s, after):
        """The unbroken prefix of valid entries; an older segment ends where its successor begins."""
        out, k, frame = [], 0, s.base_frame
        while True:
            e = s.entry(k)
            if e is None:
                need(k >= s.slot[1], "%s: entry %d" % (s.path, k))
                break
            if after and s.kind == 1 and e["pos"] >= after.base_frame:
                break
            if after and s.kind == 2 and e["number"] >= after.base_entry:
                break
            need(s.kind != 1 or e["pos"] == frame, "%s: entry %d: position" % (s.path, k))
            try:
                s.payload(e)
            except Bad:
                if after or k < s.slot[1]:
                    raise
                break
            out.append(e)
            frame += e["frames"]
            k += 1
        return out

    def end_of(self, e):
        base = e["segment"].params.get("time_base")
        return e["time_ns"] + (round(e["duration"] * base * 10 ** 9) if base else 0)

    def last_ns(self):
        e = self.shown[-1]
        rate = e["segment"].params.get("rate")
        return e["time_ns"] + (round((e["frames"] - 1) * 10 ** 9 / rate) if rate else 0)

    def read_frames(self, first, end):
        out = []
        for e in self.entries:
            lo, hi = max(first, e["pos"]), min(end, e["pos"] + e["len"])
            if lo < hi:
                n = e["segment"].frame_bytes
                out.append(e["segment"].payload(e)[(lo - e["pos"]) * n:(hi - e["pos"]) * n])
        return b"".join(out)

    def packet(self, e):
        p = e["segment"].payload(e)
        return p[:len(p) - struct.unpack("<I", p[-4:])[0] - 4] if e["flags"] & SIDE else p

    def info(self):
        flag = lambda f: sum(1 for e in self.entries if e["flags"] & f)
        s = self.segments
        return {"name": self.name, "kind": {1: "tensor", 2: "packets"}[s[0].kind],
                "frames": self.frames, "first_frame": s[0].base_frame,
                "first_ns": str(self.shown[0]["time_ns"]), "last_ns": str(self.last_ns()),
                "bytes": sum(e["size"] for e in self.entries), "segments": len(s),
                "runs": len({x.run_no for x in s}), "sessions": len({x.session for x in s}),
                "gaps": flag(GAP), "discontinuities": flag(DISCONT),
                "dropped": sum(e["dropped_before"] for e in self.entries),
                "damaged": sum(e["frames"] for e in self.entries if e["flags"] & (CORRUPT | DAMAGED))}


def streams(rec):
    with open(os.path.join(rec, "swt.json")) as f:
        json.load(f)
    names = [x for x in os.listdir(rec) if os.path.exists(os.path.join(rec, x, "meta.json"))]
    return [Stream(rec, x) for x in sorted(names)]


def check(rec):
    for st in streams(rec):
        runs = {}
        for s in st.segments:
            flat = runs.setdefault(s.run_no, bytearray())
            need(s.seam_is_right(flat), s.path + ": seam")
            flat += b"".join(s.payload(e) for e in st.entries if e["segment"] is s)


def entry_row(e):
    return {"frame": e.get("frame"), "frames": e["frames"], "pts_ns": str(e["time_ns"]),
            "key": bool(e["flags"] & KEY), "bytes": e["size"], "offset": e["off"],
            "segment": e["segment"].base, "crc32c": e["crc_payload"]}


def main(verb, rec, stream=None, first="0", end=str(2 ** 62)):
    out, first, end = sys.stdout.buffer, int(first), int(end)
    if verb == "info":
        for st in streams(rec):
            print(json.dumps(st.info()))
    elif verb == "check":
        check(rec)
    elif verb == "entries":
        for e in Stream(rec, stream).entries:
            print(json.dumps(entry_row(e)))
    elif verb == "frames":
        out.write(Stream(rec, stream).read_frames(first, end))
    elif verb == "packets":
        st = Stream(rec, stream)
        out.write(b"".join(st.packet(e) for e in st.entries if first <= e["number"] < end))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Bad as bad:
        sys.exit("swtread: %s" % bad)
