"""replay_recorded_test.py: rankfault records in each rank of a replay the calls of its program text, in order.

usage: replay_recorded_test.py BUILD mpi|gloo|nccl|c10d
"""
import json
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
TOOL, PROGRAMS = BUILD / "bin/rankfault", BUILD / "bin/replay"
sys.path.insert(0, str(PROGRAMS))

TEXT = """ranks 3
group low 0-1
repeat 2
  0-2 all_reduce world float32 100 sum
  0-1 broadcast low int64 10 root 1
  0-2 all_gather world int32 6
  0,1 reduce low float64 5 max root 0
  0-2 reduce_scatter world float32 7 sum
  healthy 0-2 all_reduce world int8 3
  diverging 0-2 all_reduce world int8 4
"""
OF_PARTS = """
  0-2 gather world int32 6 root 2
  0-2 scatter world int32 6 root 2
  0-2 all_to_all world int8 9
  0-2 all_to_allv world int8 10
  0-2 barrier world
"""
MESSAGES = """
  0 send world float32 8 to 2 tag 3
  2 recv world float32 8 from 0 tag 3
"""
# What rankfault calls the calls that the libraries make for a line.
RECORDED_AS = {
    "mpi": {"reduce_scatter": "reduce_scatter_block"},
    "gloo": {"reduce_scatter": "all_reduce"},
    "nccl": {},
    "c10d": {"reduce_scatter": "reduce_scatter_block", "all_to_allv": "all_to_all"},
}
LAUNCH = {
    "mpi": ("mpirun", "", [f"{PROGRAMS}/replay_mpi"], TEXT + OF_PARTS + MESSAGES),
    "gloo": ("local", "", [f"{PROGRAMS}/replay_gloo", "--store={store}"], TEXT + OF_PARTS),  # no record of its messages
    "nccl": ("local", "cuda: double", [f"{PROGRAMS}/replay_nccl", "--store={store}"], TEXT + MESSAGES),  # its parts are messages
    "c10d": ("torchrun", "", [f"{PROGRAMS}/replay.py"], TEXT + OF_PARTS + MESSAGES),
}


def text_of(library, version=2):
    """Returns the text, without what PyTorch 1 refuses over Gloo."""
    return "".join(line for line in LAUNCH[library][3].splitlines(keepends=True) if version > 1 or "reduce_scatter" not in line)


def scenario(library, text):
    launcher, cuda, command, _ = LAUNCH[library]
    lines = "".join(f"      {line}\n" for line in (text + "end").splitlines() if line)
    return (f"version: 1\nname: replay-recorded\nsummary: All lines of a text.\nworkload:\n  launcher: {launcher}\n  ranks: 3\n"
            f"  {cuda}\n  command: {json.dumps(command)}\n  env:\n    REPLAY: |\n{lines}  limits: {{wall: 90s}}\n"
            f"  needs: [{'torch' if library == 'c10d' else library}]\nexpect:\n  - finished\n")


def expected(library, text, rank):
    """Returns the operations of a rank with the communicator's size, the count, and the root or the other rank."""
    import replay_text  # noqa: PLC0415: needs the path
    program = replay_text.Program(text + "end\n")
    calls = []
    for s in program.statements:
        if not s.is_of(rank, "healthy"):
            continue
        size = len(program.groups[s.group])
        shared = -(-s.count // size)
        op, count = RECORDED_AS[library].get(s.op, s.op), s.count
        if s.op in ("reduce_scatter", "all_to_all"):
            count = shared * size if op == "all_reduce" else shared
        named = s.peer if s.op in replay_text.ROOTED or s.op in replay_text.MESSAGES else None
        calls.append((op, size, count, named))
    return calls * 2


def recorded(library, run):
    """Returns the same of each rank, from the trace of a run."""
    done = subprocess.run([TOOL, "report", "--format", "trace", run], capture_output=True, text=True, check=True)
    events = json.loads(done.stdout)["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    ranks = {}
    for event in sorted((e for e in events if e.get("cat") in ("collective", "message")), key=lambda e: e["ts"]):
        args = event["args"]
        if event["ph"] == "X" and args["library"] == library:
            size = 3 if args["communicator"] in ("world", "MPI_COMM_WORLD") else 2
            ranks.setdefault(names[event["pid"]], []).append((event["name"], size, args["count"], args.get("root", args.get("peer"))))
    return ranks


def main():
    library = sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="replay-") as folder:
        path = pathlib.Path(folder) / "scenario.yaml"
        for version in (2, 1):
            text, run = text_of(library, version), f"{folder}/run-{version}"
            path.write_text(scenario(library, text), encoding="utf-8")
            done = subprocess.run([TOOL, "run", path, "--run-dir", run], capture_output=True, text=True, check=False)
            if "needs PyTorch 2" not in done.stdout:
                break
        if done.returncode == 77 or "SKIPPED" in done.stdout:
            print(done.stdout[-500:])
            return 77
        assert done.returncode == 0, done.stdout + done.stderr
        ranks = recorded(library, run)
    for rank in range(3):
        calls = expected(library, text, rank)
        assert ranks[f"rank {rank}"] == calls, (rank, ranks[f"rank {rank}"], calls)
    print(f"{sum(len(calls) for calls in ranks.values())} calls are as in the text")
    return 0


if __name__ == "__main__":
    sys.exit(main())
