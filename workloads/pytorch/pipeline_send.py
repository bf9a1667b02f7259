"""A pipeline of all ranks. Rank 1 leaves out one send."""
import torch
import torch.distributed as dist

import job


def main(rank):
    last = dist.get_world_size() - 1
    layer = torch.nn.Linear(8, 8)
    for step in range(job.STEPS):
        x = torch.ones(2, 8)
        if rank > 0:
            dist.recv(x, src=rank - 1)
        y = layer(x).detach()
        if rank < last and not (rank == 1 and step == 3 and not job.CORRECT):
            dist.send(y, dst=rank + 1)  # culprit
    job.end()


job.run(main)
