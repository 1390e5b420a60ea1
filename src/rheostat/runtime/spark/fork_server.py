"""Fork server that starts Python processes for Spark: `python -m rheostat.runtime.spark.fork_server FOLDER`.

It has one thread and imports everything its children need before the first fork. It ends when its standard input is
closed, that is, when its owner has ended for any reason; its children end with it.
"""

import contextlib
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path

IMPORTED = (
    "pandas",
    "pyarrow.ipc",
    "pyarrow.compute",
    "pyspark.daemon",
    "pyspark.worker",
    "pyspark.sql.streaming.python_streaming_source_runner",
    "pyspark.sql.worker.commit_data_source_write",
    "pyspark.sql.worker.create_data_source",
    "pyspark.sql.worker.lookup_data_sources",
    "pyspark.sql.worker.plan_data_source_read",
    "pyspark.sql.worker.python_streaming_sink_runner",
    "pyspark.sql.worker.write_into_data_source",
    "pyspark.sql.streaming.transform_with_state_driver_worker",
    "rheostat.runtime.channels.streaming.batch_sink",
    "rheostat.runtime.channels.streaming.data_source",
)
HUNG_UP = (BrokenPipeError, ConnectionResetError, EOFError)
"""Errors of a child whose query was stopped while it answered or waited; these are no faults to report. Spark has
caught exceptions of the user's code before."""
STREAMS = (0, 1, 2)


@dataclass(slots=True)
class _Child:
    pid: int
    handle: int
    """Handle that becomes readable when the process has ended."""
    asked_by: socket.socket


@dataclass(slots=True)
class ForkServer:
    """Serves launchers on a socket in a folder that only its owner may enter."""

    folder: Path
    _children: dict[int, _Child] = field(default_factory=dict)
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)

    def serve(self) -> None:
        """Serves requests until standard input is closed."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # By the handle of its folder: the path of a socket has less than 108 bytes, that of a folder may be longer.
        folder = os.open(self.folder, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{folder}/socket")
        os.close(folder)
        listener.listen(128)
        self._selector.register(0, selectors.EVENT_READ, self._end)
        self._selector.register(listener, selectors.EVENT_READ, lambda: self._accept(listener))
        # Tells the owner that the first launcher will be served.
        os.write(1, b"ready\n")
        while True:
            for key, _ in self._selector.select():
                if key.fd in self._selector.get_map():
                    key.data()

    def _accept(self, listener: socket.socket) -> None:
        asked_by, _ = listener.accept()
        asked_by.settimeout(10)
        try:
            order, streams = _received(asked_by)
        except (OSError, ValueError):
            asked_by.close()
            return
        pid = os.fork()
        if pid == 0:
            self._become(order, streams)
        for stream in streams:
            os.close(stream)
        child = _Child(pid, os.pidfd_open(pid), asked_by)
        self._children[pid] = child
        self._selector.register(child.handle, selectors.EVENT_READ, lambda: self._buried(child))
        self._selector.register(asked_by, selectors.EVENT_READ, lambda: self._abandoned(child))

    def _become(self, order: dict[str, object], streams: list[int]) -> None:
        """Runs the order in the child. Never returns: no code of the server may run in it."""
        code = 1
        try:
            for stream, given in zip(STREAMS, streams, strict=True):
                os.dup2(given, stream)
            _close_others(self._selector)
            code = _run(order)
        except HUNG_UP:
            pass
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

    def _buried(self, child: _Child) -> None:
        """Ends the launcher of a child that has ended, with the same exit code."""
        self._forget(child)
        _, status = os.waitpid(child.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        with contextlib.suppress(OSError):
            child.asked_by.sendall(bytes([code & 255 if code >= 0 else 128 - code]))
        child.asked_by.close()

    def _abandoned(self, child: _Child) -> None:
        """Ends a child whose launcher Spark has ended."""
        self._selector.unregister(child.asked_by)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGTERM)

    def _forget(self, child: _Child) -> None:
        self._children.pop(child.pid, None)
        self._selector.unregister(child.handle)
        if child.asked_by in self._selector.get_map():
            self._selector.unregister(child.asked_by)
        os.close(child.handle)

    def _end(self) -> None:
        for pid in list(self._children):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                path.unlink()
            self.folder.rmdir()
        os._exit(0)


def _received(asked_by: socket.socket) -> tuple[dict[str, object], list[int]]:
    size, streams, _, _ = socket.recv_fds(asked_by, 8, len(STREAMS))
    wanted, message = int.from_bytes(size, "big"), b""
    while len(message) < wanted:
        part = asked_by.recv(wanted - len(message))
        if not part:
            raise ValueError("the launcher hung up in the middle of its order")
        message += part
    return json.loads(message), streams


def _close_others(selector: selectors.BaseSelector) -> None:
    """Closes the sockets of the server and its other children, which a child must not hold open."""
    highest = max([key.fd for key in selector.get_map().values()] + list(STREAMS)) + 16
    selector.close()
    os.closerange(len(STREAMS), highest)


def _run(order: dict[str, object]) -> int:
    """Runs a module as `python -m` does."""
    environment, arguments = order["environment"], order["arguments"]
    if not isinstance(environment, dict) or not isinstance(arguments, list):
        raise TypeError("an order names a module, its arguments and its environment")
    os.chdir(str(order["folder"]))
    os.environ.clear()
    os.environ.update(environment)
    known = set(sys.path)
    sys.path[:0] = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path and path not in known]
    module = str(order["module"])
    sys.argv = [module, *arguments]
    # The module was imported for its dependencies; as the main module it is run anew.
    sys.modules.pop(module, None)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        return ended.code & 255 if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def main() -> None:
    """Imports the modules of the children, then serves."""
    for module in IMPORTED:
        importlib.import_module(module)
    # Existing objects are never collected: collecting would touch, and so copy, the pages all children share.
    gc.collect()
    gc.freeze()
    ForkServer(Path(sys.argv[1])).serve()


if __name__ == "__main__":
    main()
