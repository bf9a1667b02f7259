# packages.sh: lists the Debian packages that the build needs and those that add a part, and installs them.
# Sourced by ./dev.
# shellcheck shell=bash

# "package:why". Builds and tests need all of these.
# shellcheck disable=SC2034 # ./dev uses the lists
NEEDED_PACKAGES=(
  "g++:compiles the harness" "gcc:compiles the agent" "cmake:configures the build" "ninja-build:runs the build"
  "libboost-dev:Boost.Process, starts the guardian" "libspdlog-dev:writes the log" "libfmt-dev:formats texts"
  "libdw-dev:source lines and stacks" "libelf-dev:symbols"
  "libyaml-cpp-dev:reads scenarios" "nlohmann-json3-dev:journal and results" "libcli11-dev:command line"
  "libncurses-dev:the live table on a terminal" "zlib1g-dev:unpacks Flight Recorder dumps" "libssl-dev:proves that a node knows the key of a run" "libgtest-dev:tests" "libgmock-dev:tests" "python3:test scripts"
)
# Each of these adds a part. The build leaves out the parts of missing packages.
PART_PACKAGES=(
  "ccache:makes rebuilds quick" "libgloo-dev:Gloo decoder and the reference trainer"
  "libopenmpi-dev:MPI test programs" "openmpi-bin:mpirun" "gfortran:test programs of MPI's Fortran names"
  "libjs-d3:the HTML report" "libbenchmark-dev:benchmarks" "python3-venv:the project's own virtual environment"
  "gcc-aarch64-linux-gnu:cross build of the agent" "libc6-dev-arm64-cross:cross build of the agent"
)
TEST_PACKAGES=(
  "mpich:MPICH 4, next to Open MPI: mpicc and mpirun stay Open MPI's" "libmpich-dev:its headers"
  "g++-aarch64-linux-gnu:tests of the agent on aarch64" "qemu-user-static:runs them"
  "zsh:tests of its completion" "fish:tests of its completion" "debootstrap:a clean system to install the package into"
)
CLUSTER_PACKAGES=(
  "slurm-wlm:Slurm in ./dev cluster" "slurm-wlm-basic-plugins:its plugins" "munge:its authentication" "libpmi2-0:srun starts MPICH"
  "libpmi0:srun starts MPICH" "nftables:partitions of ./dev cluster"
)
TORCH_PACKAGES=("python3-torch:DDP jobs under torchrun" "libopenblas0-pthread:fast PyTorch")
BENCH_PACKAGES=("valgrind:counts instructions where perf cannot")
FUZZ_PACKAGES=("clang-14:libFuzzer" "libclang-rt-14-dev:libFuzzer's runtime")
LINT_PACKAGES=("clang-format-14:code format" "clang-tidy-14:code checks" "shellcheck:script checks")

is_root() { [ "$(id -u)" = 0 ]; }
# sudo helps if it needs no password, or if a user can type it.
may_be_root() { is_root || { command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; }; }
as_root() { if is_root; then "$@"; else sudo "$@"; fi; }

is_debian() { command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; }
is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Prints those names of "package:why" words that are not installed, one per line.
missing_of() {
  local entry
  for entry in "$@"; do
    is_installed "${entry%%:*}" || echo "${entry%%:*}"
  done
}

why_of() {
  local package=$1 entry
  shift
  for entry in "$@"; do
    if [ "${entry%%:*}" = "$package" ]; then echo "${entry#*:}"; fi
  done
}

APT_UPDATED=
apt_update() {
  [ -z "$APT_UPDATED" ] || return 0
  APT_UPDATED=yes
  as_root apt-get -qq update || note "apt-get update failed; using the existing package lists"
}

# Prints the version that apt would install; "" without one.
candidate_of() { apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p' | grep -v '(none)' || true; }

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null
}

apt_line() { echo "apt-get install --no-install-recommends $*"; }

# Installs packages, and ends the script if it cannot. Usage: need_packages "package:why"...
need_packages() {
  local missing=() package all=()
  if ! is_debian; then
    note "not a Debian system; the build needs these packages (Debian's names): ${*%%:*}"
    return 0
  fi
  mapfile -t missing < <(missing_of "$@")
  [ ${#missing[@]} != 0 ] || return 0
  if ! may_be_root; then
    mapfile -t all < <(missing_of "$@" "${PART_PACKAGES[@]}")
    say "Debian packages are missing, and only root may install them. Run as root:"
    printf '   %s\n' "$(apt_line "${all[@]}")" >&2
    note "(needed: ${missing[*]}; each other package adds a part and is optional)"
    exit 1
  fi
  say "installing ${#missing[@]} Debian packages that the build needs"
  for package in "${missing[@]}"; do note "$package: $(why_of "$package" "$@")"; done
  apt_update
  apt_install "${missing[@]}" || {
    say "apt-get could not install them"
    exit 1
  }
}

# Installs packages that add parts. Names those that it cannot install, with the command that adds them.
want_packages() {
  local missing=() package known=()
  is_debian || return 0
  mapfile -t missing < <(missing_of "$@")
  [ ${#missing[@]} != 0 ] || return 0
  if ! may_be_root; then
    note "left out: ${missing[*]}. To add them, as root: $(apt_line "${missing[@]}")"
    return 0
  fi
  apt_update
  for package in "${missing[@]}"; do
    if [ -n "$(candidate_of "$package")" ]; then known+=("$package"); else note "left out: $package: apt has no such package"; fi
  done
  [ ${#known[@]} != 0 ] || return 0
  say "installing ${#known[@]} Debian packages, each of which adds a part"
  for package in "${known[@]}"; do note "$package: $(why_of "$package" "$@")"; done
  apt_install "${known[@]}" || note "left out: apt-get could not install ${known[*]}"
}
