"""one_cell: measures one cell on a cluster of its own, and prints its result as JSON.

usage: one_cell.py CELL
"""
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

import cells
import engines
from faults import Striker
from seen import SILENT_S, Eyes

sys.path.insert(0, str(engines.ROOT / "tests"))
from cluster import Cluster, cgroups  # noqa: E402

TOLD = re.compile(r"^(?!frame #|File|raise )(.*(\w+Error: |exitcode|closing signal|failed \().*)")  # in the long output of PyTorch
START_S, WARM_SUMS, SETTLE_S, ENDS_S, LOOK_S, MOST_LINES, MOST_COLUMNS = 60, 20, 3, 20, 0.25, 25, 200


class Job:
    """A job on a cluster: its launchers, its ranks, and what was done to it."""

    def __init__(self, name, cluster):
        self.cell, self.cluster = cells.CELLS[name], cluster
        self.engine = engines.ENGINES[self.cell.engine]
        rank = engines.prepare(self.engine, cluster.share)
        self.eyes = Eyes(cluster)
        self.watcher = self.zero = None
        self.launchers, self.ends, self.hit = {}, {}, []
        environment = {**os.environ, **engines.AS_ROOT, **engines.QUIET}
        if self.engine.slurm:
            self.watcher = self._started("n0", ["python3", "-B", f"{cluster.share}/watch_slurm.py"], "slurm.log", environment)
        self.began = time.monotonic()
        for node, words in engines.commands(self.engine, self.cell, cluster.share, rank):
            self.launchers[node] = self._started(node, words, f"launcher-{node}.out", environment)

    def _started(self, node, words, output, environment):
        with open(self.cluster.share / output, "w", encoding="utf-8") as file:
            return self.cluster.popen(node, words, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)

    def look(self):
        """Notes which launchers have ended."""
        for node, process in self.launchers.items():
            if node not in self.ends and process.poll() is not None:
                self.ends[node] = (time.monotonic(), process.returncode)

    def beating(self):
        return [rank for rank in self.eyes.ranks() if time.monotonic() - rank.beat < SILENT_S]

    def wait(self, holds, seconds):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                return False
            time.sleep(LOOK_S)
            self.look()
        return True

    def is_warm(self):
        ready = [rank for rank in self.eyes.ranks() if rank.sums >= WARM_SUMS]
        return len(ready) >= engines.RANKS and time.monotonic() >= self.began + self.cell.wait

    def is_over(self):
        if self.engine.kind == "sbatch":  # over when a second attempt has run beside the first for a while
            return sum((rank.value("attempt") or 0) > 0 and rank.sums > 5 * WARM_SUMS for rank in self.eyes.ranks()) == engines.RANKS
        return len(self.ends) == len(self.launchers) and not self.beating()

    def strike(self):
        """Does what the fault says, and waits until all has ended, or until the bound."""
        striker, acts = Striker(self.cluster, self.eyes.ranks), cells.FAULTS[self.cell.fault].acts
        self.zero = self.began
        for after, *words in acts:
            if after:
                self.wait(lambda: False, self.zero + after - time.monotonic())  # noqa: B023 # it is called at once
            at, hit = striker.act(*words)
            self.zero = self.zero if after else at
            self.hit.append({"after": round(at - self.zero, 2), "act": words, "hit": hit})
        over = self.wait(self.is_over, self.zero + self.cell.bound - time.monotonic())
        self.wait(lambda: False, SETTLE_S if over else 0)
        return over

    def after(self, at):
        return None if at is None else round(at - self.zero, 2)

    def rank_entry(self, rank, left):
        lives = rank.node in left and rank.pid in left[rank.node]["processes"]
        return {"node": rank.node, "rank": rank.value("rank"), "size": rank.value("size"), "attempt": rank.value("attempt") or 0,
                "began": self.after(rank.events[0][0] if rank.events else None), "ended": None if lives else self.after(rank.last),
                "how": "lives" if lives else rank.how() if rank.node in left else "with its node", "sums": rank.sums,
                "signals": [[self.after(t), value] for t, event, value in rank.events if event == "signal"]}

    def slurm(self):
        """Returns what Slurm said, with the time after the fault."""
        path = self.cluster.share / "slurm.log"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [{"after": self.after(said.pop("t")), **said} for said in map(json.loads, lines)]

    def output(self):
        """Returns the first lines that the launchers printed."""
        lines = []
        for path in sorted(self.cluster.share.glob("*.out")):
            text = path.read_text(encoding="utf-8", errors="replace").replace("\0", "")
            lines += [line for line in text.splitlines() if self.engine.kind != "torchrun" or TOLD.search(line.strip())]
        lines = [line.replace(str(self.cluster.share), "SHARE").replace(str(engines.ROOT), "ROOT").strip()[:MOST_COLUMNS] for line in lines]
        return [line for line in lines if line.strip("-=* ")][:MOST_LINES]

    def result(self, over):
        self.look()
        left = self.eyes.left()
        version = {"Slurm": self.cluster.exec("n0", ["srun", "--version"]).stdout.split()[-1]} if self.engine.slurm else {}
        ranks = [self.rank_entry(rank, left) for rank in self.eyes.ranks()]
        return {"day": str(datetime.date.today()), "versions": {**version, **engines.versions(self.engine)}, "hit": self.hit,
                "over": over, "observed": self.after(time.monotonic()), "ranks": ranks,
                "launchers": {node: {"after": self.after(at), "status": status} for node, (at, status) in self.ends.items()},
                "running": sorted(set(self.launchers) - set(self.ends)), "slurm": self.slurm(),
                "left": {node: {"processes": sorted(seen["processes"].values()), "files": seen["files"]} for node, seen in left.items()},
                "output": self.output(), "load": round(os.getloadavg()[0], 1)}


def measured(name):
    cell = cells.CELLS[name]
    engine = engines.ENGINES[cell.engine]
    lacking = engines.missing(engine)
    if lacking:
        return {"failed": f"this machine has no {lacking}", "day": str(datetime.date.today())}
    try:
        with Cluster(nodes=cell.nodes, slurm=engine.slurm, slurm_timeout=cell.timeout) as cluster:
            job = Job(name, cluster)
            if cell.fault != "none" and not job.wait(job.is_warm, START_S):
                return {"failed": f"the job made no sums within {START_S} s", "output": job.output(), "day": str(datetime.date.today())}
            result = job.result(job.strike())
            folder = str(cluster.state.folder)
        for process in filter(None, [job.watcher, *job.launchers.values()]):
            process.wait(ENDS_S)
    except unittest.SkipTest as error:
        return {"failed": str(error), "day": str(datetime.date.today())}
    return {**result, "remains": remains(folder)}


def remains(folder):
    """Returns what is still there of a cluster that was taken down: processes that name its folder, the folder, control groups."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if folder.encode() in words and int(path.parent.name) != os.getpid():
            found.append(words.replace(b"\0", b" ").decode(errors="replace"))
    return found + [str(path) for path in (folder, cgroups.of_cluster(folder)) if os.path.exists(path)]


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1])))
