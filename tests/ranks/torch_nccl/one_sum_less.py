"""one_sum_less.py: six sums on two ranks. With LEAVE_OUT=1 rank 1 does not make its fourth one.

Each rank waits until five of its sums are complete, writes PyTorch's dump into DUMPS, and prints it without times, stacks
and thread numbers.
"""
import json
import os
import pickle
import time

import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
numbers = torch.ones(4).cuda()
for i in range(6):
    if rank == 1 and i == 3 and os.environ.get("LEAVE_OUT"):
        continue
    dist.all_reduce(numbers, async_op=True)

while True:
    raw = torch._C._distributed_c10d._dump_nccl_trace()
    dump = pickle.loads(raw)
    if sum(entry["retired"] for entry in dump["entries"]) >= 5:
        break
    time.sleep(0.05)
with open(f"{os.environ['DUMPS']}/dump_{rank}", "wb") as out:
    out.write(raw)
for entry in dump["entries"]:
    for key in [k for k in entry if k == "frames" or k.startswith("time_") or k in ("duration_ms", "thread_id")]:
        del entry[key]
dump.pop("nccl_comm_state", None)  # its keys are addresses, its values times
sequence = dist.group.WORLD._get_backend(torch.device("cuda"))._get_sequence_number_for_group()
print(json.dumps({"rank": rank, "sequence": sequence, "dump": dump}, default=str), flush=True)

# Rank 0 has the store, and leaves last. The sixth sum of rank 0 never ends, so no group is destroyed.
store = dist.distributed_c10d._get_default_store()
if rank == 0:
    store.set("printed", "0")
    store.wait(["leaves"])
else:
    store.wait(["printed"])
    store.set("leaves", "1")
os._exit(0)
