#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--save-failures: what it writes, and that its command repeats the failure. Built-in kernels fail where the slack is
far below the roundings that they have."""
import io
import json
import os
import shlex
import stat
import struct
import subprocess
import zipfile

import jsonschema

from cli_case import PROGRAM, PROJECT, CliCase, main

with open(os.path.join(PROJECT, "data/schema/run.schema.json"), encoding="utf-8") as schema:
    SCHEMA = json.load(schema)
STRICT = ("--slack", "1e-3", "--backend", "host", "--skip", "oracles,self_consistency,guards,repeatability")
CODES = {"<f8": "d", "<f4": "f", "<f2": "e"}


def array(archive, name):
    """Shape and values of a member of an archive."""
    with zipfile.ZipFile(archive) as file:
        data = file.read(name + ".npy")
    stream = io.BytesIO(data)
    assert stream.read(8) == b"\x93NUMPY\x01\x00"
    header = eval(stream.read(struct.unpack("<H", stream.read(2))[0]).decode())  # written by the program under test
    values = stream.read()
    return header["shape"], [value for value, in struct.iter_unpack("<" + CODES[header["descr"]], values)]


class Failures(CliCase):
    def fail_and_repeat(self, *arguments, folder="saved"):
        """Failed checks of a run, and of the runs that their commands start."""
        first = self.run_program("check", *arguments, "--save-failures", folder, "--json", "first.json")
        self.assertEqual(first.returncode, 1, first.stderr + first.stdout)
        document = self.load_json("first.json")
        jsonschema.Draft7Validator(SCHEMA).validate(document)
        failed = [check for check in document["checks"] if check["verdict"] == "failed"]
        self.assertGreater(len(failed), 0)
        for command in {check["reproducer"] for check in failed}:
            self.assertIn("repeat: " + command + "\n", first.stdout)
            words = shlex.split(command)
            self.assertEqual(words[0], "lossgrad")
            again = self.run_program(*words[1:], "--json", "again.json")
            self.assertEqual(again.returncode, 1, again.stderr)
            repeated = {(c["pass"], c["check"]): c for c in self.load_json("again.json")["checks"]}
            for check in failed:
                if check["reproducer"] != command:
                    continue
                other = repeated[check["pass"], check["check"]]
                for field in ("verdict", "reason", "worst", "compared", "kinks", "bound_usage", "kernel_hash", "n", "rows",
                              "dim", "parameters"):
                    self.assertEqual(check.get(field), other.get(field), field)
        return failed

    def test_checks_with_inputs_of_their_own_repeat(self):
        """Guards draw more boxes than the case has: its archive would not show what they saw."""
        for size in ("0", "1"):
            with self.subTest(n=size):
                self.run_program("check", "ciou", "--backend", "host", "--n", size, "--slack", "0.01", "--no-diagnosis",
                                 "--skip", "reference,own_saved,self_consistency", "--save-failures", "saved" + size,
                                 "--json", "run.json")
                failed = [check for check in self.load_json("run.json")["checks"] if check["verdict"] == "failed"]
                self.assertIn("guards", [check["check"] for check in failed])
                for check in failed:
                    self.assertIn(" --n %s " % size, check["reproducer"])
                scripts = [name for name in os.listdir(self.path("saved" + size)) if name.endswith(".txt")]
                self.assertGreater(len(scripts), 0)
                for script in scripts:
                    again = subprocess.run(["sh", self.path("saved%s/%s" % (size, script))], capture_output=True,
                                           text=True, timeout=120)
                    self.assertEqual((again.returncode, again.stderr), (1, ""))

    def test_ciou_repeats(self):
        for dtype in ("f32", "f64", "f16", "bf16"):
            with self.subTest(dtype):
                failed = self.fail_and_repeat("ciou", "--n", "777", "--dtype", dtype, *STRICT)
                # The f64 forward has the arithmetic of the reference and no error at all.
                passes = {"backward"} if dtype == "f64" else {"forward", "backward"}
                self.assertEqual({check["pass"] for check in failed}, passes)

    def test_options_repeat(self):
        self.fail_and_repeat("ciou", "--n", "300", "--block-n", "96", "--convention", "torchvision", "--seed", "9",
                             "--fd-samples", "8", "--scenario", "far", "--rtol", "0", "--atol", "0", "--backend", "host",
                             "--skip", "guards")
        self.fail_and_repeat("cosine", "--rows", "65", "--dim", "33", "--margin", "0.3", "--convention", "torch", "--dtype",
                             "f16", *STRICT, folder="a folder with 'quotes'")

    def test_four_boxes_repeat(self):
        self.fail_and_repeat("ciou", "--n", "4", "--scenario", "overlapping", "--rtol", "0", "--atol", "0", "--backend", "host")

    def test_files_repeat(self):
        samples = os.path.join(PROJECT, "data/samples/pairs/")
        self.fail_and_repeat("ciou", "--pred", samples + "pred_xywh_Nx4_f64.npy", "--target",
                             samples + "target_xywh_Nx4_f64.npy", "--box-format", "xywh", "--dtype", "f32", *STRICT)

    def test_archive_holds_inputs_and_outputs(self):
        failed = self.fail_and_repeat("ciou", "--n", "50", "--pass", "backward", "--dtype", "f16", *STRICT)
        names = sorted(os.listdir(self.path("saved")))
        stem = "yolo_ciou_loss_backward__f16__256__n50__mixed__seed1__host"
        self.assertEqual(names, [stem + ".npz", stem + ".txt"])
        self.assertEqual(stat.S_IMODE(os.stat(self.path("saved")).st_mode), 0o700)
        archive = self.path("saved/" + stem + ".npz")
        self.assertIsNone(zipfile.ZipFile(archive).testzip())
        reference = next(check for check in failed if check["check"] == "reference")
        for worst in reference["worst"]:
            place = worst["component"] * 50 + worst["item"]
            for what in ("got", "expected_low", "expected_high", "bound"):
                shape, values = array(archive, "reference.d_pred." + what)
                self.assertEqual(shape, (4, 50))
                self.assertEqual(values[place], worst[what], what)
            shape, pred = array(archive, "pred")
            self.assertEqual(shape, (4, 50))
            self.assertEqual([pred[c * 50 + worst["item"]] for c in range(4)], worst["inputs"]["pred"])
            self.assertEqual([array(archive, "dy")[1][worst["item"]]], worst["inputs"]["dy"])

    def test_text_is_a_script(self):
        self.fail_and_repeat("ciou", "--n", "50", "--pass", "forward", *STRICT)
        text, = (name for name in os.listdir(self.path("saved")) if name.endswith(".txt"))
        with open(self.path("saved/" + text), encoding="utf-8") as file:
            lines = [line for line in file.read().splitlines() if not line.startswith("#")]
        self.assertEqual([line.split(maxsplit=1)[0] for line in lines], ["cd", "PATH=" + os.path.dirname(PROGRAM) + ":$PATH",
                                                                         "lossgrad"])
        again = subprocess.run(["sh", self.path("saved/" + text)], cwd="/", text=True, capture_output=True, check=False,
                               timeout=240)
        self.assertEqual(again.returncode, 1, again.stderr)
        self.assertIn("elements are wrong", again.stdout)

    def test_large_case_keeps_worst_items(self):
        arguments = ("cosine", "--rows", "4000", "--dim", "600", "--pass", "forward", *STRICT)
        failed = self.fail_and_repeat(*arguments)
        self.assertIn("--rows 4000", failed[0]["reproducer"])
        archive, = (name for name in os.listdir(self.path("saved")) if name.endswith(".npz"))
        items = sorted({worst["item"] for worst in failed[0]["worst"]})
        self.assertEqual(array(self.path("saved/" + archive), "items")[1], items)
        self.assertEqual(array(self.path("saved/" + archive), "x1")[0], (len(items), 600))
        # The rows alone fail as well.
        with open(self.path("saved/" + archive[:-4] + ".txt"), encoding="utf-8") as file:
            command, = (line[4:] for line in file if line.startswith("#   lossgrad check"))
        alone = self.run_program(*shlex.split(command)[1:], "--json", "alone.json")
        self.assertEqual(alone.returncode, 1, alone.stderr)
        worst = {items[w["item"]]: w["got"] for w in self.load_json("alone.json")["checks"][0]["worst"]}
        for element in failed[0]["worst"]:
            self.assertEqual(worst[element["item"]], element["got"])

    def test_nothing_is_overwritten(self):
        for _ in range(2):
            self.run_program("check", "ciou", "--n", "50", "--pass", "forward", "--save-failures", "saved", *STRICT)
        self.assertEqual(len(os.listdir(self.path("saved"))), 4)
        self.assertTrue(any(name.endswith("__host__2.npz") for name in os.listdir(self.path("saved"))))

    def test_passing_runs_leave_nothing(self):
        result = self.run_program("check", "ciou", "--n", "50", "--backend", "host", "--save-failures", "saved")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_no_files()

    def test_unusable_folders(self):
        self.write("file", "x")
        for folder, part in (("file", "it is a file, a folder is expected"), ("file/below", "is no folder"),
                             ("", "a folder is expected")):
            result = self.run_program("check", "ciou", "--n", "50", "--save-failures", folder, *STRICT)
            self.assert_error(result, 3 if folder else 2, "--save-failures", part)

    def test_full_disk_keeps_the_results(self):
        # A limit on the size of files stands for the full disk.
        limited = subprocess.run(
            ["bash", "-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"", PROGRAM, "check", "ciou", "--n", "9000",
             "--save-failures", "saved", *STRICT],
            cwd=self.folder, text=True, capture_output=True, check=False, timeout=240)
        self.assertEqual(limited.returncode, 3, limited.stderr)
        self.assertEqual(len(limited.stderr.splitlines()), 1, limited.stderr)
        self.assertIn("cannot be written", limited.stderr)
        self.assertIn("elements are wrong", limited.stdout)
        self.assertRegex(limited.stdout, r"checks: .* failed")
        left = [name for name in os.listdir(self.path("saved")) if not name.endswith(".txt")]
        self.assertEqual(left, [])

    def test_both_files_lost_are_both_named(self):
        # The document is lost at the end, or after the first case already.
        for sizes, json, limit in (("9000", "/dev/full", 64), ("9000,9001", "run.json", 4)):
            with self.subTest(sizes=sizes):
                limited = subprocess.run(
                    ["bash", "-c", f"trap '' XFSZ; ulimit -f {limit}; exec \"$0\" \"$@\"", PROGRAM, "check", "ciou", "--n",
                     sizes, "--save-failures", "saved", "--json", json, *STRICT],
                    cwd=self.folder, text=True, capture_output=True, check=False, timeout=240)
                self.assertEqual(limited.returncode, 3, limited.stderr)
                self.assertRegex(limited.stderr,
                                 rf"^[^\n]*--json {json}: [^\n]*; [^\n]*saved[^\n]* cannot be written[^\n]*\n$")

    def test_full_disk_under_json_is_one_line(self):
        limited = subprocess.run(
            ["bash", "-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\"", PROGRAM, "check", "ciou", "--n", "100,200",
             "--json", "run.json"], cwd=self.folder, text=True, capture_output=True, check=False, timeout=240)
        self.assert_error_after_results(limited)
        self.assert_no_files()

    def assert_error_after_results(self, result):
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn("--json run.json: cannot be written", result.stderr)



if __name__ == "__main__":
    main()
