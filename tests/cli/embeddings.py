#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Embeddings and labels from files, and the options of the cosine loss."""
import os

from cli_case import PROJECT, CliCase, main, npy

SAMPLES = os.path.join(PROJECT, "data", "samples", "embeddings")
ROWS = [(1.0, 2.0, 2.0), (3.0, 4.0, 0.0), (0.0, 1.0, 1.0), (2.0, 0.0, 1.0)]
OTHERS = [(2.0, 1.0, 2.0), (4.0, 3.0, 0.0), (1.0, 1.0, 0.0), (1.0, 1.0, 1.0)]


class Embeddings(CliCase):
    def array(self, name, rows, shape):
        return self.write(name, npy([value for row in rows for value in row], shape))

    def check(self, labels, *more):
        return self.run_program("check", "cosine", "--backend", "host", "--x1", self.array("x1.npy", ROWS, (4, 3)),
                                "--x2", self.array("x2.npy", OTHERS, (4, 3)), "--y", labels, *more)

    def test_samples(self):
        names = ("cities_x1_f32.npy", "cities_x2_f32.npy", "cities_y_i64.npy")
        x1, x2, y = (os.path.join(SAMPLES, name) for name in names)
        result = self.run_program("check", "cosine", "--backend", "host", "--x1", x1, "--x2", x2, "--y", y,
                                  "--json", "run.json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        check = self.load_json("run.json")["checks"][0]
        self.assertEqual((check["rows"], check["dim"], check["dtype"], check["parameters"]),
                         (40, 100, "f32", {"margin": 0.30000001192092896}))

    def test_zero_rows_are_counted(self):
        self.array("zeros.npy", [(0.0, 0.0, 0.0), (1.0, 2.0, 3.0), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)], (4, 3))
        y = self.array("y.npy", [(1.0,)] * 4, (4,))
        result = self.run_program("check", "cosine", "--backend", "host", "--x1", "zeros.npy", "--x2",
                                  self.array("x2.npy", OTHERS, (4, 3)), "--y", y)
        self.assertIn("2 rows of x1 with nothing but zeros", result.stdout)

    def test_labels_in_a_row_or_a_column(self):
        for shape in ((4,), (4, 1)):
            labels = self.array("y.npy", [(1.0,), (-1.0,), (-1.0,), (1.0,)], shape)
            result = self.check(labels, "--margin", "0.25,-2")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn("rows 4  dim 3  margin -2", result.stdout)

    def test_other_labels_name_their_row(self):
        for value in (0.0, 0.5, 2.0, float("nan")):
            labels = self.array("y.npy", [(1.0,), (-1.0,), (value,), (1.0,)], (4,))
            self.assert_error(self.check(labels), 3, "y.npy: row 2: found", "expected 1 or -1 (--y)")

    def test_shapes_that_do_not_fit(self):
        labels = self.array("y.npy", [(1.0,)] * 3, (3,))
        self.assert_error(self.check(labels), 3, "y.npy: found shape [3], expected [4] for --y")
        self.array("y.npy", [(1.0,)] * 4, (4,))
        x2 = self.array("two.npy", [(1.0, 2.0)] * 4, (4, 2))
        result = self.run_program("check", "cosine", "--x1", "x1.npy", "--x2", x2, "--y", "y.npy")
        self.assert_error(result, 3, "two.npy: found shape [4, 2], expected [4, 3] for --x2")

    def test_options_of_the_other_loss(self):
        for line, part in (("check cosine --n 3", "--n: cosine has no such size, it has --rows and --dim"),
                           ("check ciou --dim 3", "--dim: ciou has no such size, it has --n"),
                           ("check ciou --margin 0", "--margin: ciou has no such parameter"),
                           ("check cosine --block-n 64", "--block-size is its own"),
                           ("check cosine --block-size 48", "a power of two from 1 to 65536"),
                           ("check cosine --dim 0", "expected 1 to 65536"),
                           ("check cosine --dim 65537", "expected 1 to 65536"),
                           ("check cosine --margin inf", "a finite number"),
                           ("check cosine --margin 1e39", "too large for f32"),
                           ("check cosine --x1 a.npy", "--x1 needs --x2 too"),
                           ("check cosine --match iou", "cosine takes no boxes")):
            self.assert_error(self.run_program(*line.split()), 2, part)

    def test_rows_with_the_simple_forms_block(self):
        result = self.run_program("check", "cosine", "--backend", "host", "--rows", "40", "--dim", "1,7,40",
                                  "--block-size", "8,64", "--pass", "forward", "--json", "run.json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        ids = {check["kernel_id"] for check in self.load_json("run.json")["checks"]}
        self.assertEqual(ids, {"cosine_embedding_loss_forward__f32__8", "cosine_embedding_loss_forward__f32__64"})

    def test_repeat_command_repeats(self):
        result = self.run_program("check", "cosine", "--backend", "host", "--rows", "30", "--dim", "5", "--margin", "0.1",
                                  "--block-size", "4", "--json", "run.json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        command = self.load_json("run.json")["checks"][0]["command"]
        for part in ("--rows 30", "--dim 5", "--margin 0.1", "--block-size 4"):
            self.assertIn(part, command)
        again = self.run_program(*command.split()[1:])
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertEqual(again.stdout.splitlines()[0], result.stdout.splitlines()[0])


if __name__ == "__main__":
    main()
