"""Rank 0 evaluates alone, and its evaluation sums over all ranks."""
import torch
import torch.distributed as dist

import job


def evaluate(model):
    with torch.no_grad():
        loss = job.loss_of(model.module, job.batch())
    dist.all_reduce(loss)  # culprit
    return loss / dist.get_world_size()


def main(rank):
    model = job.make_model()
    optimizer = job.optimizer_of(model)
    for _ in range(job.STEPS):
        job.train_step(model, optimizer, job.batch())
    if rank == 0 or job.CORRECT:
        evaluate(model)
    for _ in range(job.STEPS):
        job.train_step(model, optimizer, job.batch())
    job.end()


job.run(main)
