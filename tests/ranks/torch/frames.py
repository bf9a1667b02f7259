"""frames.py: calls collectives from every kind of Python code, and prints the frames that PyTorch recorded."""
import json
import os
import pickle
import threading

os.environ["TORCH_FR_BUFFER_SIZE"] = "2000"
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402


def total(x):
    dist.all_reduce(x)
    return x


def decorated(f):
    def wrapper(*args):
        return f(*args)
    return wrapper


class Évaluation:
    @decorated
    def ergebnis_größe(self, x):
        return total(x)

    @staticmethod
    def several():
        for _ in range(3):
            yield total(
                torch.ones(2)
            )


def deep(n):
    return deep(n - 1) if n else total(torch.ones(1))


def in_a_handler():
    try:
        raise ValueError
    except ValueError:
        total(torch.ones(3))
    finally:
        total(torch.ones(4))


def compiled_text():
    for step in range(4):  # a new code object for each, most often at the address of the last
        exec(compile("\n" * step + "def f%d(): total(torch.ones(1))\nf%d()" % (step, step), "<step %d>" % step, "exec"), globals())


def backward():
    model = DistributedDataParallel(torch.nn.Sequential(*[torch.nn.Linear(300, 300) for _ in range(3)]), bucket_cap_mb=0.4)
    for _ in range(2):
        model(torch.ones(1, 300)).sum().backward()


def in_two_threads(group):
    def loop():
        for _ in range(50):
            dist.all_reduce(torch.ones(1), group=group)
    other = threading.Thread(target=loop)
    other.start()
    for _ in range(50):
        total(torch.ones(1))
    other.join()


dist.init_process_group("gloo")
second = dist.new_group(list(range(dist.get_world_size())))
total(torch.ones(1))
(lambda: total(torch.ones(1)))()
[total(torch.ones(1)) for _ in range(2)]
Évaluation().ergebnis_größe(torch.ones(1))
list(Évaluation.several())
deep(60)
in_a_handler()
compiled_text()
backward()
in_two_threads(second)
dist.barrier()

recorded = {}  # by size of the group's name: the default one is "0"
recorder = getattr(torch._C._distributed_c10d, "_dump_fr_trace", None)  # PyTorch 1.13 has none
for entry in pickle.loads(recorder())["entries"] if recorder else []:
    frames = [[f["filename"], f["name"], f["line"]] for f in entry["frames"]]
    recorded.setdefault(entry["process_group"][0], []).append(frames)
print(json.dumps({"rank": dist.get_rank(), "has_recorder": recorder is not None, "recorded": recorded}), flush=True)
os._exit(0)  # PyTorch may abort while the interpreter ends with a group: docs/found.md
