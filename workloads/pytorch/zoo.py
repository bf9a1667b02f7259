"""zoo.py: correct programs of kinds that look odd from outside. None may get a finding, not even one that is withdrawn.

usage: torchrun --nproc_per_node=4 zoo.py NAME
"""
import sys
import threading

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.algorithms.join import Join
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import job


def device_mesh(rank):
    """Two axes, and a sum over each."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "model"))
    for _ in range(job.STEPS):
        dist.all_reduce(torch.ones(4), group=mesh.get_group("model"))
        dist.all_reduce(torch.ones(8), group=mesh.get_group("data"))


def fsdp(rank):
    """Shards of a model, and the order of its blocks is the same on all ranks."""
    model = job.Model()
    for block in [*model.blocks, model]:
        fully_shard(block, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
    optimizer = job.optimizer_of(model)
    for _ in range(job.STEPS):
        job.train_step(model, optimizer, job.batch())


def out_of_order(rank):
    """Each rank waits for its work in an order of its own."""
    for step in range(job.STEPS):
        work = [dist.all_reduce(torch.ones(n + 1), async_op=True) for n in range(5)]
        for n in range(5):
            work[(n * (rank + 1) + step) % 5].wait()


def batched_messages(rank):
    """A ring of batched sends and receives."""
    right, left = (rank + 1) % dist.get_world_size(), (rank - 1) % dist.get_world_size()
    for _ in range(job.STEPS):
        operations = [dist.P2POp(dist.isend, torch.ones(3), right), dist.P2POp(dist.irecv, torch.ones(3), left)]
        for request in dist.batch_isend_irecv(operations):
            request.wait()


def two_threads(rank):
    """Two threads, each with a group of its own."""
    groups = [dist.new_group(list(range(dist.get_world_size()))) for _ in range(2)]

    def loop(group):
        for n in range(40):
            dist.all_reduce(torch.ones(n % 7 + 1), group=group)
    threads = [threading.Thread(target=loop, args=(group,)) for group in groups]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def objects(rank):
    """Objects of different lengths."""
    for step in range(job.STEPS):
        everyone = [None] * dist.get_world_size()
        dist.all_gather_object(everyone, "x" * (rank * 1000 + step))
        dist.broadcast_object_list([{"step": step}] if rank == 0 else [None], src=0)


def subsets(rank):
    """Groups of different sizes make different numbers of calls."""
    groups = [dist.new_group(list(range(n))) for n in (2, 3)]
    for step in range(job.STEPS):
        for n, group in zip((2, 3), groups):
            if rank < n:
                for _ in range(n * step):
                    dist.all_reduce(torch.ones(n), group=group)


def splits(rank):
    """all_to_all with shares of different lengths."""
    size = dist.get_world_size()
    for _ in range(job.STEPS):
        dist.all_to_all_single(torch.ones((rank + 1) * size), torch.ones(sum(r + 1 for r in range(size))),
                               output_split_sizes=[rank + 1] * size, input_split_sizes=[r + 1 for r in range(size)])


def join(rank):
    """Ranks with less data shadow the calls of the others."""
    model = job.make_model()
    optimizer = job.optimizer_of(model)
    with Join([model]):
        for _ in range(3 + rank):
            job.train_step(model, optimizer, job.batch())


def branches(rank):
    """The same call on other lines."""
    for _ in range(job.STEPS):
        if rank == 0:
            dist.all_reduce(torch.ones(2))
        elif rank == 1:
            dist.all_reduce(torch.zeros(2))
        else:
            for value in (1.0,):
                dist.all_reduce(torch.full((2,), value))


def loader(rank):
    """Workers that load data."""
    model = job.make_model()
    optimizer = job.optimizer_of(model)
    for tokens in torch.utils.data.DataLoader(torch.randint(0, 50, (12, 8)), batch_size=2, num_workers=2):
        job.train_step(model, optimizer, tokens)


def help_out(n, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=n, world_size=2)
    dist.all_reduce(torch.ones(1))
    dist.destroy_process_group()


def spawn(rank):
    """Each rank starts two helpers that have a job of their own."""
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(help_out, (folder,), nprocs=2)
    dist.barrier()


def again(rank):
    """Groups that are destroyed and made again."""
    for _ in range(4):
        group = dist.new_group(list(range(dist.get_world_size())))
        dist.all_reduce(torch.ones(1), group=group)
        dist.destroy_process_group(group)


def no_destroy(rank):
    """The program ends without destroy_process_group()."""
    for _ in range(job.STEPS):
        dist.all_reduce(torch.ones(1))
    dist.barrier()
    sys.stdout.flush()
    raise SystemExit(0)


KINDS = {f.__name__: f for f in (device_mesh, fsdp, out_of_order, batched_messages, two_threads, objects, subsets, splits, join,
                                 branches, loader, spawn, again, no_destroy)}


def main(rank):
    KINDS[sys.argv[1]](rank)
    job.end()


if __name__ == "__main__":
    job.run(main)
