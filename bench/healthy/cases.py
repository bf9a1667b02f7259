"""cases: the healthy jobs, and under which limits they are watched.

Times are scaled: a pause is what a real job has in seconds or minutes, `after` and `hung` what `watch` has for it.
"""
GLOO = ("evaluation", "checkpoint", "growing", "first_step", "joined", "subgroups", "crowded", "stopped", "threads",
        "phases")
MPI = GLOO[:4] + ("subgroups", "crowded", "stopped", "threads", "test", "iprobe", "any_source", "overlap", "requests", "ring")
TORCH = ("evaluation", "checkpoint", "joined", "first_step")

# Pauses shorter than what is told at all; then such as are told as slow, and never as hung; then the job's own
# record as the only reason to keep quiet: pauses beyond both limits, each at most twice as long as one before.
SHORT, LATE, GROWING = ("short", 500, "2s", "4s"), ("late", 1600, "500ms", "4s"), ("growing", 3200, "1s", "1500ms")


def command(build, source, python, library, how, ms):
    if library == "gloo":
        return ["--ranks", "4", "--", f"{build}/bin/gloo_healthy", f"--how={how}", f"--pause={ms}ms"]
    if library == "mpi":
        return ["--", "mpirun", "--oversubscribe", "-np", "4", "--mca", "mpi_yield_when_idle", "1",
                f"{build}/bin/ranks/mpi/mpi_healthy", f"--how={how}", f"--ms={ms}"]
    return ["--", python, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2",
            f"{source}/tests/ranks/torch/healthy.py", "--how", how, "--ms", str(ms)]


def all_cases(libraries):
    """Each as (library, how, limits)."""
    cases = []
    for library, ways in (("gloo", GLOO), ("mpi", MPI), ("torch", TORCH)):
        if library not in libraries:
            continue
        for how in ways:
            for limits in (GROWING,) if how == "growing" else (SHORT, LATE):
                cases.append((library, how, limits))
    return cases
