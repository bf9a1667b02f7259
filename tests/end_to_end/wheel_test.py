#!/usr/bin/env python3
"""wheel_test.py SOURCE BUILD: makes the wheel of a build, installs it into a clean virtual environment, and does there
what the page for PyTorch says.

The files and commands are those of the page. Skipped without the wheel's tools (.venv-wheel) or PyTorch 2.
"""
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

from wheel_checks import check_contents, make_wheel, run

SOURCE, BUILD = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PYTHON = os.environ.get("RANKFAULT_PYTHON", "python3")
PAGE = (SOURCE / "docs/how-to/five-minutes-with-pytorch.md").read_text(encoding="utf-8")


def shell(command, folder, env, wanted=0):
    return run(["bash", "-c", command], folder, env, wanted)


def make_environment(folder, wheel):
    """A virtual environment with the wheel and pytest. PyTorch is that of PYTHON, by a path file."""
    run([PYTHON, "-m", "venv", folder], folder.parent)
    run([folder / "bin/pip", "install", "--quiet", wheel, "pytest"], folder.parent)
    torch = run([PYTHON, "-c", "import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))"], folder.parent).strip()
    site, = folder.glob("lib/python3*/site-packages")
    (site / "torch-of-the-test.pth").write_text(torch + "\n")
    torchrun = folder / "bin/torchrun"
    torchrun.write_text(f"#!{folder}/bin/python\nfrom torch.distributed.run import main\n\nmain()\n")  # as pip writes it
    torchrun.chmod(0o755)


def write_files(folder):
    for name, text in re.findall(r"[Ss]ave (?:it|this) as `([\w./-]+)`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL):
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def follow(folder, env):
    commands = re.findall(r"^\$ (.*?)(?:  +#.*)?$", PAGE, re.MULTILINE)
    assert commands[:2] == ["./dev wheel", "pip install dist/rankfault-*.whl"], commands
    for command in commands[2:]:
        output = shell(command, folder, env)
        if " watch " in command:
            assert "none" in output, "a healthy job has a finding"


def check_failure(folder, env):
    """A scenario that fails is a failed test that shows the tool's own summary."""
    text = (folder / "scenarios/late-rank.yaml").read_text()
    (folder / "scenarios/broken.yaml").write_text(text.replace("within: 10s", "within: 1ms").replace("late-rank", "broken"))
    output = shell("pytest scenarios/broken.yaml", folder, env, wanted=1)
    assert "FAIL" in output and "unblocked" in output, output


def main():
    has_torch = "import importlib.metadata as m; assert int(m.version('torch').split('.')[0]) >= 2"
    if subprocess.run([PYTHON, "-c", has_torch], capture_output=True, check=False).returncode != 0:
        print("skipped: no PyTorch 2 (RANKFAULT_PYTHON)")
        return 77
    if not (SOURCE / ".venv-wheel/bin/auditwheel").exists():
        print("skipped: no tools for wheels; RANKFAULT_WHEEL=1 ./dev test installs them")
        return 77
    with tempfile.TemporaryDirectory(prefix="rf-wheel-") as name:
        folder = pathlib.Path(name)
        wheel = make_wheel(SOURCE, BUILD, folder)
        check_contents(wheel, platform.machine())
        make_environment(folder / "venv", wheel)
        job = folder / "job"
        job.mkdir()
        print(write_files(job))
        env = {"PATH": f"{folder}/venv/bin:/usr/bin:/bin", "HOME": name, "TMPDIR": name, "RANKFAULT_RUNS": f"{name}/runs"}
        follow(job, env)
        check_failure(job, env)
    return 0


if __name__ == "__main__":
    sys.exit(main())
