"""Watchdog: kills agents that do not answer, before other nodes take their work over.

A process may stand still without ending: it was stopped, or it waits for a disk for ever. It would hold up all
that ask it, and might go on some day with what others have done meanwhile.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import Protocol

from rheostat.logs import room_logger

LOG = room_logger("controller")

ROUND_SECONDS = 1.0
PATIENCE_SECONDS = 5.0
"""Time that an answer may take."""
SILENCES = 5
"""Unanswered questions in a row before an agent is killed: a machine that pauses as a whole lets one time out."""


class WatchedAgent(Protocol):
    """Process of an agent, as the watchdog needs it."""

    name: str

    def is_silent(self, patience_seconds: float) -> bool:
        """Whether the agent should answer and does not; an agent that is gone or not up yet is not silent."""
        ...

    def put_down(self, why: str) -> None:
        """Ends it with all it has started, at once."""
        ...


class Watchdog:
    """Asks all agents again and again, beside whatever else waits for them."""

    def __init__(
        self,
        agents: Callable[[], Iterable[WatchedAgent]],
        *,
        round_seconds: float = ROUND_SECONDS,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """`agents` gives the agents that there are at the moment."""
        self._agents, self._round_seconds, self._patience_seconds = agents, round_seconds, patience_seconds
        self._silences: Counter[str] = Counter()
        self._ending = Event()
        self._thread = Thread(target=self._keep, name="watchdog", daemon=True)

    def start(self) -> None:
        """Starts the watchdog."""
        self._thread.start()

    def stop(self) -> None:
        """Stops the watchdog; an answer that is still awaited may come later."""
        self._ending.set()

    def round(self) -> None:
        """Asks all agents once, side by side: silent agents take the longest."""
        agents = list(self._agents())
        if not agents:
            return
        with ThreadPoolExecutor(len(agents), "watchdog") as threads:
            silent = list(threads.map(lambda agent: agent.is_silent(self._patience_seconds), agents))
        for agent, is_silent in zip(agents, silent, strict=True):
            self._silences[agent.name] = self._silences[agent.name] + 1 if is_silent else 0
            if self._silences[agent.name] >= SILENCES and not self._ending.is_set():
                del self._silences[agent.name]
                why = f"it left {SILENCES} questions in a row open, {self._patience_seconds:g} s each"
                LOG.warning("agent of node %s is killed: %s", agent.name, why)
                agent.put_down(why)

    def _keep(self) -> None:
        while not self._ending.wait(self._round_seconds):
            self.round()
