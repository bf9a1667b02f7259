"""cluster_test: nodes are separate, and Slurm and mpirun run on them.

usage: cluster_test.py [CLASS]    (77: a need is missing; the last line names it)
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from cluster import Cluster, cases  # noqa: E402
from cluster.cases import DEADLINE, ROOT, OnACluster, eventually  # noqa: E402

MPI_AS_ROOT = {name: "1" for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")}


class Nodes(OnACluster):
    def test_each_has_its_name_and_address(self):
        for index in range(4):
            self.assertEqual(self.said(f"n{index}", "hostname"), f"n{index}")
            self.assertIn(f"10.77.0.1{index}/24", self.said(f"n{index}", "ip", "-4", "-o", "addr", "show", "eth0"))
            self.assertIn(f"10.77.0.1{index}", self.said("n1", "getent", "hosts", f"n{index}"))

    def test_folders_of_one_are_not_those_of_another_and_the_shared_one_is(self):
        for folder in ("/tmp", "/dev/shm", "/run"):
            self.said("n1", "touch", f"{folder}/rf-mine")
            self.assertEqual(self.cluster.exec("n2", ["test", "-e", f"{folder}/rf-mine"]).returncode, 1)
            self.assertFalse(os.path.exists(f"{folder}/rf-mine"))
        self.said("n1", "touch", f"{self.cluster.share}/ours")
        self.said("n2", "test", "-e", f"{self.cluster.share}/ours")
        self.assertTrue((self.cluster.share / "ours").exists())

    def test_processes_of_one_are_not_seen_by_another(self):
        self.assertEqual(self.said("n1", "cat", "/proc/1/comm"), "rf-n1")
        self.assertEqual(self.said("n0", "cat", "/proc/1/comm"), "rf-n0")
        with self.cluster.popen("n1", ["sleep", "1077"]) as sleeper:
            self.assertTrue(eventually(lambda: "sleep 1077" in self.said("n1", "ps", "-eo", "args")))
            self.assertNotIn("sleep 1077", self.said("n0", "ps", "-eo", "args"))
            sleeper.kill()
        self.assertTrue(eventually(lambda: "sleep 1077" not in self.said("n1", "ps", "-eo", "args")))

    def test_exec_has_the_status_of_the_command(self):
        self.assertEqual(self.cluster.exec("n1", ["sh", "-c", "exit 7"]).returncode, 7)
        self.assertEqual(self.cluster.exec("n1", ["sh", "-c", "kill -9 $$"]).returncode, 137)
        self.assertEqual(self.cluster.exec("n1", ["/no/such/program"]).returncode, 127)

    def test_a_signal_to_exec_reaches_the_command(self):
        with self.cluster.popen("n1", ["sh", "-c", "trap 'exit 5' TERM; echo up; while :; do sleep 0.05; done"],
                                stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "up\n")
            process.terminate()
            self.assertEqual(process.wait(DEADLINE), 5)

    def test_a_remote_command_has_its_input_output_and_status(self):
        done = self.cluster.exec("n0", [self.cluster.remote, "-x", "n2", "hostname; cat; echo bad >&2; exit 3"], text="in\n")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "n2\nin\n", "bad\n"))
        done = self.cluster.exec("n0", [self.cluster.remote, "n9", "true"])
        self.assertEqual(done.returncode, 255)
        self.assertIn("cannot reach n9", done.stderr)


class Clocks(OnACluster):
    WISHES = {"skew": 1000.25}

    def test_each_node_is_ahead_of_the_one_before(self):
        read = [sys.executable, "-c", "import time; print(time.monotonic())"]
        for index in range(4):
            before = time.monotonic()
            seen = float(self.said(f"n{index}", *read))
            after = time.monotonic()
            self.assertGreaterEqual(seen, before + index * 1000.25)
            self.assertLessEqual(seen, after + index * 1000.25)


class Slurm(OnACluster):
    WISHES = {"slurm": True}

    def test_srun_starts_a_task_on_each_node(self):
        self.assertEqual(sorted(self.said("n0", "srun", "-N3", "hostname").split()), ["n1", "n2", "n3"])

    def test_a_second_cluster_has_a_slurm_of_its_own(self):
        with Cluster(nodes=1, slurm=True) as other:
            done = other.exec("n0", ["srun", "-N1", "hostname"])
            self.assertEqual((done.returncode, done.stdout), (0, "n1\n"), done.stderr)
        self.assertEqual(sorted(self.said("n0", "srun", "-N3", "hostname").split()), ["n1", "n2", "n3"])

    def test_the_callers_plugstack_is_that_of_the_nodes(self):
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write("# of the caller\noptional /no/such/plugin.so\n")
            file.flush()
            with Cluster(nodes=1, slurm=True, plugstack=file.name) as other:
                self.assertIn("# of the caller", other.exec("n1", ["cat", "/etc/slurm/plugstack.conf"]).stdout)
                self.assertEqual(other.exec("n0", ["srun", "-N1", "hostname"]).stdout, "n1\n")


class SlurmWithControlGroups(OnACluster):
    WISHES = {"slurm": True}

    def test_a_process_that_leaves_its_session_ends_with_the_step(self):
        if not (self.cluster.state.slurm / "cgroup.conf").exists():
            self.skipTest("no control groups of version 1: Slurm loses what leaves its session")
        self.said("n0", "srun", "-N1", "-w", "n1", "sh", "-c", "setsid sleep 1088 & sleep 0.2")
        self.assertTrue(eventually(lambda: "sleep 1088" not in self.said("n1", "ps", "-eo", "args")))


class OpenMpi4(OnACluster):
    def hosts_of(self, program, *argv):
        path = shutil.which(program)
        if not path:
            self.skipTest(f"no {program} is installed")
        done = self.cluster.exec("n0", ["env", *(f"{k}={v}" for k, v in MPI_AS_ROOT.items()), path, *argv, "hostname"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(done.stdout.split())

    def test_open_mpi_4_starts_a_rank_on_each_node(self):
        self.assertEqual(self.hosts_of("mpirun.openmpi", "--host", "n1,n2,n3", "-np", "3"), ["n1", "n2", "n3"])

    def test_open_mpi_4_takes_the_remote_command_as_its_agent(self):
        agent = ("--mca", "plm_rsh_agent", f"bash {ROOT}/dev cluster rsh")
        self.assertEqual(self.hosts_of("mpirun.openmpi", *agent, "--host", "n1,n2,n3", "-np", "3"), ["n1", "n2", "n3"])


class Mpich4(OnACluster):
    hosts_of = OpenMpi4.hosts_of

    def test_mpich_starts_a_rank_on_each_node(self):
        launcher = ("-launcher", "ssh", "-launcher-exec", str(self.cluster.remote))
        self.assertEqual(self.hosts_of("mpiexec.mpich", *launcher, "-hosts", "n1,n2,n3", "-n", "3"), ["n1", "n2", "n3"])


if __name__ == "__main__":
    sys.exit(cases.main())
