#!/usr/bin/env bash
# rename.sh: gives NCCL's own entries that the model takes over another name, in these objects alone: ncclX
# becomes own_ncclX and pncclX own_pncclX, so that neither name goes past the model. usage: rename.sh OBJECTS
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
while read -r entry; do
  case $entry in '#'* | '') continue ;; esac
  printf '%s own_%s\np%s own_p%s\n' "$entry" "$entry" "$entry" "$entry"
done <"$here/entries.txt" >"$1/../renamed"
for object in "$1"/*.o; do
  objcopy --redefine-syms="$1/../renamed" "$object"
done
