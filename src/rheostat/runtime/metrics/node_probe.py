"""Probe of nodes: asks every node once per period for its usage, its round trip and the states of its instances."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from random import Random

from rheostat.errors import RuntimeFault
from rheostat.model.network.coordinates import Coordinate
from rheostat.model.observation import Subject
from rheostat.runtime.metrics.round_trips import CONTROLLER, RoundTrip, delays_ms, folded
from rheostat.runtime.nodes.node_port import NodePort
from rheostat.runtime.nodes.node_usage import Heartbeats, Usage
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.instance_spec import InstanceStatus

Figures = dict[Subject, dict[str, float]]


@dataclass(frozen=True, slots=True)
class NodeAnswers:
    """Answers of the nodes."""

    figures: Figures
    statuses: Mapping[str, InstanceStatus]
    """By instance."""
    reached: frozenset[str]
    """Nodes that answered."""


@dataclass(slots=True)
class NodeProbe:
    """Remembers the heartbeats of all nodes and where they are."""

    _heartbeats: dict[str, Heartbeats] = field(default_factory=dict)
    _usages: dict[str, Usage] = field(default_factory=dict)
    _coordinates: dict[str, Coordinate] = field(default_factory=dict)
    _random: Random = field(default_factory=lambda: Random(0))  # noqa: S311 - only breaks ties between coordinates

    def ask(
        self, blueprint: Blueprint, nodes: Mapping[str, NodePort], heartbeat_seconds: float, now_seconds: float
    ) -> NodeAnswers:
        """One round of questions. A node that does not answer is asked no more in this round."""
        figures: Figures = {}
        statuses: dict[str, InstanceStatus] = {}
        reached: set[str] = set()
        trips = _emulated(blueprint, nodes)
        self._heartbeats = {name: beats for name, beats in self._heartbeats.items() if name in nodes}
        for name, node in nodes.items():
            beats = self._heartbeats.setdefault(name, Heartbeats(now_seconds))
            try:
                took_ms, usage = node.round_trip_ms(), node.usage()
                statuses |= {status.name: status for status in node.statuses()}
            except RuntimeFault:
                beats.beat(now_seconds, in_time=False, answered=False)
            else:
                reached.add(name)
                beats.beat(now_seconds, in_time=(took_ms or 0.0) <= 1000 * heartbeat_seconds)
                figures[Subject.node(name)] = usage.figures(self._usages.get(name))
                self._usages[name] = usage
                # One in this process has no round trip worth the name.
                trips += [RoundTrip(CONTROLLER, name, took_ms)] if took_ms is not None else []
            figures.setdefault(Subject.node(name), {}).update(beats.figures(now_seconds))
        self._coordinates = folded(self._coordinates, trips, self._random)
        for (u, v), delay in delays_ms(self._coordinates, nodes).items():
            figures[Subject.link(u, v)] = {"delay_ms": delay}
        return NodeAnswers(figures, statuses, frozenset(reached))

    def ages_seconds(self, now_seconds: float) -> dict[str, float]:
        """Seconds since the last answer of every node."""
        return {name: beats.age_seconds(now_seconds) for name, beats in self._heartbeats.items()}


def _emulated(blueprint: Blueprint, nodes: Mapping[str, NodePort]) -> list[RoundTrip]:
    """Round trips of an emulated network, which stand for measured ones; none otherwise."""
    if not blueprint.settings.emulate_network:
        return []
    index, delay_ms = blueprint.infrastructure.index, blueprint.infrastructure.network.delay_ms
    pairs = combinations([name for name in nodes if name in index], 2)
    return [RoundTrip(u, v, float(delay_ms[index[u], index[v]] + delay_ms[index[v], index[u]])) for u, v in pairs]
