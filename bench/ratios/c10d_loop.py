"""c10d_loop: 8-byte all-reduces by torch.distributed over Gloo. Prints the nanoseconds of one. Usage: c10d_loop.py CALLS"""
import sys
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
calls, value = int(sys.argv[1]), torch.zeros(1, dtype=torch.float64)
for _ in range(calls // 10):
    dist.all_reduce(value)
dist.barrier()
began = time.perf_counter()
for _ in range(calls):
    dist.all_reduce(value)
took = time.perf_counter() - began
if dist.get_rank() == 0:
    print(f"ns per call {took / calls * 1e9:.1f}", flush=True)
dist.destroy_process_group()
