"""hf_trainer.py: trains a tiny random language model with the Trainer of Hugging Face's transformers, run by torchrun. The script has
no code for rankfault or for the double of CUDA.

usage: torchrun --nproc_per_node=2 hf_trainer.py [--steps=N] [--bug=NAME --by=RANK]
"""
import argparse
import sys
import tempfile

import torch
import torch.distributed as dist
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

WORDS, LENGTH = 64, 16
BUGS = ["skips-evaluation", "raises", "barrier", "data-ends"]


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--bug", choices=BUGS, help="the mistake of rank --by in step 3")
    parser.add_argument("--by", type=int, default=-1)
    return parser.parse_args()


class Texts(torch.utils.data.Dataset):
    def __init__(self, size):
        self.words = torch.randint(WORDS, (size, LENGTH), generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.words)

    def __getitem__(self, index):
        return {"input_ids": self.words[index], "labels": self.words[index]}


class Mistake(TrainerCallback):
    """What a user's callback does wrong on one rank."""

    def __init__(self, bug):
        self.bug = bug

    def on_step_end(self, args, state, control, **others):
        if state.global_step != 3:
            return
        if self.bug == "raises":
            raise ValueError("the callback has no such metric")
        if self.bug == "skips-evaluation":
            control.should_evaluate = False
        if self.bug == "barrier":
            dist.barrier()


def arguments(folder):
    return TrainingArguments(
        output_dir=folder, num_train_epochs=1, per_device_train_batch_size=4, per_device_eval_batch_size=4, eval_strategy="steps",
        eval_steps=3, logging_steps=2, save_strategy="steps", save_steps=3, report_to=[], disable_tqdm=True, seed=1)


def main():
    options = parse()
    torch.manual_seed(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=WORDS, n_positions=LENGTH, n_embd=32, n_layer=2, n_head=2))
    with tempfile.TemporaryDirectory() as folder:
        settings = arguments(folder)
        bug = options.bug if settings.process_index == options.by else None
        steps = 2 if bug == "data-ends" else options.steps
        texts = Texts(steps * settings.world_size * settings.per_device_train_batch_size)
        trainer = Trainer(model=model, args=settings, train_dataset=texts, eval_dataset=Texts(16), callbacks=[Mistake(bug)])
        result = trainer.train()
        if trainer.is_world_process_zero():
            print(f"ends after step {result.global_step}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
