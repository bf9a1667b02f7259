"""c10d_groups: makes, uses and destroys groups; remakes the default group; uses a group for each thread."""
import threading

import torch
import torch.distributed as dist

from c10d_collectives import one_collective


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
    """Destroys the default group and makes it again."""
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


FEATURES = {parts: 4, many_groups: 1, group_of_its_members: 2, again: 2, threads: 3}
