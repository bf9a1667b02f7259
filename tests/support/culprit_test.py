"""culprit_test: which first causes the score of ./dev bench culprit counts as right.

usage: culprit_test.py ROOT
"""
import sys
import unittest

sys.path.insert(0, f"{sys.argv[1]}/bench/culprit")
from truth import verdict  # noqa: E402


def finding(kind, ranks, op):
    return {"kind": kind, "ranks": ranks, "op": op}


class Verdict(unittest.TestCase):
    SKIPPED = ({"missing_call"}, {2}, "all_reduce")

    def test_the_ranks_and_the_call_must_be_right(self):
        self.assertEqual(verdict(self.SKIPPED, finding("missing_call", [2], "all_reduce")), "right")
        self.assertEqual(verdict(self.SKIPPED, finding("missing_call", [1], "all_reduce")), "ranks")
        self.assertEqual(verdict(self.SKIPPED, finding("missing_call", [2], "barrier")), "op")
        self.assertEqual(verdict(self.SKIPPED, finding("dead_rank", [2], "all_reduce")), "kind")

    def test_a_finding_that_names_no_rank_is_not_right_where_ranks_are_known(self):
        self.assertEqual(verdict(self.SKIPPED, finding("missing_call", [], "all_reduce")), "ranks")
        self.assertEqual(verdict(({"missing_call"}, None, None), finding("missing_call", [], "barrier")), "right")

    def test_a_rank_may_be_found_dead_in_another_call(self):
        self.assertEqual(verdict(({"dead_rank"}, {2}, "all_reduce"), finding("dead_rank", [2], "barrier")), "right")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
