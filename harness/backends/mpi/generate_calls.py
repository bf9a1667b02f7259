#!/usr/bin/env python3
"""generate_calls.py: makes calls.def, the list of MPI names the agent interposes, from mpi.h headers.

    generate_calls.py INCLUDE_DIR... > calls.def

Each INCLUDE_DIR holds an mpi.h: of Open MPI with its openmpi/mpiext folder, of MPICH with mpi_proto.h, mpio.h
and mpi_abi.h. The list is the union, so one agent serves them all: a name the process's library lacks is
simply never called.
Only functions that exist under the MPI_ and MPIX_ prefixes are listed, never PMPI_: a program that
calls PMPI asks to be left alone. Fortran names are added for all that communicates, in the spellings
compilers emit (mpi_x_, mpi_x__) and the mpi_f08 modules' (mpi_x_f08_; MPICH's mpi_x_f08ts_, and its names for
counts of 64 bits, mpi_x_c_f08_ in version 5 and mpi_x_f08_large_ before): those without a decoder must at least
be seen, because nothing may be proven beside them. Of what talks to nobody two kinds are listed: the making
of attributes, whose delete functions run inside of MPI_Finalize, and the making of error handlers.
"""
import pathlib
import re
import sys

QUERY = r"""MPI_(T_.*|Initialized|Finalized|Is_thread_main|Query_thread|Get_version|Get_library_version|
Get_processor_name|Get_address|Get_count|Get_elements(_x)?|Wtime|Wtick|Comm_(rank|size|group|compare|remote_size|
remote_group|test_inter|get_.*)|Aint_add|Aint_diff|Request_get_status.*|Buffer_attach|(Comm|Session)_attach_buffer|Get_hw_resource_info|Abi_.*|Status_.*|Address|Test_cancelled|
Cart_(get|coords|rank|shift|map)|Cartdim_get|Graph_(get|map|neighbors|neighbors_count)|Graphdims_get|
Dist_graph_neighbors(_count)?|Topo_test|Dims_create|Pcontrol|Session_get_.*)|
MPIX_(Query_.*|GPU_query_support|Request_is_complete|Comm_(get_stream|test_threadcomm)|Comm_is_revoked|Comm_get_failed|Comm_ack_failed|Comm_failure_.*)|OMPI_Affinity_str"""
RMA = r"MPI_(Win_(?!create_keyval|set_|get_|delete|free_keyval|call_err|create_err|c2f|f2c).*|(Put|Get|Accumulate|Get_accumulate|Rput|Rget|Raccumulate|Rget_accumulate)|Fetch_and_op|Compare_and_swap)"
IO = r"MPI_(File_(?!get_|set_errh|call_err|create_err|c2f|f2c).*|Register_datarep)"
COMMUNICATION = r"""MPI_(Init|Init_thread|Finalize|Abort|I?(All|Bcast|Barrier|Reduce|Gather|Scatter|Scan|Exscan|
Neighbor|all|bcast|barrier|reduce|gather|scatter|scan|exscan|neighbor).*|.*_init|I[bsr]?send|[BSR]?[Ss]end|
I?recv|Recv|Sendrecv(_replace)?|Isendrecv(_replace)?|I?m?probe|Probe|Mprobe|I?mrecv|Mrecv|Wait.*|Test(all|any|some)?|
Start(all)?|Cancel|Request_free|Grequest_(start|complete)|Buffer_(detach|flush|iflush)|(Comm|Session)_(detach|flush|iflush)_buffer|
Comm_(i?dup.*|split.*|create|create_group|create_from_group|free|disconnect|spawn.*|accept|connect|join)|
Intercomm_.*|Cart_(create|sub)|Graph_create|Dist_graph_create.*|Pready.*|Parrived|Psend_init|Precv_init|
Session_(init|finalize))|MPIX_(.*_enqueue|Stream_(i?send|i?recv|comm_create.*)|Threadcomm_.*|Grequest_start|Comm_(revoke|shrink|agree|iagree|ishrink)|.*_init)"""
# Reduce_local talks to nobody; keyvals and handles neither.
CALLBACKS = r"MPI_(Comm_create_keyval|Keyval_create|(Comm|File|Session|Win)_create_errhandler|Errhandler_create)"
LOCAL = r"MPI_(Reduce_local|Alloc_mem|.*keyval.*|.*_c2f|.*_f2c|.*_(from|to)int|.*errhandler)"

def classify(name):
    name = re.sub(r"_c$", "", name) if not name.endswith("2c") else name  # counts of 64 bits

    def full(pattern):
        return re.fullmatch(re.sub(r"\s+", "", pattern), name)

    if full(QUERY):
        return "QUERY"
    if full(LOCAL):
        return "OTHER"
    if full(RMA):
        return "RMA"
    if full(IO):
        return "IO"
    return "COMMUNICATION" if full(COMMUNICATION) else "OTHER"


def functions(include_dir):
    root = pathlib.Path(include_dir)
    mpich = [root / name for name in ("mpi_proto.h", "mpio.h", "mpi_abi.h")]
    texts = [root / "mpi.h", *sorted(root.glob("openmpi/mpiext/*_c.h")), *(p for p in mpich if p.exists())]
    found = set()
    for path in texts:
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        found |= set(re.findall(r"^\s*OMPI_DECLSPEC\s[^;#(]*?\b(MPIX?_\w+|OMPI_Affinity_str)\s*\(", text, re.M))
        found |= set(re.findall(r"^(?:int|double|void|MPI_\w+)\s+\**\s*(MPIX?_\w+)\s*\(", text, re.M))
    # Predefined callbacks are macros over OMPI_C_*; they are not functions of the library.
    return {name for name in found if not re.search(r"_(FN|NULL_COPY|NULL_DELETE|DUP)$", name)}


def main(include_dirs):
    names = sorted(set().union(*(functions(d) for d in include_dirs)))
    print("/* calls.def: every function of the MPI headers, with what a call of it means when no decoder")
    print(" * understands it. Made by generate_calls.py; do not edit. */")
    print("RF_LIBRARY(mpi, RF_LIB_MPI)")
    for name in names:
        print(f"RF_CALL({name}, {classify(name)})")
    print("/* Fortran: mpif.h and use mpi (one and two underscores), use mpi_f08 */")
    for name in names:
        if classify(name) in ("QUERY", "OTHER") and not re.fullmatch(CALLBACKS, name):
            continue
        large = ("_f08_large_", "_f08ts_large_") if name + "_c" in names else ()
        for spelling in ("_", "__", "_f08_", "_f08ts_", *large):
            print(f"RF_CALL({name.lower()}{spelling}, {classify(name)})")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
