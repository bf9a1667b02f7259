"""all_forms.py: each form of each call of the nccl backend, twice on both of two ranks; the second one may be skipped.

Prints for each form and time: whether the output stayed as it was, by how much the sequence number of the group grew, and how
many entries PyTorch's Flight Recorder got.
"""
import json
import os
import pickle
import warnings

import torch
import torch.distributed as dist

warnings.simplefilter("ignore")
rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
backend = dist.group.WORLD._get_backend(torch.device("cuda"))
seen = {}


def untouched(n=4):
    return torch.full((n,), -1.0).cuda()


def ones(n=4):
    return torch.ones(n).cuda()


def entries():
    return len(pickle.loads(torch._C._distributed_c10d._dump_nccl_trace())["entries"])


def twice(name, call):
    """call(outputs) returns a work, several or none. The outputs begin as -1."""
    for _ in range(2):
        outputs = [untouched(), untouched(), untouched(8)]
        sequence, before = backend._get_sequence_number_for_group(), entries()
        made = call(*outputs)
        for work in made if isinstance(made, list) else [made]:
            if work is not None:
                work.wait()
        torch.cuda.synchronize()
        same = all(out.cpu().eq(-1).all().item() for out in outputs)
        after = backend._get_sequence_number_for_group() - sequence
        seen.setdefault(name, []).append([same, after, entries() - before])


def coalesced(call):
    def make(a, b, big):
        with dist._coalescing_manager(async_ops=True) as works:
            call(a, b, big)
        return list(works.works)

    return make


def batch(a, b, _):
    return dist.batch_isend_irecv([dist.P2POp(dist.isend, ones(), 1 - rank), dist.P2POp(dist.irecv, a, 1 - rank)])


twice("all_reduce", lambda a, b, _: dist.all_reduce(a, async_op=True))
twice("all_reduce, waited", lambda a, b, _: dist.all_reduce(a))
twice("all_reduce, coalesced", coalesced(lambda a, b, _: [dist.all_reduce(x) for x in (a, b)]))
twice("broadcast", lambda a, b, _: dist.broadcast(a if rank else ones(), 0, async_op=True))
twice("reduce", lambda a, b, _: dist.reduce(a, 0, async_op=True))
twice("all_gather", lambda a, b, _: dist.all_gather([a, b], ones(), async_op=True))
twice("all_gather, uneven", lambda a, b, big: dist.all_gather([a, big], ones(8 if rank else 4), async_op=True))
twice("all_gather, one tensor", lambda a, b, big: dist.all_gather_into_tensor(big, ones(), async_op=True))
twice("all_gather, coalesced", coalesced(lambda a, b, big: [dist.all_gather_into_tensor(big, ones()) for _ in (1, 2)]))
twice("reduce_scatter", lambda a, b, _: dist.reduce_scatter(a, [ones(), ones()], async_op=True))
twice("reduce_scatter, one tensor", lambda a, b, _: dist.reduce_scatter_tensor(a, ones(8), async_op=True))
twice("reduce_scatter, coalesced", coalesced(lambda a, b, _: [dist.reduce_scatter_tensor(x, ones(8)) for x in (a, b)]))
twice("all_to_all", lambda a, b, _: dist.all_to_all([a, b], [ones(), ones()], async_op=True))
twice("all_to_all, one tensor", lambda a, b, _: dist.all_to_all_single(a, ones(), async_op=True))
twice("all_to_all, uneven", lambda a, b, _: dist.all_to_all_single(a, ones(), [2, 2], [2, 2], async_op=True))
twice("gather", lambda a, b, _: dist.gather(ones(), None if rank else [a, b], 0, async_op=True))
twice("scatter", lambda a, b, _: dist.scatter(a, None if rank else [ones(), ones()], 0, async_op=True))
twice("barrier", lambda a, b, _: dist.barrier(async_op=True))
twice("message", lambda a, b, _: dist.irecv(a, 0) if rank else dist.isend(ones(), 1))
twice("messages in a batch", batch)

future = None  # of a skipped call: what DDP asks for
if os.environ.get("ASK_FUTURE"):
    work = dist.all_reduce(ones(), async_op=True)  # made
    work = dist.all_reduce(ones(), async_op=True)  # skipped
    value = work.get_future().wait()
    future = [len(value), value[0].shape[0], work.get_future().done(), work.is_completed(), len(work.result())]
print(json.dumps({"rank": rank, "seen": seen, "future": future}), flush=True)
dist.destroy_process_group()
