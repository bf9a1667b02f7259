"""correct_totals: sums the results of correct_bench.py, and writes the page that shows the sums."""
import collections
import json
import sys

COUNTED = ("fails_alone", "changed", "alarm", "proven_wrong")


def add(totals, result):
    """Adds a result to its library's sums. A file keeps them, so that several machines share 20,000 runs."""
    of = totals.setdefault(result["library"], {"jobs": 0, "programs": 0, "next_seed": 1, **dict.fromkeys(COUNTED, 0), "used": {}})
    of["jobs"] += 1
    of["programs"] += result["programs"]
    of["next_seed"] = result["seed"] + result["programs"]
    for what in COUNTED:
        of[what] += result[what]
    for program in result["used"]:
        for feature, count in program.items():
            uses, programs = of["used"].get(feature, (0, 0))
            of["used"][feature] = [uses + count, programs + 1]


def read_totals(path):
    try:
        return json.loads(path.read_text()) if path and path.exists() else {}
    except ValueError as error:
        sys.exit(f"{path}: no totals of this bench: {error}")


def table(totals):
    rows = ["| library | programs | jobs | fail alone too | other output or status | alarms | of these proven |",
            "| --- | --- | --- | --- | --- | --- | --- |"]
    rows += [f"| {name} | {of['programs']} | {of['jobs']} | " + " | ".join(str(of[what]) for what in COUNTED) + " |" for name, of in sorted(totals.items())]
    uses, programs = collections.Counter(), collections.Counter()
    for of in totals.values():
        uses.update({feature: count for feature, (count, _) in of["used"].items()})
        programs.update({feature: count for feature, (_, count) in of["used"].items()})
    rows += ["", "| feature | uses | programs |", "| --- | --- | --- |"]
    rows += [f"| {name} | {count} | {programs[name]} |" for name, count in uses.most_common()]
    return "\n".join(rows)


PAGE = """# Correct programs

Written by `./dev bench correct`. Each program is made from a seed (`mpi_correct.c`, `gloo_correct.cc` and `c10d_correct.py` of
`bench/correct`): ten uses of features that are correct by the standard, with results that it checks. A job runs ten
programs, one after the other, on 2 to 6 ranks. Each job runs alone and under `rankfault watch`. An alarm is a finding in the
result, or a proven finding at any time. The last three columns must be 0. A job that also fails alone shows a flaw of its
library or of the generator; it counts there and nowhere else.

The sums are kept in `bench/correct/totals.json`. This continues them:
`./dev bench correct --runs N --jobs 2 --totals bench/correct/totals.json --page docs/measurements/correct-programs.md`

"""
