"""commands: the command line of the cluster: reads arguments, runs a command, reports mistakes."""
import argparse
import json
import re
import sys

from . import enter, holder, lifecycle, network, ping, rsh
from .errors import ClusterError, Misuse, Unavailable
from .state import State, default_folder

USAGE = """\
usage: ./dev cluster COMMAND
  up N [OPTIONS]              start the head n0 and the nodes n1 to nN, with Slurm
      --no-slurm              start no Slurm
      --slurm-timeout S       SlurmdTimeout: when Slurm gives up a node that is silent (default: 30)
      --plugstack FILE        Slurm's plugstack.conf, which names its SPANK plugins
      --skew SECONDS          set the monotonic clocks of n1 ahead by that, of n2 by twice that, and so on
      --switch                join the nodes by a switch that can delay and lose
  down                        end the cluster and remove its folder
  status                      show the nodes, and what was done to them
  exec NODE -- COMMAND...     run a command in a node
  rsh NODE COMMAND...         inside a node: run a command on another; for mpirun's plm_rsh_agent
  ping A B                    measure the time of an answer over the network
  cut NODE                    pull the network cable of a node
  mend NODE                   plug it in again
  crash NODE                  kill the first process of a node, and so all others of the node
  partition A B [--one-way]   drop all frames between two nodes; one way: those from A to B
  heal                        end all partitions
  shape NODE [--delay 20ms] [--jitter 5ms] [--loss 5%]
                              delay and lose what passes the cable of a node, in each direction (needs --switch)
RANKFAULT_CLUSTER_DIR names the folder of the cluster. Exit status: 64 for a mistake, 77 where this machine lacks something.
"""
UNITS = {"us": 1, "ms": 1000, "s": 1000000}


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are Misuse."""

    def error(self, message):
        raise Misuse(message)


def microseconds(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(us|ms|s)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is not a time such as 20ms (us, ms, s)")
    return round(float(found[1]) * UNITS[found[2]])


def parts_of_a_million(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)%", text)
    if not found or float(found[1]) > 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share such as 5%")
    return round(float(found[1]) * 10000)


def parser():
    top = Parser(prog="./dev cluster", add_help=False)
    commands = top.add_subparsers(dest="command", required=True)

    def add(name, *words):
        command = commands.add_parser(name, add_help=False)
        for word in words:
            command.add_argument(word)
        return command

    up = add("up")
    up.add_argument("nodes", type=int)
    up.add_argument("--skew", type=float, default=0)
    up.add_argument("--slurm-timeout", type=int, default=30)
    up.add_argument("--plugstack")
    up.add_argument("--no-slurm", dest="slurm", action="store_false")
    up.add_argument("--switch", action="store_true")
    for name in ("down", "status", "heal"):
        add(name)
    for name in ("cut", "mend", "crash"):
        add(name, "node")
    add("ping", "a", "b")
    add("partition", "a", "b").add_argument("--one-way", action="store_true")
    shape = add("shape", "node")
    shape.add_argument("--delay", type=microseconds, default=0)
    shape.add_argument("--jitter", type=microseconds, default=0)
    shape.add_argument("--loss", type=parts_of_a_million, default=0)
    return top


def main(words):
    try:
        return run(words)
    except ClusterError as error:
        print(f"cluster: {error}", file=sys.stderr)
        return error.status
    except PermissionError as error:
        print(f"cluster: {error}: it needs root", file=sys.stderr)
        return Unavailable.status


def run(words):
    if not words or words[0] in ("help", "-h", "--help"):
        print(USAGE, end="")
        return 0
    state = State(default_folder())
    if words[0] == "hold":  # of lifecycle.hold() alone
        return holder.hold(words[1], json.loads(words[2]))
    if words[0] == "exec":
        return execute(state, words[1:])
    if words[0] == "rsh":
        return remote(words[1:])
    wish = parser().parse_args(words)
    return COMMANDS[wish.command](state, wish)


def execute(state, words):
    command = words[2:] if words[1:2] == ["--"] else words[1:]
    if not command:
        raise Misuse("usage: ./dev cluster exec NODE -- COMMAND...")
    state.read().known(words[0])
    return enter.run(state, words[0], command)


def remote(words):
    status = rsh.main(words, default_folder() / "bin")
    sys.stdout.flush()
    return status


def up(state, wish):
    wishes = lifecycle.Wishes(nodes=wish.nodes, skew=wish.skew, slurm=wish.slurm, slurm_timeout=wish.slurm_timeout,
                              plugstack=wish.plugstack, switch=wish.switch)
    state, _ = lifecycle.up(state.folder, wishes)
    print(f"{len(state.nodes())} nodes are up: n0 to {state.nodes()[-1]}; all of them have {state.share}")
    print("run a command on the head: ./dev cluster exec n0 -- COMMAND")
    return 0


def down(state, _):
    lifecycle.down(state.folder)
    return 0


def status(state, _):
    data = state.read().data
    for name, node in data["nodes"].items():
        words = [] if state.is_running(name) else ["crashed"]
        words += ["cut"] if name in data["cut"] else []
        words += [f"drops to {b}" for a, b in data["dropped"] if a == name]
        words += [" ".join(f"{key}={value}" for key, value in data["shapes"].get(name, {}).items())]
        print(f"{name:4} {node['address']}  pid {node['pid']:<8} {', '.join(filter(None, words)) or 'up'}")
    joined, has_slurm = "switch" if data["switch"] else "bridge", "yes" if data["slurm"] else "no"
    print(f"network: {joined}; Slurm: {has_slurm}; folder: {state.folder}")
    return 0


def ping_nodes(state, wish):
    state.read().known(wish.b)
    seconds = ping.ping(state.pid_of(wish.a), state.data["nodes"][wish.b]["address"])
    print(f"{wish.a} to {wish.b}: " + ("no answer in 1 s" if seconds is None else f"{seconds * 1000:.2f} ms"))
    return 1 if seconds is None else 0


def cut(state, wish):
    network.set_cable(state, wish.node, plugged=False)
    return 0


def mend(state, wish):
    network.set_cable(state, wish.node, plugged=True)
    return 0


def crash(state, wish):
    lifecycle.crash(state.read(), wish.node)
    return 0


def partition(state, wish):
    network.drop(state, [(wish.a, wish.b)] + ([] if wish.one_way else [(wish.b, wish.a)]))
    return 0


def heal(state, _):
    network.heal(state)
    return 0


def shape(state, wish):
    network.shape(state, wish.node, wish.delay, wish.jitter, wish.loss)
    return 0


COMMANDS = {"up": up, "down": down, "status": status, "ping": ping_nodes, "cut": cut, "mend": mend, "crash": crash,
            "partition": partition, "heal": heal, "shape": shape}
