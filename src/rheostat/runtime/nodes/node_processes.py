"""One agent process per node on this machine: started, revived when it has died, and ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rheostat.model.network.resources import Infrastructure
from rheostat.runtime.nodes.agent_process import AgentProcess
from rheostat.runtime.nodes.remote_node import RemoteNode
from rheostat.runtime.spark.spark_settings import SparkSettings


class NodeProcesses:
    """One agent process per node."""

    def __init__(self, infrastructure: Infrastructure, root: Path, settings: SparkSettings | None = None) -> None:
        self._agents: dict[str, AgentProcess] = {}
        for node in infrastructure.nodes:
            slots = int(node.capacity)
            self._agents[node.name] = AgentProcess(node.name, slots, root, settings or SparkSettings())

    def start(self) -> dict[str, RemoteNode]:
        """Starts all of them."""
        return {name: agent.start() for name, agent in self._agents.items()}

    def kill(self, name: str) -> None:
        """kill -9."""
        self._agents[name].kill()

    def pid(self, name: str) -> int:
        """Of an agent's process, which leads a group with its Spark and its workers."""
        return self._agents[name].pid

    def address(self, name: str) -> tuple[int, str]:
        """Port and token of an agent, for another process that may use it."""
        return self._agents[name].address

    def dead(self) -> list[str]:
        """Nodes whose process is gone."""
        return [name for name, agent in self._agents.items() if not agent.is_alive]

    def revive(self) -> list[RemoteNode]:
        """Starts again what is gone."""
        return [self._agents[name].start() for name in self.dead()]

    def stop(self) -> None:
        """Ends all of them."""
        for agent in self._agents.values():
            agent.stop()


@contextmanager
def node_processes(
    infrastructure: Infrastructure, root: Path, settings: SparkSettings | None = None
) -> Iterator[tuple[NodeProcesses, dict[str, RemoteNode]]]:
    """The processes and their nodes; all have ended afterwards, whatever happened."""
    processes = NodeProcesses(infrastructure, root, settings)
    try:
        yield processes, processes.start()
    finally:
        processes.stop()
