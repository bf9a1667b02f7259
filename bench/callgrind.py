"""callgrind: the instructions of each loaded object of a process, counted by valgrind's callgrind.

The counts are the same in each run, whatever else the machine does. valgrind runs a program 50 times slower.
"""
import collections
import os
import re
import subprocess

TOOL = ["valgrind", "--trace-children=yes", "--tool=callgrind"]


def is_counted():
    """Whether this process runs under callgrind."""
    return "vgpreload" in os.environ.get("LD_PRELOAD", "")


def count_from_here():
    _control("--zero")


def write_counts():
    """Writes what was counted so far: the first such file has the suffix .1."""
    _control("--dump")


def _control(what):
    clean = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.run(["callgrind_control", what, str(os.getpid())], env=clean, stdout=subprocess.DEVNULL, check=True)


def by_object(path):
    """Returns the instructions inside each object, without those of the functions that it calls."""
    name, inside, is_callee, cost = {}, None, False, collections.Counter()
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if m := re.match(r"(c?)ob=(\(\d+\))(?: (.*))?", line):
                name.setdefault(m[2], m[3].strip() if m[3] else m[3])
                inside = inside if m[1] else name[m[2]]
            elif line.startswith("calls="):
                is_callee = True  # the next line has the cost of the callee, which is counted there
            elif line[0] in "+-*0123456789":
                cost[inside] += 0 if is_callee else int(line.split()[1])
                is_callee = False
    return cost


def ratio(costs, folder):
    """Returns all instructions over those outside of the libraries below the folder."""
    own = sum(count for name, count in costs.items() if name and name.startswith(folder))
    return sum(costs.values()) / (sum(costs.values()) - own)
