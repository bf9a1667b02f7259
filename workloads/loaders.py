"""loaders.py: data-parallel training in PyTorch on Gloo, fed by a DataLoader with a worker process on each
rank, like a typical script. It has no code for rankfault.

usage: torchrun --nproc_per_node=2 loaders.py [--steps=N] [--timeout=SECONDS]
                                            [--on-lost-worker=raise|reopen|wait]
"""
import argparse
import contextlib
import ctypes
import datetime
import gc
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

with contextlib.suppress(ImportError):  # PyTorch 1 has no such module
    # DDP imports it, and 800 more, when it is first made: that takes a rank seconds, and the limit of the
    # group would count them.
    import torch._dynamo

BATCH = 8


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--timeout", type=float, default=2.0, help="of a collective, in seconds")
    parser.add_argument("--width", type=int, default=16, help="numbers in a sample")
    parser.add_argument("--on-lost-worker", choices=["raise", "reopen", "wait"], default="raise",
                        help="reopen: a new loader goes on at the same batch; wait: for a batch that never comes")
    return parser.parse_args()


class Samples(Dataset):
    """The share of one rank, from its `first` sample on."""

    def __init__(self, rank, width, first, last):
        self.rank, self.width, self.first, self.last = rank, width, first, last

    def __len__(self):
        return self.last - self.first

    def __getitem__(self, i):
        data = torch.Generator().manual_seed(10000 * self.rank + self.first + i)
        return torch.randn(self.width, generator=data), torch.randint(0, 4, (), generator=data)


def name_worker(_):
    """Gives a worker the name that it has in PyTorch 2; PyTorch 1.13 leaves it python3."""
    pr_set_name = 15
    ctypes.CDLL(None).prctl(pr_set_name, b"pt_data_worker")


class Batches:
    """The batches of this rank, in order. Loads again the batches that are lost when a worker dies."""

    def __init__(self, rank, options):
        self.rank, self.options, self.taken = rank, options, 0
        self.open()

    def open(self):
        share = Samples(self.rank, self.options.width, self.taken * BATCH, self.options.steps * BATCH)
        self.loader = iter(DataLoader(share, batch_size=BATCH, num_workers=1, worker_init_fn=name_worker))
        # PyTorch's handler of SIGCHLD raises wherever the main thread is, also in the middle of a gradient's
        # call. Without this handler, the rank notices a lost worker when it takes a batch, up to five seconds
        # later.
        if self.options.on_lost_worker != "raise":
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def take(self):
        try:
            batch = next(self.loader)
        except (RuntimeError, OSError, EOFError) as error:  # the last two: the worker died in a hand-over
            print(f"rank {self.rank} error {error}", flush=True)
            if self.options.on_lost_worker == "raise":
                raise
            while self.options.on_lost_worker == "wait":
                time.sleep(0.1)
            self.open()
            batch = next(self.loader)
        self.taken += 1
        return batch


def train(options):
    rank = dist.get_rank()
    group = dist.new_group(timeout=datetime.timedelta(seconds=options.timeout))
    torch.manual_seed(1)
    plain = torch.nn.Linear(options.width, 4)
    model = DistributedDataParallel(plain, process_group=group)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = Batches(rank, options)
    for step in range(1, options.steps + 1):
        print(f"rank {rank} begins step {step}", flush=True)
        inputs, labels = batches.take()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
        print(f"rank {rank} committed step {step}", flush=True)
    dist.barrier(group=group)
    weights = sum(p.detach().double().sum().item() for p in plain.parameters())
    print(f"rank {rank} weights {weights!r}", flush=True)


def main():
    options = parse()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")  # ranks may start late, so PyTorch's long limit applies
    dist.barrier()
    train(options)
    gc.collect()  # workers of Gloo must not outlive the interpreter
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
