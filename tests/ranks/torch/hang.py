"""hang.py: a few all_reduces, then a barrier that one rank never enters.

usage: torchrun hang.py [--how sleep|none] [--rank R]
"""
import argparse
import time

import torch
import torch.distributed as dist


def forget_to_come():
    while True:
        time.sleep(3600)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--how", choices=["sleep", "none"], default="sleep")
    parser.add_argument("--rank", type=int, default=1)
    options = parser.parse_args()
    dist.init_process_group("gloo")
    values = torch.ones(16)
    for _ in range(3):
        dist.all_reduce(values)
    if options.how == "sleep" and dist.get_rank() == options.rank:
        forget_to_come()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
