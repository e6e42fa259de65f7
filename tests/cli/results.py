#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results of real runs: streams, exit codes, JSON, colours, interrupts."""
import json
import os
import resource
import signal
import subprocess
import time

import jsonschema

from cli_case import PROGRAM, PROJECT, CliCase, main

with open(os.path.join(PROJECT, "data/schema/run.schema.json"), encoding="utf-8") as schema:
    SCHEMA = json.load(schema)
FAST = ("check", "ciou", "--backend", "host", "--n", "100")


class Results(CliCase):
    def test_passes(self):
        result = self.run_program(*FAST)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("ciou f32  n 100  scenario mixed  seed 1  convention yolo  backend host", result.stdout)
        self.assertRegex(result.stdout, r"\n\d+ checks: \d+ passed in [\d.]+ s\n$")
        self.assertNotIn("\x1b", result.stdout)
        self.assert_no_files()

    def test_json_alone_on_standard_output(self):
        result = self.run_program(*FAST, "--json", "-")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        document = json.loads(result.stdout)
        jsonschema.Draft7Validator(SCHEMA).validate(document)
        self.assertTrue(document["complete"])
        self.assertEqual(document["checks"][0]["n"], 100)

    def test_json_file_of_several_cases(self):
        result = self.run_program(*FAST, "--dtype", "f32,f16", "--scenario", "typical,far", "--json", "run.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = self.load_json("run.json")
        jsonschema.Draft7Validator(SCHEMA).validate(document)
        cases = {(check["dtype"], check["scenario"]) for check in document["checks"]}
        self.assertEqual(cases, {(d, s) for d in ("f32", "f16") for s in ("typical", "far")})
        self.assert_no_files("run.json")

    def test_repeat_command_repeats(self):
        self.run_program(*FAST, "--dtype", "f16", "--seed", "7", "--json", "one.json")
        command = self.load_json("one.json")["checks"][0]["command"].split()
        self.assertEqual(command[0], "lossgrad")
        again = self.run_program(*command[1:], "--json", "two.json")
        self.assertEqual(again.returncode, 0, again.stderr)

        def without_time(name):
            checks = self.load_json(name)["checks"]
            for check in checks:
                del check["seconds"]
            return checks
        self.assertEqual(without_time("one.json"), without_time("two.json"))

    def test_nothing_checked_is_not_a_pass(self):
        result = self.run_program("check", "ciou", "--backend", "host", "--n", "0")
        self.assertEqual(result.returncode, 1)
        checks = "oracles,reference,own_saved,self_consistency,guards,repeatability,propagation"
        result = self.run_program(*FAST, "--skip", checks)
        self.assertEqual(result.returncode, 1)
        self.assertIn("skipped", result.stdout)
        self.assertIn("none ran, which is no pass", result.stdout)

    def test_buffers_of_a_case_share_the_memory(self):
        # Each buffer would fit, all of them would not.
        boxes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 32 // 3 * 4
        if boxes >= 2 ** 31:
            self.skipTest("no case is larger than this machine's memory")
        result = self.run_program("check", "ciou", "--backend", "host", "--n", str(boxes ), "--pass", "forward",
                                  "--skip", "guards,repeatability")
        self.assert_error(result, 5, "not enough memory")

    def test_impossible_tolerance_fails(self):
        result = self.run_program(*FAST, "--rtol", "1e-30", "--atol", "0", "--json", "run.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("failed", result.stdout)
        self.assertIn("repeat: lossgrad check ciou", result.stdout)
        jsonschema.Draft7Validator(SCHEMA).validate(self.load_json("run.json"))

    def test_colour(self):
        self.assertIn("\x1b[32m", self.run_program(*FAST, "--color", "always").stdout)
        self.assertNotIn("\x1b", self.run_program(*FAST, "--color", "never").stdout)

    def test_quiet(self):
        result = self.run_program(*FAST, "-q")
        self.assertEqual(len(result.stdout.splitlines()), 1)

    def test_no_cuda_device(self):
        if "cuda: available" in self.run_program("devices").stdout:
            self.skipTest("this machine has a CUDA device")
        self.assert_error(self.run_program("check", "ciou", "--backend", "cuda", "--n", "10"), 5, "cuda")

    def test_the_default_margin_is_a_float(self):
        result = self.run_program("check", "cosine", "--backend", "host", "--dtype", "f64", "--rows", "500", "--dim", "20",
                                  "--scenario", "mixed,about_margin", "--no-diagnosis")
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_host_has_no_devices_to_choose_from(self):
        result = self.run_program("check", "ciou", "--backend", "host", "--device", "3", "--n", "10")
        self.assert_error(result, 5, "no device 3")

    def test_unwritable_output(self):
        self.assert_error(self.run_program(*FAST, "--json", "no/such/folder/run.json"), 3, "--json")
        self.assert_error(self.run_program(*FAST, "--json", "."), 3, "folder")
        result = self.run_program(*FAST, "--json", "/dev/full")
        self.assertEqual(result.returncode, 3)
        self.assertRegex(result.stdout, r"checks?: .* passed")  # the results are told all the same
        self.assertIn("/dev/full", result.stderr)
        self.assertTrue(os.path.exists("/dev/full") and not os.path.isfile("/dev/full"))
        self.assert_no_files()

    def test_full_standard_output(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = self.run_program(*FAST, stdout=full)
        self.assertEqual(result.returncode, 3)
        self.assertIn("standard output", result.stderr)

    def test_shortage_while_compiling_is_no_fault_of_the_kernel(self):
        os.mkdir(self.path("cache"))
        result = self.run_program(*FAST, "-q", env={"XDG_CACHE_HOME": self.path("cache")}, preexec_fn=lambda:
                                  resource.setrlimit(resource.RLIMIT_NOFILE, (6, 6)))
        self.assert_error(result, 5, "Too many open files")

    def test_compiler_that_was_ended_or_crashed(self):
        """What ended the compiler proper stands in its driver's line; a crash of it is the kernel's business."""
        for line, code in (("c++: fatal error: Terminated signal terminated program cc1plus", 5),
                           ("c++: fatal error: Killed signal terminated program cc1plus", 5),
                           ("collect2: fatal error: ld terminated with signal 9 [Killed]", 5),
                           ("c++: internal compiler error: Segmentation fault signal terminated program cc1plus", 4)):
            with self.subTest(line):
                self.write("compiler", "#!/bin/sh\n[ \"$1\" = --version ] && echo 'fake 1.0' && exit\n"
                           "echo '%s' >&2\nexit 1\n" % line)
                os.chmod(self.path("compiler"), 0o755)
                os.makedirs(self.path("cache"), exist_ok=True)
                result = self.run_program(*FAST, env={"XDG_CACHE_HOME": self.path("cache"), "CXX": self.path("compiler")})
                self.assertEqual(result.returncode, code, result.stderr)

    def compiler_that_fails(self):
        """Has the version of the real one, so that what that compiled is found in the cache."""
        real = os.environ.get("CXX") or "c++"
        self.write("compiler", "#!/bin/sh\n[ \"$1\" = --version ] && exec %s --version\nexit 1\n" % real)
        os.chmod(self.path("compiler"), 0o755)
        return self.path("compiler")

    def test_diagnosis_that_cannot_be_made_leaves_the_results(self):
        os.mkdir(self.path("cache"))
        environment = {"XDG_CACHE_HOME": self.path("cache")}
        self.assertEqual(self.run_program(*FAST, env=environment).returncode, 0)
        environment["CXX"] = self.compiler_that_fails()
        self.assertEqual(self.run_program(*FAST, env=environment).returncode, 0)
        result = self.run_program(*FAST, "--slack", "0.01", "--json", "run.json", env=environment)
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        reasons = [check["reason"] for check in self.load_json("run.json")["checks"] if check["verdict"] == "failed"]
        self.assertTrue(any("; no diagnosis: " in reason for reason in reasons), reasons)
        self.assertEqual(len(self.load_json("run.json")["checks"]), 11)

    def test_no_path_in_the_environment(self):
        os.mkdir(self.path("cache"))
        result = subprocess.run([PROGRAM, *FAST], cwd=self.folder, env={"XDG_CACHE_HOME": self.path("cache")},
                                capture_output=True, text=True, timeout=120)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_interrupted_build_leaves_no_folders(self):
        for name in ("cache", "tmp"):
            os.mkdir(self.path(name))
        environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache"), "TMPDIR": self.path("tmp")}
        with subprocess.Popen([PROGRAM, "kernels", "build", "--backend", "host"], cwd=self.folder, env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            deadline = time.monotonic() + 120
            while not any(name.startswith("lossgrad-") for name in os.listdir(self.path("tmp"))):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            process.send_signal(signal.SIGTERM)
            try:
                _, err = process.communicate(timeout=240)
            finally:
                process.kill()
        self.assertEqual((process.returncode, err), (143, ""))
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def wait_until_caught(self, pid, number):
        """Until the process has a handler of its own for this signal."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with open("/proc/%d/status" % pid, encoding="ascii") as file:
                caught = next(int(line.split()[1], 16) for line in file if line.startswith("SigCgt:"))
            if caught >> (number - 1) & 1:
                return
            time.sleep(0.02)
        self.fail("signal %d is not caught" % number)

    def stop_early(self, *signals, arguments=("--n", "30M")):
        """Of a run that has begun: what is sent at once, one signal after another."""
        with subprocess.Popen([PROGRAM, "check", "ciou", "--backend", "host", *arguments, "--json", "run.json"],
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
            self.wait_until_caught(process.pid, signals[0])
            for number in signals:
                process.send_signal(number)
            try:
                out, err = process.communicate(timeout=120)
            finally:
                process.kill()
        return process.returncode, out, err

    def test_two_signals_at_once_are_one(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            returncode, out, err = self.stop_early(number, number)
            self.assertEqual((returncode, err), (code, ""))
            self.assertIn("stopped early", out)

    def test_stopped_before_the_first_result_keeps_an_earlier_file(self):
        self.write("run.json", "of an earlier run")
        self.assertEqual(self.stop_early(signal.SIGTERM)[0], 143)
        with open(self.path("run.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "of an earlier run")
        self.assert_no_files("run.json")

    def test_compiler_that_is_killed_is_no_fault_of_the_kernel(self):
        os.mkdir(self.path("cache"))
        self.write("compiler", "#!/bin/sh\n[ \"$1\" = --version ] && echo 'killed 1.0' && exit\nkill -9 $$\n")
        os.chmod(self.path("compiler"), 0o755)
        result = self.run_program(*FAST, env={"XDG_CACHE_HOME": self.path("cache"), "CXX": self.path("compiler")})
        self.assert_error(result, 5, "was ended by signal 9")

    def test_interrupt_keeps_results(self):
        arguments = [PROGRAM, "check", "ciou", "--backend", "host", "--n", "1,30M", "--json", "run.json"]
        # Ctrl-C works here although the test itself may run with interrupts ignored.
        with subprocess.Popen(arguments, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
            deadline = time.monotonic() + 120
            while not os.path.exists(self.path("run.json")) and time.monotonic() < deadline:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            try:
                out, _ = process.communicate(timeout=120)
            finally:
                process.kill()
        self.assertEqual(process.returncode, 130)
        self.assertIn("stopped early", out)
        document = self.load_json("run.json")
        jsonschema.Draft7Validator(SCHEMA).validate(document)
        self.assertFalse(document["complete"])
        self.assertTrue(document["checks"])
        self.assert_no_files("run.json")


if __name__ == "__main__":
    main()
