"""Rank 1 finds its cache filled, and does not wait for the rank that fills it."""
import torch.distributed as dist

import job


def prepare(is_cached):
    if not is_cached:
        dist.barrier()  # culprit


def main(rank):
    model = job.make_model()
    optimizer = job.optimizer_of(model)
    prepare(is_cached=rank == 1 and not job.CORRECT)
    for _ in range(job.STEPS):
        job.train_step(model, optimizer, job.batch())
    job.end()


job.run(main)
