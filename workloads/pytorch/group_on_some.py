"""Only its members make a group. The names of later groups then differ between the ranks."""
import torch
import torch.distributed as dist

import job


def main(rank):
    if rank != 1 or job.CORRECT:
        dist.new_group([0, 2])  # culprit
    group = dist.new_group([0, 1, 2])
    if rank in (0, 1, 2):
        dist.all_reduce(torch.ones(1), group=group)
    job.end()


job.run(main)
