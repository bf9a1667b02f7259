"""jobs: the jobs of docs/measurements/pytorch-jobs.md: what each runs, what it needs, and the bugs that are put in by hand."""

# The script, its launcher's words, the ranks, the packages, and for each bug: the rank that makes it, and what rank does wrong.
JOBS = {
    "transformers' Trainer": {
        "script": "trainers/hf_trainer.py", "ranks": 3, "packages": ["transformers", "accelerate"],
        "bugs": {
            "skips-evaluation": (1, "a callback of rank 1 turns the evaluation off"),
            "raises": (1, "a callback of rank 1 raises an exception"),
            "barrier": (0, "a callback of rank 0 calls `dist.barrier()`"),
            "data-ends": (1, "the data of rank 1 is shorter"),
        }},
    "accelerate": {
        "script": "trainers/accelerate_loop.py", "ranks": 3, "packages": ["accelerate"],
        "launcher": ["accelerate", "launch", "--multi_gpu", "--num_machines=1", "--mixed_precision=no", "--dynamo_backend=no",
                     "--num_processes={ranks}"],
        "bugs": {
            "skips-evaluation": (1, "rank 1 skips the evaluation"),
            "gathers-alone": (0, "rank 0 alone calls `gather`"),
            "waits-alone": (0, "rank 0 alone calls `wait_for_everyone`"),
            "raises": (1, "rank 1 raises an exception"),
        }},
    "Lightning, DDP": {
        "script": "trainers/lightning_fit.py", "ranks": 3, "packages": ["lightning"],
        "bugs": {
            "logs-alone": (0, "rank 0 alone logs a value with `sync_dist=True`"),
            "raises": (1, "a callback of rank 1 raises an exception"),
            "barrier": (0, "a callback of rank 0 calls `dist.barrier()`"),
            "data-ends": (1, "the data of rank 1 is shorter"),
        }},
    "FSDP2 with tensor parallelism": {
        "script": "tensor_parallel.py", "ranks": 4, "packages": [],
        "bugs": {
            "other-group": (1, "rank 1 sums its loss in its tensor-parallel group"),
            "no-clipping": (1, "rank 1 does not clip its gradients"),
            "raises": (1, "rank 1 raises an exception"),
        }},
    "gradient accumulation, autocast, GradScaler": {
        "script": "mixed_precision.py", "ranks": 3, "packages": [],
        "bugs": {
            "sums-each-part": (1, "rank 1 forgets `no_sync`"),
            "data-ends": (1, "the data of rank 1 ends two steps early"),
            "raises": (1, "rank 1 raises an exception"),
            "barrier": (0, "rank 0 alone calls `dist.barrier()`"),
        }},
    "NCCL by ctypes": {
        "script": "by_ctypes.py", "ranks": 3, "packages": [],
        "bugs": {
            "leaves-out": (1, "rank 1 leaves out an `ncclAllReduce`"),
            "other-size": (1, "rank 1 sums half of its numbers"),
            "raises": (1, "rank 1 raises an exception"),
        }},
}

HEALTHY = "healthy"
CASES = [(job, bug) for job, about in JOBS.items() for bug in [HEALTHY, *about["bugs"]]]


def command(job, bug, workloads):
    """The command that a user would type."""
    about = JOBS[job]
    launcher = about.get("launcher", ["torchrun", "--standalone", "--nproc-per-node={ranks}"])
    words = [word.format(ranks=about["ranks"]) for word in launcher] + [f"{workloads}/{about['script']}"]
    return words if bug == HEALTHY else [*words, f"--bug={bug}", f"--by={about['bugs'][bug][0]}"]
