#!/usr/bin/env python3
"""documented_scenario_test.py SOURCE BUILD: runs the scenario of the how-to page for a PyTorch script as a reader writes it.

The scenario is taken from the page. The script has the marks of the page and a checkpoint. Skipped without PyTorch 2.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PYTHON = os.environ.get("RANKFAULT_PYTHON", "python3")
TRAIN = """
import os, sys
import torch, torch.distributed as dist
import rankfault_mark

checkpoint = next(word.split("=")[1] for word in sys.argv if word.startswith("--checkpoint="))
dist.init_process_group("gloo")
rank = dist.get_rank()
first_step = 1
if os.path.exists(checkpoint) and "--no-resume" not in sys.argv:
    first_step = int(open(checkpoint).read()) + 1
for step in range(first_step, 9):
    rankfault_mark.step_begin(step)
    dist.all_reduce(torch.ones(4))
    rankfault_mark.step_commit(step)
    if rank == 0:
        with open(checkpoint + ".new", "w") as out:
            out.write(str(step))
        os.replace(checkpoint + ".new", checkpoint)
        rankfault_mark.mark("checkpoint", step)
    dist.barrier()
dist.destroy_process_group()
"""


def main():
    has_torch = "import importlib.metadata as m; assert int(m.version('torch').split('.')[0]) >= 2"
    if subprocess.run([PYTHON, "-c", has_torch], capture_output=True, check=False).returncode != 0:
        print("skipped: no PyTorch 2 (RANKFAULT_PYTHON)")
        return 77
    page = (SOURCE / "docs/how-to/test-your-own-job.md").read_text()
    scenario = re.search(r"`ddp-kill.yaml`:\n\n( *)```yaml\n(.*?)```", page, re.DOTALL).group(2)
    with tempfile.TemporaryDirectory(prefix="rf-page-") as name:
        folder = pathlib.Path(name)
        (folder / "train.py").write_text(TRAIN)
        file = folder / "ddp-kill.yaml"
        file.write_text(scenario.replace("/path/to/rankfault", str(SOURCE)))
        for more in ([], ["--teeth"]):
            words = [str(BUILD / "bin/rankfault"), "run", *more, str(file)]
            done = subprocess.run(words, env={**os.environ, "RANKFAULT_RUNS": str(folder / "runs")}, capture_output=True,
                                  text=True, check=False)
            print(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
            if done.returncode != 0:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
