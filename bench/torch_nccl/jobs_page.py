"""jobs_page: writes docs/measurements/pytorch-jobs.md from the results of jobs_bench.py."""
import re

import jobs

HEAD = """# Other people's jobs on PyTorch's nccl backend

Written by `./dev bench torch-jobs`, which keeps its results in `bench/torch_nccl/jobs.json` and goes on with the cases that it lacks.
Each job runs under `rankfault watch --cuda double`, as it is and then with one bug at a time. PyTorch's and NCCL's own host code run
over the [double of CUDA](../../cuda_double/README.md#what-may-be-concluded), so no result is a GPU result. The scripts are in
`workloads/pytorch_nccl/`, and `--bug` selects the bug. The packages come from PyPI, unchanged: `./dev torch-nccl --with-trainers`.

- *first finding*: the first cause when the job ends, with the rank that it blames. For a healthy job there must be none. A job that
  hangs is ended 20 s after a finding
- *at*: the script's line of the call that the finding names; then that of the other ranks, if it is another one. A trainer's own
  frames are not shown, so a call inside it has the line that started the trainer
- *told late*: ranks that were reported as slow after 2 s, which was withdrawn when they came or ended. All runs shared two busy cores
  with other work, where PyTorch needs up to a minute to start
- In a group of two ranks no call decides which of them is wrong: nobody is blamed, and the line of the bug is one of the two. So it is
  with tensor parallelism over two ranks
- Where no later call decides between a call too many and a call too few, the finding names the rank and says one or both
- Lightning broadcasts Python objects at its start. Over the double that needs a group that also has gloo:
  `DDPStrategy(process_group_backend="cpu:gloo,cuda:nccl")`

"""


def place(finding):
    comm = f" on {finding['comm']}" if finding["comm"] else ""
    seq = finding["seq"]
    call = "" if not seq else f" {seq['from']}" if seq["from"] == seq["to"] else f" {seq['from']} to {seq['to']}"
    return f"{finding['op']}{call}{comm}"


def lines_of(finding):
    """The script's lines of the finding, the innermost of each side, and the line that raised an exception."""
    sites = [finding["call_site"]] + [side["call_site"] for side in finding["sides"]] + re.findall(r"raised in .*", finding["text"])
    return "; ".join(dict.fromkeys(site.split(", called from")[0] for site in sites if ".py:" in site))


def ranks_text(ranks):
    return f"rank{'s' if len(ranks) > 1 else ''} {' '.join(map(str, ranks))}"


def whom(finding):
    sides = " against ".join(ranks_text(side["ranks"]) for side in finding["sides"])
    return ranks_text(finding["ranks"]) if finding["ranks"] else f"nobody ({sides})"


def told_late(result):
    ranks = sorted({rank for finding in result["withdrawn"] if finding["kind"] == "slow_rank" for rank in finding["ranks"]})
    return ranks_text(ranks) if ranks else ""


def row(job, bug, result):
    wrong = "nothing" if bug == jobs.HEALTHY else jobs.JOBS[job]["bugs"][bug][1]
    first = result["findings"][0] if result["findings"] else None
    blamed = f"{first['kind']}, {whom(first)}, {place(first)}, {first['confidence']}" if first else "none"
    end = "ended by us" if result["ended_by_us"] else f"exit {result['status']}"
    return f"| {job} | {wrong} | {blamed} | {lines_of(first) if first else ''} | {told_late(result)} | {end} |"


def page_of(results):
    done = [(job, bug, results[f"{job} | {bug}"]) for job, bug in jobs.CASES if f"{job} | {bug}" in results]
    days = sorted({result["day"] for *_, result in done})
    versions = {name: version for *_, result in done for name, version in result["versions"].items()}
    head = (f"{len(done)} of {len(jobs.CASES)} cases, measured on {' and '.join(days)} with "
            + ", ".join(f"{name} {version}" for name, version in sorted(versions.items())) + ".\n\n")
    table = "| job | what is wrong | first finding | at | told late | watch ends with |\n|---|---|---|---|---|---|\n"
    return HEAD + head + table + "\n".join(row(*case) for case in done) + "\n"
