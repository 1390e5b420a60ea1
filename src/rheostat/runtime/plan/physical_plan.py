"""The physical plan: which queries run where, which key groups each owns, which checkpoint each goes on from."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from rheostat.model.graph.application import Application, Kind
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.fragments import Fragment, fragments
from rheostat.runtime.channels.records.key_groups import Groups, format_groups, group_range, parse_groups
from rheostat.runtime.plan.group_ownership import groups_of, least_movement


@dataclass(frozen=True, slots=True)
class Instance:
    """A fragment on a node."""

    operators: tuple[str, ...]
    node: str
    replicas: int
    groups: Groups
    """Key groups of its input that it owns; none if it is a source."""
    number: int
    """Counts all instances ever planned: no two have the same checkpoint."""
    start: tuple[str, ...] = ()
    """Where it begins to read each input, if its checkpoint does not say."""
    epochs_before: int = 0
    """Epochs its producer had before this instance: a later one means that it has run already."""
    producer: str = ""
    """Name under which it writes; it keeps it when it is recovered elsewhere."""

    @property
    def head(self) -> str:
        """The operator that takes the input."""
        return self.operators[0]

    @property
    def tail(self) -> str:
        """The operator that gives the output."""
        return self.operators[-1]

    @property
    def name(self) -> str:
        """Unique at any moment."""
        return f"{self.head}@{self.node}"

    def does_the_same_as(self, other: "Instance") -> bool:
        """Whether one can stay in the place of the other, untouched."""
        return (self.operators, self.node, self.replicas, self.groups) == (
            other.operators,
            other.node,
            other.replicas,
            other.groups,
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "groups": format_groups(self.groups) if self.groups else ""}

    @classmethod
    def from_dict(cls, whole: Mapping[str, Any]) -> "Instance":
        """What `to_dict` gave."""
        groups = parse_groups(whole["groups"]) if whole["groups"] else frozenset()
        lists = {name: tuple(whole[name]) for name in ("operators", "start")}
        return cls(**{**whole, **lists, "groups": groups})


@dataclass(frozen=True, slots=True)
class PhysicalPlan:
    """Everything that should run."""

    deployment: Deployment
    instances: tuple[Instance, ...]
    counted: int = 0
    """Instances planned so far."""
    parked: Mapping[str, str] = field(default_factory=dict)
    """Where reading of a channel ended that is inside a fragment now: it goes on there if the fragment is cut again."""

    def with_operator(self, operator: str) -> tuple[Instance, ...]:
        """The instances of the fragment an operator is in."""
        return tuple(instance for instance in self.instances if operator in instance.operators)

    def with_head(self, operator: str) -> tuple[Instance, ...]:
        """The instances of the fragment an operator begins."""
        return tuple(instance for instance in self.instances if instance.head == operator)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for the journal."""
        return {
            "deployment": {name: dict(replicas.counts) for name, replicas in self.deployment.items()},
            "instances": [instance.to_dict() for instance in self.instances],
            "counted": self.counted,
            "parked": dict(self.parked),
        }

    @classmethod
    def from_dict(cls, whole: Mapping[str, Any]) -> "PhysicalPlan":
        """What `to_dict` gave."""
        instances = tuple(Instance.from_dict(part) for part in whole["instances"])
        return cls(Deployment.of(whole["deployment"]), instances, whole["counted"], dict(whole["parked"]))


def physical_plan(
    application: Application, deployment: Deployment, key_groups: int, previous: PhysicalPlan | None = None
) -> PhysicalPlan:
    """The plan of a deployment. What need not change is taken over from the previous plan as it is."""
    counted = previous.counted if previous else 0
    planned: list[Instance] = []
    for fragment in fragments(application, deployment):
        for wanted in _instances(application, fragment, key_groups, previous):
            known = (
                next((old for old in previous.instances if old.does_the_same_as(wanted)), None) if previous else None
            )
            if known is None:
                counted += 1
                known = replace(wanted, number=counted)
            planned.append(known)
    return PhysicalPlan(deployment, tuple(planned), counted, dict(previous.parked) if previous else {})


def retired_instances(old: PhysicalPlan, new: PhysicalPlan) -> tuple[Instance, ...]:
    """The instances of one plan that another plan does not have, by their numbers."""
    kept = {instance.number for instance in new.instances}
    return tuple(instance for instance in old.instances if instance.number not in kept)


def _instances(
    application: Application, fragment: Fragment, key_groups: int, previous: PhysicalPlan | None
) -> Sequence[Instance]:
    replicas = {f"{fragment.head}@{node}": count for node, count in fragment.replicas.counts}
    nodes = {f"{fragment.head}@{node}": node for node in fragment.replicas}
    is_source = application.by_name[fragment.head].kind is Kind.SOURCE
    ownership = (
        {} if is_source else least_movement(_owners(application, fragment, key_groups, previous), replicas, key_groups)
    )
    return [
        Instance(
            fragment.operators,
            node,
            replicas[name],
            groups_of(ownership, name),
            0,
            producer=f"{fragment.tail}@{node}",
        )
        for name, node in nodes.items()
    ]


def _owners(
    application: Application, fragment: Fragment, key_groups: int, previous: PhysicalPlan | None
) -> dict[int, str]:
    """Who owns the groups now, in the names of the new instances: who has the state, else who reads the input."""
    if previous is None:
        return {}
    stateful = [name for name in fragment.operators if application.by_name[name].is_stateful]
    old = previous.with_operator(stateful[0]) if stateful else previous.with_head(fragment.head)
    return {
        group: f"{fragment.head}@{instance.node}" for instance in old for group in state_groups(instance, key_groups)
    }


def state_groups(instance: Instance, key_groups: int) -> Groups:
    """The groups whose state an instance has: all, if it reads no channel but a source."""
    return instance.groups or group_range(key_groups)
