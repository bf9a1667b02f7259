#!/bin/sh
# leaves_a_process.sh: runs a program and leaves behind a process in a session of its own.
setsid sleep 600 </dev/null >/dev/null 2>&1 &
exec "$@"
