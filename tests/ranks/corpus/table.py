"""table: the cases of the corpus, one bug each, and the truth about them.

A case is a few statements. Every rank makes `before` (in its own rounds, so that the correct order was
seen). Then at one place the ranks that are wrong make `wrong` and the others `right`. Then all make `after`.
"""
import dataclasses
import itertools

import words as w

# The ranks that make the mistake, by number of ranks: one of them, half of them, all but one.
WHO = {2: [[1], [0]], 3: [[1], [0, 2]], 5: [[3], [1, 4], [0, 1, 2, 4]]}
ONE = {2: [[1]], 3: [[1]], 5: [[3]]}
ALL = {2: [[0, 1]], 3: [[0, 1, 2]], 5: [[0, 1, 2, 3, 4]]}


@dataclasses.dataclass
class Case:
    family: str
    program: str
    name: str
    kinds: list  # of findings, each of which is correct
    right: list
    wrong: list
    before: list = dataclasses.field(default_factory=list)
    after: list = dataclasses.field(default_factory=list)
    first: list = dataclasses.field(default_factory=list)
    who: dict = dataclasses.field(default_factory=lambda: WHO)
    blame: str = "smaller"  # smaller side | nobody | wrong | maybe (it or no rank) | pair (none or wrong)
    ends: str = "either"  # hang | zero | bad | either: how the library may end it
    unsafe: bool = False  # the twin ends only where the library buffers its sends (MPI 4.1, 3.5)
    root: int = -1  # the root whose lone call blames the ranks that did not come


def order():
    """A and B in the opposite order; and B in the place of A."""
    for a, b in itertools.combinations(w.COLLECTIVES, 2):
        yield Case("order", "order_" + a, f"swap_{a}_{b}", ["call_mismatch", "missing_call"],
                   right=[w.call(a), w.call(b)], wrong=[w.call(b), w.call(a)], before=[w.call(a), w.call(b)],
                   root=0 if {a, b} & w.ROOTED else -1)
    for a, b in itertools.permutations(w.COLLECTIVES, 2):
        yield Case("order", "order_" + a, f"instead_of_{a}_{b}", ["call_mismatch", "missing_call"],
                   right=[w.call(a)], wrong=[w.call(b)], before=[w.call(a), w.call(b)], after=[w.call("allreduce")],
                   root=0 if {a, b} & w.ROOTED else -1)


def argument():
    """The same call with another root, operation, type or count on some ranks."""
    for name in w.COLLECTIVES:
        changes = {"count": {"count": "16"}, "type": {"type": "MPI_FLOAT"}} if "barrier" not in name else {}
        if name in w.REDUCING:
            changes["op"] = {"op": "MPI_MAX"}
        if name in w.ROOTED:
            changes["root"] = {"root": "1"}
        for field, arguments in changes.items():
            yield Case("argument", "argument", f"{field}_{name}", ["call_mismatch"], right=[w.call(name)],
                       wrong=[w.call(name, **arguments)], before=[w.call(name)], after=[w.call("allreduce")])


def receive():
    """A rank takes in a collective something other than what all ranks, itself included, send."""
    for name in ("gather", "scatter", "allgather", "alltoall"):
        who = {n: [[0]] for n in WHO} if name in w.ROOTED else WHO
        for field, arguments in {"more": {"taken": "8"}, "less": {"taken": "2"}, "type": {"taken_type": "MPI_FLOAT"},
                                 "type_and_size": {"taken_type": "MPI_DOUBLE"}}.items():
            yield Case("receive", "receive", f"{field}_{name}", ["call_mismatch"], right=[w.call(name)],
                       wrong=[w.call(name, **arguments)], before=[w.call(name)], after=[w.call("allreduce")], who=who,
                       blame="wrong")


def left_out():
    """A call left out in the middle of a loop or at its end; one call too many; an early end."""
    for name in w.COLLECTIVES:
        root = 0 if name in w.ROOTED else -1
        both = [w.call(name), w.call("allreduce", count="8")]
        yield Case("left_out", "left_out", f"skip_middle_{name}", ["missing_call"], right=[w.call(name)], wrong=[],
                   before=both, after=[w.call("allreduce", count="8")] + both, root=root)
        yield Case("left_out", "left_out", f"skip_last_{name}", ["missing_call"], right=[w.call(name)], wrong=[],
                   before=both, root=root)
        yield Case("left_out", "left_out", f"skip_equal_{name}", ["missing_call"], right=[w.call(name)], wrong=[],
                   before=[w.call(name)], after=[w.call(name), w.call(name)], root=root)
        yield Case("left_out", "left_out", f"twice_{name}", ["extra_call", "call_mismatch"], right=[w.call(name)],
                   wrong=[w.call(name), w.call(name)], before=both, after=[w.call("allreduce", count="8")], root=root)
        yield Case("left_out", "left_out", f"too_many_{name}", ["extra_call", "missing_call"], right=[],
                   wrong=[w.call(name)], before=both, root=root)
    for name in ("barrier", "bcast", "allreduce", "gather"):
        for how, text in {"finalize": "MPI_Finalize(), exit(0);", "exit_0": "exit(0);", "exit_3": "exit(3);",
                          "quick_exit": "_exit(0);", "abort": "MPI_Abort(MPI_COMM_WORLD, 5);"}.items():
            kinds = ["missing_call"] if how == "finalize" else ["exited_rank", "missing_call", "dead_rank"]
            yield Case("ended", "ended", f"{how}_before_{name}", kinds, right=[w.call(name)], wrong=[text],
                       before=[w.call(name), w.call("allreduce", count="8")], after=[w.call(name)], who=ONE,
                       blame="wrong" if how != "finalize" else "smaller", root=0 if name in w.ROOTED else -1)
    yield Case("ended", "ended", "no_finalize", ["exited_rank"], right=[], wrong=["exit(0);"],
               before=[w.call("allreduce")], who=ONE, blame="wrong")


def branches():
    """Rank 0 makes the common calls from its own branch: this alone is not a difference."""
    def both(name, **arguments):
        return [f"if (rank == 0) {w.call(name, **arguments)}", f"if (rank != 0) {w.call(name, **arguments)}"]
    for name in ("barrier", "bcast", "allreduce", "gather", "scan", "iallreduce"):
        root = 0 if name in w.ROOTED else -1
        end = [w.call("allreduce", count="8")]
        yield Case("branches", "branches", f"skip_{name}", ["missing_call"], right=both(name), wrong=[],
                   before=both(name) + end, after=end + both(name), root=root)
        if name != "barrier":
            yield Case("branches", "branches", f"count_{name}", ["call_mismatch"], right=both(name),
                       wrong=both(name, count="16"), before=both(name) + end, after=end)


def communicator():
    """Two communicators of the same ranks, entered in different orders; a call on the wrong one."""
    for name in w.COLLECTIVES:
        on = [w.call(name, comm="other"), w.call(name, comm="third")]
        kinds = ["order_deadlock", "missing_call", "extra_call"]
        if name in w.SYNCHRONISING:  # otherwise the ranks may pass each other, and nothing goes wrong
            yield Case("communicator", "communicator", f"swap_{name}", ["order_deadlock"], first=["make_comms();"],
                       right=on, wrong=on[::-1], before=on, ends="hang")
        yield Case("communicator", "communicator", f"wrong_{name}", kinds, first=["make_comms();"], right=on[:1],
                   wrong=on[1:], before=on, after=[], root=0, blame="maybe")


def message_and_collective():
    """A rank is in a message while the others are in a collective."""
    kinds = ["order_deadlock"]
    for name in w.SYNCHRONISING:
        yield Case("mixed", "mixed", f"recv_{name}", kinds, right=[], wrong=[w.recv("next", 9)], before=[w.call(name)],
                   after=[w.call(name)], blame="pair", ends="hang")
        yield Case("mixed", "mixed", f"ssend_{name}", kinds, right=[], wrong=[w.ssend("next", 9)],
                   before=[w.call(name)], after=[w.call(name)], blame="pair", ends="hang")
        # Root 0 sends before the collective. The receiver takes the message only after it.
        order_of = [f"if (rank == 0) {w.ssend('1')}", f"if (rank == 1) {w.recv('0')}"]
        yield Case("mixed", "mixed", f"late_recv_{name}", kinds, right=order_of + [w.call(name)],
                   wrong=[order_of[0], w.call(name), order_of[1]], before=[w.call(name)], who={n: [[1]] for n in WHO},
                   blame="pair", ends="hang")
    yield Case("mixed", "mixed", "wait_across_barrier", kinds, first=[f"if (rank == 0) {w.irecv('1')}"],
               right=[w.call("barrier"), f"if (rank == 0) {w.wait()}"],
               wrong=[f"if (rank == 0) {w.wait()}", w.call("barrier")],
               after=[f"if (rank == 1) {w.send('0')}", w.call("barrier")], who={n: [[0]] for n in WHO}, blame="pair",
               ends="hang")


FAMILIES = [order, argument, receive, left_out, branches, communicator, message_and_collective]


def all_cases():
    import healthy_table  # both import this file
    import messages_table
    for family in FAMILIES + messages_table.FAMILIES + healthy_table.FAMILIES:
        yield from family()
