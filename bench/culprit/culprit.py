#!/usr/bin/env python3
"""culprit [--out FILE] RUNS...: compares the first cause of each run below the folders RUNS with the injected
fault (plan.json, never seen by the diagnosis), and writes the table. Exits with 1 if a proven first cause is
wrong."""
import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from truth import EXPLAINED, QUIET, truth_of, verdict  # noqa: E402

HEAD = """# Is the first cause the culprit?

Written by `./dev bench culprit` from runs of the scenario catalogue; the diagnosis sees the flight records alone, this
page compares it with the plan. *right*: a right kind for the fault, and no rank but its victims. Rows that are not right come
first. Silence is right for faults that a job may survive.

"""


def rows_of(folder):
    for path in sorted(pathlib.Path(folder).rglob("plan.json")):
        result = path.with_name("result.json")
        if not result.exists():
            continue
        plan, found = json.loads(path.read_text()), json.loads(result.read_text())
        must_be = plan["scenario"].get("must_be", "pass")
        truth = None if plan["tooth"] or must_be != "pass" else truth_of(plan)
        if truth is None:
            continue
        causes = [f for f in found["findings"] if f.get("caused_by", -1) < 0 and f["kind"] not in QUIET]
        first = causes[0] if causes else None
        yield plan["scenario"]["name"], truth, first, verdict(truth, first)


def text_of(finding):
    if finding is None:
        return "none"
    seq = finding.get("seq") or {}
    place = f"{finding['op']} {seq.get('from', '')}".strip()
    return f"{finding['kind']} {finding['ranks']} {place}, {finding['confidence']}".replace("  ", " ")


def said_of(name, said):
    return said if said == "right" else f"{said}: {EXPLAINED.get(name, 'NOT EXPLAINED')}"


def table(rows):
    out = "| scenario | injected | first cause | |\n|---|---|---|---|\n"
    for name, (kinds, ranks, op), first, said in sorted(rows, key=lambda r: (r[3] == "right", r[0])):
        injected = " or ".join(sorted(str(k).replace("None", "nothing") for k in kinds))
        where = f" of {sorted(ranks)}" if ranks else ""
        out += f"| {name} | {injected}{where}{' in ' + op if op else ''} | {text_of(first)} | {said_of(name, said)} |\n"
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--out")
    options = parser.parse_args()
    rows = [row for folder in options.runs for row in rows_of(folder)]
    if not rows:
        sys.exit("culprit: no run with a known truth")
    right = sum(r[3] == "right" for r in rows)
    wrong_proofs = [r for r in rows if r[3] in ("kind", "ranks", "op") and r[2]["confidence"] == "proven"]
    text = HEAD + (f"{len(rows)} runs, {right} right ({100 * right / len(rows):.1f} %), "
                   f"{len(wrong_proofs)} wrong and proven.\n\n") + table(rows)
    if options.out:
        pathlib.Path(options.out).write_text(text)
    print(text)
    return 1 if wrong_proofs else 0


if __name__ == "__main__":
    sys.exit(main())
