#!/usr/bin/env python3
"""abort_table.py BUILD OUT: measures how NCCL's host code handles an abort, over the double of CUDA.

It runs each case (tests/ranks/cuda_double/abort.cc) several times under the tool, on 4 ranks of each version that
is built. The table has the time of the abort, and what is left of the communicator in the process and of the
job on the machine.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

CASES = {"init": "in non-blocking initialisation, one rank never comes",
         "in_flight": "an all-reduce that all have entered is in flight",
         "after_peer_death": "a peer was killed, the others wait for it",
         "revoke": "revoked first, an all-reduce pending",
         "shrink": "shrunk with abort after a peer's death, then child and parent",
         "two_in_one_order": "two communicators with work pending, one after the other",
         "two_crossed": "the same, half of the ranks the other way round",
         "two_at_once": "the same, both aborts at once, from two threads"}
SINCE = {"revoke": (2, 29), "shrink": (2, 27)}
KILLS = ("after_peer_death", "shrink")
SCENARIO = """version: 1
name: abort
workload:
  ranks: 4
  cuda: double
  nccl: {version}
  command: ["{{bin}}/ranks/cuda_double/nccl_ranks", abort_{case}]
  env: {{MEET: "{{tmp}}"{kernels}}}
  limits: {{wall: 40s}}
expect:
  - left_nothing: [processes, shm, sockets]
"""
LINE = re.compile(r"^abort rank (\d+) ms ([\d.]+) results \[(.*)\] threads (\d+) (\d+) sockets (\d+) (\d+) segments (\d+) (\d+)$",
                  re.M)
HEAD = """# What an abort of NCCL ends, and what it leaves

Written by `./dev bench abort` (`bench/abort/abort_table.py`; the cases are `tests/ranks/cuda_double/abort.cc`).

NCCL's own host code runs over a double of CUDA, without kernels and without a GPU ([details](../../cuda_double/README.md)). The double's
`cudaFree` waits for all work of the device, as CUDA's documentation says. An abort may therefore wait for the work of another
communicator. No result was compared with a GPU.

{machine}; {repeats} runs of each case; 4 ranks over /dev/shm. *ms*: the time of all calls by which a rank frees itself, median and worst over
ranks and runs. *never*: not within 10 s. *Left in the process*: the threads, sockets and mapped segments that exist one second after the abort
and did not exist before the communicator was made, on the rank that kept most. *Left behind*: processes, sockets and files in /dev/shm after
all ranks ended.

| case | NCCL | ms | never | results | left in the process | left behind |
|---|---|---|---|---|---|---|
"""


def run_once(build, folder, version, case, n):
    kernels = "" if case in ("init", "revoke") + KILLS else ", RANKFAULT_CUDA_KERNELS: until_abort"
    run = f"{folder}/{case}-{version}-{n}"
    with open(f"{folder}/s.yaml", "w", encoding="utf-8") as file:
        file.write(SCENARIO.format(version=version, case=case, kernels=kernels))
    subprocess.run([f"{build}/bin/rankfault", "run", f"{folder}/s.yaml", "--run-dir", run], capture_output=True, check=False)
    with open(f"{run}/result.json", encoding="utf-8") as file:
        result = json.load(file)
    said = ""
    for log in sorted(os.listdir(f"{run}/logs")):
        with open(f"{run}/logs/{log}", encoding="utf-8", errors="replace") as file:
            said += file.read()
    nothing = [e for e in result["expectations"] if e["id"] == "left_nothing"]
    return said, nothing[0]["because"] if nothing and nothing[0]["verdict"] != "pass" else "nothing"


def spread(texts):
    return ", ".join(sorted(set(texts)))


def row(build, folder, version, case, repeats):
    times, results, behind, never = [], [], [], 0
    in_process = {"threads": 0, "sockets": 0, "segments": 0}  # the most that a rank kept
    for n in range(repeats):
        said, left = run_once(build, folder, version, case, n)
        behind.append(left)
        never += said.count("abort never")
        for _, ms, result, *held in LINE.findall(said):
            if not result:  # the rank did not take part
                continue
            times.append(float(ms))
            results.append(re.sub(r"\b0\b", "success", result))
            for i, word in enumerate(in_process):
                in_process[word] = max(in_process[word], int(held[2 * i + 1]) - int(held[2 * i]))
    ms = f"{statistics.median(times):.0f}, {max(times):.0f}" if times else ""
    ranks = f"{never} of {never + len(times)}" if never else "0"
    kept = ", ".join(f"{word}: {count}" for word, count in in_process.items() if count > 0) or "nothing"
    return f"| {CASES[case]} | {version} | {ms} | {ranks} | {spread(results)} | {kept if times else ''} | {spread(behind)} |\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("out")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    cuda_double = f"{build}/lib/cuda_double"
    versions = sorted(v[5:] for v in os.listdir(cuda_double) if v.startswith("nccl-")) if os.path.isdir(cuda_double) else []
    if not versions:
        print("NCCL over the double is not built: ./dev nccl")
        sys.exit(77)
    machine = f"{os.cpu_count()} cores, {os.uname().sysname} {os.uname().release}"
    text = HEAD.format(machine=machine, repeats=options.repeats)
    with tempfile.TemporaryDirectory(prefix="rfabort-") as folder:
        for case in CASES:
            for version in versions:
                if tuple(int(x) for x in version.split(".")[:2]) < SINCE.get(case, (0,)):
                    continue
                line = row(build, folder, version, case, options.repeats)
                print(line, end="", flush=True)
                text += line
    with open(options.out, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
