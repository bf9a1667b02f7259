"""cells: what is measured: one fault in a job of one engine each.

A job has a rank on each of n1, n2 and n3, and its launcher runs on n0. The fault strikes n2, rank 1, unless it says another.
"""
import dataclasses

SHORT = 5  # SlurmdTimeout; tests/cluster then also sets MessageTimeout=2 and TCPTimeout=1


@dataclasses.dataclass
class Cell:
    engine: str  # a name of engines.ENGINES
    fault: str  # a name of FAULTS
    bound: int = 60  # seconds after the fault
    options: tuple = ()  # of srun
    timeout: int = 30  # SlurmdTimeout
    seconds: int = 0  # how long the job runs; 0: without end
    nodes: int = 3
    wait: int = 0  # seconds from the start of the job to the fault, at least


# A fault: what it does; `acts`: (seconds after the first act, verb, words). Verbs are those of faults.py.
@dataclasses.dataclass
class Fault:
    says: str
    acts: tuple


def once(*words):
    return ((0, *words),)


FAULTS = {
    "none": Fault("none: the pairing of MPI library and `--mpi` is wrong", ()),
    "rank": Fault("SIGKILL of a rank", once("rank", "n2")),
    "leave": Fault("a rank exits with 0 before the others, without MPI_Finalize", once("leave", "n2")),
    "cut": Fault("link cut for good", once("cut", "n2")),
    "cut10": Fault("link cut for 10 s, then mended", ((0, "cut", "n2"), (10, "mend", "n2"))),
    "crash": Fault("node crash: all its processes are killed", once("crash", "n2")),
    "slurmd": Fault("SIGKILL of slurmd", once("name", "n2", "slurmd")),
    "slurmstepd": Fault("SIGKILL of slurmstepd", once("name", "n2", "slurmstepd")),
    "slurmctld": Fault("SIGKILL of slurmctld, not started again", once("name", "n0", "slurmctld")),
    "srun": Fault("SIGKILL of srun, its first process", once("first", "n0", "srun")),
    "both sruns": Fault("SIGKILL of both processes of srun at once", once("name", "n0", "srun")),
    "head": Fault("link of the head cut for 50 s, then mended", ((0, "cut", "n0"), (50, "mend", "n0"))),
    "orted": Fault("SIGKILL of the node's daemon, orted", once("name", "n2", "orted")),
    "prted": Fault("SIGKILL of the node's daemon, prted", once("name", "n2", "prted")),
    "proxy": Fault("SIGKILL of the node's daemon, hydra_pmi_proxy", once("name", "n2", "hydra_pmi_prox.?.?")),
    "launcher": Fault("SIGKILL of the launcher", once("name", "n0", "mpirun.*|prterun|mpiexec.*|orterun")),
    "agent": Fault("SIGKILL of torchrun on n2", once("args", "n2", ".*torch.distributed.run.*")),
    "host agent": Fault("SIGKILL of torchrun on n1, which has the rendezvous", once("args", "n1", ".*torch.distributed.run.*")),
}

K1 = ("--kill-on-bad-exit=1",)
CELLS = {
    "srun/rank": Cell("srun, no MPI", "rank"),
    "srun/rank-K1": Cell("srun, no MPI", "rank", options=K1),
    "srun-ompi4/rank": Cell("srun, Open MPI 4", "rank"),
    "srun-ompi4/rank-K1": Cell("srun, Open MPI 4", "rank", options=K1),
    "srun-ompi5/rank": Cell("srun, Open MPI 5", "rank"),
    "srun-mpich/rank": Cell("srun, MPICH 4", "rank"),
    "srun-mpich/rank-K1": Cell("srun, MPICH 4", "rank", options=K1),
    "srun-ompi4/leave": Cell("srun, Open MPI 4", "leave"),
    "srun-ompi4/slurmd": Cell("srun, Open MPI 4", "slurmd", bound=90),
    "srun/slurmstepd": Cell("srun, no MPI", "slurmstepd"),
    "srun-ompi4/slurmstepd": Cell("srun, Open MPI 4", "slurmstepd"),
    "srun-ompi4/cut": Cell("srun, Open MPI 4", "cut", bound=90),
    "srun-ompi4/cut-short": Cell("srun, Open MPI 4", "cut", bound=90, timeout=SHORT),
    "srun-ompi4/cut10": Cell("srun, Open MPI 4", "cut10", bound=90, seconds=40),
    "srun-ompi4/cut10-short": Cell("srun, Open MPI 4", "cut10", bound=90, seconds=40, timeout=SHORT),
    "srun-ompi4/crash": Cell("srun, Open MPI 4", "crash", bound=90),
    "srun-ompi4/crash-later": Cell("srun, Open MPI 4", "crash", bound=90, wait=24),
    "srun-ompi4/slurmctld": Cell("srun, Open MPI 4", "slurmctld", seconds=20),
    "srun-ompi4/head": Cell("srun, Open MPI 4", "head", bound=100, seconds=30),
    "srun-ompi4/srun": Cell("srun, Open MPI 4", "srun"),
    "srun-ompi4/srun-both": Cell("srun, Open MPI 4", "both sruns"),
    "sbatch/requeue": Cell("sbatch --requeue, Open MPI 4", "cut", bound=240, timeout=SHORT, nodes=4),
    "srun-ompi5/pmi2": Cell("srun --mpi=pmi2, Open MPI 5", "none", seconds=3),
    "srun-mpich/pmix": Cell("srun --mpi=pmix, MPICH 4", "none", seconds=3),
    "srun-ompi4/pmi2": Cell("srun --mpi=pmi2, Open MPI 4", "none", seconds=3),
    **{f"mpirun4/{name}": Cell("mpirun, Open MPI 4", name) for name in ("rank", "orted", "launcher", "crash", "cut")},
    **{f"mpirun5/{name}": Cell("mpirun, Open MPI 5", name) for name in ("rank", "prted", "launcher", "crash", "cut")},
    **{f"hydra/{name}": Cell("mpiexec, MPICH 4", name) for name in ("rank", "launcher", "crash", "cut")},
    "hydra/proxy": Cell("mpiexec, MPICH 4", "proxy", seconds=30),
    "torchrun/rank": Cell("torchrun, PyTorch 2", "rank"),
    "torchrun/agent": Cell("torchrun, PyTorch 2", "agent"),
    "torchrun/host-agent": Cell("torchrun, PyTorch 2", "host agent"),
    "torchrun/cut": Cell("torchrun, PyTorch 2", "cut", bound=90),
    "torchrun1/agent": Cell("torchrun, PyTorch 1", "agent"),
}
