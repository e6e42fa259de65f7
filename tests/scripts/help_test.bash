#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each script says what it does, from any folder; those that take no others' arguments refuse options that they do not know.

set -euo pipefail
# shellcheck source=tests/scripts/testing.bash
source "$(dirname "$(readlink -f "$0")")/testing.bash"
cd "$scratch"

for name in setup test format lint check_layers prove_clean_root gpu_suite compare_frameworks; do
  expect_code 0 "$source_root/scripts/$name" --help
  expect_text out "scripts/$name"
  expect_empty err
done
expect_code 0 "$source_root/scripts/setup" --help
for package in g++ cmake libtbb-dev python3-jsonschema clang-tidy shellcheck; do
  expect_text out " $package"
done
for name in setup format prove_clean_root gpu_suite compare_frameworks; do
  expect_code 2 "$source_root/scripts/$name" --no-such-option
  expect_text err "--no-such-option"
done

finish
