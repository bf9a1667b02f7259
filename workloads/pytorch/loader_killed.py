"""Something kills a worker of rank 1's data loader, as the out-of-memory killer does."""
import os
import signal

import torch

import job


def main(rank):
    model = job.make_model()
    optimizer = job.optimizer_of(model)
    loader = torch.utils.data.DataLoader(torch.randint(0, 50, (80, 8)), batch_size=2, num_workers=2)
    batches = iter(loader)
    for step in range(40):
        if rank == 1 and step == 3 and not job.CORRECT:
            os.kill(batches._workers[0].pid, signal.SIGKILL)
        job.train_step(model, optimizer, next(batches))  # culprit
    job.end()


job.run(main)
