# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of this folder: a scratch folder, and expectations that name the line that failed.
# shellcheck shell=bash disable=SC2034

source_root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/lossgrad-scripts.XXXXXX")
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
failures=0

wrong() {
  echo "line ${BASH_LINENO[1]}: $1"
  failures=$((failures + 1))
}
# expect_code CODE COMMAND...: its outputs are left in $scratch/out and $scratch/err.
expect_code() {
  local expected=$1 code=0
  shift
  "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
  if [[ $code -ne $expected ]]; then
    wrong "exit code $code instead of $expected from: $*"
    cat "$scratch/out" "$scratch/err"
  fi
}
expect_text() {
  if ! grep -qF -- "$2" "$scratch/$1"; then
    wrong "no '$2' in:"
    cat "$scratch/$1"
  fi
}
expect_equal() { [[ $1 == "$2" ]] || wrong "'$1' instead of '$2'"; }
expect_empty() {
  if [[ -s $scratch/$1 ]]; then
    wrong "not empty:"
    cat "$scratch/$1"
  fi
}
finish() {
  [[ $failures -eq 0 ]] || exit 1
  echo "as expected"
}

# make_cuda FOLDER: what passes for a CUDA Toolkit.
make_cuda() {
  mkdir -p "$1/include" "$1/lib64"
  echo '#define CUDART_VERSION  13000' >"$1/include/cuda_runtime_api.h"
  touch "$1/lib64/libcudart_static.a" "$1/lib64/libnvrtc.so.13"
}
