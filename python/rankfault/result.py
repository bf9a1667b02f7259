"""The result of a run, read from its result.json (schema rankfault.result.v1)."""
import dataclasses
import json
import os
from typing import Dict, List, Optional


@dataclasses.dataclass(frozen=True)
class Finding:
    kind: str  # see docs/reference/findings.md; "none": nothing was found
    ranks: List[int]
    op: str
    seq: Optional[Dict[str, int]]  # {"from": 7, "to": 9}: its place in the order of calls
    confidence: str  # "proven" or "inferred"
    text: str
    call_site: str


@dataclasses.dataclass(frozen=True)
class Expectation:
    id: str
    oracle: str
    verdict: str
    because: str


@dataclasses.dataclass(frozen=True)
class Result:
    verdict: str  # "pass", "fail", "unknown", "void" or "skipped"
    summary: str  # one line
    expectations: List[Expectation]
    findings: List[Finding]
    first_cause: Optional[Finding]
    run_dir: str  # journal.ndjson, result.json, logs
    status: int  # the exit status of the tool
    output: str  # what the tool printed

    @property
    def passed(self):
        return self.verdict == "pass"


def _only(kind, values):
    return kind(**{field.name: values[field.name] for field in dataclasses.fields(kind)})


def read_result(run_dir, status, output):
    """Reads a run directory. A run that ended before it had a result (a mistake in the scenario, a machine
    that lacks a part) has the verdict "skipped" or "unknown", and says why in `output`."""
    path = os.path.join(run_dir, "result.json")
    if not os.path.exists(path):
        lines = output.strip().splitlines()
        return Result("skipped" if status == 77 else "unknown", lines[-1] if lines else "", [], [], None, run_dir, status,
                      output)
    with open(path, encoding="utf-8") as file:
        told = json.load(file)
    # A skipped run and a comparison of several runs have only some of the keys.
    findings = [_only(Finding, finding) for finding in told.get("findings", [])]
    first = told.get("first_cause")  # a place in `findings`, or null
    return Result(told.get("verdict", "skipped"), told.get("summary", told.get("skipped", "")),
                  [_only(Expectation, e) for e in told.get("expectations", [])], findings,
                  None if first is None else findings[first], run_dir, status, output)
