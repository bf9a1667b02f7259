"""page: writes docs/what-schedulers-do.md from the results of schedulers_bench.py."""
import re
import textwrap

import cells
import engines
from surprises import surprises

HEAD = """# What schedulers and launchers do when a part of a job fails

Written by `./dev bench schedulers`, which keeps its results in `bench/schedulers/results.json` and goes on with the cells that it
lacks. `--only CELL` repeats one. rankfault is not used: this is what Slurm, mpirun, mpiexec and torchrun do by themselves.
{versions}.
{count} of {total} cells, measured on {days}.

Each cell has a [cluster](how-to/test-cluster.md) of its own: namespaces on one machine with few cores, which other programs used at
the same time; up to three cells ran side by side. Tenths of a second say little. The head n0 has the launcher and slurmctld; n1, n2 and
n3 have ranks 0, 1 and 2. The ranks sum in a loop (Gloo: with a limit of {gloo} s), and the job has no end of its own unless the row says so.
The fault strikes n2, unless the row says another node, when each rank has made {warm} sums; Slurm was started some seconds before. All
times count from the fault. `SlurmdTimeout` is 30 s; with 5 s, `MessageTimeout` is 2 s and `TCPTimeout` 1 s.
PyTorch 2 comes from PyPI, PyTorch 1 from Debian. Debian also has Slurm, Open MPI 4 and MPICH 4; Open MPI 5 comes from PyPI.

"""
LEGEND = """## How to read the tables

- *ranks*: how ranks 0, 1 and 2 ended, and when. A rank handles signals to say which one came, PyTorch's does not. "silent" means: it ended
  and said nothing, so it got SIGKILL or called `_exit`. "struck" is the victim
- *launcher*: its exit status, and when it ended; the same of further runs (`--more N`), where there were some
- *its own word*: what Slurm says of the job at the end of the cell, and when it first said so (it is asked twice a second); of other
  launchers the first line that says what happened
- *left*: processes and files in /tmp and /dev/shm, {settle} s after everything ended, or at the end of the time. No cell left anything on the
  machine after its cluster was taken down{remains}
- "not within N s": still there after that time

"""
SECTIONS = {"Slurm": r"(srun|sbatch)[^/]*/(?!pmi)", "Slurm: a wrong pairing of `--mpi` and MPI library": r"srun[^/]*/pmi",
            "mpirun and mpiexec over a remote shell": r"(mpirun|hydra)", "torchrun": r"torchrun"}
MOST = 100  # characters of a line
VICTIMS = ("rank", "leave")
# What a launcher prints when it notices, in the order of preference.
WORDS = (r"noticed that process rank.*", r"lost communication with a remote daemon.*", r"BAD TERMINATION.*", r"A daemon failed.*",
         r"process manager error.*", r"prterun has exited due to.*", r"RendezvousConnectionError: .*", r"RuntimeError: .*",
         r"exitcode.*", r".*rror.*")


def seconds(value):
    return f"{abs(round(max(value, 0), 1)):.1f} s"


def within(name, result):
    return f"not within {min(cells.CELLS[name].bound, int(result['observed']))} s"


def of_rank(name, result, rank):
    cell = cells.CELLS[name]
    if cell.fault == "none":
        return f"{rank['how']} as rank {rank['rank']} of {rank['size']}" if rank["size"] else "ends in MPI_Init"
    if cell.fault in VICTIMS and rank["node"] == "n2":
        return "struck" if cell.fault == "rank" else "leaves"
    if rank["how"] == "lives":
        return within(name, result)
    return rank["how"] if rank["how"] == "with its node" else f"{rank['how']} {seconds(rank['ended'])}"


def ranks_of(name, result):
    attempts = sorted({rank["attempt"] for rank in result["ranks"]})
    texts = []
    for attempt in attempts:
        ranks = sorted((r for r in result["ranks"] if r["attempt"] == attempt), key=lambda r: (r["rank"] or 0, r["node"]))
        words = [of_rank(name, result, rank) for rank in ranks]
        text = words[0] + ", each" if len(words) > 1 and set(words) == {words[0]} else ", ".join(words)
        if attempt:
            nodes = ", ".join(sorted(rank["node"] for rank in ranks))
            text = f"attempt {attempt} began {seconds(min(r['began'] for r in ranks))} on {nodes}"
        texts.append(text)
    return "<br>".join(texts) or "none began"


def launcher_of(name, result):
    if engines.ENGINES[cells.CELLS[name].engine].kind == "sbatch":
        return "no launcher waits"
    words = {}
    for node, end in sorted(result["launchers"].items()):
        words[node] = f"{end['status']}, {seconds(end['after'])}"
    for node in result["running"]:
        words[node] = within(name, result)
    if "n0" in words:
        return words["n0"] + more_of(result)
    return "<br>".join(f"{node}: {text}" for node, text in sorted(words.items()))


def more_of(result):
    """Says how the launcher ended in further runs of the cell."""
    runs = [run["launchers"].get("n0") for run in result.get("more", []) if not run["failed"]]
    words = []
    for status in sorted({end["status"] for end in runs if end}):
        times = sorted(end["after"] for end in runs if end and end["status"] == status)
        words.append(f"{len(times)} times {status} ({times[0]:.1f} to {seconds(times[-1])})")
    words += [f"{runs.count(None)} times not within that time"] if None in runs else []
    return f"<br>{len(runs)} more runs: {', '.join(words)}" if runs else ""


def states_of(result):
    """Returns what Slurm said of the job, each time it said something else: (when, state, restarts)."""
    found = []
    for said in result["slurm"]:
        job = said["jobs"][0] if isinstance(said["jobs"], list) and said["jobs"] else None
        if job or said["jobs"] == "no answer":
            state = f"{job['JobState']} ({job['Reason']}), {job['ExitCode']}" if job else "slurmctld does not answer"
            if not found or found[-1][1] != state:
                found.append((said["after"], state, int(job["Restarts"]) if job else 0))
    return found


def word_of(result):
    states = states_of(result)
    if not states:
        first = next((found[0] for pattern in WORDS for line in result["output"] if (found := re.search(pattern, line))), "")
        first = re.sub(r"\[/\S*\] ", "", first.replace("|", "/").replace("`", "")).strip("= ")
        return f"`{first[:MOST]}`" if first else "prints nothing about it"
    nodes = result["slurm"][-1]["nodes"]
    bad = {node: state for node, state in nodes.items() if state not in ("idle", "mixed")} if isinstance(nodes, dict) else {}
    again = [entry for entry in states if entry[2]]  # of a job that was requeued, each state since then
    text = "<br>".join(state + (f", {seconds(at)}" if at > 0 else "") for at, state, _ in again or states[-1:])
    return text + "".join(f"; {node} {state}" for node, state in bad.items())


def counted(names):
    return [name if names.count(name) == 1 else f"{names.count(name)} {name}" for name in dict.fromkeys(names)]


def left_of(result):
    by_text = {}
    for node, seen in result["left"].items():
        files = [re.sub(r"[._]?[0-9a-z]{6,}(\.\d+)?$|\.\d+$", "*", file) for file in seen["files"]]
        text = ", ".join([*counted(seen["processes"]), *(f"`{file.replace(node, 'NODE')}`" for file in files)])
        if text:
            by_text.setdefault(text, []).append(node)
    return "<br>".join(f"{', '.join(nodes)}: {text}" for text, nodes in by_text.items()) or "nothing"


def fault_of(cell):
    words = [cells.FAULTS[cell.fault].says]
    words += [f"with `{' '.join(cell.options).replace('--kill-on-bad-exit=1', '-K1')}`"] if cell.options else []
    words += [f"`SlurmdTimeout` {cell.timeout} s"] if cell.timeout != 30 else []
    words += [f"{cell.wait} s after the job was started"] if cell.wait else []
    words += [f"the job ends by itself after {cell.seconds} s"] if cell.seconds > 3 else []
    return "; ".join(words)


def row(name, result):
    cell = cells.CELLS[name]
    start = f"| `{name}` | {fault_of(cell)} | {cell.engine} |"
    if "failed" in result:
        return f"{start} not measured: {result['failed']} | | | |"
    return f"{start} {ranks_of(name, result)} | {launcher_of(name, result)} | {word_of(result)} | {left_of(result)} |"


def versions_of(results):
    found = {re.sub(r" \d$", "", name) + f" {version}" for result in results.values() for name, version in result.get("versions", {}).items()}
    return ", ".join(sorted(found)) or "no version is known"


def wrapped(line):
    return textwrap.fill(line, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"


def page_of(results):
    measured = {name: results[name] for name in cells.CELLS if name in results}
    whole = {name: result for name, result in measured.items() if "failed" not in result}
    days = " and ".join(sorted({result["day"] for result in whole.values()}))
    dirty = [name for name, result in whole.items() if result["remains"]]
    text = HEAD.format(versions=versions_of(whole), count=len(whole), total=len(cells.CELLS), days=days, gloo=30, warm=20)
    text += "## What surprises\n\n" + "".join(wrapped(f"- {line}") for line in surprises(whole)) + "\n"
    text += LEGEND.format(settle=3, remains=f", except {', '.join(dirty)}" if dirty else "")
    for title, pattern in SECTIONS.items():
        rows = [row(name, result) for name, result in measured.items() if re.match(pattern, name)]
        text += (f"## {title}\n\n| cell | fault | engine | ranks | launcher | its own word | left |\n|---|---|---|---|---|---|---|\n"
                 + "\n".join(rows) + "\n\n")
    return text.rstrip("\n") + "\n"
