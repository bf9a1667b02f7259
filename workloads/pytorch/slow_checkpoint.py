"""Rank 0 writes a checkpoint for half a minute while the others wait in the next step. This job is correct."""
import os
import tempfile
import time

import torch

import job


def save(model, seconds):
    with tempfile.NamedTemporaryFile() as file:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            torch.save(model.state_dict(), file)
            os.fsync(file.fileno())
            file.seek(0)


def main(rank):
    model = job.make_model()
    optimizer = job.optimizer_of(model)
    for step in range(job.STEPS):
        job.train_step(model, optimizer, job.batch())
        if rank == 0 and step == 3:
            save(model, 1 if job.CORRECT else 30)
    job.end()


job.run(main)
