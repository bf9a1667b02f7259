"""all_ops.py: counts every collective that torch.distributed offers on Gloo, on two groups, async and not."""
import collections
import gc
import json
import os
from datetime import timedelta

import torch
import torch.distributed as dist

dist.init_process_group("gloo", timeout=timedelta(seconds=float(os.environ.get("RANK_TIMEOUT", "30"))))
rank, size = dist.get_rank(), dist.get_world_size()
low = dist.new_group(list(range(2)))  # collective over the world, used by its members only
counts = collections.Counter()
OF_2 = not torch.__version__.startswith("1.")  # the Gloo of PyTorch 1.13 lacks the forms with one tensor


def count(op, comm="world"):
    counts[f"{op}.{comm}"] += 1


def vector(n, value=None):
    return torch.full((n,), float(rank if value is None else value))


def once():
    count("all_reduce")
    dist.all_reduce(vector(3))
    count("all_reduce")
    work = dist.all_reduce(vector(4), op=dist.ReduceOp.MAX, async_op=True)
    count("broadcast")
    second = dist.broadcast(vector(5), src=size - 1, async_op=True)
    work.wait()
    second.wait()
    count("reduce")
    dist.reduce(vector(6), dst=0)
    count("all_gather")
    dist.all_gather([vector(7) for _ in range(size)], vector(7))
    if OF_2:
        count("all_gather")
        dist.all_gather_into_tensor(torch.zeros(8 * size), vector(8))
    count("gather")
    dist.gather(vector(9), [vector(9) for _ in range(size)] if rank == 0 else None, dst=0)
    count("scatter")
    dist.scatter(vector(10), [vector(10, r) for r in range(size)] if rank == 0 else None, src=0)
    if OF_2:
        count("reduce_scatter")
        out = torch.zeros(2)
        dist.reduce_scatter_tensor(out, torch.ones(2 * size))
        assert out.tolist() == [float(size)] * 2, out
    count("all_to_all")
    dist.all_to_all_single(torch.zeros(size), torch.arange(size, dtype=torch.float32))
    count("barrier")
    dist.barrier()
    count("barrier")
    dist.monitored_barrier()
    right, left = (rank + 1) % size, (rank - 1) % size
    count("send")
    sent = dist.isend(vector(11), dst=right, tag=7)
    count("recv")
    dist.recv(vector(11), src=left, tag=7)
    sent.wait()
    if rank < 2:
        count("all_reduce", "low")
        dist.all_reduce(vector(12), group=low)


for _ in range(int(os.environ.get("RANK_STEPS", "3"))):
    once()
dist.barrier()
count("barrier")
print(json.dumps({"rank": rank, "counts": counts}), flush=True)
gc.collect()
dist.destroy_process_group()
