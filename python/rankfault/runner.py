"""Runs scenarios by the tool, and returns their results."""
import json
import os
import subprocess

import rankfault
from rankfault.result import read_result


class Runner:
    """Runs jobs under faults. Run directories go into `folder`, one for each run."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.runs = 0

    def run(self, scenario, *options):
        """Runs a scenario: the path of a file, or a dict with the keys of one (docs/reference/scenario.md).
        `options` are words for `rankfault run`. Returns a Result; raises nothing if the job fails."""
        self.runs += 1
        os.makedirs(self.folder, exist_ok=True)
        if isinstance(scenario, dict):
            path = os.path.join(self.folder, f"scenario-{self.runs}.yaml")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(scenario, file, indent=1)  # JSON is YAML
            scenario = path
        return self._run_into(f"run-{self.runs}", [str(scenario), *map(str, options)])

    def mutations(self, scenario, *options):
        """Runs the mutation checks of a scenario file (`teeth:`). Returns the tool's status and output; status
        0 means that the scenario detected each mutation."""
        self.runs += 1
        return self._tool(["run", "--teeth", "--runs", os.path.join(self.folder, f"mutations-{self.runs}"), str(scenario),
                           *map(str, options)])

    def _run_into(self, name, words):
        run_dir = os.path.join(self.folder, name)
        status, output = self._tool(["run", "--run-dir", run_dir, "--keep", "all", *words])
        return read_result(run_dir, status, output)

    @staticmethod
    def _tool(words):
        ended = subprocess.run([rankfault.tool(), *words], env=rankfault.environment(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return ended.returncode, ended.stdout.decode(errors="replace")
