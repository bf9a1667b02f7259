"""by_ctypes.py: calls NCCL by ctypes beside PyTorch, as servers of language models do: a group on gloo passes the unique id, and
the sums of each layer go to a library that is opened by its path. The script has no code for rankfault or for the double of CUDA.

usage: torchrun --nproc_per_node=2 by_ctypes.py [--requests=N] [--nccl=FILE] [--bug=NAME --by=RANK]
"""
import argparse
import ctypes
import os
import re
import sys

import torch
import torch.distributed as dist

LAYERS = 3
FLOAT, SUM = 7, 0  # ncclFloat32, ncclSum
BUGS = ["leaves-out", "raises", "other-size"]


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=4)
    parser.add_argument("--nccl", default="", metavar="FILE", help="else the library that PyTorch has loaded")
    parser.add_argument("--bug", choices=BUGS, help="the mistake of rank --by in request 3, layer 2")
    parser.add_argument("--by", type=int, default=-1)
    return parser.parse_args()


def nccl_of_pytorch():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return re.search(r"/\S*/libnccl\.so[.\d]*", maps.read()).group()


class UniqueId(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 128)]


class Communicator:
    """A communicator of NCCL over all ranks of the default group, on the current device, with a stream of its own."""

    def __init__(self, path):
        self.nccl = ctypes.CDLL(path)
        unique_id, self.handle = UniqueId(), ctypes.c_void_p()
        if dist.get_rank() == 0:
            self.check(self.nccl.ncclGetUniqueId(ctypes.byref(unique_id)))
        shared = torch.tensor(list(unique_id.bytes), dtype=torch.uint8)
        dist.broadcast(shared, src=0)
        ctypes.memmove(ctypes.byref(unique_id), bytes(shared.tolist()), ctypes.sizeof(unique_id))
        self.nccl.ncclCommInitRank.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, UniqueId, ctypes.c_int]
        self.check(self.nccl.ncclCommInitRank(ctypes.byref(self.handle), dist.get_world_size(), unique_id, dist.get_rank()))
        self.stream = torch.cuda.Stream()

    def check(self, status):
        self.nccl.ncclGetErrorString.restype = ctypes.c_char_p
        if status != 0:
            raise RuntimeError(f"NCCL: {self.nccl.ncclGetErrorString(status).decode()}")

    def sum(self, tensor):
        address = ctypes.c_void_p(tensor.data_ptr())
        self.check(self.nccl.ncclAllReduce(address, address, ctypes.c_size_t(tensor.numel()), FLOAT, SUM, self.handle,
                                           ctypes.c_void_p(self.stream.cuda_stream)))

    def close(self):
        self.check(self.nccl.ncclCommDestroy(self.handle))


class Server:
    def __init__(self, options):
        self.options = options
        self.communicator = Communicator(options.nccl or nccl_of_pytorch())

    def makes(self, bug, request, layer):
        return self.options.bug == bug and self.options.by == dist.get_rank() and (request, layer) == (3, 2)

    def layer(self, part, request, layer):
        if self.makes("raises", request, layer):
            raise ValueError(f"rank {dist.get_rank()} has no weights for layer {layer}")
        if self.makes("other-size", request, layer):
            part = part[:8]
        if not self.makes("leaves-out", request, layer):
            self.communicator.sum(part)

    def answer(self, request):
        part = torch.full([16], float(request)).cuda()
        torch.cuda.current_stream().synchronize()
        with torch.cuda.stream(self.communicator.stream):
            for layer in range(1, LAYERS + 1):
                self.layer(part, request, layer)
            self.communicator.stream.synchronize()
        return part.cpu()[0].item()


def main():
    options = parse()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("gloo")
    server = Server(options)
    for request in range(1, options.requests + 1):
        answer = server.answer(request)
        if dist.get_rank() == 0:
            print(f"request {request} answer {answer:.0f}", flush=True)
    server.communicator.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
