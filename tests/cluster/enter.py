"""enter: runs a program inside a node, from the host."""
import os
import pathlib
import signal
import tempfile

from . import kernel
from .errors import ClusterError

NAMESPACES = ("time", "uts", "ipc", "net", "pid", "mnt")
FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
OF_THE_TERMINAL = (signal.SIGINT, signal.SIGQUIT)  # a terminal sends them to the program, too


def run(state, name, argv):
    """Runs a program in a node with the standard streams of this process. Returns its exit status as a shell does.

    The program ends with this process. It runs in the same directory where the node has it, else in the shared folder.
    """
    pid = state.pid_of(name)
    here = pathlib.Path.cwd()
    namespaces = [os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in NAMESPACES]
    for namespace in namespaces:
        kernel.set_namespace(namespace)
        os.close(namespace)
    child = os.fork()
    if child == 0:
        kernel.die_with_parent()
        replace(argv, here if here.is_dir() else state.share, state.bin)
    for number in FORWARDED:
        signal.signal(number, lambda received, _: os.kill(child, received))
    for number in OF_THE_TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if status >= 0 else 128 - status


def spawn(state, name, argv, output):
    """Starts run() in a process of its own, which prints into a file. Returns its pid."""
    child = os.fork()
    if child == 0:
        files = [os.open(os.devnull, os.O_RDONLY), os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)]
        for target, source in enumerate((files[0], files[1], files[1])):
            os.dup2(source, target)
        try:
            os._exit(run(state, name, argv))
        except (OSError, ClusterError) as error:
            os.write(2, f"{error}\n".encode())
            os._exit(1)
    return child


def output_of(state, name, argv):
    """Runs a program in a node, and returns what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "output")
        os.waitpid(spawn(state, name, argv, output), 0)
        return output.read_text(encoding="utf-8", errors="replace")


def replace(argv, directory, programs):
    """Becomes the program; never returns."""
    try:
        os.chdir(directory)
        os.environ["PWD"] = str(directory)
        os.environ["PATH"] = f"{programs}:{os.environ.get('PATH', os.defpath)}"
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)
