#!/usr/bin/env python3
"""corpus_bench.py BUILD: runs the corpus of small wrong MPI programs under the tool, and scores the diagnosis.

  --outcomes FILE       the last outcome of each case (bench/corpus/outcomes.json): runs those that it lacks for these rules
  --out FILE            the page of these outcomes (docs/measurements/corpus-score.md)
  --seconds S           begins no further case after so long
  --jobs N              so many cases at once (2)
  --match TEXT          only cases whose family/name/ranks/mask contains TEXT
  --cuts N              the falsifier cuts each record N times; a refuted proof is a failure
  --check               a test: runs --sample cases, fails on an alarm about a twin and on a wrong proof; writes no file
  --sample N --seed S   N cases, drawn evenly over the families
"""
import argparse
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

import run_case
import score
from outcomes import Outcomes

OWN = os.path.dirname(os.path.abspath(__file__))


def label(case):
    return f"{case['family']}/{case['case']}/{case['ranks']}/{case['mask']:#x}"


def sample(cases, count, seed):
    """Draws cases evenly over the families, with three bugs for each twin."""
    draw, groups = random.Random(seed), {}
    for case in cases:
        groups.setdefault((case["family"], case["mask"] == 0), []).append(case)
    for group in groups.values():
        draw.shuffle(group)
    families, picked = sorted({family for family, _ in groups}), []
    while len(picked) < min(count, len(cases)):
        for family in families:
            twin = len([c for c in picked if c["family"] == family]) % 4 == 3
            group = groups.get((family, twin)) or groups.get((family, not twin))
            if group and len(picked) < count:
                picked.append(group.pop())
    return picked


def tell(case, judged, result):
    """Prints one line per run, and the findings if they differ from the truth."""
    print(f"{label(case):<58} {'twin' if judged['twin'] else judged['verdict']}"
          f"{' ALARM' if judged.get('alarm') else ''}{' WRONG PROOF' if judged['wrong_proof'] else ''}", flush=True)
    if judged["twin"] and judged["unsafe"] != judged["buffers"]:
        print(f"    {'FALSELY UNSAFE' if judged['unsafe'] else 'not named as unsafe'}", flush=True)
    if judged.get("verdict") == "right" and not judged["wrong_proof"] or judged["twin"] and not judged["alarm"]:
        return
    print(f"    true: {case['kinds']} {case['blames']}; the run was ended by: {result['teardown']}")
    for f in result["findings"]:
        under = "" if f.get("caused_by", -1) < 0 else "  under it: "
        print(f"    {under}{f['kind']} {f['ranks']} {f['confidence']}: {f['text']}", flush=True)


def falsified(build, run, cuts, seed):
    """Cuts a record. Returns the numbers of cuts, of those with a proven claim, and of refuted claims."""
    done = subprocess.run([f"{build}/bin/falsify", run, "--cuts", str(cuts), "--seed", str(seed)], capture_output=True, text=True,
                          check=False)
    found = re.search(r"(\d+) cuts, (\d+) with a proven claim, (\d+) refuted", done.stdout)
    if not found:
        sys.exit(f"the falsifier ended with {done.returncode}: {done.stdout}{done.stderr}")
    if found[3] != "0":
        print(done.stdout, flush=True)
    return dict(zip(("cuts", "claims", "refuted"), map(int, found.groups())))


def run_one(build, case, cuts, seed):
    """Runs a case. Returns what its outcome keeps, and the result of the tool."""
    with tempfile.TemporaryDirectory(prefix="rfcorpus-") as folder:
        result = run_case.run_case(build, folder, case)
        judged = score.judge(case, result)
        if judged.get("verdict") == "right":
            named = run_case.lines_of(f"{build}/bin/ranks/corpus/{case['program']}", score.causes(result)[0])
            judged["line"] = bool(named & {n for part in case["lines"].values() for n in part})
        if cuts:
            judged.update(falsified(build, f"{folder}/run", cuts, seed))
    return judged, result


def is_wrong(judged):
    return bool(judged["wrong_proof"] or judged.get("alarm") or judged.get("refuted") or
                (judged["twin"] and judged["unsafe"] and not judged["buffers"]))


def run_all(options, cases, after_each):
    """Runs the cases, some at once, until the time is over. Returns how many of them are wrong."""
    end, wrong, lock = time.monotonic() + options.seconds, 0, threading.Lock()

    def run(case):
        nonlocal wrong
        if time.monotonic() >= end:
            return
        judged, result = run_one(options.build, case, options.cuts, random.getrandbits(31))
        with lock:
            tell(case, judged, result)
            wrong += is_wrong(judged)
            after_each(case, judged)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        try:
            for done in concurrent.futures.as_completed([pool.submit(run, case) for case in cases]):
                done.result()
        except BaseException:  # also of the user
            pool.shutdown(cancel_futures=True)
            raise
    return wrong


def check(options, cases):
    """A test over a sample. Writes no file."""
    by_family = {}
    wrong = run_all(options, sample(cases, options.sample, options.seed),
                    lambda case, judged: by_family.setdefault(case["family"], []).append(judged))
    print("\n" + score.table(by_family), flush=True)
    return wrong


def go_on(options, cases, names):
    """Runs the cases that have no outcome with these rules, and writes the outcomes and the page as it goes."""
    outcomes = Outcomes(options.outcomes)
    outcomes.keep_only(names)

    def write():
        outcomes.write()
        page = f"{score.HEAD}{outcomes.sentence(len(names))}\n\n{score.table(outcomes.by_family())}{score.TAIL}"
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(page)

    def add(case, judged):
        outcomes.add(label(case), judged)
        write()

    due = outcomes.due(cases, label)
    print(f"{len(due)} of {len(cases)} cases have no outcome with these rules", flush=True)
    wrong = run_all(options, due, add)
    write()
    print("\n" + score.table(outcomes.by_family()), flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--outcomes", default=os.path.join(OWN, "outcomes.json"))
    parser.add_argument("--out", default=os.path.join(OWN, "../../docs/measurements/corpus-score.md"))
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--match", default="")
    parser.add_argument("--cuts", type=int, default=0)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--sample", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    if not os.path.exists(options.build + "/corpus/corpus.json"):
        print("the corpus was not built: no MPI")
        sys.exit(77)
    with open(options.build + "/corpus/corpus.json", encoding="utf-8") as file:
        cases = json.load(file)
    names = {label(case) for case in cases}
    cases = [case for case in cases if options.match in label(case)]
    sys.exit(bool(check(options, cases) if options.check else go_on(options, cases, names)))


if __name__ == "__main__":
    main()
