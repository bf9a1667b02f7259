"""watch_slurm: runs on the head: prints what Slurm says of its jobs and nodes, each time it says something else.

usage: watch_slurm.py    (one JSON object a line, until it is ended)
"""
import json
import re
import subprocess
import time

PERIOD_S, LIMIT_S = 0.5, 5
KEYS = ("JobId", "JobState", "Reason", "ExitCode", "Restarts")


def said(*argv):
    """Returns what the command prints; None if it fails or does not answer."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout if done.returncode == 0 else None


def jobs():
    text = said("scontrol", "-o", "show", "job")
    if text is None:
        return "no answer"
    found = [dict(re.findall(r"(\w+)=(\S*)", line)) for line in text.splitlines() if "JobId=" in line]
    return [{key: job.get(key, "") for key in KEYS} for job in found]


def nodes():
    text = said("sinfo", "-h", "-N", "-o", "%N %T")
    return "no answer" if text is None else dict(line.split() for line in text.splitlines())


def main():
    before = None
    while True:
        at, seen = time.monotonic(), {"jobs": jobs(), "nodes": nodes()}
        if seen != before:
            print(json.dumps({"t": at, **seen}), flush=True)
        before = seen
        time.sleep(PERIOD_S)


main()
