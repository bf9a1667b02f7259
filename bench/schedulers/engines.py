"""engines: how each engine starts a job, and what is needed for that."""
import dataclasses
import functools
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
HOSTS = "n1,n2,n3"
RANKS = 3
AS_ROOT = {name: "1" for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "PRTE_ALLOW_RUN_AS_ROOT",
                                  "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM")}
QUIET = {"PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
OPENMPI5 = pathlib.Path(os.environ.get("RANKFAULT_OPENMPI5_PREFIX") or ROOT / ".venv") / "bin"
PYTHON2 = os.environ.get("RANKFAULT_PYTHON") or str(ROOT / ".venv/bin/python")  # of PyTorch 2
PYTHON1 = "/usr/bin/python3"


@dataclasses.dataclass
class Engine:
    library: str  # a key of COMPILERS, or the Python of PyTorch
    mpi: str = ""  # of srun
    kind: str = "srun"
    slurm: bool = True


ENGINES = {
    "srun, no MPI": Engine("none"),
    "srun, Open MPI 4": Engine("Open MPI 4", "pmix"),
    "srun, Open MPI 5": Engine("Open MPI 5", "pmix"),
    "srun, MPICH 4": Engine("MPICH 4", "pmi2"),
    "srun --mpi=pmi2, Open MPI 5": Engine("Open MPI 5", "pmi2"),
    "srun --mpi=pmix, MPICH 4": Engine("MPICH 4", "pmix"),
    "srun --mpi=pmi2, Open MPI 4": Engine("Open MPI 4", "pmi2"),
    "sbatch --requeue, Open MPI 4": Engine("Open MPI 4", "pmix", kind="sbatch"),
    "mpirun, Open MPI 4": Engine("Open MPI 4", kind="mpirun.openmpi", slurm=False),
    "mpirun, Open MPI 5": Engine("Open MPI 5", kind=str(OPENMPI5 / "mpirun"), slurm=False),
    "mpiexec, MPICH 4": Engine("MPICH 4", kind="mpiexec.mpich", slurm=False),
    "torchrun, PyTorch 2": Engine(PYTHON2, kind="torchrun", slurm=False),
    "torchrun, PyTorch 1": Engine(PYTHON1, kind="torchrun", slurm=False),
}
COMPILERS = {"none": ["cc", "-DNO_MPI"], "Open MPI 4": ["mpicc.openmpi"], "Open MPI 5": [str(OPENMPI5 / "mpicc")],
             "MPICH 4": ["mpicc.mpich"]}


def missing(engine):
    """Returns what this machine lacks for the engine; "" if nothing."""
    needs = [engine.kind] if not engine.slurm and engine.kind != "torchrun" else []
    needs += COMPILERS[engine.library][:1] if engine.library in COMPILERS else [engine.library]
    lacking = [need for need in needs if not shutil.which(need)]
    if not lacking and engine.kind == "torchrun" and not version_of(engine.library):
        lacking = [f"PyTorch in {engine.library}"]
    return ", ".join(lacking)


def prepare(engine, share):
    """Puts the programs of a cell into the folder that all nodes have. Returns the command of a rank."""
    for file in ("rank.py", "strike.py", "watch_slurm.py"):
        shutil.copy(HERE / file, share)
    if engine.kind == "torchrun":
        return [str(share / "rank.py")]
    command = [*COMPILERS[engine.library], "-O1", "-pthread", "-o", str(share / "rank"), str(HERE / "rank.c")]
    subprocess.run(command, check=True, capture_output=True)
    return [str(share / "rank")]


def commands(engine, cell, share, rank):
    """Returns the commands that start the job: (node, words) of each."""
    rank = [*rank, str(cell.seconds)]
    srun = ["srun", *([f"--mpi={engine.mpi}"] if engine.mpi else []), f"-N{RANKS}", f"-n{RANKS}", *cell.options, *rank]
    if engine.kind == "srun":
        return [("n0", srun)]
    if engine.kind == "sbatch":
        script = share / "job.sh"
        script.write_text(f"#!/bin/sh\n{' '.join(srun)}\n", encoding="utf-8")
        return [("n0", ["sbatch", "--requeue", f"-N{RANKS}", f"--ntasks={RANKS}", "--ntasks-per-node=1", f"--output={share}/job.out",
                        "--open-mode=append", str(script)])]
    if engine.kind == "torchrun":
        agent = [engine.library, "-m", "torch.distributed.run", f"--nnodes={RANKS}", "--nproc_per_node=1", "--rdzv_backend=c10d",
                 "--rdzv_endpoint=n1:29400", "--rdzv_id=1", "--max_restarts=0"]
        agent += ["-r", "2", "-t", "1", "--log_dir", str(share / "logs")] if engine.library == PYTHON1 else []
        return [(node, [*agent, *rank[:1]]) for node in HOSTS.split(",")]
    if engine.kind == "mpiexec.mpich":
        return [("n0", [engine.kind, "-hosts", HOSTS, "-n", str(RANKS), *rank])]
    return [("n0", [engine.kind, "--allow-run-as-root", "--host", HOSTS, "-np", str(RANKS), *rank])]


@functools.cache
def version_of(name):
    """Returns the version of a program or of PyTorch; "" if there is none."""
    programs = {"Open MPI 4": "mpirun.openmpi", "Open MPI 5": str(OPENMPI5 / "mpirun"), "MPICH 4": "mpiexec.mpich"}
    torch = [name, "-W", "ignore", "-c", "import torch; print(torch.__version__)"]
    words = [programs[name], "--version"] if name in programs else torch
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    except OSError:
        return ""
    found = re.search(r"\d+\.\d+\.\d+", done.stdout)
    return found[0] if found else ""


def versions(engine):
    """Returns the versions of what a cell of this engine uses, but Slurm's: only the cluster can ask srun."""
    name = "PyTorch" if engine.kind == "torchrun" else engine.library
    return {} if name == "none" else {name: version_of(engine.library)}
