"""rankfault_mark.py: the marks of rankfault/mark.h for Python; each does nothing without the agent.

A checksum goes to value() as an int; a float is sent as the bits of a double.
"""
import ctypes
import struct

_here = ctypes.CDLL(None)


def _agent(name, *types, result=None):
    try:
        function = getattr(_here, f"rankfault_{name}_v1")
    except AttributeError:  # not preloaded
        return lambda *_: 1 if result else None
    function.argtypes, function.restype = types, result
    return function


_text, _int = ctypes.c_char_p, ctypes.c_int64
step_begin = _agent("step_begin", _int)
step_commit = _agent("step_commit", _int)
batch = _agent("batch", _int, result=ctypes.c_int)  # 0: the data ends before this batch
_mark = _agent("mark", _text, _int)
_value = _agent("value", _text, _int, ctypes.c_uint64)
_error = _agent("error", _text, _int)
_phase = _agent("phase", _text)


def mark(name, number=0):
    _mark(name.encode(), number)


def value(name, step, what):
    bits = struct.unpack("<Q", struct.pack("<d", what))[0] if isinstance(what, float) else what & (1 << 64) - 1
    _value(name.encode(), step, bits)


def error(kind, step):
    _error(kind.encode(), step)


def phase(name):
    _phase(name.encode())
