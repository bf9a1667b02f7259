"""page: writes docs/what-pytorch-does.md from the results of what_pytorch_does.py."""
import cells

HEAD = f"""# What PyTorch does when a rank of an nccl job fails

Written by `./dev bench torch-nccl`, which keeps its results in `bench/torch_nccl/results.json` and goes on with the cells that it
lacks. PyTorch 2.12.1 and NCCL 2.29.7, {cells.RANKS} ranks, over the [double of CUDA](../cuda_double/README.md): PyTorch's and NCCL's own
host code, and no GPU. The script is `workloads/pytorch_nccl/steps.py`, without torchrun, with eager initialisation, shared memory and a
limit of {cells.LIMIT_S} s for a collective. Each row changes one setting from its default, or is a named pair; the names of variables lack
their prefix TORCH_NCCL_.

[Other people's jobs](measurements/pytorch-jobs.md) (transformers, accelerate, Lightning, FSDP2 with tensor parallelism, NCCL by ctypes) are
another table.

- *noticed by*: what PyTorch writes first, and on which rank; the time counts from the trouble. "nobody" means: not within that
  time
- *names*: the rank or the ranks that PyTorch's output names as the cause
- *how the ranks ended*: in the order of the ranks. "lives" means: still there {cells.BOUND_S} s after the job began, which is at least
  {cells.BOUND_S - 20} s after the trouble. With the default settings PyTorch needs 62 to 71 s from the trouble to SIGABRT, and up to
  86 s on a busy machine
- *dumps*: files of the Flight Recorder
- *left*: segments in /dev/shm after the end
- *rankfault*: its first finding that blames a rank, and its time from the trouble
- *double*: the outcome depends on the double of CUDA and says nothing about a GPU

"""
SIGNALS = {"signal 6": "SIGABRT", "signal 9": "SIGKILL", "signal 11": "SIGSEGV", "signal 15": "SIGTERM"}


def seconds(value):
    return "" if value is None else f"{value:.1f} s"


def noticed(result):
    if result["signs"]:
        first = result["signs"][0]
        return f"{first['sign']}, rank {first['rank']}, {seconds(first['after'])}"
    return "a call raises" if result["raises"] else "nobody"


def ended(result):
    words = []
    for rank in range(cells.RANKS):
        end = result["ends"].get(str(rank), result["ends"].get(rank))
        how = SIGNALS.get(end["how"], end["how"]) if end else "lives"
        words.append(how if how == "lives" or not end else f"{how} {seconds(end['after'])}")
    return ", ".join(words)


def row(name, result):
    fault, setting = name.split(" | ")
    finding = result["finding"]
    own = f"{finding['text']}; {seconds(finding['after'])}" if finding else "none"
    double = " *double*" if cells.FAULTS[fault].get("double") else ""
    return (f"| {fault}{double} | {setting} | {noticed(result)} | {result['named'] or 'nobody'} | {ended(result)} | {result['dumps']} | "
            f"{result['left'] or ''} | {own} |")


def page_of(results):
    names = [" | ".join(cell) for cell in cells.CELLS]
    rows = [row(name, results[name]) for name in names if name in results]
    days = sorted({result["day"] for result in results.values()})
    return (f"{HEAD}{len(rows)} of {len(names)} cells, measured on {' and '.join(days)}.\n\n"
            "| rank 1 | setting | noticed by | names | how the ranks ended | dumps | left | rankfault |\n|---|---|---|---|---|---|---|---|\n"
            + "\n".join(rows) + "\n")
