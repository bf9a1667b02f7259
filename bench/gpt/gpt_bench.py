#!/usr/bin/env python3
"""gpt_bench.py BUILD PAGE [--pairs N] [--steps N]: measures what `rankfault watch` costs a PyTorch training job.

A small GPT (train.py) runs on 2 ranks alone, under watch, and alone once more, in turns. Each row of the page is the median ratio of
its pairs, with its 95 % confidence interval. It is never a test.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import callgrind  # noqa: E402
from interval import interval  # noqa: E402

RANKS = 2
WAYS = ("alone", "watch", "again")
MEASURED = re.compile(r"measured (\{.*\})")
HEAD = """# What rankfault costs a PyTorch training job

Written by `./dev bench gpt` (`bench/gpt/gpt_bench.py`).

Machine: {machine}; build {build}; PyTorch {torch}; {pairs} pairs; {day}; load at the start {load:.1f}.

A small GPT ({steps} measured steps of 4 micro batches after {warm_up} to warm up, an evaluation and a checkpoint after every tenth)
is trained by DistributedDataParallel over Gloo on {ranks} ranks, one thread each, under `torchrun` and under
`rankfault watch -- torchrun`. The two run in turns. Each ratio is the median over the pairs, with its 95 % confidence interval.
*again* compares two runs without rankfault: it shows how far this machine can measure.

| of a rank | alone | with rankfault | again | target |
|---|---|---|---|---|
{rows}

{counted}

*Step* is the median of {steps} steps. *Start* is the time from the start of the process until it has joined its process group, in
steps of 10 ms. {of_work}
"""
COUNTED = """Of {total:.0f} million instructions in user mode that the ranks executed in {steps} steps, rankfault's agent and decoders executed
{own:.2f} million: {ratio:.5f} times the instructions of the others (target: <= 1.01). valgrind's callgrind counts them for each
loaded object, so other work on the machine does not change the number."""
COUNTED_STEPS = 4  # valgrind runs 50 times slower

OF_WORK = {
    "instructions": "*Work* is the number of instructions in user mode\nduring the measured steps, of all threads of a rank.",
    "us": "This machine has no counter of instructions, so *work* is the CPU time in user\nmode during the measured steps, of all "
          "threads of a rank. Other work on the same cores moves it.",
}


class Run:
    """What the ranks of one job measured: the mean over the ranks."""

    def __init__(self, lines):
        self.step, self.start, self.work = (statistics.mean(line[key] for line in lines) for key in ("step_s", "start_s", "work"))
        self.unit, self.torch = lines[0]["unit"], lines[0]["torch"]
        self.losses = [line["loss"] for line in lines]


def job(run, steps, warm_up, counter=()):
    """Returns the command of the training job; each rank runs under the command `counter`."""
    python = os.environ.get("RANKFAULT_PYTHON", sys.executable)
    rank = ["--no-python", *counter, python] if counter else []
    return [python, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={RANKS}", *rank, str(HERE / "train.py"),
            f"--steps={steps}", f"--warm-up={warm_up}", f"--checkpoint={run}/checkpoint.pt"]


def watched(options, run, command):
    return [f"{options.build}/bin/rankfault", "watch", "--run-dir", f"{run}/run", "--", *command]


def count(options, folder):
    """Returns the sentence about the instructions of the ranks, counted by callgrind."""
    if not shutil.which("valgrind"):
        return "Instructions were not counted: valgrind is not installed."
    run = pathlib.Path(tempfile.mkdtemp(dir=folder))
    counter = [*callgrind.TOOL, f"--callgrind-out-file={run}/objects.%p", f"--log-file={run}/valgrind.%p"]
    done = subprocess.run(watched(options, run, job(run, COUNTED_STEPS, 2, counter)), env=environment(), capture_output=True,
                          text=True, check=False)
    costs = [callgrind.by_object(path) for path in run.glob("objects.*.1")]
    if done.returncode != 0 or len(costs) != RANKS:
        sys.exit(f"the counted job ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    total, libraries = costs[0] + costs[1], f"{options.build}/lib/"
    own = sum(number for name, number in total.items() if name and name.startswith(libraries))
    if not own:
        sys.exit("no instruction of the agent was counted")
    return COUNTED.format(total=sum(total.values()) / 1e6, own=own / 1e6, ratio=callgrind.ratio(total, libraries),
                          steps=COUNTED_STEPS)


def environment():
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def measure(options, way, folder):
    run = pathlib.Path(tempfile.mkdtemp(dir=folder))
    command = job(run, options.steps, options.warm_up)
    if way == "watch":
        command = watched(options, run, command)
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    logs = "".join(path.read_text(errors="replace") for path in run.glob("run/logs/*.log"))
    lines = {found["rank"]: found for found in map(json.loads, MEASURED.findall(done.stdout + logs))}
    shutil.rmtree(run)
    if done.returncode != 0 or len(lines) != RANKS:
        sys.exit(f"the job ({way}) ended with {done.returncode}:\n{done.stdout}{done.stderr}{logs}")
    return Run(list(lines.values()))


def row(name, runs, value, unit, target):
    cells = [name, f"{statistics.median(value(r) for r in runs['alone']):.4g} {unit}"]
    for way in WAYS[1:]:
        median, low, high = interval([value(a) / value(b) for a, b in zip(runs[way], runs["alone"])])
        cells.append(f"{median:.3f} [{low:.3f}, {high:.3f}]")
    return "| " + " | ".join([*cells, target]) + " |"


def table(runs, unit):
    scale, name = (1e6, "million instructions") if unit == "instructions" else (1e6, "s")
    return "\n".join([row("step, wall time", runs, lambda r: r.step * 1e3, "ms", ""),
                      row(f"work, {'instructions' if unit == 'instructions' else 'CPU time'} in user mode", runs,
                          lambda r: r.work / scale, name, "<= 1.01"),
                      row("start", runs, lambda r: r.start, "s", "")])


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    return f"{model.group(1).strip() if model else platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}"


def main():
    words = argparse.ArgumentParser(usage=__doc__)
    words.add_argument("build")
    words.add_argument("page")
    words.add_argument("--pairs", type=int, default=20)
    words.add_argument("--steps", type=int, default=20)
    words.add_argument("--warm-up", type=int, default=5)
    options = words.parse_args()
    options.build = os.path.abspath(options.build)
    load, runs = os.getloadavg()[0], {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory(prefix="rfgpt-") as folder:
        counted = count(options, folder)
        print(counted, flush=True)
        for pair in range(options.pairs):
            for way in WAYS:
                runs[way].append(measure(options, way, folder))
            print(f"pair {pair + 1}: " + ", ".join(f"{way} {runs[way][-1].step * 1e3:.1f} ms" for way in WAYS), flush=True)
    losses = {tuple(run.losses) for of_way in runs.values() for run in of_way}
    if len(losses) != 1:
        sys.exit(f"the runs did not compute the same: {losses}")
    first = runs["alone"][0]
    rows = table(runs, first.unit)
    print(rows)
    pathlib.Path(options.page).write_text(
        HEAD.format(machine=machine(), build=os.path.basename(options.build), torch=first.torch, pairs=options.pairs,
                    day=datetime.date.today(), load=load, steps=options.steps, warm_up=options.warm_up, ranks=RANKS, rows=rows, counted=counted,
                    of_work=OF_WORK[first.unit]), encoding="utf-8")


if __name__ == "__main__":
    main()
