"""spawned.py: ranks that the program starts itself.

usage: spawned.py --how helper|anew

helper: rank 2 starts a program with its own process group, and is killed when that program has ended.
anew: the process group is made three times, each time with other calls.
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

HELPER = """
import sys, torch, torch.distributed as dist
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
dist.all_reduce(torch.ones(2))
dist.destroy_process_group()
"""


def start(rank, world, store):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)


def helper(rank, world, folder):
    start(rank, world, f"{folder}/ranks")
    dist.all_reduce(torch.ones(2))
    if rank == 2:
        subprocess.run([sys.executable, "-c", HELPER, f"{folder}/helper"], check=True)
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(torch.ones(2))


def anew(rank, world, folder):
    for times in range(3):
        start(rank, world, f"{folder}/{times}")
        for _ in range(3 + 2 * times):
            dist.all_reduce(torch.ones(2))
        if times == 1:
            dist.broadcast(torch.ones(2), 0)
        dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--how", choices=["helper", "anew"], required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(globals()[options.how], args=(3, folder), nprocs=3)
