# cluster.sh: runs the test cluster of namespaces, and installs what it needs. Sourced by ./dev.
# shellcheck shell=bash

readonly POLICY=/usr/sbin/policy-rc.d # Debian asks it before a package starts its service

# Installs the packages of the cluster, and leaves their services off.
cluster_packages() {
  local missing=() own_policy=
  is_debian || return 0
  mapfile -t missing < <(missing_of "${CLUSTER_PACKAGES[@]}")
  [ ${#missing[@]} != 0 ] || return 0
  if is_root && [ ! -e $POLICY ]; then
    own_policy=yes
    printf '#!/bin/sh\nexit 101\n' >$POLICY
    chmod 755 $POLICY
  fi
  want_packages "${CLUSTER_PACKAGES[@]}"
  if [ -n "$own_policy" ]; then rm -f $POLICY; fi
  if is_root && command -v systemctl >/dev/null; then
    systemctl --quiet disable munge slurmctld slurmd 2>/dev/null || true
  fi
}

# Installs them before the tests if RANKFAULT_CLUSTER is set.
find_cluster() {
  if [ "${RANKFAULT_CLUSTER:-}" = 1 ]; then cluster_packages; fi
  if ! command -v slurmctld >/dev/null; then
    note "no Slurm: the tests of the cluster that use it are skipped. To add it: RANKFAULT_CLUSTER=1 ./dev test"
  fi
}

# Runs a command of the cluster in the caller's directory. Usage: cluster COMMAND...
cluster() {
  local root=$PWD
  if [ "${1:-}" = up ] && is_root && [[ " $* " != *" --no-slurm "* && " $* " != *" --help "* ]]; then cluster_packages; fi
  cd "$OLDPWD" || exit
  exec python3 -B "$root/tests/cluster" "$@"
}
