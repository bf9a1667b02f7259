#!/usr/bin/env python3
"""steady_bench.py BUILD PAGE [--seconds S]: measures what the tool costs a job of 10,000 calls per second.

An MPI job of 2 and of 8 ranks makes 10,000 calls per second over all ranks for S seconds (30) and sleeps in
between. The page has the CPU time, the memory and the disk of `rankfault watch` and of its guardian. Targets:
2 percent of one core for the tool, 64 MB at 8 ranks.
"""
import argparse
import datetime
import os
import platform
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "long"))
from long_bench import cpu_s, disk_mb, guardian_of, most_mb  # noqa: E402

RATE = 10_000
HEAD = """# A job that makes 10,000 calls a second

Written by `./dev bench steady` (`bench/steady/steady_bench.py`). Machine: {machine}; build {build}; {day}; load at the start {load:.1f}.

`rankfault watch -- mpirun -np N mpi_steady` (Open MPI): the ranks make 10,000 calls a second over all ranks for {seconds} s and
sleep in between. CPU time is a share of one core. Targets: the tool at most 2 %, at most 64 MB at 8 ranks.

| ranks | tool, CPU | guardian, CPU | tool and guardian, most memory | run directory |
|---|---|---|---|---|
{rows}
"""


def measure(build, program, ranks, seconds):
    with tempfile.TemporaryDirectory(prefix="rfsteady-") as folder:
        job = ["mpirun", "--oversubscribe", "-np", str(ranks), program, str(RATE), str(seconds)]
        env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_mpi_yield_when_idle": "1"}
        tool = subprocess.Popen([f"{build}/bin/rankfault", "watch", "--run-dir", f"{folder}/run", "--", *job], env=env,
                                stdout=subprocess.DEVNULL)
        time.sleep(3)  # the start is not the steady state
        guardian, begin = guardian_of(tool.pid), time.monotonic()
        before = cpu_s(tool.pid), cpu_s(guardian)
        time.sleep(seconds - 5)
        passed = time.monotonic() - begin
        used = [100 * (now - was) / passed for now, was in zip((cpu_s(tool.pid), cpu_s(guardian)), before)]
        row = (f"| {ranks} | {used[0]:.2f} % | {used[1]:.2f} % | {most_mb(tool.pid) + most_mb(guardian):.0f} MB | "
               f"{disk_mb(folder):.1f} MB |")
        tool.wait()
    print(row, flush=True)
    return row


def main():
    words = argparse.ArgumentParser(usage=__doc__)
    words.add_argument("build")
    words.add_argument("page")
    words.add_argument("--seconds", type=int, default=30)
    words = words.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}"
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="rfsteady-") as folder:
        program = f"{folder}/mpi_steady"
        subprocess.run(["mpicc", "-O2", "-o", program, f"{HERE}/mpi_steady.c"], check=True)
        rows = [measure(words.build, program, ranks, words.seconds) for ranks in (2, 8)]
    with open(words.page, "w", encoding="utf-8") as page:
        page.write(HEAD.format(machine=machine, build=os.path.basename(os.path.abspath(words.build)), load=load,
                               day=datetime.date.today(), seconds=words.seconds, rows="\n".join(rows)))


if __name__ == "__main__":
    main()
