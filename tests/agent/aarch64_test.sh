#!/bin/sh
# aarch64_test: the agent's trampolines on aarch64: cross-built, run under qemu's user mode.
# Usage: aarch64_test.sh SOURCE_DIR WORK_DIR. Skipped (77) without the compiler or qemu.
set -eu
source=$1
work=$2
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)
for need in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ "${qemu:-qemu-aarch64}"; do
  command -v "$need" > /dev/null || { echo "skipped: no $need"; exit 77; }
done
mkdir -p "$work/decoders" "$work/run/records"
rm -f "$work"/run/records/*
flags="-I$source -O2 -Wall"
awk -v out="$work" -v arch=aarch64 -f "$source/harness/agent/make_tables.awk" "$source/tests/agent/fake/calls.def"
core=$(find "$source/harness/agent" -maxdepth 1 -name '*.c' ! -name 'libc_*.c' ! -name fd_paths.c | sort)
# shellcheck disable=SC2086
aarch64-linux-gnu-gcc $flags -std=gnu11 -fPIC -shared -fexceptions -fvisibility=hidden -ftls-model=initial-exec \
  -DRF_TEST_DECODER -Wl,--version-script="$work/exports.map" -Wl,-z,defs -Wl,-z,separate-code -o "$work/libagent.so" $core \
  "$source/harness/agent/resolve_aarch64.S" "$work/trampolines.S" "$work/tables.c"
# shellcheck disable=SC2086
aarch64-linux-gnu-g++ $flags -std=c++20 -fPIC -shared -o "$work/libfake.so" "$source/tests/agent/fake/fake.cc"
# shellcheck disable=SC2086
aarch64-linux-gnu-gcc $flags -std=gnu11 -fPIC -shared -fexceptions -fvisibility=hidden -o "$work/decoders/fake.so" \
  "$source/tests/agent/fake/decoder.c"
# shellcheck disable=SC2086
aarch64-linux-gnu-g++ $flags -std=c++20 -o "$work/subject" "$source/tests/agent/subject_main.cc" \
  "$source/tests/agent/subject_calls.cc" "$work/libfake.so"
bind=
run() {
  expected=$1
  shift
  got=0
  "$qemu" -L /usr/aarch64-linux-gnu -E LD_PRELOAD="$work/libagent.so" -E LD_LIBRARY_PATH="$work" \
    -E RANKFAULT_RUN_DIR="$work/run" -E RANKFAULT_DECODERS="$work/decoders" -E RANK=0 -E WORLD_SIZE=4 ${bind:+-E LD_BIND_NOW=$bind} \
    "$work/subject" "$@" || got=$?
  [ "$got" = "$expected" ] || { echo "$* ended with $got instead of $expected"; exit 1; }
}
run 0 hard_signatures
run 0 exceptions
run 0 keeps_errno
run 0 steps 5
run 10 marks
run 0 counts
run 0 threads 8 50
run 0 asks_for_what_is_not_there
bind=1 # otherwise the loader leaves its own bytes on the stack (stack_test.cc)
run 0 left_on_stack
run 0 left_by_wrapper
bind=
ls "$work"/run/records/*.ring > /dev/null

# Names that no library has: the answers must be the same with and without the agent (names_test.cc).
awk -v out="$work" -v arch=aarch64 -f "$source/harness/agent/make_tables.awk" "$source/harness/backends/mpi/calls.def"
# shellcheck disable=SC2086
aarch64-linux-gnu-gcc $flags -std=gnu11 -fPIC -shared -fexceptions -fvisibility=hidden -ftls-model=initial-exec \
  -Wl,--version-script="$work/exports.map" -Wl,-z,defs -Wl,-z,separate-code -o "$work/libmpi_agent.so" $core \
  "$source/harness/agent/resolve_aarch64.S" "$work/trampolines.S" "$work/tables.c"
names="$source/tests/agent/names"
aarch64-linux-gnu-gcc -shared -fPIC -o "$work/libnames_library.so" "$names/library.c"
aarch64-linux-gnu-gcc -shared -fPIC -o "$work/libnames_plugin.so" "$names/plugin.c" "$work/libnames_library.so"
aarch64-linux-gnu-gcc -shared -fPIC -DNEEDS_A_MISSING_NAME -o "$work/libnames_missing.so" "$names/plugin.c" \
  "$work/libnames_library.so"
aarch64-linux-gnu-gcc -o "$work/names" "$names/program.c" -Wl,-z,now
ask() { "$qemu" -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH="$work" "$@" 2>&1 || echo "ended with $?"; }
for way in weak default next program later plugin missing_now missing_lazy; do
  alone=$(ask "$work/names" $way "$work")
  watched=$(ask -E LD_PRELOAD="$work/libmpi_agent.so" "$work/names" $way "$work")
  [ "$watched" = "$alone" ] || { printf '%s: with the agent\n%s\nwithout\n%s\n' "$way" "$watched" "$alone"; exit 1; }
done
