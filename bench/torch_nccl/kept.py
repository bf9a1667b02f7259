"""kept: the options and the results of a bench that keeps each result and goes on with those that it lacks."""
import argparse
import json
import pathlib
import time


def parser(usage, results, page):
    """The options that such benches share. `results`, `page`: the files to write if the user names no others."""
    options = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build")
    options.add_argument("--results", default=str(results))
    options.add_argument("--page", default=str(page))
    options.add_argument("--seconds", type=float, default=float("inf"))
    options.add_argument("--only", default="")
    options.add_argument("--again", action="store_true")
    return options


class Kept:
    def __init__(self, options, page_of):
        self._options, self._page_of = options, page_of
        path = pathlib.Path(options.results)
        self._of = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self._end = time.monotonic() + options.seconds

    def is_due(self, name):
        """Whether the result is missing, or wanted again, and there is time."""
        return (self._options.again or name not in self._of) and time.monotonic() <= self._end

    def add(self, name, result):
        """Keeps the result, and writes the file and the page."""
        self._of[name] = result
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in self._of.items()]
        pathlib.Path(self._options.results).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        pathlib.Path(self._options.page).write_text(self._page_of(self._of), encoding="utf-8")
