"""Rank 1 accumulates gradients for one step more than the others."""
import contextlib

import job


def main(rank):
    model = job.make_model()
    optimizer = job.optimizer_of(model)
    for step in range(job.STEPS):
        optimizer.zero_grad()
        alone = rank == 1 and step == 3 and not job.CORRECT
        with model.no_sync() if alone else contextlib.nullcontext():
            job.loss_of(model, job.batch()).backward()  # culprit
        optimizer.step()
    job.end()


job.run(main)
