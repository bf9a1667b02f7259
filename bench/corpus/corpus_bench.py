#!/usr/bin/env python3
"""corpus_bench.py BUILD: runs the corpus of small wrong MPI programs under the tool, and scores the diagnosis.

  --sample N --seed S   N cases, drawn evenly over the families
  --match TEXT          only cases whose family/name/ranks/mask contains TEXT
  --check               a test: fails on an alarm about a twin and on a wrong proof; writes no file
  --out FILE            the file of the table (docs/measurements/corpus-score.md)
  --keep FOLDER         keeps the runs in FOLDER, for the falsifier (./dev fuzz diagnose). If FOLDER has a run
                        of the same case, its records are diagnosed again and the case does not run
  --cuts N              the falsifier then cuts each run N times; a refuted proof is a failure
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import run_case
import score

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


def write_score(path, by_family, total, drawn):
    count = sum(len(judged) for judged in by_family.values())
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{score.HEAD}{count} runs of {total}{drawn}.\n\n{score.table(by_family)}")


def kept_of(case, run):
    """Whether the run is of exactly this case: a changed program has other line numbers."""
    path = f"{run}/case.json"
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        return json.load(file) == case


def run_and_keep(build, case, kept):
    with tempfile.TemporaryDirectory(prefix="rfcorpus-") as folder:
        result = run_case.run_case(build, folder, case)
        if kept:
            with open(f"{folder}/run/case.json", "w", encoding="utf-8") as file:
                json.dump(case, file)
            shutil.rmtree(kept, ignore_errors=True)
            shutil.move(f"{folder}/run", kept)
    return result


def run_all(build, cases, keep="", after_each=lambda by_family: None):
    by_family = {}
    for case in cases:
        kept = keep and os.path.join(keep, label(case).replace("/", "_"))
        if kept and kept_of(case, kept):
            result = run_case.diagnose_again(build, kept)
        else:
            result = run_and_keep(build, case, kept)
        judged = score.judge(case, result)
        if judged.get("verdict") == "right":
            named = run_case.lines_of(f"{build}/bin/ranks/corpus/{case['program']}", score.causes(result)[0])
            judged["line"] = bool(named & {n for part in case["lines"].values() for n in part})
        tell(case, judged, result)
        by_family.setdefault(case["family"], []).append(judged)
        after_each(by_family)
    return by_family


def refuted(build, keep, cuts, seed):
    """Whether the rest of a record refutes a proof that was made at a cut of it."""
    runs = sorted(os.path.join(keep, name) for name in os.listdir(keep))
    return subprocess.run([f"{build}/bin/falsify", *runs, "--cuts", str(cuts), "--seed", str(seed)], check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--match", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep", default="")
    parser.add_argument("--cuts", type=int, default=0)
    parser.add_argument("--out", default=os.path.join(OWN, "../../docs/measurements/corpus-score.md"))
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    if not os.path.exists(build + "/corpus/corpus.json"):
        print("the corpus was not built: no MPI")
        sys.exit(77)
    with open(build + "/corpus/corpus.json", encoding="utf-8") as file:
        cases = [c for c in json.load(file) if options.match in label(c)]
    total = len(cases)
    if options.sample:
        cases = sample(cases, options.sample, options.seed)
    drawn = f", drawn with seed {options.seed}" if options.sample else ""

    def write(by_family):  # writes a table also if a run of hours is interrupted
        if not options.check:
            write_score(options.out, by_family, total, drawn)

    with tempfile.TemporaryDirectory(prefix="rfcorpus-") as folder:
        keep = options.keep or (folder if options.cuts else "")
        by_family = run_all(build, cases, keep, write)
        print("\n" + score.table(by_family), flush=True)
        wrong = options.cuts > 0 and refuted(build, keep, options.cuts, options.seed) != 0
    judged = [j for all_of in by_family.values() for j in all_of]
    if options.check:
        wrong = wrong or any(j["wrong_proof"] or j.get("alarm") or (j["twin"] and j["unsafe"] and not j["buffers"]) for j in judged)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
