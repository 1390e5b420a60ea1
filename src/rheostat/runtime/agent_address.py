"""How an agent is reached: it tells so in a file of the shared directory that only its owner may read."""

import json
import os
from pathlib import Path

from rheostat.runtime.workers.serving import workers_folder

TOKEN_VARIABLE = "RHEOSTAT_TOKEN"  # noqa: S105 - the name of the variable, not a token


def address_file(root: Path, node: str) -> Path:
    """Where an agent tells how it is reached."""
    return root / "nodes" / node / "agent.json"


def address_of(root: Path, node: str) -> tuple[int, str]:
    """Port and token of an agent; an OSError, a JSONDecodeError or a KeyError if it has not told them."""
    told = json.loads(address_file(root, node).read_text())
    return int(told["port"]), str(told["token"])


def tell_address(root: Path, node: str, port: int, token: str) -> None:
    """Where an agent is and with which token, for its peers and for a controller that comes later."""
    path = address_file(root, node)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        json.dump({"port": port, "pid": os.getpid(), "token": token, "workers": workers_folder()}, file)
    temporary.replace(path)
