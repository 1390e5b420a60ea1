"""Starts the fork server of this process and makes the executable that Spark uses as its Python."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Lock

from rheostat.logs import room_logger
from rheostat.runtime.spark import launcher

LOG = room_logger("runtime")

WORKERS_PREFIX = "rheostat-workers-"
_LOCK = Lock()
_server: subprocess.Popen[bytes] | None = None
_executable = ""


def start_fork_server() -> str:
    """Starts the fork server if it is not running, and returns the path of an executable that behaves like `python`.

    Returns plain Python where the operating system has no process handles (only Linux has).
    """
    global _server, _executable
    if not hasattr(os, "pidfd_open"):
        return sys.executable
    with _LOCK:
        if _server is None or _server.poll() is not None:
            _server, _executable = _started()
        return _executable


def workers_folder() -> str:
    """Folder of the executable, "" if there is none; if this process is killed, its killer has to remove the folder."""
    return str(Path(_executable).parent) if _executable and _executable != sys.executable else ""


def _started() -> tuple[subprocess.Popen[bytes], str]:
    folder = Path(tempfile.mkdtemp(prefix=WORKERS_PREFIX))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    executable = folder / "python"
    source = Path(launcher.__file__).read_text()
    # Without site packages: the launcher needs none, and finding them takes longer than the rest of its work.
    executable.write_text(f"#!{sys.executable} -IS\n{source}")
    executable.chmod(0o700)
    command = [sys.executable, "-m", "rheostat.runtime.spark.fork_server", str(folder)]
    # Spark's own workers get the same seed: hashes must be the same in all of them.
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    server = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    atexit.register(_end, server, folder)
    with server.stdout or Path(os.devnull).open("rb") as told:
        is_ready = told.readline() == b"ready\n"
    if not is_ready:
        LOG.warning("the fork server did not start: every Python worker is started anew, which takes seconds")
        shutil.rmtree(folder, ignore_errors=True)
    return server, str(executable) if is_ready else sys.executable


def _end(server: subprocess.Popen[bytes], folder: Path) -> None:
    if server.stdin is not None:
        server.stdin.close()
    server.wait(10)
    # The server removes the folder itself, unless it was killed together with this process's group.
    shutil.rmtree(folder, ignore_errors=True)
