#!/usr/bin/env python3
"""long_bench.py BUILD PAGE [--calls N]: watches the calls of a day, made as fast as the machine can, with
`rankfault watch`.

Two MPI ranks make N calls (140,000,000) together; then one of them kills itself. PAGE has the resources of
the tool on the way, and the time to prove which rank died, next to the time after 1,000 calls. It takes ten
minutes at most.
"""
import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")
RANKS = 2
AGAIN = 10  # deaths after 1,000 calls
LIMIT_S = 600
HEAD = """# Long jobs

Written by `./dev bench long` (`bench/long/long_bench.py`). Machine: {machine}; build {build}; {day}; load at the start {load:.1f}.

`rankfault watch -- mpirun -np 2 mpi_long` (Open MPI): two ranks, each makes `MPI_Allreduce` on MPI_COMM_SELF without pause, and a
barrier of both at each ten thousandth; then rank 1 kills itself. {calls:,} calls in all took {seconds:.0f} s, {alone:.0f} s of it
without rankfault. A job that makes 1,600 calls a second needs a day for as many.

The tool is `rankfault` and its guardian. Memory is the maximum of the two processes together since their start. Disk is the whole run
directory. *Overwritten* records are those that the tool did not read before their ring wrapped around. At this rate it does not try to,
and its findings use the state pages and the sums in them.

| calls so far | memory, MB | disk, MB | CPU of the tool, s per million calls |
|---|---|---|---|
{curve}

{ending}

What is kept of a long job: [what a watched job costs](../internals/diagnosis-looks.md).
"""


def cpu_s(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            words = file.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / TICKS
    except OSError:
        return 0


def most_mb(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0


def disk_mb(folder):
    total = 0
    for base, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(f"{base}/{name}").st_blocks * 512
            except OSError:
                pass
    return total / 1e6


def guardian_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return int((file.read().split() or ["0"])[0])
    except OSError:
        return 0


def number_in(path):
    try:
        with open(path, encoding="utf-8") as file:
            return int(file.read() or 0)
    except (OSError, ValueError):
        return 0


class Run:
    """One watched job; `curve` gets (calls, MB, disk MB, CPU s) at each tenth of the calls."""

    def __init__(self, build, calls, folder):
        self.calls, self.folder, self.run = calls, folder, f"{folder}/run"
        self.curve = []
        program = f"{build}/bin/ranks/mpi_long"
        self.command = ["mpirun", "--oversubscribe", "-np", str(RANKS), program, str(calls // RANKS), folder]
        self.watch = [f"{build}/bin/rankfault", "watch", "--run-dir", self.run, "--", *self.command]

    def note(self, tool, guardian):
        now = (number_in(f"{self.folder}/calls") * RANKS, most_mb(tool) + most_mb(guardian), disk_mb(self.run),
               cpu_s(tool) + cpu_s(guardian))
        if now[1] and (not self.curve or now[0] >= self.curve[-1][0] + self.calls / 10):
            self.curve.append(now)

    def go(self):
        begin = time.monotonic()
        with open(f"{self.folder}/out", "w", encoding="utf-8") as out:
            tool = subprocess.Popen(self.watch, stdout=out, stderr=out)
            guardian = 0
            while tool.poll() is None:
                guardian = guardian or guardian_of(tool.pid)
                self.note(tool.pid, guardian)
                if time.monotonic() > begin + LIMIT_S:
                    tool.terminate()
                time.sleep(0.002 if self.calls < 1_000_000 else 0.25)
        self.seconds = time.monotonic() - begin
        return self

    def journal(self, event):
        with open(f"{self.run}/journal.ndjson", encoding="utf-8") as file:
            return [line for line in map(json.loads, file) if line["ev"] == event]

    def proof(self):
        """Returns the milliseconds from the kill to the proven finding; None: it was not proven."""
        for line in self.journal("finding"):
            f = line["finding"]
            if f["kind"] == "dead_rank" and f["ranks"] == [1] and f["confidence"] == "proven":
                return (line["t"] - number_in(f"{self.folder}/killed")) / 1e6
        return None


def run_of(build, calls):
    with tempfile.TemporaryDirectory(prefix="rflong-") as folder:
        run = Run(build, calls, folder).go()
        lost = (run.journal("history") or [{}])[-1]
        return run, run.proof(), lost


def alone(build, calls):
    """Returns the seconds of the same job without rankfault and without a kill, from a twentieth of it."""
    with tempfile.TemporaryDirectory(prefix="rflong-") as folder:
        begin = time.monotonic()
        command = Run(build, calls // 20, folder).command
        command[-1] = "-"
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return (time.monotonic() - begin) * 20


def build_type(build):
    with open(f"{build}/CMakeCache.txt", encoding="utf-8") as file:
        return next(line.split("=")[1].strip() for line in file if line.startswith("CMAKE_BUILD_TYPE"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("page")
    parser.add_argument("--calls", type=int, default=140_000_000)
    options = parser.parse_args()
    build, load = os.path.abspath(options.build), os.getloadavg()[0]
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        os.environ[name] = "1"
    early = [run_of(build, 1000 * RANKS)[1] for _ in range(AGAIN)]
    without = alone(build, options.calls)
    run, late, lost = run_of(build, options.calls)
    rows, before = [], (0, 0, 0, 0)
    for point in run.curve:
        millions = (point[0] - before[0]) / 1e6
        if point[0]:
            rows.append(f"| {point[0]:,} | {point[1]:.0f} | {point[2]:.1f} | {(point[3] - before[3]) / millions:.3f} |")
        before = point
    known = [ms for ms in early if ms is not None]
    ending = (f"Rings lapped {lost.get('laps', 0):,} times: {lost.get('overwritten', 0):,} records were overwritten unread.\n\n"
              f"From the kill to the proven finding `dead_rank: rank 1`: "
              f"{'not proven' if late is None else f'{late:.1f} ms'} after {options.calls:,} calls; after 1,000 calls "
              f"median {statistics.median(known):.1f} ms, most {max(known):.1f} ms ({len(known)} of {AGAIN} proven).")
    with open(options.page, "w", encoding="utf-8") as file:
        file.write(HEAD.format(machine=f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}",
                               build=build_type(build), day=datetime.date.today(), load=load, calls=options.calls,
                               seconds=run.seconds, alone=without, curve="\n".join(rows), ending=ending))
    print("\n".join(rows) + "\n" + ending)


if __name__ == "__main__":
    main()
