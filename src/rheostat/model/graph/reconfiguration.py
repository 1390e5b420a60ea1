"""Reconfiguration: the changes that lead from one deployment to another."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from rheostat.model.graph.deployment import Deployment, Replicas


class ChangeKind(StrEnum):
    """Kinds of changes of an operator [EDRP 3.3]."""

    SCALE_OUT = "scale-out"
    SCALE_IN = "scale-in"
    MIGRATION = "migration"


@dataclass(frozen=True, slots=True)
class Change:
    """Change of one operator from one multiset of nodes to another."""

    operator: str
    before: Replicas
    """𝒰: the current deployment."""
    after: Replicas
    """𝒱: the wanted one."""

    def __post_init__(self) -> None:
        """Rejects a change that changes nothing."""
        if self.before == self.after:
            raise ValueError(f"operator {self.operator} stays on {self.before}: that is not a change")

    @property
    def kind(self) -> ChangeKind:
        """Scale-out iff |𝒱| > |𝒰|, scale-in iff |𝒱| < |𝒰|, migration otherwise [EDRP, eq. 25].

        Differs: the printed conditions of scale-out and scale-in are swapped.
        """
        if len(self.after) > len(self.before):
            return ChangeKind.SCALE_OUT
        return ChangeKind.SCALE_IN if len(self.after) < len(self.before) else ChangeKind.MIGRATION

    @property
    def added(self) -> dict[str, int]:
        """δ⁺_u: replicas to be added per node, where there are any."""
        return {u: n - self.before[u] for u, n in self.after.counts if n > self.before[u]}

    @property
    def removed(self) -> dict[str, int]:
        """δ⁻_u: replicas to be removed per node, where there are any."""
        return {u: n - self.after[u] for u, n in self.before.counts if n > self.after[u]}

    def __str__(self) -> str:
        return f"{self.kind} {self.operator}: {self.before} -> {self.after}"


@dataclass(frozen=True, slots=True)
class Reconfiguration:
    """Changes of different operators that happen together."""

    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        """Rejects two changes of one operator."""
        names = [change.operator for change in self.changes]
        if names != sorted(set(names)):
            raise ValueError(f"need each operator once, in order, got {names}")

    @classmethod
    def between(cls, current: Deployment, wanted: Deployment) -> Self:
        """The changes between two deployments of the same operators."""
        before, after = dict(current.items()), dict(wanted.items())
        if before.keys() != after.keys():
            raise ValueError(f"these deploy different operators: {sorted(before.keys() ^ after.keys())}")
        differing = (name for name in before if before[name] != after[name])
        return cls(tuple(Change(name, before[name], after[name]) for name in differing))

    def apply(self, current: Deployment) -> Deployment:
        """The deployment after the changes; each must start from the current replicas of its operator."""
        placed = dict(current.items())
        for change in self.changes:
            if placed.get(change.operator) != change.before:
                raise ValueError(f"{change} does not start from {placed.get(change.operator)}")
            placed[change.operator] = change.after
        return Deployment.of(placed)

    def __bool__(self) -> bool:
        """Whether anything changes at all."""
        return bool(self.changes)

    def __str__(self) -> str:
        return "; ".join(str(change) for change in self.changes) or "nothing changes"
