"""messages_table: the cases of the corpus with messages only: cycles, and missing partners."""
import words as w
from table import ALL, Case, ONE

BARRIER = [w.call("barrier")]
STARVES = ["missing_call", "order_deadlock"]
WRONG_TAG = ["call_mismatch", "order_deadlock", "missing_call"]


def cycles():
    """Rings in which no rank goes first."""
    for name, out, into, in_time in (("recv", w.recv("prev"), w.send("next"), 1),
                                     ("ssend", w.ssend("next"), w.recv("prev"), 1),
                                     ("large_send", w.large_send("next"), w.large_recv("prev"), 0)):
        right = ["if (rank == 0) {", into, out, "} else {", out, into, "}"]
        yield Case("cycle", "messages", f"ring_of_{name}", ["order_deadlock"], first=BARRIER, right=right,
                   wrong=[out, into], who=ALL, blame="nobody", ends="hang")
        yield Case("cycle", "messages", f"ring_of_{name}_by_one", ["order_deadlock"], first=BARRIER, right=right,
                   wrong=[out, into], who={n: [[0]] for n in (2, 3, 5)}, blame="pair", ends="hang")
    yield Case("cycle", "messages", "ring_of_waits", ["order_deadlock"],
               right=[w.irecv("prev"), w.send("next"), w.wait()], wrong=[w.irecv("prev"), w.wait(), w.send("next")],
               who=ALL, blame="nobody", ends="hang")
    yield Case("cycle", "messages", "ring_of_any_source", ["order_deadlock"],
               right=[w.send("next"), w.recv("MPI_ANY_SOURCE")], wrong=[w.recv("MPI_ANY_SOURCE"), w.send("next")],
               who=ALL, blame="nobody", ends="hang")
    yield Case("cycle", "messages", "ring_of_probes", ["order_deadlock"], unsafe=True,
               right=[w.send("next"), w.probe("prev"), w.recv("prev")],
               wrong=[w.probe("prev"), w.send("next"), w.recv("prev")], who=ALL, blame="nobody", ends="hang")
    yield Case("cycle", "messages", "pair_in_the_ring", ["order_deadlock"], first=BARRIER,
               right=[f"if (rank == 0) {w.send('1')}", f"if (rank == 1) {w.recv('0')}",
                      f"if (rank == 1) {w.send('0')}", f"if (rank == 0) {w.recv('1')}"],
               wrong=[f"if (rank == 0) {w.recv('1')}", f"if (rank == 0) {w.send('1')}"],
               after=BARRIER, who={n: [[0]] for n in (2, 3, 5)}, blame="pair", ends="hang")


def partners():
    """Half of a message is missing, or goes to another rank: at the end of the job, or before a barrier."""
    give, take, on_other = w.send("next"), w.recv("prev"), w.send("next", comm="other")
    for end, after in (("end", []), ("barrier", BARRIER)):
        make = lambda name, kinds, right, wrong, **more: Case(  # noqa: E731
            "partner", "messages", f"{name}_{end}", kinds, right=right, wrong=wrong, first=BARRIER, after=after,
            who=more.pop("who", ONE), blame=more.pop("blame", "pair"), unsafe=right[0] == give or on_other in right, **more)
        yield make("missing_send", STARVES, [give, take], [take], ends="hang")
        yield make("missing_recv", ["missing_call"], [give, take], [give], ends="zero")
        yield make("missing_recv_of_ssend", STARVES, [w.irecv("prev"), w.ssend("next"), w.wait()],
                   [w.ssend("next")], ends="hang")
        yield make("missing_recv_of_large", STARVES, [w.irecv("prev"), w.send("next"), w.wait()],
                   [w.send("next")], ends="zero")
        yield make("wrong_tag_sent", WRONG_TAG, [give, take], [w.send("next", 6), take], ends="hang")
        yield make("wrong_tag_awaited", WRONG_TAG, [give, take], [give, w.recv("prev", 6)], ends="hang")
        yield make("wrong_source", STARVES, [give, take], [give, w.recv("next")], ends="hang",
                   who={3: [[1]], 5: [[3]]})
        yield make("wrong_destination", STARVES, [give, take], [w.send("prev"), take], ends="hang",
                   who={3: [[1]], 5: [[3]]})
        yield make("unserved_wait", STARVES, [give, w.irecv("prev"), w.wait()],
                   [give, w.irecv("prev"), w.irecv("prev", 6, "&q2[2]"), "MPI_Waitall(2, q2 + 1, MPI_STATUSES_IGNORE);"],
                   ends="hang")
        yield make("unserved_waitany", STARVES, [give, take],
                   [give, take, w.irecv("prev", 6), w.irecv("next", 6, "&q2[2]"),
                    "{ int i; MPI_Waitany(2, q2 + 1, &i, MPI_STATUS_IGNORE); }"], ends="hang", blame="pair")
        yield make("probe_without_message", STARVES, [give, take], [give, take, w.probe("prev", 6)], ends="hang")
        yield make("recv_too_many", STARVES, [give, take], [give, take, take], ends="hang")
        yield make("send_too_many", ["extra_call", "missing_call"], [give, take], [give, give, take], ends="zero")
        yield make("wrong_direction", STARVES, [w.sendrecv("next", "prev")], [w.sendrecv("prev", "next")],
                   ends="hang", who={3: [[1]], 5: [[3]]})
        collect = f"if (rank == 0) for (int i = 1; i < size; ++i) {w.recv('MPI_ANY_SOURCE')}"
        yield make("any_source_starves", STARVES, [collect, f"if (rank) {w.send('0')}"], [], ends="hang")
        yield make("any_source_too_many", STARVES, [collect, f"if (rank) {w.send('0')}"],
                   [collect, w.recv("MPI_ANY_SOURCE")], ends="hang", who={n: [[0]] for n in (2, 3, 5)}, blame="pair")
        yield make("wrong_communicator", ["order_deadlock", "missing_call", "call_mismatch"],
                   ["make_comms();", on_other, w.recv("prev", comm="other")],
                   ["make_comms();", w.send("next", comm="third"), w.recv("prev", comm="other")], ends="hang")


FAMILIES = [cycles, partners]
