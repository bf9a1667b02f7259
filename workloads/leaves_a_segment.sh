#!/bin/sh
# leaves_a_segment.sh: runs a program that holds an empty shared-memory segment and leaves it behind.
exec 9>"/dev/shm/rankfault-canary.$$"
exec "$@"
