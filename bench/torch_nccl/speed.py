#!/usr/bin/env python3
"""speed.py BUILD PAGE [--rounds N]: how long PyTorch's nccl backend needs to start over the double of CUDA, with rankfault and
without, and who notices a hang first.

Speed over a double says nothing about a GPU: it says how long jobs take in CI. Each pair of numbers is from one run of this script,
in turns. It is never a test.
"""
import argparse
import itertools
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from readings import environment, python_of
from speed_ras import watch_ras
from what_pytorch_does import Clocks, HEAD, MISTAKE, STEPS, first_finding, journal_of

START = str(pathlib.Path(__file__).resolve().parent / "start.py")
ALONE = {"NCCL_SOCKET_IFNAME": "lo", "NCCL_P2P_DISABLE": "1", "NCCL_IB_DISABLE": "1", "NCCL_CUMEM_ENABLE": "0",
         "NCCL_CUMEM_HOST_ENABLE": "0", "NCCL_RAS_ENABLE": "0"}
TOLD = re.compile(r"start ([\d.]+) meet ([\d.]+) sum ([\d.]+)")
LIMIT_S = 15  # PyTorch's own, of a collective
SIGNS = {"watchdog": "Watchdog caught collective operation timeout", "desync": "To our best knowledge, the lagging"}
HANGS = {"leaves-out": "rank 1 of 3 leaves out a sum and goes on", "pauses": "rank 1 of 3 stays away"}
HEAD_OF_PAGE = """# PyTorch's nccl backend over the double of CUDA: how long it takes

Written by `./dev bench torch-speed` (`bench/torch_nccl/speed.py`). CUDA is a double: the numbers are the speed of jobs in CI, never
of a GPU. Numbers of one run are from the same jobs, or from jobs in turns. On a machine with other work only comparisons within one
run count.

NCCL's RAS compares how many calls each rank has made, when it is asked. So it reports each difference at once, also that of a rank
that is only late, and it sees none where a rank left out a call and made the next one. PyTorch's desync report counts in the same way.

"""


def middle(values, unit=""):
    seen = [value for value in values if value is not None]
    never = len(values) - len(seen)
    text = f"{statistics.median(seen):.2f} [{min(seen):.2f}, {max(seen):.2f}]{unit}" if seen else ""
    return (text + (f" ({never} of {len(values)} never)" if never else "")).strip()


def numbers_of(said, ranks):
    """The slowest rank: seconds from its start to the end of its first sum, of these in init_process_group and the first sum."""
    told = [tuple(map(float, row)) for row in TOLD.findall(said)]
    if len(told) != ranks:
        sys.exit(f"{len(told)} of {ranks} ranks started:\n{said[-3000:]}")
    return max(told)


def plain(build, ranks):
    """Starts the ranks without rankfault; returns the numbers of the slowest one."""
    with tempfile.TemporaryDirectory(prefix="rfspeed-") as folder:
        double = dict(environment(build), RANKFAULT_CUDA_FOLDER=folder, RANKFAULT_CUDA_DEVICES=str(max(8, ranks)), **ALONE)
        started = [subprocess.Popen([python_of(build), START, f"{folder}/store"], text=True, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT,
                                    env=dict(double, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE=str(ranks))) for r in range(ranks)]
        return numbers_of("".join(process.communicate()[0] for process in started), ranks)


def watched(build, ranks, words):
    """Runs a job under `rankfault watch`; returns the numbers of its slowest rank and the seconds of all."""
    with tempfile.TemporaryDirectory(prefix="rfspeed-") as folder:
        begin, run = time.monotonic(), pathlib.Path(folder, "run")
        done = subprocess.run([f"{build}/bin/rankfault", "watch", "--cuda", "double", "--run-dir", str(run), *words, START, f"{folder}/store"],
                              capture_output=True, text=True, check=False)
        seconds = time.monotonic() - begin
        logs = "".join(path.read_text(errors="replace") for path in (run / "logs").glob("rank-*.log"))
        if done.returncode:
            sys.exit(f"rankfault watch ended with {done.returncode}:\n{done.stdout}{done.stderr}{logs[-3000:]}")
        return (*numbers_of(logs, ranks), seconds)


def hang(build, mistake):
    """Rank 1 of 3 makes a mistake. Returns the seconds from there to the finding, and to PyTorch's and NCCL's reports."""
    with tempfile.TemporaryDirectory(prefix="rfspeed-") as folder:
        run, clocks = pathlib.Path(folder, "run"), Clocks()
        document = {"version": 1, "name": "hang", "workload": {
            "ranks": 3, "cuda": "double", "launcher": "torchrun", "needs": ["torch_cuda"],
            "command": [STEPS, "--by=1", "--steps=4", f"--mistake={mistake}", "--pause=600", f"--timeout={LIMIT_S}"],
            "env": {"TORCH_NCCL_DESYNC_DEBUG": "1", "NCCL_RAS_ENABLE": "1"}, "limits": {"wall": f"{LIMIT_S * 8}s"}},
            "expect": [{"blamed": {"kind": "none"}}]}
        pathlib.Path(folder, "hang.yaml").write_text(json.dumps(document))
        over, heard = threading.Event(), []
        listener = threading.Thread(target=watch_ras, args=(over, heard))
        listener.start()
        done = subprocess.run([f"{build}/bin/rankfault", "run", f"{folder}/hang.yaml", "--run-dir", str(run)], capture_output=True, text=True,
                              check=False)
        over.set()
        listener.join()
        clocks.read()
        logs = "".join(path.read_text(errors="replace") for path in (run / "logs").glob("rank-*.a0.log"))
        said = MISTAKE.search(logs)
        if not said:
            sys.exit(f"no rank hung:\n{done.stdout}{done.stderr}{logs[-3000:]}")
        return read_hang(float(said[1]), journal_of(run), logs, heard, clocks)


def read_hang(zero, lines, logs, heard, clocks):
    found = first_finding(lines)
    times = {"finding": found and found["at"] - zero, "said": found and found["text"], "desync_said": "nothing", "watchdog": None,
             "desync": None}
    stamp, rows = None, logs.splitlines()
    for i, row in enumerate(rows):  # a report of several lines has one stamp, in its first line
        stamp = HEAD.search(row) or stamp
        for sign, pattern in SIGNS.items():
            when = stamp and re.search(pattern, row) and clocks.monotonic_of(stamp[1]) - zero
            if when and (times[sign] is None or when < times[sign]):
                times[sign] = when
                if sign == "desync":  # the indented lines below
                    below = itertools.takewhile(lambda row: not row.startswith("\t - "), rows[i + 1:])
                    times["desync_said"] = "; ".join(row.strip("\t -") for row in below)
    # RAS also reports a mismatch of a job that is starting. Only what it stays with counts, until the watchdog ends the job.
    end = times["watchdog"] + zero if times["watchdog"] else float("inf")
    word = None
    for when, wrong in reversed([answer for answer in heard if answer[0] < end]):
        if not wrong or when < zero:
            break
        word = when
    times["ras"] = word and word - zero
    times["ras_answers"] = sum(zero <= when < end for when, _ in heard)
    print(json.dumps(times), flush=True)
    return times


def rows_of(build, rounds):
    pairs = [(plain(build, 2), watched(build, 2, ["--ranks=2", "--", python_of(build)])) for _ in range(rounds)]
    alone, ours = [one[0] for one, _ in pairs], [two[0] for _, two in pairs]
    yield "start of a rank of 2 to the end of its first sum, without rankfault, s", middle(alone)
    yield "the same with rankfault, s", middle(ours)
    yield "with / without, of each pair", middle([b / a for a, b in zip(alone, ours)])
    eight = [watched(build, 8, ["--", "torchrun", "--nproc-per-node=8"]) for _ in range(min(rounds, 3))]
    parts = ["from the start of a rank to the end of its first sum", "of these in `init_process_group`", "of these in the first sum", "the whole job"]
    for i, part in enumerate(parts):
        yield f"8 ranks of torchrun under rankfault: {part}, s", middle([numbers[i] for numbers in eight])
    for mistake, words in HANGS.items():
        hangs = [hang(build, mistake) for _ in range(min(rounds, 3))]
        yield f"{words}: to our finding ({hangs[0]['said']}), s", middle([h["finding"] for h in hangs])
        yield "the same runs: to the word that NCCL's RAS stays with, asked every 50 ms, s", middle([h["ras"] for h in hangs])
        yield f"the same runs: to PyTorch's watchdog, whose limit is {LIMIT_S} s, s", middle([h["watchdog"] for h in hangs])
        yield f"the same runs: to PyTorch's desync report (\"{hangs[0]['desync_said']}\"), s", middle([h["desync"] for h in hangs])
        yield "the same runs: answers of RAS between", middle([h["ras_answers"] for h in hangs])


def main():
    words = argparse.ArgumentParser(usage=__doc__)
    words.add_argument("build")
    words.add_argument("page", nargs="?")
    words.add_argument("--rounds", type=int, default=5)
    options = words.parse_args()
    build = os.path.abspath(options.build)
    if not python_of(build):
        print("PyTorch's nccl backend over the double is not built: ./dev torch-nccl")
        sys.exit(77)
    rows, load = [], os.getloadavg()[0]
    for what, measured in rows_of(build, options.rounds):
        rows.append(f"| {what} | {measured} |\n")
        print(f"{what:<110} {measured}", flush=True)
    if options.page:
        pathlib.Path(options.page).write_text(
            f"{HEAD_OF_PAGE}{os.cpu_count()} cores, {os.uname().sysname} {os.uname().release}, load {load:.1f} before it began; "
            "medians [least, most].\n\n| what | measured |\n|---|---|\n" + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
