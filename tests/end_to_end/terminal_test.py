#!/usr/bin/env python3
"""terminal_test.py BUILD: what a person sees on a terminal of 80 columns and 24 rows while a job runs and at its end, and what
`status`, SIGUSR1, `watch --on-hang` and `replay` say of it. Real jobs in a real pseudo-terminal.
"""
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
TOOL = str(BUILD / "bin/rankfault")
ESCAPE = "\x1b["

HUNG = """version: 1
name: hung
workload:
  launcher: local
  ranks: 4
  command: ["{bin}/trainer", "--store={store}", --steps=2000, --collective-timeout=100s]
  limits: {wall: WALL}
faults:
  - {id: stop, kind: rank_stop, ranks: [1], at: {op: all_reduce, nth: 5}}
expect:
  - blamed: {kind: stopped_rank, ranks: [1]}
  - ended: {ranks: all, exit: 0}
"""
SHELL = """version: 1
name: shell
workload: {launcher: local, ranks: 2, command: [/bin/sh, "{scenario_dir}/job.sh"], limits: {wall: 20s}}
expect:
  - ended: {ranks: all, exit: 0}
"""


def tool(*words, **more):
    return subprocess.run([TOOL, *words], capture_output=True, text=True, check=False, **more)


class Terminal:
    """The tool in a terminal of its own, and all that it wrote there."""

    def __init__(self, words, rows=24, columns=80, **environment):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "xterm", **environment})
            os.execv(TOOL, [TOOL, *words])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        """False when the tool has ended."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            self.text += os.read(self.fd, 65536).decode(errors="replace")
        except OSError:
            return False
        return True

    def wait_for(self, word, seconds=60):
        end = time.monotonic() + seconds
        while word not in self.text:
            if time.monotonic() > end or not self.read(0.2):
                raise AssertionError(f"{word!r} did not come:\n{self.text}")

    def end(self):
        """Returns the exit status, and the text after the last table was cleared."""
        while self.read(1):
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return status, self.text.replace("\r\n", "\n").rpartition(ESCAPE + "J")[2]


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class OnATerminal(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="rfterm-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        pathlib.Path(self.path(name)).write_text(text, encoding="utf-8")
        return self.path(name)

    def hung(self, wall):
        if not (BUILD / "bin/trainer").exists():
            self.skipTest("no Gloo")
        return self.write("hung.yaml", HUNG.replace("WALL", wall))


class ALiveJob(OnATerminal):
    def test_the_table_is_drawn_and_status_and_the_signal_say_the_same(self):
        run = self.path("run")
        terminal = Terminal(["run", self.hung("100s"), "--run-dir", run])
        terminal.wait_for("stopped")
        self.assertIn("the limit ends the job in", terminal.text)
        self.assertIn(ESCAPE, terminal.text)
        table = tool("status", run)
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertRegex(table.stdout, r"4 ranks for [0-9.]+ s, attempt 0\n")
        self.assertRegex(table.stdout, r"rank 1 .* stopped ")
        self.assertRegex(table.stdout, r"ranks 0 2 3 .* inside .* all_reduce on world, call \d+")
        self.assertNotIn(ESCAPE, table.stdout)
        self.assertIn('"state": "live"', tool("status", "--json", run).stdout)
        terminal.text = ""
        os.kill(terminal.pid, signal.SIGUSR1)
        terminal.wait_for("ranks 0 2 3")
        os.kill(terminal.pid, signal.SIGINT)
        status, _ = terminal.end()
        self.assertEqual(status, 130)
        self.assertIn("the run is over: rankfault report", tool("status", run).stdout)

    def test_a_pipe_gets_no_table(self):
        ended = tool("run", self.hung("3s"), "--run-dir", self.path("run"))
        self.assertNotIn(ESCAPE, ended.stdout + ended.stderr)
        self.assertNotIn("ends the job in", ended.stderr)

    def test_status_of_no_run_is_a_mistake(self):
        ended = tool("status", self.folder.name)
        self.assertEqual(ended.returncode, 64)
        self.assertIn("is not a run", ended.stderr)


class TheVerdict(OnATerminal):
    def verdict(self, *more, **environment):
        terminal = Terminal(["run", self.hung("4s"), "--run-dir", self.path("run"), *more], **environment)
        return terminal.end()[1]

    def test_fits_one_screen_and_names_the_command_for_the_rest(self):
        text = self.verdict()
        rows = sum(max(1, -(-len(line) // 80)) for line in plain(text).splitlines())
        self.assertLessEqual(rows, 24, text)
        self.assertIn("stopped_rank: rank 1", text)
        self.assertIn(f"  more    rankfault report {self.path('run')}", text)
        self.assertIn(ESCAPE, text)
        whole = tool("report", self.path("run")).stdout
        self.assertGreater(len(whole), len(plain(text)))

    def test_is_whole_with_v_and_plain_with_no_color(self):
        text = self.verdict("-v", NO_COLOR="1")
        self.assertNotIn("  more    ", text)
        self.assertNotIn(ESCAPE, text)


class Replay(OnATerminal):
    def test_says_that_the_outcome_is_the_same_or_where_it_differs(self):
        job = self.write("job.sh", "exit 0\n")
        first = tool("run", self.write("shell.yaml", SHELL), "--run-dir", self.path("run"), cwd=self.folder.name)
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        again = tool("replay", self.path("run"), "--run-dir", self.path("again"), cwd="/")
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertIn("  same    ", again.stdout)
        self.write("job.sh", "exit 3\n")
        other = tool("replay", self.path("run"), "--run-dir", self.path("other"), cwd="/")
        self.assertEqual(other.returncode, 1, other.stdout + other.stderr)
        self.assertIn(f"  changed {job}: ", other.stdout)
        self.assertIn("  differs verdict: fail, was pass\n", other.stdout)
        self.assertIn("  differs end of rank 1, attempt 0: exit 3, was exit 0\n", other.stdout)

    def test_of_no_run_is_a_mistake(self):
        ended = tool("replay", self.folder.name)
        self.assertEqual(ended.returncode, 64)
        self.assertIn("is not a run that can be repeated", ended.stderr)

    def test_goes_back_to_the_environment_and_keeps_no_secret(self):
        self.write("job.sh", 'test "$COLOUR" = red && test "$MY_TOKEN" = pl4nted\n')
        with_secret = {**os.environ, "COLOUR": "red", "MY_TOKEN": "pl4nted"}
        first = tool("run", self.write("shell.yaml", SHELL), "--run-dir", self.path("run"), env=with_secret)
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        self.assertNotIn("pl4nted", pathlib.Path(self.path("run/origin.json")).read_text(encoding="utf-8"))
        blue = tool("replay", self.path("run"), "--run-dir", self.path("again"), env={**with_secret, "COLOUR": "blue"})
        self.assertEqual(blue.returncode, 0, blue.stdout + blue.stderr)
        self.assertRegex(blue.stdout, "because rankfault keeps no secrets: .*MY_TOKEN")
        here = tool("replay", "--here", self.path("run"), "--run-dir", self.path("here"), env={**with_secret, "COLOUR": "blue"})
        self.assertEqual(here.returncode, 1, here.stdout + here.stderr)


    def test_of_a_run_with_a_reference_compares_with_it_again(self):
        if not (BUILD / "bin/trainer").exists():
            self.skipTest("no Gloo")
        scenario = pathlib.Path(__file__).resolve().parents[2] / "scenarios/hang/skip-allreduce.yaml"
        first = tool("run", str(scenario), "--runs", self.path("runs"))
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        run = re.search(r"^  run +(.*)$", first.stdout, re.M)[1]
        again = tool("replay", run, "--run-dir", self.path("again"))
        self.assertNotIn("has no reference", again.stdout)
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)

    def test_is_interrupted_without_a_comparison(self):
        run = self.path("run")
        tool("run", self.hung("3s"), "--run-dir", run)
        job = subprocess.Popen([TOOL, "replay", run, "--run-dir", self.path("again")], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.assertIn("run ", job.stderr.readline())
        job.send_signal(signal.SIGTERM)
        self.assertNotIn("differs", job.communicate()[0])
        self.assertEqual(job.returncode, 143)


class Init(OnATerminal):
    def test_writes_a_scenario_that_is_valid_and_passes(self):
        if not (BUILD / "bin/trainer").exists():
            self.skipTest("no Gloo")
        job = [str(BUILD / "bin/trainer"), "--store={store}", "--steps=20", "--collective-timeout=2s"]
        first = tool("init", "--ranks", "3", "--name", "kill", "--", *job, cwd=self.folder.name)
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        self.assertIn("wrote kill.yaml\n", first.stdout)
        text = pathlib.Path(self.path("kill.yaml")).read_text(encoding="utf-8")
        self.assertRegex(text, r"#  +\d+ all_reduce on world\n")
        self.assertIn("# Its last step is 20", text)
        self.assertEqual(tool("validate", "kill.yaml", cwd=self.folder.name).returncode, 0)
        run = tool("run", "kill.yaml", cwd=self.folder.name)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        again = tool("init", "--ranks", "3", "--name", "kill", "--", *job, cwd=self.folder.name)
        self.assertEqual(again.returncode, 64)
        self.assertIn("kill.yaml exists", again.stderr)

    def test_of_a_job_that_fails_or_is_cut_off_writes_nothing(self):
        for words, said in ((["/bin/sh", "-c", "exit 7"], "the job itself ended with exit 7"),
                            (["/bin/sleep", "20"], "rankfault ended the job at its limit")):
            ended = tool("init", "--ranks", "2", "--wall", "2s", "--", *words, cwd=self.folder.name)
            self.assertEqual(ended.returncode, 64, ended.stdout)
            self.assertIn(said, ended.stderr)
            self.assertFalse(os.path.exists(self.path("first.yaml")))
        odd = tool("init", "--name", "a: b", "--", "true", cwd=self.folder.name)
        self.assertEqual(odd.returncode, 64)
        self.assertIn("--name may have", odd.stderr)

    def test_of_a_program_without_calls_says_so(self):
        ended = tool("init", "--ranks", "2", "--", "/bin/true", cwd=self.folder.name)
        self.assertNotEqual(ended.returncode, 0)
        self.assertFalse(os.path.exists(self.path("first.yaml")))


class OnHang(OnATerminal):
    def watch(self, how, *limits):
        mpirun, program = shutil.which("mpirun.openmpi"), BUILD / "bin/ranks/mpi_hang"
        if not mpirun or not program.exists():
            self.skipTest("no Open MPI")
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.Popen([TOOL, "watch", "--run-dir", self.path("run"), "--after", "1s", "--hung-after", "2s", "--on-hang", how,
                                 *limits, "--", mpirun, "--oversubscribe", "-np", "3", str(program), "--how=sleep"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)

    def test_dump_writes_what_every_rank_does_and_the_job_goes_on(self):
        with self.watch("dump") as job:
            for line in job.stdout:
                if line.startswith("  dumped") and "hang-2" in line:
                    break
            self.assertIn("slow_rank: rank 1", pathlib.Path(self.path("run/hang-1.txt")).read_text(encoding="utf-8"))
            text = pathlib.Path(self.path("run/hang-2.txt")).read_text(encoding="utf-8")
            self.assertIn("stuck_outside: rank 1", text)
            self.assertRegex(text, r"ranks 0 2 .* inside .* barrier")
            self.assertIn("MPI_Barrier", text)
            self.assertIsNone(job.poll())
            job.send_signal(signal.SIGINT)
            job.communicate()

    def test_kill_ends_the_job(self):
        with self.watch("kill") as job:
            text = job.communicate()[0]
        self.assertEqual(job.returncode, 1, text)
        self.assertIn("rankfault ended the job", text)

    def test_another_word_is_a_mistake(self):
        ended = tool("watch", "--on-hang", "explode", "--", "true")
        self.assertEqual(ended.returncode, 64)
        self.assertIn("--on-hang must be report, dump or kill", ended.stderr)


if __name__ == "__main__":
    unittest.main()
