# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts of this folder: sourced, never run.
# shellcheck shell=bash

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
me=$(basename "$0")
cuda_minimum=12080  # as CUDART_VERSION writes 12.8

say() { printf '%s: %s\n' "$me" "$*" >&2; }
# fail CODE MESSAGE: one line on standard error, and the end.
fail() {
  local code=$1
  shift
  say "$*"
  exit "$code"
}
# The comment at the head of the running script is its help.
print_help() { sed -n '3,/^$/s/^# \{0,1\}//p' "$(readlink -f "$0")"; }

# cuda_headers FOLDER: does it hold the headers of a CUDA that is new enough?
cuda_headers() {
  local header=$1/include/cuda_runtime_api.h version
  [[ -r $header ]] || return 1
  version=$(sed -n 's/^#define  *CUDART_VERSION  *\([0-9]*\).*/\1/p' "$header")
  [[ $version -ge $cuda_minimum ]]
}
# cuda_complete FOLDER: headers, the static runtime and NVRTC?
cuda_complete() {
  local name
  cuda_headers "$1" || return 1
  for name in libcudart_static.a 'libnvrtc.so*'; do
    compgen -G "$1/lib64/$name" || compgen -G "$1/lib/$name" || compgen -G "$1/lib/*-linux-gnu/$name" ||
      compgen -G "$1/targets/*/lib/$name" || return 1
  done >/dev/null
}
# The CUDA that scripts/setup unpacked. Its file list must match the one written when it was unpacked.
cuda_wheels=$root/.deps/cuda
cuda_file_list() { (cd "$1" && find nvidia -type f -printf '%s %p\n' | LC_ALL=C sort); }
cuda_wheels_complete() {
  [[ -r $cuda_wheels/files && -r $cuda_wheels/versions ]] &&
    cmp -s "$cuda_wheels/versions" "$root/scripts/cuda-wheels.txt" &&
    [[ $(cuda_file_list "$cuda_wheels") == "$(<"$cuda_wheels/files")" ]]
}
# Prints the folder of the CUDA to use; fails when there is none.
find_cuda() {
  local folder
  for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr; do
    if [[ -n $folder ]] && cuda_complete "$folder"; then
      echo "$folder"
      return
    fi
  done
  cuda_wheels_complete && echo "$cuda_wheels/nvidia/cu13"
}

# lock NAME: waits until no other script holds it. Released by unlock or at the end of the script.
lock() {
  { mkdir -p "$root/build" && exec {lock_handle}>"$root/build/$1.lock"; } 2>/dev/null ||
    fail 70 "$root/build cannot be written, so nothing can be built there; start this as the owner of the checkout"
  if ! flock -n "$lock_handle"; then
    say "waiting for another start of these scripts that is at work in this checkout ($1)"
    flock "$lock_handle"
  fi
}
unlock() { exec {lock_handle}>&-; }

# build_preset PRESET: configures and builds; on failure shows the end of the log and exits 70. Call it under lock.
build_preset() {
  local preset=$1 folder=$root/build/$1 log=$root/build/$1.log cuda begin=$SECONDS
  cuda=$(find_cuda) || fail 70 "no CUDA 12.8 or later: run scripts/setup"
  # A build folder remembers where its checkout was: one that was moved or copied along is of no use.
  if [[ -f $folder/CMakeCache.txt ]] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    rm -rf "$folder"
  fi
  say "building (preset $preset, log: $log)"
  if ! (
    cd "$root"
    export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
    cmake --preset "$preset" -U 'LOSSGRAD_CUD*' -DLOSSGRAD_CUDA_ROOT="$cuda" && cmake --build --preset "$preset"
  ) >"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    fail 70 "the build failed; the whole log: $log"
  fi
  say "built in $((SECONDS - begin)) s"
}
