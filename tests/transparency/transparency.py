#!/usr/bin/env python3
"""transparency: foreign test suites give the same results under `rankfault watch` as without it.

usage: transparency.py BUILD_DIR PAGE [--only REGEX] [--ranks 1,2,3] [--stride N] [--limit SECONDS] [-- WORD...]

Each suite runs three times: alone, under watch, alone again. A test whose outcome differs between the two
runs alone is unstable by itself and is counted apart. Every other test must have the same outcome under watch, and
the job the same exit status. For NCCL's examples each line that they print counts as a test. --only selects
suites by name. WORDs go to mpi4py's test program (`-- -i test_cco`: only these files). Exit status: 0 all the
same, 1 not.
"""
import argparse
import collections
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import suites

HERE = pathlib.Path(__file__).resolve().parent


class Run:
    """Outcomes by test (of all processes, sorted), how the job ended, and the output of watch."""

    def __init__(self, suite, tool, limit):
        with tempfile.TemporaryDirectory(prefix="rf-suite-") as folder:
            program, *rest = suite.program
            if suite.lines:
                command = [*suite.launcher, "sh", "-c", 'exec "$@" >"$0/$$.lines"', folder, *suite.program]
            else:
                command = [*suite.launcher, program, str(HERE / "outcomes.py"), folder, *rest]
            if tool:
                command = [tool, "watch", "--run-dir", f"{folder}/run", "--", *command]
            env = {**os.environ, **suite.env, "RANKFAULT_CUDA_FOLDER": f"{folder}/cuda"}
            os.mkdir(env["RANKFAULT_CUDA_FOLDER"])
            self.output, status = run(command, env, limit)
            self.outcomes = collections.defaultdict(list)
            for kept in sorted(pathlib.Path(folder).glob("*.json")):
                for test, outcome in json.loads(kept.read_text(encoding="utf-8")).items():
                    self.outcomes[test].append(outcome)
            for kept in pathlib.Path(folder).glob("*.lines"):
                for line in kept.read_text(encoding="utf-8").splitlines():
                    self.outcomes[line].append("printed")
        for outcomes in self.outcomes.values():
            outcomes.sort()
        self.findings = sorted(set(re.findall(r"^ *(?:found|then) +(\w+): .*, (proven|inferred)$", self.output, re.M)))
        ended = re.search(r"the job ended: (.*)", self.output)
        self.end = ended.group(1) if ended else f"exit {status}"


def run(command, env, limit):
    """Returns output and status. At the limit it ends the whole process group."""
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=limit)
            return output.decode(errors="replace"), process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            output, _ = process.communicate()
            return output.decode(errors="replace"), f"none within {limit} s"


def compare(suite, tool, limit):
    first, watched, second = (Run(suite, t, limit) for t in ("", tool, ""))
    stable = {t for t in first.outcomes.keys() | second.outcomes.keys() if first.outcomes.get(t) == second.outcomes.get(t)}
    seen = stable | (watched.outcomes.keys() - second.outcomes.keys())
    differ = sorted(t for t in seen if watched.outcomes.get(t) != first.outcomes.get(t))
    is_same = not differ and (watched.end == first.end or first.end != second.end)
    for test in differ:
        print(f"   {test}: alone {first.outcomes.get(test)}, watched {watched.outcomes.get(test)}")
    if not is_same:
        print("\n".join(watched.output.splitlines()[-25:]))
    findings = ", ".join(" ".join(f) for f in watched.findings) or "none"
    row = [suite.name, len(stable), len(first.outcomes.keys() | second.outcomes.keys()) - len(stable), len(differ),
           first.end, watched.end, findings]
    print(" | ".join(map(str, row)), flush=True)
    return row, is_same


def write_page(page, rows):
    head = ["suite", "tests with one outcome alone", "unstable alone", "other outcome under watch", "end alone", "end under watch",
            "findings"]
    text = pathlib.Path(page).read_text(encoding="utf-8") if pathlib.Path(page).exists() else "# Transparency\n\n<!-- table -->\n"
    new = {row[0]: row for row in rows}
    kept = [line.strip("| ").split(" | ") for line in re.findall(r"^\| .* \|$", text, re.M)[2:]]
    rows = [new.pop(row[0], row) for row in kept] + list(new.values())  # keeps rows of other suites
    table = ["| " + " | ".join(map(str, line)) + " |" for line in [head, ["---"] * len(head), *rows]]
    text = re.sub(r"<!-- table -->.*?(?=\n\n|\Z)", lambda _: "<!-- table -->\n" + "\n".join(table), text, flags=re.S)
    pathlib.Path(page).write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def main():
    words = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("page")
    parser.add_argument("--only", default="")
    parser.add_argument("--ranks", default="1,2,3")
    parser.add_argument("--stride", type=int, default=10)
    parser.add_argument("--limit", type=int, default=1800)
    args = parser.parse_args(sys.argv[1:sys.argv.index("--")] if "--" in sys.argv else None)
    folder = pathlib.Path(os.environ.get("RANKFAULT_SUITES", f"{args.build}/suites")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    ranks = [int(n) for n in args.ranks.split(",")]
    rows, all_same = [], True
    wanted = re.compile(args.only).search
    for suite in itertools.chain(suites.nccl_suites(args.build, folder, wanted),
                                 suites.mpi4py_suites(folder, wanted, ranks, words),
                                 suites.torch_suites(folder, wanted, args.stride)):
        if not wanted(suite.name):
            continue
        if suite.missing:
            print(f"{suite.name}: skipped, {suite.missing}", flush=True)
            continue
        row, is_same = compare(suite, str(pathlib.Path(args.build).resolve() / "bin" / "rankfault"), args.limit)
        rows.append(row)
        all_same = all_same and is_same
    write_page(args.page, rows)
    sys.exit(0 if all_same else 1)


if __name__ == "__main__":
    main()
