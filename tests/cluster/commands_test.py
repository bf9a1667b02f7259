"""commands_test: ./dev cluster starts and ends a cluster, and names mistakes.

usage: commands_test.py [CLASS]    (77: a need is missing; the last line names it)
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from cluster import cases  # noqa: E402
from cluster.cases import ROOT, eventually  # noqa: E402


class OnTheCommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "cluster")
        self.addCleanup(self.dev, "down")

    def dev(self, *words):
        environment = {**os.environ, "RANKFAULT_CLUSTER_DIR": str(self.folder)}
        return subprocess.run(["bash", ROOT / "dev", "cluster", *words], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)

    def up(self, *words):
        done = self.dev("up", *words, "--no-slurm")
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)

    def assert_refuses(self, status, text, *words):
        done = self.dev(*words)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


class CommandLine(OnTheCommandLine):
    def test_a_cluster_goes_up_and_down(self):
        self.up("2")
        self.assertEqual(self.dev("exec", "n2", "--", "hostname").stdout, "n2\n")
        self.assertIn("n1   10.77.0.11", self.dev("status").stdout)
        self.assert_refuses(1, "a cluster is up in", "up", "2", "--no-slurm")
        self.assertEqual(self.dev("cut", "n1").returncode, 0)
        self.assertIn("cut", self.dev("status").stdout)
        self.assert_refuses(64, "has no node 'n3': its nodes are n0 to n2", "cut", "n3")
        self.assert_refuses(64, "has no node 'n3'", "exec", "n3", "--", "true")
        self.assert_refuses(64, "a partition needs two nodes", "partition", "n1", "n1")
        self.assert_refuses(64, "needs './dev cluster up N --switch'", "shape", "n1", "--delay", "20ms")
        self.assertEqual(self.dev("crash", "n2").returncode, 0)
        self.assert_refuses(1, "the node n2 has crashed", "exec", "n2", "--", "true")
        self.assertEqual(self.dev("down").returncode, 0)
        self.assertFalse(self.folder.exists())

    def test_up_cleans_what_a_killed_cluster_left(self):
        self.up("1")
        state = json.loads((self.folder / "state.json").read_text(encoding="utf-8"))
        os.kill(state["inside"], signal.SIGKILL)
        self.assertTrue(eventually(lambda: self.dev("status").returncode == 1))
        self.up("1")

    def test_it_removes_no_folder_of_someone_else(self):
        self.folder.mkdir()
        (self.folder / "precious").touch()
        done = self.dev("up", "1", "--no-slurm")
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 64, done.stderr)
        self.assertEqual(self.dev("down").returncode, 0)
        self.assertTrue((self.folder / "precious").exists())


class Mistakes(OnTheCommandLine):
    def test_mistakes_are_named(self):
        for count in ("0", "65", "-1"):
            self.assert_refuses(64, "a cluster has 1 to 64 nodes", "up", count, "--no-slurm")
        self.assert_refuses(64, "invalid int value: 'many'", "up", "many", "--no-slurm")
        self.assert_refuses(64, "--skew -1e+09 sets the clock of n2 before 0", "up", "2", "--no-slurm", "--skew", "-1000000000")
        self.assert_refuses(64, "invalid choice: 'fly'", "fly")
        self.assert_refuses(64, "'20' is not a time such as 20ms", "shape", "n1", "--delay", "20")
        self.assert_refuses(64, "usage: ./dev cluster exec", "exec", "n1", "--")
        self.assert_refuses(1, "no cluster is up in", "status")

    def test_without_arguments_it_prints_how_to_use_it(self):
        done = self.dev()
        self.assertEqual(done.returncode, 0)
        self.assertIn("usage: ./dev cluster COMMAND", done.stdout)


if __name__ == "__main__":
    sys.exit(cases.main())
