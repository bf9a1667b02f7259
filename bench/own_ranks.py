"""own_ranks: starts ranks without a launcher, for programs that take RANK and WORLD_SIZE.

Each rank gets MEET, a folder of the job to meet in, which is also the folder of the double of CUDA.
"""
SCRIPT = """export WORLD_SIZE=$0 MEET=$(mktemp -d)
export RANKFAULT_CUDA_FOLDER=$MEET
for r in $(seq 0 $((WORLD_SIZE - 1))); do RANK=$r "$@" & pids="$pids $!"; done
for p in $pids; do wait "$p" || status=$?; done
rm -r "$MEET"
exit ${status:-0}
"""


def words(ranks, *command):
    """The words that start so many ranks of a command; the exit status is that of the last rank that failed."""
    return ["sh", "-c", SCRIPT, str(ranks), *command]


def words_with_store(ranks, *command):
    """The same of a Gloo program, which meets in --store."""
    return words(ranks, "sh", "-c", 'exec "$0" "$@" --store="$MEET"', *command)
