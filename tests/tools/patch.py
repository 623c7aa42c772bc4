# SPDX-License-Identifier: MIT
"""Deliberate damage to segment files: flipped bits, false fields under a right checksum.

Offsets are those of swt-format(5).
"""
import struct

SUPER = {  # field: (offset, struct code)
    "magic": (0, "<Q"), "version": (8, "<I"), "super_bytes": (12, "<I"), "compat": (16, "<I"),
    "ro_compat": (20, "<I"), "incompat": (24, "<I"), "kind": (28, "<I"), "salt": (96, "<Q"),
    "run_no": (120, "<Q"), "run_base_frame": (128, "<Q"), "base_frame": (144, "<Q"),
    "base_entry": (152, "<Q"), "frame_bytes": (160, "<Q"), "params_off": (168, "<Q"),
    "params_bytes": (176, "<Q"), "index_off": (184, "<Q"), "index_cap": (192, "<Q"),
    "seam_off": (200, "<Q"), "data_off": (208, "<Q"), "data_cap": (216, "<Q"),
}
ENTRY = {"pos": (0, "<Q"), "len": (8, "<I"), "flags": (12, "<I"), "time_ns": (16, "<q"),
         "pics_before": (52, "<I"), "crc_payload": (56, "<I")}


def _table():
    out = []
    for k in range(256):
        for _ in range(8):
            k = (k >> 1) ^ (0x82f63b78 if k & 1 else 0)
        out.append(k)
    return out


_CRC = _table()


def crc32c(data, crc=0):
    crc ^= 0xffffffff
    for b in data:
        crc = _CRC[(crc ^ b) & 255] ^ (crc >> 8)
    return crc ^ 0xffffffff


def get(path, field):
    off, code = SUPER[field]
    with open(path, "rb") as f:
        f.seek(off)
        return struct.unpack(code, f.read(struct.calcsize(code)))[0]


def flip(path, off, bit=0):
    with open(path, "r+b") as f:
        f.seek(off)
        b = f.read(1)[0]
        f.seek(off)
        f.write(bytes([b ^ (1 << bit)]))


def set_super(path, **fields):
    """Give superblock fields other values and make the checksum right again."""
    with open(path, "r+b") as f:
        b = bytearray(f.read(4096))
        for field, value in fields.items():
            off, code = SUPER[field]
            struct.pack_into(code, b, off, value)
        struct.pack_into("<I", b, 4092, crc32c(b[:4092]))
        f.seek(0)
        f.write(b)


def set_entry(path, k, **fields):
    """The same for entry k of a segment."""
    at = get(path, "index_off") + 64 * k
    with open(path, "r+b") as f:
        f.seek(at)
        b = bytearray(f.read(64))
        for field, value in fields.items():
            off, code = ENTRY[field]
            struct.pack_into(code, b, off, value)
        head = struct.pack("<QQ", get(path, "salt"), get(path, "base_entry") + k)
        struct.pack_into("<I", b, 60, crc32c(head + b[:60]))
        f.seek(at)
        f.write(b)
