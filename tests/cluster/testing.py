"""testing: a cluster for the length of a `with` block of a test."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from . import lifecycle, network, ping
from .errors import Unavailable
from .state import State, address_of

HERE = pathlib.Path(__file__).resolve().parent


class Cluster:
    """A cluster of its own. It ends with the block, and with this process however that ends.

    Where this machine cannot have one, the block is skipped with the reason. Takes the fields of lifecycle.Wishes.
    """

    def __init__(self, nodes=3, slurm=False, **wishes):
        self.wishes = lifecycle.Wishes(nodes=nodes, slurm=slurm, tied=True, **wishes)
        self.state = None
        self.holder = None

    def __enter__(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="rankfault-cluster-"))
        try:
            self.state, self.holder = lifecycle.up(folder, self.wishes)
        except BaseException as error:
            if folder.exists() and not any(folder.iterdir()):
                folder.rmdir()
            if isinstance(error, Unavailable):
                raise unittest.SkipTest(str(error)) from error
            raise
        return self

    def __exit__(self, *_):
        self.holder.stdin.close()
        self.holder.wait(lifecycle.TIMEOUT)
        lifecycle.down(self.state.folder)

    @property
    def share(self):
        """The folder that all nodes and the host have."""
        return self.state.share

    @property
    def remote(self):
        """The program that mpirun takes for ssh, for use inside a node."""
        return self.state.bin / "ssh"

    def popen(self, node, argv, **options):
        """Starts a command in a node. It ends with the process that this returns."""
        environment = {**(options.pop("env", None) or os.environ), "RANKFAULT_CLUSTER_DIR": str(self.state.folder)}
        argv = [sys.executable, "-B", HERE, "exec", self.state.known(node), "--", *argv]
        return subprocess.Popen(argv, env=environment, **options)

    def exec(self, node, argv, timeout=60, text=None):
        """Runs a command in a node. Returns its status, output and errors as subprocess.run() does."""
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        with self.popen(node, argv, **pipes, text=True) as process:
            try:
                output, errors = process.communicate(text, timeout)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(argv, process.returncode, output, errors)

    def refresh(self):
        """Reads what other processes did to the cluster."""
        self.state.read()
        return self.state

    def address(self, node):
        return address_of(self.state.known(node))

    def ping(self, a, b, timeout=1.0):
        """Returns the seconds until b answers a; None without an answer."""
        return ping.ping(self.state.pid_of(a), self.address(b), timeout)

    def cut(self, node):
        network.set_cable(State(self.state.folder), node, plugged=False)

    def mend(self, node):
        network.set_cable(State(self.state.folder), node, plugged=True)

    def crash(self, node):
        lifecycle.crash(self.state, node)

    def partition(self, a, b, one_way=False):
        network.drop(State(self.state.folder), [(a, b)] if one_way else [(a, b), (b, a)])

    def heal(self):
        network.heal(State(self.state.folder))

    def shape(self, node, delay_us=0, jitter_us=0, loss_ppm=0):
        network.shape(State(self.state.folder), node, delay_us, jitter_us, loss_ppm)

    def kill_holder(self):
        """Ends the process that guards the cluster as an out-of-memory killer would."""
        self.holder.send_signal(signal.SIGKILL)
        self.holder.wait(lifecycle.TIMEOUT)
