"""c10d_collectives: blocking and pending collectives, uneven ones, and those of objects."""
import importlib.util
import time

import torch
import torch.distributed as dist


def one_collective(w, group=None):
    rank, size, ranks = dist.get_rank(group), dist.get_world_size(group), dist.get_process_group_ranks(group or dist.group.WORLD)
    root = w.common.randrange(size)
    one = torch.tensor([float(rank + 1)])
    many = [torch.zeros(1) for _ in range(size)]
    expected = [float(r + 1) for r in range(size)]
    kind = w.common.randrange(8)
    if kind == 0:
        dist.barrier(group)
    elif kind == 1:
        value = torch.tensor([17 if rank == root else 0])
        dist.broadcast(value, ranks[root], group)
        w.check(value.item() == 17, "broadcast")
    elif kind == 2:
        dist.all_reduce(one, group=group)
        w.check(one.item() == sum(expected), "all_reduce")
    elif kind == 3:
        dist.reduce(one, ranks[root], dist.ReduceOp.MAX, group)
        w.check(rank != root or one.item() == size, "reduce")
    elif kind == 4:
        dist.all_gather(many, one, group)
        w.check([m.item() for m in many] == expected, "all_gather")
    elif kind == 5:
        dist.gather(one, many if rank == root else None, ranks[root], group)
        w.check(rank != root or [m.item() for m in many] == expected, "gather")
    elif kind == 6:
        dist.scatter(one, [torch.tensor([5.0 + r]) for r in range(size)] if rank == root else None, ranks[root], group)
        w.check(one.item() == 5 + rank, "scatter")
    else:
        out = torch.zeros(size)
        dist.all_to_all_single(out, torch.arange(size) + 100.0 * rank, group=group)
        w.check(out.tolist() == [100.0 * r + rank for r in range(size)], "all_to_all")


def collectives(w):
    for _ in range(1 + w.common.randrange(6)):
        w.pause_sometimes()
        one_collective(w)


def pending_collectives(w):
    """All ranks start them in one order; each rank waits for them in another."""
    values = [torch.tensor([float(w.rank + i)]) for i in range(1 + w.common.randrange(5))]
    works = [dist.all_reduce(v, dist.ReduceOp.MAX, async_op=True) for v in values]
    order = list(range(len(works)))
    w.own.shuffle(order)
    for i in order:
        works[i].wait()
        w.check(values[i].item() == w.size - 1 + i, "a pending all_reduce")


def polled(w):
    work = dist.barrier(async_op=True)
    w.pause_sometimes()
    while not work.is_completed():
        time.sleep(0.0001)
    work.wait()


def uneven(w):
    """Rank r gives r + 1 numbers to each: counts differ by design."""
    mine = torch.full(((w.rank + 1) * w.size,), float(w.rank))
    counts = [r + 1 for r in range(w.size)]
    out = torch.zeros(sum(counts))
    dist.all_to_all_single(out, mine, counts, [w.rank + 1] * w.size)
    w.check(out.tolist() == [float(r) for r in range(w.size) for _ in range(r + 1)], "all_to_all of uneven parts")


def scattered(w):
    out = torch.zeros(2)
    dist.reduce_scatter_tensor(out, torch.ones(2 * w.size))
    w.check(out.tolist() == [w.size] * 2, "reduce_scatter")
    whole = torch.zeros(2 * w.size)
    dist.all_gather_into_tensor(whole, out)
    w.check(whole.sum().item() == 2 * w.size * w.size, "all_gather_into_tensor")


def objects(w):
    all_of_them = [None] * w.size
    dist.all_gather_object(all_of_them, {"rank": w.rank, "text": "x" * (w.rank + 1)})
    w.check([len(o["text"]) for o in all_of_them] == list(range(1, w.size + 1)), "all_gather_object")
    told = ["word" if w.rank == 0 else None]
    dist.broadcast_object_list(told, 0)
    w.check(told == ["word"], "broadcast_object_list")


FEATURES = {collectives: 8, pending_collectives: 6, polled: 3, uneven: 3, scattered: 3}
if importlib.util.find_spec("numpy"):
    FEATURES[objects] = 3
