#!/usr/bin/env python3
"""install_test.py SOURCE BUILD: installs a build as a user would, and uses it from another CMake project: find_package, scenario
files as ctest tests, the matchers for GoogleTest, the completion of bash, the manual page. Then the same tree from the .deb.
"""
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in (sys.argv.pop(1), sys.argv.pop(1)))

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(trainer LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(rankfault 0.1 REQUIRED)
find_package(GTest REQUIRED)
enable_testing()
rankfault_add_scenario(good.yaml bad.yaml lacks.yaml LABELS mine TIMEOUT 60)
add_executable(trainer_test trainer_test.cc)
target_link_libraries(trainer_test PRIVATE rankfault::gtest rankfault::mark GTest::gmock_main)
add_test(NAME trainer_test COMMAND trainer_test)
"""

SCENARIO = """version: 1
name: {name}
workload: {{launcher: local, ranks: 2, command: [/bin/sh, -c, "exit {status}"], limits: {{wall: 20s}}{needs}}}
expect:
  - ended: {{ranks: all, exit: 0}}
"""

PROGRAM = """#include <rankfault/gtest.h>
#include <rankfault/mark.h>

namespace {

using ::testing::Not;

TEST(Trainer, EndsWithZero) {
  const rankfault::Run run = rankfault::run_scenario(SOURCE "/good.yaml", {"--seed", "7"});
  RANKFAULT_SKIP_IF_SKIPPED(run);
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run, rankfault::Passed());
  EXPECT_THAT(run, rankfault::Expectation("ended", "pass"));
  EXPECT_THAT(run, Not(rankfault::Blames("dead_rank", {1})));
}

TEST(Trainer, FailsAsItsScenarioSays) {
  const rankfault::Run run = rankfault::run_scenario(SOURCE "/bad.yaml");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run, Not(rankfault::Passed()));
  EXPECT_THAT(run, rankfault::Expectation("ended", "fail"));
}

TEST(Trainer, LacksAPart) {
  const rankfault::Run run = rankfault::run_scenario(SOURCE "/lacks.yaml");
  RANKFAULT_SKIP_IF_SKIPPED(run);
  FAIL() << run;
}

TEST(Trainer, HasNoSuchFile) { EXPECT_EQ(rankfault::run_scenario(SOURCE "/none.yaml").status, 64); }

}  // namespace
"""


def run(*words, cwd=None, status=0, **more):
    done = subprocess.run([str(w) for w in words], cwd=cwd, capture_output=True, text=True, check=False, **more)
    if done.returncode != status:
        raise AssertionError(f"{words} ended with {done.returncode}, not {status}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def completed_by_zsh(folder, line):
    """Types the line and the tab key into an interactive zsh, and returns what that zsh printed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb"})
    shown = ""
    try:
        for typed, answer in ((f"bindkey -e; PS1=; fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; echo rea''dy\n", "ready"),
                              # The completed line becomes the arguments of an echo.
                              (line + "\t\x05 en''d\x01echo \n", " end")):
            os.write(terminal, typed.encode())
            while answer not in shown:
                if not select.select([terminal], [], [], 60)[0]:
                    raise AssertionError(f"zsh does not answer: {shown!r}")
                shown += os.read(terminal, 4096).decode(errors="replace")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    return shown


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="rfinstall-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = pathlib.Path(cls.folder.name)
        run("cmake", "--install", BUILD, "--strip", "--prefix", cls.root / "usr")

    def test_the_command_runs_from_its_link(self):
        self.assertIn("0.1.0", run(self.root / "usr/bin/rankfault", "--version"))
        names = {p.name for p in (self.root / "usr/lib").iterdir()}
        self.assertEqual(names, {"rankfault", "cmake"}, "nothing else lies in a folder that all programs share")

    def test_another_project_runs_scenarios_as_its_tests(self):
        project = self.root / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        (project / "trainer_test.cc").write_text(PROGRAM.replace("SOURCE", f'"{project}"'), encoding="utf-8")
        for name, status, needs in (("good", 0, ""), ("bad", 3, ""), ("lacks", 0, ', needs: ["torch >= 99"]')):
            (project / f"{name}.yaml").write_text(SCENARIO.format(name=name, status=status, needs=needs), encoding="utf-8")
        run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={self.root / 'usr'}")
        run("cmake", "--build", project / "build")
        told = run("ctest", "--test-dir", project / "build", "-L", "mine", status=8)
        self.assertRegex(told, r"rankfault/good \.+ +Passed")
        self.assertRegex(told, r"rankfault/bad \.+\*\*\*Failed")
        self.assertRegex(told, r"rankfault/lacks \.+\*\*\*Skipped")
        run("ctest", "--test-dir", project / "build", "-R", "trainer_test", "--output-on-failure")
        shown = run("ctest", "--test-dir", project / "build", "--show-only=json-v1")
        self.assertRegex(shown, r'"name" : "PROCESSORS",\s*"value" : 2')

    def test_a_missing_file_is_a_mistake_when_the_project_is_configured(self):
        project = self.root / "wrong"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(PROJECT.replace("good.yaml", "god.yaml"), encoding="utf-8")
        told = run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={self.root / 'usr'}", status=1)
        self.assertIn("god.yaml is not a file", told)

    def test_bash_completes_commands_and_options(self):
        script = self.root / "usr/share/bash-completion/completions/rankfault"
        for words, wanted in ((["rankfault", "wat"], "watch"), (["rankfault", "run", "--jun"], "--junit"),
                              (["rankfault", "watch", "--", "--jun"], "")):
            line = " ".join(f'"{w}"' for w in words)
            told = run("bash", "-c", f'. {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _rankfault; echo "${{COMPREPLY[*]}}"')
            self.assertEqual(told.strip(), wanted)

    def need(self, shell):
        if not shutil.which(shell):
            self.skipTest(f"no {shell}: apt-get install {shell}")

    def test_zsh_completes_commands_and_options(self):
        self.need("zsh")
        folder = self.root / "usr/share/zsh/vendor-completions"
        for line, wanted in (("rankfault wat", "rankfault watch"), ("rankfault run --jun", "rankfault run --junit")):
            self.assertIn(f"{wanted} end", completed_by_zsh(folder, line))

    def test_fish_completes_commands_and_options(self):
        self.need("fish")
        script = self.root / "usr/share/fish/vendor_completions.d/rankfault.fish"
        for line, wanted in (("rankfault wat", "watch"), ("rankfault run --jun", "--junit"), ("rankfault watch -- x --jun", "")):
            told = run("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'")
            self.assertEqual(told.split("\t", maxsplit=1)[0].strip(), wanted)

    def test_the_manual_page_is_one(self):
        page = self.root / "usr/share/man/man1/rankfault.1"
        self.assertIn(".TH RANKFAULT 1", page.read_text(encoding="utf-8"))
        if shutil.which("man"):
            told = run("man", "-l", page, env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
            self.assertIn("rankfault watch -- python train.py", told)

    def test_the_package_holds_the_same_tree(self):
        made = self.root / "packages"
        run("cpack", "-G", "DEB;TGZ", "-B", made, cwd=BUILD)
        package = next(made.glob("*.deb"))
        self.assertIn("libc6", run("dpkg-deb", "-f", package, "Depends"))
        run("dpkg-deb", "-x", package, self.root / "clean")
        with tempfile.TemporaryDirectory() as home:
            bare = {"PATH": "/usr/bin:/bin", "HOME": home}
            self.assertIn("0.1.0", run(self.root / "clean/usr/bin/rankfault", "--version", env=bare))
            scenario = self.root / "deb.yaml"
            scenario.write_text(SCENARIO.format(name="deb", status=0, needs=""), encoding="utf-8")
            told = run(self.root / "clean/usr/bin/rankfault", "run", scenario, cwd=home, env=bare)
            self.assertIn("PASS", told)
        self.assertTrue(list(made.glob("*.tar.gz")))


if __name__ == "__main__":
    unittest.main()
