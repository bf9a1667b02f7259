"""gpu_page: writes the page of gpu_bench.py."""

HEAD = """# On a GPU, and over the double of CUDA

Written by `./dev bench gpu` (`bench/gpu/gpu_bench.py`), on a machine with a GPU.

{date}: {gpu}, {cores} cores, NCCL {nccl}, PyTorch {torch}. All ranks share the one GPU. Each has an `NCCL_HOSTID` of its own, so
NCCL takes them for ranks of several hosts, connects them by sockets, and their kernels take turns on the GPU.

"""
WAYS = {"8B-waited": "8 bytes, a wait after each call", "8B-queued": "8 bytes, 200 calls queued",
        "4MB-waited": "4 MiB, a wait after each call", "4MB-queued": "4 MiB, 20 calls queued",
        "one step": "a training step"}


def scenario_table(seen):
    out = "## Scenarios\n\nThe same files of `scenarios/nccl`, over the double and with `--cuda machine`.\n\n"
    out += "| scenario | over the double | on the GPU | what differs |\n|---|---|---|---|\n"
    for name, (verdict, cause, why) in sorted(seen["scenarios"].items()):
        double = seen.get("double", {}).get(name, ("not run", "", ""))
        differs = why if verdict != double[0] or verdict == "unknown" else "" if cause == double[1] else "the first finding"
        out += f"| {name} | {double[0]}; {double[1]} | {verdict}; {cause} | {differs} |\n"
    return out + "\n"


def torch_table(seen):
    out = "## PyTorch's nccl backend\n\n`rankfault watch -- torchrun ... bench/gpu/train.py --bug BUG`, 3 ranks; rank 1 has the bug in step 10.\n\n"
    out += "| bug | exit of watch | findings, the first cause first |\n|---|---|---|\n"
    for bug, status, found, same in seen["torch"]:
        note = {True: "; every loss as without rankfault", False: "; LOSSES DIFFER", None: ""}[same]
        out += f"| {bug} | {status} | {'<br>'.join(found)}{note} |\n"
    return out + "\n"


def cost_table(seen):
    out = "## Cost\n\nThe median of interleaved runs without and with rankfault (`nccl_loop`: the agent alone; `train.py`: `rankfault watch`).\n\n"
    out += "| job | call | without | with | ratio, median (lowest to highest) |\n|---|---|---|---|---|\n"
    for job in ("one rank", "two ranks", "train.py"):
        rows = seen.get(job)
        if not isinstance(rows, dict):
            continue
        for way, (without, with_it, ratio, low, high) in rows.items():
            out += f"| {job} | {WAYS[way]} | {without:.2f} us | {with_it:.2f} us | {ratio:.3f} ({low:.3f} to {high:.3f}) |\n"
    return out + "\nWith one rank, an all-reduce in place does nothing: its row is the cost of a call alone.\n"


def write(seen, page):
    """Writes the tables of the parts that have run."""
    text = HEAD.format(**seen["machine"])
    for part, table in (("scenarios", scenario_table), ("torch", torch_table), ("one rank", cost_table)):
        if isinstance(seen.get(part), (dict, list)):
            text += table(seen)
    with open(page, "w") as out:
        out.write(text)
