#!/usr/bin/env python3
"""cuda_double_bench.py BUILD PAGE: measures what NCCL's host code costs over the double of CUDA, and compares its
RAS with the finding.

Speed over a double says nothing about a GPU: it says how long scenarios take in CI. The page has ratios
within one run and medians. It is never a test.
"""
import itertools
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from ras import ask_ras  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
PAGE = sys.argv[2] if len(sys.argv) > 2 else None
ROUNDS, FEW, STEPS = 5, 100, 3000
ALONE = {"NCCL_SOCKET_IFNAME": "lo", "NCCL_P2P_DISABLE": "1", "NCCL_IB_DISABLE": "1", "NCCL_CUMEM_ENABLE": "0",
         "NCCL_CUMEM_HOST_ENABLE": "0", "NCCL_RAS_ENABLE": "0"}
# Skips the tenth call from the end: earlier, the next call of the rank takes the place of the skipped one,
# and no rank waits.
SCENARIO = """version: 1
name: ras
workload:
  ranks: 4
  cuda: double
  needs: ["nccl >= 2.24"]
  command: ["{bin}/ranks/cuda_double/nccl_ranks", bench]
  env: {MEET: "{tmp}", NCCL_RAS_ENABLE: "1"}
  limits: {wall: 20s}
faults:
  - {id: skip, kind: skip_call, ranks: [2], at: {op: all_reduce, nth: 2040}}
expect:
  - blamed: {kind: none}
"""
HEAD = """# NCCL over the double of CUDA: what it costs

Written by `./dev bench cuda-double` (`bench/cuda_double/cuda_double_bench.py`). CUDA is a double: the numbers are the speed of scenarios in CI, never of a GPU.

The table does not compare the speed of Gloo with that of NCCL. Gloo's numbers go through TCP: its ring makes 2 (n - 1) steps in two segments, each a
transfer of three messages (ready to send, ready to receive, data), each read by one thread that wakes another: 36 messages a rank at
n = 4. That work in the kernel limits it, as the CPU time shows. NCCL's transports move no data over the double: the ranks meet once
in shared memory, and the model reduces ([details](../internals/cuda-double.md)).

"""


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def job(ranks, command, environment, folder):
    """Returns the output of all ranks, the seconds until the last one ended, and the CPU seconds of all."""
    begin, before = time.monotonic(), cpu_of_children()
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                env=dict(os.environ, RANK=str(r), WORLD_SIZE=str(ranks), MEET=folder, **environment))
               for r in range(ranks)]
    while any(p.poll() is None for p in started) and not any(p.poll() for p in started):
        time.sleep(0.01)
    for p in started:  # ends the ranks that wait for a failed one
        if any(q.poll() for q in started) and p.poll() is None:
            p.kill()
    said = "".join(p.communicate()[0] for p in started)
    if any(p.returncode for p in started):
        sys.exit(f"{command} ended with {[p.returncode for p in started]}")
    return said, time.monotonic() - begin, cpu_of_children() - before


def nccl(version, ranks, what):
    """Returns what a job of nccl_ranks says: `init` or `bench`."""
    libraries = f"{BUILD}/lib/cuda_double"
    with tempfile.TemporaryDirectory(prefix="rfbench-") as folder:
        environment = dict(ALONE, LD_LIBRARY_PATH=f"{libraries}/nccl-{version}:{libraries}", RANKFAULT_CUDA_FOLDER=folder,
                           RANKFAULT_CUDA_DEVICES=str(ranks))
        said, _, _ = job(ranks, [f"{BUILD}/bin/ranks/cuda_double/nccl_ranks", what], environment, folder)
    return said


def cpu_us(said):
    return sum(map(float, re.findall(r"cpu us ([\d.]+)", said)))


def initialisation(version, ranks):
    """Returns its ms, and the CPU ms of all ranks."""
    said = nccl(version, ranks, "init")
    return float(re.search(r"init ms ([\d.]+)", said).group(1)), cpu_us(said) / 1000


def all_reduce(version):
    """Returns its µs, and the CPU µs of all 4 ranks."""
    said = nccl(version, 4, "bench")
    return float(re.search(r"all_reduce us ([\d.]+)", said).group(1)), cpu_us(said)


def gloo(ranks):
    """Returns the same for Gloo's all-reduce: the time of many steps less that of few.

    With no step at all, a rank may leave while another still connects to it.
    """
    jobs = []
    for steps in (FEW, FEW + STEPS):
        with tempfile.TemporaryDirectory(prefix="rfbench-") as folder:
            command = [f"{BUILD}/bin/gloo_all_reduce", f"--store={folder}", f"--steps={steps}", "--count=128"]
            jobs.append(job(ranks, command, {}, folder)[1:])
    return tuple((many - few) / STEPS * 1e6 for few, many in zip(*jobs))


def finding_and_ras():
    """Returns the ms from the skipped call to the finding and to RAS's first lasting report; None: never."""
    with tempfile.TemporaryDirectory(prefix="rfbench-") as folder:
        with open(f"{folder}/s.yaml", "w", encoding="utf-8") as file:
            file.write(SCENARIO)
        heard, over = [], threading.Event()

        def listen():
            while not over.wait(0.05):
                if said := ask_ras():
                    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
                    heard.append((now, bool(re.search(r"MISMATCH|INCOMPLETE", said))))
        listener = threading.Thread(target=listen)
        listener.start()
        subprocess.run([f"{BUILD}/bin/rankfault", "run", f"{folder}/s.yaml", "--run-dir", f"{folder}/run"],
                       capture_output=True, check=False)
        over.set()
        listener.join()
        with open(f"{folder}/run/journal.ndjson", encoding="utf-8") as file:
            text = file.read()
    at = {}
    for line in text.splitlines():
        time_of = int(re.search(r'"t":(\d+)', line).group(1))
        if '"fault_' in line and '"skip"' in line:
            at.setdefault("fault", time_of)
        if '"ev":"finding"' in line and '"kind":"none"' not in line and '"kind":"cannot_say"' not in line:
            at.setdefault("finding", time_of)
        if '"ev":"teardown"' in line:
            at.setdefault("teardown", time_of)
    since = lambda t: (t - at["fault"]) / 1e6 if t and "fault" in at else None
    # RAS also reports a mismatch of a job that is starting, or because it asks the ranks one after another.
    # So only a report that lasts until the end of the job counts.
    heard = [answer for answer in heard if answer[0] < at.get("teardown", answer[0] + 1)]
    lasting = [t for t, wrong in itertools.takewhile(lambda answer: answer[1], reversed(heard))
               if t >= at.get("fault", t)]
    return since(at.get("finding")), since(min(lasting, default=None))


def middle(values):
    seen = [v for v in values if v is not None]
    missing = f" ({len(values) - len(seen)} of {len(values)} never)" if len(seen) < len(values) else ""
    return (f"{statistics.median(seen):.1f} [{min(seen):.1f}, {max(seen):.1f}]" if seen else "") + missing


def main():
    cuda_double = f"{BUILD}/lib/cuda_double"
    versions = sorted(v[5:] for v in os.listdir(cuda_double) if v.startswith("nccl-")) if os.path.isdir(cuda_double) else []
    if not versions:
        print("NCCL over the double is not built: ./dev nccl")
        sys.exit(77)
    rows, load = [], os.getloadavg()[0]

    def row(what, measured):
        rows.append((what, measured))
        print(f"{what:<70} {measured}", flush=True)
    times = {"Gloo": [], **{v: [] for v in versions}}
    for _ in range(ROUNDS):
        times["Gloo"].append(gloo(4))
        for version in versions:
            times[version].append(all_reduce(version))
    for name, measured in times.items():
        what = f"1 KiB all-reduce, 4 ranks, {name if name == 'Gloo' else 'NCCL ' + name}"
        row(f"{what}, us", middle([wall for wall, _ in measured]))
        row(f"{what}, CPU time of all ranks, us", middle([cpu for _, cpu in measured]))
    for version in versions:
        for ranks in (2, 8, 32):
            measured = [initialisation(version, ranks) for _ in range(3)]
            row(f"initialisation of {ranks} ranks, NCCL {version}, ms", middle([wall for wall, _ in measured]))
            row(f"initialisation of {ranks} ranks, NCCL {version}, CPU time of all ranks, ms", middle([cpu for _, cpu in measured]))
    pairs = [finding_and_ras() for _ in range(ROUNDS)]
    row("skipped all-reduce, 4 ranks: to the finding, ms", middle([p[0] for p in pairs]))
    row("the same runs: to the word that NCCL's RAS stays with, asked every 50 ms, ms", middle([p[1] for p in pairs]))
    if PAGE:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(HEAD + f"{os.cpu_count()} cores, {os.uname().sysname} {os.uname().release}, "
                       f"load {load:.1f} before it began; medians [least, most].\n\n"
                       "| what | measured |\n|---|---|\n" + "".join(f"| {a} | {b} |\n" for a, b in rows))


if __name__ == "__main__":
    main()
