#!/usr/bin/env python3
"""score.py BUILD [TABLE]: scores how well `rankfault diagnose` names the culprits of synthetic 3-D jobs from
their own flight records, and what it costs as the job grows.

For each kind of trouble, it draws jobs with culprits and lost records from a seed: the diagnosis must name
the exact set of ranks. Then it measures the ladder of sizes. TABLE: the file of the score, in Markdown.
RANKFAULT_BENCH_RANKS: the largest size. RANKFAULT_BENCH_KEEP: a folder that keeps the jobs of the ladder and
is searched for them (16,384 ranks take minutes to make).
"""
import datetime
import json
import os
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/release")
TABLE = sys.argv[2] if len(sys.argv) > 2 else None
JOBS = int(os.environ.get("RANKFAULT_BENCH_JOBS", "20"))
KEEP = os.environ.get("RANKFAULT_BENCH_KEEP")
LARGEST = int(os.environ.get("RANKFAULT_BENCH_RANKS", "16384"))
SHAPE = (4, 2, 4)  # tensor, pipeline, data
LADDER = [(256, (8, 4, 8)), (1024, (8, 8, 16)), (4096, (8, 16, 32)), (16384, (8, 16, 128))]
STEPS = 117  # 2,000 history records for a rank on average


def run(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)


def troubles():
    return [line.split() for line in run(BUILD + "/bin/make_records").stdout.splitlines()]


def draw(word, blames, n, seed):
    """Draws one or two culprits (sometimes the first rank), and 0 to 10 % of the records as lost."""
    chance = random.Random(f"{word} {seed}")
    count = 0 if not blames else 2 if chance.random() < 0.3 and word in MANY else 1
    culprits = [0] if count == 1 and chance.random() < 0.2 else sorted(chance.sample(range(n), count))
    lost = chance.sample([r for r in range(n) if r not in culprits], chance.randint(0, n // 10)) if blames else []
    return culprits, lost


MANY = ("dead_rank", "exited_rank", "stopped_rank", "slow_rank", "stuck_outside")  # two ranks may have it


def make(folder, word, shape, steps, culprits, lost):
    text = lambda ranks: ",".join(map(str, ranks)) or "-"
    if run(BUILD + "/bin/make_records", folder, word, *shape, steps, text(culprits), text(lost)).returncode != 0:
        sys.exit("score.py: make_records failed")


def named(folder):
    """Returns the kind of the first finding, the ranks of all findings of that kind, and the seconds."""
    began = time.monotonic()
    done = run(BUILD + "/bin/rankfault", "diagnose", folder, "--json")
    took = time.monotonic() - began
    findings = json.loads(done.stdout)["findings"]
    kind = findings[0]["kind"]
    ranks = {rank for f in findings if f["kind"] == kind for rank in f["ranks"]}
    return kind, sorted(ranks), took


def score():
    n = SHAPE[0] * SHAPE[1] * SHAPE[2]
    lines = ["| trouble | jobs | exact set | no rank named | another named | kind | median |", "|---|---|---|---|---|---|---|"]
    for word, wanted, blames in troubles():
        right = silent = kinds = 0
        took = []
        for seed in range(JOBS):
            culprits, lost = draw(word, int(blames), n, seed)
            with tempfile.TemporaryDirectory(prefix="rfscore-") as folder:
                make(folder + "/run", word, SHAPE, 20, culprits, lost)
                kind, ranks, seconds = named(folder + "/run")
            right += ranks == culprits
            silent += not ranks and ranks != culprits
            kinds += kind == wanted
            took.append(seconds)
            if ranks != culprits and os.environ.get("RANKFAULT_BENCH_VERBOSE"):
                print(f"  {word} {seed}: {culprits} lost {lost}: {kind} {ranks}", flush=True)
        lines.append(f"| {word} | {JOBS} | {right} of {JOBS} | {silent} | {JOBS - right - silent} | {kinds} of {JOBS} | "
                     f"{statistics.median(took):.3f} s |")
        print(lines[-1], flush=True)
    return lines


def one_size(n, shape, word):
    folder = tempfile.mkdtemp(prefix="rfscore-")
    job = f"{KEEP or folder}/{word}-{n}"
    try:
        if not os.path.exists(job):
            make(job, word, shape, STEPS, [] if word == "nothing" else [n - 3], [])
        began = time.monotonic()
        with open(folder + "/out", "w+") as out:
            pid = os.posix_spawn(BUILD + "/bin/rankfault", ["rankfault", "diagnose", job, "--json"], os.environ,
                                 file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
            usage = os.wait4(pid, 0)[2]
            took = time.monotonic() - began
            out.seek(0)
            first = json.load(out)["findings"][0]
        if first["kind"] != ("none" if word == "nothing" else word) or first["ranks"] != ([] if word == "nothing" else [n - 3]):
            sys.exit(f"score.py: {n} ranks, {word}: {first['kind']} {first['ranks']}")
        cpu = usage.ru_utime + usage.ru_stime
        return (f"| {n} | {word} | {took:.2f} s | {cpu:.2f} s | {cpu / n * 1e6:.0f} us | {usage.ru_maxrss / 1024:.0f} MiB |")
    finally:
        shutil.rmtree(folder)


def ladder():
    lines = ["| ranks | trouble | wall | CPU | CPU a rank | resident |", "|---|---|---|---|---|---|"]
    for n, shape in LADDER:
        for word in ("dead_rank", "call_mismatch", "nothing") if n < 4096 else ("dead_rank",):
            if n <= LARGEST:
                lines.append(one_size(n, shape, word))
                print(lines[-1], flush=True)
    return lines


def machine():
    model = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo").read())
    return (f"{os.cpu_count()} cores ({model.group(1) if model else platform.machine()}), Linux {platform.release()}, "
            f"{datetime.date.today()}, load at the start {os.getloadavg()[0]:.1f}")


def main():
    where = machine()
    print(f"machine: {where}; build {BUILD}", flush=True)
    table = score() + [""] + ladder()
    if TABLE:
        with open(TABLE, "w") as file:
            file.write(
                "# Score: own flight records\n\nWritten by `./dev bench diagnose`. Synthetic jobs of "
                f"{SHAPE[0]} x {SHAPE[1]} x {SHAPE[2]} ranks (tensor x pipeline x data) of blocking MPI calls; culprits and lost\n"
                "records (0 to 10 %) are drawn from seeds. *Exact set*: the first finding, with the others of its kind, names just the\n"
                "culprits. *Kind*: it is also of the kind that the trouble was made as. "
                "A rank that is stuck in the call after an extra call has, on that\n"
                "communicator, left out the next one as well: extra_call is reported as missing_call, inferred, beside a proven mismatch.\n"
                "If lost records leave one rank against one in a group, no rank is named, because the answer is not unique.\n"
                "*Wall* times come from a shared machine; compare the CPU times.\n"
                f"Below, sizes of about 2,000 history records a rank, read from the page cache.\nMachine: {where}. Build: "
                f"{os.path.basename(BUILD)} preset.\n\n")
            file.write("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
