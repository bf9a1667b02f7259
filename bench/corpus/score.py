"""score: compares the findings with the truth about a case, and writes the table."""
import statistics

QUIET = ("none", "cannot_say")
COLUMNS = ["runs", "right", "other", "silent", "proven and right", "PROVEN AND WRONG", "line named", "median ms",
           "worst ms", "twins", "false alarms", "unsafe named", "FALSELY UNSAFE"]
HEAD = """# How well the diagnosis does on its own corpus

Written by `./dev bench corpus` (`bench/corpus/corpus_bench.py`); the cases are made from `tests/ranks/corpus/table.py`.

- *right*: the first cause has a kind that is true of the bug, and blames exactly the ranks that it may blame
- *other*: another finding came first; *silent*: there was no finding
- *proven and right*: the right ones with a proof, of the cause itself or of a finding under it
- *PROVEN AND WRONG*: a proof that blames an innocent rank, has another kind, or is refuted by the run itself
- *line named*: the right ones that name a source line of the disagreement
- *ms*: the time from the event to its report
- *false alarms*: correct twins with a finding
- *unsafe named*: of the twins that end only where the library buffers their sends, how many are reported as `unsafe`
- *FALSELY UNSAFE*: other twins that are

`bench/corpus/outcomes.json` has the last outcome of each case. The command goes on with the cases that it lacks for the rules of
this tree; a whole run takes hours.

"""
TAIL = """
The last whole run was made on 2026-11-28: 2,923 of 2,925 bugs right, 2,867 of them proven, none proven and wrong, no alarm about 1,446
twins; 1,311,300 cuts, 198,686 with a proven claim, none refuted. Two runs were silent: MPI_Init of Open MPI had not returned on one rank
after 15 s, so the bug was never reached, and the answer was `cannot_say`. A run that began on that day found that a call
with wrong arguments of its own was sometimes reported without its rank (3 of 1,220 cases); that was repaired, and all cases were run again.

Programs of other projects, on 2026-11-22: MPI-CorrBench (tudasc, its commit c89a836 of 2023-01-24), the 484 C programs that use no
window, 2 ranks, Open MPI 4.1.4, and again MPICH 4.0.2. Nothing was proven of a program that its own folder calls correct and
that is. Two of OpenMP's in `ordering/correct` make more collectives on rank 0 than on rank 1, because each thread creates the
tasks; one may deadlock by the order of its threads, and did. rankfault stays silent about mistakes that hang nothing: buffers that
overlap, data races, requests without a wait, sends that finish only by buffering.
"""


def causes(result):
    return [f for f in result["findings"] if f["kind"] not in QUIET and f.get("caused_by", -1) < 0]


def fits(case, finding):
    return finding["kind"] in case["kinds"] and sorted(finding["ranks"]) in [sorted(b) for b in case["blames"]]


def refuted(result, finding):
    """Whether the finding claims that a call cannot return success, but the rank of the call ended well."""
    return finding.get("claim") == "cannot_return" and any(
        c[0] in result["zero"] for c in finding.get("claimed", []))


def proven_wrong(case, result):
    """Returns a proof that blames an innocent rank, has a kind that is not true, or is refuted by the run."""
    for f in result["findings"]:
        if f["kind"] in QUIET or f["confidence"] != "proven":
            continue
        if not case["mask"] or refuted(result, f):
            return f
        if f.get("caused_by", -1) >= 0:  # an effect blames no rank for the bug
            continue
        may = {r for b in case["blames"] for r in b} | set(case["wrong"])
        if not set(f["ranks"]) <= may or f["kind"] not in case["kinds"] + case["also"]:
            return f
    return None


# Further kinds that are true of a job that stops: such a proof is not wrong, but it does not count as right.
ALSO = {"order": ["order_deadlock", "extra_call"], "argument": ["order_deadlock"], "receive": [],
        "left_out": ["call_mismatch", "order_deadlock"], "communicator": ["missing_call", "extra_call", "call_mismatch"],
        "mixed": ["missing_call"], "ended": ["call_mismatch"], "cycle": [], "partner": ["exited_rank"],
        "branches": ["call_mismatch", "extra_call", "missing_call"], "healthy": []}


def judge(case, result):
    """Returns the outcome of one run, in the words of the table."""
    case = dict(case, also=ALSO[case["family"]])
    first = causes(result)[:1]
    if not case["mask"]:
        return {"twin": True, "alarm": bool(first), "wrong_proof": bool(proven_wrong(case, result)),
                "buffers": case["unsafe"], "unsafe": bool(result["unsafe"])}
    verdict = "silent" if not first else "right" if fits(case, first[0]) else "other"
    proofs = [f for f in result["findings"] if f["confidence"] == "proven" and f["kind"] not in QUIET]
    return {"twin": False, "verdict": verdict, "proven": verdict == "right" and bool(proofs),
            "wrong_proof": bool(proven_wrong(case, result)), "ms": result["took_ms"]}


def row(name, judged):
    bugs, twins = [j for j in judged if not j["twin"]], [j for j in judged if j["twin"]]
    count = lambda word: sum(j["verdict"] == word for j in bugs)  # noqa: E731
    times = [j["ms"] for j in bugs if j["verdict"] == "right" and j["ms"] is not None]
    share = f" ({100 * count('right') // len(bugs)} %)" if bugs else ""
    cells = [len(bugs), f"{count('right')}{share}", count("other"), count("silent"), sum(j["proven"] for j in bugs),
             sum(j["wrong_proof"] for j in judged), sum(j.get("line", False) for j in bugs),
             f"{statistics.median(times):.0f}" if times else "", f"{max(times):.0f}" if times else "", len(twins),
             sum(j["alarm"] for j in twins), f"{sum(j['unsafe'] for j in twins if j['buffers'])} of {sum(j['buffers'] for j in twins)}",
             sum(j["unsafe"] and not j["buffers"] for j in twins)]
    return f"| {name} | " + " | ".join(str(c) for c in cells) + " |"


def table(by_family):
    lines = ["| family | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    lines += [row(name, judged) for name, judged in by_family.items()]
    lines.append(row("all", [j for judged in by_family.values() for j in judged]))
    return "\n".join(lines) + "\n"
