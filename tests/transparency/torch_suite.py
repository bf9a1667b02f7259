"""torch_suite: PyTorch's own tests of torch.distributed over Gloo from its wheel, or every Nth of them.

usage: torch_suite.py STRIDE [unittest argument...]

The wheel contains the test classes (torch.testing._internal.distributed). This file replaces
test/distributed/test_distributed_spawn.py of the source tree, which runs them. Each test starts its ranks
with multiprocessing.
"""
import os
import sys
import tempfile
import unittest

os.environ.setdefault("BACKEND", "gloo")
os.environ.setdefault("WORLD_SIZE", "3")
os.environ.setdefault("TEMP_DIR", tempfile.mkdtemp(prefix="torch-suite-"))
for folder in ("barrier", "test_dir", "init_dir"):
    os.makedirs(os.path.join(os.environ["TEMP_DIR"], folder), exist_ok=True)

from torch.testing._internal.distributed.distributed_test import DistributedTest, TestDistBackend  # noqa: E402


class Gloo(TestDistBackend, DistributedTest._DistTestBase):
    """Each test of the base class runs in WORLD_SIZE processes."""

    def setUp(self):
        super().setUp()
        self._spawn_processes()


def every(stride):
    names = unittest.TestLoader().getTestCaseNames(Gloo)
    return unittest.TestSuite(Gloo(name) for name in names[::stride])


if __name__ == "__main__":
    result = unittest.TextTestRunner(verbosity=1).run(every(int(sys.argv[1])))
    sys.exit(not result.wasSuccessful())
