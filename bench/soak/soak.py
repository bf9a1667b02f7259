#!/usr/bin/env python3
"""soak.py BUILD OUT [FOLDER-OR-FILE...]: runs every scenario many times, and reports other verdicts.

  --times N     runs of each scenario (20)
  --keep DIR    the folder for runs with another outcome (/tmp/rankfault-soak)

Without a name, it runs the scenarios of NCCL over the double of CUDA. It runs one at a time, because their
ranks spin while they connect. The verdict must not differ. The ends of the ranks and the named ranks may
differ where the library has a race; the page counts them.
"""
import argparse
import collections
import datetime
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.realpath(f"{os.path.dirname(os.path.abspath(__file__))}/../..")
HEAD = """# Soak

Written by `./dev soak nccl` (`bench/soak/soak.py`): each scenario {times} times, one after another. {machine}, {day}; load at the start
{load:.1f}, of others too. *As expected*: runs with the outcome that the file states. The verdict must be the same each
time. *Named* and *ended*: the results, with the number of runs for each. A race inside the library shows as more than one result.

The scenarios of nccl/ run NCCL's own host code over a double of CUDA, without kernels and without a GPU ([details](../../cuda_double/README.md)).

| scenario | as expected | seconds, median and most | named | ended |
|---|---|---|---|---|
"""


def scenarios(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
            continue
        for folder, _, names in sorted(os.walk(path)):
            yield from (f"{folder}/{name}" for name in sorted(names) if name.endswith(".yaml"))


def became_of(build, run):
    """Returns the named ranks and the ends of the ranks, in the words of the outcome table without times."""
    tool = subprocess.run([f"{build}/bin/rankfault", "report", "--format", "outcomes", run], capture_output=True, text=True,
                          check=False)
    rows = [line.strip("| ").split(" | ") for line in tool.stdout.splitlines() if line.startswith("| ")]
    if len(rows) < 2:  # a comparison: its runs are judged together
        return "", ""
    return re.sub(r" after [\d.]+ m?s", "", rows[-1][3]), rows[-1][5]


def spread(counts):
    return "; ".join(word if len(counts) == 1 else f"{word}: {n}" for word, n in counts.most_common() if word)


class Soak:
    def __init__(self, options, folder):
        self.options, self.folder, self.bad, self.rows = options, folder, [], []

    def run(self, path):
        """Runs a scenario once. Returns the status (0: as expected, 77: skipped), the seconds, the named
        ranks and how the ranks ended."""
        place = tempfile.mkdtemp(dir=self.folder)  # the directory of the reference run lies next to the run's
        run = f"{place}/run"
        begin = time.monotonic()
        # with a filter, the exit status follows the outcome, so that a run that must be void is right
        tool = subprocess.run([f"{self.options.build}/bin/rankfault", "run", path, "-k", os.path.basename(path)[:-5], "--run-dir", run,
                               "--keep", "all"],
                              capture_output=True, text=True, check=False)
        seconds = time.monotonic() - begin
        named, ended = became_of(self.options.build, run)
        if tool.returncode not in (0, 77):
            kept = f"{self.options.keep}/{os.path.basename(path)[:-5]}-{time.time_ns()}"
            os.makedirs(self.options.keep, exist_ok=True)
            shutil.move(place, kept)
            self.bad.append(f"{path}: exit {tool.returncode}, run kept in {kept}\n{(tool.stdout + tool.stderr)[-2000:]}")
        shutil.rmtree(place, ignore_errors=True)
        return tool.returncode, seconds, named, ended

    def soak(self, path):
        name = os.path.relpath(path, f"{SOURCE}/scenarios").removesuffix(".yaml")
        right, took, whom, how = 0, [], collections.Counter(), collections.Counter()
        for _ in range(self.options.times):
            status, seconds, named, ended = self.run(path)
            if status == 77:
                print(f"{name}: skipped", flush=True)
                return
            right += status == 0
            took.append(seconds)
            whom[named] += 1
            how[ended] += 1
        row = (f"| {name} | {right} of {len(took)} | {statistics.median(took):.1f}, {max(took):.1f} | {spread(whom)} | "
               f"{spread(how)} |\n")
        self.rows.append(row)
        print(row, end="", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("out")
    parser.add_argument("paths", nargs="*", default=[f"{SOURCE}/scenarios/nccl"])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--keep", default="/tmp/rankfault-soak")
    options = parser.parse_intermixed_args()
    options.build = os.path.abspath(options.build)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="rfsoak-") as folder:
        soak = Soak(options, folder)
        for path in scenarios(options.paths):
            soak.soak(path)
    if not soak.rows:
        print("nothing could be run: NCCL over the double is made by ./dev nccl")
        sys.exit(77)
    machine = f"{os.cpu_count()} cores, {os.uname().sysname} {os.uname().release}"
    with open(options.out, "w", encoding="utf-8") as file:
        file.write(HEAD.format(times=options.times, machine=machine, day=datetime.date.today(), load=load) + "".join(soak.rows))
    for line in soak.bad:
        print(line)
    print(f"{len(soak.rows)} scenarios, {options.times} times each, {len(soak.bad)} runs not as expected")
    sys.exit(1 if soak.bad else 0)


if __name__ == "__main__":
    main()
