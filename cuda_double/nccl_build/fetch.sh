# fetch.sh: fetches what nccl.sh needs: Debian packages with an apt of its own folder, CUDA's headers with
# pip. Sourced; the caller sets FOLDER, and defines say and note.
# shellcheck shell=bash

# shellcheck disable=SC2034 # the caller uses it
readonly STABLE_VERSION=2.22.3
readonly STABLE_PACKAGE=libnccl-dev=2.22.3-1-1 # in Debian 13, where it does not change, so it is pinned
readonly STABLE_SHA256=260d89758ab6287f967f217a23cf0c5629ec3a40cfdca1b781064f48df7fb8dc
readonly KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
readonly CUDA12_WHEELS=(nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-nvcc-cu12==12.9.86 nvidia-cuda-cccl-cu12==12.9.27)
readonly CUDA13_WHEELS=(nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88)

# Reports a missing need and exits with 77.
missing() {
  note "NCCL over a double of CUDA: skipped: $*"
  exit 77
}

# Prints the mirror that this machine's own apt uses, or RANKFAULT_DEBIAN_MIRROR.
debian_mirror() {
  local codename
  if [ -n "${RANKFAULT_DEBIAN_MIRROR:-}" ]; then
    echo "$RANKFAULT_DEBIAN_MIRROR"
    return
  fi
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-none}")
  apt-get update --print-uris 2>/dev/null | sed -n "s#^'\([^']*\)/dists/$codename/InRelease' .*#\1#p" | head -1
}

# Makes an apt with its lists, cache and sources in FOLDER/apt. It does not touch the system's apt, and trusts
# its keys.
prepare_apt() {
  local apt=$FOLDER/apt mirror
  command -v apt-get >/dev/null || missing "no apt-get here; RANKFAULT_NCCL_SRC=folder takes a source tree instead"
  [ -f "$KEYRING" ] || missing "no keys of Debian's archive ($KEYRING)"
  mirror=$(debian_mirror)
  [ -n "$mirror" ] || missing "this machine's apt knows no Debian mirror; RANKFAULT_DEBIAN_MIRROR=address names one"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$FOLDER/download"
  # A mirror may be weeks behind, and the index of unstable expires after one week. The index is signed all
  # the same, and an older NCCL is good enough. The index of stable never expires.
  printf '%s [%s] %s %s contrib\n' deb "signed-by=$KEYRING" "$mirror" trixie \
    deb-src "signed-by=$KEYRING check-valid-until=no" "$mirror" sid >"$apt/sources.list"
  cat >"$apt/apt.conf" <<CONF
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt/cache";
Acquire::Languages "none";
APT::Sandbox::User "";
CONF
  APT_CONFIG=$apt/apt.conf apt-get -qq -o APT::Update::Error-Mode=any update >"$apt/update.log" 2>&1 ||
    missing "the mirror does not answer: $(tail -1 "$apt/update.log")"
}

own_apt() { (cd "$FOLDER/download" && APT_CONFIG=$FOLDER/apt/apt.conf "$@"); }

# Prints the folder of the unpacked package of Debian stable.
fetch_stable() {
  local deb=$FOLDER/download/libnccl-dev_2.22.3-1-1_amd64.deb out=$FOLDER/download/libnccl-dev-2.22.3
  if [ ! -d "$out" ]; then
    [ -f "$deb" ] || own_apt apt-get -qq download "$STABLE_PACKAGE" >&2 || missing "$STABLE_PACKAGE cannot be fetched"
    echo "$STABLE_SHA256  $deb" | sha256sum --check --quiet >&2 || { note "$deb is not the file that was pinned"; exit 1; }
    rm -rf "$out.part"
    dpkg-deb -x "$deb" "$out.part"
    mv "$out.part" "$out"
  fi
  echo "$out"
}

# Prints the folder of the newest source. apt checks it against the hashes in the signed index.
fetch_newest() {
  local version tarball out
  version=$(own_apt apt-cache showsrc --only-source nvidia-nccl | sed -n 's/^Version: //p' | sort -V | tail -1)
  [ -n "$version" ] || missing "the mirror has no source of nvidia-nccl"
  note "newest NCCL of the mirror: $version"
  out=$FOLDER/download/nvidia-nccl-${version%%-*}
  if [ ! -d "$out" ]; then
    # only the sources, not the packaging: an archive that moves drops old packaging first
    own_apt apt-get -qq source --download-only --tar-only "nvidia-nccl=$version" >&2 || missing "nvidia-nccl $version cannot be fetched"
    tarball=$(find "$FOLDER/download" -name "nvidia-nccl_${version%%-*}*.orig.tar.*" | head -1)
    rm -rf "$out.part"
    mkdir "$out.part"
    tar -xf "$tarball" -C "$out.part" --strip-components=1
    mv "$out.part" "$out"
  fi
  echo "$out"
}

# Extracts the public headers of a release of CUDA from pip's wheels into FOLDER/cudaMAJOR/include. It runs no
# program of the wheels. Usage: fetch_cuda_headers MAJOR WHEEL...
fetch_cuda_headers() {
  local wheel python=python3 major=$1 out=$FOLDER/cuda$1
  shift
  [ ! -d "$out/include" ] || return 0
  say "fetching the headers of CUDA $major"
  rm -rf "$out.part"
  mkdir -p "$out.part/wheels" "$out.part/files"
  if ! python3 -m pip --version >/dev/null 2>&1; then
    python3 -m venv "$FOLDER/venv" || missing "no pip here, and no python3-venv to make one"
    python=$FOLDER/venv/bin/python
  fi
  "$python" -m pip download --quiet --no-deps --dest "$out.part/wheels" "$@" 2>"$out.part/log" ||
    missing "the headers of CUDA cannot be fetched: $(tail -1 "$out.part/log")"
  for wheel in "$out.part/wheels"/*.whl; do
    python3 -m zipfile -e "$wheel" "$out.part/files"
  done
  mkdir "$out.part/include"
  cp -r "$out.part/files/nvidia"/*/include/. "$out.part/include"
  rm -rf "$out.part/wheels" "$out.part/files"
  mv "$out.part" "$out"
}
