"""words: the MPI calls in the table, as C text with their arguments, and which of them synchronise."""

COLLECTIVES = {
    "barrier": "MPI_Barrier({comm});",
    "bcast": "MPI_Bcast(in, {count}, {type}, {root}, {comm});",
    "reduce": "MPI_Reduce(in, out, {count}, {type}, {op}, {root}, {comm});",
    "allreduce": "MPI_Allreduce(in, out, {count}, {type}, {op}, {comm});",
    "gather": "MPI_Gather(in, {count}, {type}, out, {taken}, {taken_type}, {root}, {comm});",
    "scatter": "MPI_Scatter(in, {count}, {type}, out, {taken}, {taken_type}, {root}, {comm});",
    "allgather": "MPI_Allgather(in, {count}, {type}, out, {taken}, {taken_type}, {comm});",
    "alltoall": "MPI_Alltoall(in, {count}, {type}, out, {taken}, {taken_type}, {comm});",
    "reduce_scatter_block": "MPI_Reduce_scatter_block(in, out, {count}, {type}, {op}, {comm});",
    "scan": "MPI_Scan(in, out, {count}, {type}, {op}, {comm});",
    "ibarrier": "MPI_Ibarrier({comm}, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);",
    "ibcast": "MPI_Ibcast(in, {count}, {type}, {root}, {comm}, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);",
    "iallreduce": "MPI_Iallreduce(in, out, {count}, {type}, {op}, {comm}, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);",
}
ROOTED = {"bcast", "reduce", "gather", "scatter", "ibcast"}
REDUCING = {"reduce", "allreduce", "reduce_scatter_block", "scan", "iallreduce"}
# From these no rank returns before all have come, in any library.
SYNCHRONISING = {"barrier", "allreduce", "allgather", "alltoall", "reduce_scatter_block", "ibarrier", "iallreduce"}

_DEFAULTS = {"comm": "MPI_COMM_WORLD", "count": "4", "type": "MPI_INT", "op": "MPI_SUM", "root": "0"}


def call(name, **arguments):
    """The C statement of a collective, on one line. It takes what it sends, unless `arguments` differ."""
    asked = {**_DEFAULTS, **arguments}
    return COLLECTIVES[name].format(**{"taken": asked["count"], "taken_type": asked["type"], **asked})


def _message(function, buffer, peer, tag, count="4", comm="MPI_COMM_WORLD", tail=""):
    return f"{function}({buffer}, {count}, MPI_INT, {peer}, {tag}, {comm}{tail});"


def send(peer, tag=5, **more):
    return _message("MPI_Send", "in", peer, tag, **more)


def ssend(peer, tag=5, **more):
    return _message("MPI_Ssend", "in", peer, tag, **more)


def large_send(peer, tag=5):
    return _message("MPI_Send", "large_in", peer, tag, count="kLarge")


def large_recv(peer, tag=5):
    return _message("MPI_Recv", "large_out", peer, tag, count="kLarge", tail=", MPI_STATUS_IGNORE")


def recv(peer, tag=5, **more):
    return _message("MPI_Recv", "out", peer, tag, tail=", MPI_STATUS_IGNORE", **more)


def isend(peer, tag=5, request="&q2[0]"):
    return _message("MPI_Isend", "in", peer, tag, tail=", " + request)


def irecv(peer, tag=5, request="&q2[1]"):
    return _message("MPI_Irecv", "out", peer, tag, tail=", " + request)


def sendrecv(to, source, tag=5):
    return (f"MPI_Sendrecv(in, 4, MPI_INT, {to}, {tag}, out, 4, MPI_INT, {source}, {tag}, MPI_COMM_WORLD, "
            "MPI_STATUS_IGNORE);")


def probe(peer, tag=5):
    return f"MPI_Probe({peer}, {tag}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"


def wait(request="&q2[1]"):
    return f"MPI_Wait({request}, MPI_STATUS_IGNORE);"
