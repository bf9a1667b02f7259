"""fsdp.py: trains a small network with PyTorch's FSDP2 on its nccl backend, run by torchrun. The script has no code for
rankfault or for the double of CUDA.

usage: torchrun --nproc_per_node=2 fsdp.py [--steps=N] [--timeout=SECONDS]
"""
import argparse
import datetime
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=600.0, help="of a collective, in seconds")
    return parser.parse_args()


def sharded_model(device):
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(3)]).to(device)
    for layer in model:
        fully_shard(layer)
    return fully_shard(model)


def main():
    options = parse()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=options.timeout), device_id=device)
    model = sharded_model(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(1, options.steps + 1):
        optimizer.zero_grad()
        loss = model(torch.randn(8, 64).to(device)).pow(2).mean()
        loss.backward()
        optimizer.step()
        if dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
