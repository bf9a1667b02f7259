"""Rank 1 sleeps for a minute in the middle of the job."""
import time

import job


def clean_up_files():
    time.sleep(60)  # culprit


def main(rank):
    model = job.make_model()
    optimizer = job.optimizer_of(model)
    for step in range(job.STEPS):
        if rank == 1 and step == 3 and not job.CORRECT:
            clean_up_files()
        job.train_step(model, optimizer, job.batch())
    job.end()


job.run(main)
