"""ends_test: a cluster leaves no process, link, mount or rule, whichever of its processes is killed.

usage: ends_test.py [CLASS]    (77: a need is missing; the last line names it)
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from cluster import Cluster, cases  # noqa: E402
from cluster.cases import DEADLINE, ROOT, eventually  # noqa: E402
from cluster.kernel import start_time  # noqa: E402


class Ends(unittest.TestCase):
    """What is left of a cluster, whatever ends."""

    def assert_nothing_is_left(self, pids):
        self.assertTrue(eventually(lambda: not any(map(start_time, pids))), pids)
        links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(links, r"\brf(br|v|t)\d")
        self.assertNotIn("rankfault-cluster-", pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8"))
        if shutil.which("nft"):
            tables = subprocess.run(["nft", "list", "tables"], capture_output=True, text=True, check=True).stdout
            self.assertNotIn("rankfault", tables)

    def test_a_killed_holder_leaves_nothing(self):
        with Cluster(nodes=2) as cluster:
            cluster.partition("n1", "n2")
            sleep = ["sh", "-c", "setsid sleep 1099 & echo up; wait"]
            with cluster.popen("n1", sleep, stdout=subprocess.PIPE, text=True) as sleeper:
                self.assertEqual(sleeper.stdout.readline(), "up\n")
                pids = self.pids_of(cluster)
                cluster.kill_holder()
                self.assert_nothing_is_left(pids)
                self.assertEqual(sleeper.wait(DEADLINE), 137)

    def test_a_killed_first_process_leaves_nothing(self):
        with Cluster(nodes=2, switch=True) as cluster:
            pids = self.pids_of(cluster)
            os.kill(cluster.refresh().data["inside"], signal.SIGKILL)
            self.assert_nothing_is_left(pids)

    def test_a_killed_user_of_the_cluster_leaves_nothing(self):
        program = ("import json, sys, time; sys.path.insert(0, sys.argv[1]); from cluster import Cluster\n"
                   "with Cluster(nodes=2) as c: print(c.state.folder, flush=True); time.sleep(600)")
        with Cluster(nodes=1):  # skips where none can start
            pass
        with subprocess.Popen([sys.executable, "-B", "-c", program, ROOT / "tests"], stdout=subprocess.PIPE, text=True) as user:
            folder = pathlib.Path(user.stdout.readline().strip())
            state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
            user.kill()
        self.assert_nothing_is_left([state["inside"]] + [node["pid"] for node in state["nodes"].values()])
        self.assertTrue(eventually(lambda: not folder.exists()))

    def test_a_crashed_node_leaves_the_others(self):
        with Cluster(nodes=2) as cluster:
            pid = cluster.state.pid_of("n1")
            cluster.crash("n1")
            self.assert_nothing_is_left([pid])
            self.assertTrue(eventually(lambda: cluster.ping("n0", "n1", timeout=0.3) is None))
            self.assertIsNotNone(cluster.ping("n0", "n2"))

    @staticmethod
    def pids_of(cluster):
        state = cluster.refresh()
        first = pathlib.Path(f"/proc/{state.data['inside']}/task/{state.data['inside']}/children").read_text(encoding="ascii")
        return [cluster.holder.pid, state.data["inside"], *map(int, first.split())]


if __name__ == "__main__":
    sys.exit(cases.main())
