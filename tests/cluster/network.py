"""network: the links between the nodes: a bridge with one veth pair a node, or a switch that delays and loses."""
import os
import shutil
import socket
import subprocess

from . import kernel
from .errors import ClusterError, Misuse, Unavailable
from .state import index_of

TABLE = "rankfault"


def start_switch(state, count):
    """Starts the switch. It makes the interfaces rft0, rft1 and so on, and prints a line when they are there."""
    with open(state.log / "switch.log", "w", encoding="utf-8") as log:
        switch = subprocess.Popen([state.bin / "switch", state.control, str(count)], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=log)
    if not switch.stdout.readline():
        raise RuntimeError(f"the switch did not start: {(state.log / 'switch.log').read_text(encoding='utf-8').strip()}")


def connect(has_switch, pids):
    """Gives each node, named by the pid of its first process, an eth0 that is connected to all others."""
    lines = ["link set lo up"]
    if has_switch:
        lines += [f"link set rft{i} netns {pid} name eth0" for i, pid in enumerate(pids)]
    else:
        lines += ["link add rfbr0 type bridge", "link set rfbr0 up"]
        for i, pid in enumerate(pids):
            lines += [f"link add rfv{i} type veth peer name eth0 netns {pid}", f"link set rfv{i} master rfbr0 up"]
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True, capture_output=True)


def in_network_of(pid, argv, text=""):
    """Runs a program in the network namespace of a process."""
    with open(f"/proc/{pid}/ns/net", "rb") as namespace:
        done = subprocess.run(argv, input=text, text=True, capture_output=True, check=False,
                              preexec_fn=lambda: kernel.set_namespace(namespace.fileno()))
    if done.returncode != 0:
        raise ClusterError(f"'{' '.join(argv)}' failed: {done.stderr.strip()}")


def ask_switch(state, line):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(5)
        try:
            connection.connect(str(state.control))
            connection.sendall(line.encode() + b"\n")
            answer = connection.recv(200).decode().strip()
        except OSError as error:
            raise ClusterError(f"the switch does not answer: {error}") from error
    if answer != "ok":
        raise ClusterError(f"the switch refused '{line}': {answer}")


def set_cable(state, name, plugged):
    """Pulls the cable of a node, or plugs it in again. The node sees that its link has no carrier."""
    with state.changed() as data:
        state.known(name)
        if data["switch"]:
            ask_switch(state, f"cable {index_of(name)} {int(plugged)}")
        elif state.is_running(name):
            in_network_of(data["inside"], ["ip", "link", "set", f"rfv{index_of(name)}", "up" if plugged else "down"])
        data["cut"] = sorted({*data["cut"], name} - ({name} if plugged else set()), key=index_of)


def drop(state, pairs):
    """Drops all frames of these directed pairs of nodes, besides those that are dropped already."""
    with state.changed() as data:
        for a, b in pairs:
            if state.known(a) == state.known(b):
                raise Misuse(f"a partition needs two nodes, not {a} twice")
        data["dropped"] = sorted({*map(tuple, data["dropped"]), *pairs})
        apply_dropped(state, data)


def heal(state):
    with state.changed() as data:
        data["dropped"] = []
        apply_dropped(state, data)


def apply_dropped(state, data):
    if data["switch"]:
        ask_switch(state, "heal")
        for a, b in data["dropped"]:
            ask_switch(state, f"drop {index_of(a)} {index_of(b)}")
        return
    if not shutil.which("nft", path=path_of_root()):
        raise Unavailable("a partition needs nft (apt-get install nftables), or a cluster with --switch")
    lines = [f"table bridge {TABLE}", f"delete table bridge {TABLE}"]
    if data["dropped"]:
        lines += [f"table bridge {TABLE} {{", "chain forward {", "type filter hook forward priority 0"]
        lines += [f'iifname "rfv{index_of(a)}" oifname "rfv{index_of(b)}" drop' for a, b in data["dropped"]] + ["}", "}"]
    in_network_of(data["inside"], ["nft", "-f", "-"], "\n".join(lines) + "\n")


def shape(state, name, delay, jitter, loss):
    """Delays and loses what passes the cable of a node, in both directions. Microseconds, and parts of a million."""
    with state.changed() as data:
        state.known(name)
        if not data["switch"]:
            raise Misuse("this cluster has no switch: 'shape' needs './dev cluster up N --switch'")
        ask_switch(state, f"shape {index_of(name)} {delay} {jitter} {loss}")
        data["shapes"][name] = {"delay_us": delay, "jitter_us": jitter, "loss_ppm": loss}


def path_of_root():
    return os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
