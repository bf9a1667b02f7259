#!/usr/bin/env python3
"""ratios_bench.py BUILD [PAGE]: measures what rankfault costs the ranks: time with it over time without it.

It is never a test. Each row has at least 20 interleaved pairs (without, with), and the median of their ratios
with its 95 % confidence interval. The loops make only 8-byte all-reduces, which is worse than any real job.
There are three ways: the agent alone (preloaded, recording, no tool), `rankfault watch`, and, as a check of
the method, nothing on both sides.
"""
import glob
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/release")
PAGE = sys.argv[2] if len(sys.argv) > 2 else None
PAIRS = int(os.environ.get("RANKFAULT_BENCH_PAIRS", "20"))
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import own_ranks  # noqa: E402
from interval import interval  # noqa: E402

AGENT, TOOL = BUILD + "/lib/librankfault_agent.so", BUILD + "/bin/rankfault"
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
NCCL = {"NCCL_SOCKET_IFNAME": "lo", "NCCL_P2P_DISABLE": "1", "NCCL_IB_DISABLE": "1", "NCCL_CUMEM_ENABLE": "0",
        "NCCL_CUMEM_HOST_ENABLE": "0", "NCCL_RAS_ENABLE": "0"}


class Loop:
    def __init__(self, name, command, env=None, target="<= 1.3"):
        self.name, self.command, self.env, self.target = name, command, env or {}, target


def nanoseconds(loop, way, folder):
    """Returns the nanoseconds of one call, as the program itself measures it."""
    env, command = {**os.environ, **ROOT, **loop.env}, list(loop.command)
    run = tempfile.mkdtemp(dir=folder)
    if way == "agent":
        os.mkdir(run + "/records")
        env["RANKFAULT_RUN_DIR"] = run
        env["LD_PRELOAD"] = AGENT
    if way == "watch":
        # A loop that starts its own ranks is one process to watch, whatever launcher watch would choose.
        alone = ["--ranks", "1"] if command[0] == "sh" else []
        command = [TOOL, "watch", *alone, "--run-dir", run + "/run", "--", *command]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    logs = "".join(open(f"{d}/{f}", errors="replace").read() for d, _, fs in os.walk(run) for f in fs if f.endswith(".log"))
    found = re.search(r"ns per call ([\d.]+)", done.stdout + logs) or re.search(r"all_reduce us ([\d.]+)", done.stdout + logs)
    shutil.rmtree(run, ignore_errors=True)
    if not found:
        sys.exit(f"{loop.name} ({way}) printed no time:\n{done.stdout}{done.stderr}{logs}")
    return float(found.group(1)) * (1000 if "us" in found.group(0) else 1)


def compiled(compiler, folder, name):
    program = f"{folder}/{name}"
    subprocess.run([compiler, "-O2", "-o", program, f"{HERE}/mpi_loop.c"], check=True)
    return program


def loops(folder):
    five = os.environ.get("RANKFAULT_OPENMPI5_PREFIX", "")
    for name, mpirun, mpicc in (("Open MPI 4", "mpirun.openmpi", "mpicc.openmpi"),
                                ("Open MPI 5", f"{five}/bin/mpirun", f"{five}/bin/mpicc")):
        if not shutil.which(mpirun):
            continue
        program = compiled(mpicc, folder, name.replace(" ", "-"))
        env = {"LD_LIBRARY_PATH": f"{five}/lib"} if "5" in name else {}
        shared = ["--mca", "btl", "self,vader"] if "4" in name else []
        yield Loop(f"{name}, shared memory, 2 ranks", [mpirun, *shared, "-np", "2", program, "300000"], env)
        yield Loop(f"{name}, MPI_COMM_SELF, 1 rank", [mpirun, "-np", "1", program, "1000000", "self"], env, "100 ns more")
    gloo = f"{BUILD}/bin/gloo_all_reduce"
    if os.access(gloo, os.X_OK):
        yield Loop("Gloo, 2 ranks", own_ranks.words_with_store(2, gloo, "--steps=20000", "--count=1"))
    for double in sorted(glob.glob(f"{BUILD}/lib/cuda_double/nccl-*")):
        env = {"LD_LIBRARY_PATH": f"{double}:{os.path.dirname(double)}", "RANKFAULT_CUDA_DEVICES": "2", **NCCL}
        yield Loop(f"NCCL {double.split('-')[-1]} over the double of CUDA, 1 KiB and a wait for it, 2 ranks",
                   own_ranks.words(2, f"{BUILD}/bin/ranks/cuda_double/nccl_ranks", "bench"), env)
    python = os.environ.get("RANKFAULT_PYTHON")
    if python:
        torchrun = [python, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
        yield Loop("c10d over Gloo, 2 ranks", [*torchrun, f"{HERE}/c10d_loop.py", "3000"])


def measure(loop, folder):
    times = {way: [] for way in ("", "agent", "watch", "nothing")}
    for _ in range(PAIRS):
        for way in times:
            times[way].append(nanoseconds(loop, way, folder))
    row = [loop.name, f"{statistics.median(times['']):.0f} ns"]
    for way in ("agent", "watch", "nothing"):
        median, low, high = interval([a / b for a, b in zip(times[way], times[""])])
        more, _, _ = interval([a - b for a, b in zip(times[way], times[""])])
        row.append(f"{median:.3f} [{low:.3f}, {high:.3f}], {more:+.0f} ns")
    row.append(loop.target)
    print(" | ".join(row), flush=True)
    return row


def main():
    machine = (f"Machine: {platform.processor() or platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}; "
               f"build {os.path.basename(BUILD)}; load {os.getloadavg()[0]:.1f}; {PAIRS} pairs; {time.strftime('%Y-%m-%d')}")
    print(machine)
    rows = []
    with tempfile.TemporaryDirectory(prefix="rfbench-") as folder:
        for loop in loops(folder):
            rows.append(measure(loop, folder))
    if PAGE:
        head = ["8-byte all-reduces", "alone", "with the agent", "under watch", "without both times", "target"]
        table = ["| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows]]
        with open(PAGE, "w", encoding="utf-8") as page:
            page.write("# What rankfault costs the ranks\n\nWritten by `./dev bench ratios` (`bench/ratios/ratios_bench.py`). A "
                       "ratio of 1.3 in a loop that does nothing but 8-byte\nall-reduces is a small part of any real job: a "
                       "training job's ratio is in [speed](speed.md).\n\n" + machine + ".\n\n" + "\n".join(table) + "\n")


if __name__ == "__main__":
    main()
