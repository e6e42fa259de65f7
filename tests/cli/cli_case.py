# SPDX-License-Identifier: Apache-2.0
"""Helpers of the tests on the built program. A test script gets two arguments: the program and the project's folder."""
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM, PROJECT = map(os.path.abspath, sys.argv[1:3])


def npy(rows, shape):
    """Bytes of a version 1.0 .npy file of f32 values."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % ", ".join(str(length) + "," for length in shape)
    header = header.replace(",,", ",")
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    values = struct.pack("<%df" % len(rows), *rows)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values


class CliCase(unittest.TestCase):
    """Each test runs in an empty folder of its own."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = self._folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return name

    def boxes(self, name, boxes):
        return self.write(name, npy([value for box in boxes for value in box], (len(boxes), 4)))

    def run_program(self, *arguments, env=None, limit=240, **options):
        options.setdefault("stdout", subprocess.PIPE)
        environment = {**os.environ, "LC_ALL": "C", **(env or {})}
        return subprocess.run([PROGRAM, *arguments], stderr=subprocess.PIPE, cwd=self.folder, text=True, timeout=limit,
                              env=environment, check=False, **options)

    def assert_error(self, result, code, *parts):
        """One line on standard error, nothing on standard output, the right exit code."""
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("lossgrad: "), lines[0])
        for part in parts:
            self.assertIn(part, lines[0])

    def assert_no_files(self, *allowed):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(allowed))

    def load_json(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)


def main():
    unittest.main(argv=[sys.argv[0]], verbosity=1)
