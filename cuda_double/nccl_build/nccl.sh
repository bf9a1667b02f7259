#!/usr/bin/env bash
# nccl.sh: brings NCCL's own host code into FOLDER, with one subfolder per version: ./dev nccl.
#
# usage: nccl.sh FOLDER [VERSION]...   VERSION: stable, newest (default: both)
# Changes nothing outside FOLDER. With RANKFAULT_NCCL_SRC=folder it builds that source tree and fetches no NCCL.
# Exit: 0 built or there already, 64 wrong use, 77 could not be fetched (with the reason), else a step failed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
. "$here/fetch.sh"

say() { printf '== %s\n' "$*" >&2; }
note() { printf '   %s\n' "$*" >&2; }

# Usage: build_version VERSION KIND INPUT: puts renamed objects into FOLDER/VERSION, and writes `built-from`
# last.
build_version() {
  local version=$1 kind=$2 input=$3 out=$FOLDER/$1 origin begin=$SECONDS
  origin=$(origin_of "$input")
  if [ "$(cat "$out/built-from" 2>/dev/null)" = "$origin" ]; then
    note "NCCL $version: built already"
    return
  fi
  say "building the host part of NCCL $version ($kind)"
  rm -rf "$out"
  mkdir -p "$out"
  bash "$here/from_$kind.sh" "$input" "$out" "$FOLDER/cuda12/include"
  bash "$here/rename.sh" "$out/objects"
  printf '%s\n' "$origin" >"$out/built-from"
  note "NCCL $version: $(find "$out/objects" -name '*.o' | wc -l) objects in $((SECONDS - begin)) s"
}

# What identifies a build: all files of its input, and the scripts that build.
origin_of() {
  local list
  list=$(find "$1" "$here" -type f ! -name nccl.sh ! -name fetch.sh -print0 | sort -z | xargs -0 sha256sum)
  printf '%s\n' "$list" | sed "s#$1##;s#$here##" | sha256sum | cut -d' ' -f1
}

# Prints the version that a source tree states.
version_of() {
  local part value version=
  for part in MAJOR MINOR PATCH; do
    value=$(sed -n "s/^NCCL_$part *:= *//p" "$1/makefiles/version.mk")
    version+=${version:+.}$value
  done
  echo "$version"
}

FOLDER=$(mkdir -p "$1" && cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- stable newest
fetch_cuda_headers 12 "${CUDA12_WHEELS[@]}"
if [ -n "${RANKFAULT_NCCL_SRC:-}" ]; then
  [ -f "$RANKFAULT_NCCL_SRC/makefiles/version.mk" ] || {
    note "RANKFAULT_NCCL_SRC=$RANKFAULT_NCCL_SRC is no source tree of NCCL (no makefiles/version.mk)"
    exit 64
  }
  build_version "$(version_of "$RANKFAULT_NCCL_SRC")" source "$RANKFAULT_NCCL_SRC"
  exit
fi
prepare_apt
for wanted in "$@"; do
  case $wanted in
    stable)
      archive=$(fetch_stable)
      build_version "$STABLE_VERSION" archive "$archive"
      ;;
    newest)
      tree=$(fetch_newest)
      build_version "$(version_of "$tree")" source "$tree"
      ;;
    *) note "no such version: $wanted (stable, newest)"; exit 64 ;;
  esac
done
