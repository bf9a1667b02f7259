"""lifecycle: starts and ends a cluster, and says what this machine lacks for one."""
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from . import cgroups, kernel, rsh, slurm
from .errors import ClusterError, Misuse, Unavailable
from .network import path_of_root
from .state import MOST_NODES, State, address_of, name_of

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 60
MOST_SKEW = 100 * 365 * 86400.0


@dataclasses.dataclass
class Wishes:
    """What a user may ask for when a cluster starts."""

    nodes: int
    skew: float = 0
    slurm: bool = True
    slurm_timeout: int = 30
    plugstack: str | None = None
    switch: bool = False
    tied: bool = False  # the cluster ends with the process that started it


def up(folder, wishes):
    """Starts a cluster and returns its state, and its holder's process."""
    if not 1 <= wishes.nodes <= MOST_NODES:
        raise Misuse(f"a cluster has 1 to {MOST_NODES} nodes besides the head n0, not {wishes.nodes}")
    if not 1 <= wishes.slurm_timeout <= 65533:
        raise Misuse(f"--slurm-timeout is 1 to 65533 seconds, not {wishes.slurm_timeout}")
    if not -time.monotonic() < wishes.skew * wishes.nodes < MOST_SKEW:
        raise Misuse(f"--skew {wishes.skew:g} sets the clock of n{wishes.nodes} before 0 or ahead by more than 100 years")
    check_machine(wishes)
    state = State(folder)
    state.create()
    cgroups.remove(state.folder)
    try:
        prepare(state, wishes)
        holder = hold(state, wishes)
        if wishes.slurm:
            slurm.start(state)
    except BaseException:
        down(folder)
        raise
    return state, holder


def check_machine(wishes):
    """Raises Unavailable with the first thing that is missing."""
    if os.geteuid() != 0:
        raise Unavailable("the cluster needs root: it makes network, mount and pid namespaces")
    if not shutil.which("ip", path=path_of_root()):
        raise Unavailable("the cluster needs ip (apt-get install iproute2)")
    if wishes.skew and not pathlib.Path("/proc/self/ns/time").exists():
        raise Unavailable("--skew needs time namespaces (Linux 5.6)")
    if wishes.switch and not (shutil.which("cc") and os.access("/dev/net/tun", os.R_OK | os.W_OK)):
        raise Unavailable("--switch needs a C compiler and /dev/net/tun")
    if wishes.slurm:
        slurm.check()
    check_namespaces()


def check_namespaces():
    """Tries in a child what every node needs."""
    child = os.fork()
    if child == 0:
        try:
            kernel.unshare(kernel.NEWNS | kernel.NEWNET | kernel.NEWPID | kernel.NEWIPC | kernel.NEWUTS)
            kernel.mount("none", "/", flags=kernel.RECURSIVE | kernel.PRIVATE)
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != 0:
        raise Unavailable(f"root may not make namespaces here: {os.strerror(status)}")


def prepare(state, wishes):
    """Writes the files that the nodes use."""
    lines = ["127.0.0.1 localhost"] + [f"{address_of(n)} {n}" for n in map(name_of, range(wishes.nodes + 1))]
    state.hosts.write_text("\n".join(lines) + "\n", encoding="ascii")
    remote = state.bin / "ssh"
    remote.write_text(f"#!{sys.executable} -B\n" + pathlib.Path(rsh.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    remote.chmod(0o755)
    if wishes.switch:
        subprocess.run(["cc", "-O2", "-o", state.bin / "switch", HERE / "switch.c"], check=True)
    if wishes.slurm:
        slurm.configure(state, wishes.nodes, wishes.slurm_timeout, wishes.plugstack)


def hold(state, wishes):
    """Starts the holder, and returns its process when the nodes are ready."""
    environment = {**os.environ, "PATH": path_of_root()}
    argv = [sys.executable, "-B", HERE, "hold", state.folder, json.dumps(dataclasses.asdict(wishes))]
    with open(state.log / "holder.log", "w", encoding="utf-8") as log:
        holder = subprocess.Popen(argv, env=environment, stdout=log, stderr=log, start_new_session=True,
                                  stdin=subprocess.PIPE if wishes.tied else subprocess.DEVNULL)
    end = time.monotonic() + TIMEOUT
    while not (state.folder / "state.json").exists():
        if (state.folder / "failed").exists():
            raise Unavailable((state.folder / "failed").read_text(encoding="utf-8"))
        if holder.poll() is not None or time.monotonic() > end:
            said = (state.log / "holder.log").read_text(encoding="utf-8").strip()
            raise ClusterError(f"the holder of the cluster did not start: {said.splitlines()[-1] if said else 'no message'}")
        time.sleep(0.01)
    state.read()
    return holder


def down(folder):
    """Ends a cluster and removes its folder; also what a cluster left that did not end this way."""
    state = State(folder)
    end = time.monotonic() + TIMEOUT
    while state.is_alive():
        if time.monotonic() > end:
            raise ClusterError(f"processes of the cluster in {folder} do not end")
        try:
            os.kill(state.read().data["inside"], signal.SIGKILL)
        except (ClusterError, ProcessLookupError):
            pass  # it starts or ends at this moment
        time.sleep(0.01)
    cgroups.remove(state.folder)
    state.remove()


def crash(state, name):
    """Ends a node at once. Its connections are closed: cut its cable first for the silence of a power loss."""
    pid = state.pid_of(name)
    os.kill(pid, signal.SIGKILL)
    while state.is_running(name):
        time.sleep(0.005)
