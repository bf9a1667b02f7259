"""holder: the two processes that a cluster lives in: pid 1 of its namespaces, and a guard outside of them.

All links and mounts of the cluster are in the namespaces of pid 1, and all nodes are below it. With its end the
kernel ends and removes them all. It ends with the guard, and the guard removes after it what outlives a namespace:
control groups.
"""
import os
import selectors
import shutil
import signal
import subprocess
import time

from . import cgroups, kernel, network, node
from .state import State, address_of, name_of

START_TIMEOUT = 30


def hold(folder, wishes):
    """Starts pid 1 of the cluster and guards it. Ends it when `wishes["tied"]` and standard input ends."""
    state = State(folder)
    state.hold()
    kernel.unshare(kernel.NEWNS | kernel.NEWNET | kernel.NEWPID | kernel.NEWIPC | kernel.NEWUTS)
    inside = os.fork()
    if inside == 0:
        run_inside(state, wishes)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(inside, signal.SIGKILL))
    wait_for_end(inside, 0 if wishes["tied"] else None)
    cgroups.remove(state.folder)
    if wishes["tied"] and (state.folder / "state.json").exists():  # else its maker reads why it failed
        shutil.rmtree(state.folder, ignore_errors=True)
    return 0


def wait_for_end(inside, owner):
    """Waits for the end of pid 1. Kills it if the file descriptor of the owner reaches its end."""
    with selectors.DefaultSelector() as selector:
        selector.register(os.pidfd_open(inside), selectors.EVENT_READ)
        if owner is not None:
            selector.register(owner, selectors.EVENT_READ)
        selector.select()
    os.kill(inside, signal.SIGKILL)
    os.waitpid(inside, 0)


def run_inside(state, wishes):
    """What pid 1 of the cluster does: makes the nodes, says when they are ready, and reaps."""
    kernel.die_with_parent()
    kernel.set_name("rf-cluster")
    try:
        kernel.mount("none", "/", flags=kernel.RECURSIVE | kernel.PRIVATE)
        state.data = {"inside": kernel.outer_pid(), "switch": wishes["switch"], "slurm": wishes["slurm"],
                      "skew": wishes["skew"], "nodes": make_nodes(state, wishes), "cut": [], "dropped": [], "shapes": {}}
        state.write()
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        (state.folder / "failed").write_text(reason_of(error), encoding="utf-8")
        os._exit(1)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            signal.pause()


def reason_of(error):
    if isinstance(error, subprocess.CalledProcessError):
        return f"'{' '.join(error.cmd)}' failed: {(error.stderr or '').strip() or error.returncode}"
    return getattr(error, "strerror", None) or str(error)


def make_nodes(state, wishes):
    """Returns what the state says of each node."""
    count = wishes["nodes"] + 1
    reports, report = os.pipe()
    go, release = os.pipe()
    if wishes["switch"]:
        network.start_switch(state, count)
    for index in range(count):
        node.start(state, index, wishes, report, go)
    born = collect(reports, "born", count)
    network.connect(wishes["switch"], [int(born[name_of(i)][0]) for i in range(count)])
    os.write(release, b"g" * count)
    ready = collect(reports, "ready", count)
    pids = {name_of(i): int(ready[name_of(i)][0]) for i in range(count)}
    return {name: {"address": address_of(name), "pid": pid, "start": kernel.start_time(pid)}
            for name, pid in pids.items()}


def collect(reports, what, count):
    """Reads a report of each node: its name, what it reached, and the words that follow."""
    found = {}
    rest = b""
    end = time.monotonic() + START_TIMEOUT
    with selectors.DefaultSelector() as selector:
        selector.register(reports, selectors.EVENT_READ)
        while len(found) < count:
            if not selector.select(max(0, end - time.monotonic())):
                raise RuntimeError(f"only {len(found)} of {count} nodes were {what} after {START_TIMEOUT} s")
            *lines, rest = (rest + os.read(reports, 65536)).split(b"\n")
            for line in lines:
                name, reached, *words = line.decode().split(" ")
                if reached != what:
                    raise RuntimeError(f"node {name}: {' '.join(words)}")
                found[name] = words
    return found
