#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/setup on machines played by stand-ins for dpkg-query, apt-get, sudo and python3: nothing is installed.

set -euo pipefail
# shellcheck source=tests/scripts/testing.bash
source "$(dirname "$(readlink -f "$0")")/testing.bash"

tree=$scratch/tree
bin=$scratch/bin
mkdir -p "$tree" "$bin"
cp -r "$source_root/scripts" "$tree/"
setup=$tree/scripts/setup

# stand_in NAME LINE...: a command of this name that does LINE and logs its call.
stand_in() {
  local name=$1
  shift
  printf '%s\n' '#!/bin/bash' "echo \"$name \$*\" >>'$scratch/calls'" "$@" >"$bin/$name"
  chmod +x "$bin/$name"
}
run_setup() {
  rm -f "$scratch/calls"
  touch "$scratch/calls"
  env PATH="$bin:$PATH" TMPDIR="$scratch" CUDA_HOME="$cuda" CUDA_PATH= "$setup" "$@"
}

cuda=$scratch/cuda
make_cuda "$cuda"
stand_in sudo 'exit 1'  # wants a password that nobody gives
stand_in apt-get 'exit 0'

# Nothing missing: quiet, and no installer is called.
# shellcheck disable=SC2016  # for the stand-in to expand
all_installed='shift 3; printf "%s installed\n" "$@"'
stand_in dpkg-query "$all_installed"
expect_code 0 run_setup --quiet
expect_empty err
expect_equal "$(grep -cE '^(apt-get|sudo)' "$scratch/calls" || true)" 0
expect_code 0 run_setup
expect_text err "$cuda"

# A package is missing.
# shellcheck disable=SC2016
stand_in dpkg-query 'shift 3; printf "%s installed\n" "$@" | grep -v "^ninja-build "'
if [[ $EUID -eq 0 ]]; then
  expect_code 0 run_setup
  expect_equal "$(grep -c '^apt-get update' "$scratch/calls")" 1
  expect_equal "$(grep -c '^apt-get install.* ninja-build$' "$scratch/calls")" 1
  stand_in apt-get 'echo "E: Unable to fetch"; exit 100'
  expect_code 2 run_setup
  expect_text err "apt-get update failed: E: Unable to fetch"
else
  expect_code 2 run_setup
  expect_text err "apt-get install --no-install-recommends ninja-build"
  expect_equal "$(wc -l <"$scratch/err")" 1
fi

# CUDA is missing: too old, or without NVRTC. Machines that have another one cannot play this part.
stand_in dpkg-query "$all_installed"
rm "$cuda/lib64/libnvrtc.so.13"
# shellcheck source=scripts/common.bash
source "$tree/scripts/common.bash"
if ! cuda_complete /usr/local/cuda && ! cuda_complete /usr; then
  stand_in python3 '[[ $* == *--version* ]] && exit 0; echo "ERROR: no network"; exit 1'
  expect_code 2 run_setup
  expect_text err "the download of CUDA by pip failed: ERROR: no network"
  [[ ! -e $tree/.deps/cuda ]] || wrong "a failed download left .deps/cuda"
fi

# The unpacked CUDA counts only while all its files are there.
make_cuda "$tree/.deps/cuda/nvidia/cu13"
if cuda_wheels_complete; then wrong "files without a list counted as a whole CUDA"; fi
cp "$tree/scripts/cuda-wheels.txt" "$tree/.deps/cuda/versions"
cuda_file_list "$tree/.deps/cuda" >"$tree/.deps/cuda/files"
cuda_wheels_complete || wrong "a whole CUDA was rejected"
: >"$tree/.deps/cuda/nvidia/cu13/include/cuda_runtime_api.h"
if cuda_wheels_complete; then wrong "a truncated file was overlooked"; fi

finish
