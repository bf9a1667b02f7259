"""Only the members make the group, but new_group() is a call of all ranks."""
import torch
import torch.distributed as dist

import job


def main():
    rank = job.start()
    if rank != 1 or job.CORRECT:
        group = dist.new_group([0, 2])  # culprit
        if rank in (0, 2):
            dist.all_reduce(torch.ones(1), group=group)
    job.end()


main()
