"""collectives.py: every collective of PyTorch's nccl backend, with the values that it must give. All tensors are filled
on the host, because kernels compute nothing over the double of CUDA.

usage: torchrun --nproc_per_node=N collectives.py [--lazy]; exits with 1 if a value is wrong
"""
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
TYPES = FLOATS + (torch.int32, torch.int64, torch.uint8, torch.int8)
LENGTH = 5

checks, wrong = 0, []


def on_device(*values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype).cuda()


def filled(value, dtype=torch.float32):
    return on_device(*[value] * LENGTH, dtype=dtype)


def expect(what, tensor, *values):
    global checks
    torch.cuda.synchronize()
    checks += 1
    got = tensor.cpu().double().tolist()
    if got != [float(value) for value in values]:
        wrong.append(f"{what}: {got} instead of {values}")


def reductions(rank, ranks):
    numbers = range(1, ranks + 1)
    product = 1
    for number in numbers:
        product *= number
    results = {ReduceOp.SUM: sum(numbers), ReduceOp.PRODUCT: product, ReduceOp.MIN: 1, ReduceOp.MAX: ranks,
               ReduceOp.AVG: sum(numbers) / ranks}
    for dtype in TYPES:
        for op, result in results.items():
            if op == ReduceOp.AVG and dtype not in FLOATS:
                continue
            tensor = filled(rank + 1, dtype)
            dist.all_reduce(tensor, op)
            expect(f"all_reduce {op} of {dtype}", tensor, *[result] * LENGTH)
    tensor = filled(rank + 1)
    dist.reduce(tensor, dst=1)
    expect("reduce", tensor, *[sum(numbers) if rank == 1 else rank + 1] * LENGTH)
    out = filled(0)
    dist.reduce_scatter_tensor(out, on_device(*[rank + i // LENGTH for i in range(ranks * LENGTH)]))
    expect("reduce_scatter", out, *[sum(other + rank for other in range(ranks))] * LENGTH)


def copies(rank, ranks):
    tensor = filled(rank)
    dist.broadcast(tensor, src=1)
    expect("broadcast", tensor, *[1] * LENGTH)
    out = on_device(*[-1] * ranks)
    dist.all_gather_into_tensor(out, on_device(rank))
    expect("all_gather", out, *range(ranks))
    outs = [on_device(-1) for _ in range(ranks)]
    dist.all_gather(outs, on_device(rank))
    expect("all_gather into a list", torch.cat([out.cpu() for out in outs]), *range(ranks))
    dist.all_to_all_single(out, on_device(*[10 * rank + to for to in range(ranks)]))
    expect("all_to_all", out, *[10 * other + rank for other in range(ranks)])
    part = on_device(-1)
    dist.scatter(part, [on_device(7 + to) for to in range(ranks)] if rank == 0 else None, src=0)
    expect("scatter", part, 7 + rank)
    gathered = [on_device(-1) for _ in range(ranks)] if rank == 0 else None
    dist.gather(on_device(rank), gathered, dst=0)
    if rank == 0:
        expect("gather", torch.cat([one.cpu() for one in gathered]), *range(ranks))
    words = [None] * ranks
    dist.all_gather_object(words, f"rank {rank}")
    if words != [f"rank {other}" for other in range(ranks)]:
        wrong.append(f"all_gather_object: {words}")


def messages(rank, ranks):
    received = on_device(-1)
    ring = [dist.P2POp(dist.isend, on_device(rank), (rank + 1) % ranks), dist.P2POp(dist.irecv, received, (rank - 1) % ranks)]
    for work in dist.batch_isend_irecv(ring):
        work.wait()
    expect("ring of messages", received, (rank - 1) % ranks)
    if rank == 0:
        dist.send(on_device(42), dst=1)
    if rank == 1:
        dist.recv(received, src=0)
        expect("message", received, 42)


def groups(rank, ranks):
    pair = dist.new_group([0, 1])
    if rank < 2:
        tensor = filled(rank + 1)
        dist.all_reduce(tensor, group=pair)
        expect("all_reduce in a group", tensor, *[3] * LENGTH)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        tensor = filled(1)
        dist.all_reduce(tensor, async_op=True).wait()
        expect("all_reduce on another stream", tensor, *[ranks] * LENGTH)


def main():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=None if "--lazy" in sys.argv else device)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for part in (reductions, copies, messages, groups):
        part(rank, ranks)
    dist.barrier()
    dist.destroy_process_group()
    print(f"rank {rank}: {checks} checks, {len(wrong)} wrong", *wrong, sep="\n  ", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
