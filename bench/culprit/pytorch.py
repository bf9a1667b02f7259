#!/usr/bin/env python3
"""pytorch.py BUILD [--out FILE] [--only NAME]: runs each small job of workloads/pytorch under `rankfault watch`, with its
bug and without, and compares the first cause with the truth: the rank, and the line that ends with "# culprit".

Exits with 1 if a correct job has a finding, or if a proven first cause names a wrong rank.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

JOBS = pathlib.Path(__file__).resolve().parents[2] / "workloads/pytorch"
RANKS = 4
STAYS_AWAY = {"late_rank", "slow_rank", "stuck_outside", "missing_call", "had_not_entered"}
DIFFERS = {"call_mismatch", "missing_call", "extra_call"}
TRUTH = {  # the kinds that are right, and the ranks; None: no rank is more to blame than another
    "barrier_in_branch": (DIFFERS, {1}),
    "collective_on_sigterm": (DIFFERS, {1}),
    "evaluation_on_rank_0": (DIFFERS, {0}),
    "fsdp_order": (DIFFERS, {1}),
    "group_on_some": (STAYS_AWAY | DIFFERS | {"init_stall", "exited_rank"}, {1}),
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
    "slow_checkpoint": (set(), None),  # it is correct, and slow
    "wrong_axis": (DIFFERS | {"order_deadlock"}, {1}),
}
HEAD = """# Bugs in PyTorch programs

Written by `./dev bench pytorch` from the jobs of `workloads/pytorch`, on {ranks} ranks. *line*: the first finding, or the
stacks of its rank, name the line of the bug. A job without its bug must have no finding.

"""


def line_of(name):
    for number, line in enumerate((JOBS / f"{name}.py").read_text().splitlines(), 1):
        if line.endswith("# culprit"):
            return f"{name}.py:{number}"
    return ""


def watch(build, name, *words):
    with tempfile.TemporaryDirectory(prefix="rf-pytorch-") as folder:
        python = os.environ.get("RANKFAULT_PYTHON", sys.executable)
        command = [f"{build}/bin/rankfault", "watch", "--json", "--end-on-finding", "--run-dir", f"{folder}/run", "--ranks", str(RANKS),
                   "--", python, "-m", "torch.distributed.run", f"--nproc_per_node={RANKS}", str(JOBS / f"{name}.py"), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
        stacks = "".join(path.read_text() for path in pathlib.Path(folder, "run/evidence").glob("*.json"))
        try:
            return json.loads(done.stdout), stacks
        except ValueError:
            sys.exit(f"{name}: no result\n{done.stdout[-500:]}{done.stderr[-1000:]}")


def first_cause(result):
    return next((f for f in result["findings"] if f.get("caused_by", -1) < 0 and f["kind"] not in ("none", "cannot_say")), None)


def row(build, name):
    kinds, ranks = TRUTH[name]
    result, stacks = watch(build, name)
    found, correct = first_cause(result), first_cause(watch(build, name, "--correct")[0])
    line = line_of(name)
    names_line = bool(found) and bool(line) and line in json.dumps(found) + stacks
    if not kinds:
        right = found is None
    else:
        right = bool(found) and found["kind"] in kinds and (ranks is None or set(found["ranks"]) <= ranks)
    text = f"{found['kind']} {found['ranks']}, {found['confidence']}" if found else "none"
    wrong_proof = bool(found) and not right and found["confidence"] == "proven"
    print(f"{name:<26} {'right' if right else 'WRONG'}  line {'named' if names_line else 'not named'}  {text}"
          f"{'  ALARM on the correct job: ' + correct['kind'] if correct else ''}", flush=True)
    return {"name": name, "right": right, "line": names_line, "text": text, "alarm": bool(correct), "wrong_proof": wrong_proof}


def page(rows):
    out = HEAD.format(ranks=RANKS)
    bugs = [r for r in rows if TRUTH[r["name"]][0]]
    out += (f"{sum(r['right'] for r in bugs)} of {len(bugs)} bugs have the right first cause, {sum(r['line'] for r in bugs)} name the line; "
            f"{sum(r['alarm'] for r in rows)} alarms about {len(rows)} correct jobs.\n\n")
    out += "| job | first cause | | line | correct job |\n|---|---|---|---|---|\n"
    for r in rows:
        out += (f"| {r['name']} | {r['text']} | {'right' if r['right'] else 'wrong'} | {'named' if r['line'] else 'not named'} | "
                f"{'ALARM' if r['alarm'] else 'no finding'} |\n")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--out")
    parser.add_argument("--only", choices=sorted(TRUTH))
    options = parser.parse_args()
    rows = [row(options.build, name) for name in sorted(TRUTH) if options.only in (None, name)]
    if options.out:
        pathlib.Path(options.out).write_text(page(rows))
    return 1 if any(r["alarm"] or r["wrong_proof"] for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
