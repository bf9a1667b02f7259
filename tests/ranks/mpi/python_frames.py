"""python_frames.py: calls MPI by ctypes from every kind of Python code, and prints the interpreter's own traceback of each
call. It runs on Python 3.8 and later, without any package."""
import ctypes
import json
import traceback

recorded = []
lib = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)  # Open MPI 4
world = ctypes.byref(ctypes.c_char.in_dll(lib, "ompi_mpi_comm_world"))


def barrier():
    recorded.append([[f.filename, f.name, f.lineno] for f in reversed(traceback.extract_stack())]); lib.MPI_Barrier(world)


def deep(n):
    if n:
        return deep(
            n - 1)
    barrier()


class Évaluation:
    def größe(self):
        try:
            raise ValueError
        except ValueError:
            barrier()
        finally:
            barrier()


def several():
    for _ in range(3):
        yield barrier()


lib.MPI_Init(None, None)
barrier()
deep(20)
Évaluation().größe()
list(several())
[barrier() for _ in range(2)]
(lambda: barrier())()
for step in range(3):
    exec(compile("\n" * step + "def f%d(): barrier()\nf%d()" % (step, step), "<step %d>" % step, "exec"))
lib.MPI_Finalize()
print(json.dumps({"rank": 0, "recorded": recorded}), flush=True)
