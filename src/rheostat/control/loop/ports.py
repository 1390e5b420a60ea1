"""Ports through which managers see and change the world.

Small protocols, implemented by the simulation (virtual time) and by the runtime (Spark) alike: the same managers run
in both. Each has one contract suite in `tests/contracts/` that every implementation passes, ours or a user's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.model.observation import Sample

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]


class Clock(Protocol):
    """Time. A policy never sees one; a manager does."""

    def now_seconds(self) -> float:
        """Seconds since some fixed moment; never goes backwards."""
        ...

    def wait_until(self, seconds: float) -> None:
        """Returns when `now_seconds()` is at least this; at once if it is already."""
        ...


class Probe(Protocol):
    """Port through which a manager sees the world."""

    def samples(self) -> Sequence[Sample]:
        """Samples since the last call; every sample is handed out once. An empty answer is normal, never an error."""
        ...

    def deployment(self) -> Deployment:
        """The deployment that runs now; during a change, the one before it."""
        ...

    def infrastructure(self) -> Infrastructure:
        """The nodes that are up now, and the links between them."""
        ...


@dataclass(frozen=True, slots=True)
class Done:
    """A reconfiguration took place."""

    downtime_seconds: float
    """Time that the affected operators stood still."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A reconfiguration was not begun: it is impossible or another one is under way. Nothing has changed."""

    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RolledBack:
    """A reconfiguration was begun and undone. What ran before runs again, nothing is lost."""

    reason: str


Effect = Done | Refused | RolledBack


class Actuator(Protocol):
    """Port through which a manager changes the world."""

    def apply(self, change: Reconfiguration) -> Effect:
        """Carries out a change as a whole: done, refused or rolled back, never half; an empty one is done at once."""
        ...


class NodeProvider(Protocol):
    """Source of further nodes."""

    def kinds(self) -> Sequence[Node]:
        """Kinds of nodes that can be started, as templates named like the kinds."""
        ...

    def start(self, kind: str, region: str) -> str:
        """Asks for a node and gives its name at once; it is up when the probe's infrastructure has it."""
        ...

    def failure(self, node: str) -> str | None:
        """Reason why a requested node will not come, in words; None as long as it may."""
        ...

    def stop(self, node: str) -> None:
        """Releases a node. It must be empty; one that is not there is released already."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal: what happened, when, and the facts."""

    kind: str
    at_seconds: float
    facts: Mapping[str, Json]


NODE_JOINED, NODE_LEFT = "node joined", "node left"
"""Kinds of entries that a world writes by itself: a node is up, a node was let go; `name` says which."""


class JournalReader(Protocol):
    """The entries of a journal, for reading only."""

    def read(self, after: int = 0, kind: str | None = None) -> Iterator[tuple[int, Entry]]:
        """Entries with a number above `after`, in order, of one kind or of all."""
        ...


class EntryLog(JournalReader, Protocol):
    """A place for the entries of managers: the journal itself, or notes that reach it later."""

    def append(self, entry: Entry) -> int:
        """Writes an entry and gives its number: 1, 2, 3, ..."""
        ...


class Journal(EntryLog, Protocol):
    """Decisions and actions of a run in order, durable, written by one owner at a time.

    Opening a journal for writing takes the run over: the new owner has the next term, and appends of every earlier
    owner raise `JournalFenced` and write nothing. An entry is durable when `append` returns. Reading needs no term.
    """

    @property
    def term(self) -> int:
        """Number of this owner: 1 for the first, one more for each that takes the run over."""
        ...

    def newest_term(self) -> int:
        """Term of the present owner; greater than `term` if the run has been taken over."""
        ...
