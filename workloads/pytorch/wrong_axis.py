"""Four ranks in a grid: columns share a model, rows share data. Rank 1 takes the wrong group for its gradients."""
import torch
import torch.distributed as dist

import job


def main(rank):
    columns, rows = [dist.new_group([0, 2]), dist.new_group([1, 3])], [dist.new_group([0, 1]), dist.new_group([2, 3])]
    of_model, of_data = columns[rank % 2], rows[rank // 2]
    layer = torch.nn.Linear(8, 8)
    for step in range(job.STEPS):
        loss = layer(torch.randn(2, 8)).sum()
        dist.all_reduce(loss.detach().clone(), group=of_model)
        loss.backward()
        group = of_model if rank == 1 and step == 3 and not job.CORRECT else of_data
        dist.all_reduce(layer.weight.grad, group=group)  # culprit
    job.end()


job.run(main)
