"""Protocol of a policy: a frozen value that answers a view with a proposal.

Its fields are its settings. It returns its memory and gets it back with the next view: the same view and the same
memory always give the same answer. Randomness comes from a seed among the settings and a count in the memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Protocol, Self, TypeVar

from rheostat.policies.contract.policy_views import ApplicationView, OperatorView, Plain


@dataclass(frozen=True, slots=True)
class Proposal:
    """Proposed number of replicas of an operator, with expected benefit and reason."""

    wanted: int
    """Wanted number of replicas; the present number means hold."""
    score: float = 0.0
    """Expected benefit, from 0 to 1; an application manager ranks by it [EDF 4]."""
    reason: str = ""
    """Reason in words, with the figures."""

    def __post_init__(self) -> None:
        """Rejects a proposal below 1 replica or with a score outside 0 to 1."""
        if self.wanted < 1 or not 0 <= self.score <= 1:
            raise ValueError(f"a proposal wants at least 1 replica with a score from 0 to 1, got {self}")

    def to_plain(self) -> dict[str, Plain]:
        """Plain data for the journal."""
        return {"wanted": self.wanted, "score": self.score, "reason": self.reason}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The proposal from plain data."""
        return cls(plain["wanted"], plain["score"], plain["reason"])


def hold(view: OperatorView, reason: str) -> Proposal:
    """Proposal to change nothing."""
    return Proposal(view.replicas, 0.0, reason)


Memory = TypeVar("Memory")
"""Memory of a policy: an immutable value of its own type."""


class OperatorPolicy(Protocol[Memory]):
    """Policy that scales one operator, knowing only that operator: the local policy of an operator manager."""

    name: ClassVar[str]

    def begin(self) -> Memory:
        """The memory before the first view."""
        ...

    def decide(self, view: OperatorView, memory: Memory) -> tuple[Proposal, Memory]:
        """The proposal and the new memory. Holds, with the reason, if a needed figure is unknown."""
        ...

    def saved(self, memory: Memory) -> Plain:
        """The memory as plain data that a person can read."""
        ...

    def loaded(self, plain: Any) -> Memory:
        """The memory from plain data."""
        ...


class ApplicationPolicy(Protocol[Memory]):
    """Policy that scales all operators of an application together."""

    name: ClassVar[str]

    def begin(self) -> Memory:
        """The memory before the first view."""
        ...

    def decide_all(self, view: ApplicationView, memory: Memory) -> tuple[dict[str, Proposal], Memory]:
        """A proposal for every operator, and the new memory."""
        ...

    def saved(self, memory: Memory) -> Plain:
        """The memory as plain data that a person can read."""
        ...

    def loaded(self, plain: Any) -> Memory:
        """The memory from plain data."""
        ...


class WithoutMemory:
    """Base of policies without a memory."""

    def begin(self) -> None:
        """No memory."""

    def saved(self, memory: None) -> Plain:  # noqa: ARG002 - there is nothing in it
        """No memory."""
        return None

    def loaded(self, plain: Any) -> None:
        """No memory."""


def decision_random(seed: int, *parts: str | int) -> Random:
    """Random numbers for one decision: the same seed and the same parts give the same numbers.

    No state is carried from one decision to the next, so that a decision can be repeated by itself.
    """
    return Random("/".join(map(str, (seed, *parts))))  # noqa: S311 - chance, not a secret
