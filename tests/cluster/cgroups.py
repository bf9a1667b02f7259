"""cgroups: gives Slurm of each node control groups of its own, and removes them.

Slurm 22.05 holds the processes of a step in /slurm_NODE of the freezer of version 1, the same group in every cluster
of a host. Each node sees a folder in place of the freezer's root: its group of that name is one of this cluster.
"""
import hashlib
import os
import pathlib

from . import kernel

FREEZER = pathlib.Path("/sys/fs/cgroup/freezer")
IN_NODE = pathlib.Path("/run/cgroup")  # CgroupMountpoint of a node


def of_cluster(folder):
    return FREEZER / ("rankfault-" + hashlib.sha256(str(folder).encode()).hexdigest()[:8])


def are_usable():
    return (FREEZER / "release_agent").is_file() and os.access(FREEZER, os.W_OK)


def mount(folder, name):
    """Makes the group of a node, and mounts it where Slurm of the node looks for it."""
    group = of_cluster(folder) / name
    group.mkdir(parents=True, exist_ok=True)
    root = IN_NODE / "freezer"
    seen = root / f"slurm_{name}"
    seen.mkdir(parents=True)
    kernel.mount(group, seen, flags=kernel.BIND)
    (root / "release_agent").write_text("\n", encoding="ascii")  # Slurm takes the file for a mounted freezer
    for file in ("cgroup.procs", "tasks"):  # Slurm moves its own process there when a step ends
        (root / file).symlink_to(of_cluster(folder) / file)


def remove(folder):
    """Removes the groups of a cluster that has ended: the kernel does not remove them with a namespace."""
    for group, _, _ in os.walk(of_cluster(folder), topdown=False):
        try:
            os.rmdir(group)
        except OSError as error:
            print(f"cannot remove the control group {group}: {error.strerror}")
