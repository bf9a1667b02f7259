#!/usr/bin/env python3
"""schedulers_bench.py: measures what Slurm, mpirun, mpiexec and torchrun do when a part of a job of several nodes fails.

  --only CELLS     measures only these cells (cells.py), separated by commas; also those that are measured already
  --more N         runs each cell of --only N more times, and keeps how its launcher ended, too: some ends are races
  --jobs N         this many cells at the same time, each on a cluster of its own (2)
  --seconds S      begins no cell after that time; the next call goes on with the cells that it lacks
  --check          measures nothing: fails if the page is not what the results give
  --page-only      measures nothing: writes the page
  --results FILE, --page FILE

rankfault is not used. Needs root and a machine that can have the test cluster, with Slurm.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import threading
import time

import cells
from page import page_of

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/what-schedulers-do.md"
MARGIN_S = 200  # for the start and the end of a cell's cluster and job


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--more", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--page-only", action="store_true")
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results.json")
    parser.add_argument("--page", type=pathlib.Path, default=PAGE)
    options = parser.parse_args()
    options.only = [name for name in options.only.split(",") if name]
    if options.more and not options.only:
        parser.error("--more needs --only")
    for name in set(options.only) - set(cells.CELLS):
        parser.error(f"no cell '{name}'; the cells are {', '.join(cells.CELLS)}")
    return options


class Results:
    """The results that were measured, one line a cell in the file."""

    def __init__(self, options):
        self._options, self._lock = options, threading.Lock()
        self.of = json.loads(options.results.read_text(encoding="utf-8")) if options.results.exists() else {}

    def is_missing(self, name):
        return name not in self.of or "failed" in self.of[name]

    def add(self, name, result, more):
        """Keeps a result; with `more` beside the one that is there."""
        with self._lock:
            if more:
                self.of[name].setdefault("more", []).append({key: result.get(key) for key in ("failed", "day", "launchers", "running")})
            elif "failed" not in result or self.is_missing(name):  # else the good one stays
                self.of[name] = result
            ordered = [(key, self.of[key]) for key in cells.CELLS if key in self.of]
            text = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in ordered)
            self._options.results.write_text("{\n" + text + "\n}\n", encoding="utf-8")
            self._options.page.write_text(page_of(self.of), encoding="utf-8")


def measured(name):
    """Runs a cell in a process of its own: its cluster ends with it."""
    argv = [sys.executable, "-B", HERE / "one_cell.py", name]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=cells.CELLS[name].bound + MARGIN_S)
    except subprocess.TimeoutExpired:
        return {"failed": "the measurement itself did not end"}
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        return {"failed": lines[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def measure(options, results):
    end = time.monotonic() + options.seconds
    due = options.only or [name for name in cells.CELLS if results.is_missing(name)]
    due = sorted(due * (options.more or 1), key=lambda name: -cells.CELLS[name].bound)  # the longest first

    def one(name):
        if time.monotonic() > end:
            return
        began = time.monotonic()
        result = measured(name)
        results.add(name, result, options.more)
        said = result.get("failed") or f"{len(result['ranks'])} ranks, launchers {result['launchers']}, left below: {result['remains'] or 'nothing'}"
        print(f"{name}: {time.monotonic() - began:.0f} s: {said}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in [pool.submit(one, name) for name in due]:
            future.result()
    return [name for name in due if results.is_missing(name)]


def main():
    options = arguments()
    results = Results(options)
    if options.check:
        same = options.page.exists() and options.page.read_text(encoding="utf-8") == page_of(results.of)
        lacking = [name for name in cells.CELLS if name not in results.of]
        if not same:
            print(f"{options.page} is not what {options.results} gives; --page-only writes it", file=sys.stderr)
        if lacking:
            print(f"no result of {', '.join(lacking)}", file=sys.stderr)
        return int(not same or bool(lacking))
    if options.page_only:
        options.page.write_text(page_of(results.of), encoding="utf-8")
        return 0
    return int(bool(measure(options, results)))


if __name__ == "__main__":
    sys.exit(main())
