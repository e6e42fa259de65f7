#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lossgrad selftest: every fault of the dictionaries is caught, and a diagnosis names those that have numbers of their own."""
import json
import os
import re

from cli_case import PROJECT, CliCase, main


class Selftest(CliCase):
    def faults(self, *arguments):
        # In a build with the address sanitizer its fence would end the program at faults that reach past the end, before
        # the checks see them.
        environment = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":allow_user_poisoning=0"}
        result = self.run_program("selftest", "--backend", "host", *arguments, "--json", "run.json", limit=900,
                                  env=environment)
        with open(self.path("run.json"), encoding="utf-8") as file:
            document = json.load(file)
        self.assertTrue(document["complete"], result.stderr)
        slipped = [fault for fault in document["faults"] if fault["outcome"] == "slipped"]
        self.assertEqual(slipped, [])
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout, document["faults"]

    def test_every_fault_is_caught_and_most_are_named(self):
        text, faults = self.faults("--diagnosis")
        caught = [fault for fault in faults if fault["outcome"] == "caught"]
        self.assertGreaterEqual(len(caught), 80)
        for fault in caught:
            self.assertTrue(fault["caught_by"])
        for fault in faults:
            self.assertTrue(fault["reason"])
        named = {(fault["loss"], fault["pass"], fault["fault"]) for fault in faults if fault.get("diagnosed_as", 0) in (1, 2)}
        asked = [fault for fault in faults if "diagnosed_as" in fault]
        self.assertGreaterEqual(len(named), 50)
        self.assertGreaterEqual(len(named), 0.9 * len(asked), [f["fault"] for f in asked if f["diagnosed_as"] == 0])
        with open(os.path.join(PROJECT, "README.md"), encoding="utf-8") as file:
            sample = re.search(r"^\d+ faults: .*(?= in [\d.]+ s$)", file.read(), re.MULTILINE)[0]
        self.assertIn(sample + ";", text)  # what the diagnosis names follows

    def test_faults_of_the_other_types(self):
        _, faults = self.faults("--dtype", "f64", "--fault", "constant_in_f32,root_in_f32,accumulated_in_f32")
        self.assertEqual({fault["outcome"] for fault in faults}, {"caught"})
        _, faults = self.faults("--dtype", "f16", "--fault", "areas_in_half_precision,alpha_detached,eight_over_pi_squared_cut")
        self.assertEqual([fault["outcome"] for fault in faults].count("equivalent"), 1)

    def test_wrong_names(self):
        self.assert_error(self.run_program("selftest", "--fault", "alpha_detach"), 2, "--fault", "alpha_detached")
        self.assert_error(self.run_program("selftest", "--loss", "ciuo"), 2, "ciou")
        self.assert_error(self.run_program("selftest", "ciou"), 2, "unexpected argument")


if __name__ == "__main__":
    main()
