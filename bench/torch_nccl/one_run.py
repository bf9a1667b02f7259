"""one_run: runs a hang of hangs.py until its ranks have written their dumps, or a twin to its end, and reads what it left."""
import json
import pathlib
import signal
import subprocess
import sys
import time

import hangs
import readings
from what_pytorch_does import MISTAKE, STEPS, Clocks

BOUND_S = 400   # of a run; a loaded machine starts slowly
SILENT_S = 30   # where no dump is expected: this long after the limit of the collective
SETTLES_S = 3   # from the last dump to the end of the run
QUIET = ("none", "cannot_say")


def journal_of(run):
    """The whole lines of a journal that may still grow."""
    path = run / "journal.ndjson"
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]


def logs_of(run):
    paths = {rank: run / "logs" / f"rank-{rank}.a0.log" for rank in range(hangs.RANKS)}
    return {rank: path.read_text(errors="replace") for rank, path in paths.items() if path.exists()}


def began(lines, logs, rank):
    """When the rank met its trouble."""
    said = MISTAKE.search(logs.get(rank, ""))
    faults = [line["t"] / 1e9 for line in lines if line["ev"] in ("fault_done", "fault_intent")]
    return float(said[1]) if said else min(faults, default=None)


def brief(finding):
    seq = finding.get("seq")
    return {"kind": finding["kind"], "ranks": finding["ranks"], "op": finding.get("op", ""), "seq": seq and seq["to"],
            "confidence": finding["confidence"], "text": finding["text"], "withdrawn": bool(finding.get("withdrawn"))}


def in_words(finding):
    return f"{finding['kind']} {finding['ranks']}, {finding['confidence']}" + (", withdrawn" if finding["withdrawn"] else "")


def told(lines):
    """Every finding of a run, in the order of time: (seconds, finding)."""
    return [(line["t"] / 1e9, brief(line["finding"])) for line in lines
            if line["ev"] == "finding" and line["finding"]["kind"] not in QUIET]


class Run:
    """A run of the tool in a folder of its own."""

    def __init__(self, build, folder, job):
        self.at, self.job, self.clocks = pathlib.Path(folder), job, Clocks()
        self.dumps, self.run = self.at / "dumps", self.at / "run"
        self.dumps.mkdir()
        document = hangs.scenario(job, STEPS, f"{self.dumps}/{readings.PREFIX}", BOUND_S)
        (self.at / "job.yaml").write_text(json.dumps(document))
        self.tool = f"{build}/bin/rankfault"
        self.output = (self.at / "output").open("w+")
        self.process = subprocess.Popen([self.tool, "run", str(self.at / "job.yaml"), "--run-dir", str(self.run)],
                                        stdout=self.output, stderr=subprocess.STDOUT)

    def began(self):
        return began(journal_of(self.run), logs_of(self.run), self.job.rank)

    def has_dumped(self, began_at):
        """All ranks that can have written their dumps; or, where none can, the time for them is over."""
        if not self.job.dumps:
            return began_at is not None and time.clock_gettime(time.CLOCK_MONOTONIC) > began_at + hangs.LIMIT_S + SILENT_S
        files = [self.dumps / f"{readings.PREFIX}{rank}" for rank in self.job.dumps]
        return all(f.exists() and f.stat().st_size > 0 and time.time() > f.stat().st_mtime + SETTLES_S for f in files)

    def end_when_dumped(self):
        while self.process.poll() is None and not self.has_dumped(self.began()):
            time.sleep(0.5)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.end()

    def end(self):
        status = self.process.wait()
        self.output.seek(0)
        self.said = self.output.read()
        self.output.close()
        if status in (64, 70, 71, 77):
            sys.exit(f"{self.job.says}: the run did not start:\n{self.said}")
        self.clocks.read()
        return status
