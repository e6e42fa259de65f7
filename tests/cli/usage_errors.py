#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wrong command lines: exit code 2, one line, the nearest name, and nothing is run or written."""
from cli_case import CliCase, main


class UsageErrors(CliCase):
    def assert_usage(self, line, *parts):
        with self.subTest(line=line):
            self.assert_error(self.run_program(*line.split()), 2, *parts)
            self.assert_no_files()

    def test_unknown_names(self):
        self.assert_usage("chekc ciou", "did you mean 'check'?")
        self.assert_usage("check cio", "unknown loss 'cio'", "did you mean 'ciou'?")
        self.assert_usage("check ciou --senario mixed", "did you mean '--scenario'?")
        self.assert_usage("check ciou --scenario tipical", "did you mean 'typical'?")
        self.assert_usage("check ciou --convention yol", "did you mean 'yolo'?")
        self.assert_usage("check ciou --dtype fp32", "did you mean 'f32'?")
        self.assert_usage("check ciou --dtype all,f31", "did you mean 'f32'?")
        self.assert_usage("check ciou --scenario tipical,all", "did you mean 'typical'?")
        self.assert_usage("check ciou --pass bakward", "did you mean 'backward'?")
        self.assert_usage("check ciou --skip guard", "did you mean 'guards'?")
        self.assert_usage("check ciou --backend gpu", "known: auto, cuda, host")
        self.assert_usage("kernels show yolo_ciou_loss_bakward__f32__256", "did you mean")
        self.assert_usage("kernels sow", "did you mean 'show'?")

    def test_numbers(self):
        self.assert_usage("check ciou --n -1", "--n: found '-1'")
        self.assert_usage("check ciou --n 1.5", "--n: found '1.5'")
        self.assert_usage("check ciou --n 2147483648", "expected 0 to 2147483647")
        self.assert_usage("check ciou --n 1:2", "FIRST:LAST:xFACTOR")
        self.assert_usage("check ciou --n 99999999999999999999", "--n: found")
        for block in ("0", "31", "33", "1056"):
            self.assert_usage("check ciou --block-n " + block, "multiple of 32 from 32 to 1024")
        self.assert_usage("check ciou --seed x", "--seed")
        self.assert_usage("check ciou --slack 0", "--slack")
        self.assert_usage("check ciou --slack nan", "--slack")
        self.assert_usage("check ciou --fd-samples 0", "--fd-samples", "1 or more")

    def test_combinations(self):
        self.assert_usage("check ciou --rtol 1e-5", "--atol")
        self.assert_usage("check ciou --pred a.npy", "--pred needs --target")
        self.assert_usage("check ciou --match iou", "--match")
        self.assert_usage("check ciou --pred a --target b --scenario mixed", "--scenario")
        self.assert_usage("check ciou --pred a --target b --n 5", "--n")
        self.assert_usage("check ciou --n 5 --n 6", "more than once")
        self.assert_usage("check ciou -q -v", "exclude")

    def test_too_many_cases(self):
        self.assert_usage("check ciou --n 0:9999:+1 --block-n 32:1024:+32 --dtype all --scenario all --convention all",
                          "130,560,000 cases", "at most 100,000")
        self.assert_usage("check cosine --rows 1:9999:+1 --dim 1:9999:+1", "99,980,001 cases")

    def test_flags_take_no_value(self):
        self.assert_usage("check --list=maybe", "--list: takes no value")
        self.assert_usage("check ciou --quiet=5", "--quiet: takes no value")

    def test_odd_values(self):
        self.assert_usage("check [ciou,x]", "unknown loss '[ciou,x]'")
        self.assert_usage("check ciou x", "unexpected argument 'x'")
        self.assert_error(self.run_program("check", "ciou", "--pred", "", "--target", ""), 2, "--pred: a file name")

    def test_incomplete(self):
        self.assert_usage("", "a command is expected")
        self.assert_usage("check", "a loss is expected")
        self.assert_usage("check ciou --n", "--n: a value is expected")
        self.assert_usage("kernels", "list, show ID or build")

    def test_wrong_name_wins_over_output(self):
        self.assert_usage("check ciou --scenario nope --json out.json", "unknown scenario")


if __name__ == "__main__":
    main()
