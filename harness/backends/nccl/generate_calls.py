#!/usr/bin/env python3
"""generate_calls.py: makes calls.def, the list of NCCL names the agent interposes, from nccl.h headers
and libraries.

    generate_calls.py nccl.h libnccl.so.2... > calls.def

The list is the union of what the headers declare and the libraries export (the device API's host half
stands in no public header). The CUDA names at the end are the host waits by which a
program itself sees its stream's work complete, and what tells which work they wait for, of the runtime and of
the driver; nccl.so wraps them, nobody else does.
"""
import pathlib
import re
import subprocess
import sys

QUERY = r"nccl(Get.*|Comm(Count|CuDevice|UserRank|MemStats|QueryProperties|GetUniqueId)|Param.*|Team.*|WinGetUserPtr|LLA2ACalcSlots)"
OTHER = r"nccl(Mem.*|Comm(Register|Deregister|Window.*|Suspend|Resume)|RedOp.*|SetEncryption|.*Requirement|LLA2A.*|DevCommDestroy|ResetDebug.*|GroupSimulateEnd)"
RMA = r"nccl(PutSignal|Signal|WaitSignal)"
CUDA = """cudaStreamSynchronize cudaStreamQuery cudaStreamWaitEvent cudaStreamDestroy cudaEventRecord
cudaEventRecordWithFlags cudaEventQuery cudaEventSynchronize cudaEventDestroy cudaDeviceSynchronize cudaMemcpy
cudaMemcpyAsync cudaFree cuStreamSynchronize cuStreamQuery cuStreamWaitEvent cuStreamDestroy_v2 cuEventRecord
cuEventRecordWithFlags cuEventQuery cuEventSynchronize cuEventDestroy_v2 cuCtxSynchronize cuMemcpy cuMemcpyDtoH_v2
cuMemcpyHtoD_v2
cudaMalloc cudaMallocHost cudaHostAlloc cudaHostRegister cudaMallocAsync
cudaMallocFromPoolAsync cudaMallocManaged cuMemAlloc_v2 cuMemCreate
cudaLaunchKernel cudaLaunchKernelExC cudaLaunchCooperativeKernel __cudaLaunchKernel cuLaunchKernel cuLaunchKernelEx
cudaGetDriverEntryPoint cudaGetDriverEntryPointByVersion cudaGetLastError cudaPeekAtLastError""".split()


def classify(name):
    for pattern, word in ((QUERY, "QUERY"), (OTHER, "OTHER"), (RMA, "RMA")):
        if re.fullmatch(pattern, name):
            return word
    return "COMMUNICATION"


def main(headers):
    names = set()
    for header in headers:
        if ".so" in header:
            exported = subprocess.run(["nm", "-D", "--defined-only", header], capture_output=True, text=True, check=True)
            names |= set(re.findall(r" [TW] (nccl[A-Z]\w*)$", exported.stdout, re.M))
            continue
        text = re.sub(r"/\*.*?\*/", "", pathlib.Path(header).read_text(), flags=re.S)
        names |= set(re.findall(r"^\s*[\w ]+[ *]+(nccl[A-Z]\w*)\s*\([^;{]*\)\s*;", text, re.M))
    print("/* calls.def: every function of nccl.h, with what a call of it means when no decoder understands")
    print(" * it. Made by generate_calls.py; do not edit. */")
    print("RF_LIBRARY(nccl, RF_LIB_NCCL)")
    for name in sorted(names):
        print(f"RF_CALL({name}, {classify(name)})")
    print("RF_LIBRARY(cuda, RF_LIB_CUDA)")
    for name in CUDA:
        print(f"RF_CALL({name}, QUERY)")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
