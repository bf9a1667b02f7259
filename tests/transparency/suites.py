"""suites: other people's test suites, and how each is started. All of them are programs that rankfault must not change.

A suite is skipped, with its reason, where its library is not there. `prepare` makes the virtual environment that the
Python suites run in; mpi4py's tests come with its source archive.
"""
import os
import pathlib
import shutil
import subprocess
import sys

MPI4PY = "4.1.2"
TORCH = os.environ.get("RANKFAULT_TORCH", "torch==2.13.0")


class Suite:
    def __init__(self, name, launcher, program, env=None, missing=""):
        self.name, self.launcher, self.program = name, launcher, program
        self.env, self.missing = env or {}, missing


def pip(python, *words, env=None):
    subprocess.run([python, "-m", "pip", "install", "--quiet", *words], check=True, env={**os.environ, **(env or {})})


def virtual_environment(folder, *packages, env=None):
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip(python, "numpy", *packages, env=env)
        (folder / "ready").touch()
    return python


def tests_of_mpi4py(folder):
    tests = folder / f"mpi4py-{MPI4PY}" / "test"
    if not tests.exists():
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "mpi4py",
                        "-d", str(folder), f"mpi4py=={MPI4PY}"], check=True)
        shutil.unpack_archive(folder / f"mpi4py-{MPI4PY}.tar.gz", folder, filter="data")
    return tests / "main.py"


def mpis():
    """Name, launcher, compiler, library folder and mpi4py's name for the binary interface of each MPI."""
    five, mpich = (os.environ.get(n, "") for n in ("RANKFAULT_OPENMPI5_PREFIX", "RANKFAULT_MPICH5_PREFIX"))
    yield "Open MPI 4", "mpirun.openmpi", "mpicc.openmpi", "", "openmpi"
    yield "Open MPI 5", f"{five}/bin/mpirun" if five else "", f"{five}/bin/mpicc", f"{five}/lib", "openmpi"
    yield "MPICH 4", "mpiexec.mpich", "mpicc.mpich", "", "mpich"
    yield "MPICH 5", f"{mpich}/bin/mpiexec" if mpich else "", f"{mpich}/bin/mpicc", f"{mpich}/lib", "mpich"


def start(launcher, ranks):
    crowd = ["--oversubscribe"] if "mpirun" in launcher else []
    return [launcher, *crowd, "-np", str(ranks)]


def mpi4py_suites(folder, ranks, words):
    for name, launcher, compiler, library, abi in mpis():
        found = shutil.which(launcher) if launcher else None
        env = {"MPI4PY_MPIABI": abi, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        if library:
            env["LD_LIBRARY_PATH"] = library
        for kind in ("wheel", "built"):
            if not found:
                yield Suite(f"mpi4py {kind}, {name}", [], [], missing=f"no {name}")
                continue
            if kind == "wheel":
                python = virtual_environment(folder / "mpi4py-wheel", f"mpi4py=={MPI4PY}")
            else:
                python = virtual_environment(folder / f"mpi4py-{name.replace(' ', '-')}", "--no-binary", "mpi4py",
                                             f"mpi4py=={MPI4PY}", env={"MPICC": shutil.which(compiler) or compiler})
            for n in ranks:
                yield Suite(f"mpi4py {kind}, {name}, {n} ranks", start(found, n),
                            [str(python), str(tests_of_mpi4py(folder)), "-q", *words], env)


def torch_suites(folder, stride):
    python = virtual_environment(folder / "torch", TORCH, "expecttest")
    program = pathlib.Path(__file__).with_name("torch_suite.py")
    yield Suite(f"PyTorch over Gloo, each {stride}th test", [], [str(python), str(program), str(stride)],
                {"OMP_NUM_THREADS": "1"})
