"""state: the folder of a cluster: who holds it, its nodes, and what was done to its network."""
import contextlib
import fcntl
import json
import os
import pathlib
import shutil

from . import kernel
from .errors import ClusterError, Misuse

MARK = "rankfault-cluster"  # a folder without this file is never removed
SUBNET = "10.77.0"
FIRST_HOST = 10
MOST_NODES = 64


def default_folder():
    return pathlib.Path(os.environ.get("RANKFAULT_CLUSTER_DIR") or f"/tmp/rankfault-cluster-{os.getuid()}").absolute()


def name_of(index):
    return f"n{index}"


def index_of(name):
    return int(name[1:])


def address_of(name):
    return f"{SUBNET}.{FIRST_HOST + index_of(name)}"


class State:
    """The folder of a cluster. Its processes hold a lock on a file in it for as long as they live."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.share = self.folder / "share"
        self.log = self.folder / "log"
        self.bin = self.folder / "bin"
        self.slurm = self.folder / "slurm"
        self.hosts = self.folder / "hosts"
        self.control = self.folder / "switch.socket"
        self.data = {}

    def create(self):
        """Makes the folder. Removes what an earlier cluster left in it."""
        if self.is_alive():
            raise ClusterError(f"a cluster is up in {self.folder}; './dev cluster down' ends it")
        self.remove()
        try:
            self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        except OSError as error:
            raise Misuse(f"cannot make the folder of the cluster: {error}") from error
        if self.folder.is_symlink() or self.folder.stat().st_uid != os.getuid() or any(self.folder.iterdir()):
            raise Misuse(f"{self.folder} is not an empty folder of this user; name another in RANKFAULT_CLUSTER_DIR")
        self.folder.chmod(0o755)
        (self.folder / MARK).touch()
        for folder in (self.share, self.log, self.bin, self.slurm):
            folder.mkdir()
        self.share.chmod(0o1777)

    def remove(self):
        if (self.folder / MARK).is_file() and self.folder.stat().st_uid == os.getuid():
            shutil.rmtree(self.folder)

    def hold(self):
        """Takes the lock that says that the cluster is alive; children inherit it."""
        descriptor = os.open(self.folder / MARK, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def is_alive(self):
        try:
            descriptor = os.open(self.folder / MARK, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def write(self):
        new = self.folder / "state.json.new"
        new.write_text(json.dumps(self.data, indent=1), encoding="utf-8")
        new.rename(self.folder / "state.json")

    def read(self):
        """Reads the state of a cluster that is up."""
        if not self.is_alive():
            raise ClusterError(f"no cluster is up in {self.folder}; './dev cluster up N' starts one")
        try:
            self.data = json.loads((self.folder / "state.json").read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise ClusterError(f"the cluster in {self.folder} is not up yet") from error
        return self

    @contextlib.contextmanager
    def changed(self):
        """Reads the state, and writes it again after the block. One process at a time."""
        self.read()
        with open(self.folder / "change.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.read()
            yield self.data
            self.write()

    def nodes(self):
        return list(self.data["nodes"])

    def known(self, name):
        """Returns the node's name, if the cluster has it."""
        if name not in self.data["nodes"]:
            raise Misuse(f"the cluster has no node '{name}': its nodes are n0 to n{len(self.data['nodes']) - 1}")
        return name

    def is_running(self, name):
        node = self.data["nodes"][self.known(name)]
        return kernel.start_time(node["pid"]) == node["start"]

    def pid_of(self, name):
        """Returns the pid of the node's first process, as the host sees it."""
        if not self.is_running(name):
            raise ClusterError(f"the node {name} has crashed")
        return self.data["nodes"][name]["pid"]
