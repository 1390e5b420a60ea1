"""Addresses of agents: files below `agents/` in the directory of a run, which only their owner may read.

A node has one agent at a time. A controller that is killed while it starts an agent leaves it behind, on its way; the
next controller, which does not see it yet, starts another: the first of the two to take the lock is the agent.
"""

import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from rheostat.machine.private_files import lock, read_private, write_private
from rheostat.runtime.plan.run_paths import RunPaths
from rheostat.runtime.spark.forked_python import WORKERS_PREFIX, workers_folder

TAKEN = 75
"""Exit code of an agent whose node has another one."""
TOKEN_VARIABLE = "RHEOSTAT_TOKEN"  # noqa: S105 - the name of the variable, not a token


@dataclass(frozen=True, slots=True)
class AgentAddress:
    """The address of an agent, for its peers and for controllers."""

    port: int
    pid: int
    token: str
    up: bool = True
    """Whether its Spark is up; until then nothing runs there, and questions are answered when it is."""
    workers: str = ""
    """Folder of the Python of its workers."""


def address_file(root: Path, node: str) -> Path:
    """The file with the address of a node's agent."""
    return RunPaths(root).agent(node) / "agent.json"


def agent_log(root: Path, node: str) -> Path:
    """The file that a node's agent logs to."""
    return RunPaths(root).agent(node) / "agent.log"


def addressed_nodes(root: Path) -> list[str]:
    """The nodes whose agents have an address: they were started, and were not seen to end."""
    return sorted(path.parent.name for path in root.glob(str(address_file(Path(), "*"))))


def claim(root: Path, node: str) -> IO[str] | None:
    """The lock of a node for its agent, None if another agent has it; it ends with the process."""
    path = address_file(root, node).with_suffix(".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    return lock(path)


def clear_leftovers(root: Path, node: str) -> None:
    """Removes what an agent that was killed has left behind, and its address."""
    shutil.rmtree(RunPaths(root).scratch(node), ignore_errors=True)
    found = read_agent_address(root, node)
    if found is not None and Path(found.workers).name.startswith(WORKERS_PREFIX):
        shutil.rmtree(found.workers, ignore_errors=True)
    address_file(root, node).unlink(missing_ok=True)


def read_agent_address(root: Path, node: str) -> AgentAddress | None:
    """The address of a node's agent; None if it has none."""
    found = read_private(address_file(root, node))
    try:
        return None if found is None else AgentAddress(**found)
    except TypeError:
        return None


def write_agent_address(root: Path, node: str, port: int, token: str, *, up: bool) -> None:
    """Writes the address of this process as the agent of a node."""
    address = AgentAddress(port, os.getpid(), token, up, workers_folder())
    write_private(address_file(root, node), asdict(address))
