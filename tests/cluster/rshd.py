"""rshd: runs commands that other nodes send to this one over the network, as the ssh daemon of a real node does."""
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading

PORT = 7722  # rsh.py has it, too
FRAME = struct.Struct("!cI")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def listen():
    return socket.create_server(("", PORT), backlog=128)


def serve(listener):
    """Never returns. Each connection has a process of its own."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            try:
                run(connection)
            except OSError as error:  # the other end has gone
                print(f"rshd: {error}", file=sys.stderr, flush=True)
            os._exit(0)
        connection.close()


def run(connection):
    """Runs one command. Its end and its output go back in frames: a letter, a length, the bytes."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    stream = connection.makefile("rb", buffering=0)
    request = json.loads(stream.readline())
    environment = {"HOME": "/root", "USER": "root", "SHELL": "/bin/sh", "PATH": f"{request['bin']}:{PATH}"}
    command = subprocess.Popen(["/bin/sh", "-c", request["command"]], env=environment, cwd="/", bufsize=0,
                               start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    sending = threading.Lock()
    threading.Thread(target=feed, args=(stream, command.stdin), daemon=True).start()
    pumps = [threading.Thread(target=pump, args=(pipe, letter, connection, sending))
             for pipe, letter in ((command.stdout, b"o"), (command.stderr, b"e"))]
    for thread in pumps:
        thread.start()
    for thread in pumps:
        thread.join()
    status = command.wait()
    connection.sendall(FRAME.pack(b"x", 1) + bytes([status if status >= 0 else 128 - status]))


def feed(stream, pipe):
    """Gives the command what the other end sends."""
    try:
        while data := stream.read(65536):
            pipe.write(data)
    except OSError:
        pass
    pipe.close()


def pump(pipe, letter, connection, sending):
    """Sends what the command prints. When the other end has gone, the command gets SIGPIPE at its next print."""
    try:
        while data := pipe.read(65536):
            with sending:
                connection.sendall(FRAME.pack(letter, len(data)) + data)
    except OSError:
        pipe.close()
