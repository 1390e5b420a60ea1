"""A world in which nothing happens but what a test says: every operator has so much work to do, and nodes so much."""

from dataclasses import dataclass, field, replace

from rheostat.control.history.journal import MemoryJournal
from rheostat.control.loop.clocks import VirtualClock
from rheostat.control.loop.ports import Done
from rheostat.control.setup.factory import World
from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.latency import MM1
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.model.observation import Sample, Subject

APPLICATION = Application(
    "words",
    (
        Operator("source", Kind.SOURCE, rate_tps=100, latency=MM1(1000), pin="n0"),
        Operator("split", max_replicas=4, latency=MM1(100)),
        Operator("count", Kind.STATEFUL, key=("word",), max_replicas=6, latency=MM1(100)),
    ),
    (Stream("source", "split"), Stream("split", "count", selectivity=2.0)),
)
START = Deployment.single({"source": "n0", "split": "n1", "count": "n2"})


def nodes(count=5, resources=2.0, region=""):
    members = tuple(Node(f"n{i}", resources, region=region) for i in range(count))
    return Infrastructure("cluster", members)


@dataclass
class StillWorld:
    """Probe, actuator and provider in one; time is a virtual clock that changes move on."""

    deployed: Deployment = START
    at: Infrastructure = field(default_factory=nodes)
    application: Application = APPLICATION
    work: dict[str, float] = field(default_factory=lambda: {"source": 0.1, "split": 0.5, "count": 0.5})
    """How many replicas an operator would keep busy all the time; missing is not measured."""
    cpu: dict[str, float] = field(default_factory=dict)
    rate_tps: float | None = 100.0
    response_ms: float | None = 150.0
    refuses: object = None
    """The effect of every change, if it is not done."""
    downtime_seconds: float = 2.0
    clock: VirtualClock = field(default_factory=VirtualClock)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    changes: list = field(default_factory=list)
    offers: tuple[Node, ...] = (Node("small", 1.0), Node("large", 8.0))
    coming: list = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)

    def samples(self):
        now = self.clock.now_seconds()
        figures = {}
        for name, work in self.work.items():
            replicas = self.deployed[name]
            busy = {"utilization": work / len(replicas)}
            latency = {} if work >= len(replicas) else {"latency_ms": 10.0 / (1 - work / len(replicas))}
            rate = {} if self.rate_tps is None else {"input_rate": self.rate_tps}
            figures[Subject.operator(name)] = {**busy, **latency, **rate, "true_rate": 100.0, "backlog": 0.0}
            for node in replicas:
                figures[Subject.instance(name, node)] = busy
        for node in self.at.nodes:
            figures[Subject.node(node.name)] = {"cpu": self.cpu.get(node.name, 0.5)}
        if self.response_ms is not None:
            figures[Subject.application(self.application.name)] = {"response_mean_ms": self.response_ms}
        return [Sample(subject, now, values) for subject, values in figures.items()]

    def deployment(self):
        return self.deployed

    def infrastructure(self):
        return self.at

    def apply(self, change):
        self.changes.append(change)
        if self.refuses is not None:
            return self.refuses
        self.deployed = change.apply(self.deployed)
        self.clock.wait_until(self.clock.now_seconds() + self.downtime_seconds)
        return Done(self.downtime_seconds)

    def kinds(self):
        return self.offers

    def start(self, kind, region):
        template = next(node for node in self.offers if node.name == kind)
        name = f"{kind}{len(self.at.nodes) + len(self.coming)}"
        self.coming.append(replace(template, name=name, region=region))
        return name

    def failure(self, node):
        return self.failures.get(node)

    def stop(self, node):
        assert node not in self.deployed.nodes()
        self.at = replace(self.at, nodes=tuple(each for each in self.at.nodes if each.name != node))

    def arrive(self):
        """All nodes that were asked for are up."""
        self.at = replace(self.at, nodes=(*self.at.nodes, *self.coming))
        self.coming = []

    def lose(self, node):
        """A node is gone; what ran there is still deployed."""
        self.at = replace(self.at, nodes=tuple(each for each in self.at.nodes if each.name != node))

    def world(self):
        """For `build`."""
        return World(self.application, self, self, self.clock, self.journal, self)

    def entries(self, kind):
        return [entry.facts for _, entry in self.journal.read(kind=kind)]
