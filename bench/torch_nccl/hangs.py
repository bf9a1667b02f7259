"""hangs: the hangs of agreement.py. Each has a healthy twin: the same rank pauses for 20 s at the same point and goes on."""
import dataclasses

RANKS, LIMIT_S, PAUSE_S = 3, 5, 20
LONG = 600  # seconds; longer than the run
HUNG_AFTER = "30s"  # of the twins: longer than their pause

SUM = {"op": "all_reduce", "nth": 7}  # the first sum of step 4
FIRST = {"op": "all_reduce", "nth": 1}
SOCKETS = {"NCCL_SHM_DISABLE": "1"}


@dataclasses.dataclass
class Job:
    """One run of steps.py. `args`: its options; `fault`: a fault of rank `rank`."""
    says: str
    args: list = dataclasses.field(default_factory=list)
    fault: dict = dataclasses.field(default_factory=dict)
    env: dict = dataclasses.field(default_factory=dict)
    rank: int = 1


@dataclasses.dataclass
class Hang(Job):
    dumps: tuple = (0, 1, 2)  # the ranks that PyTorch lets write one
    twin: str = ""
    double: bool = False  # what happens after the call depends on the double of CUDA
    # What the two readers of the dumps say of the rank. PyTorch's stops where a rank left no dump.
    ours: str = "agrees"
    pytorch: str = "agrees"


def mistake(name, *more):
    return [f"--mistake={name}", "--by=1", *more]


def fault(kind, at, **more):
    return {"kind": kind, "at": at, **more}


TWINS = {
    "delayed-call": Job("pauses in the call of PyTorch", fault=fault("delay_call", SUM, by=f"{PAUSE_S}s")),
    "delayed-below-pytorch": Job("pauses in the call of NCCL", fault=fault("delay_call", SUM | {"library": "nccl"}, by=f"{PAUSE_S}s")),
    "delayed-first-call": Job("pauses in its first sum", fault=fault("delay_call", FIRST, by=f"{PAUSE_S}s")),
    "delayed-first-call-lazy": Job("pauses in its first sum, with lazy initialisation", ["--lazy"],
                                   fault("delay_call", FIRST, by=f"{PAUSE_S}s")),
    "stopped-and-continued": Job("is stopped, and continued", fault=fault("rank_stop", SUM, **{"for": f"{PAUSE_S}s"})),
    "stopped-and-continued-over-sockets": Job("is stopped, and continued", fault=fault("rank_stop", SUM, **{"for": f"{PAUSE_S}s"}),
                                              env=SOCKETS),
    "sleeps": Job("sleeps outside all calls", mistake("pauses", f"--pause={PAUSE_S}")),
    "computes": Job("computes outside all calls", mistake("computes", f"--pause={PAUSE_S}")),
    "long-checkpoint": Job("writes a checkpoint", ["--steps=3", "--checkpoint={tmp}/model.pt", f"--checkpoint-takes={PAUSE_S}"], rank=0),
    # of the scenario stuck-cuda-call, which leaves no dump
    "delayed-query": Job("pauses in a query of an event", fault=fault("delay_call", {"op": "device_query", "nth": 20}, by=f"{PAUSE_S}s")),
}

HANGS = {
    "skip-allreduce": Hang("leaves out a sum", fault=fault("skip_call", SUM), twin="delayed-call"),
    "skip-below-pytorch": Hang("leaves out a sum below PyTorch", fault=fault("skip_call", SUM | {"library": "nccl"}),
                               ours="names other ranks", twin="delayed-below-pytorch"),
    "other-size": Hang("sums another size", mistake("other-size"), twin="sleeps", double=True),
    "stopped": Hang("is stopped", fault=fault("rank_stop", SUM), dumps=(0, 2), pytorch="stops", twin="stopped-and-continued"),
    "no-first-collective": Hang("never makes its first sum", mistake("never-starts", f"--pause={LONG}"), twin="delayed-first-call"),
    "no-first-collective-lazy": Hang("never makes its first sum, with lazy initialisation", twin="delayed-first-call-lazy", dumps=(),
                                     args=["--lazy", *mistake("never-starts", f"--pause={LONG}")]),
    "killed-over-shared-memory": Hang("is killed", fault=fault("rank_kill", SUM), dumps=(0, 2), pytorch="stops",
                                      twin="stopped-and-continued"),
    "killed-over-sockets": Hang("is killed, over sockets", fault=fault("rank_kill", SUM), env=SOCKETS, dumps=(0, 2), pytorch="stops",
                                twin="stopped-and-continued-over-sockets"),
    "raises": Hang("raises an exception", mistake("raises"), dumps=(0, 2), pytorch="stops", twin="sleeps"),
    "exits": Hang("calls sys.exit", mistake("exits"), dumps=(0, 2), pytorch="stops", twin="computes"),
    "slow-checkpoint": Hang("writes a checkpoint for longer than the limit",
                            ["--checkpoint={tmp}/model.pt", f"--checkpoint-takes={LONG}"], rank=0, twin="long-checkpoint"),
    "limit-too-small": Hang("pauses for longer than the limit", mistake("pauses", f"--pause={LONG}"), twin="sleeps"),
}


def scenario(job, script, dumps, bound_s):
    """The scenario of a hang, or of a twin, as a document for a JSON (and so YAML) file."""
    is_twin = not isinstance(job, Hang)
    limit = LONG if is_twin else LIMIT_S
    limits = {"wall": f"{bound_s}s"} | ({"hung_after": HUNG_AFTER} if is_twin else {})
    words = ["--steps=6", f"--timeout={limit}", "--store={store}/meeting", *job.args]
    document = {
        "version": 1, "name": "agreement", "summary": f"Rank {job.rank} {job.says}.",
        "workload": {"launcher": "local", "ranks": RANKS, "cuda": "double", "command": ["{python}", script, *words],
                     "env": {"TORCH_FR_DUMP_TEMP_FILE": dumps, "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC": "500", **job.env},
                     "limits": limits, "needs": ["torch_cuda", "nccl >= 2.27"]},
        "expect": ["finished"] if is_twin else [{"left_nothing": ["shm"]}],
    }
    if job.fault:
        document["faults"] = [{"id": "it", "ranks": [job.rank], **job.fault}]
    return document
