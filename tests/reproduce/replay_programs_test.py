"""replay_programs_test.py: runs each replaying program by its launcher, and checks what each rank did.

usage: replay_programs_test.py BUILD Mpi|Gloo|Nccl|C10d|C10dNccl
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
PROGRAMS = BUILD / "bin/replay"
MPIRUN = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
TOGETHER = 240  # seconds; a run that is stuck ends then, and its test fails

HEALTHY = """
ranks 4
group even 0 2     # two members
group low 0-2
0-3 barrier world
repeat 3
  0-3 all_reduce world float32 1000 sum
  0-3 broadcast world int64 10 root 3
  0,2 all_reduce even float64 7 max
  0-2 reduce low int32 5 min root 1
  0-2 gather low float16 3 root 2
  0-2 scatter low uint8 4 root 0
  repeat 2
    0-3 all_gather world bfloat16 6
    0-3 reduce_scatter world float32 10 sum
  end
  0-3 all_to_all world int8 9
  0-3 all_to_allv world float32 11
  0 isend world float32 100 to 1 tag 4
  1 irecv world float32 100 from 0 tag 4
  0-3 all_reduce_async world float32 50
  0-3 broadcast_async world float32 50 root 0
  0-1 wait
  2 send world float32 8 to 3
  3 recv world float32 8 from 2
  0-3 wait
  0-3 pause 1ms
end
diverging 3 barrier world
0-3 barrier_async world
"""
STEPS = "".join(f"rank {{0}} begins step {n}\nrank {{0}} committed step {n}\n" for n in (1, 2, 3))

# Rank 1 leaves out the second sum, and enters that of the next step; in the last step no rank answers it.
LEFT_OUT = "ranks 3\nrepeat 2\n 0-2 all_reduce world float32 4\n 0,2 all_reduce world float32 4\nend\n0,2 barrier world\n"
OTHER_NEXT = """
ranks 3
repeat 2
  0-2 all_reduce world int32 4
end
repeat 1
  healthy 0-2 all_reduce world float32 4
  diverging 0-1 all_reduce world float32 4
  diverging 2 broadcast world float32 4 root 0
end
"""
ABSENT = "ranks 3\nrepeat 2\n 2 pause 9m\nend\n"


class Programs(unittest.TestCase):
    """What every program does. A subclass says how its job is started."""

    short = "1s"  # a limit that ranks which start one after the other keep
    gives_up = r"rank [012](: step \d: (all_reduce|barrier) on world: |: gave up (all_reduce|barrier) on world )"

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="replay-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def environment(self, text):
        return {**os.environ, "REPLAY": text, "OMP_NUM_THREADS": "1", "TMPDIR": str(self.folder)}

    def job(self, text, ranks, *options, absent=()):
        """Runs a job to its end and returns its output and its errors by rank, and the statuses."""
        raise NotImplementedError

    def healthy(self):
        return HEALTHY

    def assert_healthy(self, outputs, errors, statuses):
        self.assertEqual(set(statuses), {0}, errors)
        for rank, output in outputs.items():
            self.assertEqual(output, STEPS.format(rank), errors)

    def test_all_ranks_perform_their_lines(self):
        self.assert_healthy(*self.job(self.healthy(), 4))

    def test_the_checks_see_no_difference_in_a_healthy_program(self):
        self.assert_healthy(*self.job(self.healthy(), 4, "--steps-check", "--limit=60s"))

    def test_a_call_that_a_rank_leaves_out_is_an_error_at_the_limit(self):
        _, errors, statuses = self.job(LEFT_OUT, 3, f"--limit={self.short}")
        self.assertTrue(any(statuses), errors)  # the rank that leaves a sum out may end well
        self.assertRegex("".join(errors.values()), self.gives_up)

    def test_the_check_names_the_rank_whose_next_call_is_another(self):
        _, errors, statuses = self.job(OTHER_NEXT, 3, "--steps-check", "--limit=60s", "--diverge")
        self.assertNotIn(0, statuses, errors)
        self.assertIn("defence step-check: ranks 2 make next: broadcast world float32 4 root 0 on world, "
                      "the others all_reduce world float32 4\n", "".join(errors.values()))

    def test_the_check_does_not_wait_for_ever(self):
        _, errors, statuses = self.job(ABSENT, 3, "--steps-check", f"--limit={self.short}", absent=(2,))
        self.assertNotIn(0, statuses, errors)
        self.assertRegex("".join(errors.values()), r"defence step-check: (ranks 2 do|a rank does) not answer ")

    def test_a_text_for_another_number_of_ranks_is_refused(self):
        _, errors, _ = self.job("ranks 4\n0-3 barrier world\n", 3)
        self.assertIn("replay: line 1: the text is for 4 ranks, and this job has 3\n", "".join(errors.values()))


def local_job(test, program, text, ranks, options, absent, more):
    """Starts the ranks itself. Ranks that are absent by design are ended after the others."""
    children = {}
    for rank in range(ranks):
        env = {**test.environment(text), **more, "RANK": str(rank), "WORLD_SIZE": str(ranks)}
        children[rank] = subprocess.Popen([program, f"--store={test.folder}/store", *options], env=env, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        test.addCleanup(children[rank].kill)
    outputs, errors = {}, {}
    for rank in sorted(children, key=lambda rank: rank in absent):
        if rank in absent:
            children[rank].kill()
        outputs[rank], errors[rank] = children[rank].communicate(timeout=TOGETHER)
    return outputs, errors, [children[rank].returncode for rank in range(ranks) if rank not in absent]


def launched(test, words, text, ranks, more):
    """Runs a launcher, and takes its output apart by the rank that a line names."""
    done = subprocess.run(words, env={**test.environment(text), **more}, capture_output=True, text=True, timeout=TOGETHER, check=False)
    lines = re.sub(r"(?m)^\[default\d+\]:", "", done.stdout).splitlines(keepends=True)  # torchrun's --tee names the rank
    outputs = {rank: "".join(line for line in lines if line.startswith(f"rank {rank} ")) for rank in range(ranks)}
    return outputs, {0: done.stderr}, [done.returncode]


def needs(path):
    return unittest.skipUnless(path and os.access(path, os.X_OK), f"{path} is not built or not installed")


@needs(PROGRAMS / "replay_mpi")
@needs(MPIRUN)
class Mpi(Programs):
    def job(self, text, ranks, *options, absent=()):
        words = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-np", str(ranks), PROGRAMS / "replay_mpi", *options]
        return launched(self, words, text, ranks, {})

    def test_scans_and_pending_ones(self):
        lines = [f"0-3 {op}{later} world int32 3 sum" for op in ("scan", "exscan", "reduce_scatter") for later in ("", "_async")]
        lines += ["0-3 all_gather_async world int32 3", "0-3 scatter_async world int8 5 root 3", "0-3 all_to_all_async world int8 9",
                  "0-3 gather_async world int8 2 root 1", "0-3 all_to_allv_async world int8 7", "0-3 reduce_async world int8 2 max root 0"]
        self.assert_healthy(*self.job("ranks 4\nrepeat 3\n" + "\n".join(lines) + "\nend\n", 4))

    def test_the_check_counts_the_calls_before_the_end_too(self):
        # a small broadcast does not wait for the others in MPI
        text = "ranks 3\ngroup pair 0 1\nrepeat 2\n 0-1 broadcast pair int8 1 root 0\nend\ndiverging 0 broadcast pair int8 1 root 0\n"
        _, errors, statuses = self.job(text, 3, "--steps-check", "--limit=60s", "--diverge")
        self.assertNotIn(0, statuses, errors)
        self.assertIn("defence step-check: ranks 1 made 2 calls on pair, the others 3 calls\n", errors[0])


@needs(PROGRAMS / "replay_gloo")
class Gloo(Programs):
    def job(self, text, ranks, *options, absent=()):
        return local_job(self, PROGRAMS / "replay_gloo", text, ranks, options, absent, {})


def double(folder):
    """Returns the variables with which a program finds the double of CUDA and NCCL over it."""
    here = BUILD / "lib/cuda_double"
    of_nccl = sorted(here.glob("nccl-*"), key=lambda path: [int(n) for n in path.name[5:].split(".")])
    path = ":".join(map(str, [of_nccl[-1] if of_nccl else here, here, here / "torch"]))
    return {"LD_LIBRARY_PATH": path, "RANKFAULT_CUDA_FOLDER": str(folder), "NCCL_SOCKET_IFNAME": "lo", "NCCL_P2P_DISABLE": "1",
            "NCCL_IB_DISABLE": "1", "NCCL_CUMEM_ENABLE": "0", "NCCL_CUMEM_HOST_ENABLE": "0", "NCCL_RAS_ENABLE": "0",
            "NCCL_BUFFSIZE": "65536", "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC": "500"}


@needs(PROGRAMS / "replay_nccl")
class Nccl(Programs):
    def job(self, text, ranks, *options, absent=()):
        return local_job(self, PROGRAMS / "replay_nccl", text, ranks, options, absent, double(self.folder))


class WithPython(Programs):
    python, version, backend, short = "", "", "gloo", "4s"

    def job(self, text, ranks, *options, absent=()):
        # On Python 3.11, the torchrun of PyTorch 1.13 ends with an error unless the options name each stream once.
        streams = ["--redirects=2", "--tee=1", f"--log_dir={self.folder}/logs"] if self.version.startswith("1.") else []
        words = [self.python, "-m", "torch.distributed.run", f"--nproc_per_node={ranks}", "--standalone", *streams,
                 PROGRAMS / "replay.py", f"--backend={self.backend}", *options]
        outputs, errors, statuses = launched(self, words, text, ranks, double(self.folder) if self.backend == "nccl" else {})
        errors[0] += "".join(log.read_text(encoding="utf-8") for log in self.folder.glob("logs/*/attempt_*/*/stderr.log"))
        return outputs, errors, statuses


def torch_of(python, more=None):
    """Returns the Python and the version of its PyTorch: "", "" without one."""
    if not python:
        return "", ""
    words = [python, "-c", "import torch.distributed; print(torch.__version__)"]
    done = subprocess.run(words, env={**os.environ, **(more or {})}, capture_output=True, text=True, check=False)
    return (python, done.stdout.strip()) if done.returncode == 0 else ("", "")


class C10d(WithPython):
    python, version = torch_of(os.environ.get("RANKFAULT_PYTHON", sys.executable)) if "C10d" in sys.argv else ("", "")

    def healthy(self):
        left_out = "    0-3 reduce_scatter world float32 10 sum\n" if self.version.startswith("1.") else ""
        return HEALTHY.replace(left_out, "") if left_out else HEALTHY

    @unittest.skipUnless(version.startswith("1."), "PyTorch 2 has reduce_scatter over Gloo")
    def test_what_pytorch_1_lacks_is_refused(self):
        _, errors, statuses = self.job("ranks 2\n0-1 reduce_scatter world float32 4\n", 2)
        self.assertNotIn(0, statuses, errors)
        self.assertIn("replay: reduce_scatter over Gloo needs PyTorch 2, and this is 1.", errors[0])

    def test_the_monitored_barrier_names_the_absent_rank(self):
        _, errors, statuses = self.job(ABSENT, 3, "--monitored-barrier", f"--limit={self.short}")
        self.assertNotIn(0, statuses, errors)
        self.assertRegex(errors[0], "defence monitored-barrier: .*[Rr]anks? 2 failed to pass monitoredBarrier")


class C10dNccl(WithPython):
    backend, short = "nccl", "9s"
    gives_up = "Watchdog caught collective operation timeout"
    # The double is slow. These do not depend on the backend, or do less than the run with the checks.
    test_all_ranks_perform_their_lines = None
    test_a_text_for_another_number_of_ranks_is_refused = test_the_check_does_not_wait_for_ever = None
    test_the_check_names_the_rank_whose_next_call_is_another = None
    chosen = BUILD / "lib/cuda_double/torch/python"
    named = chosen.read_text(encoding="utf-8").strip() if "C10dNccl" in sys.argv and chosen.exists() else ""
    python, version = torch_of(named, double(pathlib.Path(tempfile.gettempdir())))


def main():
    name = sys.argv[2]
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(globals()[name])
    if issubclass(globals()[name], WithPython) and not globals()[name].python:
        print("PyTorch is not installed")
        return 77
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if result.wasSuccessful() and len(result.skipped) == result.testsRun:
        print(result.skipped[0][1] if result.skipped else "no test ran")
        return 77
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
