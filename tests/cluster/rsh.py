"""rsh: runs a command on another node: rsh [OPTIONS] NODE COMMAND...; mpirun takes it for ssh.

It needs no other file: each cluster has a copy named ssh. Options are those of ssh, and it ignores them. It ends with
the status of the command, or with 255 where the connection fails.
"""
import json
import os
import pathlib
import socket
import struct
import sys
import threading

PORT = 7722  # rshd.py has it, too
FRAME = struct.Struct("!cI")
WITH_VALUE = ("-l", "-p", "-o", "-i", "-F")


def fail(text):
    print(f"rsh: {text}", file=sys.stderr)
    return 255


def split(words):
    """Returns the node and the command."""
    words = list(words)
    while words and words[0].startswith("-"):
        if words.pop(0) in WITH_VALUE and words:
            words.pop(0)
    return (words[0].rpartition("@")[2], " ".join(words[1:])) if words else ("", "")


def send_input(connection):
    try:
        while data := os.read(0, 65536):
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the main thread sees that the connection is lost


def receive(stream, node):
    """Prints what arrives until the command has ended. Returns its status."""
    while header := stream.read(FRAME.size):
        if len(header) < FRAME.size:
            break
        letter, length = FRAME.unpack(header)
        data = stream.read(length)
        if letter == b"x":
            return data[0]
        out = sys.stdout.buffer if letter == b"o" else sys.stderr.buffer
        out.write(data)
        out.flush()
    return fail(f"the connection to {node} was closed")


def main(words, folder_of_programs):
    node, command = split(words)
    if not command:
        return fail("usage: rsh [OPTIONS] NODE COMMAND...")
    try:
        connection = socket.create_connection((node, PORT), timeout=20)
    except OSError as error:
        return fail(f"cannot reach {node}: {error}")
    connection.settimeout(None)
    connection.sendall(json.dumps({"command": command, "bin": str(folder_of_programs)}).encode() + b"\n")
    threading.Thread(target=send_input, args=(connection,), daemon=True).start()
    try:
        return receive(connection.makefile("rb"), node)
    except OSError as error:
        return fail(f"the connection to {node} was lost: {error}")


if __name__ == "__main__":
    STATUS = main(sys.argv[1:], pathlib.Path(sys.argv[0]).absolute().parent)
    sys.stdout.flush()
    os._exit(STATUS)
