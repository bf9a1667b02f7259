#!/usr/bin/env python3
"""pytorch.py BUILD [--out FILE] [--recordings FILE] [--only NAME]: runs each small job of workloads/pytorch under `rankfault watch`,
with its bug and without, and compares the first cause with the truth: the rank, and the line that ends with "# culprit".

Exits with 1 if a correct job has a finding, or if a proven first cause names a wrong rank.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import recordings  # noqa: E402

TREE = HERE.parents[1]
JOBS = TREE / "workloads/pytorch"
RANKS = 4
STAYS_AWAY = {"late_rank", "slow_rank", "stuck_outside", "missing_call", "had_not_entered"}
DIFFERS = {"call_mismatch", "missing_call", "extra_call"}
TRUTH = {  # the kinds that are right, and the ranks; None: no rank is more to blame than another
    "barrier_in_branch": (DIFFERS, {1}),
    "collective_on_sigterm": (DIFFERS, {1}),
    "evaluation_on_rank_0": (DIFFERS, {0}),
    "fsdp_order": (DIFFERS, {1}),
    "group_on_some": (DIFFERS, {1}),
    "groups_in_another_order": ({"order_deadlock"}, None),
    "held_lock": (STAYS_AWAY, {1}),
    "loader_killed": ({"exited_rank"}, {1}),
    "micro_batches": (DIFFERS, {1}),
    "mixed_dtypes": (DIFFERS, {1}),
    "no_gradient": (DIFFERS | {"exited_rank"}, {1}),
    "no_sync_alone": (DIFFERS, {1}),
    "pipeline_send": (DIFFERS | {"order_deadlock"}, {1}),
    "raises": ({"exited_rank"}, {1}),
    "short_data": (DIFFERS, {1}),
    "skips_nan": (DIFFERS, {1}),
    "sleeps": (STAYS_AWAY, {1}),
    # It is correct, and slow. slow_rank may report that while the others wait, and is withdrawn.
    "slow_checkpoint": (set(), None),
    "wrong_axis": (DIFFERS | {"order_deadlock"}, {1}),
}
PYSPY = "py-spy" if shutil.which("py-spy") or os.environ.get("RANKFAULT_PYSPY") else "addresses alone (py-spy is missing)"
ZOO = re.compile(r"^def (?!main)(\w+)\(rank\):", re.M).findall((JOBS / "zoo.py").read_text())
HEAD = """# Bugs in PyTorch programs

Written by `./dev bench pytorch` from the jobs of `workloads/pytorch`, on {ranks} ranks. *line*: the first finding, or the
stacks of its rank by {pyspy}, name the line of the bug. A job without its bug, and each program of `zoo.py`, must have no finding, not even
one that is withdrawn. slow_checkpoint is correct, but its ranks wait 30 s for one of them: `slow_rank` reports that while it
lasts, and nothing is found wrong in the end. [What watch prints](pytorch-findings.md) about each job has a page of its own.

"""


def line_of(name):
    for number, line in enumerate((JOBS / f"{name}.py").read_text().splitlines(), 1):
        if line.endswith("# culprit"):
            return f"{name}.py:{number}"
    return ""


def what_it_is(name):
    return re.match(r'"""(.*?)"""', (JOBS / f"{name}.py").read_text(), re.S).group(1).strip()


def watch(build, name, *words):
    """Returns the result, the stacks, the kinds of all findings, and what was printed."""
    with tempfile.TemporaryDirectory(prefix="rf-pytorch-") as folder:
        python = os.environ.get("RANKFAULT_PYTHON", sys.executable)
        command = [f"{build}/bin/rankfault", "watch", "--end-on-finding", "--run-dir", f"{folder}/run", "--ranks", str(RANKS),
                   "--", python, "-m", "torch.distributed.run", f"--nproc_per_node={RANKS}", str(JOBS / f"{name}.py"), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
        run = pathlib.Path(folder, "run")
        stacks = "".join(path.read_text() for path in run.glob("evidence/*.json"))
        try:
            lines = [json.loads(line) for line in (run / "journal.ndjson").read_text().splitlines()]
            result = json.loads((run / "result.json").read_text())
        except (OSError, ValueError):
            sys.exit(f"{name}: no result\n{done.stdout[-500:]}{done.stderr[-1000:]}")
        return result, stacks, [line["finding"]["kind"] for line in lines if line["ev"] == "finding"], done.stdout


def first_cause(result):
    return next((f for f in result["findings"] if f.get("caused_by", -1) < 0 and f["kind"] not in ("none", "cannot_say")), None)


def kinds_of(result, kinds):
    """Kinds of all findings, also of those that were withdrawn; a correct job has none, and not even cannot_say."""
    return sorted({*kinds, *(f["kind"] for f in result["findings"])} - {"none"})


def alarms(build, name, *words):
    result, _, kinds, _ = watch(build, name, *words)
    return kinds_of(result, kinds)


def row(build, name):
    kinds, ranks = TRUTH[name]
    result, stacks, told, printed = watch(build, name)
    found, alarm = first_cause(result), alarms(build, name, "--correct")
    line = line_of(name)
    names_line = bool(found) and bool(line) and line in json.dumps(found) + stacks
    if not kinds:
        right = not found and set(kinds_of(result, told)) <= {"slow_rank"}
    else:
        right = bool(found) and found["kind"] in kinds and (ranks is None or set(found["ranks"]) <= ranks)
    text = f"{found['kind']} {found['ranks']}, {found['confidence']}" if found else "none"
    wrong_proof = bool(found) and not right and found["confidence"] == "proven"
    print(f"{name:<26} {'right' if right else 'WRONG'}  line {'named' if names_line else 'not named'}  {text}"
          f"{'  ALARM on the correct job: ' + ', '.join(alarm) if alarm else ''}", flush=True)
    return {"name": name, "right": right, "line": names_line, "text": text, "alarm": ", ".join(alarm), "wrong_proof": wrong_proof,
            "recording": recordings.section(name, what_it_is(name), RANKS, printed, [str(TREE)])}


def page(rows, zoo):
    out = HEAD.format(ranks=RANKS, pyspy=PYSPY)
    bugs = [r for r in rows if TRUTH[r["name"]][0]]
    out += (f"{sum(r['right'] for r in bugs)} of {len(bugs)} bugs have the right first cause, {sum(r['line'] for r in bugs)} name the line; "
            f"{sum(bool(r['alarm']) for r in rows + zoo)} alarms about {len(rows + zoo)} correct jobs.\n\n")
    out += "| job | first cause | | line | correct job |\n|---|---|---|---|---|\n"
    for r in rows:
        out += (f"| {r['name']} | {r['text']} | {'right' if r['right'] else 'wrong'} | {'named' if r['line'] else 'not named'} | "
                f"{r['alarm'] or 'no finding'} |\n")
    out += "\n| program of zoo.py | |\n|---|---|\n"
    return out + "".join(f"| {r['name']} | {r['alarm'] or 'no finding'} |\n" for r in zoo)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--out")
    parser.add_argument("--recordings")
    parser.add_argument("--only", choices=sorted([*TRUTH, *ZOO]))
    options = parser.parse_args()
    zoo = []
    for name in ZOO:
        if options.only in (None, name):
            zoo.append({"name": name, "alarm": ", ".join(alarms(options.build, "zoo", name))})
            print(f"zoo {name:<22} {'ALARM: ' + zoo[-1]['alarm'] if zoo[-1]['alarm'] else 'no finding'}", flush=True)
    rows = [row(options.build, name) for name in sorted(TRUTH) if options.only in (None, name)]
    if options.out and not options.only:
        pathlib.Path(options.out).write_text(page(rows, zoo))
    if options.recordings and not options.only:
        pathlib.Path(options.recordings).write_text(recordings.page([r["recording"] for r in rows]))
    if options.only and rows:
        print(rows[0]["recording"])
    return 1 if any(r["alarm"] for r in rows + zoo) or any(r["wrong_proof"] for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
