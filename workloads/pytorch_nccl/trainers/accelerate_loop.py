"""accelerate_loop.py: a training loop with Hugging Face's accelerate, with evaluation and checkpoints, run by accelerate launch. The
script has no code for rankfault or for the double of CUDA.

usage: accelerate launch --multi_gpu --num_processes=2 accelerate_loop.py [--epochs=N] [--bug=NAME --by=RANK]
"""
import argparse
import sys
import tempfile

import torch
from accelerate import Accelerator

BUGS = ["skips-evaluation", "gathers-alone", "waits-alone", "raises"]


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--bug", choices=BUGS, help="the mistake of rank --by after epoch 1")
    parser.add_argument("--by", type=int, default=-1)
    return parser.parse_args()


def loader(size, seed):
    random = torch.Generator().manual_seed(seed)
    data = torch.utils.data.TensorDataset(torch.randn(size, 16, generator=random), torch.randn(size, 4, generator=random))
    return torch.utils.data.DataLoader(data, batch_size=4, shuffle=seed == 1)


class Training:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.accelerator = Accelerator(gradient_accumulation_steps=2)
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.model, self.optimizer, self.train_loader, self.eval_loader = self.accelerator.prepare(
            model, optimizer, loader(48, 1), loader(20, 2))

    def makes(self, bug, epoch):
        return self.options.bug == bug and self.options.by == self.accelerator.process_index and epoch == 1

    def train(self):
        for inputs, targets in self.train_loader:
            with self.accelerator.accumulate(self.model):
                loss = torch.nn.functional.mse_loss(self.model(inputs), targets)
                self.accelerator.backward(loss)
                if self.accelerator.sync_gradients:
                    self.accelerator.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                self.optimizer.zero_grad()

    def evaluate(self):
        seen = 0
        with torch.no_grad():
            for inputs, targets in self.eval_loader:
                outputs, _ = self.accelerator.gather_for_metrics((self.model(inputs), targets))
                seen += len(outputs)
        return seen

    def epoch(self, epoch):
        self.train()
        if self.makes("raises", epoch):
            raise ValueError("unknown metric")
        if self.makes("gathers-alone", epoch):
            self.accelerator.gather(torch.zeros(1, device=self.accelerator.device))
        seen = 0 if self.makes("skips-evaluation", epoch) else self.evaluate()
        self.accelerator.print(f"epoch {epoch}: evaluated {seen} samples", flush=True)
        if self.makes("waits-alone", epoch):
            self.accelerator.wait_for_everyone()
        self.accelerator.save_state(self.folder)


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        training = Training(options, folder)
        for epoch in range(1, options.epochs + 1):
            training.epoch(epoch)
        training.accelerator.wait_for_everyone()
        training.accelerator.end_training()


if __name__ == "__main__":
    sys.exit(main())
