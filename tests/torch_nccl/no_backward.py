"""no_backward.py: data-parallel training with two gradient buckets, in which one rank may leave out a backward pass.

usage: torchrun --nproc_per_node=2 no_backward.py [RANK]
"""
import datetime
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(device, left_out):
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[torch.nn.Linear(300, 300) for _ in range(2)]).to(device)
    model = DistributedDataParallel(model, device_ids=[device.index], bucket_cap_mb=0.3)
    for step in range(1, 6):
        loss = model(torch.ones(4, 300, device=device)).sum()
        if not (left_out and step == 4):
            loss.backward()  # the line that the finding names
        total = loss.detach().clone()
        dist.all_reduce(total)
        print(f"step {step} loss {total.item():.4f}", flush=True)


def main():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=5), device_id=device)
    train(device, sys.argv[1:] == [str(dist.get_rank())])
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
