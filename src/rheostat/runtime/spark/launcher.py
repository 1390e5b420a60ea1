"""Launcher that Spark starts instead of Python: asks the fork server for a process and stands in for it.

Its source is copied into an executable file, see `forked_python`; it imports nothing but the standard library. Standard
streams, arguments and environment go to the forked process. If this process dies, the server ends the other; when the
other ends, this one ends with its exit code. A call that is no `-m module`, or that has no server to ask, becomes plain
Python.
"""

# Importing pathlib takes longer than all that is done here.
# ruff: noqa: PTH100, PTH109, PTH120
import array
import json
import os
import socket
import sys


def main() -> int:
    """Runs the order on the fork server and returns its exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] != ["-m"]:
        return _plain_python(arguments)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # By the handle of its folder: the path of a socket has less than 108 bytes, that of a folder may be longer.
        folder = os.open(os.path.dirname(os.path.abspath(sys.argv[0])), os.O_RDONLY)
        server.connect(f"/proc/self/fd/{folder}/socket")
    except OSError:
        return _plain_python(arguments)
    order = {"module": arguments[1], "arguments": arguments[2:], "folder": os.getcwd(), "environment": dict(os.environ)}
    message = json.dumps(order).encode()
    streams = array.array("i", [0, 1, 2])
    server.sendmsg([len(message).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
    server.sendall(message)
    # The pipes belong to the other process now: only it may hold them, or their readers would never see their end.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    code = server.recv(1)
    return code[0] if code else 1


def _plain_python(arguments: list[str]) -> int:
    os.execv(sys.executable, [sys.executable, *arguments])  # noqa: S606 - no shell: the interpreter Spark asked for


if __name__ == "__main__":
    sys.exit(main())
