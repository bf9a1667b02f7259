#!/usr/bin/env bash
# from_source.sh: compiles NCCL's host part (2.29 and later) with g++ alone. Its kernels become empty functions.
# usage: from_source.sh NCCL_SOURCE OUT CUDA_INCLUDE. The sources are read, never written.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$1" && pwd) out=$2 cuda=$3
src=$top/src
gdaki=transport/net_ib/gdaki/doca-gpunetio
generated=$out/generated include=$out/include

number() { sed -n "s/^NCCL_$1 *:= *//p" "$top/makefiles/version.mk"; }

# The headers that NCCL's own makefile generates or copies.
make_headers() {
  local major minor patch
  major=$(number MAJOR) minor=$(number MINOR) patch=$(number PATCH)
  mkdir -p "$include/nccl_device/gin/gdaki/doca_gpunetio"
  sed -e "s/\${nccl:Major}/$major/g;s/\${nccl:Minor}/$minor/g;s/\${nccl:Patch}/$patch/g;s/\${nccl:Suffix}//g" \
    -e "s/\${nccl:Version}/$((major * 10000 + minor * 100 + patch))/g" "$src/nccl.h.in" >"$include/nccl.h"
  cp -r "$src"/include/nccl_device* "$include/"
  cp -r "$src/$gdaki/include/." "$include/nccl_device/gin/gdaki/doca_gpunetio/"
  printf '#define NCCL_GIT_%s "none"\n' BRANCH COMMIT_HASH >"$include/nccl_git_version.h"
}

# The tables of kernels, by NCCL's own generators; then each declaration of a kernel gets an empty body.
make_tables() {
  mkdir -p "$generated/symmetric"
  (cd "$src/device" && python3 -B generate.py "$generated" "" && python3 -B symmetric/generate.py "$generated/symmetric")
  sed -i -E 's/^( *__global__ void nccl(Symk)?DevKernel[^;]*);$/\1 {}/' \
    "$generated/host_table.cc" "$generated/symmetric/sym_kernels_host.cc"
}

list_sources() {
  (cd "$src" && find . -name '*.cc' -o -path "./$gdaki/src/*.cpp") | sed 's#^\./##' | sort |
    grep -v -e '^device/' -e '^enhcompat\.cc$' -e '^ras/client\.cc$' -e '^os/windows\.cc$'
  echo "$generated/host_table.cc"
  echo "$generated/symmetric/sym_kernels_host.cc"
  echo "$here/source_extras.cc"
}

# Compiles one source into OUT/objects; run by xargs, so with words of its own.
compile() {
  local object error
  object=$OUT/objects/$(printf %s "$1" | sed "s#^$OUT/##;s#^$HERE/##" | tr / _).o
  if ! error=$(g++ "@$OUT/flags" -c "$1" -o "$object" 2>&1); then
    printf '%s: %s\n' "$1" "$(grep -m1 error <<<"$error")" >&2
    return 255 # xargs stops here
  fi
}

export CUDA_MAJOR=12 CUDA_MINOR=9 # generate.py asks for these, too
mkdir -p "$out/objects"
make_headers
make_tables
# A file, one word a line in quotes: a path may have blanks. Of what NCCL's own -O3 does, -foptimize-strlen makes one calloc
# of malloc and memset: 32 ranks have 3.6 GB for their topologies, and write to few of these pages.
printf '"%s"\n' -std=c++17 -O1 -foptimize-strlen -w -fPIC -fvisibility=hidden -DNCCL_OS_LINUX -DPROFAPI -DNCCL_GIN_PROXY_ENABLE=1 \
  -DDOCA_VERBS_USE_CUDA_WRAPPER -DDOCA_VERBS_USE_NET_WRAPPER "-DCUDA_MAJOR=$CUDA_MAJOR" "-DCUDA_MINOR=$CUDA_MINOR" \
  "-I$src" "-I$include" "-I$src/include" "-I$src/include/plugin" "-I$src/device" "-I$src/$gdaki/include" "-I$src/$gdaki/src" \
  "-I$cuda" >"$out/flags"
export OUT=$out HERE=$here
export -f compile
cd "$src"
if ! compile "$here/net_progress.cc"; then
  echo "net_progress.cc does not fit this NCCL: over sockets, ncclCommDestroy will not return after a collective" >&2
fi
list_sources | xargs -P "${RANKFAULT_JOBS:-$(nproc)}" -d '\n' -n 1 bash -c 'compile "$1"' compile
