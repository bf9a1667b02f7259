"""strike: runs inside a node: sends SIGKILL to processes, and prints when, and to which.

usage: strike.py pid N... | strike.py name REGEX | strike.py first REGEX | strike.py args REGEX
`name` is what /proc/PID/comm has, and `first` the first process of that name; `args` is the command line.
"""
import json
import os
import pathlib
import re
import signal
import sys
import time


def text_of(pid, file):
    try:
        return pathlib.Path("/proc", str(pid), file).read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def found(file, pattern):
    """Returns the pids whose file matches the whole pattern, without this process and those that led to it."""
    own, pid = set(), os.getpid()
    while pid > 0:
        own.add(pid)
        stat = text_of(pid, "stat")
        pid = int(stat.rpartition(")")[2].split()[1]) if stat else 0
    pids = sorted(int(path.name) for path in pathlib.Path("/proc").iterdir() if path.name.isdigit())
    return [pid for pid in pids if pid not in own and re.fullmatch(pattern, text_of(pid, file))]


def main(kind, *words):
    pids = [int(word) for word in words] if kind == "pid" else found("cmdline" if kind == "args" else "comm", words[0])
    pids = pids[:1] if kind == "first" else pids
    names = [text_of(pid, "comm") for pid in pids]
    at = time.monotonic()
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    print(json.dumps({"t": at, "pids": pids, "names": names}))


main(*sys.argv[1:])
