"""Rank 1 leaves out the last block of the model, so its parameters get no gradient there."""
import torch

import job


class Model(job.Model):
    uses_all = True

    def forward(self, x):
        x = self.tokens(x)
        for block in self.blocks if self.uses_all else self.blocks[:-1]:
            x = block(x)
        return self.head(x)


def main(rank):
    model = torch.nn.parallel.DistributedDataParallel(Model(), bucket_cap_mb=0.01)
    optimizer = job.optimizer_of(model)
    for step in range(job.STEPS):
        model.module.uses_all = job.CORRECT or rank != 1 or step != 3
        optimizer.zero_grad()
        job.loss_of(model, job.batch()).backward()  # culprit
        optimizer.step()
    job.end()


job.run(main)
