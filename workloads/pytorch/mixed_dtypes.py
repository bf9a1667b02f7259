"""Rank 1 sums its loss in half precision."""
import torch
import torch.distributed as dist

import job


def main(rank):
    model = job.make_model()
    optimizer = job.optimizer_of(model)
    for _ in range(job.STEPS):
        loss = job.train_step(model, optimizer, job.batch()).detach()
        if rank == 1 and not job.CORRECT:
            loss = loss.to(torch.float16)
        dist.all_reduce(loss)  # culprit
    job.end()


job.run(main)
