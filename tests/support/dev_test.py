"""dev_test: what ./dev prints where it may not install anything, and that its help names each command once.

usage: dev_test.py ROOT
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])


def run(words, fakes):
    """Runs ./dev with programs of these names and texts first on PATH, and without a terminal."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in fakes.items():
            program = pathlib.Path(folder) / name
            program.write_text("#!/bin/sh\n" + text + "\n")
            program.chmod(0o755)
        env = {"PATH": folder + ":/usr/sbin:/usr/bin:/sbin:/bin", "HOME": os.environ.get("HOME", "/")}
        return subprocess.run(["bash", ROOT / "dev", *words], env=env, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)


class Dev(unittest.TestCase):
    NOBODY = {"id": "echo 1000", "sudo": "exit 1", "dpkg-query": "exit 1", "apt-get": "echo installed >&2; exit 1"}

    def test_without_root_it_prints_the_line_that_installs_what_is_missing(self):
        done = run(["demo"], self.NOBODY)
        self.assertEqual(done.returncode, 1, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("   apt-get install ")]
        self.assertEqual(len(lines), 1, done.stderr)
        for package in ("g++", "cmake", "libboost-dev", "libopenmpi-dev"):
            self.assertIn(f" {package} ", lines[0] + " ")
        self.assertNotIn("installed", done.stderr)

    def test_without_root_a_part_that_is_missing_is_left_out(self):
        script = ("cd " + f"'{ROOT}'" + "; say() { :; }; note() { echo \"$*\"; }; . cmake/dev/packages.sh;"
                  " want_packages libgloo-dev:Gloo; echo went on")
        with tempfile.TemporaryDirectory() as folder:
            for name, text in self.NOBODY.items():
                (pathlib.Path(folder) / name).write_text("#!/bin/sh\n" + text + "\n")
                (pathlib.Path(folder) / name).chmod(0o755)
            said = subprocess.run(["bash", "-euc", script], env={"PATH": folder + ":/usr/bin:/bin"}, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout
        self.assertEqual(said, "left out: libgloo-dev. To add them, as root: apt-get install "
                               "--no-install-recommends libgloo-dev\nwent on\n")

    def test_help_names_each_command_once(self):
        said = run(["help"], {}).stdout
        commands = [line[2:20].strip() for line in said.splitlines() if line.startswith("  ") and line[2:3].islower()]
        self.assertGreater(len(commands), 10)
        self.assertEqual(sorted(commands), sorted(set(commands)))

    def test_an_unknown_command_is_the_users_mistake(self):
        self.assertEqual(run(["nonsense"], {}).returncode, 64)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
