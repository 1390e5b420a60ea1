"""Small scenarios for the tests, and loops that drive them."""

from dataclasses import dataclass, field
from typing import Any

from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.latency import MM1
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.network.links import LinkQuality
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.simulation.load.workload import CurveWorkload
from rheostat.simulation.world.node_supply import Supply
from rheostat.simulation.world.scenario import Scenario

CHAIN = Application(
    "chain",
    (
        Operator("source", Kind.SOURCE, latency=MM1(1000)),
        Operator("work", max_replicas=8, latency=MM1(100)),
        Operator("sink", Kind.SINK, max_replicas=2, latency=MM1(2000)),
    ),
    (Stream("source", "work"), Stream("work", "sink", selectivity=2.0)),
)
"""The bottleneck serves 100 tuples/s with each replica."""
SITES = Infrastructure(
    "sites",
    tuple(Node(name, resources=8.0, region="here") for name in ("a", "b", "c")),
    default_link=LinkQuality(delay_ms=10.0),
)
KIND = Node("small", resources=2.0, price_per_hour=0.5)


def chain(workload="50", replicas=None, **others: Any) -> Scenario:
    """The chain, everything on `a` but what is said otherwise."""
    placed = {"source": {"a": 1}, "work": {"a": 1}, "sink": {"a": 1}, **(replicas or {})}
    others.setdefault("supply", Supply((KIND,), start_seconds=20, stop_seconds=5))
    others.setdefault("infrastructure", SITES)
    others.setdefault("application", CHAIN)
    return Scenario(deployment=Deployment.of(placed), workload=CurveWorkload.of(workload), **others)


def changed(world, operator, replicas):
    """The change that gives an operator these replicas."""
    current = world.deployment()
    return Reconfiguration.between(current, Deployment.of({**dict(current.items()), operator: replicas}))


def responses(world, name="response_mean_ms"):
    """What was recorded of the response time."""
    return world.recorder.recording("test").column(name)


@dataclass
class Scripted:
    """A loop that does what a script says when it is due, and remembers what it saw."""

    world: Any
    script: dict[float, Reconfiguration] = field(default_factory=dict)
    name: str = "scripted"
    period_seconds: float = 5.0
    offset_seconds: float = 0.0
    seen: list[Any] = field(default_factory=list)

    def step(self, now_seconds: float) -> None:
        self.seen += self.world.samples()
        if now_seconds in self.script:
            self.world.apply(self.script[now_seconds])
