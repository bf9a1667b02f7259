"""plain_words: turns of phrase that a message to users must not have, and what to write instead."""
import re

INSTEAD = {
    r"\bnobody\b|\bsomebody\b|\beverybody\b": "name what acts: no rank, no process, rankfault",
    r"\btold\b(?!:)|\btells?\b|\btelling\b": "report, show, say or name",
    r"\b(?:is|are|was|were) no (?!longer|more)[a-z]+": "is not a ..., or has no ...",
    r"\bthere (?:is|are|was|were) no\b": "... does not exist, or ... has no ...",
    r"\bso many\b|\bso much\b|\bso often\b": "a number, or at most N",
    r"\bw[eh]nt on\b|\bgoes on\b|\bgo on\b": "continue",
    r"\bcame to\b|\bcome to\b|\bcomes to\b": "reach, or enter",
    r"\bas (?:they|it) must be\b": "as expected",
    r"\banew\b": "again",
    r"\bbeside\b": "next to, or besides",
    r"\balike\b": "the same",
    r"\botherwise than\b": "with something else than, or differently",
    r"\bdid not bite\b|\bdoes not bite\b|\bteeth (?:killed|planted)\b": "the mutation was not detected",
    r"\bis meant\b": "say what is selected",
}
WORST = {re.compile(pattern, re.IGNORECASE): instead for pattern, instead in INSTEAD.items()}

STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"^\s*(?://|\*|/\*)|\s//\s.*$")


def messages(text):
    """Yields line number and text of the string literals of C and C++ that are sentences, not names."""
    for number, line in enumerate(text.splitlines(), 1):
        code = COMMENT.split(line)[0]
        if "#include" in code or "RF_ASSERT(" in code:
            continue
        for literal in STRING.findall(code):
            if literal.count(" ") >= 2:
                yield number, literal


def failures(name, text):
    for number, message in messages(text):
        for pattern, instead in WORST.items():
            found = pattern.search(message)
            if found:
                yield f"{name}:{number}: '{found.group()}' in a message; write {instead}"
