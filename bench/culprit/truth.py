"""truth: maps the injected fault of a run to the first causes that are right for it."""

# fault kind -> kinds of a right first cause. None: the fault may harm no rank, so silence is also right.
RIGHT = {
    "rank_kill": {"dead_rank"},
    "node_kill": {"dead_rank"},
    "rank_signal": {"dead_rank", "exited_rank", "stopped_rank", "late_rank"},
    "rank_exit": {"exited_rank"},
    "rank_stop": {"late_rank", "stopped_rank", None},
    "slow_rank": {"slow_rank", "late_rank", None},
    "delay_call": {"slow_rank", "stuck_outside", "late_rank", None},
    "fail_call": {"exited_rank", "host_resource", None},  # host_resource: a call on a file
    "skip_call": {"missing_call"},
    "change_argument": {"call_mismatch"},
    "flip_value": {"exited_rank", None},
    "uneven_batches": {"missing_call", "exited_rank", "extra_call", None},
    "cuda_error": {"exited_rank", "dead_rank"},
    "launcher_kill": {"dead_rank", None},
    "helper_kill": {"exited_rank", "dead_rank", None},
    "shm_truncate": {"host_resource", "exited_rank", "dead_rank", None},  # dead_rank: SIGBUS
}
HOW_STARTED = {
    "never": {"init_stall"},
    "twice": {"duplicate_rank"},
    "late": {"init_stall", None},
    "wrong_env": {"exited_rank", "version_mismatch"},
}
# The ranks share what these break, or the launcher ends another rank for it: whoever meets it first is right.
EXPLAINED = {
    "nccl-shm-stopped": "the rank was inside the call while it was stopped; others gave up and removed the segment",
    "stopped-is-left-behind": "the rank was inside the call while it was stopped; the others continued without it",
    "nccl-two-ranks-one-gpu": "both ranks that share the GPU refuse it; who exits first is chance",
    "torch-nccl-stuck-cuda-call": "PyTorch's heartbeat monitor ended the rank while it waited for CUDA",
}
SHARED = ("shm_", "launcher_kill")
RESOURCES = ("shm_", "file_", "disk_", "descriptor_", "memory_", "short_")
CALLS = ("missing_call", "call_mismatch", "extra_call")  # only these compare op: a rank may end in any call
QUIET = ("none", "cannot_say")


def kinds_of(fault):
    kind = fault["kind"]
    if kind == "start":
        return HOW_STARTED.get(fault.get("how"), {None})
    if kind in RIGHT:
        return RIGHT[kind]
    if kind.startswith(RESOURCES):
        return {"host_resource", "exited_rank", None}
    return {None}


def victims(plan, fault):
    if fault["kind"].startswith(SHARED):
        return set()
    ranks = {a["rank"] for a in plan["actions"] if a["fault"] == fault["id"] and a["rank"] >= 0}
    return ranks or {r for r in fault.get("ranks", []) if isinstance(r, int)}


def expects_finish(plan):
    return any(one == "finished" or "finished" in one for one in plan["scenario"].get("expect", []))


def blamed(plan):
    """Returns what a scenario with a bug expects of the diagnosis."""
    for one in plan["scenario"].get("expect", []):
        for name in ("blamed", "reported"):
            if isinstance(one, dict) and name in one and one[name].get("kind") not in QUIET:
                return one[name]
    return None


def truth_of(plan):
    """Returns (kinds, ranks, op), or None without a truth. If ranks or op is None, any value is right."""
    if plan["faults_on"] and plan["scenario"].get("faults"):
        kinds, ranks, ops = set(), set(), set()
        for fault in plan["scenario"]["faults"]:
            kinds |= kinds_of(fault)
            ranks |= victims(plan, fault)
            ops.add(fault.get("at", {}).get("op", ""))
        if expects_finish(plan):  # the job handles the fault
            kinds.add(None)
        all_known = all(victims(plan, fault) for fault in plan["scenario"]["faults"])
        return kinds, ranks if all_known else None, ops.pop() if len(ops) == 1 and ops != {"batch"} else None
    said = blamed(plan) if plan["bug_on"] else None
    if not said:
        return None
    choices = said.get("any_of", [said])
    ranks = [one.get("ranks") for one in choices]
    known = all(isinstance(some, list) and some for some in ranks)
    ops = {one.get("op") for one in choices}
    return ({one["kind"] for one in choices}, {r for some in ranks for r in some} if known else None,
            ops.pop() if len(ops) == 1 else None)


def verdict(truth, finding):
    """Returns right, silent, kind (another kind), ranks (none or others) or op (another operation)."""
    kinds, ranks, op = truth
    if finding is None or finding["kind"] in QUIET:
        return "right" if None in kinds else "silent"
    if finding["kind"] not in kinds:
        return "kind"
    if ranks is not None and (not finding["ranks"] or not set(finding["ranks"]) <= ranks):
        return "ranks"
    if op and finding["kind"] in CALLS and finding.get("op") and finding["op"] != op:
        return "op"
    return "right"
