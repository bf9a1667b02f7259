# aarch64.sh: what a cross build of the wheel for aarch64 needs: Debian's packages of that processor in a folder (a
# sysroot), and the libraries that a program finds there. Sourced by ./dev and by the test of the wheel.
# shellcheck shell=bash

SYSROOT=$(realpath -m build/aarch64-sysroot)
readonly SYSROOT
readonly SYSROOT_LIBRARIES=$SYSROOT/usr/lib/aarch64-linux-gnu
# shellcheck disable=SC2034 # wheel.sh uses it
CROSS_PACKAGES=("g++-aarch64-linux-gnu:compiles for aarch64" "gcc-aarch64-linux-gnu:compiles for aarch64")

# Makes an apt for packages of aarch64, with its lists and cache in FOLDER. It does not touch the system's apt.
# Usage: make_aarch64_apt FOLDER
make_aarch64_apt() {
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg codename mirror
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-none}")
  # shellcheck source=cuda_double/nccl_build/fetch.sh
  mirror=$(. cuda_double/nccl_build/fetch.sh && debian_mirror)
  if ! is_debian || [ ! -f "$keys" ] || [ -z "$mirror" ]; then
    say "the cross build takes its libraries from Debian's packages, and this system has no mirror or no keys of Debian"
    return 1
  fi
  mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
  touch "$1/status" # nothing is installed
  echo "deb [signed-by=$keys] $mirror $codename main" >"$1/sources.list"
  cat >"$1/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures "arm64";
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Dir::Cache "$1/cache";
Dir::Etc::sourcelist "$1/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "$1";
Dir::State::lists "$1/lists";
Dir::State::status "$1/status";
CONF
}

# Unpacks packages into the sysroot, and keeps a list of the files of each in packages/. Usage: unpack FILE.deb...
unpack() {
  local deb link name
  mkdir -p "$SYSROOT/packages" "$SYSROOT"/usr/{bin,lib,sbin}
  for name in bin lib sbin; do ln -sfn "usr/$name" "$SYSROOT/$name"; done
  for deb in "$@"; do
    name=$(dpkg-deb --field "$deb" Package)
    dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner -C "$SYSROOT"
    dpkg-deb --fsys-tarfile "$deb" | tar -t >"$SYSROOT/packages/$name"
  done
  # A link to an absolute path would lead out of the folder.
  while read -r link; do ln -sfnr "$SYSROOT$(readlink "$link")" "$link"; done < <(find "$SYSROOT" -type l -lname '/*')
}

# Makes the sysroot: the headers and libraries that the build needs, of this Debian, for aarch64. It takes 320 MB.
make_sysroot() {
  local apt=$SYSROOT.apt entry packages=(libc6-dev libgloo-dev)
  for entry in "${NEEDED_PACKAGES[@]%%:*}"; do
    case $entry in *-dev) packages+=("$entry") ;; esac
  done
  [ "$(cat "$SYSROOT/made-of" 2>/dev/null)" != "${packages[*]}" ] || return 0
  say "fetching Debian's packages for aarch64 into build/aarch64-sysroot"
  rm -rf "$SYSROOT" "$apt"
  make_aarch64_apt "$apt"
  APT_CONFIG=$apt/apt.conf apt-get -qq update
  APT_CONFIG=$apt/apt.conf apt-get -qq install -y --download-only "${packages[@]}" >/dev/null
  unpack "$apt"/cache/archives/*.deb
  rm -rf "$apt"
  echo "${packages[*]}" >"$SYSROOT/made-of"
}

# Whether the program is of aarch64, and this machine is not.
is_foreign() { [ "$(uname -m)" != aarch64 ] && readelf -h "$1" | grep -q 'Machine: *AArch64'; }

# Prints what ldd prints of a program of this machine: "NAME => PATH" of each library that the program loads.
sysroot_ldd() {
  local todo=("$1") seen=" " name
  while [ ${#todo[@]} != 0 ]; do
    while read -r name; do
      case $seen in *" $name "*) continue ;; esac
      seen+="$name "
      echo "$name => $SYSROOT_LIBRARIES/$name"
      todo+=("$SYSROOT_LIBRARIES/$name")
    done < <(readelf -d "${todo[0]}" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    todo=("${todo[@]:1}")
  done
}

# Prints the package whose file a library of the sysroot is.
sysroot_owner() { (cd "$SYSROOT/packages" && grep -lE "^\./(usr/)?lib/aarch64-linux-gnu/${1##*/}\$" -- *); }
