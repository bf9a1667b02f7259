"""run_case: runs one case of the corpus under the tool until it has a finding, and returns the findings."""
import json
import os
import re
import signal
import subprocess
import time

WALL_S = 15  # ends a case without a finding
STAYS_S = {"proven": 0.4, "inferred": 2.5}  # a better finding may follow in this time
QUIET = ("none", "cannot_say")

SCENARIO = """version: 1
name: corpus
workload:
  launcher: mpirun
  ranks: {ranks}
  command: ["{program}", "{case}", "{mask}"]
  limits: {{wall: {wall}s}}
expect:
  - blamed: {{kind: none}}
"""


def journal_lines(path):
    """Returns the complete lines of a journal that may still grow."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]


def said(lines):
    return [x["finding"] for x in lines if x["ev"] == "finding" and x["finding"]["kind"] not in QUIET]


def wait_for_finding(tool, path):
    """Waits until the job is over, or a finding stood for a while: spinning ranks then show nothing more."""
    since, count, size = time.monotonic(), 0, -1
    while tool.poll() is None:
        time.sleep(0.05)
        now = os.path.getsize(path) if os.path.exists(path) else 0
        if now == size and not count:
            continue
        if now != size:
            size, found = now, said(journal_lines(path))
            if len(found) != count:
                since, count = time.monotonic(), len(found)
        proven = any(f["confidence"] == "proven" for f in found) if count else False
        if count and time.monotonic() - since > STAYS_S["proven" if proven else "inferred"]:
            tool.send_signal(signal.SIGTERM)  # a background shell starts jobs with SIGINT ignored
            break
    tool.wait()


def run_case(build, folder, case):
    """Runs the case. Returns the findings of the report and how the job ended."""
    run = f"{folder}/run"
    with open(f"{folder}/case.yaml", "w", encoding="utf-8") as file:
        file.write(SCENARIO.format(ranks=case["ranks"], case=case["case"], mask=hex(case["mask"]), wall=WALL_S,
                                   program=f"{build}/bin/ranks/corpus/{case['program']}"))
    with subprocess.Popen([f"{build}/bin/rankfault", "run", f"{folder}/case.yaml", "--run-dir", run],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tool:
        try:
            wait_for_finding(tool, f"{run}/journal.ndjson")
        finally:
            if tool.poll() is None:
                tool.send_signal(signal.SIGTERM)
                tool.wait()
    with open(f"{run}/result.json", encoding="utf-8") as file:
        return outcome(run, json.load(file))


def outcome(run, result):
    """Returns the findings, and the end of the job from the journal."""
    lines, findings = journal_lines(f"{run}/journal.ndjson"), result["findings"]
    return {"findings": findings, "unsafe": result.get("unsafe", []), "teardown": next(x["reason"] for x in lines if x["ev"] == "teardown"),
            "took_ms": took(lines, findings),
            "zero": [x["rank"] for x in lines if x["ev"] == "rank_end" and x["kind"] == "exit" and x["value"] == 0]}


def took(lines, findings):
    """Returns the milliseconds from the start of the first cause to its first line in the journal."""
    causes = [f for f in findings if f.get("caused_by", -1) < 0 and f["kind"] not in QUIET]
    if not causes:
        return None
    written = [x["t"] for x in lines if x["ev"] == "finding" and x["finding"]["kind"] == causes[0]["kind"]]
    return max(0, (written[0] - causes[0].get("at", written[0])) / 1e6) if written else None


def lines_of(program, finding):
    """Returns the source lines of the calls that a finding names: from file:line, or by addr2line."""
    sites = {finding.get("call_site", "")} | {side.get("call_site", "") for side in finding.get("sides", [])}
    named = {int(m.group(1)) for s in sites if (m := re.search(r"\.c:([0-9]+)$", s))}
    offsets = [hex(int(m.group(1), 16) - 1) for s in sites if (m := re.search(r"\+0x([0-9a-f]+)$", s))]
    if not offsets:
        return named
    out = subprocess.run(["addr2line", "-e", program, *offsets], capture_output=True, text=True, check=False).stdout
    return named | {int(m.group(1)) for m in re.finditer(r"\.c:(\d+)", out)}
