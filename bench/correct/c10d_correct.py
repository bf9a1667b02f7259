#!/usr/bin/env python3
"""c10d_correct: a correct torch.distributed program over Gloo made from a seed: a row of features, alike on all ranks.

usage: c10d_correct.py SEED RANKS [STEPS [FEATURE]]

It starts its ranks itself, with torch.multiprocessing. Rank 0 prints what was used and a sum over all checked results; both
depend on seed and number of ranks alone.
"""
import collections
import datetime
import importlib.util
import os
import random
import sys
import tempfile
import threading
import time
import zlib

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import c10d_messages
import c10d_processes


class World:
    """`common` gives every rank the same numbers, `own` each rank its own."""

    def __init__(self, seed, rank, size, folder):
        self.rank, self.size, self.folder = rank, size, folder
        self.common, self.own = random.Random(seed), random.Random(seed * 1000003 + rank)
        self.sum, self.made = 0, 0

    def check(self, holds, what):
        self.sum = zlib.crc32(b"%d %d" % (self.sum, bool(holds)))
        if not holds:
            raise AssertionError(f"rank {self.rank}: wrong result of {what}")

    def pause_sometimes(self):
        if self.own.random() < 0.25:
            time.sleep(self.own.random() * 0.004)

    def start(self):
        """The default group, made anew under a store of its own each time."""
        self.made += 1
        store = dist.FileStore(f"{self.folder}/store{self.made}", self.size)
        dist.init_process_group("gloo", store=store, rank=self.rank, world_size=self.size,
                                timeout=datetime.timedelta(seconds=60))


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
    """Started in one order by all, waited for in another by each."""
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


def parts(w):
    """All ranks make a group of some of them; the members use it and free it."""
    members = sorted(w.common.sample(range(w.size), 1 + w.common.randrange(w.size)))
    group = dist.new_group(members)
    draws = w.common.getstate()
    if w.rank in members:
        for _ in range(3):
            one_collective(w, group)
        dist.destroy_process_group(group)
    w.common.setstate(draws)


def many_groups(w):
    for _ in range(10):
        group = dist.new_group()
        one_collective(w, group)
        dist.destroy_process_group(group)


def group_of_its_members(w):
    """Only the members take part when the group is made."""
    low = w.rank < w.size // 2
    members = list(range(w.size // 2)) if low else list(range(w.size // 2, w.size))
    group = dist.new_group(members, use_local_synchronization=True)
    draws = w.common.getstate()
    one_collective(w, group)
    w.common.setstate(draws)


def again(w):
    """The default group is destroyed and made anew."""
    dist.barrier()
    dist.destroy_process_group()
    w.start()
    one_collective(w)


def threads(w):
    """Two threads, each on a group of its own."""
    groups, results = [dist.new_group() for _ in range(2)], [True, True]
    steps = [1 + w.common.randrange(10) for _ in groups]

    def sums(lane):
        for _ in range(steps[lane]):
            one = torch.ones(1)
            dist.all_reduce(one, group=groups[lane])
            results[lane] &= one.item() == w.size

    second = threading.Thread(target=sums, args=(1,))
    second.start()
    sums(0)
    second.join()
    w.check(all(results), "two threads")


def long_pause(w):
    if w.rank == w.common.randrange(w.size):
        time.sleep(0.3)
    dist.barrier()


FEATURES = {collectives: 8, pending_collectives: 6, polled: 3, uneven: 3, scattered: 3, parts: 4, many_groups: 1,
            **({objects: 3} if importlib.util.find_spec("numpy") else {}), group_of_its_members: 2, again: 2, threads: 3, long_pause: 1, **c10d_messages.FEATURES, **c10d_processes.FEATURES}


def rank_main(rank, seed, size, steps, only, folder):
    torch.set_num_threads(1)
    w = World(seed, rank, size, folder)
    w.start()
    used = collections.Counter()
    names = {f.__name__: f for f in FEATURES}
    for _ in range(steps):
        feature = names[only] if only else w.common.choices(list(FEATURES), list(FEATURES.values()))[0]
        if os.environ.get("CORRECT_VERBOSE"):
            print(f"rank {rank}: {feature.__name__}", file=sys.stderr, flush=True)
        feature(w)
        used[feature.__name__] += 1
    total = torch.tensor([w.sum])
    dist.all_reduce(total)
    if rank == 0:
        lines = [f"seed {seed}", *(f"used {name} {count}" for name, count in sorted(used.items())), f"sum {total.item()}"]
        print("\n".join(lines), flush=True)
    dist.destroy_process_group()


def main():
    seed, size = int(sys.argv[1]), int(sys.argv[2])
    steps, only = int(sys.argv[3]) if len(sys.argv) > 3 else 30, sys.argv[4] if len(sys.argv) > 4 else None
    how = "spawn" if seed % 8 == 0 else "fork"  # to spawn takes an import of torch in each rank
    with tempfile.TemporaryDirectory(prefix="c10d-correct-") as folder:
        mp.start_processes(rank_main, (seed, size, steps, only, folder), size, start_method=how)


if __name__ == "__main__":
    main()
