#!/usr/bin/env python3
"""healthy_bench.py BUILD: watches healthy jobs that wait for long, and counts the findings about them.

  --runs N      the number of runs, evenly over the cases (200)
  --match TEXT  only cases whose library/how/limits contains TEXT
  --check       a test: writes no file
  --out FILE    the file of the table (docs/measurements/false-alarms.md)

Fails if a job is called hung, if anything is proven, or if a rank is blamed at the end. A late rank may be
reported as slow while it is late; the finding is withdrawn when the rank comes.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import cases

OWN = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.realpath(f"{OWN}/../..")
HANGS = ("order_deadlock", "stuck_outside", "wedged", "init_stall")
LATE = ("slow_rank", "stopped_rank")
QUIET = ("none", "cannot_say")

HEAD = """# False alarms

Healthy jobs with long waits (`tests/ranks/*/*healthy*`), each under `rankfault watch`. Written by `./dev bench healthy`.
Times are scaled. *short*: pauses of 0.5 s, slow after 2 s, hung after 4 s. *late*: pauses of 1.6 s, slow after 0.5 s, hung after 4 s.
*growing*: pauses up to 3.2 s, slow after 1 s, hung after 1.5 s, where only the record of the job itself prevents an alarm.

The last four columns must be 0. *told late* counts the runs in which rankfault reported a rank that was late beyond the limit
as slow (or stopped, if it was), and withdrew the finding when the rank arrived. That is correct, and expected in *late*.

"""


def journal(run):
    with open(f"{run}/journal.ndjson", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def watch(build, python, case):
    """Runs the case. Returns the findings while it ran, and those that stand at the end."""
    library, how, (_, ms, after, hung) = case
    environment = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryDirectory(prefix="rfcalm-") as folder:
        environment["TMPDIR"] = folder  # where the ranks meet
        done = subprocess.run([f"{build}/bin/rankfault", "watch", "--json", "--run-dir", f"{folder}/run", "--after", after,
                               "--hung-after", hung, *cases.command(build, SOURCE, python, library, how, ms)],
                              capture_output=True, text=True, env=environment, check=False)
        try:
            told = [x["finding"] for x in journal(f"{folder}/run") if x["ev"] == "finding"]
            left = json.loads(done.stdout)["findings"]
        except (OSError, ValueError) as error:
            sys.exit(f"{library}/{how}: the run was lost: {error}\n{done.stderr}")
    return {"status": done.returncode, "told": [f for f in told if f["kind"] not in QUIET],
            "left": [f for f in left if f["kind"] != "none"]}


def judge(result):
    told = result["told"]
    return {"late": any(f["kind"] in LATE for f in told),
            "other": any(f["kind"] not in LATE + HANGS for f in told),
            "hung": any(f["kind"] in HANGS for f in told),
            "proven": any(f["confidence"] == "proven" for f in told),
            "left": bool(result["left"]) or result["status"] != 0}


def table(rows):
    lines = ["| job | runs | told late | other findings | called hung | proven | something left |", "|---|---|---|---|---|---|---|"]
    total = [0] * 6
    for name, judged in rows.items():
        counts = [len(judged)] + [sum(j[key] for j in judged) for key in ("late", "other", "hung", "proven", "left")]
        total = [a + b for a, b in zip(total, counts)]
        lines.append(f"| {name} | " + " | ".join(map(str, counts)) + " |")
    lines.append("| all | " + " | ".join(map(str, total)) + " |")
    return "\n".join(lines) + "\n"


def libraries(build, python):
    found = {"gloo": f"{build}/bin/gloo_healthy", "mpi": f"{build}/bin/ranks/mpi/mpi_healthy"}
    there = {library for library, path in found.items() if os.path.exists(path)}
    return there | ({"torch"} if python else set())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--match", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", default=f"{SOURCE}/docs/measurements/false-alarms.md")
    options = parser.parse_args()
    build, python = os.path.abspath(options.build), os.environ.get("RANKFAULT_PYTHON", "")
    chosen = {f"{library} {how}, {limits[0]}": (library, how, limits)
              for library, how, limits in cases.all_cases(libraries(build, python))}
    chosen = {name: case for name, case in chosen.items() if any(text in name for text in options.match.split("|"))}
    if not chosen:
        print("no such program was built")
        sys.exit(77)
    rows, names, alarms = {name: [] for name in chosen}, list(chosen), 0
    for i in range(options.runs):
        name = names[i % len(names)]
        result = watch(build, python, chosen[name])
        judged = judge(result)
        rows[name].append(judged)
        alarm = any(judged[key] for key in ("other", "hung", "proven", "left"))
        alarms += alarm
        print(f"{name:<28} {'ALARM' if alarm else 'told late' if judged['late'] else 'quiet'}", flush=True)
        for f in result["told"] + result["left"] if alarm else []:
            print(f"    {f['kind']} {f['ranks']} {f['confidence']}: {f['text']}", flush=True)
        if not options.check:
            with open(options.out, "w", encoding="utf-8") as file:
                file.write(HEAD + table({n: j for n, j in rows.items() if j}))
    print("\n" + table({n: j for n, j in rows.items() if j}))
    sys.exit(alarms > 0)


if __name__ == "__main__":
    main()
