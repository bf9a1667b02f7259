"""replay_text.py: reads the text of a replay into statements, for replay.py; program.h describes the text."""
import collections
import dataclasses
import re

DTYPES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int8": 1, "uint8": 1, "int32": 4, "int64": 8}
# A type of the same size, or another reduction, stands for those that not every library has.
STAND_INS = {"byte": "uint8", "bool": "uint8", "float8_e4m3": "uint8", "float8_e5m2": "uint8", "int16": "float16",
             "uint16": "float16", "uint32": "int32", "uint64": "int64", "complex64": "float64"}
REDUCTIONS = {"sum": "SUM", "max": "MAX", "min": "MIN", "prod": "PRODUCT", "avg": "SUM", "bxor": "SUM", "other": "SUM",
              "lor": "MAX", "bor": "MAX", "land": "MIN", "band": "MIN"}
FORMS = ("healthy", "diverging")
REDUCING = {"all_reduce", "reduce", "reduce_scatter"}
ROOTED = {"broadcast", "reduce", "gather", "scatter"}
COLLECTIVES = REDUCING | ROOTED | {"all_gather", "all_to_all", "all_to_allv", "barrier"}
MESSAGES = {"send": "to", "isend": "to", "recv": "from", "irecv": "from"}
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
MOST_BYTES, MOST_RANKS, MOST_GROUPS, MOST_TIMES, DEEPEST, MOST_TAG = 1 << 30, 4096, 1024, 10**9, 4, 2**31 - 1


class BadText(Exception):
    pass


@dataclasses.dataclass
class Statement:
    line: int
    op: str
    ranks: frozenset = frozenset()
    text: str = ""  # without the ranks
    form: str = ""  # "healthy" or "diverging": performed only in this form
    group: str = "world"
    dtype: str = "uint8"
    count: int = 0
    reduction: str = "sum"
    peer: int = 0  # the root, or the other end of a message
    tag: int = 0
    is_pending: bool = False
    seconds: float = 0.0
    times: int = 0

    def is_collective(self):
        return self.op in COLLECTIVES

    def is_of(self, rank, form):
        return rank in self.ranks and self.form in ("", form)


def number(word, most):
    if not re.fullmatch("[0-9]{1,18}", word) or int(word) > most:
        raise BadText(f"'{word[:40]}' is not a number from 0 to {most}")
    return int(word)


def duration(word):
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(us|ms|s|m)", word)
    if not found:
        raise BadText(f"'{word[:40]}' is not a time such as 5ms")
    return float(found[1]) * UNITS[found[2]]


def ranks_of(words, size):
    ranks = []
    for part in ",".join(words).split(","):
        first, dash, last = part.partition("-")
        low = number(first, size - 1)
        ranks += range(low, (number(last, size - 1) if dash else low) + 1)
        if len(set(ranks)) != len(ranks) or not ranks:
            raise BadText(f"the ranks '{part[:40]}' are none, or one of them appears twice")
    return frozenset(ranks)


def at_least_one(value):
    if value < 1:
        raise BadText("the number must be at least 1")
    return value


def next_word(words, what):
    if not words:
        raise BadText(f"{what} is missing")
    return words.popleft()


class Program:
    """The statements of a text, in order. Of a repeat and its end each stands in the list."""

    def __init__(self, text):
        self.size, self.groups, self.statements, open_repeats = 0, {}, [], []
        for line, words in enumerate(text.split("\n"), 1):
            words = words.split("#")[0].split()
            try:
                if words:
                    self.read(line, words, open_repeats)
            except BadText as error:
                raise BadText(f"line {line}: {error}") from None
        if not self.size:
            raise BadText("line 1: the text must begin with 'ranks N'")
        if open_repeats:
            raise BadText(f"line {open_repeats[-1]}: this repeat has no end")

    def read(self, line, words, open_repeats):
        kind, rest = words[0], words[1:]
        if not self.size and kind != "ranks":
            raise BadText("the text must begin with 'ranks N'")
        if kind in ("ranks", "repeat") and len(rest) != 1 or kind == "end" and rest:
            raise BadText(f"'{kind}' takes {'no' if kind == 'end' else 'one'} number")
        if kind == "ranks":
            if self.size:
                raise BadText("'ranks' appears twice")
            self.size = at_least_one(number(rest[0], MOST_RANKS))
            self.groups["world"] = frozenset(range(self.size))
        elif kind == "group":
            if len(rest) < 2 or not re.fullmatch("[A-Za-z0-9_.-]{1,63}", rest[0]) or rest[0] in self.groups:
                raise BadText("a group needs a new name of at most 63 letters, digits, '_', '.' or '-', and its ranks")
            if len(self.groups) == MOST_GROUPS:
                raise BadText(f"a text has at most {MOST_GROUPS} groups")
            self.groups[rest[0]] = ranks_of(rest[1:], self.size)
        elif kind == "repeat":
            if len(open_repeats) == DEEPEST:
                raise BadText(f"repeats nest deeper than {DEEPEST}")
            open_repeats.append(line)
            self.statements.append(Statement(line, "repeat", times=at_least_one(number(rest[0], MOST_TIMES))))
        elif kind == "end":
            if not open_repeats:
                raise BadText("this end has no repeat")
            open_repeats.pop()
            self.statements.append(Statement(line, "end"))
        else:
            form = words.pop(0) if kind in FORMS and rest else ""
            self.statements.append(self.call(line, form, ranks_of(words[:1], self.size), words[1:]))

    def call(self, line, form, ranks, words):
        if not words:
            raise BadText("the ranks have nothing to do")
        name, op = words[0], words[0].removesuffix("_async")
        s = Statement(line, op, ranks, " ".join(words), form, is_pending=op != name or name in ("isend", "irecv"))
        words = collections.deque(words[1:])
        if name == "pause":
            s.seconds = duration(next_word(words, "a time"))
        elif op in COLLECTIVES or name in MESSAGES:
            self.arguments(s, words)
        elif name != "wait":
            raise BadText(f"torch.distributed has no '{name[:40]}'")
        if words:
            raise BadText(f"'{words[0][:40]}' is one word too many")
        return s

    def arguments(self, s, words):
        s.group = next_word(words, "a group")
        members = self.groups.get(s.group)
        if members is None or not s.ranks <= members:
            raise BadText(f"a rank of this line is not in a group '{s.group[:40]}'")
        if s.op == "barrier":
            return
        s.dtype = next_word(words, "a type")
        s.dtype = STAND_INS.get(s.dtype, s.dtype)
        if s.dtype not in DTYPES:
            raise BadText(f"'{s.dtype[:40]}' is not a type")
        s.count = number(next_word(words, "a count"), MOST_BYTES)
        parts = len(members) if s.op in ("gather", "scatter", "all_gather") else 1
        if (s.count * parts + len(members)) * DTYPES[s.dtype] > MOST_BYTES:
            raise BadText("a buffer has at most 1 GiB")
        if s.op in REDUCING and words and words[0] in REDUCTIONS:
            s.reduction = words.popleft()
        role = MESSAGES.get(s.op, "root")
        if s.op in ROOTED or s.op in MESSAGES:
            if next_word(words, f"'{role}'") != role:
                raise BadText(f"'{role}' and a rank are missing")
            s.peer = number(next_word(words, "a rank"), self.size - 1)
            if s.peer not in members:
                raise BadText(f"rank {s.peer} is not in the group {s.group}")
            if s.op in MESSAGES and s.peer in s.ranks:
                raise BadText(f"rank {s.peer} exchanges a message with itself")
        if s.op in MESSAGES and words and words[0] == "tag":
            words.popleft()
            s.tag = number(next_word(words, "a tag"), MOST_TAG)
