"""Guards: filters that a policy's proposal must pass, and policies wrapped in them.

A guard turns a proposal into another one, usually into holding, and gives the reason. Its memory is plain data. A
guarded policy is a policy: guards can be put around any policy, in any order, the first nearest to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from rheostat.policies.contract.policy import ApplicationPolicy, OperatorPolicy, Proposal, hold
from rheostat.policies.contract.policy_views import ApplicationView, OperatorView, Plain

DAY_SECONDS = 86_400.0


class Guard(Protocol):
    """Check of a policy's proposal for one operator."""

    name: ClassVar[str]

    def checked(self, view: OperatorView, proposal: Proposal, memory: Any) -> tuple[Proposal, Plain]:
        """The checked proposal and the guard's new memory; the first memory is None."""
        ...


@dataclass(frozen=True, slots=True)
class ReplicaBounds:
    """Limits of the number of replicas, in addition to the operator's own."""

    name: ClassVar[str] = "bounds"

    least: int = 1
    most: int = 1_000_000

    def __post_init__(self) -> None:
        """Rejects bounds that allow no number."""
        if not 1 <= self.least <= self.most:
            raise ValueError(f"need 1 <= least <= most, got {self}")

    def checked(self, view: OperatorView, proposal: Proposal, memory: Any) -> tuple[Proposal, Plain]:  # noqa: ARG002
        """The nearest number within both bounds; if there is none, the operator's own bounds win, and it holds."""
        wanted = view.within_bounds(max(self.least, min(self.most, proposal.wanted)))
        if proposal.wanted in {wanted, view.replicas}:
            return proposal, None
        if wanted == view.replicas:
            return _refused(view, proposal, f"bounds are {self.least} to {self.most}"), None
        return Proposal(wanted, proposal.score, f"{proposal.reason}; within {self.least} to {self.most}"), None


@dataclass(frozen=True, slots=True)
class CoolDown:
    """Holds for a while after any change of the number of replicas."""

    name: ClassVar[str] = "cool-down"

    before_scale_out_seconds: float = 60.0
    before_scale_in_seconds: float = 120.0

    def __post_init__(self) -> None:
        """Rejects invalid durations."""
        if not (self.before_scale_out_seconds >= 0 and self.before_scale_in_seconds >= 0):
            raise ValueError(f"a cool-down takes seconds >= 0, got {self}")

    def checked(self, view: OperatorView, proposal: Proposal, memory: Any) -> tuple[Proposal, Plain]:
        """Holds until the cool-down is over; that before a scale-out may be shorter."""
        replicas, changed_at = memory or (view.replicas, None)
        if replicas != view.replicas:
            changed_at = view.at_seconds
        kept: Plain = [view.replicas, changed_at]
        if proposal.wanted == view.replicas or changed_at is None:
            return proposal, kept
        out = proposal.wanted > view.replicas
        left = changed_at - view.at_seconds + (self.before_scale_out_seconds if out else self.before_scale_in_seconds)
        return (_refused(view, proposal, f"cool-down, {left:g} s left") if left > 0 else proposal), kept


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Passes only what was proposed several times in a row."""

    name: ClassVar[str] = "confirmation"

    times: int = 2
    """Number of proposals in the same direction; the number of replicas is that of the last one."""

    def __post_init__(self) -> None:
        """Rejects less than one time."""
        if self.times < 1:
            raise ValueError(f"a confirmation takes times >= 1, got {self.times}")

    def checked(self, view: OperatorView, proposal: Proposal, memory: Any) -> tuple[Proposal, Plain]:
        """Counts proposals in one direction; holding in between restarts the count."""
        direction = (proposal.wanted > view.replicas) - (proposal.wanted < view.replicas)
        before, times = memory or (0, 0)
        times = times + 1 if direction == before else 1
        if direction == 0:
            return proposal, None
        if times < self.times:
            return _refused(view, proposal, f"seen {times} of {self.times} times"), [direction, times]
        return proposal, [direction, times]


@dataclass(frozen=True, slots=True)
class ExcludedPeriods:
    """Holds at certain times of the day."""

    name: ClassVar[str] = "excluded-periods"

    periods: tuple[tuple[float, float], ...] = ()
    """Start and end in seconds since midnight; a period that ends before it starts spans midnight."""
    midnight_seconds: float = 0.0
    """Reading of the clock at some midnight."""

    def __post_init__(self) -> None:
        """Rejects invalid times of day."""
        if wrong := [p for p in self.periods if not all(0 <= end <= DAY_SECONDS for end in p) or p[0] == p[1]]:
            raise ValueError(f"a period goes from one second of the day to another, got {wrong[0]}")

    def checked(self, view: OperatorView, proposal: Proposal, memory: Any) -> tuple[Proposal, Plain]:  # noqa: ARG002
        """Holds within a period; its end does not belong to it."""
        now = (view.at_seconds - self.midnight_seconds) % DAY_SECONDS
        for begin, end in self.periods:
            inside = begin <= now < end if begin < end else now >= begin or now < end
            if inside and proposal.wanted != view.replicas:
                return _refused(view, proposal, f"excluded from {begin:g} to {end:g} s of the day"), None
        return proposal, None


@dataclass(frozen=True, slots=True)
class Guarded:
    """Operator policy behind guards."""

    name: ClassVar[str] = "guarded"

    policy: OperatorPolicy[Any]
    guards: tuple[Guard, ...] = ()

    def begin(self) -> tuple[Any, tuple[Any, ...]]:
        """The policy's first memory, and an empty one for each guard."""
        return self.policy.begin(), (None,) * len(self.guards)

    def decide(self, view: OperatorView, memory: Any) -> tuple[Proposal, Any]:
        """The proposal after all guards."""
        inside, kept = memory
        proposal, inside = self.policy.decide(view, inside)
        proposal, kept = _through(self.guards, view, proposal, kept)
        return proposal, (inside, kept)

    def saved(self, memory: Any) -> Plain:
        """Memories of the policy and the guards as plain data."""
        return {"policy": self.policy.saved(memory[0]), "guards": list(memory[1])}

    def loaded(self, plain: Any) -> Any:
        """The memories from plain data."""
        return self.policy.loaded(plain["policy"]), tuple(plain["guards"])


@dataclass(frozen=True, slots=True)
class GuardedApplication:
    """Application policy behind guards, each of which checks every operator separately."""

    name: ClassVar[str] = "guarded"

    policy: ApplicationPolicy[Any]
    guards: tuple[Guard, ...] = ()

    def begin(self) -> tuple[Any, Mapping[str, tuple[Any, ...]]]:
        """The policy's first memory, and none for the guards."""
        return self.policy.begin(), {}

    def decide_all(self, view: ApplicationView, memory: Any) -> tuple[dict[str, Proposal], Any]:
        """The proposals after all guards."""
        inside, kept = memory
        proposals, inside = self.policy.decide_all(view, inside)
        left, remembered = {}, {}
        for each in view.operators:
            before = kept.get(each.operator, (None,) * len(self.guards))
            left[each.operator], remembered[each.operator] = _through(
                self.guards, each, proposals[each.operator], before
            )
        return left, (inside, remembered)

    def saved(self, memory: Any) -> Plain:
        """Memories of the policy and the guards as plain data."""
        guards: dict[str, Plain] = {operator: list(kept) for operator, kept in memory[1].items()}
        return {"policy": self.policy.saved(memory[0]), "guards": guards}

    def loaded(self, plain: Any) -> Any:
        """The memories from plain data."""
        return self.policy.loaded(plain["policy"]), {name: tuple(kept) for name, kept in plain["guards"].items()}


def _through(
    guards: Sequence[Guard], view: OperatorView, proposal: Proposal, memories: Sequence[Any]
) -> tuple[Proposal, tuple[Any, ...]]:
    kept = []
    for guard, memory in zip(guards, memories, strict=True):
        proposal, remembered = guard.checked(view, proposal, memory)
        kept.append(remembered)
    return proposal, tuple(kept)


def _refused(view: OperatorView, proposal: Proposal, why: str) -> Proposal:
    return hold(view, f"{why}; else {proposal.wanted} replicas, since {proposal.reason}")
