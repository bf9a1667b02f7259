"""ddp.py: ordinary data-parallel training in PyTorch on Gloo, run by torchrun.

usage: torchrun --nproc_per_node=4 ddp.py [--steps=N] [--timeout=SECONDS] [--swallow-errors]
"""
import argparse
import datetime
import gc
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--timeout", type=float, default=2.0, help="of a collective, in seconds")
    parser.add_argument("--swallow-errors", action="store_true", help="log a failed step and go on")
    return parser.parse_args()


def train(steps, swallow_errors):
    rank = dist.get_rank()
    torch.manual_seed(1)
    model = DistributedDataParallel(
        torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.Generator().manual_seed(100 + rank)
    for step in range(1, steps + 1):
        inputs = torch.randn(32, 16, generator=data)
        labels = torch.randint(0, 4, (32,), generator=data)
        optimizer.zero_grad()
        try:
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            loss.backward()
        except RuntimeError as error:
            if not swallow_errors:
                raise
            print(f"rank {rank} step {step} failed: {error}", flush=True)
            continue
        optimizer.step()
        print(f"rank {rank} step {step} loss {loss.item():.4f}", flush=True)
    if not swallow_errors:
        dist.barrier()
    checksum = sum(p.detach().double().sum().item() for p in model.parameters())
    if rank == 0:
        print(f"done: {steps} steps, parameters sum to {checksum:.12f}", flush=True)


def main():
    options = parse()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=options.timeout))
    train(options.steps, options.swallow_errors)
    gc.collect()  # workers of Gloo must not outlive the interpreter
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
