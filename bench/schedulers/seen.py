"""seen: reads what a job left on its nodes: its ranks' files, its processes, other files."""
import dataclasses
import pathlib
import re
import signal

OWN = ("watch_slurm.py", "strike.py", "ps -eo", "scontrol -o show job", "sinfo -h -N")
SILENT_S = 1.5  # a rank beats every 0.02 s


@dataclasses.dataclass
class Rank:
    node: str
    pid: int
    events: list  # (time, event, value)
    beat: float
    sums: int

    @property
    def last(self):
        """The last time at which it is known to have lived."""
        return max([self.beat, *(at for at, _, _ in self.events)])

    def value(self, event):
        return next((value for _, name, value in self.events if name == event), None)

    def how(self):
        """What it said about its end; "silent" if nothing: it got SIGKILL, or called _exit."""
        if self.value("raises"):
            return f"exception {self.value('raises')}"
        for _, event, value in reversed(self.events):
            if event == "exit":
                return f"exit {value}"
            if event == "signal" and value != signal.SIGCONT:
                return signal.Signals(value).name
        return "silent"


def text_of(path):
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def event_of(line):
    at, event, value = line.split(" ", 2)
    return float(at), event, int(value) if value.lstrip("-").isdigit() else value


class Eyes:
    """Looks into the nodes of a cluster. Remembers the ranks of nodes that have crashed."""

    def __init__(self, cluster):
        self._cluster, self._ranks = cluster, {}
        self._before = {node: (set(self.processes(node)), set(self.files(node))) for node in cluster.state.nodes()}

    def _tmp(self, node):
        return pathlib.Path(f"/proc/{self._cluster.state.data['nodes'][node]['pid']}/root/tmp")

    def alive_nodes(self):
        return [node for node in self._cluster.state.nodes() if self._cluster.state.is_running(node)]

    def ranks(self):
        for node in self.alive_nodes():
            try:
                names = [path.name for path in self._tmp(node).iterdir() if path.name.startswith("rank-")]
            except OSError:
                continue  # it crashes at this moment
            for name in names:
                self._read(node, name)
        return sorted(self._ranks.values(), key=lambda rank: (rank.value("attempt") or 0, rank.node, rank.pid))

    def _read(self, node, name):
        pid = int(name.removeprefix("rank-"))
        beat = text_of(self._tmp(node) / f"beat-{pid}").split()
        if len(beat) >= 2:
            lines = text_of(self._tmp(node) / name).splitlines()
            self._ranks[node, pid] = Rank(node, pid, [event_of(line) for line in lines], float(beat[0]), int(beat[1]))

    def processes(self, node):
        """Returns the name of each process of a node, by its pid."""
        text = self._cluster.exec(node, ["ps", "-eo", "pid=,stat=,comm=,args="]).stdout
        found = {}
        for line in text.splitlines():
            pid, stat, name, args = (line.split(None, 3) + [""])[:4]
            if not stat.startswith("Z") and not name.startswith("rf-") and not any(word in args for word in OWN):
                found[int(pid)] = re.sub(r"^(slurmstepd).*", r"\1", name)
        return found

    def files(self, node):
        """Returns what lies in /tmp and /dev/shm of a node, without the files of this bench."""
        text = self._cluster.exec(node, ["find", "/tmp", "/dev/shm", "-mindepth", "1", "-maxdepth", "1"]).stdout
        own = re.compile(r"/tmp/(rank-|beat-|leave$|rankfault-cluster)")
        return [name for name in text.splitlines() if not own.match(name)]

    def left(self):
        """Returns what each node has that it did not have before the job."""
        found = {}
        for node in self.alive_nodes():
            processes, files = self._before[node]
            new = {pid: name for pid, name in self.processes(node).items() if pid not in processes}
            found[node] = {"processes": new, "files": sorted(set(self.files(node)) - files)}
        return found
