#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cache of compiled kernels: what was planted in it is never loaded, and where there can be none the program says so
and works."""
import os
import subprocess
import unittest

from cli_case import PROGRAM, CliCase, main

CHECK = ("check", "ciou", "--backend", "host", "--n", "50", "--skip",
         "oracles,self_consistency,guards,repeatability,propagation", "--json", "-")
NOBODY = 65534


class Cache(CliCase):
    def setUp(self):
        super().setUp()
        self.cache = self.path("cache")
        os.mkdir(self.cache)
        self.kernels = os.path.join(self.cache, "lossgrad", "kernels")

    def check(self, code=0, **options):
        result = self.run_program(*CHECK, **{"env": {"XDG_CACHE_HOME": self.cache}, **options})
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def entries(self):
        return sorted(os.path.join(self.kernels, name) for name in os.listdir(self.kernels))

    def contents(self):
        found = {}
        for path in self.entries():
            with open(path, "rb") as file:
                found[path] = file.read()
        return found

    def test_planted_entries_are_not_loaded(self):
        self.check()
        right = self.contents()
        self.assertGreaterEqual(len(right), 2)
        # As whole entries of other keys; as the same entry with one byte changed; as no entry at all.
        contents = list(right.values())
        others = dict(zip(right, contents[1:] + contents[:1]))
        changed = {path: content[:5000] + bytes([content[5000] ^ 1]) + content[5001:] for path, content in right.items()}
        garbage = {path: b"\x7fELF" + bytes(20000) for path in right}
        for planted in (others, changed, garbage):
            for path, content in planted.items():
                os.chmod(path, 0o600)
                with open(path, "wb") as file:
                    file.write(content)
            result = self.check()
            self.assertEqual(result.stderr, "")
            for path, content in self.contents().items():
                self.assertNotEqual(content, planted[path], path)

    def test_links_and_open_modes(self):
        self.check()
        for index, path in enumerate(self.entries()):
            if index % 2 == 0:
                os.rename(path, self.path(f"elsewhere{index}"))
                os.symlink(self.path(f"elsewhere{index}"), path)
            else:
                os.chmod(path, 0o666)
        self.check()
        for path in self.entries():
            self.assertFalse(os.path.islink(path))
            self.assertEqual(os.stat(path).st_mode & 0o022, 0)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_files_of_others(self):
        self.check()
        for path in self.entries():
            os.chown(path, NOBODY, NOBODY)
        self.assertEqual(self.check().stderr, "")
        self.assertEqual({os.stat(path).st_uid for path in self.entries()}, {0})
        os.chown(self.kernels, NOBODY, NOBODY)
        result = self.check()
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn("belongs to or can be written by another user", result.stderr)

    def test_several_at_once(self):
        environment = {**os.environ, "XDG_CACHE_HOME": self.cache}
        running = [subprocess.Popen([PROGRAM, *CHECK], cwd=self.folder, env=environment, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True) for _ in range(3)]
        for process in running:
            _, err = process.communicate(timeout=240)
            self.assertEqual((process.returncode, err), (0, ""))
        self.assertEqual([path for path in self.entries() if not path.endswith(".so")], [])
        before = self.contents()
        self.check()
        self.assertEqual(self.contents(), before)

    def test_nowhere_to_keep_it(self):
        self.write("file", "x")
        for environment, reason in (({"XDG_CACHE_HOME": "relative", "HOME": "relative"}, "is set to an absolute path"),
                                    ({"XDG_CACHE_HOME": "", "HOME": "/proc"}, "cannot be created"),
                                    ({"XDG_CACHE_HOME": self.path("file")}, "cannot be created")):
            result = self.check(env=environment)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn("compiled kernels are not cached", result.stderr)
            self.assertIn(reason, result.stderr)

    def test_full_disk(self):
        # A file system of 16 KiB, mounted where nobody else sees it.
        inside = f"mount -t tmpfs -o size=16k none {self.cache} && exec \"$0\" \"$@\""
        command = ["unshare", "--map-root-user", "--mount", "sh", "-c", inside]
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no file system can be mounted here")
        result = subprocess.run([*command, PROGRAM, *CHECK], cwd=self.folder, capture_output=True, text=True, check=False,
                                env={**os.environ, "XDG_CACHE_HOME": self.cache, "LC_ALL": "C"}, timeout=240)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn("compiled kernels are not cached", result.stderr)
        self.assertIn("No space left on device", result.stderr)


if __name__ == "__main__":
    main()
