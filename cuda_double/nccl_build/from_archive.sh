#!/usr/bin/env bash
# from_archive.sh: NCCL's host objects out of the static library of a package. Its kernels become empty functions.
# usage: from_archive.sh PACKAGE_FOLDER OUT CUDA_INCLUDE
set -euo pipefail
package=$1 out=$2
archive=$(find "$package" -name libnccl_static.a)
mkdir -p "$out/objects" "$out/include"
cp "$package/usr/include/nccl.h" "$out/include"
# Left out: device code, the glue that carries it, and stand-ins for functions that an old CUDA lacks (enhcompat).
# Members of one name are told apart by their count.
ar t "$archive" |
  grep -v -e '\.cu\.o$' -e '^device_glue' -e '^enhcompat' | sort | uniq -c | while read -r times member; do
  for ((n = 1; n <= times; n++)); do
    (cd "$out/objects" && ar xN "$n" "$archive" "$member" && mv "$member" "$n-$member")
  done
done
cd "$out/objects"
nm --undefined-only ./*.o | awk '$1 == "U" {print $2}' | sort -u >../wanted
nm --defined-only ./*.o | awk 'NF == 3 {print $3}' | sort -u >../there
{
  echo '// kernels.s: every kernel that the host table names, without a body.'
  comm -23 ../wanted ../there | grep -e '^_Z.*ncclDevKernel' -e '^_Z.*ncclLaunchOneRank' |
    sed 's/.*/.globl &\n.hidden &\n.type &,@function\n&: xorl %eax,%eax\nret\n.size &,.-&/'
  echo '.section .note.GNU-stack,"",@progbits'
} >../kernels.s
gcc -c ../kernels.s -o kernels.o
rm ../wanted ../there
