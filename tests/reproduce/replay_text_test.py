"""replay_text_test.py: a wrong text of a replay is refused with its line, and no text crashes a program.

usage: replay_text_test.py BUILD
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = pathlib.Path(sys.argv[1]).resolve() / "bin/replay"
TOGETHER = 60  # seconds
sys.path.insert(0, str(PROGRAMS))
import replay_text  # noqa: E402: needs the path

BAD = {
    "": 1, "0 barrier world": 1, "ranks 0": 1, "ranks 4097": 1, "ranks 4 4": 1, "ranks 2\nranks 2": 2, "ranks " + "9" * 5000: 1,
    "ranks 4\n\n# nothing\nrepeat 1": 4, "ranks 4\nrepeat 0\nend": 2, "ranks 4\nend": 2, "ranks 4\n" + "repeat 2\n" * 5: 6,
    "ranks 4\n0-9 barrier world": 2, "ranks 4\n3-1 barrier world": 2, "ranks 4\n0,0 barrier world": 2, "ranks 4\n0, barrier world": 2,
    "ranks 4\n0": 2, "ranks 4\n0 wait_async": 2, "ranks 4\n0 jump world": 2, "ranks 4\n0 barrier": 2, "ranks 4\n0 barrier other": 2,
    "ranks 4\n0 barrier world x": 2, "ranks 4\n0 all_reduce world float32": 2, "ranks 4\n0 all_reduce world real 3": 2,
    "ranks 4\n0 all_reduce world float32 -1": 2, "ranks 4\n0 all_reduce world float32 268435456": 2,
    "ranks 4\n0 all_gather world int8 268435456": 2, "ranks 4\n0-3 gather world float32 1 to 3": 2, "ranks 4\n0 broadcast world int8 1": 2,
    "ranks 4\ngroup a 0 1\n0 broadcast a int8 1 root 3": 3, "ranks 4\ngroup a 0 1\n2 barrier a": 3, "ranks 4\ngroup world 0": 2,
    "ranks 4\ngroup a/b 0": 2, "ranks 4\ngroup " + "a" * 64 + " 0": 2, "ranks 4\ngroup a": 2, "ranks 4\ngroup a 0 0": 2,
    "ranks 4\n0 send world int8 1 to 0": 2, "ranks 4\n0 send_async world int8 1 to 1": 2, "ranks 4\n0 send world int8 1 from 1": 2,
    "ranks 4\n0 send world int8 1 to 1 tag x": 2, "ranks 4\n0 pause": 2, "ranks 4\n0 pause 5": 2, "ranks 4\n0 pause 1.2.3s": 2,
    "ranks 4\nhealthy": 2, "ranks 4\ndiverging repeat 2": 2, "ranks 4\n" + "".join(f"group g{i} 0\n" for i in range(1024)): 1025,
}


def garbage(seed):
    """Returns words of the grammar in any order, cut and broken in places."""
    chance = random.Random(seed)
    words = ["ranks", "4", "group", "g", "world", "repeat", "end", "0-3", "all_reduce", "send", "to", "root", "tag", "float32", "pause",
             "wait", "%s%n", "-", ",", "1-", "_async", "9" * 30, "x" * 3000, "\x7f\xff", "#", "\n", "\n", "\n", "\t", "isend", "healthy"]
    return "ranks 4\n" * chance.randrange(2) + " ".join(chance.choices(words, k=chance.randrange(60)))


class Text(unittest.TestCase):
    def programs(self):
        return [path for path in (PROGRAMS / "replay_mpi", PROGRAMS / "replay_gloo") if path.exists()]

    def refuse(self, program, text):
        with tempfile.NamedTemporaryFile() as file:
            file.write(text.encode("latin-1"))
            file.flush()
            env = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE", "REPLAY")}
            return subprocess.run([program, file.name], env=env, capture_output=True, timeout=TOGETHER, check=False)

    def test_the_line_is_named(self):
        for program in self.programs():
            for text, line in BAD.items():
                done = self.refuse(program, text)
                self.assertEqual(done.returncode, 64, (program, text[:200], done))
                self.assertTrue(done.stderr.startswith(b"replay: line %d: " % line), (program, text[:200], line, done))

    def test_both_parsers_refuse_the_same_texts(self):
        texts = [*BAD, *(garbage(seed) for seed in range(200))]
        for text in texts:
            try:
                replay_text.Program(text)
                said = b""
            except replay_text.BadText as error:
                said = str(error).split(":")[0].encode()
            for program in self.programs():
                done = self.refuse(program, text)
                refused = done.stderr.startswith(b"replay: line ") and b"the text is for" not in done.stderr
                self.assertIn(done.returncode, (0, 3, 64), (program, text, done))
                self.assertEqual(refused, said != b"", (program, text, said, done))
                self.assertIn(said, done.stderr, (program, text))

    def test_texts_that_are_too_large_or_not_text(self):
        for program in self.programs():
            for text in ("ranks 2\n" + "\0" * 99, "ranks 2\n" + "#" * (17 << 20)):
                done = self.refuse(program, text)
                self.assertEqual((done.returncode, done.stderr[:8]), (64, b"replay: "), done)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
