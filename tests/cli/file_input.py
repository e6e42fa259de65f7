#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Boxes from files: right ones, wrong ones, hostile ones."""
import json
import os
import subprocess

from cli_case import PROGRAM, CliCase, main, npy

BOXES = [(10, 20, 5, 6), (30.5, 40, 7, 8), (1, 2, 3, 4), (100, 50, 20, 10), (5, 5, 5, 5)]
MOVED = [(x + 1, y - 0.5, w * 1.25, h) for x, y, w, h in BOXES]


class FileInput(CliCase):
    def check(self, pred, target, *more):
        return self.run_program("check", "ciou", "--backend", "host", "--pred", pred, "--target", target, *more)

    def test_boxes(self):
        pred, target = self.boxes("p.npy", BOXES), self.boxes("t.npy", MOVED)
        result = self.check(pred, target, "--json", "run.json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("n 5  pred p.npy  target t.npy", result.stdout)
        check = self.load_json("run.json")["checks"][0]
        self.assertEqual((check["n"], check["scenario"], check["dtype"]), (5, "file", "f32"))
        self.assertEqual(check["files"], {"pred": "p.npy", "target": "t.npy"})

    def test_formats_agree(self):
        corners = [(x - w / 2, y - h / 2, x + w / 2, y + h / 2) for x, y, w, h in BOXES]
        moved = [(x - w / 2, y - h / 2, x + w / 2, y + h / 2) for x, y, w, h in MOVED]

        def figures(name, *more):
            result = self.check(*more, "--json", name)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            return [(c["check"], c["compared"], c.get("bound_usage")) for c in self.load_json(name)["checks"]]
        centre = figures("a.json", self.boxes("p.npy", BOXES), self.boxes("t.npy", MOVED))
        corner = figures("b.json", self.boxes("pc.npy", corners), self.boxes("tc.npy", moved), "--box-format", "xyxy")
        self.assertEqual(centre, corner)

    def test_matching(self):
        def annotation(box, number):
            return {"id": number, "image_id": 1, "category_id": 2, "bbox": list(box), "iscrowd": 0, "area": 1}
        truth = {"images": [{"id": 1}], "categories": [{"id": 2}],
                 "annotations": [annotation(box, i) for i, box in enumerate(MOVED, 1)]}
        found = [{"image_id": 1, "category_id": 2, "bbox": list(box), "score": 0.5} for box in reversed(BOXES)]
        found.append({"image_id": 1, "category_id": 2, "bbox": [900, 900, 4, 4], "score": 0.9})
        self.write("truth.json", json.dumps(truth))
        self.write("found.json", json.dumps(found))
        result = self.check("found.json", "truth.json", "--match", "iou")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("1 pred box without a partner left out", result.stdout)

    def test_nan_is_counted(self):
        result = self.check(self.boxes("p.npy", [*BOXES, (float("nan"), 1, 2, 3)]), self.boxes("t.npy", [*MOVED, BOXES[0]]))
        self.assertIn("NaN or infinite", result.stdout)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_no_boxes(self):
        result = self.check(self.boxes("p.npy", []), self.boxes("t.npy", []))
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("mistrusted", result.stdout)

    def test_counts_differ(self):
        result = self.check(self.boxes("p.npy", BOXES), self.boxes("t.npy", MOVED[:3]), "--json", "run.json")
        self.assert_error(result, 3, "p.npy", "t.npy", "5", "3")
        self.assert_no_files("p.npy", "t.npy")

    def test_bad_files(self):
        good = self.boxes("good.npy", BOXES)
        whole = npy([1.0] * 20, (5, 4))
        bad = {"empty.npy": b"", "cut.npy": whole[:-3], "header.npy": whole[:40], "long.npy": whole + b"xx",
               "text.npy": b"hello", "shape.npy": npy([1.0] * 15, (5, 3)), "cube.npy": npy([1.0] * 8, (2, 2, 2)),
               "bad.json": b"{\"annotations\": [", "list.json": b"[1, 2]", "deep.json": b"[" * 100000}
        for name, content in bad.items():
            with self.subTest(name=name):
                self.write(name, content)
                self.assert_error(self.check(name, good, "--json", "run.json"), 3, name)
                self.assert_error(self.check(good, name, "--json", "run.json"), 3, name)
        self.assert_no_files("good.npy", *bad)

    def coco(self, name, crowd):
        entry = '{"image_id": 1, "category_id": 1, "iscrowd": %d, "bbox": [%d, 2, 30, 40]}'
        return self.write(name, '{"annotations": [%s]}' % ", ".join(entry % (int(i in crowd), i) for i in range(5)))

    def test_crowd_boxes_are_counted(self):
        pred, target = self.coco("p.json", ()), self.coco("t.json", (1, 3))
        result = self.check(pred, target)
        self.assertIn("2 target boxes marked as crowd, taken like the others", result.stdout)
        self.assertNotIn("pred boxes marked", result.stdout)
        result = self.check(pred, target, "--match", "iou")
        self.assertIn("2 crowd boxes of target left out", result.stdout)
        self.assertNotIn("marked as crowd", result.stdout)

    def test_box_format_is_for_arrays(self):
        pred, target = self.coco("p.json", ()), self.coco("t.json", ())
        self.assert_error(self.check(pred, target, "--box-format", "xyxy"), 2, "--box-format", "xywh")
        array = self.boxes("a.npy", [(i + 1.5, 3.0, 31.0, 42.0) for i in range(5)])
        self.assertEqual(self.check(array, target, "--box-format", "xywh").returncode, 0)

    def test_names_that_a_terminal_would_obey(self):
        name = "x\rlossgrad: all passed\x1b[2J.npy"
        result = self.run_program("check", "ciou", "--pred", name, "--target", name)
        self.assert_error(result, 3, "x\\rlossgrad: all passed\\x1b[2J.npy: no such file")

    def test_repeat_command_of_an_odd_name(self):
        name = os.fsdecode(b"q\xff'\\\n\x1b[2J.npy")
        self.boxes(name, BOXES)
        result = self.check(name, name, "--json", "run.json", "--allow-mistrusted")
        self.assertEqual(len([line for line in result.stdout.splitlines() if line.startswith("ciou f32")]), 1)
        self.assertNotIn("\x1b", result.stdout)
        command = self.load_json("run.json")["checks"][0]["command"]
        self.assertTrue(command.isascii() and command.isprintable(), command)
        self.assertIn("--allow-mistrusted", command)
        shell = 'lossgrad() { "%s" "$@"; }; %s --json again.json' % (PROGRAM, command)
        subprocess.run(["bash", "-c", shell], cwd=self.folder, stdout=subprocess.DEVNULL, timeout=240, check=True)
        self.assertEqual(self.load_json("again.json")["checks"][0]["command"], command)

    def test_missing_and_folder(self):
        good = self.boxes("good.npy", BOXES)
        self.assert_error(self.check("nothing.npy", good), 3, "nothing.npy: no such file")
        self.assert_error(self.check(".", good), 3, "directory")

    def test_upstream_gradient(self):
        pred, target = self.boxes("p.npy", BOXES), self.boxes("t.npy", MOVED)
        self.write("dy.npy", npy([1, -2, 0.5, 3, 4], (5,)))
        result = self.check(pred, target, "--dy", "dy.npy")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.write("short.npy", npy([1, 2], (2,)))
        self.assert_error(self.check(pred, target, "--dy", "short.npy"), 3, "short.npy: found shape [2], expected [5]")


if __name__ == "__main__":
    main()
