#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands that only tell something: help, version, devices, kernels."""
from cli_case import CliCase, main


class Information(CliCase):
    def text(self, *arguments):
        result = self.run_program(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def test_help_and_version(self):
        self.assertRegex(self.text("--version"), r"^lossgrad \d+\.\d+\.\d+\n$")
        self.assertIn("Examples:", self.text("--help"))
        self.assertIn("128 + the signal", self.text("--help"))
        check_help = self.text("check", "--help")
        for option in ("--pred FILE", "--target FILE", "--dy FILE", "--n LIST", "--json FILE", "Examples:"):
            self.assertIn(option, check_help)
        self.assertLess(max(map(len, check_help.splitlines())), 121)

    def test_list(self):
        text = self.text("check", "--list")
        for name in ("ciou", "yolo", "torchvision", "touching", "mixed", "reference", "guards"):
            self.assertIn(name, text)

    def test_devices(self):
        text = self.text("devices")
        self.assertIn("host: available", text)
        self.assertIn("cuda: ", text)

    def test_kernels(self):
        ids = self.text("kernels", "list").split()
        self.assertIn("yolo_ciou_loss_backward__f32__256", ids)
        self.assertIn("yolo_ciou_loss_forward__bf16__256", ids)
        for kernel in ids:
            self.assertIn(kernel, self.text("kernels", "show", kernel))
        entry = self.text("kernels", "show", ids[0], "--entry-point")
        self.assertIn('extern "C"', entry)
        self.assertIn("__global__", entry)
        source = self.text("kernels", "show", ids[0], "--source")
        self.assertTrue(source.endswith(entry))
        self.assertIn("64", self.text("kernels", "show", "yolo_ciou_loss_backward__f16__64"))


if __name__ == "__main__":
    main()
