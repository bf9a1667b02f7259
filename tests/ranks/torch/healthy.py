"""healthy.py: correct DDP jobs in which ranks wait for long. They must not be called hung.

usage: torchrun healthy.py --how evaluation|checkpoint|joined|first_step [--ms N]
"""
import argparse
import gc
import os
import tempfile
import time

import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel


def compute(ms):
    until = time.monotonic() + ms / 1000
    while time.monotonic() < until:
        torch.ones(64, 64) @ torch.ones(64, 64)


def save(model, ms):
    with tempfile.TemporaryDirectory() as folder:
        torch.save(model.state_dict(), os.path.join(folder, "checkpoint"))
        time.sleep(ms / 1000)


def step(model, optimizer):
    optimizer.zero_grad()
    model(torch.ones(4, 8)).sum().backward()
    optimizer.step()


def train(model, optimizer, options):
    first = dist.get_rank() == 0
    if options.how == "first_step":
        compute(options.ms * dist.get_rank() / dist.get_world_size())
    for number in range(4):
        step(model, optimizer)
        if number % 2 and first and options.how == "evaluation":
            compute(options.ms)
        if number % 2 and first and options.how == "checkpoint":
            save(model, options.ms)


def train_uneven(model, optimizer, options):
    with Join([model]):
        for _ in range(2 if dist.get_rank() else 8):
            compute(options.ms / 8)
            step(model, optimizer)


def run(options):
    model = DistributedDataParallel(torch.nn.Linear(8, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    (train_uneven if options.how == "joined" else train)(model, optimizer, options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--how", default="evaluation")
    parser.add_argument("--ms", type=int, default=1000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    run(options)
    gc.collect()  # workers of Gloo must not outlive the interpreter
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
