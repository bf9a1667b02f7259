# torch_nccl.sh: PyTorch's own nccl backend without a GPU: ./dev torch-nccl. Sourced by ./dev.
# shellcheck shell=bash

readonly TORCH_CUDA_VENV=$PWD/.venv-torch-cuda
readonly TORCH_CUDA_TESTED=torch==2.12.1

# Prints the folder of a version: each has its own, so that they do not replace each other. Usage: torch_cuda_venv REQUIREMENT
torch_cuda_venv() {
  if [ "$1" = "$TORCH_CUDA_TESTED" ]; then
    echo "$TORCH_CUDA_VENV"
  else
    echo "$TORCH_CUDA_VENV-${1#torch==}"
  fi
}

# Whether ./dev nccl has built an NCCL that PyTorch 2 can use. It looks up functions of 2.27 and later.
has_newer_nccl() {
  local newest
  newest=$(compgen -G ".nccl/*/built-from" | sort -V | tail -1)
  [ -n "$newest" ] && [ "$(printf '%s\n' .nccl/2.27 "$newest" | sort -V | head -1)" = .nccl/2.27 ]
}

# Installs the CUDA wheel, builds all that it runs over, and imports it there. Usage: torch_nccl [--with-trainers]
torch_nccl() {
  local wanted=${RANKFAULT_TORCH_CUDA:-$TORCH_CUDA_TESTED} venv python=""
  if [[ ! $wanted =~ ^torch==[0-9]+\.[0-9A-Za-z.+]+$ ]]; then
    note "RANKFAULT_TORCH_CUDA must be such as $TORCH_CUDA_TESTED, not $wanted"
    exit 64
  fi
  if [ $# != 0 ] && [ "$*" != --with-trainers ]; then
    note "./dev torch-nccl has one option: --with-trainers"
    exit 64
  fi
  venv=$(torch_cuda_venv "$wanted")
  need_packages "${NEEDED_PACKAGES[@]}"
  want_packages "${PART_PACKAGES[@]}"
  has_newer_nccl || bash cuda_double/nccl_build/nccl.sh .nccl newest
  bash cuda_double/torch/torch.sh "$venv" .nccl "$wanted"
  if [ $# != 0 ]; then bash cuda_double/torch/trainers.sh "$venv"; fi
  find_nccl
  build_some dev "${NCCL_TARGETS[@]}" cuda_double_torch
  say "importing $wanted over the double of CUDA"
  if ! import_torch_over_double "$venv"; then
    # Python names one function that is missing; rankfault names all of them, and does not start the job.
    RANKFAULT_PYTHON=$venv/bin/python build/dev/bin/rankfault run --cuda double --launcher torchrun --ranks 1 -- \
      workloads/pytorch_nccl/ddp.py >&2 || exit $?
    exit 1
  fi
  # rankfault starts the one that the build names
  if [ "$(cat build/dev/lib/cuda_double/torch/python)" != "$venv/bin/python" ]; then python="RANKFAULT_PYTHON=$venv/bin/python "; fi
  say "it works; next: ${python}build/dev/bin/rankfault run --cuda double --launcher torchrun --ranks 2 -- workloads/pytorch_nccl/ddp.py"
  say "its tests: ${python}ctest --preset dev -L torch-nccl"
}

# Usage: import_torch_over_double VENV
import_torch_over_double() {
  local lib=$PWD/build/dev/lib/cuda_double newest
  newest=$(compgen -G "$lib/nccl-*" | sort -V | tail -1)
  LD_LIBRARY_PATH=$newest:$lib/torch:$lib "$1/bin/python" -c '
import torch
assert torch.cuda.is_available(), "torch.cuda.is_available() is false"
print(f"   PyTorch {torch.__version__}, {torch.cuda.device_count()} devices, NCCL", torch.cuda.nccl.version())' >&2
}
