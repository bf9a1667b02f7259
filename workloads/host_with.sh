#!/bin/sh
# host_with.sh DEFECT COMMAND...: runs the command with a defect of the host, in a mount namespace with its
# own /dev/shm, so that no other process sees the defect. DEFECT: none, small-shm, stale-segment or
# few-descriptors. Needs root.
set -e
if [ -z "$HOST_WITH" ]; then
  HOST_WITH=$1
  export HOST_WITH
  shift
  exec unshare --mount -- "$0" "$@"
fi
size=64m
if [ "$HOST_WITH" = small-shm ]; then size=64k; fi
mount -t tmpfs -o "size=$size" tmpfs /dev/shm
case $HOST_WITH in
  none | small-shm) ;;
  stale-segment) echo left >/dev/shm/nccl-of-a-killed-job ;;
  few-descriptors) ulimit -n 33 ;; # one rank alone needs about this number
  *) exit 64 ;;
esac
exec "$@"
