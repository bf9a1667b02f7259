#!/usr/bin/env python3
"""clean_root_test.py SOURCE BUILD: installs the .deb into a fresh Debian with apt, as its user does, runs a scenario there, and
removes the package again. Needs root, debootstrap and a mirror; else it is skipped (77).
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
BARE = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C",
        **{name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}}

SCENARIO = """version: 1
name: killed
workload:
  launcher: local
  ranks: 2
  command: [/bin/sh, -c, "if [ {rank} = 1 ]; then kill -KILL $$; fi; sleep 1; exit 3"]
  limits: {wall: 20s}
expect:
  - ended: {ranks: [1], exit: SIGKILL}
  - ended: {ranks: [0], exit: 3}
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def run(*words, **more):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def mirror():
    """Returns the mirror of this machine's apt."""
    return run("bash", "-c", f". {SOURCE}/cuda_double/nccl_build/fetch.sh && debian_mirror").strip()


def make_root(folder):
    release = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text("utf-8").splitlines() if "=" in line)
    codename = release.get("VERSION_CODENAME", "").strip('"')
    address = mirror() if release.get("ID") == "debian" else ""
    if os.geteuid() != 0 or not shutil.which("debootstrap") or not address:
        skip("needs root, debootstrap and a mirror of Debian: apt-get install debootstrap")
    made = subprocess.run(["debootstrap", "--variant=minbase", codename, folder, address], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        skip(f"debootstrap made no system: {made.stdout[-300:]}")
    # The way to the mirror is this machine's: its addresses, its certificates, its apt's proxy.
    for path in ("etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt"):
        if os.path.exists("/" + path):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy("/" + path, folder / path)
    for path in pathlib.Path("/etc/apt/apt.conf.d").glob("*proxy*"):
        shutil.copy(path, folder / "etc/apt/apt.conf.d")


def files_of(folder):
    kept = ("var/lib", "var/log", "var/cache", "proc", "tmp")
    return {str(p.relative_to(folder)) for p in folder.rglob("*rankfault*") if not str(p.relative_to(folder)).startswith(kept)}


def main():
    with tempfile.TemporaryDirectory(prefix="rfroot-") as name:
        folder = pathlib.Path(name) / "root"
        make_root(folder)
        run("cpack", "-G", "DEB", "-B", f"{name}/packages", cwd=BUILD)
        shutil.copy(next(pathlib.Path(name, "packages").glob("*.deb")), folder / "rankfault.deb")
        (folder / "killed.yaml").write_text(SCENARIO, encoding="utf-8")
        # A mount namespace of its own, so that /proc of the new system goes away with it.
        inside = ("unshare", "--mount", "--", "sh", "-euc",
                  'mount -t proc proc "$1/proc"; mount -t tmpfs tmpfs "$1/tmp"; mount -t tmpfs tmpfs "$1/dev/shm"; shift; exec "$@"', "sh",
                  folder, "chroot", folder)
        updated = subprocess.run([*inside, "apt-get", "-qq", "-o", "APT::Update::Error-Mode=any", "update"], env=BARE, capture_output=True,
                                 text=True, check=False)
        if updated.returncode != 0:
            skip(f"the mirror does not answer in the new system: {updated.stderr[-300:]}")
        run(*inside, "apt-get", "-qq", "install", "-y", "--no-install-recommends", "/rankfault.deb", env=BARE)
        assert "0.1.0" in run(*inside, "rankfault", "--version", env=BARE)
        told = run(*inside, "rankfault", "run", "/killed.yaml", "--run-dir", "/tmp/run", env=BARE)
        assert "PASS" in told, told
        run(*inside, "rankfault", "doctor", env=BARE)
        assert any(path.startswith("usr/lib/rankfault/") for path in files_of(folder)), "the search finds no file of the package"
        run(*inside, "apt-get", "-qq", "purge", "-y", "rankfault", env=BARE)
        left = files_of(folder) - {"rankfault.deb"}
        assert not left, f"the package leaves {sorted(left)}"
    print("installed, used and removed in a fresh Debian")


if __name__ == "__main__":
    main()
