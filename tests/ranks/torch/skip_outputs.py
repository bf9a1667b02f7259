"""skip_outputs.py: each op twice on a group of one; prints which first calls did not change their output.

Rank 0 also sends to and receives from rank 1, which takes no part: those calls return only if skipped.
"""
import json
import os
from datetime import timedelta

import torch
import torch.distributed as dist

dist.init_process_group("gloo", timeout=timedelta(seconds=10))
rank = dist.get_rank()
solo = [dist.new_group([r]) for r in range(2)][rank]
untouched = {}


def twice(name, call):
    """call(out) must fill out; out starts as -1."""
    outs = []
    for _ in range(2):
        out = torch.full((4,), -1.0)
        call(out)
        outs.append(out.eq(-1).all().item())
    untouched[name] = outs


if rank == 0:
    ones = torch.ones(4)
    twice("all_gather", lambda out: dist.all_gather([out], ones, group=solo))
    twice("gather", lambda out: dist.gather(ones, [out], dst=0, group=solo))
    twice("scatter", lambda out: dist.scatter(out, [ones], src=0, group=solo))
    twice("all_to_all", lambda out: dist.all_to_all_single(out, ones, group=solo))
    if os.environ.get("SKIP_REDUCE_SCATTER"):
        twice("reduce_scatter", lambda out: dist.reduce_scatter_tensor(out, ones, group=solo))
    dist.all_reduce(torch.ones(4), group=solo)  # in place: no output to check, but it must return
    dist.broadcast(torch.ones(4), src=0, group=solo)
    dist.reduce(torch.ones(4), dst=0, group=solo)
    dist.isend(ones, dst=1).wait()
    received = torch.full((4,), -1.0)
    dist.irecv(received, src=1).wait()
    untouched["recv"] = [received.eq(-1).all().item(), False]
    dist.monitored_barrier()  # skipped
dist.barrier()
print(json.dumps({"rank": rank, "untouched": untouched}), flush=True)
dist.destroy_process_group()
