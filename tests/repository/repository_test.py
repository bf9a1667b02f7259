"""repository_test: rules about the repository itself that no compiler checks.

usage: repository_test.py ROOT [CHECK]
       repository_test.py --list
"""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import plain_words  # noqa: E402
import skipped  # noqa: E402

CODE = {".c", ".cc", ".h", ".S", ".py", ".sh", ".cmake"}
LONGEST = 400

TOP_LEVEL = {
    "cuda_double", "workloads", "python",
    ".ci", ".clang-format", ".clang-tidy", ".gitignore", "ARCHITECTURE.md", "CHANGELOG.md", "CMakeLists.txt",
    "CMakePresets.json", "CONTRIBUTING.md", "LICENSE", "README.md", "bench", "cmake", "dev", "docs", "faults",
    "harness", "reports", "scenarios", "tests",
}

# Which folders a folder may include, besides itself. The flow is scenario, plan, launch, inject, observe,
# diagnose, judge, report; `run` holds the parts of a finished run.
ANY = "*"
MAY_INCLUDE = {
    "harness/mark": "",
    "harness/agent": "",
    "harness/backends": "agent",
    "cuda_double": "",
    "harness/base": "agent",
    "harness/symbols": "agent base",
    "harness/journal": "base",
    "harness/run_dir": "base",
    "harness/scenario": "agent base",
    "harness/plan": "agent base scenario faults/fault.h",
    "harness/launch": "agent base symbols run_dir scenario plan",
    "harness/inject": "agent base journal scenario plan launch",
    "harness/observe": "agent base journal symbols",
    "harness/flight_recorder": "agent base observe",
    "harness/diagnose": "agent base journal observe",
    "harness/evidence": "agent base symbols observe diagnose",
    "harness/facts": "agent base journal run_dir scenario plan launch observe diagnose evidence faults/fault.h",
    "harness/judge": "agent base journal scenario plan launch observe diagnose evidence facts faults/fault.h",
    "harness/live": "agent base journal symbols run_dir scenario plan launch inject nodes observe diagnose evidence facts judge",
    "harness/nodes": "agent base journal observe",
    "harness/node_guardian": "agent base journal plan launch inject nodes observe live",
    "faults": "agent base journal scenario plan launch observe diagnose facts",
    "reports": "agent base journal scenario plan launch observe diagnose evidence facts judge",
    "harness/session": ANY,
    "harness/reproduce": "agent base journal scenario plan observe flight_recorder diagnose facts run_scenario.h",
    "harness/commands": ANY,
    "workloads": "mark",
}
# Validation asks the catalogues which fault kinds and oracles exist.
CATALOGUE_USERS = {"harness/scenario": re.compile(r"validate|params|one_line|schema")}

# Words of a developer's machine, not of the project. Written so that this file contains none.
WORKPLACE = re.compile("|".join([
    r"/wo" + r"rk/", r"\.\./sha" + r"red\b", r"\bsha" + r"red/(?!dims)", r"\bAI assis" + r"tant", r"\bcla" + r"ude\b",
    r"\banthro" + r"pic\b", r"\bchat" + r"gpt\b", r"/opt/rf" + r"-venv", r"\bsub" + r"agent",
]), re.IGNORECASE)


class Repository:
    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        listed = subprocess.run(["git", "-C", str(self.root), "ls-files", "-z"], capture_output=True, check=False)
        if listed.returncode == 0:
            names = [n for n in listed.stdout.decode().split("\0") if n]
        else:  # an unpacked archive
            names = [str(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_file()]
            names = [n for n in names if not n.startswith(("build/", ".venv", ".nccl/", "rankfault-runs/"))]
        self.files = sorted(n for n in names if (self.root / n).is_file())

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    def code(self):
        return [n for n in self.files if pathlib.Path(n).suffix in CODE or n in ("dev", ".ci/run")]


def no_workplace_words(repository):
    for name in repository.files:
        for number, line in enumerate(repository.text(name).splitlines(), 1):
            found = WORKPLACE.search(line)
            if found:
                yield f"{name}:{number}: '{found.group()}' is no word of the project"


def files_are_short(repository):
    for name in repository.code():
        lines = repository.text(name).count("\n")
        if lines > LONGEST:
            yield f"{name}: {lines} lines; split it ({LONGEST} at most)"


def files_open_with_a_sentence(repository):
    opening = re.compile(r'^(//|/\*|#|""") ?\S+( \S+){2,}')
    for name in repository.code():
        lines = repository.text(name).splitlines()
        if lines and lines[0].startswith("#!"):
            lines = lines[1:]
        own_header = f'#include "{pathlib.Path(name).with_suffix(".h")}"'  # the header says it for the .cc
        if not lines or not (opening.match(lines[0]) or lines[0] == own_header):
            yield f"{name}: the first line does not say what the file is"


def the_diagnosis_sees_no_plan(repository):
    forbidden = re.compile(r'#include "(harness/(plan|inject)/|faults/)|\.act' + "ions")
    for name in repository.files:
        if name.startswith(("harness/observe/", "harness/diagnose/")):
            for number, line in enumerate(repository.text(name).splitlines(), 1):
                if forbidden.search(line):
                    yield f"{name}:{number}: observe and diagnose must not know what was done: {line.strip()}"


# These two are about one library by their nature: NCCL's rule on versions, and what a dump's words mean.
ABOUT_ONE_LIBRARY = {"harness/diagnose/rules/version_mismatch.cc", "harness/flight_recorder/fr_job.cc"}


def libraries_are_known_by_their_traits(repository):
    test = re.compile(r"(?:[=!]=|case) *RF_LIB_(?!NONE|COUNT)")
    for name in repository.files:
        stage = name.startswith(("harness/", "faults/", "reports/")) and name.endswith((".cc", ".h"))
        if not stage or name.startswith(("harness/agent/", "harness/backends/")) or name in ABOUT_ONE_LIBRARY:
            continue
        for number, line in enumerate(repository.text(name).splitlines(), 1):
            if test.search(line):
                yield f"{name}:{number}: ask for a trait of the library (harness/observe/library_traits.h): {line.strip()}"


def the_top_level_is_known(repository):
    for entry in sorted({n.split("/")[0] for n in repository.files} - TOP_LEVEL):
        yield f"{entry}: not a known entry of the top level"


def folder_of(name):
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] == "harness" else parts[0]


def may_include(name, included):
    here, there = folder_of(name), folder_of(included)
    if here == there or name.count("/") == 1 and name.startswith("harness/") or MAY_INCLUDE.get(here) == ANY:
        return True
    if here not in MAY_INCLUDE:
        return here.split("/")[0] in ("tests", "bench")
    for word in MAY_INCLUDE[here].split():
        allowed = word if word.startswith(("faults", "reports")) else "harness/" + word  # a folder, or one header
        if included == allowed or there == allowed:
            return True
    user = CATALOGUE_USERS.get(here)
    is_catalogue = included in ("faults/fault.h", "harness/judge/oracle.h")
    return bool(user and is_catalogue and user.search(name))


def includes_point_up_the_flow(repository):
    include = re.compile(r'^#include "((?:harness|faults|reports|workloads|cuda_double)/[^"]+)"', re.MULTILINE)
    for name in repository.code():
        for included in include.findall(repository.text(name)):
            if not may_include(name, included):
                yield f"{name}: must not include {included}"


def types_have_one_home(repository):
    """Two types of one name in namespace rankfault are one type to the linker: one gets the destructor of the other."""
    defined = re.compile(r"^(?:class|struct|enum(?: class)?) (\w+)(?: final)?(?: : [^;()]*)? \{", re.MULTILINE)
    of_one_file = re.compile(r"^namespace \{$.*?^\}  // namespace$", re.MULTILINE | re.DOTALL)
    home = {}
    for name in repository.code():
        text = repository.text(name)
        if name.startswith(("harness/", "reports/", "faults/")) and re.search(r"^namespace rankfault \{", text, re.MULTILINE):
            for word in defined.findall(of_one_file.sub("", text)):
                if home.setdefault(word, name) != name:
                    yield f"{name}: {home[word]} defines another {word}"


def links_lead_to_files(repository):
    link = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
    for name in repository.files:
        if not name.endswith(".md"):
            continue
        for target in link.findall(repository.text(name)):
            if "://" not in target and not (repository.root / name).parent.joinpath(target).exists():
                yield f"{name}: the link to {target} leads nowhere"


def every_scenario_is_listed(repository):
    listing = repository.text("scenarios/README.md")
    for name in repository.files:
        if name.startswith("scenarios/") and name.endswith(".yaml") and not name.startswith("scenarios/canary/"):
            if f"({name.removeprefix('scenarios/')})" not in listing:
                yield f"{name}: not in scenarios/README.md"
    for list_name in ("demo.txt", "smoke.txt", "long.txt"):
        for line in listed_in(repository, list_name):
            if f"scenarios/{line}" not in repository.files:
                yield f"scenarios/{list_name}: there is no {line}"


# A1-A13 and so on: the cases that the project must show (scenarios/README.md, "Case by case").
CASES = {"A": 13, "B": 10, "C": 3, "D": 9, "E": 10}


def every_case_has_a_scenario(repository):
    rows = dict(re.findall(r"^\| ([A-E]\d+) \|.*\| (.*) \|$", repository.text("scenarios/README.md"), re.MULTILINE))
    for letter, count in CASES.items():
        for number in range(1, count + 1):
            case = f"{letter}{number}"
            shown_by = re.findall(r"[a-z_]+/[a-z0-9-]+", re.sub(r"`.*`", "", rows.get(case, "")))
            if not shown_by and "`rankfault run" not in rows.get(case, ""):
                yield f"scenarios/README.md: no scenario for case {case}"
            for name in shown_by:
                if f"scenarios/{name}.yaml" not in repository.files:
                    yield f"scenarios/README.md: case {case}: there is no {name}"


def listed_in(repository, name):
    lines = repository.text(f"scenarios/{name}").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def the_smoke_set_covers_every_theme(repository):
    themes = {n.split("/")[1] for n in repository.files if n.startswith("scenarios/") and n.endswith(".yaml")}
    for theme in sorted(themes - {line.split("/")[0] for line in listed_in(repository, "smoke.txt")}):
        yield f"scenarios/smoke.txt: nothing of {theme}/"


def skips_for_a_part(text):
    reasons = re.findall(r"GTEST_SKIP\(\)\s*<<([^;]*);", text)
    return any("GetParam" in r or any(re.search(p, r) for p, _, _ in skipped.PARTS) for r in reasons)


def optional_sources(repository):
    """Yields the sources of tests with the label `optional`. .ci/run runs them without the optional parts."""
    for name in repository.files:
        if name.startswith("tests/") and name.endswith("CMakeLists.txt"):
            folder = name.removesuffix("CMakeLists.txt")
            text = repository.text(name)
            for call in re.findall(r"rankfault_test\(((?:[^()]|\$\{|\})*)\)", text):
                if re.search(r"\boptional\b", call):
                    yield from (folder + source for source in re.findall(r"\w+_test\.cc", call))
            for listed in re.findall(r"set\(with_optional_parts ([^)]*)\)", text):
                yield from (f"{folder}{word}_test.cc" for word in listed.split())


def what_an_optional_part_decides_is_labelled(repository):
    labelled = set(optional_sources(repository))
    tests = [n for n in repository.files if n.startswith("tests/")]
    headers = {n for n in tests if n.endswith(".h") and skips_for_a_part(repository.text(n))}
    for name in tests:
        if name.endswith("_test.cc") and name not in labelled:
            text = repository.text(name)
            if skips_for_a_part(text) or any(f'#include "{header}"' in text for header in headers):
                yield f"{name}: is skipped without an optional part, and its rankfault_test has no label \"optional\""


def messages_are_plain(repository):
    for name in repository.files:
        if name.startswith(("harness/", "faults/", "reports/", "workloads/", "cuda_double/")) and name.endswith((".c", ".cc", ".h")):
            yield from plain_words.failures(name, repository.text(name))


CHECKS = [no_workplace_words, files_are_short, files_open_with_a_sentence, the_diagnosis_sees_no_plan,
          libraries_are_known_by_their_traits, the_top_level_is_known, includes_point_up_the_flow, types_have_one_home, every_scenario_is_listed, every_case_has_a_scenario,
          links_lead_to_files, the_smoke_set_covers_every_theme, what_an_optional_part_decides_is_labelled, messages_are_plain]


def main(root, only=None):
    if root == "--list":
        print("\n".join(check.__name__ for check in CHECKS))
        return 0
    repository = Repository(root)
    if not repository.files:
        sys.exit("no files: nothing was checked")
    failures = 0
    for check in CHECKS:
        if only in (None, check.__name__):
            for failure in check(repository):
                print(f"{check.__name__}: {failure}")
                failures += 1
    print(f"{len(repository.files)} files, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
