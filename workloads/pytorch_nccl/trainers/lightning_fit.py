"""lightning_fit.py: trains a small network with Lightning's Trainer and its DDP strategy, run by torchrun. The script has no code for
rankfault or for the double of CUDA.

usage: torchrun --nproc_per_node=2 lightning_fit.py [--epochs=N] [--bug=NAME --by=RANK]
"""
import argparse
import os
import sys
import tempfile

import lightning
import torch
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from lightning.pytorch.strategies import DDPStrategy

BUGS = ["logs-alone", "raises", "barrier", "data-ends"]


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--bug", choices=BUGS, help="the mistake of rank --by")
    parser.add_argument("--by", type=int, default=-1)
    return parser.parse_args()


class Network(lightning.LightningModule):
    def __init__(self, bug):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
        self.bug = bug

    def loss(self, batch):
        inputs, targets = batch
        return torch.nn.functional.mse_loss(self.layers(inputs), targets)

    def training_step(self, batch, index):
        loss = self.loss(batch)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        self.log("validation_loss", self.loss(batch), sync_dist=True)

    def on_validation_epoch_end(self):
        if self.bug == "logs-alone":
            self.log("validations", 1.0, sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


class Mistake(Callback):
    """What a user's callback does wrong on one rank."""

    def __init__(self, bug):
        self.bug = bug

    def on_train_batch_end(self, trainer, network, outputs, batch, index):
        if trainer.global_step != 3:
            return
        if self.bug == "raises":
            raise ValueError("the callback has no such metric")
        if self.bug == "barrier":
            torch.distributed.barrier()


def loader(size):
    random = torch.Generator().manual_seed(1)
    data = torch.utils.data.TensorDataset(torch.randn(size, 16, generator=random), torch.randn(size, 4, generator=random))
    return torch.utils.data.DataLoader(data, batch_size=4)


def main():
    options = parse()
    bug = options.bug if int(os.environ["RANK"]) == options.by else None
    ranks = int(os.environ["WORLD_SIZE"])
    lightning.seed_everything(1, verbose=False)
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            accelerator="gpu", devices=ranks, strategy=DDPStrategy(process_group_backend="cpu:gloo,cuda:nccl"), logger=False,
            max_epochs=options.epochs, num_sanity_val_steps=0, enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder,
            callbacks=[ModelCheckpoint(save_last=True), Mistake(bug)])
        trainer.fit(Network(bug), loader(16 if bug == "data-ends" else 48), loader(16))
        if trainer.is_global_zero:
            print(f"ends after step {trainer.global_step}", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
