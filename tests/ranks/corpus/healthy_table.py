"""healthy_table: correct programs that look wrong: the diagnosis must not report anything about them."""
import words as w
from table import Case

WAIT_ALL = "MPI_Waitall({}, q2, MPI_STATUSES_IGNORE);"
BARRIER = w.call("barrier")

PROGRAMS = {
    # A receive that no send matches and that is cancelled. Its partner is then in MPI_Finalize.
    "cancelled_recv": ["if (rank == 0) " + w.irecv("prev", 9), BARRIER, "if (rank) return;", "usleep(400000);",
                       "MPI_Cancel(&q2[1]);", w.wait()],
    "cancelled_at_the_end": [w.irecv("MPI_ANY_SOURCE", 9), BARRIER, "usleep(100000 * rank);", "MPI_Cancel(&q2[1]);",
                             w.wait()],
    # Work while messages and collectives are pending.
    "overlapped": [w.irecv("prev"), "MPI_Iallreduce(in, large_out, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q2[2]);",
                   "usleep(rank == 1 ? 3500000 : 3000000);", w.isend("next"), WAIT_ALL.format(3)],
    "freed_send": [w.isend("next"), "MPI_Request_free(&q2[0]);", "usleep(100000);", w.recv("prev"), BARRIER],
    "polled_by_iprobe": ["int there = 0;", f"if (rank) usleep(200000), {w.send('0')}", "for (int i = 1; !rank && i < size; ++i) {",
                         "  for (there = 0; !there;) MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);",
                         "  " + w.recv("MPI_ANY_SOURCE"), "}"],
    "polled_by_test": ["int there = 0;", w.irecv("prev"), "if (rank == 0) usleep(400000);", w.send("next"),
                       "while (!there) MPI_Test(&q2[1], &there, MPI_STATUS_IGNORE);"],
    "matched_probe": ["MPI_Message m;", w.send("next"), "MPI_Mprobe(prev, 5, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);",
                      "MPI_Mrecv(out, 4, MPI_INT, &m, MPI_STATUS_IGNORE);"],
    "late_partner": [BARRIER, "if (rank == 1) usleep(3000000);", w.send("next"), w.recv("prev"), BARRIER],
    "early_end": ["if (rank == size - 1) return;", "if (rank == 0) usleep(400000);",
                  "if (size > 2) MPI_Sendrecv(in, 1, MPI_INT, (rank + 1) % (size - 1), 5, out, 1, MPI_INT, (rank + size - 2) % "
                  "(size - 1), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"],
    "master_and_workers": ["int todo = 3 * (size - 1), done = 0;", "MPI_Status s;", "while (rank == 0 && done < size - 1) {",
                           "  MPI_Recv(out, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);",
                           "  MPI_Send(in, 4, MPI_INT, s.MPI_SOURCE, --todo > 0 ? 1 : (++done, 0), MPI_COMM_WORLD);", "}",
                           "for (s.MPI_TAG = 1; rank && s.MPI_TAG;) {", "  " + w.send("0", 7),
                           "  MPI_Recv(out, 4, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &s);", "}"],
    "any_source_then_named": [f"if (rank) {w.send('0')}", f"if (rank) {w.send('0', 6)}",
                              f"for (int i = 1; !rank && i < size; ++i) {w.recv('MPI_ANY_SOURCE')}",
                              f"for (int i = 1; !rank && i < size; ++i) {w.recv('i', 6)}"],
    "pending_in_another_order": ["MPI_Iallreduce(in, out, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q2[0]);",
                                 "MPI_Ibarrier(MPI_COMM_WORLD, &q2[1]);", w.call("bcast"),
                                 "if (rank % 2) MPI_Wait(&q2[1], MPI_STATUS_IGNORE);",
                                 "if (rank % 2 == 0) MPI_Wait(&q2[0], MPI_STATUS_IGNORE);", WAIT_ALL.format(2)],
    "same_signature": ["MPI_Datatype pair;", "MPI_Type_contiguous(2, MPI_INT, &pair);", "MPI_Type_commit(&pair);",
                       "if (rank % 2) MPI_Bcast(in, 2, pair, 0, MPI_COMM_WORLD);",
                       "if (rank % 2 == 0) MPI_Bcast(in, 4, MPI_INT, 0, MPI_COMM_WORLD);",
                       "if (rank % 2) MPI_Gather(in, 2, pair, out, 2, pair, 0, MPI_COMM_WORLD);",
                       "if (rank % 2 == 0) MPI_Gather(in, 4, MPI_INT, out, 4, MPI_INT, 0, MPI_COMM_WORLD);",
                       "MPI_Type_free(&pair);"],
    "in_place_root": ["if (rank) MPI_Gather(in, 4, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);",
                      "if (!rank) MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, out, 4, MPI_INT, 0, MPI_COMM_WORLD);",
                      "if (rank) MPI_Scatter(NULL, 0, MPI_INT, out, 4, MPI_INT, 0, MPI_COMM_WORLD);",
                      "if (!rank) MPI_Scatter(in, 4, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, 0, MPI_COMM_WORLD);"],
    "ends_of_a_line": ["const int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank ? rank - 1 : MPI_PROC_NULL;",
                       w.send("up"), w.recv("down"), w.sendrecv("down", "up"), w.irecv("down", 8), w.isend("up", 8),
                       WAIT_ALL.format(2)],
    "to_itself": [w.irecv("rank"), w.send("rank"), w.wait(), w.sendrecv("rank", "rank")],
    "groups_of_their_own": ["MPI_Comm half;", "MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);",
                            "for (int i = 0; i < 2 + rank % 2; ++i) MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, half);",
                            "if (rank % 2) MPI_Barrier(half);", BARRIER, "MPI_Comm_free(&half);"],
    "persistent_ring": ["MPI_Recv_init(out, 4, MPI_INT, prev, 5, MPI_COMM_WORLD, &q2[0]);",
                        "MPI_Send_init(in, 4, MPI_INT, next, 5, MPI_COMM_WORLD, &q2[1]);",
                        "for (int i = 0; i < 3; ++i) {", "  MPI_Startall(2, q2);", "  " + WAIT_ALL.format(2), "}",
                        "MPI_Request_free(&q2[0]);", "MPI_Request_free(&q2[1]);"],
    "root_runs_ahead": ["for (int i = 0; i < 50; ++i) {", "  if (rank == size - 1) usleep(5000);", "  " + w.call("bcast"), "}"],
}


# On every rank a plain send comes before the receive: correct where the library buffers it.
SENDS_FIRST = ("matched_probe", "late_partner")


def healthy():
    for name, statements in PROGRAMS.items():
        yield Case("healthy", "healthy", name, [], right=statements, wrong=[], who={2: [], 3: [], 5: []},
                   unsafe=name in SENDS_FIRST)


FAMILIES = [healthy]
