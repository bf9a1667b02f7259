#!/usr/bin/env python3
"""score.py BUILD PAGE RUNS... [--dumps FOLDER]: how many hangs of the catalogue `rankfault reproduce` makes again.

FOLDER holds the dumps of PyTorch's nccl backend, as `./dev bench agreement --keep FOLDER` leaves them. RUNS are folders of kept runs (`rankfault run scenarios --runs FOLDER --keep all`). Of each run that hangs, reproduce gets once the
recorded run, and once the logs alone. Its answer is compared with the fault or the bug that the plan of the run has, which
reproduce never reads. Each scenario that it writes is run.
"""
import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

for folder in ("culprit", "torch_nccl"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / folder))
import hangs  # noqa: E402
import truth  # noqa: E402

# A log does not show why a rank did not come, or why it made another call: kinds of one class are one answer about a log.
CLASSES = [{"stuck_outside", "slow_rank", "stopped_rank", "late_rank", "dead_rank", "exited_rank"},
           {"missing_call", "call_mismatch", "extra_call"}]
NAMES_A_CALL = re.compile(r"\b(ALLREDUCE|ALLGATHER|_ALLGATHER_BASE|REDUCE_SCATTER|BROADCAST|BARRIER|ALLTOALL)\b|"
                          r"in (all_reduce|all_gather\w*|reduce_scatter\w*|broadcast|barrier|_engine_run_backward)\b|"
                          r"internal_[A-Z]\w+\(|An error occurred in MPI_[A-Z]")
HEAD = """# How many hangs `rankfault reproduce` makes again

Written by `./dev bench reproduce FOLDER` (`bench/reproduce/score.py`), where FOLDER holds kept runs of the whole catalogue. Each run that
hangs is broken by a fault or a bug of its scenario. reproduce reads neither: it gets the recorded run (flight records and looks), or
the logs of the ranks and of the launcher alone; or the Flight Recorder dumps of PyTorch's nccl backend over the double of CUDA
(`bench/torch_nccl/hangs.py` says what was broken). *Right*: the small scenario that it wrote hangs in the same way when it is run, and
the ranks that it blames are the injected ones. *Wrong*: it claims a reproduction, and blames other ranks.

"""
TABLE = "| evidence | hangs | right | of these with the injected kind | not the same when run | not made | wrong |\n|---|---|---|---|---|---|---|\n"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("runs", type=pathlib.Path, nargs="+")
    parser.add_argument("--dumps", type=pathlib.Path)
    return parser.parse_args()


def broken_runs(folders):
    """Yields each run that has an injected truth and in which ranks wait: its folder, and the truth."""
    for folder in folders:
        for run in sorted(folder.iterdir()):
            if not (run / "plan.json").is_file():
                continue
            plan = json.loads((run / "plan.json").read_text())
            broken = (plan["faults_on"] and plan["scenario"].get("faults")) or plan["bug_on"]
            if broken and not plan.get("tooth") and truth.truth_of(plan) is not None:
                yield run, plan


def first_cause(run, tool):
    said = subprocess.run([tool, "diagnose", run, "--json"], capture_output=True, text=True, check=False)
    try:
        findings = json.loads(said.stdout)["findings"]
    except (ValueError, KeyError):
        return None
    return findings[0] if findings and findings[0]["kind"] not in truth.QUIET else None


def reproduce(tool, evidence, folder):
    """Runs the command; returns its exit code, the state in the case, and the reason why no scenario was made."""
    case = folder / "case.json"
    command = [tool, "reproduce", evidence, "--force", "--out", folder / "small.yaml", "--case", case, "--runs", folder / "runs"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    known = json.loads(case.read_text()) if case.exists() else {}
    state = known.get("state", {})
    numbers = {r["rank"]: r.get("rank_in_evidence", r["rank"]) for r in known.get("ranks", [])}
    state["ranks"] = [numbers.get(r, r) for r in state.get("ranks", [])]
    lines = [line[10:].strip() for line in said.stdout.splitlines() if line.startswith(("not made", "differs "))]
    return said.returncode, state, (lines or [said.stderr.strip()])[0]


def without_folder(text):
    return re.sub(r"/\S*/", "", text)


def alike(kind, kinds):
    return kind in kinds or any(kind in one and one & kinds for one in CLASSES)


def judged(code, state, plan, is_log):
    kinds, ranks, _ = truth.truth_of(plan)
    if code > 2:
        return "error"
    if code == 2 and not state.get("ranks"):
        return "not made"
    blamed = set(state.get("ranks", []))
    right = (alike(state.get("kind"), kinds) if is_log else state.get("kind") in kinds) and (ranks is None or (blamed and blamed <= ranks))
    if not right:
        return "wrong"
    return {0: "right", 1: "not the same"}.get(code, "not made")


def judged_dumps(code, state, rank):
    if code == 2:
        return "not made"
    if state.get("ranks") != [rank]:
        return "wrong"
    return "right" if code == 0 else "not the same"


def is_hang(cause):
    """Whether ranks of the run wait in a call, as its first cause says: right or wrong about why."""
    return cause is not None and cause["kind"] not in ("host_resource", "duplicate_rank", "version_mismatch", "wedged") and any(
        side["op"] for side in cause.get("sides", []))


def text_of_logs(run):
    return "\n".join(f.read_text(errors="replace") for f in sorted((run / "logs").rglob("*")) if f.is_file())


def main():
    options = arguments()
    tool = options.build / "bin/rankfault"
    counts = {"recorded run": collections.Counter(), "Flight Recorder dumps": collections.Counter(), "logs that name a call": collections.Counter(), "logs that name none": collections.Counter()}
    rows = []
    for run, plan in broken_runs(options.runs):
        if not is_hang(first_cause(run, tool)):
            continue
        name = plan["scenario"]["name"]
        for is_log in (False, True):
            kind = "recorded run" if not is_log else f"logs that name {'a call' if NAMES_A_CALL.search(text_of_logs(run)) else 'none'}"
            with tempfile.TemporaryDirectory() as folder:
                code, state, why = reproduce(tool, run / "logs" if is_log else run, pathlib.Path(folder))
            verdict = judged(code, state, plan, is_log)
            counts[kind]["hangs"] += 1
            counts[kind][verdict] += 1
            counts[kind]["exact"] += verdict == "right" and state.get("kind") in truth.truth_of(plan)[0]
            print(name, "|", kind, "|", verdict, "|", state.get("kind"), state.get("ranks"), "|", why if verdict != "right" else "", flush=True)
            if verdict != "right":
                rows.append((name, kind, verdict, without_folder(why).replace("|", "/")[:160]))
    for name, hang in hangs.HANGS.items() if options.dumps else ():
        dumps = options.dumps / name / "dumps"
        if not dumps.is_dir() or not any(dumps.iterdir()):
            continue
        with tempfile.TemporaryDirectory() as folder:
            code, state, why = reproduce(tool, dumps, pathlib.Path(folder))
        verdict, kind = judged_dumps(code, state, hang.rank), "Flight Recorder dumps"
        counts[kind].update(["hangs", verdict])
        print(name, "|", kind, "|", verdict, "|", state.get("kind"), state.get("ranks"), "|", why if verdict != "right" else "", flush=True)
        if verdict != "right":
            rows.append((f"{name} ({hang.says})", kind, verdict, (why or f"it blames ranks {state.get('ranks')}").replace("|", "/")[:160]))
    page = HEAD + f"{datetime.date.today()}, {os.cpu_count()} cores.\n\n" + TABLE
    for kind, count in counts.items():
        exact = "" if kind == "Flight Recorder dumps" else count["exact"]  # of dumps the injected kind is another question
        page += f"| {kind} | {count['hangs']} | {count['right']} | {exact} | {count['not the same']} | {count['not made']} | {count['wrong']} |\n"
    page += "\n## What was not reproduced\n\n| scenario | evidence | verdict | reason |\n|---|---|---|---|\n"
    page += "".join(f"| {' | '.join(row)} |\n" for row in rows)
    options.page.write_text(page)


if __name__ == "__main__":
    main()
