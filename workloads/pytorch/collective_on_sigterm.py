"""SIGTERM reaches rank 1 alone. Its handler wants to save what all ranks have, in the middle of a step."""
import os
import signal

import torch
import torch.distributed as dist

import job


def save_and_leave(*_):
    dist.all_reduce(torch.ones(1))  # culprit
    raise SystemExit(0)


def main(rank):
    signal.signal(signal.SIGTERM, save_and_leave)
    model = job.make_model()
    optimizer = job.optimizer_of(model)
    for step in range(job.STEPS):
        if rank == 1 and step == 3 and not job.CORRECT:
            os.kill(os.getpid(), signal.SIGTERM)
        job.train_step(model, optimizer, job.batch())
    job.end()


job.run(main)
