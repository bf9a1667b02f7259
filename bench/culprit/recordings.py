"""recordings: makes docs/measurements/pytorch-findings.md of what `rankfault watch` printed about each small PyTorch job."""
import re

LINES = 25
HEAD = """# What watch prints about bugs in PyTorch programs

Written by `./dev bench pytorch`, in the same runs as [the table](pytorch-bugs.md). Each section is one job of `workloads/pytorch`
and what a terminal shows, without the stacks, the folders of the run and its logs. The ranks that the launcher ended stand in the
result alone. `...` stands for a time, a number of a process or a port, which differ from run to run.
"""
# What differs from run to run, and what stands in its place.
MASKS = [(re.compile(pattern), text) for pattern, text in (
    (r"\x1b\[[0-9;]*m", ""),
    (r"more than \S+; the longest such wait before was \S+", "more than ...; the longest such wait before was ..."),
    (r"\b(pid|pid\(s\)|process|PID) \d+", r"\1 ..."),
    (r"(\[?(?:127\.0\.0\.1|::1|localhost)\]?):\d+", r"\1:..."),
    (r"/\S*/site-packages/", ""),
    (r"0x[0-9a-f]{6,}", "0x..."),
)]
LEFT_OUT = re.compile(r"run /|  (run|logs|note) ")
BY_LAUNCHER = re.compile(r"ended by SIG\w+ from the launcher, after")
END = re.compile(r"the job (ended|was ended)")


def without_paths(text, folders):
    """Takes the folders away, the longest first: paths are then relative to the repository."""
    for folder in sorted(folders, key=len, reverse=True):
        text = text.replace(folder + "/", "")
    return text


def without_ends_by_launcher(lines):
    """Each has a line of its own while the job ends, in any order; the result has them in one."""
    end = next((at for at, line in enumerate(lines) if END.match(line)), 0)
    return [line for at, line in enumerate(lines)
            if at >= end or not (BY_LAUNCHER.search(line) or (BY_LAUNCHER.search(lines[at + 1]) and "dead_rank" in line))]


def shown(output, folders):
    """Returns the lines of a recording: the findings as they came, and the result."""
    lines, in_stacks = [], False
    for line in without_ends_by_launcher(without_paths(output, folders).splitlines()):
        in_stacks = (in_stacks or line.startswith("  stacks")) and not END.match(line)
        if in_stacks or LEFT_OUT.match(line):
            continue
        for pattern, text in MASKS:
            line = pattern.sub(text, line)
        lines.append(line.rstrip())
    return lines if len(lines) <= LINES else [*lines[:LINES - 1], f"... and {len(lines) - LINES + 1} more lines"]


def section(name, what, ranks, output, folders):
    """`what` is the sentence at the top of the job."""
    command = f"$ rankfault watch --end-on-finding -- torchrun --nproc-per-node {ranks} workloads/pytorch/{name}.py"
    return "\n".join(["", f"## {name}", "", what, "", "```text", command, *shown(output, folders), "```", ""])


def page(sections):
    return HEAD + "".join(sections)
