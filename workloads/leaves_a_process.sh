#!/bin/sh
# leaves_a_process.sh: runs a program, and leaves a process of its own session behind.
setsid sleep 600 </dev/null >/dev/null 2>&1 &
exec "$@"
