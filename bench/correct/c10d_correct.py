#!/usr/bin/env python3
"""c10d_correct: makes correct torch.distributed programs over Gloo from seeds.

Each program is a sequence of features, the same on all ranks.

usage: c10d_correct.py SEED RANKS [PROGRAMS [STEPS [FEATURE]]]

The programs have the seeds SEED, SEED + 1 ... and run in one job, one after the other, each in a default
group of its own. The job starts its ranks itself, with torch.multiprocessing. Rank 0 prints the features that
each program used, and a sum over its checked results. Both depend only on the arguments.
"""
import collections
import datetime
import os
import random
import sys
import tempfile
import time
import zlib

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import c10d_collectives
import c10d_groups
import c10d_messages
import c10d_processes


class World:
    """`common` gives every rank the same numbers, `own` gives each rank different ones."""

    def __init__(self, rank, size, folder):
        self.rank, self.size, self.folder = rank, size, folder
        self.made = 0

    def new_file(self, name):
        """Returns a path that no earlier store has: a store that is destroyed removes its file."""
        self.made += 1
        return f"{self.folder}/{name}{self.made}"

    def begin(self, seed):
        self.common, self.own = random.Random(seed), random.Random(seed * 1000003 + self.rank)
        self.sum = 0

    def check(self, holds, what):
        self.sum = zlib.crc32(b"%d %d" % (self.sum, bool(holds)))
        if not holds:
            raise AssertionError(f"rank {self.rank}: wrong result of {what}")

    def pause_sometimes(self):
        if self.own.random() < 0.25:
            time.sleep(self.own.random() * 0.004)

    def start(self):
        """Makes the default group, each time with a new store."""
        store = dist.FileStore(self.new_file("store"), self.size)
        dist.init_process_group("gloo", store=store, rank=self.rank, world_size=self.size,
                                timeout=datetime.timedelta(seconds=60))


def long_pause(w):
    if w.rank == w.common.randrange(w.size):
        time.sleep(0.3)
    dist.barrier()


FEATURES = {long_pause: 1, **c10d_collectives.FEATURES, **c10d_groups.FEATURES, **c10d_messages.FEATURES,
            **c10d_processes.FEATURES}


def run_program(w, seed, steps, only):
    w.begin(seed)
    w.start()
    used = collections.Counter()
    names = {f.__name__: f for f in FEATURES}
    for _ in range(steps):
        feature = names[only] if only else w.common.choices(list(FEATURES), list(FEATURES.values()))[0]
        if os.environ.get("CORRECT_VERBOSE"):
            print(f"rank {w.rank}: {feature.__name__}", file=sys.stderr, flush=True)
        feature(w)
        used[feature.__name__] += 1
    total = torch.tensor([w.sum])
    dist.all_reduce(total)
    if w.rank == 0:
        lines = [f"seed {seed}", *(f"used {name} {count}" for name, count in sorted(used.items())), f"sum {total.item()}"]
        print("\n".join(lines), flush=True)
    dist.destroy_process_group()


def rank_main(rank, seed, size, programs, steps, only, folder):
    torch.set_num_threads(1)
    w = World(rank, size, folder)
    for number in range(programs):
        run_program(w, seed + number, steps, only)


def main():
    seed, size, *more = sys.argv[1:]
    programs, steps, only = (int(more[0]) if more else 1), (int(more[1]) if len(more) > 1 else 10), (more[2:] or [None])[0]
    how = "spawn" if int(seed) % 8 == 0 else "fork"  # spawn imports torch in each rank
    with tempfile.TemporaryDirectory(prefix="c10d-correct-") as folder:
        mp.start_processes(rank_main, (int(seed), int(size), programs, steps, only, folder), int(size), start_method=how)


if __name__ == "__main__":
    main()
