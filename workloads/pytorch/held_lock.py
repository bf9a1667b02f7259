"""A thread of rank 1 keeps a lock that the training loop needs."""
import threading

import job

LOCK = threading.Lock()


def report(metrics, rank):
    if rank == 1 and not job.CORRECT:
        threading.Thread(target=LOCK.acquire).start()  # it is never released
        threading.Event().wait(0.1)
    with LOCK:  # culprit
        metrics["steps"] = metrics.get("steps", 0) + 1


def main(rank):
    model = job.make_model()
    optimizer = job.optimizer_of(model)
    metrics = {}
    for step in range(job.STEPS):
        job.train_step(model, optimizer, job.batch())
        if step == 3:
            report(metrics, rank)
    job.end()


job.run(main)
