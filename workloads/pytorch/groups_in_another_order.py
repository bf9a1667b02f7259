"""Ranks 0 and 1 are in two groups, and rank 1 uses them in another order."""
import torch
import torch.distributed as dist

import job


def main(rank):
    of_losses, of_norms = dist.new_group([0, 1]), dist.new_group([0, 1])
    if rank < 2:
        loss, norm = torch.ones(1), torch.ones(1)
        if rank == 0 or job.CORRECT:
            dist.all_reduce(loss, group=of_losses)
            dist.all_reduce(norm, group=of_norms)
        else:
            dist.all_reduce(norm, group=of_norms)  # culprit
            dist.all_reduce(loss, group=of_losses)
    job.end()


job.run(main)
