"""Rank 1 has one micro-batch less, and each micro-batch is synchronised."""
import job


def main(rank):
    model = job.make_model()
    optimizer = job.optimizer_of(model)
    for step in range(job.STEPS):
        optimizer.zero_grad()
        for _ in range(2 if rank == 1 and step == 3 and not job.CORRECT else 3):
            job.loss_of(model, job.batch()).backward()  # culprit
        optimizer.step()
    job.end()


job.run(main)
