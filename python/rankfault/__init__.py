"""rankfault: fault injection and resilience testing for multi-rank collective jobs.

Runner runs a scenario and returns a Result; main() is the command `rankfault`.
"""
import importlib.util
import os
import sys

from rankfault.result import Expectation, Finding, Result
from rankfault.runner import Runner

__all__ = ["Expectation", "Finding", "Result", "Runner", "main", "tool"]


def tool():
    """Returns the path of the tool: $RANKFAULT, else the one in this package."""
    return os.environ.get("RANKFAULT") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "rankfault")


def environment():
    """Returns the environment of the tool: it uses the PyTorch and the py-spy of this interpreter."""
    env = dict(os.environ)
    if importlib.util.find_spec("torch"):
        env.setdefault("RANKFAULT_PYTHON", sys.executable)
    spy = os.path.join(os.path.dirname(sys.executable), "py-spy")
    if os.access(spy, os.X_OK):
        env.setdefault("RANKFAULT_PYSPY", spy)
    return env


def main():
    os.execve(tool(), ["rankfault", *sys.argv[1:]], environment())
