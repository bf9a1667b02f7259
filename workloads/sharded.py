"""sharded.py: trains a small network with PyTorch's FSDP on Gloo. FSDP shards each layer's weights, gathers
them before the layer runs, and reduces and scatters their gradients afterwards. The script has no code for
rankfault.

usage: torchrun --nproc_per_node=3 sharded.py [--steps=N] [--timeout=SECONDS] [--other-order-on=RANK]
"""
import argparse
import datetime
import gc
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=60.0, help="of a collective, in seconds")
    parser.add_argument("--other-order-on", type=int, default=-1, help="a rank that prefetches the third layer first")
    return parser.parse_args()


def sharded_model(other_order):
    torch.manual_seed(1)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    layers = [torch.nn.Linear(12, 48), torch.nn.Linear(48, 24), torch.nn.Linear(24, 6)]
    model = torch.nn.Sequential(*layers)
    for layer in layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    layers[0].set_modules_to_forward_prefetch([layers[2] if other_order else layers[1]])
    return model


def main():
    options = parse()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=options.timeout))
    rank = dist.get_rank()
    model = sharded_model(rank == options.other_order_on)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.Generator().manual_seed(100 + rank)
    for step in range(1, options.steps + 1):
        optimizer.zero_grad()
        loss = model(torch.randn(8, 12, generator=data)).pow(2).mean()
        loss.backward()
        optimizer.step()
        print(f"rank {rank} step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    del model, optimizer, loss
    gc.collect()  # workers of Gloo must not outlive the interpreter
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
