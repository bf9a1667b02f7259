#!/usr/bin/env python3
"""agreement.py BUILD: compares the finding of a hang with what two readers say of the dumps of the same run.

  --only NAMES    only these hangs and twins, separated by commas
  --jobs N        this many runs at the same time (1)
  --seconds S     begins no run after that time; the next call goes on with the runs that it lacks
  --again         also what was measured before
  --check         a test: writes no file, and fails on a disagreement that hangs.py does not state
  --keep FOLDER   keeps run directories and dumps there
  --results FILE, --page FILE

Each hang of hangs.py runs over the double of CUDA until its ranks have written their dumps. Each healthy twin runs to its end. No
finding may call a twin hung.
"""
import concurrent.futures
import datetime
import json
import os
import pathlib
import sys
import tempfile

import hangs
import kept
import readings
from one_run import Run, in_words, journal_of, logs_of, told
from what_pytorch_does import ROOT, signs_in

HERE = pathlib.Path(__file__).resolve().parent
LATE = ("slow_rank", "stopped_rank")  # true of a rank that is late now


def of_hang(build, folder, hang):
    run = Run(build, folder, hang)
    run.end_when_dumped()
    lines, logs = journal_of(run.run), logs_of(run.run)
    zero, signs = run.began(), signs_in(logs, run.clocks)
    findings = [(t, f) for t, f in told(lines) if f["ranks"] and zero is not None and t >= zero]
    first = findings[0] if findings else None
    proven = next(((t, f) for t, f in findings if f["confidence"] == "proven"), None)
    dumps = sorted(path.name for path in run.dumps.iterdir())
    after = lambda t: None if zero is None or t is None else round(t - zero, 2)  # noqa: E731
    result = {"finding": first and {"after": after(first[0]), **first[1]}, "proven": proven and {"after": after(proven[0]), **proven[1]},
              "noticed": {"after": after(signs[0][0]), "rank": signs[0][1], "sign": signs[0][2]} if signs else None,
              "told": [in_words(f) for _, f in findings], "dumps": dumps,
              "ours": None, "pytorch": None}
    if dumps:
        result["ours"] = readings.of_rankfault(run.tool, str(run.dumps))
        result["pytorch"] = readings.of_pytorch(build, str(run.dumps))
        (run.at / "analysis").write_text(result["pytorch"].pop("all"))
    return result


def of_twin(build, folder, twin):
    run = Run(build, folder, twin)
    status = run.end()
    lines, logs = journal_of(run.run), logs_of(run.run)
    zero, findings = run.began(), told(lines)
    last = json.loads((run.run / "result.json").read_text()) if (run.run / "result.json").exists() else {}
    after = lambda t: None if zero is None else round(t - zero, 2)  # noqa: E731
    return {"status": status, "told": [{"after": after(t), **f} for t, f in findings],
            "last": [f"{f['kind']}: {f['text']}" for f in last.get("findings", [])],
            "pytorch": sorted({sign for _, _, sign in signs_in(logs, run.clocks)})}


def measured(build, name, keep):
    job = hangs.HANGS.get(name) or hangs.TWINS[name]
    with tempfile.TemporaryDirectory(prefix="rfagree-") as folder:
        if keep:
            folder = os.path.join(keep, name)
            os.makedirs(folder)
        result = (of_hang if name in hangs.HANGS else of_twin)(build, folder, job)
    return name, {**result, "day": str(datetime.date.today())}


def said_wrongly(name, result):
    """What must not be; none of it on a healthy machine and a healthy tool."""
    wrong = []
    if name in hangs.TWINS:
        hung = [f for f in result["told"] if f["kind"] not in LATE or f["confidence"] == "proven"]
        wrong += [f"a finding blames a healthy job: {f['kind']} {f['ranks']}: {f['text']}" for f in hung]
        if result["status"] != 0 or not all(text.startswith("none") for text in result["last"]):
            wrong.append(f"the job ended with status {result['status']} and {result['last']}")
        return wrong
    hang, finding = hangs.HANGS[name], result["finding"]
    if not finding or finding["ranks"] != [hang.rank]:
        return [f"no finding names rank {hang.rank}: {result['told']}"]
    noticed = result["noticed"]
    if noticed and noticed["after"] <= finding["after"]:
        wrong.append(f"the finding came {finding['after']} s after the trouble, and PyTorch noticed it before: {noticed}")
    if hang.dumps and not noticed:
        wrong.append("PyTorch noticed nothing")
    for reader in ("ours", "pytorch"):
        said = readings.verdict(hang.rank, result[reader]) if result[reader] else "names nobody"
        if hang.dumps and said != getattr(hang, reader):
            wrong.append(f"the reader `{reader}` {said}: {result[reader]}")
    return wrong


def arguments():
    parser = kept.parser(__doc__, HERE / "agreement.json", ROOT / "docs/measurements/pytorch-agreement.md")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep", default="")
    return parser.parse_args()


def main():
    from agreement_page import page_of  # noqa: PLC0415 # beside this file
    options = arguments()
    options.again |= options.check
    build = os.path.abspath(options.build)
    if not os.path.exists(readings.python_of(build) or "/none"):
        print("./dev torch-nccl was not run")
        sys.exit(77)
    results, wrong = kept.Kept(options, page_of), []
    names = [name for name in [*hangs.HANGS, *hangs.TWINS] if not options.only or name in options.only.split(",")]

    def one(name):
        return measured(build, name, options.keep) if results.is_due(name) else (name, None)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, result in pool.map(one, names):
            if not result:
                continue
            faults = said_wrongly(name, result)
            wrong += faults
            print(name, json.dumps(result), *faults, sep="\n    ", flush=True)
            if not options.check:
                results.add(name, result)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
