"""mixed_precision.py: data-parallel training with gradient accumulation, autocast and a gradient scaler in PyTorch on its nccl
backend, run by torchrun. The script has no code for rankfault or for the double of CUDA.

usage: torchrun --nproc_per_node=3 mixed_precision.py [--steps=N] [--bug=NAME --by=RANK]
"""
import argparse
import contextlib
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

PARTS = 3  # micro-batches of a step
BUGS = ["sums-each-part", "data-ends", "raises", "barrier"]


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--bug", choices=BUGS, help="the mistake of rank --by in step 3")
    parser.add_argument("--by", type=int, default=-1)
    return parser.parse_args()


class Training:
    def __init__(self, options, device):
        self.options = options
        self.device = device
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)).to(device)
        self.model = DistributedDataParallel(model, device_ids=[device.index])
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.scaler = torch.amp.GradScaler("cuda")

    def makes(self, bug, step):
        return self.options.bug == bug and self.options.by == dist.get_rank() and step == 3

    def part(self, step, last):
        """One micro-batch. Only the last one of a step sums the gradients."""
        with contextlib.nullcontext() if last or self.makes("sums-each-part", step) else self.model.no_sync():
            inputs, targets = torch.randn(32, 16).to(self.device), torch.randn(32, 4).to(self.device)
            with torch.autocast("cuda", dtype=torch.float16):
                loss = torch.nn.functional.mse_loss(self.model(inputs), targets) / PARTS
            self.scaler.scale(loss).backward()
        return loss.detach()

    def step(self, step):
        if self.makes("raises", step):
            raise ValueError(f"rank {dist.get_rank()} cannot read its batch")
        self.optimizer.zero_grad()
        parts = [self.part(step, number == PARTS) for number in range(1, PARTS + 1)]
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        if self.makes("barrier", step):
            dist.barrier()
        return torch.stack(parts).sum()

    def train(self):
        for step in range(1, self.options.steps + 1):
            if self.makes("data-ends", step):
                break
            loss = self.step(step)
            if dist.get_rank() == 0:
                print(f"step {step} loss {loss.item():.4f}", flush=True)
        result = torch.tensor([float(self.options.steps)]).to(self.device)
        dist.all_reduce(result)


def main():
    options = parse()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    Training(options, device).train()
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
