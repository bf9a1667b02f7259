"""node: one node of the cluster: makes its namespaces, and is its first process."""
import os
import pathlib
import signal
import socket
import subprocess

from . import cgroups, kernel, rshd
from .state import address_of, name_of


def start(state, index, wishes, report, go):
    """Forks the first process of a node. It writes lines to `report`, and waits for a byte of `go` in between."""
    maker = os.fork()
    if maker != 0:
        os.waitpid(maker, 0)
        return
    name = name_of(index)
    try:
        kernel.unshare(kernel.NEWNS | kernel.NEWNET | kernel.NEWPID | kernel.NEWIPC | kernel.NEWUTS)
        if wishes["skew"] and index:
            kernel.shift_clocks(wishes["skew"] * index)
        first = os.fork()
        if first != 0:
            os.write(report, f"{name} born {first}\n".encode())
            os._exit(0)
        outer = kernel.outer_pid()
        os.read(go, 1)
        listener = settle(state, name)
        os.write(report, f"{name} ready {outer}\n".encode())
    except (OSError, subprocess.CalledProcessError) as error:
        text = getattr(error, "stderr", None) or str(error)
        os.write(report, f"{name} failed {' '.join(text.split())}\n".encode())
        os._exit(1)
    run(listener)


def settle(state, name):
    """Gives the node its host name, mounts and address. Returns the socket for remote commands."""
    kernel.set_name(f"rf-{name}")
    socket.sethostname(name)
    mount_own_folders(state)
    mount_slurm(state, name)
    lines = ["link set lo up", f"addr add {address_of(name)}/24 dev eth0", "link set eth0 up"]
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True, capture_output=True)
    return rshd.listen()


def mount_own_folders(state):
    """Hides the host's folders that a node must have for itself. The folder of the cluster stays where it is."""
    folder = os.open(state.folder, os.O_PATH | os.O_DIRECTORY)
    kernel.mount("none", "/", flags=kernel.RECURSIVE | kernel.PRIVATE)
    kernel.mount("proc", "/proc", "proc")
    for target, mode in (("/tmp", "1777"), ("/dev/shm", "1777"), ("/run", "755")):
        kernel.mount("rankfault", target, "tmpfs", options=f"mode={mode}")
    if pathlib.Path("/dev/mqueue").is_dir():
        kernel.mount("rankfault", "/dev/mqueue", "mqueue")
    state.folder.mkdir(parents=True, exist_ok=True)
    kernel.mount(f"/proc/self/fd/{folder}", state.folder, flags=kernel.BIND)
    os.close(folder)
    kernel.mount(state.hosts, "/etc/hosts", flags=kernel.BIND)


def mount_slurm(state, name):
    """Gives Slurm its configuration, its folders and its control groups."""
    if not (state.slurm / "slurm.conf").exists():
        return
    kernel.mount(state.slurm, "/etc/slurm", flags=kernel.BIND)
    for folder in ("munge", "slurm"):
        pathlib.Path("/run", folder).mkdir()
    if (state.slurm / "cgroup.conf").exists():
        cgroups.mount(state.folder, name)


def run(listener):
    """Serves remote commands in a child, and reaps every orphan of the node."""
    if os.fork() == 0:
        rshd.serve(listener)
    listener.close()
    while True:
        try:
            os.wait()
        except ChildProcessError:
            signal.pause()
