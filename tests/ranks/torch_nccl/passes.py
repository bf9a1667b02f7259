"""passes.py: sums that threads of autograd make, on a device, in the kind of pass that the argument names.

The test knows each sum by its number of elements, and reads the functions of this file that lead to it.
"""
import json
import os
import sys
import threading

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

rank = int(os.environ["RANK"])
device = torch.device("cuda", rank)


def ddp(size, group=None):
    return DistributedDataParallel(torch.nn.Linear(size, 1, bias=False).to(device), process_group=group)


def of_ddp():
    model = ddp(11)
    model(torch.ones(1, 11, device=device)).sum().backward()


@torch.enable_grad()  # a hook runs without
def hooked(numbers, hook):
    out = numbers.clone().requires_grad_() * 2
    out.register_hook(hook)
    return out.sum()


def add_up(size):
    dist.all_reduce(torch.ones(size, device=device))


def of_a_hook():
    hooked(torch.ones(4, device=device), lambda grad: add_up(12)).backward()


def inner_pass(size):
    hooked(torch.ones(4, device=device), lambda grad: add_up(size)).backward()


def nested():
    hooked(torch.ones(4, device=device), lambda grad: inner_pass(13)).backward()
    hooked(torch.ones(4, device=device), lambda grad: add_up(14)).backward()


def fails(grad):
    raise ValueError("in the pass")


def after_a_failure():
    try:
        hooked(torch.ones(4, device=device), fails).backward()
    except ValueError:
        pass
    add_up(15)
    of_ddp()


# Two passes run at the same time. The device has one thread for both: it is in the first pass until a CPU node of the second
# one ran.
def first_pass(model, begun, is_in):
    out = model(torch.ones(1, 16, device=device))

    def wait(grad):
        begun.set()
        is_in.wait()

    out.register_hook(wait)
    out.sum().backward()


def second_pass(model, begun, is_in):
    torch.cuda.set_device(device)
    begun.wait()
    out = model(torch.ones(1, 17, device=device)).cpu()
    out.register_hook(lambda grad: is_in.set())
    out.sum().backward()


def at_the_same_time():
    models = ddp(16, dist.new_group([0, 1])), ddp(17, dist.new_group([0, 1]))
    begun, is_in = threading.Event(), threading.Event()
    second = threading.Thread(target=second_pass, args=(models[1], begun, is_in))
    second.start()
    first_pass(models[0], begun, is_in)
    second.join()


def on_the_host():
    hooked(torch.ones(4), lambda grad: add_up(18)).backward()
    hooked(torch.ones(4), lambda grad: inner_pass(19)).backward()


torch.cuda.set_device(device)
dist.init_process_group("nccl", device_id=device)
for kind in sys.argv[1:]:
    globals()[kind]()
torch.cuda.synchronize()
print(json.dumps({"rank": rank}), flush=True)
dist.destroy_process_group()
