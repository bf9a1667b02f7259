"""readings: what two readers say of the Flight Recorder dumps of a folder: `rankfault diagnose`, and PyTorch's own analyser."""
import json
import os
import pathlib
import re
import subprocess

MODULE = "torch.distributed.flight_recorder.fr_trace"
PREFIX = "rank_"  # of the names of the dumps

BLOCK = re.compile(r"(?=Collective sequence number: \d|Not all ranks joining collective)")  # one problem of the analyser
PLACE = re.compile(r"sequence number: (\d+)")
# What the analyser writes of a rank, and how the page puts it.
BLAMES = [(re.compile(r"missing ranks: \{([\d, ]+)\}"), "missing"), (re.compile(r"Culprit rank (\d+); Error type: (\w+)"), "culprit")]


def of_rankfault(tool, folder):
    """The first finding of our reader: {kind, ranks, seq, text}."""
    done = subprocess.run([tool, "diagnose", "--json", folder], capture_output=True, text=True, check=False)
    try:
        first = json.loads(done.stdout)["findings"][0]
    except (ValueError, LookupError):
        return {"kind": "unread", "ranks": [], "seq": None, "text": (done.stderr or done.stdout).strip()[:200]}
    seq = first.get("seq")
    return {"kind": first["kind"], "ranks": first["ranks"], "seq": seq and seq["to"], "text": first["text"]}


def environment(build):
    """What an import of PyTorch for CUDA needs on a machine without CUDA."""
    double = pathlib.Path(build) / "lib/cuda_double"
    newest = max(double.glob("nccl-*"), key=lambda path: [int(n) for n in path.name[5:].split(".")])
    return dict(os.environ, LD_LIBRARY_PATH=f"{newest}:{double}:{double}/torch")


def python_of(build):
    path = pathlib.Path(build) / "lib/cuda_double/torch/python"
    return path.read_text().strip() if path.exists() else ""


def read_block(text):
    """One problem: {ranks, seq, text}; None where it names no rank."""
    place = PLACE.search(text)
    for pattern, word in BLAMES:
        match = pattern.search(text)
        if match:
            kind = f", {match[2]}" if pattern.groups > 1 else ""
            where = f" in {place[1]}" if place else ""
            ranks = [int(rank) for rank in match[1].split(",")]
            return {"ranks": ranks, "seq": place and int(place[1]), "text": f"{word} {ranks}{kind}{where}"}
    return None


def read_analysis(text):
    """The ranks of the first problem, its call, and all problems in words."""
    blocks = [block for block in map(read_block, BLOCK.split(text)[1:]) if block]
    first = blocks[0] if blocks else {"ranks": [], "seq": None}
    return {**first, "text": "; ".join(block["text"] for block in blocks)}


def of_pytorch(build, folder):
    """What PyTorch's analyser says; where it says nothing of a rank, its last line."""
    done = subprocess.run([python_of(build), "-m", MODULE, folder, "-p", PREFIX], capture_output=True, text=True,
                          env=environment(build), check=False)
    reading = read_analysis(done.stdout + done.stderr)
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    reading["failed"] = done.returncode != 0
    if not reading["text"]:
        reading["text"] = lines[-1][:160] if lines else "nothing"
    reading["all"] = "\n".join(lines)
    return reading


def verdict(rank, reading):
    """What a reader says of the rank: "agrees", "names other ranks", "names nobody", or "stops"."""
    if reading["ranks"]:
        return "agrees" if reading["ranks"] == [rank] else "names other ranks"
    return "stops" if reading.get("failed") else "names nobody"
