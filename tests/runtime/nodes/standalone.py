"""A standalone Spark cluster on this machine: a master and one worker, each a process of its own."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import environ, killpg
from pathlib import Path
from signal import SIGKILL

import pyspark

HOST = "127.0.0.1"
PATIENCE_SECONDS = 60.0


@contextmanager
def standalone_cluster(folder: Path, cores: int) -> Iterator[str]:
    """The address of its master. The worker takes its executors along when it ends."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    address, started = f"spark://{HOST}:{port}", []
    try:
        started.append(_process(folder, "master.Master", "--port", str(port)))
        _await_port(port)
        resources = ["--cores", str(cores), "--memory", "4g", "--work-dir", str(folder / "work")]
        started.append(_process(folder, "worker.Worker", *resources, address))
        yield address
    finally:
        for process in reversed(started):
            with suppress(ProcessLookupError):
                killpg(process.pid, SIGKILL)
            process.wait(20)


def _process(folder: Path, name: str, *arguments: str) -> subprocess.Popen:
    home = Path(pyspark.__file__).parent
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", "--host", HOST, *arguments]
    # Nothing of this process's settings: a cluster knows nothing of Rheostat, not even where it is installed.
    known = {name: environ[name] for name in ("PATH", "JAVA_HOME") if name in environ}
    known |= {"SPARK_HOME": str(home), "SPARK_LOCAL_DIRS": str(folder / "local")}
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            [*command, "--webui-port", "0"],
            env=known,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _await_port(port: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        with suppress(OSError), socket.create_connection((HOST, port), 1):
            return
        assert time.monotonic() < deadline, "the master did not come up"
        time.sleep(0.1)
