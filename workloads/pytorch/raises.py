"""A batch cannot be read on rank 1: it raises, and the others wait."""
import job


def read_batch(rank, step):
    if rank == 1 and step == 3 and not job.CORRECT:
        raise ValueError("the sample has no label")  # culprit
    return job.batch()


def main(rank):
    model = job.make_model()
    optimizer = job.optimizer_of(model)
    for step in range(job.STEPS):
        job.train_step(model, optimizer, read_batch(rank, step))
    job.end()


job.run(main)
