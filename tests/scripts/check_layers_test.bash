#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plants good and bad includes and expects scripts/check_layers to tell them apart.

set -euo pipefail
# shellcheck source=tests/scripts/testing.bash
source "$(dirname "$(readlink -f "$0")")/testing.bash"
check_layers=$source_root/scripts/check_layers
tree=$scratch/tree

# plant FILE LINE...
plant() {
  local file=$tree/$1
  shift
  mkdir -p "$(dirname "$file")"
  printf '%s\n' "$@" >"$file"
}
# reject PLACE TEXT: the tree has exactly this violation; the file is taken away again.
reject() {
  expect_code 1 "$check_layers" "$tree"
  expect_text out "$1: "
  expect_text out "$2"
  expect_equal "$(wc -l <"$scratch/out")" 1
  rm "$tree/${1%:*}"
}

mkdir -p "$tree"
expect_code 1 "$check_layers" "$tree"  # nothing to check is no success
expect_text err "no source file"

plant lib/base/error.hpp '#include <string>'
plant lib/math/ulp.hpp '#include "base/error.hpp"'
plant lib/check/check.hpp '#include "losses/losses.def"' '#include "device/backend.hpp"' '#include "results/run.hpp"'
plant lib/losses/ciou/ciou.cpp '#include "losses/ciou/ciou.hpp"' '#include "kernel/kernel.hpp"' \
  '#include "embedded/losses_text.hpp"' '#include "near.hpp"' '// #include "check/check.hpp"' '#include <math/none.h>'
plant lib/losses/ciou/near.hpp '#  include "math/ulp.hpp"'
plant app/main.cpp '#include "app/cli.hpp"' '#include "check/check.hpp"' '#include "report/table.hpp"'
expect_code 0 "$check_layers" "$tree"
expect_text out "14 includes in 6 files"

plant lib/math/up.hpp '' '#include "kernel/kernel.hpp"'
reject lib/math/up.hpp:2 'lib/math must not include "kernel/kernel.hpp"'
plant lib/losses/a.cpp '#include "device/backend.hpp"'
reject lib/losses/a.cpp:1 'lib/losses must not include'
plant lib/losses/b.cpp '#include "data/boxes.hpp"'
reject lib/losses/b.cpp:1 'lib/losses must not include'
plant lib/device/cuda/a.cpp '#include "losses/losses.hpp"'
reject lib/device/cuda/a.cpp:1 'lib/device must not include'
plant lib/device/a.cuh '#include "data/boxes.hpp"'
reject lib/device/a.cuh:1 'lib/device must not include'
plant lib/report/a.cpp '#include "kernel/kernel.hpp"'
reject lib/report/a.cpp:1 'lib/report must not include'
plant lib/results/a.hpp '#include "check/check.hpp"'
reject lib/results/a.hpp:1 'lib/results must not include'
plant lib/base/a.hpp ' # include  "math/ulp.hpp" // why'
reject lib/base/a.hpp:1 'lib/base must not include'
plant lib/base/b.hpp '#include <math/ulp.hpp>'
reject lib/base/b.hpp:1 'lib/base must not include'
plant lib/check/a.cpp '#include "app/cli.hpp"'
reject lib/check/a.cpp:1 'is in no folder that lib/check may include'
plant lib/math/a.cpp '#include "../base/error.hpp"'
reject lib/math/a.cpp:1 'relative include'
plant app/a.cpp '#include "base/../math/ulp.hpp"'
reject app/a.cpp:1 'relative include'
plant app/b.cpp '#include "elsewhere/x.hpp"'
reject app/b.cpp:1 'is in no folder of lib/'
plant lib/math/b.cpp '#include "nowhere.hpp"'
reject lib/math/b.cpp:1 'neither next to this file nor'
plant lib/extra/a.cpp 'int x;'
reject lib/extra/a.cpp:1 'has no rule'

finish
