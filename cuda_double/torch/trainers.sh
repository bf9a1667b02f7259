#!/usr/bin/env bash
# trainers.sh: adds the trainers of other people to VENV, which torch.sh made: ./dev torch-nccl --with-trainers. They require PyTorch,
# which requires NVIDIA's packages, so each comes without its requirements, and those that are not PyTorch come after it.
#
# usage: trainers.sh VENV
# Exit: 0 installed or there already, 64 wrong use, 77 could not be fetched (with the reason).
set -euo pipefail

TRAINERS=(transformers==5.24.0 accelerate==1.15.0 lightning==2.6.6 pytorch-lightning==2.6.6 torchmetrics==1.9.0
  lightning-utilities==0.15.3)

say() { printf '== %s\n' "$*" >&2; }
note() { printf '   %s\n' "$*" >&2; }

# Prints what the trainers require, without PyTorch and each other.
requirements() {
  "$python" - "${TRAINERS[@]%%==*}" <<'END_OF_PROGRAM'
import importlib.metadata
import re
import sys

own = {"torch", *sys.argv[1:]}
for trainer in sys.argv[1:]:
    for line in importlib.metadata.requires(trainer) or []:
        name = re.match(r"[\w-]+", line).group().replace("_", "-")
        if "extra ==" not in line and name not in own:
            print(line)
END_OF_PROGRAM
}

# A failure skips, with its reason. Usage: pip_or_skip WORD...
pip_or_skip() {
  local log=$VENV/pip.log
  "$python" -m pip install --quiet --disable-pip-version-check "$@" >"$log" 2>&1 && return
  note "the trainers cannot be installed: $(grep -m1 ERROR "$log" || tail -1 "$log") (all of it: $log)"
  exit 77
}

if [ $# != 1 ] || [ ! -x "$1/bin/python" ]; then
  note "usage: trainers.sh VENV, which torch.sh made"
  exit 64
fi
VENV=$1 python=$1/bin/python
say "installing ${TRAINERS[*]} into ${VENV##*/}"
pip_or_skip --no-deps "${TRAINERS[@]}"
mapfile -t needed < <(requirements)
pip_or_skip "${needed[@]}"
