#!/usr/bin/env python3
"""bench_tool.py BUILD [PAGE]: measures what the whole tool costs, on real jobs, in ratios and medians.

It prints one line per row: the measure, the values (median, 99th percentile, number of runs) and the target.
It asserts nothing and is never a test. PAGE: the file of the rows and of the times to the findings, in
Markdown.
"""
import collections
import json
import math
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import callgrind  # noqa: E402
from interval import interval  # noqa: E402

PAGE = sys.argv[2] if len(sys.argv) > 2 else None
ROWS, HISTOGRAMS = [], []
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/release")
RUNS = int(os.environ.get("RANKFAULT_BENCH_RUNS", "40"))  # the targets are of 200
TOOL, BIN = BUILD + "/bin/rankfault", BUILD + "/bin"

SCENARIO = """version: 1
name: bench
summary: A run that is measured.
workload:
  launcher: {launcher}
  ranks: {ranks}
  command: [{command}]
  limits: {{wall: 120s}}
{faults}expect:
  - {expect}
"""
KILL = "faults:\n  - {{id: kill, kind: rank_kill, ranks: [{rank}], at: {{op: all_reduce, nth: 3}}}}\n"


def p99(values):
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.99))]


def row(what, measured, target):
    ROWS.append((what, measured, target))
    print(f"{what:<58} {measured:<44} {target}", flush=True)


def latency_rows(what, times, target):
    for since, milliseconds in zip(("SIGKILL", "death seen"), times):
        latency_row(f"{since} to proven finding, {what}", milliseconds, target)


def latency_row(what, milliseconds, target):
    row(what, spread(milliseconds, "ms"), target)
    bins = collections.Counter(max(-2, math.ceil(math.log2(ms))) for ms in milliseconds)
    lines = [f"{f'<= {2.0 ** b:g} ms':>12} {bins[b]:>4} {'#' * math.ceil(60 * bins[b] / len(milliseconds))}"
             for b in range(min(bins), max(bins) + 1)]
    HISTOGRAMS.append((what, lines))
    print("\n".join(lines), flush=True)


def write_page(machine):
    with open(PAGE, "w") as page:
        page.write("# Speed\n\nWritten by `./dev bench` (`bench/tool/bench_tool.py`).\n\n" + machine + ".\n\n")
        page.write("| what | measured | target |\n|---|---|---|\n")
        page.writelines(f"| {what} | {measured} | {target} |\n" for what, measured, target in ROWS)
        for what, lines in HISTOGRAMS:
            page.write(f"\n## {what[0].upper() + what[1:]}\n\n```\n" + "\n".join(lines) + "\n```\n")


def spread(values, unit):
    return f"median {statistics.median(values):.2f} {unit}, p99 {p99(values):.2f}, n={len(values)}"


def journal(run):
    with open(run + "/journal.ndjson") as lines:
        return [json.loads(line) for line in lines]


def run_tool(folder, text, name="run"):
    with open(folder + "/scenario.yaml", "w") as file:
        file.write(text)
    run = f"{folder}/{name}"
    shutil.rmtree(run, ignore_errors=True)
    done = subprocess.run([TOOL, "run", folder + "/scenario.yaml", "--run-dir", run], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench_tool: the run did not pass:\n{done.stdout}{done.stderr}")
    return run


def death_to_finding(folder, launcher, ranks, command, runs):
    """Returns the ms to the proven finding in the journal: from SIGKILL, and from when the death was seen.

    A killed rank ends only after it got a processor and returned its memory. The kernel and the machine take
    the time between the two starts, which is most of the time at 64 ranks.
    """
    sent, seen = [], []
    text = SCENARIO.format(launcher=launcher, ranks=ranks, command=command, faults=KILL.format(rank=ranks - 1),
                           expect=f"blamed: {{kind: dead_rank, ranks: [{ranks - 1}], confidence: proven}}")
    for _ in range(runs):
        lines = journal(run_tool(folder, text))
        death = next(x for x in lines if x["ev"] == "rank_end" and x["rank"] == ranks - 1)
        proven = next(x["t"] for x in lines if x["ev"] == "finding" and x["finding"]["confidence"] == "proven")
        sent.append((proven - death["time"]) / 1e6)
        seen.append((proven - death["t"]) / 1e6)
    return sent, seen


def start_ranks(count, argv, env=None):
    base = dict(os.environ, WORLD_SIZE=str(count), **(env or {}))
    return [subprocess.Popen(argv, env=dict(base, RANK=str(r)), stdout=subprocess.DEVNULL) for r in range(count)]


def wall_of_ranks(folder, count, program, *flags):
    store = tempfile.mkdtemp(dir=folder)
    began = time.monotonic()
    for process in start_ranks(count, [f"{BIN}/{program}", "--store=" + store, *flags]):
        if process.wait() != 0:
            sys.exit("bench_tool: a rank did not end well")
    return time.monotonic() - began


def overhead_of_a_run(folder):
    command = '"{bin}/gloo_all_reduce", "--store={store}", "--steps=10"'
    text = SCENARIO.format(launcher="local", ranks=4, command=command, faults="", expect="blamed: {kind: none}")
    extra = []
    for _ in range(RUNS):
        bare = wall_of_ranks(folder, 4, "gloo_all_reduce", "--steps=10")
        began = time.monotonic()
        run_tool(folder, text)
        extra.append((time.monotonic() - began - bare) * 1000)
    return extra


def microseconds_of_a_small_all_reduce(folder):
    flags = ("--count=1",)
    few = statistics.median(wall_of_ranks(folder, 2, "gloo_all_reduce", "--steps=1", *flags) for _ in range(5))
    many = statistics.median(wall_of_ranks(folder, 2, "gloo_all_reduce", "--steps=20001", *flags) for _ in range(5))
    return (many - few) / 20000 * 1e6


def trainer(folder, agent, steps, counter=()):
    """Runs a trainer of two ranks, each under the command `counter`. Returns the seconds it took."""
    words = list(counter)
    if agent:
        run = tempfile.mkdtemp(dir=folder)
        os.mkdir(run + "/records")
        words += ["env", f"LD_PRELOAD={BUILD}/lib/librankfault_agent.so", f"RANKFAULT_RUN_DIR={run}"]
    words += [BIN + "/trainer", "--store=" + tempfile.mkdtemp(dir=folder), f"--steps={steps}"]
    began = time.monotonic()
    ranks = [subprocess.Popen([w.replace("{rank}", str(r)) for w in words], env=dict(os.environ, WORLD_SIZE="2", RANK=str(r)),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for r in range(2)]
    if any([process.wait() != 0 for process in ranks]):
        sys.exit("bench_tool: a trainer's rank did not end well")
    return time.monotonic() - began


def instructions_by_object(folder):
    """Returns the instructions of each loaded object of two ranks with the agent."""
    trainer(folder, True, 2000, [*callgrind.TOOL, f"--callgrind-out-file={folder}/objects.{{rank}}", f"--log-file={folder}/log.{{rank}}"])
    return callgrind.by_object(f"{folder}/objects.0") + callgrind.by_object(f"{folder}/objects.1")


def ratio_by_objects(folder):
    """Returns all instructions over those outside of the agent and its decoder: without noise of waiting."""
    return callgrind.ratio(instructions_by_object(folder), BUILD + "/lib/")


def perf_ratio(folder):
    return perf_instructions(folder, True) / perf_instructions(folder, False)


def perf_instructions(folder, agent):
    trainer(folder, agent, 2000, ["perf", "stat", "-x,", "-e", "instructions:u", "-o", folder + "/count.{rank}"])
    total = 0
    for r in range(2):
        with open(f"{folder}/count.{r}") as file:
            total += sum(int(line.split(",")[0]) for line in file if "instructions" in line)
    return total


def user_seconds_ratio(folder):
    return user_seconds(folder, True) / user_seconds(folder, False)


def user_seconds(folder, agent):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    trainer(folder, agent, 2000)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def counter_of_this_machine():
    """Returns how to count a trainer's user cost here: (name, function that returns a ratio, repeats)."""
    if perf_counts():
        return "instructions (perf)", perf_ratio, 20
    if shutil.which("valgrind"):
        return "instructions (callgrind, by object)", ratio_by_objects, 5
    return "seconds (neither perf nor valgrind counts here)", user_seconds_ratio, 20


def perf_counts():
    probe = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], capture_output=True, text=True,
                           check=False) if shutil.which("perf") else None
    return bool(probe and probe.returncode == 0 and probe.stderr.split(",")[0].isdigit())


def interval_text(ratios):
    return "{:.4f} [{:.4f}, {:.4f}], n={}".format(*interval(ratios), len(ratios))


def main():
    machine = (f"Machine: {platform.processor() or platform.machine()}, {os.cpu_count()} cores, "
               f"Linux {platform.release()}; build {os.path.basename(BUILD)}; load {os.getloadavg()[0]:.1f}; "
               f"{time.strftime('%Y-%m-%d')}")
    print(machine)
    with tempfile.TemporaryDirectory(prefix="rfbench-") as folder:
        try:
            latencies(folder)
            costs(folder)
        finally:  # also writes the measurements of an interrupted run
            if PAGE and ROWS:
                write_page(machine)


def latencies(folder):
    gloo = '"{bin}/gloo_all_reduce", "--store={store}", "--steps=6", "--timeout=60s"'
    latency_rows("4 Gloo ranks", death_to_finding(folder, "local", 4, gloo, RUNS),
                "<= 20 ms p99")
    if shutil.which("mpirun") and os.path.exists(BIN + "/ranks/mpi/mpi_steps"):
        mpi = '"{bin}/ranks/mpi/mpi_steps", "--steps=10"'
        latency_rows("4 spinning MPI ranks", death_to_finding(folder, "mpirun", 4, mpi, RUNS),
                    "<= 20 ms p99")
    latency_rows("64 Gloo ranks", death_to_finding(folder, "local", 64, gloo, max(5, RUNS // 2)), "<= 50 ms p99")


def costs(folder):
    row("a run of 4 Gloo ranks, over their own time", spread(overhead_of_a_run(folder), "ms"), "<= 200 ms")
    row("an 8-byte all-reduce at 2 ranks, without the agent",
        f"{microseconds_of_a_small_all_reduce(folder):.1f} us", "see bench_agent: enter + exit beside it")
    name, ratio, times = counter_of_this_machine()
    row(f"trainer with agent / without: user {name}", interval_text([ratio(folder) for _ in range(times)]), "<= 1.01")
    row("trainer with agent / without: wall",
        interval_text([trainer(folder, True, 2000) / trainer(folder, False, 2000) for _ in range(max(20, RUNS // 8))]),
        "printed")


if __name__ == "__main__":
    main()
