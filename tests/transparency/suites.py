"""suites: foreign test suites, and how each is started. rankfault must not change the results of any of them.

A suite is skipped, with its reason, where its library is not installed. Each Python suite runs in its own
virtual environment. mpi4py's tests come with its source archive, NCCL's examples with the sources that
`./dev nccl` fetched.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

MPI4PY = "4.1.2"
TORCH = os.environ.get("RANKFAULT_TORCH", "torch==2.13.0")


class Suite:
    """A program of unittest tests. With `lines`, a program whose lines of output are compared."""

    def __init__(self, name, launcher, program, env=None, missing="", lines=False):
        self.name, self.launcher, self.program = name, launcher, program
        self.env, self.missing, self.lines = env or {}, missing, lines


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
    """Yields name, launcher, compiler, library folder and mpi4py's name for the ABI of each MPI."""
    five, mpich = (os.environ.get(n, "") for n in ("RANKFAULT_OPENMPI5_PREFIX", "RANKFAULT_MPICH5_PREFIX"))
    yield "Open MPI 4", "mpirun.openmpi", "mpicc.openmpi", "", "openmpi"
    yield "Open MPI 5", f"{five}/bin/mpirun" if five else "", f"{five}/bin/mpicc", f"{five}/lib", "openmpi"
    yield "MPICH 4", "mpiexec.mpich", "mpicc.mpich", "", "mpich"
    yield "MPICH 5", f"{mpich}/bin/mpiexec" if mpich else "", f"{mpich}/bin/mpicc", f"{mpich}/lib", "mpich"


def start(launcher, ranks):
    crowd = ["--oversubscribe"] if "mpirun" in launcher else []
    return [launcher, *crowd, "-np", str(ranks)]


def mpi4py_suites(folder, wanted, ranks, words):
    for name, launcher, compiler, library, abi in mpis():
        found = shutil.which(launcher) if launcher else None
        env = {"MPI4PY_MPIABI": abi, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        if library:
            env["LD_LIBRARY_PATH"] = library
        for kind in ("wheel", "built"):
            title = f"mpi4py {kind}, {name}"
            if not any(wanted(f"{title}, {n} ranks") for n in ranks):
                continue
            if not found:
                yield Suite(title, [], [], missing=f"no {name}")
                continue
            if kind == "wheel":
                python = virtual_environment(folder / "mpi4py-wheel", f"mpi4py=={MPI4PY}")
            else:  # pip would keep its build, and use it again for the next MPI
                python = virtual_environment(folder / f"mpi4py-{name.replace(' ', '-')}", "--no-cache-dir", "--no-binary", "mpi4py",
                                             f"mpi4py=={MPI4PY}", env={"MPICC": shutil.which(compiler) or compiler})
            for n in ranks:
                yield Suite(f"{title}, {n} ranks", start(found, n), [str(python), str(tests_of_mpi4py(folder)), "-q", *words], env)


def torch_suites(folder, wanted, stride):
    title = f"PyTorch over Gloo, each {stride}th test"
    if not wanted(title):
        return
    python = virtual_environment(folder / "torch", TORCH, "expecttest")
    program = pathlib.Path(__file__).with_name("torch_suite.py")
    yield Suite(title, [], [str(python), str(program), str(stride)],
                {"OMP_NUM_THREADS": "1"})


def nccl_examples():
    """Yields folder, name and source of each example of NCCL that needs no compiler for GPUs."""
    for top in sorted(pathlib.Path(".nccl/download").glob("nvidia-nccl-*/docs/examples")):
        for main in sorted(top.glob("*/*/main.cc")):
            yield top, f"{main.parent.parent.name[3:]}/{main.parent.name[3:]}", main
        return


def compile_example(top, main, mpi, double, out):
    headers = [f".nccl/{double.name[5:]}/include", ".nccl/cuda12/include"]
    flags = ["-DMPI_SUPPORT"] if mpi else []
    done = subprocess.run(["mpicxx.openmpi" if mpi else "g++", "-O1", "-w", *flags, *(f"-I{h}" for h in headers), f"-I{top}/common/include",
                           "-o", str(out), str(main), f"{top}/common/src/utils.cc", "-pthread", str(double / "libnccl.so.2"),
                           str(double.parent / "libcudart.so.12"), "-Wl,--allow-shlib-undefined"],
                          capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else "it does not compile: " + (re.search(r"error: .*", done.stderr) or [done.stderr[-200:]])[0]


def nccl_suites(build, folder, wanted):
    """NCCL's own examples: four devices of the double of CUDA in one process, or one a process under MPI."""
    doubles = sorted(pathlib.Path(build, "lib", "cuda_double").resolve().glob("nccl-*"))
    if not doubles:
        yield Suite("NCCL's examples", [], [], missing="no NCCL over the double of CUDA (to add it: ./dev nccl)")
    for double in doubles:
        for top, name, main in nccl_examples():
            title, mpi = f"NCCL {double.name[5:]} over the double of CUDA, {name}", "mpi" in name
            if not wanted(title):
                continue
            out = folder / f"{double.name}-{name.replace('/', '-')}"
            why = compile_example(top, main, mpi, double, out)
            env = {"LD_LIBRARY_PATH": f"{double}:{double.parent}", "RANKFAULT_CUDA_DEVICES": "4", "NCCL_SOCKET_IFNAME": "lo",
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "NCCL_P2P_DISABLE": "1",
                   "NCCL_IB_DISABLE": "1", "NCCL_CUMEM_ENABLE": "0", "NCCL_CUMEM_HOST_ENABLE": "0", "NCCL_RAS_ENABLE": "0"}
            yield Suite(title, start("mpirun.openmpi", 4) if mpi else [], [str(out)], env, why, lines=True)
