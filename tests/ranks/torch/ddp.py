"""ddp.py: an ordinary DDP training script. It does not know rankfault."""
import argparse
import gc
import json

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--timeout", type=float, default=30)
    args = parser.parse_args()
    from datetime import timedelta
    dist.init_process_group("gloo", timeout=timedelta(seconds=args.timeout))
    rank = dist.get_rank()
    torch.manual_seed(1234)
    torch.set_num_threads(1)
    model = DistributedDataParallel(torch.nn.Sequential(
        torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    data = torch.Generator().manual_seed(rank)
    loss = None
    metric_calls = 0
    for step in range(args.steps):
        x = torch.randn(16, 32, generator=data)
        loss = model(x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 5 == 4:
            mean = loss.detach().clone()
            dist.all_reduce(mean)
            metric_calls += 1
    dist.barrier()
    total = sum(p.detach().double().sum().item() for p in model.parameters())
    print(json.dumps({"rank": rank, "steps": args.steps, "sum": total.hex(),
                      "counts": {"all_reduce.own": metric_calls, "barrier.own": 1}}), flush=True)
    del model, opt, loss  # a worker's destructor must not take the GIL while Python finalises
    gc.collect()
    dist.destroy_process_group()


main()
