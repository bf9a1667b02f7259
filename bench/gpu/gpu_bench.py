#!/usr/bin/env python3
"""gpu_bench.py BUILD [PAGE]: runs rankfault on a machine with a GPU, and compares it with the double of CUDA.

All ranks share one GPU: each has an NCCL_HOSTID of its own, so NCCL takes them for ranks of several hosts and
uses sockets. The NCCL is that of the PyTorch that `python3` imports. The page has three tables: scenario files over the
double and on the GPU, jobs of PyTorch under `rankfault watch`, and the cost of the agent. It is never a test.
"""
import concurrent.futures
import datetime
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gpu_page  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(sys.argv[1])
PAGE = sys.argv[2] if len(sys.argv) > 2 else None
PAIRS = int(os.environ.get("RANKFAULT_BENCH_PAIRS", "10"))
ENV = {**os.environ, "NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": "1", "OMP_NUM_THREADS": "1"}
# Scenarios whose fault needs neither the double nor shared memory between the ranks.
SCENARIOS = ["async-error-never-fires", "axes-in-another-order", "data-ends-early", "error-swallowed", "error-told",
             "flag-only-when-failed", "in-place", "kill-and-restart", "kill-rank", "one-stream",
             "precision-chosen-alone", "rank-0-broadcasts-alone", "rank-never-started", "shrink",
             "skip-allreduce", "stopped-watchdog"]
BUGS = ["none", "skip", "sizes", "kill", "stop", "raise"]


def text_of(command, limit=60, **env):
    """Returns the exit status and all output; a job that outlasts `limit` seconds has the status 124."""
    child = subprocess.Popen(command, env={**ENV, **env}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             start_new_session=True)
    try:
        said = child.communicate(timeout=limit)[0]
        return child.returncode, said
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 15)
        return 124, child.communicate()[0]


def package_folder(name):
    code = f"import importlib.util as u; print(list(u.find_spec('{name}').submodule_search_locations)[0])"
    return subprocess.run(["python3", "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def libraries():
    """The folders of NCCL and of the CUDA toolkit (or of its runtime's package)."""
    compiler = shutil.which("nvcc")
    toolkit = os.path.dirname(os.path.dirname(os.path.realpath(compiler))) if compiler else None
    nccl = os.environ.get("NCCL_HOME") or package_folder("nvidia.nccl")
    return nccl, os.environ.get("CUDA_HOME") or toolkit or package_folder("nvidia.cu13")


def compile_for(nccl, cuda, sources, program):
    cuda_lib = next(p for p in (cuda + "/lib64", cuda + "/lib") if os.path.isdir(p))
    runtime = next(f for f in sorted(os.listdir(cuda_lib)) if f.startswith("libcudart.so."))
    headers = [nccl + "/include", cuda + "/include", cuda + "/include/cccl", BUILD + "/ext/include"]
    flags = ["-O2", "-g", "-pthread", "-I" + ROOT, *(f for h in headers for f in ("-isystem", h))]

    def compiler(source):
        return (["gcc"] if source.endswith(".c") else ["g++", "-std=c++20"]) + flags

    objects = [f"{program}.{os.path.basename(source)}.o" for source in sources]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda one, to: subprocess.run(compiler(one) + ["-c", one, "-o", to], check=True), sources, objects))
    subprocess.run(["g++", "-pthread", *objects, nccl + "/lib/libnccl.so.2", f"{cuda_lib}/{runtime}", "-ldl", "-o", program],
                   check=True)
    ENV["LD_LIBRARY_PATH"] = f"{nccl}/lib:{cuda_lib}"


def put_on_gpu(folder, name, sources, nccl, cuda):
    """Compiles `folder`/`name`: a script that gives the rank a host of its own, and starts the program."""
    program = f"{folder}/{name}_on_gpu"
    os.makedirs(os.path.dirname(program), exist_ok=True)
    compile_for(nccl, cuda, sources, program)
    with open(f"{folder}/{name}", "w") as script:
        script.write(f'#!/bin/sh\nNCCL_HOSTID=host-$RANK exec {program} "$@"\n')
    os.chmod(f"{folder}/{name}", 0o755)


def tool_for_the_gpu(folder, nccl, cuda):
    """Makes a copy of the tool whose {bin} has the workloads over the machine's own CUDA. Returns its bin folder."""
    shutil.copytree(BUILD + "/lib/decoders", folder + "/lib/decoders")
    for name in ("bin/rankfault", "bin/rankfault-guardian", "lib/librankfault_agent.so", "lib/librankfault_libc.so"):
        os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
        shutil.copy2(f"{BUILD}/{name}", f"{folder}/{name}")
    if os.path.isdir(BUILD + "/ext"):
        os.symlink(BUILD + "/ext", folder + "/ext")
    trainer = ROOT + "/workloads/trainer"
    others = {"gloo_collectives.cc", "mpi_collectives.cc"}
    sources = [f"{trainer}/{f}" for f in sorted(os.listdir(trainer)) if f.endswith(".cc") and f not in others]
    put_on_gpu(folder + "/bin", "trainer_nccl", sources, nccl, cuda)
    put_on_gpu(folder + "/bin", "workloads/two_sums", [ROOT + "/workloads/two_sums.c"], nccl, cuda)
    return folder + "/bin"


def first_cause(result):
    causes = [f for f in result.get("findings", []) if not f.get("withdrawn")]
    if not causes:
        return "no finding"
    ranks = " ".join(map(str, causes[0]["ranks"]))
    return f"{causes[0]['kind']}{' ' + ranks if ranks else ''} ({causes[0]['confidence']})"


def scenarios(folder, bin_dir, cuda):
    """Runs the scenario files. Returns {name: (verdict, the first finding, what failed)}."""
    files = [f"{ROOT}/scenarios/nccl/{name}.yaml" for name in SCENARIOS]
    runs = f"{folder}/runs-{cuda}"
    os.makedirs(runs)
    with open(f"{runs}/out.json", "w") as out:
        subprocess.run([bin_dir + "/rankfault", "run", *files, "--cuda", cuda, "--jobs", "4", "--runs", runs, "--keep", "failed",
                        "--json"], env=ENV if cuda == "machine" else os.environ, stdout=out, check=False, timeout=300)
    rows = {}
    for run in json.load(open(f"{runs}/out.json"))["runs"]:
        failed = [f"{e['id']}: {e['because']}" for e in run.get("expectations", []) if e["verdict"] != "pass"]
        name = os.path.basename(run["file"]).removesuffix(".yaml")
        rows[name] = (run["verdict"], first_cause(run), re.sub(r" \(see .*?\)", "", "; ".join(failed)) or run.get("summary", ""))
    return rows


def torch_job(bin_dir, bug, ranks, watched, folder, steps=30):
    """Runs train.py under torchrun. Returns the exit status, what rank 0 wrote, and what `rankfault watch` wrote."""
    command = ["torchrun", "--standalone", f"--nproc-per-node={ranks}", HERE + "/train.py", "--bug", bug, "--steps", str(steps)]
    if not watched:
        return (*text_of(command), "")
    run = tempfile.mkdtemp(dir=folder)
    end = ["--end-on-finding"] if bug in ("skip", "sizes", "stop") else []
    status, said = text_of([bin_dir + "/rankfault", "watch", *end, "--hung-after", "8s", "--run-dir", run + "/run", "--", *command],
                           limit=90)
    with open(run + "/run/logs/rank-0.a0.log", errors="replace") as log:
        return status, log.read(), said


def losses(said):
    return [line[line.index("step "):] for line in said.splitlines() if "step " in line and " loss " in line]


def torch_rows(folder, bin_dir):
    """Returns rows (bug, exit status, findings at the end, whether the losses equal those without rankfault)."""
    alone = losses(torch_job(bin_dir, "none", 3, False, folder)[1])
    rows = []
    for bug in BUGS:
        status, rank_0, said = torch_job(bin_dir, bug, 3, True, folder)
        summary = said[said.rfind("\nthe job "):].splitlines()
        found = [" ".join(line.split()) for line in summary if line.startswith(("  found", "   then"))]
        rows.append((bug, status, found, losses(rank_0) == alone if bug == "none" else None))
    return rows


def loop(folder, ranks, agent):
    """Returns the four numbers of nccl_loop, of a job with or without the agent."""
    meet = tempfile.mkdtemp(dir=folder)
    extra = {}
    if agent:
        os.mkdir(meet + "/records")
        extra = {"RANKFAULT_RUN_DIR": meet, "LD_PRELOAD": BUILD + "/lib/librankfault_agent.so"}
    jobs = [subprocess.Popen([folder + "/nccl_loop", meet], stdout=subprocess.PIPE, text=True,
                             env={**ENV, **extra, "RANK": str(r), "WORLD_SIZE": str(ranks), "NCCL_HOSTID": f"host-{r}"})
            for r in range(ranks)]
    said = "".join(job.communicate(timeout=60)[0] for job in jobs).split()
    return dict(zip(said[::2], map(float, said[1::2])))


def step_time(folder, bin_dir, watched):
    said = torch_job(bin_dir, "none", 2, watched, folder, steps=200)[1]
    return {"one step": float(said.split("ms per step ")[1].split()[0]) * 1000}


def compare(measure, pairs):
    """Interleaves runs without and with. Returns {name: (without, with, median ratio, lowest, highest)}."""
    without, with_it = [], []
    for _ in range(pairs):
        without.append(measure(False))
        with_it.append(measure(True))
    rows = {}
    for name in without[0]:
        a, b = [w[name] for w in without], [w[name] for w in with_it]
        ratios = sorted(y / x for x, y in zip(a, b))
        rows[name] = (statistics.median(a), statistics.median(b), statistics.median(ratios), ratios[0], ratios[-1])
    return rows


def machine():
    gpu = text_of(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])[1].strip()
    code = "import torch; print(torch.__version__, '.'.join(map(str, torch.cuda.nccl.version())))"
    torch, nccl = text_of(["python3", "-c", code])[1].split()[-2:]
    return {"date": datetime.date.today().isoformat(), "gpu": gpu, "cores": os.cpu_count(), "torch": torch, "nccl": nccl}


def main():
    seen = {"machine": machine()}
    with tempfile.TemporaryDirectory(prefix="rf-gpu-") as folder:
        nccl, cuda = libraries()
        bin_dir = tool_for_the_gpu(folder + "/tool", nccl, cuda)
        compile_for(nccl, cuda, [HERE + "/nccl_loop.cc"], folder + "/nccl_loop")
        parts = {"double": lambda: scenarios(folder, BUILD + "/bin", "double"),
                 "scenarios": lambda: scenarios(folder, bin_dir, "machine"),
                 "torch": lambda: torch_rows(folder, bin_dir),
                 "one rank": lambda: compare(lambda w: loop(folder, 1, w), PAIRS),
                 "two ranks": lambda: compare(lambda w: loop(folder, 2, w), max(1, PAIRS // 2)),
                 "train.py": lambda: compare(lambda w: step_time(folder, bin_dir, w), max(1, PAIRS // 2))}
        for name, part in parts.items():
            try:
                seen[name] = part()
            except Exception as error:  # a part that fails takes no other with it
                seen[name] = f"{type(error).__name__}: {error}"
            print(name, json.dumps(seen[name], indent=1), flush=True)
            if PAGE:
                gpu_page.write(seen, PAGE)


if __name__ == "__main__":
    main()
