#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first sample run in README.md is what its command prints, but for error figures and times; that of a failure has its
inputs."""
import os
import re

from cli_case import PROJECT, CliCase, main


def samples():
    """Of each the words after the program's name, and the lines that they print."""
    with open(os.path.join(PROJECT, "README.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```\n\$ scripts/lossgrad (.*)\n((?:.*\n)*?)```$", file.read(), re.MULTILINE)
    return [(command.split(), lines.splitlines()) for command, lines in blocks]


def counts(lines):
    """Without error figures and times: other compilers and processors give other roundings."""
    kept = []
    for line in lines:
        row = re.match(r"  (?:forward|backward) +\w+ +\w+ +[\d,]+ +[\d,]+", line)
        kept.append(re.sub(r" in [\d.]+ s$", "", row[0] if row else line))
    return [re.sub(r" +", " ", line) for line in kept]


class Readme(CliCase):
    def test_sample_run(self):
        if "cuda: available" in self.run_program("devices").stdout:
            self.skipTest("the sample is of the host backend")
        command, lines = samples()[0]
        result = self.run_program(*command)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertGreater(len(lines), 10)
        self.assertEqual(counts(lines), counts(result.stdout.splitlines()))

    def test_sample_of_a_failure(self):
        """One of the worst elements has the inputs that the sample shows."""
        command, lines = next((command, lines) for command, lines in samples() if "--save-failures" in command)
        result = self.run_program(*command, "--backend", "host")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        inputs = [line for line in lines if re.match(r"      \w+ += ", line)]
        self.assertEqual(len(inputs), 3)
        self.assertIn("\n".join(inputs) + "\n", result.stdout)


if __name__ == "__main__":
    main()
