"""start.py STORE: one rank of a job that starts PyTorch's nccl backend and makes one sum. It tells how long that took."""
import os
import sys
import time

import torch
import torch.distributed as dist


def age():
    """Seconds since this process was started, to 10 ms."""
    with open("/proc/self/stat", encoding="ascii") as stat:
        began = int(stat.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - began


def main():
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", rank)))
    torch.cuda.set_device(device)
    before = age()
    dist.init_process_group("nccl", store=dist.FileStore(sys.argv[1], ranks), rank=rank, world_size=ranks, device_id=device)
    met = age()
    numbers = torch.full((256,), float(rank)).to(device)
    dist.all_reduce(numbers)
    right = numbers.cpu()[0].item() == ranks * (ranks - 1) / 2
    done = age()
    if not right:
        sys.exit("the sum is wrong")
    print(f"start {done:.3f} meet {met - before:.3f} sum {done - met:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
