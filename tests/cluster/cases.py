"""cases: what the tests of the cluster share: a cluster for a class of cases, waiting, and the exit status."""
import pathlib
import sys
import time
import unittest

from . import Cluster

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEADLINE = 20


def eventually(holds):
    """Waits until something holds; returns whether it does."""
    end = time.monotonic() + DEADLINE
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class OnACluster(unittest.TestCase):
    """The cases of a class share a cluster."""

    WISHES = {}

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster(nodes=3, **cls.WISHES))

    def said(self, node, *argv, **options):
        done = self.cluster.exec(node, list(argv), **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def answers(self, a, b):
        return self.cluster.ping(a, b, timeout=0.5) is not None


def main():
    """Runs the cases of the calling program. Returns 77 if a need is missing; the last line names it."""
    result = unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]], exit=False).result
    if result.wasSuccessful() and result.skipped and len(result.skipped) >= max(result.testsRun, 1):
        print(result.skipped[0][1])
        return 77
    return 0 if result.wasSuccessful() and result.testsRun else 1
