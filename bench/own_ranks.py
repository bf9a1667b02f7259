"""own_ranks: starts ranks without a launcher, for programs that take RANK and WORLD_SIZE.

Each rank gets MEET, the folder in which the ranks find each other. It is also the folder of the double of
CUDA.
"""
SCRIPT = """export WORLD_SIZE=$0 MEET=$(mktemp -d)
export RANKFAULT_CUDA_FOLDER=$MEET
for r in $(seq 0 $((WORLD_SIZE - 1))); do RANK=$r "$@" & pids="$pids $!"; done
for p in $pids; do wait "$p" || status=$?; done
rm -r "$MEET"
exit ${status:-0}
"""


def words(ranks, *command):
    """Returns the command that starts `ranks` ranks; its exit status is that of the last rank that failed."""
    return ["sh", "-c", SCRIPT, str(ranks), *command]


def words_with_store(ranks, *command):
    """Returns the same for a Gloo program, whose ranks find each other in --store."""
    return words(ranks, "sh", "-c", 'exec "$0" "$@" --store="$MEET"', *command)
