"""The plugin for pytest.

  rankfault            a fixture: `result = rankfault.run("kill-a-rank.yaml")` runs a job under faults
  rankfault_scenarios  an ini option: the scenario files that match these patterns are tests
  --rankfault-mutations   also run the mutation checks of these files

The last two need pytest 7. Each scenario file that is a test has the marker `rankfault`: `pytest -m "not rankfault"` leaves them out.
"""
import fnmatch
import os

import pytest

from rankfault.runner import Runner


def pytest_addoption(parser):
    parser.addini("rankfault_scenarios", "patterns of scenario files that are tests, from the root folder", type="args", default=[])
    parser.getgroup("rankfault").addoption("--rankfault-mutations", action="store_true",
                                           help="run the mutation checks of each scenario file, too")


def pytest_configure(config):
    config.addinivalue_line("markers", "rankfault: a scenario file of rankfault that is a test")


def _collect_scenario(file_path, parent):
    place = os.path.relpath(str(file_path), str(parent.config.rootpath))
    if any(fnmatch.fnmatch(place, pattern) for pattern in parent.config.getini("rankfault_scenarios")):
        return ScenarioFile.from_parent(parent, path=file_path)
    return None


# Before pytest 7 the hook has other arguments, and a wrong one ends every run of pytest.
if int(pytest.__version__.split(".", maxsplit=1)[0]) >= 7:
    pytest_collect_file = _collect_scenario


class ScenarioFile(pytest.File):
    def collect(self):
        yield Scenario.from_parent(self, name="run")
        if self.config.getoption("rankfault_mutations"):
            yield Mutations.from_parent(self, name="mutations")


class NotAsExpected(Exception):
    """Holds the tool's own output."""


class _Item(pytest.Item):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.add_marker("rankfault")

    def runner(self):
        factory = self.config._tmp_path_factory  # pylint: disable=protected-access
        return Runner(factory.mktemp(self.path.stem.replace(" ", "-"), numbered=True))

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, NotAsExpected):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, f"rankfault {self.name}: {self.path.name}"


class Scenario(_Item):
    def runtest(self):
        result = self.runner().run(self.path)
        if result.status == 77:
            pytest.skip(result.output.strip())
        if result.status != 0:
            raise NotAsExpected(result.output)


class Mutations(_Item):
    def runtest(self):
        status, output = self.runner().mutations(self.path)
        if status == 77:
            pytest.skip(output.strip())
        if status != 0:
            raise NotAsExpected(output)


@pytest.fixture
def rankfault(tmp_path):
    """Runs jobs under faults: `.run(scenario)` returns a rankfault.Result. Its run directories are in tmp_path."""
    return Runner(tmp_path / "rankfault-runs")
