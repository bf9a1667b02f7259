"""cases: the healthy jobs, and the limits under which they are watched.

Times are scaled: a pause stands for seconds or minutes of a real job, and `after` and `hung` for the limits
of `watch`.
"""
GLOO = ("evaluation", "checkpoint", "growing", "first_step", "joined", "subgroups", "crowded", "stopped", "threads",
        "phases")
MPI = GLOO[:4] + ("subgroups", "crowded", "stopped", "threads", "test", "iprobe", "any_source", "overlap", "requests", "ring")
TORCH = ("evaluation", "checkpoint", "joined", "first_step")

# Short pauses, below both limits. Late pauses, which may be reported as slow but never as hung. Growing
# pauses, beyond both limits, each at most twice as long as one before: only the job's own record prevents a
# report.
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
    """Returns all cases as (library, how, limits)."""
    cases = []
    for library, ways in (("gloo", GLOO), ("mpi", MPI), ("torch", TORCH)):
        if library not in libraries:
            continue
        for how in ways:
            for limits in (GROWING,) if how == "growing" else (SHORT, LATE):
                cases.append((library, how, limits))
    return cases
