"""train: a small GPT trained by DistributedDataParallel, as a usual train.py does it. gpt_bench.py measures it.

Usage (under torchrun): train.py [--steps N] [--warm-up N] [--checkpoint FILE]
Each step has several micro batches, of which only the last one sums the gradients. After every tenth step all ranks evaluate, and
rank 0 writes a checkpoint. Each rank prints one line `measured {...}` with what gpt_bench.py needs.
"""
import argparse
import gc
import json
import os
import statistics
import sys
import time

import user_work

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import callgrind  # noqa: E402

WORK = user_work.UserWork()

import torch  # noqa: E402 # the counter is open before a thread of PyTorch begins
import torch.distributed as dist  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

TOKENS, LENGTH, WIDTH, HEADS, LAYERS = 256, 64, 128, 4, 4
BATCH, MICRO_BATCHES, EVERY = 4, 4, 10


class Block(torch.nn.Module):
    """Causal attention and a perceptron, each behind its norm."""

    def __init__(self):
        super().__init__()
        self.before_attention, self.before_perceptron = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.inputs, self.output = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.perceptron = torch.nn.Sequential(torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(),
                                              torch.nn.Linear(4 * WIDTH, WIDTH))

    def attention(self, x):
        batch, length, _ = x.shape
        heads = self.inputs(x).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        scores = heads[0] @ heads[1].transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(later, float("-inf")).softmax(-1) @ heads[2]
        return self.output(mixed.transpose(1, 2).reshape(batch, length, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.before_attention(x))
        return x + self.perceptron(self.before_perceptron(x))


class Gpt(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = torch.nn.Embedding(TOKENS, WIDTH), torch.nn.Embedding(LENGTH, WIDTH)
        self.blocks = torch.nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm, self.head = torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, TOKENS)

    def forward(self, x):
        x = self.tokens(x) + self.places(torch.arange(x.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def text_of(rank):
    """Returns tokens with a pattern: each is the one before it plus 1, 2 or 3."""
    random = torch.Generator().manual_seed(1 + rank)
    return torch.randint(1, 4, (50_000,), generator=random).cumsum(0) % TOKENS


def loss_of_batch(model, text, random):
    starts = torch.randint(0, len(text) - LENGTH - 1, (BATCH,), generator=random)
    pieces = torch.stack([text[at:at + LENGTH + 1] for at in starts.tolist()])
    return functional.cross_entropy(model(pieces[:, :-1]).flatten(0, 1), pieces[:, 1:].flatten())


def train_step(model, optimizer, text, random):
    optimizer.zero_grad()
    with model.no_sync():
        for _ in range(MICRO_BATCHES - 1):
            (loss_of_batch(model, text, random) / MICRO_BATCHES).backward()
    (loss_of_batch(model, text, random) / MICRO_BATCHES).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@torch.no_grad()
def evaluate(model, text, random):
    model.eval()
    total = sum(loss_of_batch(model.module, text, random) for _ in range(MICRO_BATCHES)) / MICRO_BATCHES
    model.train()
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


def save(model, optimizer, step, path):
    """Writes beside the file and renames, so that there is always a whole checkpoint."""
    if dist.get_rank() == 0 and path:
        torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path + ".new")
        os.replace(path + ".new", path)
    dist.barrier()


def train(options):
    """Returns the seconds of each measured step, and the loss at the end."""
    torch.manual_seed(7)
    model = DistributedDataParallel(Gpt())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    text, random = text_of(dist.get_rank()), torch.Generator().manual_seed(dist.get_rank())
    took, before, loss = [], 0, 0.0
    for step in range(-options.warm_up, options.steps):
        if step == 0:
            before = WORK.now()
            if callgrind.is_counted():
                callgrind.count_from_here()
        began = time.perf_counter()
        train_step(model, optimizer, text, random)
        took.append(time.perf_counter() - began)
        if (step + 1) % EVERY == 0:
            loss = evaluate(model, text, random)
            save(model, optimizer, step, options.checkpoint)
    if callgrind.is_counted():
        callgrind.write_counts()
    return took[options.warm_up:], loss, WORK.now() - before


def since_the_start_of_this_process():
    with open("/proc/self/stat", encoding="ascii", errors="replace") as stat:
        ticks = int(stat.read().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--warm-up", type=int, default=5)
    parser.add_argument("--checkpoint", default="")
    options = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    started = since_the_start_of_this_process()
    took, loss, work = train(options)
    line = json.dumps({"rank": dist.get_rank(), "start_s": started, "step_s": statistics.median(took), "work": work,
                       "unit": WORK.unit, "loss": loss, "torch": torch.__version__})
    os.write(1, f"measured {line}\n".encode())  # at once: the ranks share a pipe
    gc.collect()  # a model that outlives its group can end the process with SIGABRT
    dist.destroy_process_group()


main()
