#!/usr/bin/env python3
"""score.py BUILD [TABLE]: scores which tool names the culprits of synthetic 3-D jobs, from their Flight
Recorder dumps, and how fast.

For each kind of trouble, it draws jobs with culprits from a seed: the exact set of ranks must be named.
PyTorch's own analyser reads the same dumps if RANKFAULT_PYTHON has it: its output is searched for the ranks
that it calls missing. Then it measures the time and the memory of one diagnosis for each size. TABLE: the
file of the score, in Markdown.
"""
import datetime
import json
import os
import platform
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/release")
TABLE = sys.argv[2] if len(sys.argv) > 2 else None
JOBS = int(os.environ.get("RANKFAULT_BENCH_JOBS", "20"))
OTHER = int(os.environ.get("RANKFAULT_BENCH_OTHER", "5"))  # jobs for PyTorch's analyser, which takes seconds for each
PYTHON = os.environ.get("RANKFAULT_PYTHON", "")
KINDS = ["host_stuck", "device_stuck", "teardown", "no_dump", "skipped_call", "other_size", "nothing"]
SHAPE = (4, 2, 4)  # tensor, pipeline, data


def run(*words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, **more)


def draw(kind, n, seed):
    """Draws one or two culprits (sometimes the first rank), and 0 to 10 % of the dumps as lost."""
    chance = random.Random(f"{kind} {seed}")
    if kind == "nothing":
        return [], []
    count = 2 if chance.random() < 0.3 and kind in ("host_stuck", "device_stuck", "teardown") else 1
    culprits = [0] if count == 1 and chance.random() < 0.2 else sorted(chance.sample(range(n), count))
    lost = chance.sample([r for r in range(n) if r not in culprits], chance.randint(0, n // 10))
    return culprits, lost if kind in ("host_stuck", "device_stuck", "teardown") else []


def ours(folder):
    began = time.monotonic()
    done = run(BUILD + "/bin/rankfault", "diagnose", folder, "--json")
    took = time.monotonic() - began
    first = json.loads(done.stdout)["findings"][0] if done.returncode in (0, 1, 2) else {"ranks": None, "kind": "error"}
    return ([] if first["kind"] in ("none", "cannot_say") else first["ranks"]), took


def theirs(folder):
    began = time.monotonic()
    done = run(PYTHON, "-m", "torch.distributed.flight_recorder.fr_trace", folder, "-p", "_dump_", timeout=600)
    took = time.monotonic() - began
    text = done.stdout + done.stderr
    ranks = set()
    for found in re.findall(r"missing ranks:? *[\[{(]([0-9, ]+)[\]})]", text, re.IGNORECASE):
        ranks |= {int(word) for word in found.split(",") if word.strip()}
    ranks |= {int(rank) for rank in re.findall(r"Culprit rank ([0-9]+)", text)}
    return (sorted(ranks) if done.returncode == 0 or ranks else None), took


def have_theirs():
    return bool(PYTHON) and run(PYTHON, "-c", "import torch.distributed.flight_recorder.fr_trace").returncode == 0


def make(folder, kind, shape, steps, culprits, lost):
    text = lambda ranks: ",".join(map(str, ranks)) or "-"
    if run(BUILD + "/bin/make_dumps", folder, kind, *shape, steps, text(culprits), text(lost)).returncode != 0:
        sys.exit("score.py: make_dumps failed")


def score():
    n = SHAPE[0] * SHAPE[1] * SHAPE[2]
    other = have_theirs()
    lines = ["| trouble | jobs | exact set | median | torchfrtrace: exact set | median |", "|---|---|---|---|---|---|"]
    for kind in KINDS:
        right, took, their_right, their_took = 0, [], 0, []
        for seed in range(JOBS):
            culprits, lost = draw(kind, n, seed)
            with tempfile.TemporaryDirectory(prefix="rfscore-") as folder:
                make(folder, kind, SHAPE, 20, culprits, lost)
                named, seconds = ours(folder)
                right += named == culprits
                took.append(seconds)
                if other and seed < OTHER:
                    named, seconds = theirs(folder)
                    their_right += named == culprits
                    their_took.append(seconds)
        theirs_text = f"{their_right} of {len(their_took)} | {statistics.median(their_took):.2f} s" if other else "- | -"
        lines.append(f"| {kind} | {JOBS} | {right} of {JOBS} | {statistics.median(took):.3f} s | {theirs_text} |")
        print(lines[-1], flush=True)
    return lines


def sizes():
    lines = ["| ranks | entries each | dumps | time | MB/s | resident |", "|---|---|---|---|---|---|"]
    for shape, steps in (((4, 2, 4), 250), ((8, 4, 8), 220), ((8, 8, 16), 200)):
        n = shape[0] * shape[1] * shape[2]
        with tempfile.TemporaryDirectory(prefix="rfscore-") as folder:
            make(folder, "host_stuck", shape, steps, [n - 3], [])
            size = sum(e.stat().st_size for e in os.scandir(folder))
            before = time.monotonic()
            pid = os.posix_spawn(BUILD + "/bin/rankfault", ["rankfault", "diagnose", folder, "--json"], os.environ,
                                 file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
            usage = os.wait4(pid, 0)[2]
            took = time.monotonic() - before
            entries = len(json.loads("[]")) or steps // 2 * 9
            lines.append(f"| {n} | about {entries} | {size / 1e6:.0f} MB | {took:.2f} s | {size / 1e6 / took:.0f} | "
                         f"{usage.ru_maxrss / 1024:.0f} MiB |")
            print(lines[-1], flush=True)
    return lines


def main():
    model = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo").read())
    machine = (f"{os.cpu_count()} cores ({model.group(1) if model else platform.machine()}), Linux {platform.release()}, "
               f"{datetime.date.today()}, load at the start {os.getloadavg()[0]:.1f}")
    print(f"machine: {machine}; build {BUILD}", flush=True)
    table = score() + ["", *sizes()]
    if TABLE:
        with open(TABLE, "w") as file:
            file.write("# Score: Flight Recorder dumps\n\nWritten by `./dev bench diagnose`. Synthetic jobs of "
                       f"{SHAPE[0]} x {SHAPE[1]} x {SHAPE[2]} ranks (tensor x pipeline x data), culprits and lost dumps "
                       f"drawn from seeds; the exact set of ranks must be named.\n"
                       "torchfrtrace names the ranks that are missing from each unfinished collective. All ranks that it names are compared; they\n"
                       "include the ranks that only wait for the culprit.\n"
                       f"Machine: {machine}. "
                       f"Build: {os.path.basename(BUILD)} preset.\n\n")
            file.write("\n".join(table) + "\n")


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
if __name__ == "__main__":
    main()
