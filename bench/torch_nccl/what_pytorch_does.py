#!/usr/bin/env python3
"""what_pytorch_does.py BUILD [--results FILE] [--page FILE] [--seconds S] [--only TEXT] [--again]

Runs one fault under one setting of PyTorch's nccl backend after the other (cells.py), over the double of CUDA, and writes a table of
what PyTorch did. It keeps each result, and goes on with the cells that it lacks. It is never a test.
"""
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import cells
import kept

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
STEPS = str(ROOT / "workloads/pytorch_nccl/steps.py")

# What PyTorch writes when it notices a problem, in the order of preference. The first group of a line's head is its time of day.
SIGNS = {
    "watchdog: timeout": r"Watchdog caught collective operation timeout",
    "heartbeat monitor": r"[Hh]eartbeat[Mm]onitor|watchdog got stuck",
    "error of NCCL": r"ncclRemoteError|ncclSystemError|NCCL error",
    "error of CUDA": r"CUDA error: |AcceleratorError",
    "watchdog: exception": r"Process group watchdog thread terminated with exception",
}
HEAD = re.compile(r"\[[EWIF](\d{4} \d\d:\d\d:\d\d\.\d{6})\d* ")
MISTAKE = re.compile(r"mistake at ([\d.]+)")
NAMED = re.compile(r"[^\n]*(?:joined|did not join|missing|culprit|ranks? \[)[^\n]*")


def journal_of(run):
    path = run / "journal.ndjson"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class Clocks:
    """The time of day and the clock of the journal, which may run apart: read before and after a run."""

    def __init__(self):
        self._read = []
        self.read()

    def read(self):
        self._read.append((time.time(), time.clock_gettime(time.CLOCK_MONOTONIC)))

    def monotonic_of(self, stamp):
        day = datetime.datetime.strptime(f"{datetime.date.today().year}{stamp}", "%Y%m%d %H:%M:%S.%f").timestamp()
        (day0, mono0), (day1, mono1) = self._read[0], self._read[-1]
        if abs((day1 - day0) - (mono1 - mono0)) > 0.1:
            sys.exit("the time of day was set while a cell ran, so its lines have no place on the journal's clock: run it again")
        return mono0 + (day - day0) * (mono1 - mono0) / (day1 - day0)


def signs_in(logs, clocks):
    """The first line of each sign: (seconds on the journal's clock, rank, sign)."""
    found = {}
    for rank, text in logs.items():
        for line in text.splitlines():
            head = HEAD.search(line)
            for sign, pattern in SIGNS.items():
                if head and re.search(pattern, line):
                    found.setdefault(sign, (clocks.monotonic_of(head[1]), rank, sign))
                    break
    return sorted(found.values())


def began(lines, logs):
    """When rank 1 met its trouble."""
    done = [line["t"] / 1e9 for line in lines if line["ev"] in ("fault_done", "fault_intent")]
    said = MISTAKE.search(logs.get(1, ""))
    return float(said[1]) if said else min(done, default=None)


def ends_of(lines):
    ends = {}
    for line in lines:
        if line["ev"] == "rank_end" and 0 <= line["rank"] < cells.RANKS:
            ends[line["rank"]] = (line["time"] / 1e9, f"signal {line['value']}" if line["kind"] == "signal" else f"exit {line['value']}")
    return ends


def first_finding(lines):
    """The first finding that blames a rank or is proven; else the first one."""
    told = [(line["t"] / 1e9, line["finding"]) for line in lines
            if line["ev"] == "finding" and line["finding"]["kind"] not in ("none", "cannot_say")]
    best = next((f for f in told if f[1]["ranks"]), told[0] if told else None)
    return best and {"at": best[0], "text": f"{best[1]['kind']} {best[1]['ranks']}, {best[1]['confidence']}"}


def measured(run, dumps, clocks):
    lines = journal_of(run)
    logs = {rank: path.read_text(errors="replace") for rank in range(cells.RANKS)
            for path in [run / "logs" / f"rank-{rank}.a0.log"] if path.exists()}
    zero, ends, finding = began(lines, logs), ends_of(lines), first_finding(lines)
    teardown = min((line["t"] / 1e9 for line in lines if line["ev"] == "teardown"), default=None)
    after = lambda t: None if zero is None or t is None else round(t - zero, 2)  # noqa: E731
    signs = signs_in(logs, clocks)
    everything = "\n".join(logs.values())
    named = NAMED.search(everything) if "DesyncDebug" in everything or "desync" in everything.lower() else None
    return {
        "zero": zero is not None,
        "signs": [{"after": after(t), "rank": rank, "sign": sign} for t, rank, sign in signs],
        "raises": "DistBackendError" in everything,
        "named": named[0].strip()[:200] if named else "",
        "ends": {rank: {"after": after(t), "how": how if teardown is None or t < teardown else "lives"} for rank, (t, how) in ends.items()},
        "dumps": len(list(pathlib.Path(dumps).parent.iterdir())),
        "left": sum(line["ev"] == "leftover" and "/dev/shm" in json.dumps(line) for line in lines),
        "finding": finding and {"after": after(finding["at"]), "text": finding["text"]},
        "day": str(datetime.date.today()),
    }


def run_cell(tool, cell):
    with tempfile.TemporaryDirectory(prefix="rfcell-") as folder:
        at = pathlib.Path(folder)
        (at / "dumps").mkdir()
        dumps = f"{folder}/dumps/rank"
        (at / "cell.yaml").write_text(json.dumps(cells.scenario(*cell, STEPS, dumps)))
        clocks = Clocks()
        done = subprocess.run([tool, "run", f"{folder}/cell.yaml", "--run-dir", f"{folder}/run"], capture_output=True, text=True,
                              check=False)
        if done.returncode in (64, 70, 71, 77):
            sys.exit(f"the cell {cell} did not run:\n{done.stdout}{done.stderr}")
        clocks.read()
        return measured(at / "run", dumps, clocks)


def main():
    from page import page_of  # noqa: PLC0415 # beside this file
    options = kept.parser(__doc__, HERE / "results.json", ROOT / "docs/what-pytorch-does.md").parse_args()
    results = kept.Kept(options, page_of)
    for cell in cells.CELLS:
        name = " | ".join(cell)
        if options.only in name and results.is_due(name):
            result = run_cell(f"{os.path.abspath(options.build)}/bin/rankfault", cell)
            print(name, json.dumps(result), flush=True)
            results.add(name, result)


if __name__ == "__main__":
    main()
