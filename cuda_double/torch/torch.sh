#!/usr/bin/env bash
# torch.sh: brings an ordinary CUDA wheel of PyTorch into VENV, without the packages of NVIDIA that it names: ./dev
# torch-nccl. Writes VENV/cuda-imports.txt: the functions for which the build makes stand-ins.
#
# usage: torch.sh VENV FOLDER REQUIREMENT   FOLDER: that of nccl.sh; REQUIREMENT: torch==2.12.1
# Exit: 0 installed or there already, 64 wrong use, 77 could not be fetched (with the reason), else a step failed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
. "$here/../nccl_build/fetch.sh"

say() { printf '== %s\n' "$*" >&2; }
note() { printf '   %s\n' "$*" >&2; }
no_torch() {
  note "PyTorch's nccl backend over a double of CUDA: skipped: $*"
  exit 77
}

# Runs pip in VENV. A failure skips, with its reason. Usage: pip_or_skip WHAT WORD...
pip_or_skip() {
  local what=$1 log=$VENV/pip.log
  shift
  "$python" -m pip install --quiet --disable-pip-version-check "$@" >"$log" 2>&1 ||
    no_torch "$what cannot be installed: $(grep -m1 ERROR "$log" || tail -1 "$log") (all of it: $log)"
}

# Prints what the wheel requires, without the packages of NVIDIA and triton, which compiles for them. NumPy is optional for
# PyTorch, but not for most scripts.
requirements() {
  "$python" - <<'END_OF_PROGRAM'
import importlib.metadata
import re

for line in importlib.metadata.requires("torch"):
    if not re.match(r"nvidia|cuda|triton", line) and "extra ==" not in line:
        print(line)
print("numpy")
END_OF_PROGRAM
}

install_wheel() {
  local needed
  [ -x "$python" ] || python3 -m venv "$VENV" || no_torch "python3 cannot make a virtual environment (python3-venv)"
  if [ "$("$python" -c 'import importlib.metadata as m; print(m.version("torch"))' 2>/dev/null)" = "${wanted#torch==}" ]; then
    note "$wanted: installed already"
  else
    say "installing $wanted into ${VENV##*/}, without NVIDIA's packages (500 to 900 MB)"
    pip_or_skip "$wanted" --no-deps "$wanted"
  fi
  mapfile -t needed < <(requirements)
  pip_or_skip "what $wanted requires" "${needed[@]}"
}

# The file stays as old as it is if nothing has changed, so that nothing is built again.
list_imports() {
  local site list=$VENV/cuda-imports.txt
  site=$("$python" -c 'import importlib.metadata as m; print(m.distribution("torch").locate_file("torch"))')
  "$python" "$here/imports.py" "$site/lib" >"$list.part" || { note "$wanted is not a wheel for CUDA"; exit 64; }
  cmp --quiet "$list.part" "$list" || cp "$list.part" "$list"
  rm -f "$list.part"
  note "$(grep -cv -e '- -$' "$list") functions of $(cut -d' ' -f1 "$list" | sort -u | wc -l) libraries of CUDA are imported"
}

[ $# = 3 ] || { note "usage: torch.sh VENV FOLDER REQUIREMENT"; exit 64; }
wanted=$3
case $wanted in
  torch==[0-9]*.*) ;;
  *) note "RANKFAULT_TORCH_CUDA must be such as torch==2.12.1, not $wanted"; exit 64 ;;
esac
# shellcheck disable=SC2034 # fetch.sh uses FOLDER
VENV=$(mkdir -p "$1" && cd "$1" && pwd) FOLDER=$(mkdir -p "$2" && cd "$2" && pwd)
python=$VENV/bin/python
install_wheel
list_imports
if grep -q '^libcudart\.so\.13 ' "$VENV/cuda-imports.txt"; then fetch_cuda_headers 13 "${CUDA13_WHEELS[@]}"; fi
