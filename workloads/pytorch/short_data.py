"""The data of rank 1 has a batch less, and all ranks meet after their own last batch."""
import torch

import job


def main(rank):
    model = job.make_model()
    optimizer = job.optimizer_of(model)
    samples = 10 if rank == 1 and not job.CORRECT else 12
    loader = torch.utils.data.DataLoader(torch.randint(0, 50, (samples, 8)), batch_size=2)
    for tokens in loader:
        job.train_step(model, optimizer, tokens)
    job.end()  # culprit


job.run(main)
