"""steps.py: sums host-computed gradients in PyTorch on its nccl backend, with checkpoints and recovery. Each mistake has an option.

The numbers are made on the host and only summed on the device, so they are right also where kernels of PyTorch compute nothing.
The script has no code for rankfault.

usage: torchrun --nproc_per_node=3 steps.py [options]
"""
import argparse
import datetime
import os
import sys
import time

import torch
import torch.distributed as dist

WIDTH = 1000
ERRORS = (dist.DistBackendError, RuntimeError)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--timeout", type=float, default=600.0, help="of a collective, in seconds")
    parser.add_argument("--lazy", action="store_true", help="make the communicator at the first collective")
    parser.add_argument("--hosts", action="store_true", help="let NCCL take the ranks of each torchrun for those of a host of their own")
    parser.add_argument("--store", default="", metavar="FILE", help="where the ranks meet; else as torchrun says")
    parser.add_argument("--by", type=int, default=-1, help="the rank that makes the mistake, in step --at")
    parser.add_argument("--at", type=int, default=4)
    parser.add_argument("--mistake", default="leaves-out",
                        choices=["leaves-out", "other-size", "raises", "exits", "never-starts", "pauses", "computes"])
    parser.add_argument("--pause", type=float, default=20.0, help="of the mistakes `pauses` and `computes`, in seconds")
    parser.add_argument("--checkpoint", default="", metavar="FILE", help="rank 0 writes it after every second step")
    parser.add_argument("--checkpoint-takes", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--no-resume", action="store_true")
    parser.add_argument("--recover", choices=["", "shrink", "again"], default="",
                        help="after an error: continue with the ranks that are left, or abort the group and make it again")
    parser.add_argument("--patience", type=float, default=4.0, help="with --recover=shrink: the script's own limit, in seconds")
    return parser.parse_args()


class Training:
    def __init__(self, options):
        self.options = options
        self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(self.device)
        self.number, self.meetings = int(os.environ["RANK"]), 0  # the number of this process, also after a shrink
        size = int(os.environ["WORLD_SIZE"])
        self.store = dist.FileStore(options.store, size) if options.store else next(dist.rendezvous("env://"))[0]
        self.weights = {0: torch.zeros(WIDTH)}  # after each step
        self.meet(size)

    def meet(self, size):
        """Makes the process group; each time under another prefix of the store."""
        self.meetings += 1
        dist.init_process_group("nccl", store=dist.PrefixStore(f"meeting{self.meetings}", self.store), rank=self.number,
                                world_size=size, timeout=datetime.timedelta(seconds=self.options.timeout),
                                device_id=None if self.options.lazy else self.device)

    def say(self, text):
        print(f"rank {self.number} {text}", flush=True)

    def sum(self, numbers, op=dist.ReduceOp.SUM):
        there = numbers.to(self.device)
        self.wait(dist.all_reduce(there, op=op, async_op=True))
        return there.cpu()

    def wait(self, work):
        """With TORCH_NCCL_BLOCKING_WAIT=1 PyTorch raises at its limit, and aborts the communicator, which cannot shrink then."""
        end = time.monotonic() + self.options.patience
        while self.options.recover == "shrink" and not work.is_completed():
            if time.monotonic() > end:
                raise RuntimeError("a sum takes too long")
            time.sleep(0.01)
        work.wait()

    def wait_for_all(self):
        """A barrier without PyTorch's own, which runs a kernel."""
        self.sum(torch.zeros(1))

    def makes(self, mistake, step):
        it_does = self.options.mistake == mistake and self.number == self.options.by and step == self.options.at
        if it_does:
            self.say(f"mistake at {time.monotonic():.3f}")
        return it_does

    def gradient(self, step):
        if self.makes("raises", step):
            raise ValueError(f"a sample of step {step} cannot be read")
        if self.makes("exits", step):
            sys.exit(3)
        if self.makes("pauses", step):
            time.sleep(self.options.pause)
        if self.makes("computes", step):
            end = time.monotonic() + self.options.pause
            while time.monotonic() < end:
                pass
        width = WIDTH // 2 if self.makes("other-size", step) else WIDTH
        return torch.arange(width, dtype=torch.float32) * (self.number + 1) + step

    def train_step(self, step):
        self.say(f"begins step {step}")
        gradient = self.gradient(step)
        if not self.makes("leaves-out", step):
            gradient = self.sum(gradient)
        loss = self.sum(gradient.mean().reshape(1))
        self.weights[step] = self.weights[step - 1] + gradient + loss
        self.say(f"committed step {step}")
        if step % 2 == 0:
            self.save(step)

    def save(self, step):
        path = self.options.checkpoint
        if path and dist.get_rank() == 0:
            self.takes_long_to_write()
            torch.save({"step": step, "weights": self.weights[step]}, path + ".new")
            os.replace(path + ".new", path)
            self.say(f"checkpoint of step {step}")
        if path:
            self.wait_for_all()

    def takes_long_to_write(self):
        if self.options.checkpoint_takes:
            self.say(f"mistake at {time.monotonic():.3f}")
            time.sleep(self.options.checkpoint_takes)

    def resume(self):
        """Returns the step to begin with."""
        path = self.options.checkpoint
        if not path or self.options.no_resume or not os.path.exists(path):
            return 1
        saved = torch.load(path)
        self.weights[saved["step"]] = saved["weights"]
        self.say(f"resumes after step {saved['step']}")
        return saved["step"] + 1

    def living(self):
        """The ranks that answer within two seconds."""
        mine = f"living{self.meetings}/{self.number}"
        self.store.set(mine, "yes")
        time.sleep(2)
        return [r for r in range(int(os.environ["WORLD_SIZE"])) if self.store.check([f"living{self.meetings}/{r}"])]

    def recover(self, error):
        """Returns the step to go on with, after an error of a collective."""
        self.say(f"error {type(error).__name__}")
        if self.options.recover == "shrink":
            living = self.living()
            dead = [r for r in range(dist.get_world_size()) if r not in living]
            dist.shrink_group(dead, shrink_flags=dist.distributed_c10d.SHRINK_ABORT)
            self.say(f"continues without {dead}")
        else:
            dist.distributed_c10d._abort_process_group()
            self.meet(int(os.environ["WORLD_SIZE"]))
            self.say("made the group again")
        common = self.sum(torch.tensor([max(self.weights)], dtype=torch.int64), dist.ReduceOp.MIN).item()
        self.weights = {step: value for step, value in self.weights.items() if step <= common}
        return common + 1

    def train(self):
        step = self.resume()
        while step <= self.options.steps:
            try:
                self.train_step(step)
                step += 1
            except ERRORS as error:
                if not self.options.recover or isinstance(error, ValueError):
                    raise
                step = self.recover(error)
        self.say(f"weights {self.weights[self.options.steps].sum().item():.0f}")


def main():
    options = parse()
    if options.hosts:
        os.environ["NCCL_HOSTID"] = "host" + os.environ["GROUP_RANK"]
    training = Training(options)
    if options.mistake == "never-starts" and training.number == options.by:
        training.say(f"mistake at {time.monotonic():.3f}")
        time.sleep(options.pause)
        sys.exit(3)
    training.train()
    training.wait_for_all()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
