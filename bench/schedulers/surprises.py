"""surprises: what a reader of the results would not expect, most surprising first; each only if the results show it."""


def of_node(result, node, attempt=0):
    return next(rank for rank in result["ranks"] if rank["node"] == node and rank["attempt"] == attempt)


def lives(result, node):
    return of_node(result, node)["how"] == "lives"


def status(result):
    return result["launchers"].get("n0", {}).get("status")


def job(result):
    """Returns the last that Slurm said of the job, and when it first said that."""
    said = [(s["after"], s["jobs"][0]) for s in result["slurm"] if isinstance(s["jobs"], list) and s["jobs"]]
    last = said[-1][1]
    return last, next(at for at, state in said if state == last)


def all_exit_0(result):
    return all(rank["how"] == "exit 0" for rank in result["ranks"])


def statuses(result):
    """Returns the exit status of the launcher in every run of the cell."""
    runs = [result, *(run for run in result.get("more", []) if not run["failed"])]
    return [run["launchers"].get("n0", {}).get("status") for run in runs]


def success_after_a_daemon(daemon, crash):
    after, crashed = statuses(daemon), statuses(crash)
    if 0 in after:
        node = f" After a node crash it ends with 0 in {crashed.count(0)} of {len(crashed)} runs: a race" if 0 in crashed else ""
        return (f"Open MPI 5: a node's daemon is killed, `mpirun` ends all ranks because of that, and its own status is 0 in {after.count(0)} of "
                f"{len(after)} runs.{node}")
    return None


def node_fail_of_success(result):
    last, at = job(result)
    if all_exit_0(result) and last["JobState"] == "NODE_FAIL":
        return (f"The head is cut off: all ranks end with 0 at {of_node(result, 'n1')['ended']:.0f} s, and Slurm calls the job NODE_FAIL at {at:.0f} s "
                f"and all nodes down. `srun` ends with {status(result)}")
    return None


def two_attempts(result):
    second = [rank for rank in result["ranks"] if rank["attempt"] == 1]
    if second and lives(result, "n2"):
        began = min(rank["began"] for rank in second)
        return f"A requeued job runs again at {began:.0f} s under the same job id, while a rank of its first attempt lives on the node that is cut off"
    return None


def singletons(open_mpi, mpich):
    found = [name for name, result in (("Open MPI 5 under `--mpi=pmi2`", open_mpi), ("MPICH 4 under `--mpi=pmix`", mpich))
             if status(result) == 0 and all(rank["size"] == 1 for rank in result["ranks"])]
    return f"{' and '.join(found)}: three jobs of one rank each, `srun` ends with 0, COMPLETED" if found else None


def ten_seconds(long, short):
    if job(long)[0]["JobState"] == "COMPLETED" and job(short)[0]["JobState"] == "NODE_FAIL":
        return (f"A cut of 10 s: with `SlurmdTimeout` 30 s the job completes, with 5 s Slurm ends it after {job(short)[1]:.0f} s, "
                "before the link is mended")
    return None


def rank_outlives_its_job(*results):
    last = [job(result) for result in results]
    if all(lives(result, "n2") for result in results) and all(state["JobState"] == "NODE_FAIL" for state, _ in last):
        times = ", ".join(f"{at:.0f}" for _, at in last)
        return (f"NODE_FAIL comes {times} s after slurmd was killed, after the cut, and after the cut with `SlurmdTimeout` 5 s. The rank on the lost node "
                "lives on: a node that is down may have ranks that write to the shared file system")
    return None


def when_a_node_is_lost(*results):
    runs = [run for result in results for run in [result, *result.get("more", [])]]
    times = sorted(run["launchers"]["n0"]["after"] for run in runs if run.get("launchers"))
    later = results[-1]["launchers"]
    if times and times[-1] - times[0] > 5 and later:
        return (f"With `SlurmdTimeout` 30 s, Slurm gives up a node {times[0]:.0f} to {times[-1]:.0f} s after its crash or its cut ({len(times)} runs). It depends "
                f"on the moment: a crash some 20 s later in the life of the same cluster gave {later['n0']['after']:.0f} s")
    return None


def nothing_ends(*results):
    if all(lives(result, "n1") and lives(result, "n3") for result in results):
        return ("`srun` does nothing about a rank that was killed, or that left without MPI_Finalize: the others of Open MPI 4 and MPICH 4 wait in "
                "their sum, and the job stays RUNNING for as long as it was watched")
    return None


def signal_is_lost(*results):
    if all(status(result) == 143 and job(result)[0]["ExitCode"] == "0:15" for result in results):
        return ("With `-K1` the exit status is that of the ranks that Slurm ended (143, 0:15). That the first rank got signal 9 stands only in a line of "
                "`srun`")
    return None


def proxy(result):
    end = result["launchers"].get("n0")
    if end and end["status"] != 0 and end["after"] > 20:
        return (f"MPICH 4: nobody notices that a node's daemon was killed. The job makes all its sums; when its ranks call MPI_Finalize, it fails at {end['after']:.0f} s "
                f"with {end['status']}")
    return None


def both_of_srun(one, both):
    ended = [rank["ended"] for rank in one["ranks"]]
    if all(how is not None for how in ended) and lives(both, "n1"):
        return (f"`srun` is two processes. If the first is killed, the second ends the job ({max(ended):.1f} s). If both are killed, the ranks go on, and the job "
                "stays RUNNING")
    return None


def agent(result, other):
    if lives(result, "n1") and lives(result, "n2") and result["running"]:
        old = " (PyTorch 1, too)" if lives(other, "n1") and lives(other, "n2") else ""
        return f"`torchrun` on one node is killed: nobody notices within 60 s, and its rank goes on without it{old}"
    return None


def host_agent(result):
    if not result["running"]:
        return "`torchrun` on the node that has the rendezvous is killed: all ranks and all other torchruns end at once"
    return None


SURPRISES = [
    (success_after_a_daemon, "mpirun5/prted", "mpirun5/crash"),
    (node_fail_of_success, "srun-ompi4/head"),
    (two_attempts, "sbatch/requeue"),
    (singletons, "srun-ompi5/pmi2", "srun-mpich/pmix"),
    (rank_outlives_its_job, "srun-ompi4/slurmd", "srun-ompi4/cut", "srun-ompi4/cut-short"),
    (ten_seconds, "srun-ompi4/cut10", "srun-ompi4/cut10-short"),
    (when_a_node_is_lost, "srun-ompi4/cut", "srun-ompi4/crash", "srun-ompi4/crash-later"),
    (nothing_ends, "srun-ompi4/rank", "srun-mpich/rank", "srun-ompi4/leave"),
    (both_of_srun, "srun-ompi4/srun", "srun-ompi4/srun-both"),
    (signal_is_lost, "srun/rank-K1", "srun-ompi4/rank-K1", "srun-mpich/rank-K1"),
    (proxy, "hydra/proxy"),
    (agent, "torchrun/agent", "torchrun1/agent"),
    (host_agent, "torchrun/host-agent"),
]


def surprises(results):
    for says, *names in SURPRISES:
        text = says(*(results[name] for name in names)) if all(name in results for name in names) else None
        if text:
            yield f"{text} ({', '.join(f'`{name}`' for name in names)})."
