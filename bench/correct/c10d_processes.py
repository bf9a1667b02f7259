"""c10d_processes: stores, handled errors, helper processes, and a model trained by DistributedDataParallel."""
import contextlib
import datetime
import multiprocessing
import subprocess

import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel


def store(w):
    shared = dist.FileStore(w.new_file("keys"), w.size)
    key = f"key{w.common.randrange(1 << 30)}"
    if w.rank == w.size - 1:
        w.pause_sometimes()
        shared.set(key, "value")
    shared.wait([key], datetime.timedelta(seconds=60))
    w.check(shared.get(key) == b"value", "a store")
    dist.barrier()


def store_without_key(w):
    """One rank waits for a key that no rank sets, and handles the error."""
    file = w.new_file("keys")
    if w.rank == w.common.randrange(w.size):
        shared = dist.FileStore(file, 1)
        raised = False
        try:
            shared.wait(["nobody sets this"], datetime.timedelta(milliseconds=50))
        except RuntimeError:
            raised = True
        w.check(raised, "a wait for a missing key")
    dist.barrier()


def refused(w):
    """All ranks, or one alone, make a call that PyTorch refuses, and continue."""
    who = w.common.randrange(2 * w.size)
    if who >= w.size or who == w.rank:
        raised = False
        try:
            dist.scatter(torch.zeros(1), [torch.zeros(1)] * (w.size + 1), w.rank)
        except (ValueError, RuntimeError):
            raised = True
        w.check(raised, "a refused scatter")
    one = torch.ones(1)
    dist.all_reduce(one)
    w.check(one.item() == w.size, "all_reduce")


def monitored(w):
    w.pause_sometimes()
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=60))


def helpers(w):
    w.check(subprocess.run(["sh", "-c", "true | cat"], check=False).returncode == 0, "a helper")


def child(w):
    worker = multiprocessing.get_context("fork").Process(target=int)
    worker.start()
    worker.join()
    w.check(worker.exitcode == 0, "a child")


def group_of_helpers(w):
    """A rank starts two processes that have a process group of their own."""
    who, at = w.common.randrange(w.size), f"{w.folder}/helpers{w.common.randrange(1 << 30)}"
    if w.rank == who:
        both = [multiprocessing.get_context("spawn").Process(target=helper, args=(at, r)) for r in range(2)]
        for one in both:
            one.start()
        for one in both:
            one.join()
        w.check([one.exitcode for one in both] == [0, 0], "a group of helpers")
    dist.barrier()


def helper(at, rank):
    dist.init_process_group("gloo", store=dist.FileStore(at, 2), rank=rank, world_size=2)
    dist.barrier()
    dist.destroy_process_group()


def loader(w):
    data = torch.utils.data.TensorDataset(torch.arange(8.0))
    total = sum(batch[0].sum().item() for batch in torch.utils.data.DataLoader(data, batch_size=2, num_workers=1))
    w.check(total == 28, "a DataLoader")


def trained(w):
    """Trains a model for two steps. With uneven batches, ranks that end early stay as shadows (Join)."""
    torch.manual_seed(7)
    model = DistributedDataParallel(torch.nn.Linear(4, 2))
    joined = w.common.randrange(2)
    with Join([model]) if joined else contextlib.nullcontext():
        for _ in range(1 + w.rank % 2 if joined else 2):
            model(torch.ones(1, 4)).sum().backward()
    if not joined:
        w.check(bool((model.module.weight.grad == 2).all()), "the gradients of two steps")
    dist.barrier()


FEATURES = {store: 3, store_without_key: 2, refused: 4, monitored: 2, helpers: 2, child: 2, group_of_helpers: 0.3,
            loader: 1, trained: 2}
