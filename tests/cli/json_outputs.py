#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where --json can go: files and their modes, descriptors, pipes; and what is refused before anything runs."""
import json
import os
import signal
import stat
import subprocess
import threading

from cli_case import PROGRAM, CliCase, main

FAST = ("check", "ciou", "--backend", "host", "--n", "50")


class JsonOutputs(CliCase):
    def assert_refused(self, target, *parts):
        result = self.run_program(*FAST, "--json", target)
        self.assert_error(result, 3, "--json", *parts)

    def test_redirected_descriptors_are_appended_to(self):
        for target in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            with self.subTest(target=target):
                self.write("log.txt", "precious\n")
                with open(self.path("log.txt"), "a", encoding="utf-8") as log:
                    result = self.run_program(*FAST, "--json", target, stdout=log)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                with open(self.path("log.txt"), encoding="utf-8") as log:
                    text = log.read()
                self.assertTrue(text.startswith("precious\nciou f32"), text[:80])
                self.assertTrue(json.loads(text[text.index("{"):text.rindex("}") + 1])["complete"])

    def test_standard_error_and_other_descriptors(self):
        result = self.run_program(*FAST, "-q", "--json", "/dev/stderr")
        self.assertTrue(json.loads(result.stderr)["complete"])
        self.write("nine.txt", "precious\n")
        with open(self.path("nine.txt"), "a", encoding="utf-8") as nine:
            result = self.run_program(*FAST, "-q", "--json", "/dev/fd/%d" % nine.fileno(), pass_fds=[nine.fileno()])
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("nine.txt"), encoding="utf-8") as nine:
            self.assertEqual(nine.readline(), "precious\n")
            self.assertTrue(json.load(nine)["complete"])

    def test_descriptor_of_a_deleted_file(self):
        with open(self.path("gone.txt"), "w+", encoding="utf-8") as gone:
            os.unlink(self.path("gone.txt"))
            result = self.run_program(*FAST, "-q", "--json", "/dev/fd/%d" % gone.fileno(), pass_fds=[gone.fileno()])
            self.assertEqual(result.returncode, 0, result.stderr)
            gone.seek(0)
            self.assertTrue(json.load(gone)["complete"])
        self.assert_no_files()

    def test_pipe_with_a_late_reader(self):
        os.mkfifo(self.path("pipe"))
        texts = []

        def read():
            with open(self.path("pipe"), encoding="utf-8") as pipe:
                texts.append(pipe.read())

        with subprocess.Popen([PROGRAM, *FAST, "-q", "--json", "pipe"], cwd=self.folder,
                              stdout=subprocess.PIPE) as process:
            reader = threading.Timer(1, read)
            reader.start()
            process.communicate(timeout=120)
            reader.join(timeout=120)
        self.assertEqual(process.returncode, 0)
        self.assertTrue(json.loads(texts[0])["complete"])

    def test_pipe_without_a_reader_can_be_interrupted(self):
        os.mkfifo(self.path("pipe"))
        with subprocess.Popen([PROGRAM, *FAST, "--json", "pipe"], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
            process.stdout.read(1)  # the table stands before the wait for a reader begins
            try:
                process.communicate(timeout=1)
            except subprocess.TimeoutExpired:
                pass
            process.send_signal(signal.SIGINT)
            try:
                _, err = process.communicate(timeout=60)
            finally:
                process.kill()
        self.assertEqual(process.returncode, 130)
        self.assertIn("--json pipe", err)

    def test_mode_is_kept(self):
        self.write("run.json", "old")
        os.chmod(self.path("run.json"), 0o600)
        self.assertEqual(self.run_program(*FAST, "--json", "run.json").returncode, 0)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("run.json")).st_mode), 0o600)
        self.assertTrue(self.load_json("run.json")["complete"])

    def test_read_only_file_is_refused(self):
        self.write("run.json", "old")
        os.chmod(self.path("run.json"), 0o444)
        self.assert_refused("run.json", "read-only")
        with open(self.path("run.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")

    def test_link_to_nothing_stays_a_link(self):
        os.symlink("real.json", self.path("link.json"))
        self.assertEqual(self.run_program(*FAST, "--json", "link.json").returncode, 0)
        self.assertTrue(os.path.islink(self.path("link.json")))
        self.assertTrue(self.load_json("real.json")["complete"])

    def test_refused_before_the_run(self):
        self.assert_refused(self.path("a" * 256), "name too long")
        self.assert_refused("/proc/x", "takes no new files")
        with open("/dev/null", encoding="utf-8") as nothing:
            result = self.run_program(*FAST, "--json", "/dev/stdin", stdin=nothing)
        self.assert_error(result, 3, "--json /dev/stdin", "not open for writing")
        self.assert_refused("/dev/fd/99", "not open for writing")
        os.symlink("loop", self.path("loop"))
        self.assert_refused("loop", "symbolic links")
        self.assert_no_files("loop")

    def test_full_device_names_the_flag(self):
        result = self.run_program(*FAST, "--json", "/dev/full")
        self.assertEqual(result.returncode, 3)
        self.assertIn("--json /dev/full", result.stderr)


if __name__ == "__main__":
    main()
