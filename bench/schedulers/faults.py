"""faults: does to a cluster what a fault of cells.py says."""
import json
import os
import time


class Striker:
    """Acts on a running job."""

    def __init__(self, cluster, ranks):
        self._cluster, self._ranks = cluster, ranks

    def act(self, verb, node, *words):
        """Returns when it acted, and what it hit."""
        if verb in ("cut", "mend", "crash"):
            at = time.monotonic()
            getattr(self._cluster, verb)(node)
            return at, [node]
        if verb == "leave":
            at = time.monotonic()
            self._said(node, ["touch", "/tmp/leave"])
            return at, ["rank"]
        if verb == "rank":
            verb, words = "pid", [str(rank.pid) for rank in self._ranks() if rank.node == node]
        done = json.loads(self._said(node, ["python3", "-B", f"{self._cluster.share}/strike.py", verb, *words]))
        if not done["pids"]:
            raise RuntimeError(f"found nothing to kill on {node}: {verb} {' '.join(words)}")
        return done["t"], done["names"]

    def _said(self, node, words):
        done = self._cluster.exec(node, words)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(os.fspath, words))} failed on {node}: {done.stderr}")
        return done.stdout
