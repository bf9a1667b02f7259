"""outcomes: the last outcome of each case of the corpus, and the rules that it was made with.

The whole corpus takes hours, so a run of the bench goes on where the last one ended: it runs the cases that have no outcome with
the rules of this tree.
"""
import hashlib
import json
import pathlib
import random

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ("harness/diagnose", "harness/observe")


def digest_of_rules():
    """Names the sources that decide about a record."""
    digest = hashlib.sha256()
    for path in sorted(p for folder in RULES for p in (ROOT / folder).rglob("*") if p.suffix in (".cc", ".h")):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


class Outcomes:
    def __init__(self, path):
        self._path, self._rules = pathlib.Path(path), digest_of_rules()
        self._of = json.loads(self._path.read_text(encoding="utf-8")) if self._path.exists() else {}

    def is_new(self, name):
        return self._of.get(name, {}).get("rules") == self._rules

    def due(self, cases, name_of):
        """Returns the cases without an outcome of these rules, in an order that takes them evenly from all families."""
        left = {}
        for case in cases:
            if not self.is_new(name_of(case)):
                left.setdefault((case["family"], case["mask"] == 0), []).append(case)
        draw, order = random.Random(1), []
        for group in left.values():
            draw.shuffle(group)
            order += [((i + 0.5) / len(group), case) for i, case in enumerate(group)]
        return [case for _, case in sorted(order, key=lambda pair: pair[0])]

    def add(self, name, judged):
        self._of[name] = {"rules": self._rules, **judged}

    def keep_only(self, names):
        """Forgets the outcomes of cases that the corpus no longer has."""
        self._of = {name: outcome for name, outcome in self._of.items() if name in names}

    def write(self):
        lines = [f"{json.dumps(name)}: {json.dumps(outcome, separators=(',', ':'))}" for name, outcome in sorted(self._of.items())]
        self._path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

    def by_family(self):
        families = {}
        for name, outcome in sorted(self._of.items()):
            families.setdefault(name.partition("/")[0], []).append(outcome)
        return families

    def sentence(self, total):
        """What the page says about the age of its runs."""
        new = sum(self.is_new(name) for name in self._of)
        cuts, claims = (sum(o.get(key, 0) for name, o in self._of.items() if self.is_new(name)) for key in ("cuts", "claims"))
        refuted = sum(o.get("refuted", 0) for o in self._of.values())
        older = f" {len(self._of) - new} runs are of earlier rules." if new < len(self._of) else ""
        cut = (f" The falsifier cut the records of these runs {cuts:,} times: {claims:,} cuts had a proven claim. "
               f"Cuts that refute a proof, in all runs: {refuted}.") if cuts else ""
        return f"{new} runs of {total} cases were made with the rules of this tree ({self._rules}).{older}{cut}"
