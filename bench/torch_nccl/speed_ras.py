"""speed_ras: when NCCL's RAS says that something is wrong with a job on this host."""
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from ras import ask_ras  # noqa: E402

WRONG = re.compile(r"MISMATCH|INCOMPLETE")


def watch_ras(over, heard):
    """Adds (seconds on the monotonic clock, whether something is wrong) of each answer, until `over` is set."""
    while not over.wait(0.05):
        if said := ask_ras():
            heard.append((time.clock_gettime(time.CLOCK_MONOTONIC), bool(WRONG.search(said))))
