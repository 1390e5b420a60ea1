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
    """How many replicas an operator should have, how much that would help, and why."""

    wanted: int
    """As many as there are: hold."""
    score: float = 0.0
    """Prospective benefit, from 0 to 1; an application manager ranks by it [EDF 4]."""
    reason: str = ""
    """In words, with the figures."""

    def __post_init__(self) -> None:
        """Rejects a proposal below 1 replica or with a score outside 0 to 1."""
        if self.wanted < 1 or not 0 <= self.score <= 1:
            raise ValueError(f"a proposal wants at least 1 replica with a score from 0 to 1, got {self}")

    def to_plain(self) -> dict[str, Plain]:
        """For the journal."""
        return {"wanted": self.wanted, "score": self.score, "reason": self.reason}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """As it was."""
        return cls(plain["wanted"], plain["score"], plain["reason"])


def hold(view: OperatorView, reason: str) -> Proposal:
    """Nothing should change."""
    return Proposal(view.replicas, 0.0, reason)


Memory = TypeVar("Memory")
"""What a policy remembers: an immutable value of its own."""


class OperatorPolicy(Protocol[Memory]):
    """Scales one operator, knowing only that operator: the local policy of an operator manager."""

    name: ClassVar[str]

    def begin(self) -> Memory:
        """What is remembered before anything was seen."""
        ...

    def decide(self, view: OperatorView, memory: Memory) -> tuple[Proposal, Memory]:
        """What to do, and what to remember. Holds, and says so, if what it needs is not known."""
        ...

    def saved(self, memory: Memory) -> Plain:
        """What is remembered, as plain data that a person can look at."""
        ...

    def loaded(self, plain: Any) -> Memory:
        """What was saved."""
        ...


class ApplicationPolicy(Protocol[Memory]):
    """Scales all operators of an application together."""

    name: ClassVar[str]

    def begin(self) -> Memory:
        """What is remembered before anything was seen."""
        ...

    def decide_all(self, view: ApplicationView, memory: Memory) -> tuple[dict[str, Proposal], Memory]:
        """A proposal for every operator, and what to remember."""
        ...

    def saved(self, memory: Memory) -> Plain:
        """What is remembered, as plain data that a person can look at."""
        ...

    def loaded(self, plain: Any) -> Memory:
        """What was saved."""
        ...


class Forgetful:
    """A policy that has nothing to remember."""

    def begin(self) -> None:
        """Nothing."""

    def saved(self, memory: None) -> Plain:  # noqa: ARG002 - there is nothing in it
        """Nothing."""
        return None

    def loaded(self, plain: Any) -> None:
        """Nothing."""


def chance(seed: int, *parts: str | int) -> Random:
    """A source of random numbers for one decision: the same seed and the same parts give the same numbers.

    Nothing is carried from one decision to the next, so that a decision can be repeated by itself.
    """
    return Random("/".join(map(str, (seed, *parts))))  # noqa: S311 - chance, not a secret
