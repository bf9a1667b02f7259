"""user_work: how much a process has done in user mode so far: instructions where the kernel counts them, else CPU time.

Open the counter before other threads begin: it follows the thread that opens it and all that this thread starts.
"""
import ctypes
import os
import platform
import resource
import struct

_CALL = {"x86_64": 298, "aarch64": 241}.get(platform.machine())  # perf_event_open
_HARDWARE, _INSTRUCTIONS, _SIZE = 0, 1, 128
_INHERIT, _NOT_KERNEL, _NOT_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6


def _open_counter():
    """Returns the descriptor of a counter of instructions, or -1 where there is none."""
    if _CALL is None:
        return -1
    attributes = bytearray(_SIZE)
    struct.pack_into("IIQ", attributes, 0, _HARDWARE, _SIZE, _INSTRUCTIONS)
    struct.pack_into("Q", attributes, 40, _INHERIT | _NOT_KERNEL | _NOT_HYPERVISOR)
    buffer = (ctypes.c_char * _SIZE).from_buffer(attributes)
    return ctypes.CDLL(None).syscall(_CALL, buffer, 0, -1, -1, 0)


class UserWork:
    """Counts from its making on. `unit` is "instructions" or "us" (microseconds of CPU time)."""

    def __init__(self):
        self._counter = _open_counter()
        self.unit = "instructions" if self._counter >= 0 else "us"

    def now(self):
        if self._counter >= 0:
            return struct.unpack("Q", os.read(self._counter, 8))[0]
        return round(resource.getrusage(resource.RUSAGE_SELF).ru_utime * 1e6)
