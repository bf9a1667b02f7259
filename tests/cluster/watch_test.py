"""watch_test: rankfault watches jobs on the nodes of a cluster: what it says, and that it leaves the job alone.

usage: watch_test.py BUILD [CLASS]    (77: a need is missing; the last line names it)
"""
import json
import pathlib
import re
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from cluster import cases  # noqa: E402
from cluster.cases import DEADLINE, eventually  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
TOOL = BUILD / "bin/rankfault"
STEPS = BUILD / "bin/ranks/mpi_steps"  # a loop of all-reduces
PMIX = ["srun", "--mpi=pmix", "-N3"]


def steps(number, pause):
    """The words of a loop of all-reduces with a pause of so many milliseconds."""
    return [STEPS, f"--steps={number}", f"--sleep-us={pause * 1000}"]


class Watching(cases.OnACluster):
    WISHES = {"slurm": True}

    def setUp(self):
        if not STEPS.exists():
            self.skipTest("no Open MPI in this build")
        self.run_dir = self.cluster.share / f"run-{self.id()}"

    def begin(self, *command, options=()):
        """Starts a watched job and returns it once each node has a guardian."""
        words = [TOOL, "watch", "--run-dir", self.run_dir, *options, "--", *command]
        job = self.cluster.popen("n0", words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(job.wait)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.kill)
        return job

    def lines(self, kind):
        journal = self.run_dir / "journal.ndjson"
        text = journal.read_text(encoding="utf-8") if journal.exists() else ""
        return [line for line in map(json.loads, text.splitlines()[:-1] if text and text[-1] != "\n" else text.splitlines()) if line["ev"] == kind]

    def ranks_on(self, nodes):
        """The ranks have left MPI_Init."""
        self.assertTrue(eventually(lambda: len(self.ranks_in("all_reduce")) >= nodes), self.lines("node"))

    def ranks_in(self, call):
        """The ranks whose newest call has this text."""
        status = subprocess.run([TOOL, "status", "--json", self.run_dir], capture_output=True, text=True, check=False).stdout
        blocks = json.loads(status)["ranks"] if status else []
        return [rank for block in blocks if call in (block["call"] or "") for rank in block["ranks"]]

    def found(self, kind):
        return [line["finding"] for line in self.lines("finding") if line["finding"]["kind"] == kind]

    def finished(self, job, limit=DEADLINE * 3):
        output = job.communicate(timeout=limit)[0]
        return job.returncode, output

    def assert_nothing_is_left(self):
        for node in ("n1", "n2", "n3"):
            self.assertTrue(eventually(lambda n=node: "rankfault" not in self.processes(n)), self.processes(node))
            self.assertNotIn("rankfault-node", self.said(node, "ls", "/tmp"))

    def processes(self, node):
        return "\n".join(line for line in self.said(node, "ps", "-eo", "args").splitlines() if "rankfault" in line and "tests/cluster" not in line)


class WatchedSlurm(Watching):
    def test_a_healthy_job_is_healthy_and_leaves_nothing(self):
        status, output = self.finished(self.begin(*PMIX, *steps(20, 10)))
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"nothing is wrong in \d+ calls of 3 processes")
        self.assertEqual({line["node"] for line in self.lines("node") if line["state"] == "joined"}, {"n1", "n2", "n3"})
        self.assertEqual({line["node"] for line in self.lines("node") if line["state"] == "left"}, {"n1", "n2", "n3"})
        self.assert_nothing_is_left()

    def test_a_killed_rank_is_named_while_srun_waits(self):
        """At whatever instant: a proof needs that it dies outside the call (slurm-killed-rank.yaml)."""
        job = self.begin(*PMIX, *steps(2000, 20))
        self.ranks_on(3)
        self.said("n3", "pkill", "-9", "-x", "mpi_steps")
        waited_for = lambda: [f for f in self.found("dead_rank") if "cannot continue without it" in f["text"]]
        self.assertTrue(eventually(waited_for), self.found("dead_rank"))
        self.assertIsNone(job.poll(), "srun waits, and rankfault ends nothing")
        self.assertEqual([end["rank"] for end in self.lines("rank_end")], waited_for()[0]["ranks"])
        self.assertEqual([(end["kind"], end["value"]) for end in self.lines("rank_end")], [("signal", 9)])

    def test_the_tasks_end_as_they_end_without_rankfault(self):
        for program in ("exit 3", "kill -SEGV $$", "kill -TERM $$", "exit 0"):
            plain = self.cluster.exec("n0", ["srun", "-N1", "sh", "-c", program])
            self.run_dir = self.cluster.share / f"run-{program.replace(' ', '-').replace('$', '')}"
            status, output = self.finished(self.begin("srun", "-N1", "sh", "-c", program))
            log = (self.run_dir / "logs/launcher.a0.log").read_text(encoding="utf-8")
            self.assertEqual(re.sub(r"StepId=\S+", "", log), re.sub(r"StepId=\S+", "", plain.stderr))
            self.assertIn(f"exit {plain.returncode}", output, status)

    def test_a_killed_guardian_leaves_the_job_alone(self):
        job = self.begin(*PMIX, *steps(150, 20))
        self.ranks_on(3)
        self.said("n2", "pkill", "-9", "-f", "rankfault node")
        _, output = self.finished(job)
        self.assertIn("the job ended: exit 0", output)
        self.assertNotRegex(output.split("the job ended")[1], "lost_node:", "all its tasks ended well")

    def test_after_the_tool_is_killed_nothing_runs_on_any_node(self):
        job = self.begin(*PMIX, *steps(100000, 20))
        self.ranks_on(3)
        self.said("n0", "pkill", "-KILL", "-x", "rankfault")
        job.wait(DEADLINE)
        self.assertTrue(eventually(lambda: not any("mpi_steps" in self.said(n, "ps", "-eo", "args") for n in ("n1", "n2", "n3"))))
        for node in ("n1", "n2", "n3"):
            self.assertTrue(eventually(lambda n=node: not self.processes(n)), self.processes(node))

    def test_tasks_without_the_variables_run_without_rankfault(self):
        status, output = self.finished(self.begin("srun", "-N2", "--export=PATH", "echo", "ran"))
        log = (self.run_dir / "logs/launcher.a0.log").read_text(encoding="utf-8")
        self.assertEqual(log.count("ran\n"), 2, log)
        self.assertEqual(log.count("this task runs without rankfault"), 2, log)
        self.assertIn("rankfault recorded no rank of the job", output)
        self.assertEqual(status, 2)

    def test_a_tool_that_the_nodes_cannot_reach(self):
        job = self.begin("srun", "-N2", "--ntasks-per-node=3", "echo", "ran", options=["--listen", "lo"])
        status, output = self.finished(job)
        log = (self.run_dir / "logs/launcher.a0.log").read_text(encoding="utf-8")
        self.assertEqual(log.count("ran\n"), 6, log)
        self.assertEqual(len(re.findall("rankfault: no guardian on this node: 127.0.0.1:[0-9]+: .*; this task runs without", log)), 6, log)
        self.assertEqual(status, 2, output)

    def test_scenarios_and_their_mutation_checks(self):
        files = [cases.ROOT / "scenarios" / name for name in ("crash/slurm-killed-rank.yaml", "hang/slurm-skipped-sum.yaml")]
        done = self.cluster.exec("n0", [TOOL, "run", "--teeth", "--runs", self.run_dir, *files], timeout=200)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("2 of 2 mutations detected", done.stdout)

    def test_mpi_that_starts_alone_on_each_node_is_no_pass(self):
        alone = BUILD / "bin/ranks/mpich4/mpi_steps"
        if not alone.exists():
            self.skipTest("no MPICH 4 in this build")
        words = ["srun", "--mpi=pmix", "-N3", alone, "--steps=3"]  # MPICH understands pmi2
        plain = self.cluster.exec("n0", words)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        status, output = self.finished(self.begin(*words))
        self.assertIn("the job ended: exit 0", output)
        self.assertRegex(output, "found   separate_worlds: ")
        self.assertEqual(status, 1, output)


# Prints each signal that it gets, until SIGUSR2 or a minute of silence.
TAKES = """
import os, signal, sys
numbers = {signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGHUP, signal.SIGCONT}
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
print("ready", flush=True)
if sys.argv[1:] == ["group"]:
    os.kill(0, signal.SIGUSR1)
got = None
while got != signal.SIGUSR2:
    taken = signal.sigtimedwait(numbers, 60)
    got = taken.si_signo if taken else signal.SIGUSR2
    print(os.environ["SLURM_PROCID"], "got", signal.Signals(got).name, flush=True)
"""


class WatchedSignals(Watching):
    """A task gets each signal once, as it does without rankfault."""

    def taken(self, watched, names, *words):
        """Returns what each task printed after Slurm sent the signals to the step."""
        script = self.cluster.share / "takes.py"
        script.write_text(TAKES, encoding="utf-8")
        log = self.cluster.share / f"out-{watched}-{len(words)}"
        command = ["srun", "-N2", "-n3", f"--output={log}", "--job-name=takes", sys.executable, str(script), *words]
        job = self.begin(*command) if watched else self.cluster.popen("n0", command)
        self.addCleanup(job.kill)
        said = lambda text: len(re.findall(text, log.read_text(encoding="utf-8") if log.exists() else ""))
        self.assertTrue(eventually(lambda: said("ready") == 3))
        number = self.said("n0", "squeue", "--noheader", "--format=%A", "--name=takes")
        for name in names:  # the next one when all tasks have taken this one: two that are equal and wait are one
            before = said(f"got SIG{name}")
            self.said("n0", "scancel", f"--signal={name}", f"{number}.0")
            self.assertTrue(eventually(lambda n=name, b=before: said(f"got SIG{n}") >= b + 3), name)
        job.wait(DEADLINE)
        return sorted(re.findall("[0-9] got .*", log.read_text(encoding="utf-8")))

    def test_signals_of_slurm(self):
        names = ("USR1", "TERM", "HUP", "CONT", "USR1", "USR2")
        self.assertEqual(self.taken(True, names), self.taken(False, names))

    def test_a_signal_to_its_own_group(self):
        """Without rankfault, tasks of a node share a group. With it, each has its own."""
        each = ["got SIGUSR1", "got SIGUSR2"]
        self.assertEqual(self.taken(True, ("USR2",), "group"), [f"{rank} {text}" for rank in range(3) for text in each])

    def test_an_interrupt_of_the_tool_ends_the_job_on_all_nodes(self):
        job = self.begin(*PMIX, *steps(100000, 20))
        self.ranks_on(3)
        self.said("n0", "pkill", "-INT", "-x", "rankfault")
        self.assertEqual(self.finished(job)[0], 130)
        self.assertTrue(eventually(lambda: not any("mpi_steps" in self.said(n, "ps", "-eo", "args") for n in ("n1", "n2", "n3"))))
        self.assertEqual(self.said("n0", "squeue", "--noheader"), "")

    def test_a_cancelled_job_is_no_lost_node(self):
        job = self.begin(*PMIX, "--job-name=cancelled", *steps(100000, 20))
        self.ranks_on(3)
        self.said("n0", "scancel", "--name=cancelled")
        _, output = self.finished(job, 40)
        self.assertNotIn("lost_node:", output)

    def test_a_guardian_that_cannot_start_costs_a_moment(self):
        self.said("n1", "sh", "-c", f"printf '#!/bin/sh\\necho broken >&2; exit 1\\n' > /tmp/broken; chmod +x /tmp/broken; "
                  f"mount --bind /tmp/broken {TOOL}")
        job = self.begin("srun", "-w", "n1", "-n8", "-O", "echo", "ran")
        self.finished(job, 20)
        self.said("n1", "umount", str(TOOL))
        log = (self.run_dir / "logs/launcher.a0.log").read_text(encoding="utf-8")
        self.assertEqual(log.count("ran\n"), 8, log)
        self.assertEqual(log.count("rankfault: no guardian on this node: broken; this task runs without rankfault"), 8, log)


class WatchedCut(Watching):
    def test_a_cut_node_is_named_and_the_finding_withdrawn_when_it_comes_back(self):
        job = self.begin(*PMIX, *steps(300, 20))
        self.ranks_on(3)
        self.cluster.cut("n2")
        self.assertTrue(eventually(lambda: self.found("lost_node")), self.lines("node"))
        self.assertRegex(self.found("lost_node")[0]["text"], "^node n2 does not answer: rank [012] is on it; ranks [012] [012] are in ")
        self.assertIsNone(job.poll())
        self.cluster.mend("n2")
        self.assertTrue(eventually(lambda: any(line["state"] == "back" for line in self.lines("node"))), self.lines("node"))
        status, output = self.finished(job, 90)
        self.assertEqual(status, 0, output)
        self.assertIn("nothing was found wrong", output)
        self.assertEqual(self.ranks_in("finalize"), [0, 1, 2], "the records of the cut node are whole again")


class WatchedWithOtherClocks(Watching):
    WISHES = {"slurm": True, "skew": 1000}

    def test_the_clocks_of_the_nodes_are_a_thousand_seconds_apart(self):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        done = self.cluster.exec("n0", [TOOL, "run", "--run-dir", self.run_dir, cases.ROOT / "scenarios/crash/slurm-killed-rank.yaml"])
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("proven", [f["confidence"] for f in self.found("dead_rank")])
        for line in (*self.lines("rank_end"), *self.lines("fault_asked")):
            self.assertTrue(before < line.get("time", line["t"]) < after, "the clock of the head is that of this machine")


class WatchedMpirun(Watching):
    WISHES = {}

    def test_mpirun_over_hosts(self):
        environment = {name: "1" for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")}
        words = [f"{name}={value}" for name, value in environment.items()]
        done = self.cluster.exec("n0", ["env", *words, TOOL, "watch", "--run-dir", self.run_dir, "--", "mpirun.openmpi", "--host",
                                        "n1,n2,n3", "-np", "3", *steps(20, 10)])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"nothing is wrong in \d+ calls of 3 processes")
        self.assertEqual({line["node"] for line in self.lines("node")}, {"n1", "n2", "n3"})
        self.assert_nothing_is_left()


if __name__ == "__main__":
    sys.exit(cases.main())
