"""slurm: Slurm on the nodes of a cluster: slurmctld on n0, slurmd on the others, munged on all."""
import os
import pathlib
import shutil
import time

from . import cgroups, enter
from .errors import ClusterError, Misuse, Unavailable
from .network import path_of_root

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sinfo")
CPUS = 8
START_TIMEOUT = 30
SHORT_TIMEOUT = 10  # Slurm's own timeouts of messages would hide a SlurmdTimeout below this

CONF = """\
ClusterName=rankfault
SlurmctldHost=n0
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.pid
SlurmdSpoolDir=/run/slurm/spool
StateSaveLocation={folder}/slurm/state
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
PlugStackConfig=/etc/slurm/plugstack.conf
ProctrackType=proctrack/{tracking}
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/log/jobcomp.txt
SlurmdParameters=config_overrides
MailProg=/bin/true
SlurmdTimeout={timeout}
{more}
NodeName=n[1-{nodes}] CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
CGROUP_CONF = f"""\
CgroupPlugin=cgroup/v1
CgroupMountpoint={cgroups.IN_NODE}
CgroupAutomount=no
"""


def check():
    """Raises Unavailable where Slurm is not installed."""
    missing = [program for program in PROGRAMS if not shutil.which(program, path=path_of_root())]
    if missing:
        raise Unavailable(f"no Slurm: {', '.join(missing)} not found; apt-get install slurm-wlm munge")
    if not pathlib.Path("/etc/slurm").is_dir():
        raise Unavailable("no Slurm of Debian: /etc/slurm does not exist")


def configure(state, nodes, timeout, plugstack):
    """Writes the files that the nodes see in /etc/slurm."""
    has_groups = cgroups.are_usable()
    more = "MessageTimeout=2\nTCPTimeout=1" if timeout < SHORT_TIMEOUT else ""
    text = CONF.format(folder=state.folder, nodes=nodes, timeout=timeout, more=more, cpus=CPUS,
                       tracking="cgroup" if has_groups else "linuxproc")
    (state.slurm / "slurm.conf").write_text(text, encoding="utf-8")
    if has_groups:
        (state.slurm / "cgroup.conf").write_text(CGROUP_CONF, encoding="utf-8")
    try:
        text = pathlib.Path(plugstack).read_text(encoding="utf-8") if plugstack else ""
    except OSError as error:
        raise Misuse(f"cannot read the plugstack file: {error}") from error
    (state.slurm / "plugstack.conf").write_text(text, encoding="utf-8")
    (state.slurm / "state").mkdir()
    key = state.slurm / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(128))


def start(state):
    """Starts all daemons. Returns when every node is idle."""
    first, *others = state.nodes()
    munged = ["munged", "--force", "--key-file=/etc/slurm/munge.key", "--log-file=/run/munge/log",
              "--seed-file=/run/munge/seed", "--pid-file=/run/munge/pid", "--socket=/run/munge/munge.socket.2"]
    run_on(state, {name: munged for name in state.nodes()})
    run_on(state, {first: ["slurmctld"]})
    run_on(state, {name: ["slurmd", "-N", name] for name in others})
    wait_until_idle(state, first, len(others))


def run_on(state, commands):
    """Runs a daemon's command in each node, all at once. Each returns when its daemon is up."""
    started = {}
    for name, argv in commands.items():
        output = state.log / f"{argv[0]}-{name}.out"
        started[enter.spawn(state, name, argv, output)] = (name, argv, output)
    for pid, (name, argv, output) in started.items():
        if os.waitpid(pid, 0)[1] != 0:
            said = last_line_of(output, state.log / f"{argv[0]}-{name}.log", state.log / f"{argv[0]}.log")
            raise ClusterError(f"{argv[0]} did not start on {name}: {said}")


def last_line_of(*files):
    """Returns the last line of the first file that has one."""
    for file in files:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else []
        if lines:
            return lines[-1]
    return "it printed nothing"


def wait_until_idle(state, first, count):
    """Waits until Slurm gives work to every node."""
    end = time.monotonic() + START_TIMEOUT
    while True:
        said = enter.output_of(state, first, ["sinfo", "-h", "-N", "-o", "%t"]).split()
        if said == ["idle"] * count:
            return
        if time.monotonic() > end:
            raise ClusterError(f"after {START_TIMEOUT} s the nodes of Slurm are {' '.join(said) or 'unknown'}, not idle")
        time.sleep(0.05)
