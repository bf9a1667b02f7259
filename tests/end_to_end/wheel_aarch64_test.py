#!/usr/bin/env python3
"""wheel_aarch64_test.py SOURCE: makes the wheel of the cross build for aarch64, checks what is in it, and starts its
tool under qemu.

Skipped without the cross build (./dev wheel aarch64), the wheel's tools (.venv-wheel) or qemu's user mode. The wheel's
own libraries must be enough: besides them there are only glibc, libstdc++ and zlib, which every Linux has.
"""
import pathlib
import shutil
import sys
import tempfile
import zipfile

from wheel_checks import check_contents, check_versions, make_wheel, run

SOURCE = pathlib.Path(sys.argv[1]).resolve()
BUILD = SOURCE / "build/aarch64"
QEMU = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
BASE = pathlib.Path("/usr/aarch64-linux-gnu")  # glibc and libstdc++, of the cross compiler's packages
ZLIB = SOURCE / "build/aarch64-sysroot/usr/lib/aarch64-linux-gnu/libz.so.1"


def missing():
    if not (BUILD / "bin/rankfault").exists():
        return "no tool for aarch64; ./dev wheel aarch64 builds it"
    if not QEMU or not BASE.exists():
        return "no qemu-aarch64; apt-get install qemu-user-static adds it"
    if not (SOURCE / ".venv-wheel/bin/auditwheel").exists():
        return "no tools for wheels; RANKFAULT_WHEEL=1 ./dev test installs them"
    return ""


def unpack(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    for program in (folder / "rankfault/bin").iterdir():
        program.chmod(0o755)


def check_tool(folder, version):
    (folder / "zlib").mkdir()
    shutil.copy(ZLIB, folder / "zlib")
    tool = [QEMU, "-L", BASE, "-E", f"LD_LIBRARY_PATH={folder}/zlib", folder / "rankfault/bin/rankfault"]
    assert version in run([*tool, "--version"], SOURCE)
    assert "watch" in run([*tool, "--help"], SOURCE)
    assert "rank_kill" in run([*tool, "list", "faults"], SOURCE)
    run([*tool, "validate", "scenarios/crash/kill-rank.yaml"], SOURCE)


def main():
    reason = missing()
    if reason:
        print(f"skipped: aarch64: {reason}")
        return 77
    with tempfile.TemporaryDirectory(prefix="rf-wheel-aarch64-") as name:
        folder = pathlib.Path(name)
        wheel = make_wheel(SOURCE, BUILD, folder)
        check_contents(wheel, "aarch64")
        unpack(wheel, folder / "root")
        check_versions(folder / "root/rankfault/lib")
        check_tool(folder / "root", wheel.name.split("-")[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
