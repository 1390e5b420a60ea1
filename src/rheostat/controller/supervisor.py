"""The agent processes of a run: one per node, found or started, and started again when they die.

What ran on a node whose agent is gone is run by others at once. Its agent is started again meanwhile, which takes a
Spark many seconds, and has its own instances back when that has warmed up. So no instance waits for a Spark to start as
long as there is another node. One that stands still without ending is ended first, see `Watchdog`.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event, Lock
from typing import Protocol

from rheostat.controller.watchdog import Watchdog, WatchedAgent
from rheostat.errors import NodeUnreachable, RuntimeFault
from rheostat.logs import room_logger
from rheostat.model.network.resources import Node as ModelNode
from rheostat.runtime.nodes.remote_node import RemoteNode
from rheostat.runtime.reconfigure.runtime import Runtime

LOG = room_logger("controller")
ATTEMPTS = 3
"""An agent may be killed once or twice while it starts; one that ends every time will not come up."""
WARM_SECONDS = 180.0
"""Longest warm-up of a node that is back."""
LOOK_SECONDS = 0.5
MOST_AT_ONCE = 8
"""Number of agents that are started again side by side."""


class Process(WatchedAgent, Protocol):
    """Process of an agent, as the supervisor needs it."""

    @property
    def is_up(self) -> bool:
        """Whether a former controller has left it running, with its Spark."""
        ...

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        ...

    def adopt(self) -> RemoteNode | None:
        """The agent that a former controller has left; one on its way is awaited. None if there is none."""
        ...

    def start(self) -> RemoteNode:
        """Starts it and waits until it answers; NodeUnreachable if it does not."""
        ...

    def bury(self) -> None:
        """Ends what it has left running, if it is gone itself."""
        ...

    def stop(self) -> None:
        """Ends it."""
        ...


class AgentSupervisor:
    """The agent processes of a run, also of nodes that join later."""

    def __init__(self, make: Callable[[ModelNode], Process]) -> None:
        """`make` gives the process of a node, not yet started."""
        self._make = make
        self._agents: dict[str, Process] = {}
        self._given_up: set[str] = set()
        self._coming: dict[str, Future[RemoteNode]] = {}
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, "agents")
        self._lock = Lock()
        self._ending = False
        self._hurry = Event()
        """Set when there is no time for warm-up: no other node is up, or everything is being ended."""
        self._watchdog = Watchdog(self._all)
        self._watchdog.start()

    def start_all(self, nodes: Iterable[ModelNode], *, taking_up: bool = False) -> dict[str, RemoteNode]:
        """Starts the nodes side by side, and gives them when all are up.

        When a run is taken up whose controller has died, those that it has left running go on at once; the others are
        `absent`, and come back like any whose agent has died.
        """
        agents = [self._add(node) for node in nodes]
        left = [agent for agent in agents if taking_up and agent.is_up]
        with ThreadPoolExecutor(max(1, len(agents))) as threads:
            # One of them may die while it is asked: it is not awaited either, as long as there is another.
            answered = [node for node in threads.map(lambda agent: agent.adopt(), left) if node is not None]
            found = {node.name: node for node in answered or threads.map(self._adopt_or_start, agents)}
        for agent in agents:
            if agent.name not in found:
                self._call_back(agent)
        return found

    def _all(self) -> Iterable[Process]:
        return self._agents.values()

    @property
    def absent(self) -> tuple[str, ...]:
        """Nodes that are on their way back."""
        return tuple(self._coming)

    def start(self, node: ModelNode) -> RemoteNode:
        """Starts one, and waits until it answers."""
        return self._add(node).start()

    def _add(self, node: ModelNode) -> Process:
        agent = self._make(node)
        with self._lock:
            # A new mapping: `revive` may be going through the old one.
            self._agents = {**self._agents, node.name: agent}
        return agent

    def end(self, name: str) -> None:
        """Ends one that was released."""
        with self._lock:
            agent = self._agents.get(name)
            self._agents = {each: other for each, other in self._agents.items() if each != name}
        if agent is not None:
            agent.stop()

    def abandon(self) -> None:
        """Stops watching the agents and leaves them running: another controller has taken the run over."""
        self._ending = True
        self._watchdog.stop()
        self._hurry.set()
        self._threads.shutdown(wait=True)

    def stop(self) -> None:
        """Ends all of them."""
        self._ending = True
        self._watchdog.stop()
        self._hurry.set()
        for agent in self._agents.values():
            agent.stop()
        self._threads.shutdown(wait=True)
        # One that was just being started or adopted may have escaped.
        for agent in self._agents.values():
            agent.stop()

    def revive(self, runtime: Runtime) -> bool:
        """Lets others run what ran where the agent is gone, and takes those that are back; tells whether any was gone.

        Nothing else can be done if no node is left: then the first that is back is awaited.
        """
        gone = list(self._gone(runtime))
        for agent in gone:
            self._call_back(agent)
            runtime.lose(agent.name)
        self._welcome(runtime)
        while self._coming and not runtime.nodes_up():
            self._hurry.set()
            wait(self._coming.values(), return_when=FIRST_COMPLETED)
            self._welcome(runtime)
        if not self._ending:
            self._hurry.clear()
        return bool(gone)

    def _gone(self, runtime: Runtime) -> Iterator[Process]:
        there = runtime.blueprint.infrastructure.index
        for name, agent in self._agents.items():
            if name in there and name not in self._given_up and name not in self._coming and not agent.is_alive:
                yield agent

    def _call_back(self, agent: Process) -> None:
        """Ends what an agent has left running, and starts the agent again in the background."""
        LOG.warning("the agent of node %s is gone, and is started again", agent.name)
        agent.bury()
        self._coming[agent.name] = self._threads.submit(self._warm, agent)

    def _welcome(self, runtime: Runtime) -> None:
        for name, coming in list(self._coming.items()):
            if not coming.done():
                continue
            del self._coming[name]
            agent = self._agents.get(name)
            if agent is None or name not in runtime.blueprint.infrastructure.index:
                continue  # it was released meanwhile
            try:
                node = coming.result()
            except (NodeUnreachable, OSError) as failure:
                # It does not come back by being started: the others go on running what ran there.
                LOG.warning("node %s is given up, since its agent cannot be started: %s", name, failure)
                self._given_up.add(name)
                continue
            if agent.is_alive:
                LOG.info("node %s is back", name)
                runtime.use(node)
            else:
                self._call_back(agent)

    def _warm(self, agent: Process) -> RemoteNode:
        """Returns the node once its Spark is warm: its instances would stand still for as long on a cold one."""
        node = self._adopt_or_start(agent)
        deadline = time.monotonic() + WARM_SECONDS
        while self._is_wanted(agent) and time.monotonic() < deadline and not self._hurry.is_set():
            try:
                if node.is_warm():
                    break
            except RuntimeFault:
                break  # it was killed again, as `_welcome` will see
            self._hurry.wait(LOOK_SECONDS)
        return node

    def _adopt_or_start(self, agent: Process) -> RemoteNode:
        """The one that is there, or a new one."""
        if (node := agent.adopt()) is not None:
            return node
        silence = NodeUnreachable(agent.name, "it is no longer wanted")
        for _ in range(ATTEMPTS):
            if not self._is_wanted(agent):
                break
            try:
                return agent.start()
            except NodeUnreachable as failure:
                silence = failure
        raise silence

    def _is_wanted(self, agent: Process) -> bool:
        return not self._ending and self._agents.get(agent.name) is agent
