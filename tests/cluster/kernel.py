"""kernel: the system calls of namespaces, which Python has no functions for before 3.12."""
import ctypes
import os
import pathlib
import signal

NEWTIME = 0x00000080
NEWNS = 0x00020000
NEWUTS = 0x04000000
NEWIPC = 0x08000000
NEWPID = 0x20000000
NEWNET = 0x40000000

BIND = 1 << 12
RECURSIVE = 1 << 14
PRIVATE = 1 << 18

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15

LIBC = ctypes.CDLL(None, use_errno=True)


def checked(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags):
    checked(LIBC.unshare(flags), "no new namespaces")


def set_namespace(descriptor):
    checked(LIBC.setns(descriptor, 0), "cannot enter a namespace")


def mount(source, target, kind="", flags=0, options=""):
    words = [str(word).encode() if word else None for word in (source, target, kind, options)]
    checked(LIBC.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]), f"cannot mount on {target}")


def die_with_parent():
    checked(LIBC.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0), "no death signal")


def set_name(name):
    """Sets the name that ps shows."""
    checked(LIBC.prctl(PR_SET_NAME, ctypes.c_char_p(name.encode()), 0, 0, 0), "no name")


def shift_clocks(seconds):
    """Gives the children of this process a time namespace whose monotonic clocks are ahead by these seconds."""
    unshare(NEWTIME)
    nanoseconds = round(seconds * 1e9)
    offset = f"{nanoseconds // 10**9} {nanoseconds % 10**9}"
    pathlib.Path("/proc/self/timens_offsets").write_text(f"monotonic {offset}\nboottime {offset}\n", encoding="ascii")


def outer_pid():
    """Returns the pid of this process as the mounted /proc shows it, which may be that of an outer namespace."""
    return int(os.readlink("/proc/self"))


def start_time(pid):
    """Returns when a process started, in clock ticks; None if it has ended."""
    try:
        words = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if words[0] in "ZX" else int(words[19])
