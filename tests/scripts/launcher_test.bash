#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/lossgrad on a small program of its own: when it builds, what it passes on, and what it never does.

set -euo pipefail
# shellcheck source=tests/scripts/testing.bash
source "$(dirname "$(readlink -f "$0")")/testing.bash"

tree=$scratch/tree
make_cuda "$scratch/cuda"
export CUDA_HOME=$scratch/cuda
mkdir -p "$tree/app" "$tree/lib" "$tree/scripts" "$scratch/elsewhere"
cp -r "$source_root/scripts/." "$tree/scripts/"
cp "$source_root/CMakePresets.json" "$tree/"
cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(small LANGUAGES CXX)
add_subdirectory(app)
END
echo 'add_executable(lossgrad main.cpp)' >"$tree/app/CMakeLists.txt"
# write_program WORD: prints WORD, its arguments, its folder and its input; exits with 7.
write_program() {
  cat >"$tree/app/main.cpp" <<END
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  char text[4096];
  printf("$1");
  for (int i = 1; i < argc; ++i) printf("|%s", argv[i]);
  printf("|%s|", getcwd(text, sizeof text));
  puts(fgets(text, sizeof text, stdin) ? text : "");
  return 7;
}
END
}
start() { (cd "$scratch/elsewhere" && "$tree/scripts/lossgrad" "$@" <<<input); }
output() { cat "$scratch/out"; }

write_program one
expect_code 7 start check 'two words' ''
expect_equal "$(output)" "one|check|two words||$scratch/elsewhere|input"
expect_text err "building"

# Up to date: silent.
expect_code 7 start
expect_empty err
expect_equal "$(output)" "one|$scratch/elsewhere|input"

# Through a link, and with a checkout that cannot be written.
ln -s "$tree/scripts/lossgrad" "$scratch/link"
chmod -R a-w "$tree"
expect_code 7 "$scratch/link" </dev/null
expect_empty err
chmod -R u+w "$tree"

# An edit is built, even one that bears an old time.
write_program two
expect_code 7 start
expect_equal "$(output)" "two|$scratch/elsewhere|input"
write_program old
touch -d '2001-01-01' "$tree/app/main.cpp"
expect_code 7 start
expect_equal "$(output)" "old|$scratch/elsewhere|input"

# A broken source: exit 70, the compiler's words, and never the program of before.
echo 'broken!' >"$tree/app/main.cpp"
for _ in 1 2; do
  expect_code 70 start
  expect_empty out
  expect_text err "broken"
  expect_text err "$tree/build/release.log"
done
write_program three
expect_code 7 start
expect_equal "$(output)" "three|$scratch/elsewhere|input"

# A damaged program, and one built by hand from other sources, are built again.
echo >"$tree/build/release/app/lossgrad"
expect_code 7 start
expect_equal "$(output)" "three|$scratch/elsewhere|input"
cp "$tree/app/main.cpp" "$scratch/three.cpp"
write_program four
cmake --build "$tree/build/release" >/dev/null
cp "$scratch/three.cpp" "$tree/app/main.cpp"
expect_code 7 start
expect_equal "$(output)" "three|$scratch/elsewhere|input"

# Killed in the middle of a build.
write_program five
setsid "$tree/scripts/lossgrad" >/dev/null 2>&1 </dev/null &
job=$!
sleep 0.7
kill -KILL -- "-$job" 2>/dev/null || true
wait "$job" 2>/dev/null || true
expect_code 7 start
expect_equal "$(output)" "five|$scratch/elsewhere|input"

# Several first starts at once.
rm -rf "$tree/build"
jobs=()
for i in 1 2 3; do
  (cd "$scratch" && "$tree/scripts/lossgrad" "$i" >"$scratch/parallel.$i" 2>/dev/null </dev/null) &
  jobs+=($!)
done
for i in 1 2 3; do
  code=0
  wait "${jobs[i - 1]}" || code=$?
  expect_equal "$code" 7
  expect_equal "$(cat "$scratch/parallel.$i")" "five|$i|$scratch|"
done

# Moved with its build folder.
mv "$tree" "$scratch/moved"
tree=$scratch/moved
expect_code 7 start
expect_equal "$(output)" "five|$scratch/elsewhere|input"
expect_text err building

finish
