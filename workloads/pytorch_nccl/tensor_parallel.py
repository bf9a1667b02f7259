"""tensor_parallel.py: trains blocks that are split over tensor-parallel ranks and sharded over data-parallel ranks, as torchtitan
does, in PyTorch on its nccl backend, run by torchrun. The script has no code for rankfault or for the double of CUDA.

usage: torchrun --nproc_per_node=4 tensor_parallel.py [--steps=N] [--bug=NAME --by=RANK]
"""
import argparse
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

WIDTH = 32
BUGS = ["other-group", "no-clipping", "raises"]


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--bug", choices=BUGS, help="the mistake of rank --by in step 3")
    parser.add_argument("--by", type=int, default=-1)
    return parser.parse_args()


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(WIDTH, 4 * WIDTH)
        self.down = torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


def parallel_model(mesh, device):
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[Block() for _ in range(2)]).to(device)
    for block in model:
        parallelize_module(block, mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
        fully_shard(block, mesh=mesh["dp"])
    return fully_shard(model, mesh=mesh["dp"])


class Training:
    def __init__(self, options, device):
        self.options = options
        self.device = device
        self.mesh = init_device_mesh("cuda", (dist.get_world_size() // 2, 2), mesh_dim_names=("dp", "tp"))
        self.model = parallel_model(self.mesh, device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def makes(self, bug, step):
        return self.options.bug == bug and self.options.by == dist.get_rank() and step == 3

    def mean_loss(self, loss, step):
        group = self.mesh.get_group("tp" if self.makes("other-group", step) else "dp")
        total = loss.detach().clone()
        dist.all_reduce(total, group=group)
        return total / dist.get_world_size(group)

    def step(self, step):
        self.optimizer.zero_grad()
        loss = self.model(torch.randn(8, WIDTH).to(self.device)).pow(2).mean()
        loss.backward()
        if self.makes("raises", step):
            raise ValueError(f"rank {dist.get_rank()} cannot read its batch")
        if not self.makes("no-clipping", step):
            norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            norm.full_tensor()
        self.optimizer.step()
        loss = self.mean_loss(loss, step)
        if dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)


def main():
    options = parse()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    training = Training(options, device)
    for step in range(1, options.steps + 1):
        training.step(step)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
