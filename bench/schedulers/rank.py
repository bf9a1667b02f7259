"""rank: one rank of a measured PyTorch job: sums in a loop over Gloo, and writes the files that rank.c writes.

It handles no signal: Python would run a handler only after the sum that waits for a dead rank.
"""
import atexit
import datetime
import os
import sys
import threading
import time

BEAT_S = STEP_S = 0.02
GLOO_LIMIT_S = 30
sums = 0


def say(event, value):
    with open(f"/tmp/rank-{os.getpid()}", "a", encoding="ascii") as file:
        file.write(f"{time.monotonic():.6f} {event} {value}\n")


def beat():
    descriptor = os.open(f"/tmp/beat-{os.getpid()}", os.O_WRONLY | os.O_CREAT)
    while True:
        os.pwrite(descriptor, f"{time.monotonic():.6f} {sums}          \n".encode(), 0)
        time.sleep(BEAT_S)


def on_exception(kind, error, trace):
    say("raises", kind.__name__)
    sys.__excepthook__(kind, error, trace)


def main():
    global sums
    say("attempt", os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
    threading.Thread(target=beat, daemon=True).start()
    import torch  # noqa: PLC0415 # takes seconds
    import torch.distributed as dist  # noqa: PLC0415
    sys.excepthook = on_exception
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=GLOO_LIMIT_S))
    atexit.register(say, "exit", 0)
    say("rank", dist.get_rank())
    say("size", dist.get_world_size())
    value = torch.ones(1)
    while True:
        dist.all_reduce(value, op=dist.ReduceOp.MAX)
        sums += 1
        time.sleep(STEP_S)


main()
