"""correct_totals: what the runs of correct_bench.py came to, summed, and the page that shows it."""
import collections
import json
import sys

COUNTED = ("fails_alone", "changed", "alarm", "proven_wrong")


def add(totals, result):
    """What all runs of a library came to; a file keeps it, so that 20,000 runs may take several machines."""
    of = totals.setdefault(result["library"], {"programs": 0, "next_seed": 1, **dict.fromkeys(COUNTED, 0), "used": {}})
    of["programs"] += 1
    of["next_seed"] = result["seed"] + 1
    for what in COUNTED:
        of[what] += result[what]
    for feature, count in result["used"].items():
        uses, programs = of["used"].get(feature, (0, 0))
        of["used"][feature] = [uses + int(count), programs + 1]


def read_totals(path):
    try:
        return json.loads(path.read_text()) if path and path.exists() else {}
    except ValueError as error:
        sys.exit(f"{path}: no totals of this bench: {error}")


def table(totals):
    rows = ["| library | programs | fail alone too | other output or status | alarms | of these proven |", "| --- | --- | --- | --- | --- | --- |"]
    rows += [f"| {name} | {of['programs']} | " + " | ".join(str(of[what]) for what in COUNTED) + " |" for name, of in sorted(totals.items())]
    uses, programs = collections.Counter(), collections.Counter()
    for of in totals.values():
        uses.update({feature: count for feature, (count, _) in of["used"].items()})
        programs.update({feature: count for feature, (_, count) in of["used"].items()})
    rows += ["", "| feature | uses | programs |", "| --- | --- | --- |"]
    rows += [f"| {name} | {count} | {programs[name]} |" for name, count in uses.most_common()]
    return "\n".join(rows)


PAGE = """# Correct programs

Written by `./dev bench correct`. Each program is made from a seed (`mpi_correct.c`, `gloo_correct.cc` and `c10d_correct.py` of
`bench/correct`): thirty uses of features that are correct by the standard, with results that it checks. It runs alone and under `rankfault watch`, with 2 to 6 ranks. An alarm
is a finding in the result, or a proven one at any time. All columns but the first two must be 0; a program that fails alone,
too, shows a flaw of its MPI and is not counted further.

"""
