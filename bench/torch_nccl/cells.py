"""cells: the faults and the settings of docs/what-pytorch-does.md, and the scenario of each cell."""

RANKS, LIMIT_S, BOUND_S = 3, 5, 110

# What happens to rank 1 at its fourth sum: words of steps.py, or a fault of a scenario. `double`: the double of CUDA decides it.
FAULTS = {
    "leaves the sum out": {"args": ["--mistake=leaves-out", "--by=1"]},
    "sums another size": {"args": ["--mistake=other-size", "--by=1"], "double": "mismatch"},
    "raises an exception": {"args": ["--mistake=raises", "--by=1"]},
    "calls sys.exit": {"args": ["--mistake=exits", "--by=1"]},
    "is killed": {"fault": {"kind": "rank_kill", "at": {"op": "all_reduce", "nth": 7}}},
    "is stopped": {"fault": {"kind": "rank_stop", "at": {"op": "all_reduce", "nth": 7}}},
    "never makes its first sum": {"args": ["--mistake=never-starts", "--by=1", "--pause=600"]},
    "waits for ever in a query of an event": {"fault": {"kind": "delay_call", "at": {"op": "device_query", "nth": 20}, "by": "600s"}},
    "has an illegal address, in each query": {
        "fault": {"kind": "cuda_error", "at": {"op": "device_query", "nth": 20}, "error": "illegal_address", "sticky": True}},
}

DEFAULT = "the defaults"
SETTINGS = {
    DEFAULT: {},
    "lazy initialisation": {"args": ["--lazy"]},
    "sockets": {"env": {"NCCL_SHM_DISABLE": "1"}},
    "ASYNC_ERROR_HANDLING=0": {"env": {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "0"}},
    "ASYNC_ERROR_HANDLING=1": {"env": {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "1"}},
    "ASYNC_ERROR_HANDLING=2": {"env": {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "2"}},
    "BLOCKING_WAIT=1": {"env": {"TORCH_NCCL_BLOCKING_WAIT": "1"}},
    "HEARTBEAT_TIMEOUT_SEC=8": {"env": {"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": "8"}},
    "WAIT_TIMEOUT_DUMP_MILSEC=500": {"env": {"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC": "500"}},
    "DUMP_ON_TIMEOUT=0": {"env": {"TORCH_NCCL_DUMP_ON_TIMEOUT": "0"}},
    "DESYNC_DEBUG=1": {"env": {"TORCH_NCCL_DESYNC_DEBUG": "1"}},
    "sockets, ASYNC_ERROR_HANDLING=0": {"env": {"NCCL_SHM_DISABLE": "1", "TORCH_NCCL_ASYNC_ERROR_HANDLING": "0"}},
    "sockets, BLOCKING_WAIT=1": {"env": {"NCCL_SHM_DISABLE": "1", "TORCH_NCCL_BLOCKING_WAIT": "1"}},
}

ENDS = ["raises an exception", "calls sys.exit", "is killed"]
HANGS = ["leaves the sum out", "is stopped"]
QUERIES = ["waits for ever in a query of an event", "has an illegal address, in each query"]

# One setting is changed from the defaults at a time, and a few named pairs.
CELLS = [(fault, DEFAULT) for fault in FAULTS] + [
    *((fault, "lazy initialisation") for fault in ["leaves the sum out", "is killed", "never makes its first sum"]),
    *((fault, "sockets") for fault in ENDS + HANGS + ["never makes its first sum"]),
    *((fault, f"ASYNC_ERROR_HANDLING={n}") for n in (0, 1, 2) for fault in ["leaves the sum out", "is killed", QUERIES[1]]),
    *((fault, "BLOCKING_WAIT=1") for fault in ["leaves the sum out", "is killed", "is stopped", QUERIES[1]]),
    *((fault, "HEARTBEAT_TIMEOUT_SEC=8") for fault in ["leaves the sum out", QUERIES[0], "never makes its first sum"]),
    *((fault, "WAIT_TIMEOUT_DUMP_MILSEC=500") for fault in ["leaves the sum out", "is killed"]),
    *((fault, "DUMP_ON_TIMEOUT=0") for fault in ["leaves the sum out", "is killed"]),
    *((fault, "DESYNC_DEBUG=1") for fault in ["leaves the sum out", "is stopped"]),
    *(("is killed", name) for name in SETTINGS if name.startswith("sockets, ")),
]


def scenario(fault, setting, script, dumps):
    """The scenario of a cell, as a document for a JSON (and so YAML) file."""
    of_fault, of_setting = FAULTS[fault], SETTINGS[setting]
    words = ["--steps=6", f"--timeout={LIMIT_S}", "--store={store}/meeting", *of_fault.get("args", []), *of_setting.get("args", [])]
    document = {
        "version": 1, "name": "what-pytorch-does", "summary": f"Rank 1 {fault}; {setting}.",
        "workload": {"launcher": "local", "ranks": RANKS, "cuda": "double", "command": ["{python}", script, *words],
                     "env": {"TORCH_FR_DUMP_TEMP_FILE": dumps, **of_setting.get("env", {})},
                     "limits": {"wall": f"{BOUND_S}s"}, "needs": ["torch_cuda", "nccl >= 2.27"]},
        "expect": [{"left_nothing": ["shm"]}],
    }
    if "fault" in of_fault:
        document["faults"] = [{"id": "it", "ranks": [1], **of_fault["fault"]}]
    return document
