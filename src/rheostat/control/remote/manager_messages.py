"""Messages between the controller and the managers on a node: plain documents, sent again and again.

Level-triggered: orders say how things should be, a report says how they are. One that is lost, repeated or told to a
new process changes nothing that the next one does not put right.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from rheostat.control.loop.ports import Entry, Json
from rheostat.policies.contract.requests import Request

NEVER = 0.0
"""A moment before all others, in seconds since 1970; documents know no infinity."""


@dataclass(frozen=True, slots=True)
class Orders:
    """Orders of the controller to the managers on one node."""

    operators: tuple[str, ...] = ()
    """Operators that are managed on the node."""
    memories: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """Policy and memory of the manager that an operator had before."""
    hidden: tuple[str, ...] = ()
    """Nodes that take nothing new."""
    settled_at_seconds: float = NEVER
    """End of the time in which a change settles."""
    settling: Mapping[str, float] = field(default_factory=dict)
    """The same for single operators."""
    held_until_seconds: float = NEVER
    """No manager proposes anything until then: a change is under way, or control is paused."""
    answers: Mapping[str, int] = field(default_factory=dict)
    """Sender -> its last request that was granted or refused: it need not stand any longer."""
    received: int = 0
    """Entries up to this number have arrived."""

    def to_plain(self) -> dict[str, Json]:
        """The message as a document."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The message that a document holds."""
        lists = {name: tuple(plain[name]) for name in ("operators", "hidden")}
        return cls(**{**plain, **lists})


@dataclass(frozen=True, slots=True)
class Standing:
    """A request that waits for an answer."""

    sender: str
    number: int
    request: Request


@dataclass(frozen=True, slots=True)
class Report:
    """Requests and journal entries of the managers on one node."""

    operators: tuple[str, ...] = ()
    """Operators that are managed on the node."""
    life: str = ""
    """Identity of the managers' process: after a restart, numbers count from 1 again."""
    requests: tuple[Standing, ...] = ()
    entries: tuple[tuple[int, Entry], ...] = ()
    """Journal entries that the controller has not received yet."""

    def to_plain(self) -> dict[str, Json]:
        """The message as a document."""
        return {
            "operators": list(self.operators),
            "life": self.life,
            "requests": [[one.sender, one.number, one.request.to_plain()] for one in self.requests],
            "entries": [[number, entry.kind, entry.at_seconds, entry.facts] for number, entry in self.entries],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The message that a document holds."""
        return cls(
            tuple(plain["operators"]),
            plain["life"],
            tuple(Standing(sender, number, Request.from_plain(one)) for sender, number, one in plain["requests"]),
            tuple((number, Entry(kind, at, facts)) for number, kind, at, facts in plain["entries"]),
        )
