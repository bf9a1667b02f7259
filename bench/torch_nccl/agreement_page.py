"""agreement_page: writes docs/measurements/pytorch-agreement.md from the results of agreement.py."""
import hangs
import readings
from one_run import SILENT_S

HEAD = f"""# Our finding, and what the dumps of the same run say

Written by `./dev bench agreement`, which keeps its results in `bench/torch_nccl/agreement.json` and goes on with the runs
that it lacks. PyTorch 2.12.1 and NCCL 2.29.7, {hangs.RANKS} ranks, over the [double of CUDA](../../cuda_double/README.md): PyTorch's and
NCCL's own host code, and no GPU. The script is `workloads/pytorch_nccl/steps.py`, as in
[what PyTorch does](../what-pytorch-does.md), with TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=500.

## Hangs

The limit of a collective is {hangs.LIMIT_S} s. Each run ends when its ranks have written their dumps.

- *finding*: the first finding after the trouble that blames a rank, and its time from the trouble; then the first proven one
- *PyTorch notices*: its first line about the problem. *nobody* means: not within {hangs.LIMIT_S + SILENT_S} s
- *dumps of*: the ranks that wrote a dump. A rank that has ended or is stopped writes none
- *our reader*: the first finding of `rankfault diagnose` on these dumps
- *PyTorch's analyser*: what `torch.distributed.flight_recorder.fr_trace` says of them: it calls a rank *missing* or a *culprit*
- *agree*: whether both readers name the rank of the finding. *stops* means: the analyser ends with an error and names no culprit.
  With `--allow-incomplete-ranks` it says that it cannot decide
- *double*: what follows the call depends on the double of CUDA

A call that is left out below PyTorch stands in PyTorch's dumps as made, and completed on this rank alone. Our reader takes the other
ranks for stuck, and the analyser blames the rank whose state differs.

"""
TWINS = f"""## Healthy twins

The same rank pauses for {hangs.PAUSE_S} s at the same point, and goes on. The limit of a collective is {hangs.LONG} s, and the twins
run with `hung_after: {hangs.HUNG_AFTER}`: a first pause that is longer than this limit cannot be told from a hang
([why](../internals/diagnosis-timing.md#patience-is-learned)), and its default is 20 s. A rank that others have waited for may be told
late, as slow or stopped, and that is withdrawn when the job goes on.

- *told*: every finding of the run, and its time from the begin of the pause; negative: while the ranks started, beside other
  programs. Each was withdrawn at the end
- *at the end*: the findings that stand, and the exit status of the run

"""


def seconds(value):
    return f"{value:.1f} s"


def called(finding):
    where = f" {finding['seq']}" if finding["seq"] else ""
    op = f", {finding['op']}{where}" if finding["op"] else ""
    return f"{finding['kind']} {finding['ranks']}{op}, {finding['confidence']}"


def findings_of(result):
    first, proven = result["finding"], result["proven"]
    told = [f for f in (first, proven if proven != first else None) if f]
    return "<br>".join(f"{called(f)}; {seconds(f['after'])}" for f in told) or "none"


def agreement(hang, result):
    if not result["dumps"]:
        return "no dump"
    words = {name: readings.verdict(hang.rank, result[key]) for name, key in (("our reader", "ours"), ("the analyser", "pytorch"))}
    if set(words.values()) == {"agrees"}:
        return "yes"
    return "; ".join(f"{name} {word}" for name, word in words.items())


def row(name, result):
    hang, noticed = hangs.HANGS[name], result["noticed"]
    ours, pytorch = result["ours"], result["pytorch"]
    cells = [
        f"rank {hang.rank} {hang.says}" + (" *double*" if hang.double else ""),
        findings_of(result),
        f"{noticed['sign']}, rank {noticed['rank']}; {seconds(noticed['after'])}" if noticed else "nobody",
        " ".join(dump.removeprefix(readings.PREFIX) for dump in result["dumps"]) or "none",
        f"{ours['kind']} {ours['ranks']}" + (f" in {ours['seq']}" if ours["seq"] else "") if ours else "",
        pytorch["text"] if pytorch else "",
        agreement(hang, result)]
    return f"| {' | '.join(cells)} |"


def twin_row(name, result):
    twin = hangs.TWINS[name]
    of = ", ".join(key for key, hang in hangs.HANGS.items() if hang.twin == name) or "stuck-cuda-call"
    told = [f for f in result["told"] if not f["withdrawn"]]
    lasting = "; ".join(result["last"]) or "no result"
    words = "<br>".join(f"{called(f)}; {seconds(f['after'])}" for f in told)
    return f"| rank {twin.rank} {twin.says}{', over sockets' if twin.env else ''} | {of} | {words} | {lasting}; exit {result['status']} |"


def page_of(results):
    hung = [row(name, results[name]) for name in hangs.HANGS if name in results]
    calm = [twin_row(name, results[name]) for name in hangs.TWINS if name in results]
    days = " and ".join(sorted({result["day"] for result in results.values()}))
    return (f"{HEAD}{len(hung)} of {len(hangs.HANGS)} hangs, measured on {days}.\n\n"
            "| hang | finding | PyTorch notices | dumps of | our reader | PyTorch's analyser | agree |\n|---|---|---|---|---|---|---|\n"
            + "\n".join(hung) + f"\n\n{TWINS}{len(calm)} of {len(hangs.TWINS)} twins.\n\n"
            "| twin | of | told | at the end |\n|---|---|---|---|\n" + "\n".join(calm) + "\n")
