# torch_nccl.sh: PyTorch's own nccl backend without a GPU: ./dev torch-nccl. Sourced by ./dev.
# shellcheck shell=bash

readonly TORCH_CUDA_VENV=$PWD/.venv-torch-cuda
readonly TORCH_CUDA_TESTED=torch==2.12.1

# Whether ./dev nccl has built an NCCL that PyTorch 2 can use. It looks up functions of 2.27 and later.
has_newer_nccl() {
  local newest
  newest=$(compgen -G ".nccl/*/built-from" | sort -V | tail -1)
  [ -n "$newest" ] && [ "$(printf '%s\n' .nccl/2.27 "$newest" | sort -V | head -1)" = .nccl/2.27 ]
}

# Installs the CUDA wheel, builds all that it runs over, and imports it there.
torch_nccl() {
  local wanted=${RANKFAULT_TORCH_CUDA:-$TORCH_CUDA_TESTED}
  need_packages "${NEEDED_PACKAGES[@]}"
  want_packages "${PART_PACKAGES[@]}"
  has_newer_nccl || bash cuda_double/nccl_build/nccl.sh .nccl newest
  bash cuda_double/torch/torch.sh "$TORCH_CUDA_VENV" .nccl "$wanted"
  find_nccl
  build_some dev "${NCCL_TARGETS[@]}" cuda_double_torch
  say "importing $wanted over the double of CUDA"
  import_torch_over_double
  say "it works; next: build/dev/bin/rankfault run --cuda double --launcher torchrun --ranks 2 -- workloads/pytorch_nccl/ddp.py"
}

import_torch_over_double() {
  local lib=$PWD/build/dev/lib/cuda_double newest
  newest=$(compgen -G "$lib/nccl-*" | sort -V | tail -1)
  LD_LIBRARY_PATH=$newest:$lib/torch:$lib "$TORCH_CUDA_VENV/bin/python" -c '
import torch
assert torch.cuda.is_available(), "torch.cuda.is_available() is false"
print(f"   PyTorch {torch.__version__}, {torch.cuda.device_count()} devices, NCCL", torch.cuda.nccl.version())' >&2
}
