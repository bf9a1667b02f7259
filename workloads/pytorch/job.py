"""job.py: what the small PyTorch jobs of this folder share. Each job has one bug; with --correct it has none.

usage: torchrun --nproc_per_node=4 JOB.py [--correct]

A bug is on the line that ends with "# culprit". Rank 1 has it, if the job does not say another one.
"""
import datetime
import gc
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

CORRECT = "--correct" in sys.argv
STEPS = 6


def run(main):
    """Joins the job, and calls main(rank)."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
    torch.manual_seed(1)
    main(dist.get_rank())
    gc.collect()  # a model that outlives the interpreter ends it with SIGABRT now and then
    dist.destroy_process_group()


def end():
    dist.barrier()


class Block(torch.nn.Module):
    """A block of a transformer: attention and a perceptron, each with its norm."""

    def __init__(self, width):
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(2))
        self.attention = torch.nn.MultiheadAttention(width, 2, batch_first=True)
        self.perceptron = torch.nn.Sequential(torch.nn.Linear(width, 2 * width), torch.nn.GELU(), torch.nn.Linear(2 * width, width))

    def forward(self, x):
        y = self.norms[0](x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.perceptron(self.norms[1](x))


class Model(torch.nn.Module):
    """A very small language model."""

    def __init__(self, tokens=50, width=16, blocks=2):
        super().__init__()
        self.tokens = torch.nn.Embedding(tokens, width)
        self.blocks = torch.nn.ModuleList(Block(width) for _ in range(blocks))
        self.head = torch.nn.Linear(width, tokens)

    def forward(self, x):
        x = self.tokens(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def make_model(**of_ddp):
    return DistributedDataParallel(Model(), bucket_cap_mb=0.01, **of_ddp)


def batch():
    return torch.randint(0, 50, (2, 8))


def loss_of(model, tokens):
    return torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())


def optimizer_of(model):
    return torch.optim.SGD(model.parameters(), lr=0.1)


def train_step(model, optimizer, tokens):
    optimizer.zero_grad()
    loss = loss_of(model, tokens)
    loss.backward()
    optimizer.step()
    return loss
