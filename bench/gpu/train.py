"""train: a small model trained by DistributedDataParallel over NCCL, all ranks on one GPU.

Usage (under torchrun): train.py [--steps N] [--bug skip|kill|stop|raise|sizes]
Rank 1 has the bug, in step 10. Rank 0 prints the loss of each step, and the median time of one.
"""
import argparse
import os
import signal
import time

import torch
import torch.distributed as dist

options = argparse.ArgumentParser()
options.add_argument("--steps", type=int, default=30)
options.add_argument("--bug", default="none")
asked = options.parse_args()
rank = int(os.environ["RANK"])
os.environ["NCCL_HOSTID"] = f"host-{rank}"  # NCCL refuses two ranks of one host on the same GPU
torch.cuda.set_device(0)
torch.manual_seed(7)
torch.use_deterministic_algorithms(True)
dist.init_process_group("nccl")
layers = [torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 1024), torch.nn.GELU(),
          torch.nn.Linear(1024, 16)]
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def total_loss(loss, broken):
    """Sums the loss of all ranks, as a trainer does before it prints it."""
    if broken and asked.bug == "skip":
        return loss.detach()
    of_all = loss.detach().reshape(1)
    if broken and asked.bug == "sizes":
        of_all = of_all.repeat(2)
    dist.all_reduce(of_all)
    return of_all[0]


def break_rank():
    if asked.bug == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if asked.bug == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if asked.bug == "raise":
        raise RuntimeError("batch 10 is damaged")


took = []
for step in range(asked.steps):
    began = time.perf_counter()
    broken = rank == 1 and step == 10
    if broken:
        break_rank()
    batch = torch.randn(128, 256, device="cuda", generator=torch.Generator("cuda").manual_seed(100 * step + rank))
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    of_all = total_loss(loss, broken).item()
    took.append(time.perf_counter() - began)
    if rank == 0:
        print(f"step {step} loss {of_all:.9f}", flush=True)
if rank == 0:
    print(f"ms per step {sorted(took)[len(took) // 2] * 1e3:.4f}", flush=True)
dist.destroy_process_group()
