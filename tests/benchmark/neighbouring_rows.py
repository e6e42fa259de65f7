#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""neighbouring_rows.py FILE.npy PREFIX: pairs each row of an array [rows, dim] with the one after it.

Writes PREFIX_x1.npy (all rows but the last), PREFIX_x2.npy (all but the first) and PREFIX_y.npy (1, -1, 1 ...), for
`lossgrad check cosine --x1 PREFIX_x1.npy --x2 PREFIX_x2.npy --y PREFIX_y.npy`."""
import ast
import struct
import sys


def read(path):
    """The type's name, the shape and the bytes of each row."""
    with open(path, "rb") as file:
        magic = file.read(8)
        if magic[:6] != b"\x93NUMPY":
            sys.exit("neighbouring_rows: %s is no .npy file" % path)
        length = struct.unpack("<H", file.read(2))[0] if magic[6] == 1 else struct.unpack("<I", file.read(4))[0]
        header = ast.literal_eval(file.read(length).decode("latin1"))
        data = file.read()
    if header["fortran_order"] or len(header["shape"]) != 2 or header["shape"][0] < 2:
        sys.exit("neighbouring_rows: %s: expected two rows or more in C order, got %s" % (path, header))
    rows, _ = header["shape"]
    return header["descr"], header["shape"], [data[i:i + len(data) // rows] for i in range(0, len(data), len(data) // rows)]


def write(path, descr, shape, data):
    header = repr({"descr": descr, "fortran_order": False, "shape": shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def main():
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    descr, (rows, dim), data = read(sys.argv[1])
    pairs = rows - 1
    write(sys.argv[2] + "_x1.npy", descr, (pairs, dim), b"".join(data[:-1]))
    write(sys.argv[2] + "_x2.npy", descr, (pairs, dim), b"".join(data[1:]))
    write(sys.argv[2] + "_y.npy", "<i8", (pairs,), b"".join(struct.pack("<q", 1 - 2 * (i % 2)) for i in range(pairs)))


if __name__ == "__main__":
    main()
