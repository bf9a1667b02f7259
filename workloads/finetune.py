"""finetune.py: fine-tunes a small classifier with DDP on Gloo, like a typical script: a finite data set,
validation, 16-bit gradients, a checkpoint. It has no code for rankfault. Each mistake has an option.

usage: torchrun --nproc_per_node=3 finetune.py [options]
"""
import argparse
import contextlib
import datetime
import gc
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

with contextlib.suppress(ImportError):  # PyTorch 1 has no such module
    # DDP imports it, and 800 more, when it is first made: that takes a rank seconds, and the limit of the
    # group would count them.
    import torch._dynamo

BATCH = 8


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--timeout", type=float, default=2.0, help="of a collective, in seconds")
    parser.add_argument("--short-rank", type=int, default=-1, help="the rank whose share of the data is a batch short")
    parser.add_argument("--uneven", choices=["agree", "join", "stop"], default="agree",
                        help="where shares differ: all make the fewest steps, shadow the others' calls, or stop alone")
    parser.add_argument("--bad-sample", default="0:-1", metavar="STEP:RANK", help="it cannot be read there")
    parser.add_argument("--on-error", choices=["raise", "agree", "swallow", "flag-late"], default="raise",
                        help="agree: a flag is summed in every step; flag-late: in the except branch alone")
    parser.add_argument("--validate-every", type=int, default=0)
    parser.add_argument("--rank-0-broadcasts", action="store_true", help="inside `if rank == 0`")
    parser.add_argument("--half", action="store_true", help="gradients travel in 16 bits")
    parser.add_argument("--no-bf16-on", type=int, default=-1, help="the rank whose device has fp16 alone")
    parser.add_argument("--choose-alone", action="store_true", help="each rank takes the best type it has")
    parser.add_argument("--checkpoint", default="", metavar="FILE")
    parser.add_argument("--checkpoint-every", type=int, default=2)
    parser.add_argument("--no-resume", action="store_true")
    parser.add_argument("--in-place", action="store_true", help="write the checkpoint without a temporary file")
    return parser.parse_args()


class BadSample(Exception):
    pass


class Training:
    # Ranks may start late, so the default group has PyTorch's long limit. The collectives of the training
    # have a short one.
    def __init__(self, options):
        self.options = options
        self.group = dist.new_group(timeout=datetime.timedelta(seconds=options.timeout))
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.bad_step, self.bad_rank = map(int, options.bad_sample.split(":"))
        torch.manual_seed(1)
        self.plain = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 4))
        self.first = self.resume()
        self.model = DistributedDataParallel(self.plain, process_group=self.group)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        if options.half:
            self.send_gradients_in_16_bits()

    def say(self, text):
        print(f"rank {self.rank} {text}", flush=True)

    # All ranks must use one type. MIN over the ranks finds a type that all of them support.
    def send_gradients_in_16_bits(self):
        has_bf16 = torch.tensor([0 if self.rank == self.options.no_bf16_on else 1])
        if not self.options.choose_alone:
            self.all_reduce(has_bf16, dist.ReduceOp.MIN)
        dtype = torch.bfloat16 if has_bf16.item() else torch.float16

        def compressed(_, bucket):
            half = (bucket.buffer() / self.size).to(dtype)
            sent = dist.all_reduce(half, group=self.group, async_op=True).get_future()
            return sent.then(lambda done: bucket.buffer().copy_(done.value()[0]))

        self.model.register_comm_hook(None, compressed)

    def all_reduce(self, tensor, op):
        dist.all_reduce(tensor, op=op, group=self.group)

    def steps_of_this_rank(self):
        return self.options.steps - (self.rank == self.options.short_rank)

    def last_step(self):
        own = torch.tensor([self.steps_of_this_rank()])
        if self.options.uneven == "agree":
            self.all_reduce(own, dist.ReduceOp.MIN)
        return own.item()

    def batch(self, step):
        if step == self.bad_step and self.rank == self.bad_rank:
            raise BadSample(f"rank {self.rank}: a sample of step {step} cannot be read")
        data = torch.Generator().manual_seed(1000 * step + self.rank)
        return torch.randn(BATCH, 16, generator=data), torch.randint(0, 4, (BATCH,), generator=data)

    # True: a rank failed. With --on-error=agree, every rank makes this call in every step, before the
    # gradients are reduced.
    def anybody_failed(self, failed):
        flag = torch.tensor([int(failed)])
        self.all_reduce(flag, dist.ReduceOp.MAX)
        return flag.item() != 0

    # Returns the batch. None: the rank leaves out this step.
    def batch_or_decision(self, step):
        how = self.options.on_error
        try:
            batch = self.batch(step)
        except BadSample as error:
            self.say(f"error {error}")
            if how == "raise":
                raise
            if how == "swallow":
                return None
            batch = None
            if how == "flag-late":
                self.anybody_failed(True)
                return None
        if how == "agree" and self.anybody_failed(batch is None):
            self.say(f"left out step {step}")
            return None
        return batch

    def train_step(self, step):
        batch = self.batch_or_decision(step)
        if batch is None:
            return
        inputs, labels = batch
        self.optimizer.zero_grad()
        torch.nn.functional.cross_entropy(self.model(inputs), labels).backward()
        self.optimizer.step()
        self.say(f"committed step {step}")

    def validate(self, step):
        score = torch.zeros(1)
        if self.rank == 0:
            with torch.no_grad():
                score[0] = self.plain(torch.ones(1, 16)).sum()
            if self.options.rank_0_broadcasts:
                dist.broadcast(score, src=0, group=self.group)
        if not self.options.rank_0_broadcasts:
            dist.broadcast(score, src=0, group=self.group)
        self.say(f"validation of step {step}: {score.item():.6f}")

    # Returns the first step to make.
    def resume(self):
        path = self.options.checkpoint
        if not path or self.options.no_resume or not os.path.exists(path):
            return 1
        saved = torch.load(path)
        self.plain.load_state_dict(saved["model"])
        return saved["step"] + 1

    def save(self, step):
        path = self.options.checkpoint
        if self.rank == 0:
            temporary = path if self.options.in_place else path + ".tmp"
            with open(temporary, "wb") as file:
                torch.save({"model": self.plain.state_dict(), "step": step}, file)
                file.flush()
                os.fsync(file.fileno())
            if temporary != path:
                os.replace(temporary, path)
        dist.barrier(group=self.group)  # no rank continues before the checkpoint exists

    def run(self):
        options = self.options
        last = self.last_step()
        with Join([self.model]) if options.uneven == "join" else contextlib.nullcontext():
            for step in range(self.first, last + 1):
                self.say(f"begins step {step}")
                self.train_step(step)
                if options.validate_every and step % options.validate_every == 0:
                    self.validate(step)
                if options.checkpoint and step % options.checkpoint_every == 0:
                    self.save(step)
        dist.barrier(group=self.group)
        weights = sum(p.detach().double().sum().item() for p in self.plain.parameters())
        self.say(f"weights {weights!r}")


def main():
    options = parse()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    dist.barrier()
    training = Training(options)
    training.run()
    del training
    gc.collect()  # workers of Gloo must not outlive the interpreter
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
