#!/usr/bin/env python3
"""jobs_bench.py BUILD [--results FILE] [--page FILE] [--seconds S] [--only TEXT] [--again]

Runs jobs that other people's packages make (jobs.py) on PyTorch's nccl backend over the double of CUDA, each as it is and with one bug
at a time, under `rankfault watch`. It writes a table of the findings. It keeps each result, and goes on with the cases that it lacks. A
job whose packages are not installed is left out. It is never a test.
"""
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import jobs
import kept
from jobs_page import page_of

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BOUND_S, PATIENCE_S = 400, 20  # of a job; while a finding of a job with a bug stands
QUIET = ("none", "cannot_say")


def versions(python):
    program = ("import importlib.metadata as m, json, sys\n"
               "print(json.dumps({d.metadata['Name'].lower(): d.version for d in m.distributions()}))")
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def findings_in(run):
    """Every finding of the journal, in order."""
    path = run / "journal.ndjson"
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")] if path.exists() else []
    return [line["finding"] for line in lines if line["ev"] == "finding" and line["finding"]["kind"] not in QUIET]


def key_of(finding):
    return finding["kind"], tuple(finding["ranks"]), finding["comm_id"], finding["attempt"]


def one_stands(told):
    """Whether a finding is not withdrawn."""
    last = {key_of(finding): finding for finding in told}
    return any(not finding.get("withdrawn") for finding in last.values())


def watched(tool, words, run, patience):
    """Runs the job. Ends one in which a finding stands for `patience` seconds, as a user would. Returns its end."""
    with open(f"{run}.txt", "w", encoding="utf-8") as output:
        watch = subprocess.Popen([tool, "watch", "--cuda", "double", "--run-dir", str(run), "--", *words], stdout=output, stderr=output,
                                 env=dict(os.environ, OMP_NUM_THREADS="1"))
        bound, since, ended_by_us = time.monotonic() + BOUND_S, None, False
        while watch.poll() is None:
            time.sleep(1)
            since = (since or time.monotonic()) if one_stands(findings_in(run)) else None
            if not ended_by_us and time.monotonic() > min(bound, (since or bound) + patience):
                ended_by_us = True
                watch.send_signal(signal.SIGTERM)
    return watch.returncode, ended_by_us


def short(finding):
    keys = ("kind", "ranks", "op", "comm", "seq", "confidence", "call_site", "text", "sides")
    return {key: finding[key] for key in keys}


def run_case(tool, job, bug):
    words = jobs.command(job, bug, ROOT / "workloads/pytorch_nccl")
    with tempfile.TemporaryDirectory(prefix="rfjob-") as folder:
        run = pathlib.Path(folder) / "run"
        status, ended_by_us = watched(tool, words, run, float("inf") if bug == jobs.HEALTHY else PATIENCE_S)
        if status in (64, 70, 71, 77):
            sys.exit(f"{job} | {bug} did not run:\n" + pathlib.Path(f"{run}.txt").read_text(errors="replace"))
        last = [f for f in json.loads((run / "result.json").read_text())["findings"] if f["kind"] not in QUIET]
        return {"status": status, "ended_by_us": ended_by_us, "findings": [short(f) for f in last],
                "withdrawn": [short(f) for f in findings_in(run) if f.get("withdrawn")], "day": str(datetime.date.today())}


def main():
    options = kept.parser(__doc__, HERE / "jobs.json", ROOT / "docs/measurements/pytorch-jobs.md").parse_args()
    results = kept.Kept(options, page_of)
    python = (pathlib.Path(options.build) / "lib/cuda_double/torch/python").read_text().strip()
    installed = versions(python)
    os.environ["PATH"] = f"{os.path.dirname(python)}:{os.environ['PATH']}"
    for job, bug in jobs.CASES:
        name = f"{job} | {bug}"
        if options.only not in name or not results.is_due(name):
            continue
        if missing := [package for package in jobs.JOBS[job]["packages"] if package not in installed]:
            print(f"{name}: no {', '.join(missing)} (./dev torch-nccl --with-trainers)")
            continue
        used = {package: installed[package] for package in ["torch", *jobs.JOBS[job]["packages"]]}
        result = {**run_case(f"{os.path.abspath(options.build)}/bin/rankfault", job, bug), "versions": used}
        print(name, json.dumps(result), flush=True)
        results.add(name, result)


if __name__ == "__main__":
    main()
