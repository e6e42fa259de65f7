#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_speed.py PROGRAM [--all]: time and memory of lossgrad's commands on the host backend, with kernels in the cache.

Each command runs once to fill the cache, then three times; printed are the shortest and the longest wall time and the
largest resident set. --all adds what takes minutes: ten million boxes, and the selftest."""
import os
import subprocess
import sys
import time

COMMANDS = ["check ciou --n 1024", "check ciou --n 1M", "check cosine --rows 20k --dim 512"]
SLOW = ["check ciou --n 10M", "selftest"]
RUNS = 3


def run(program, command):
    """Wall seconds and peak MiB; ends the script when the command does not exit with 0."""
    begin = time.monotonic()
    with subprocess.Popen([program, *command.split(), "--backend", "host", "--quiet"], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit("check_speed: lossgrad %s: exit code %d" % (command, process.returncode))
    return time.monotonic() - begin, usage.ru_maxrss / 1024


def main():
    arguments = sys.argv[1:]
    everything = "--all" in arguments
    programs = [argument for argument in arguments if not argument.startswith("-")]
    if len(programs) != 1 or set(arguments) - set(programs) - {"--all"}:
        sys.exit(__doc__)
    if not os.access(programs[0], os.X_OK):
        sys.exit("check_speed: %s: no such program; scripts/test builds build/dev" % programs[0])
    print("%d CPUs" % len(os.sched_getaffinity(0)))
    for command in COMMANDS + (SLOW if everything else []):
        run(programs[0], command)
        results = [run(programs[0], command) for _ in range(RUNS)]
        times = [seconds for seconds, _ in results]
        print("%-36s %6.2f to %6.2f s %6.0f MiB" % (command, min(times), max(times), max(peak for _, peak in results)),
              flush=True)


if __name__ == "__main__":
    main()
