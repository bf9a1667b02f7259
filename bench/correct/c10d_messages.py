"""c10d_messages: messages between ranks: blocking, pending, in batches, from any source."""
import torch
import torch.distributed as dist


def shift(w):
    to, source = (w.rank + 1) % w.size, (w.rank - 1) % w.size
    got = torch.zeros(1)
    if w.rank % 2 == 0 and not (w.size % 2 == 1 and w.rank == w.size - 1):
        dist.send(torch.tensor([float(w.rank)]), to)
        dist.recv(got, source)
    else:
        dist.recv(got, source)
        dist.send(torch.tensor([float(w.rank)]), to)
    w.check(got.item() == source, "a shift")


def ring(w):
    """One number goes around the ring once."""
    number = torch.zeros(1)
    if w.rank == 0:
        dist.send(number, 1)
        dist.recv(number, w.size - 1)
        w.check(number.item() == w.size - 1, "a ring")
    else:
        dist.recv(number, w.rank - 1)
        number += 1
        dist.send(number, (w.rank + 1) % w.size)


def pending_messages(w):
    """Each rank sends to each other rank, and waits for the messages in any order."""
    others = [r for r in range(w.size) if r != w.rank]
    got = {r: torch.zeros(1) for r in others}
    works = [dist.irecv(got[r], r) for r in others] + [dist.isend(torch.tensor([float(w.rank)]), r) for r in others]
    w.own.shuffle(works)
    for work in works:
        work.wait()
    w.check(all(got[r].item() == r for r in others), "pending messages")


def batch(w):
    to, source = (w.rank + 1) % w.size, (w.rank - 1) % w.size
    got = torch.zeros(3)
    messages = [dist.P2POp(dist.isend, torch.full((3,), float(w.rank)), to), dist.P2POp(dist.irecv, got, source)]
    for work in dist.batch_isend_irecv(messages):
        work.wait()
    w.check(got.tolist() == [source] * 3, "a batch")


def funnel(w):
    """All ranks send to one, which receives from any source. A barrier keeps later messages out."""
    root = w.common.randrange(w.size)
    if w.rank == root:
        total = 0.0
        for _ in range(w.size - 1):
            got = torch.zeros(1)
            dist.recv(got, tag=9)
            total += got.item()
        w.check(total == sum(range(w.size)) - root, "a funnel")
    else:
        w.pause_sometimes()
        dist.send(torch.tensor([float(w.rank)]), root, tag=9)
    dist.barrier()


def tagged(w):
    """Rank 0 sends two messages with tags; the others take them in the other order."""
    if w.rank == 0:
        works = [dist.isend(torch.tensor([float(tag)]), r, tag=tag) for r in range(1, w.size) for tag in (5, 6)]
        for work in works:
            work.wait()
        return
    second, first = torch.zeros(1), torch.zeros(1)
    dist.recv(second, 0, tag=6)
    dist.recv(first, 0, tag=5)
    w.check((first.item(), second.item()) == (5, 6), "tagged messages")


FEATURES = {shift: 4, ring: 4, pending_messages: 4, batch: 4, funnel: 4, tagged: 3}
