"""How an agent is reached: it tells so in a file of the shared directory that only its owner may read.

A node has one agent at a time. A controller that is killed while it starts one leaves it behind, on its way; the next
controller, which does not see it yet, starts another: whoever of the two claims the node first is its agent.
"""

import fcntl
import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import IO

from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.spark.forked_python import WORKERS_PREFIX, workers_folder

TAKEN = 75
"""What an agent ends with if its node has another one."""
TOKEN_VARIABLE = "RHEOSTAT_TOKEN"  # noqa: S105 - the name of the variable, not a token


def address_file(root: Path, node: str) -> Path:
    """Where an agent tells how it is reached."""
    return root / "nodes" / node / "agent.json"


def nodes_told(root: Path) -> list[str]:
    """The nodes whose agents have told how they are reached, and were not seen to end."""
    return sorted(path.parent.name for path in root.glob(str(address_file(Path(), "*"))))


def claimed(root: Path, node: str) -> IO[str] | None:
    """The claim to a node, None if another agent has it; to be kept open: it goes with the process, however it ends."""
    path = address_file(root, node).with_suffix(".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def clear_leftovers(root: Path, node: str) -> None:
    """Removes what an agent that was killed has left behind, and the way to it."""
    shutil.rmtree(RunPaths(root).scratch(node), ignore_errors=True)
    told = address_file(root, node)
    with suppress(FileNotFoundError, json.JSONDecodeError, KeyError):
        folder = Path(json.loads(told.read_text())["workers"])
        if folder.name.startswith(WORKERS_PREFIX):
            shutil.rmtree(folder, ignore_errors=True)
    told.unlink(missing_ok=True)


def address_of(root: Path, node: str) -> tuple[int, str]:
    """Port and token of an agent; an OSError, a JSONDecodeError or a KeyError if it has not told them."""
    told = json.loads(address_file(root, node).read_text())
    return int(told["port"]), str(told["token"])


def tell_address(root: Path, node: str, port: int, token: str, *, up: bool) -> None:
    """Where an agent is and with which token, for its peers and for a controller that comes later.

    One that is not up yet has nothing that runs there; whoever asks it is answered when its Spark is.
    """
    path = address_file(root, node)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        told = {"port": port, "pid": os.getpid(), "token": token, "up": up, "workers": workers_folder()}
        json.dump(told, file)
    temporary.replace(path)
