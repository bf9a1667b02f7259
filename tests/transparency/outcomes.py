"""outcomes: runs a Python test program, and keeps the outcome of each of its unittest tests.

usage: outcomes.py FOLDER PROGRAM [ARGUMENT...]

The outcomes go to FOLDER/PID.json, one file for each process, rewritten after each test: a process that is killed
leaves the outcomes so far. Nothing else of the program changes.
"""
import json
import os
import pathlib
import runpy
import sys
import unittest

KINDS = {
    "addSuccess": "ok", "addFailure": "failed", "addError": "error", "addSkip": "skipped",
    "addExpectedFailure": "expected failure", "addUnexpectedSuccess": "unexpected success",
}


def record(folder):
    outcomes = {}
    pid = os.getpid()

    def keep(name, outcome):
        if os.getpid() != pid:  # a forked child runs its own tests
            return
        outcomes[name] = outcome
        part = pathlib.Path(folder, f"{pid}.part")
        part.write_text(json.dumps(outcomes), encoding="utf-8")
        part.replace(pathlib.Path(folder, f"{pid}.json"))

    def wrap(kind, outcome):
        plain = getattr(unittest.TestResult, kind)

        def method(self, test, *rest):
            keep(test.id(), outcome)
            return plain(self, test, *rest)

        setattr(unittest.TestResult, kind, method)

    for kind, outcome in KINDS.items():
        wrap(kind, outcome)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, program = sys.argv[1:3]
    record(folder)
    sys.argv = sys.argv[2:]
    sys.path[0] = str(pathlib.Path(program).resolve().parent)
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
