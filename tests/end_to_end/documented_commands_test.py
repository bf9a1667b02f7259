#!/usr/bin/env python3
"""documented_commands_test.py SOURCE BUILD: runs every command of README, tutorial and how-to pages that it can run.

A command is a line of a console block that begins with "$ ", with its continuation lines. All run in a copy of the
tree, so pages that a command generates can be compared with the shipped ones. Commands that build, or that need a
cluster, are listed in NOT_RUN with the reason; a command that is neither run nor listed fails the test. The exit
status 77 of the tool counts as run: an optional part is missing.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PAGES = ["README.md", "docs/tutorial.md", *sorted(str(p.relative_to(SOURCE)) for p in (SOURCE / "docs/how-to").glob("*.md"))]
PAGES.remove("docs/how-to/five-minutes-with-pytorch.md")  # wheel_test.py follows it, with its files
NOT_RUN = [  # what a command begins with, and why the test does not run it
    (r"\./dev ", "starts a build or the tests"),
    (r"(RANKFAULT_APPROVE=1 )?ctest ", "is a test run of its own"),
    (r"git (add|diff) ", "shows what the reader changed"),
    (r"sudo |apt-get |pip ", "changes the machine"),
    (r"PATH=\$PWD", "is done by the test"),
    (r"rankfault watch -- (srun|mpirun --host) ", "needs a cluster"),
    (r"build/dev/bin/diagnose_test", "is a test run of its own"),
    (r"rankfault diagnose dumps/", "needs dumps of a job on GPUs"),
    (r".*--format NAME", "names a report that the reader adds"),
    (r".*\./a_program", "names a program of a back end that the reader adds"),
]
USABLE = {0, 77}  # 77: an optional part is missing
FINDS = "rankfault diagnose RUN"  # the run before it has a killed rank: 1, a finding


def commands_of(page):
    inside, command = False, ""
    for line in (SOURCE / page).read_text().splitlines():
        if line.startswith("```"):
            inside = line.startswith("```console")
        elif inside and (command or line.startswith("$ ")):
            command += line.removeprefix("$ ").rstrip("\\").strip() + " "
            if not line.endswith("\\"):
                yield command.split("  #")[0].strip()
                command = ""


def copy_of_the_tree(folder):
    left_out = shutil.ignore_patterns(".*", "build", "tests", "rankfault-runs", "__pycache__")
    shutil.copytree(SOURCE, folder, ignore=left_out, dirs_exist_ok=True)
    (folder / "build").mkdir()
    (folder / "build/dev").symlink_to(BUILD)
    program = folder / "my_program"  # a user's own program: MPI below mpirun, Gloo otherwise
    program.write_text(f'#!/bin/sh\nif [ "$OMPI_COMM_WORLD_SIZE" ]; then exec {BUILD}/bin/trainer_mpi --steps=5; fi\n'
                       f'exec {BUILD}/bin/trainer --store={folder}/store.$PPID --steps=5 --collective-timeout=1s\n')
    program.chmod(0o755)
    tutorial = (SOURCE / "docs/tutorial.md").read_text()
    (folder / "mine.yaml").write_text(re.search(r"`mine.yaml`:\n\n```yaml\n(.*?)```", tutorial, re.DOTALL).group(1))
    (folder / "my-scenarios").mkdir()
    shutil.copy2(SOURCE / "scenarios/crash/exit-rank.yaml", folder / "my-scenarios")


def run(command, folder, last_run):
    command = command.removeprefix("./dev build && ").replace("THEME/NAME", "crash/exit-rank").replace(" RUN", f" {last_run}")
    env = {**os.environ, "PATH": f"{BUILD}/bin:{os.environ['PATH']}", "RANKFAULT_RUNS": str(folder / "runs"),
           "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120)


def main():
    if not (BUILD / "bin/trainer").exists():
        print("skipped: the reference trainer was not built (to add it: apt-get install libgloo-dev)")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="rf-documented-") as name:
        folder, last_run = pathlib.Path(name), ""
        copy_of_the_tree(folder)
        for page in PAGES:
            for command in commands_of(page):
                reason = next((why for begin, why in NOT_RUN if re.match(begin, command) and "&&" not in command), None)
                if reason:
                    print(f"not run  {page}: {command}: it {reason}")
                    continue
                done = run(command, folder, last_run)
                kept = [run for run in re.findall(r"^ *run +(\S+)$", done.stdout, re.MULTILINE) if (folder / run / "plan.json").exists()]
                last_run = (kept or [last_run])[-1]
                if done.returncode not in ({1} if command == FINDS else USABLE):
                    failed += 1
                    print(f"FAILED   {page}: {command}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
                else:
                    print(f"status {done.returncode} {page}: {command}")
        for generated in ("faults/README.md", "docs/reference/oracles.md", "docs/reference/findings.md", "docs/reference/scenario.md",
                          "docs/reference/commands.md", "scenarios/scenario.v1.schema.json"):
            if (folder / generated).read_text() != (SOURCE / generated).read_text():
                failed += 1
                print(f"FAILED   {generated}: the documented command writes another page")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
