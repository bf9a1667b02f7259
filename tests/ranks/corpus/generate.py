#!/usr/bin/env python3
"""generate.py FOLDER: writes the programs of the corpus, and corpus.json with every case and its truth.

generate.py --list prints the programs' names, one a line, for CMake.
"""
import json
import os
import sys

import table


class Program:
    """The text of one program, and the line of each statement."""

    def __init__(self, name):
        self.lines = [f"/* {name}.c: made by generate.py; do not edit. */", '#include "corpus.h"', ""]
        self.names = []

    def add(self, statements, indent):
        """Writes statements, and returns the numbers of their lines."""
        numbers = []
        for statement in statements:
            self.lines.append(" " * indent + statement)
            numbers.append(len(self.lines))
        return numbers

    def case(self, case):
        truth = {}
        self.names.append(case.name)
        self.add([f"static void {case.name}(void) {{"], 0)
        self.add(case.first, 2)
        if case.before:
            self.add(["for (int step = 0; step < kAt; ++step) {"], 2)
            truth["before"] = self.add(case.before, 4)
            self.add(["}"], 2)
        self.add(["if (wrong) {"], 2)
        truth["wrong"] = self.add(case.wrong, 4)
        self.add(["} else {"], 2)
        truth["right"] = self.add(case.right, 4)
        self.add(["}"], 2)
        truth["after"] = self.add(case.after, 2)
        self.add(["}", ""], 0)
        return truth

    def text(self):
        table_of_cases = [f'    {{"{n}", {n}}},' for n in self.names]
        end = ["static const struct corpus_case kCases[] = {", *table_of_cases, "    {NULL, NULL},", "};", "",
               "int main(int argc, char** argv) {", "  use_all();", "  return corpus_main(argc, argv, kCases);", "}"]
        return "\n".join(self.lines + end) + "\n"


def smaller_side(case, wrong, ranks):
    """The diagnosis' rule: blame the smaller side; none on a tie or at two ranks. A root is an exception."""
    rest = [r for r in range(ranks) if r not in wrong]
    blamed = [[]] if ranks == 2 or len(wrong) == len(rest) else [min(wrong, rest, key=len)]
    for side, others in ((wrong, rest), (rest, wrong)):
        if case.root >= 0 and side == [case.root] and others not in blamed:
            blamed.append(others)
    return blamed


def blames(case, wrong, ranks):
    """Returns the sets of ranks that a finding may blame."""
    if case.blame in ("smaller", "maybe"):
        return smaller_side(case, wrong, ranks) + ([[]] if case.blame == "maybe" else [])
    return {"nobody": [[]], "wrong": [wrong], "pair": [[], wrong]}[case.blame]


def kinds(case, wrong, ranks):
    """If the ranks without the mistake are not the larger side, a missing call may be reported as a call too
    many, or as another call than that of the others: nothing tells which of them the program means."""
    other = {"missing_call": "extra_call", "extra_call": "missing_call"}
    if case.family in ("left_out", "branches") and 2 * len(wrong) >= ranks:
        return sorted({*case.kinds, *(other[k] for k in case.kinds if k in other), "call_mismatch"})
    return case.kinds


def runs_of(case, lines):
    for ranks, choices in case.who.items():
        for wrong in choices:
            mask = sum(1 << r for r in wrong)
            yield {"family": case.family, "program": case.program, "case": case.name, "ranks": ranks, "mask": mask,
                   "wrong": wrong, "kinds": kinds(case, wrong, ranks), "blames": blames(case, wrong, ranks), "ends": case.ends,
                   "lines": lines}
        yield {"family": case.family, "program": case.program, "case": case.name, "ranks": ranks, "mask": 0,
               "wrong": [], "kinds": [], "blames": [[]], "ends": "zero", "unsafe": case.unsafe, "lines": lines}


def main(folder):
    if folder == "--list":
        print("\n".join(sorted({case.program for case in table.all_cases()})))
        return
    programs, runs = {}, []
    for case in table.all_cases():
        program = programs.setdefault(case.program, Program(case.program))
        runs += runs_of(case, program.case(case))
    os.makedirs(folder, exist_ok=True)
    for name, program in programs.items():
        with open(f"{folder}/{name}.c", "w", encoding="utf-8") as file:
            file.write(program.text())
    with open(f"{folder}/corpus.json", "w", encoding="utf-8") as file:
        json.dump(runs, file, indent=0)


if __name__ == "__main__":
    main(sys.argv[1])
