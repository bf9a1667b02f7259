"""ddp.py: ordinary data-parallel training in PyTorch on its nccl backend, run by torchrun. The script has no code for
rankfault or for the double of CUDA.

usage: torchrun --nproc_per_node=2 ddp.py [--steps=N] [--timeout=SECONDS] [--lazy] [--left-out-by=RANK]
"""
import argparse
import datetime
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--timeout", type=float, default=600.0, help="of a collective, in seconds")
    parser.add_argument("--lazy", action="store_true", help="make the communicator at the first collective")
    parser.add_argument("--left-out-by", type=int, default=-1, help="a rank that leaves out the sum of step 3")
    return parser.parse_args()


def mean_loss(loss):
    total = loss.detach().clone()
    dist.all_reduce(total)
    return total / dist.get_world_size()


def train(device, steps, left_out):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)).to(device)
    model = DistributedDataParallel(model, device_ids=[device.index])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(1, steps + 1):
        inputs, targets = torch.randn(32, 16).to(device), torch.randn(32, 4).to(device)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        if not (left_out and step == 3):
            loss = mean_loss(loss)
        if dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)


def main():
    options = parse()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    timeout = datetime.timedelta(seconds=options.timeout)
    dist.init_process_group("nccl", timeout=timeout, device_id=None if options.lazy else device)
    train(device, options.steps, options.left_out_by == dist.get_rank())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
