"""Rank 1 wraps the blocks of its model in another order, so its shards come in another order."""
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import job


class Model(torch.nn.Module):
    def __init__(self, swapped):
        super().__init__()
        self.small, self.large = torch.nn.Linear(16, 16), torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Linear(64, 16))
        self.swapped = swapped

    def forward(self, x):
        return self.small(self.large(x)) if self.swapped else self.large(self.small(x))


def main(rank):
    model = Model(rank == 1 and not job.CORRECT)
    mesh = init_device_mesh("cpu", (torch.distributed.get_world_size(),))
    for block in (model.small, model.large, model):
        fully_shard(block, mesh=mesh)
    optimizer = job.optimizer_of(model)
    for _ in range(job.STEPS):
        optimizer.zero_grad()
        model(torch.randn(4, 16)).sum().backward()  # culprit
        optimizer.step()
    job.end()


job.run(main)
