"""Deployment: a multiset of nodes per operator, the 𝒰 of EDRP 4.1.

Both values are hashable, ordered and print as the papers write them: `{u:2, v:1}`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import total_ordering
from typing import Self

from rheostat.errors import Mistake
from rheostat.model.graph.application import Application
from rheostat.model.graph.flow_order import did_you_mean


@total_ordering
@dataclass(frozen=True, slots=True)
class Replicas:
    """Multiset of nodes: the number of replicas of one operator on each node.

    >>> Replicas.of({"v": 1, "u": 2})
    {u:2, v:1}
    >>> Replicas.on("u", "v", "u") == Replicas.of({"u": 2, "v": 1})
    True
    """

    counts: tuple[tuple[str, int], ...]
    """Nodes with their numbers of replicas, sorted by node name, without zeros."""

    def __post_init__(self) -> None:
        """Rejects anything but a multiset of at least one node in canonical form."""
        nodes = [node for node, _ in self.counts]
        if nodes != sorted(set(nodes)) or not self.counts:
            raise ValueError(f"need each node once, in order, and at least one: use Replicas.of, got {self.counts}")
        if any(count < 1 for _, count in self.counts):
            raise ValueError(f"every node needs at least one replica, got {self.counts}")

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Self:
        """Replicas from node -> number of replicas; zeros are dropped."""
        return cls(tuple(sorted((node, count) for node, count in counts.items() if count != 0)))

    @classmethod
    def on(cls, *nodes: str) -> Self:
        """Replicas from a list of nodes, one entry per replica."""
        return cls.of(Counter(nodes))

    def __len__(self) -> int:
        """|𝒰|: the number of replicas."""
        return sum(count for _, count in self.counts)

    def __getitem__(self, node: str) -> int:
        """𝒰(u): replicas on this node."""
        return next((count for name, count in self.counts if name == node), 0)

    def __iter__(self) -> Iterator[str]:
        """The nodes, each once."""
        return (node for node, _ in self.counts)

    def __contains__(self, node: object) -> bool:
        return any(name == node for name, _ in self.counts)

    def __lt__(self, other: "Replicas") -> bool:
        return self.counts < other.counts

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{node}:{count}" for node, count in self.counts) + "}"

    def plus(self, node: str, count: int = 1) -> "Replicas":
        """Replicas with `count` more (or, negative, fewer) on a node."""
        return Replicas.of({**dict(self.counts), node: self[node] + count})


@total_ordering
@dataclass(frozen=True, slots=True)
class Deployment:
    """Nodes of every operator: operator -> multiset of nodes.

    >>> Deployment.of({"split": {"n1": 2}, "count": {"n1": 1, "n2": 1}})
    count={n1:1, n2:1} split={n1:2}
    """

    placed: tuple[tuple[str, Replicas], ...]
    """Operators with their replicas, sorted by name."""

    def __post_init__(self) -> None:
        """Rejects an operator that occurs twice."""
        names = [name for name, _ in self.placed]
        if names != sorted(set(names)):
            raise ValueError(f"need each operator once, in order: use Deployment.of, got {names}")

    @classmethod
    def of(cls, placed: Mapping[str, Replicas | Mapping[str, int]]) -> Self:
        """Deployment from operator -> node -> number of replicas."""
        whole = {op: r if isinstance(r, Replicas) else Replicas.of(r) for op, r in placed.items()}
        return cls(tuple(sorted(whole.items())))

    @classmethod
    def single(cls, placed: Mapping[str, str]) -> Self:
        """Deployment of one replica each: operator -> node, the placement of ODP."""
        return cls.of({op: Replicas.on(node) for op, node in placed.items()})

    def __getitem__(self, operator: str) -> Replicas:
        for name, replicas in self.placed:
            if name == operator:
                return replicas
        raise KeyError(operator)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.placed)

    def __len__(self) -> int:
        return len(self.placed)

    def __contains__(self, operator: object) -> bool:
        return any(name == operator for name, _ in self.placed)

    def __lt__(self, other: "Deployment") -> bool:
        return self.placed < other.placed

    def __repr__(self) -> str:
        return " ".join(f"{name}={replicas}" for name, replicas in self.placed)

    def items(self) -> tuple[tuple[str, Replicas], ...]:
        """Operators with their replicas."""
        return self.placed

    def nodes(self) -> tuple[str, ...]:
        """Names of all nodes that hold a replica, sorted."""
        return tuple(sorted({node for _, replicas in self.placed for node in replicas}))

    def having(self, operator: str, replicas: Replicas) -> "Deployment":
        """The same deployment with other replicas for one operator."""
        return Deployment.of({**dict(self.placed), operator: replicas})

    def mistakes(self, application: Application, nodes: Iterable[str]) -> list[Mistake]:
        """Mistakes as a deployment of that application on those nodes; capacity is a metric, not a mistake."""
        known, found = set(nodes), []
        placed = dict(self.placed)
        for name in (op.name for op in application.operators if op.name not in placed):
            remedy = f"write {name}: {{node: replicas}}"
            found.append(Mistake(("operators",), f"operator {name!r} is not deployed", remedy))
        for name, replicas in self.placed:
            where = ("operators", name)
            operator = application.by_name.get(name)
            if operator is None:
                found.append(Mistake(where, f"there is no operator {name!r}", did_you_mean(name, application.by_name)))
                continue
            for node in replicas:
                if node not in known:
                    found.append(Mistake((*where, node), f"there is no node {node!r}", did_you_mean(node, known)))
                elif not operator.may_run_on(node):
                    allowed = operator.pin or ", ".join(operator.candidates)
                    what = f"operator {name!r} may not run on {node!r}"
                    found.append(Mistake((*where, node), what, f"it may run on: {allowed}"))
            if not operator.min_replicas <= len(replicas) <= operator.max_replicas:
                what = f"operator {name!r} has {len(replicas)} replicas"
                remedy = f"it takes {operator.min_replicas} to {operator.max_replicas}"
                found.append(Mistake(where, what, remedy))
        return found
