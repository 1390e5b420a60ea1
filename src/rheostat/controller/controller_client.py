"""Client of a running application, found by a file in its directory that only its owner may read.

Standard library alone, so that `rheostat status` needs neither Spark nor a web framework.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from rheostat.control.loop.effects import effect_of
from rheostat.control.loop.ports import Effect
from rheostat.errors import RuntimeFault
from rheostat.machine.private_files import lock, read_private, write_private
from rheostat.machine.waits import wait_until
from rheostat.model.graph.deployment import Deployment

ADDRESS_FILE = "controller.json"
LOCK_FILE = "run.lock"
ANSWER_SECONDS = 30.0
CHANGE_SECONDS = 1800.0
"""A change is a few steps, each of which has its own patience; this only ends a wait for an answer that never comes."""


class NotRunning(RuntimeFault):
    """No application runs in a directory."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.directory = directory

    def __str__(self) -> str:
        return f"no application runs in {self.directory}: start it with rheostat run"


@dataclass(frozen=True, slots=True)
class Address:
    """Address of a running application."""

    port: int
    token: str
    pid: int


def write_address(directory: Path, address: Address) -> None:
    """Writes the address to a file that only the owner of the directory may read."""
    write_private(directory / ADDRESS_FILE, asdict(address))


def read_address(directory: Path) -> Address | None:
    """Address in the file; None if there is none or it is not such a file."""
    found = read_private(directory / ADDRESS_FILE)
    try:
        return None if found is None else Address(**found)
    except TypeError:
        return None


def remove_address(directory: Path) -> None:
    """Removes the file with the address."""
    (directory / ADDRESS_FILE).unlink(missing_ok=True)


@contextmanager
def held(directory: Path) -> Iterator[None]:
    """Keeps a second controller out of a directory; the lock goes with the process, however that ends."""
    file = lock(directory / LOCK_FILE)
    if file is None:
        raise RuntimeFault(f"an application runs in {directory} already: see rheostat status")
    with file:
        yield


def is_held(directory: Path) -> bool:
    """Whether a controller is at work in a directory, or still tidying up."""
    try:
        with held(directory):
            return False
    except FileNotFoundError:
        return False
    except RuntimeFault:
        return True


class RunningApplication:
    """A running application, from outside."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def status(self) -> dict[str, Any]:
        """State of the application."""
        return self._asked("GET", "/status")

    def change(self, wanted: Deployment, before: Deployment | None = None) -> Effect:
        """Asks for another deployment; with `before`, only if that is what runs."""
        document = {"deployment": _plain(wanted), "before": None if before is None else _plain(before)}
        return effect_of(self._asked("POST", "/change", document, CHANGE_SECONDS))

    def pause_control(self, *, paused: bool) -> None:
        """Lets the managers decide nothing, or decide again."""
        self._asked("POST", "/control", {"paused": paused})

    def stop(self, patience_seconds: float = 180.0) -> bool:
        """Asks it to end and waits for that; tells whether it has."""
        self._asked("POST", "/stop", {})

        def has_ended() -> bool:
            return read_address(self.directory) is None and not is_held(self.directory)

        return wait_until(has_ended, patience_seconds, look_seconds=0.1)

    def answers(self) -> bool:
        """Whether the application answers."""
        try:
            self.status()
        except RuntimeFault:
            return False
        return True

    def _address(self) -> Address:
        address = read_address(self.directory)
        if address is None:
            raise NotRunning(self.directory)
        return address

    def _asked(
        self, method: str, path: str, document: Mapping[str, Any] | None = None, seconds: float = ANSWER_SECONDS
    ) -> dict[str, Any]:
        address = self._address()
        headers = {"Authorization": f"Bearer {address.token}", "Content-Type": "application/json"}
        connection = HTTPConnection("127.0.0.1", address.port, timeout=seconds)
        try:
            connection.request(method, path, None if document is None else json.dumps(document), headers)
            answer = connection.getresponse()
            told: dict[str, Any] = json.loads(answer.read())
        except ConnectionRefusedError as refused:
            raise NotRunning(self.directory) from refused
        except (OSError, HTTPException, json.JSONDecodeError) as failure:
            why = str(failure) or type(failure).__name__
            raise RuntimeFault(f"the application in {self.directory} does not answer: {why}") from failure
        finally:
            connection.close()
        if "error" in told:
            raise RuntimeFault(str(told["error"]))
        return told


def _plain(deployment: Deployment) -> dict[str, dict[str, int]]:
    return {name: dict(replicas.counts) for name, replicas in deployment.items()}
