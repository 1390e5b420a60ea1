"""Views of one application for its managers: its operators, its nodes and their free capacity, as policies take them.

The analyze part of the loops: pure look-ups over the monitor, the deployment and the infrastructure. Nodes that the
infrastructure manager has hidden are left out of every search for room.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rheostat.control.knowledge.averages import Averages
from rheostat.control.knowledge.deployment_snapshot import DeploymentSnapshot
from rheostat.model.graph.application import Application
from rheostat.model.graph.deployment import Replicas
from rheostat.model.network.resources import Infrastructure
from rheostat.model.observation import Subject
from rheostat.policies.contract.policy_views import ApplicationView, NodeView, OperatorView
from rheostat.policies.nodes.node_migration import HostView
from rheostat.policies.replicas.victims import ReplicaView


@dataclass(slots=True)
class ApplicationState:
    """State of one application as its managers know it."""

    application: Application
    monitor: Averages
    neighbours: int = 16
    """Number of nearest nodes that a local manager knows [EDF 5]."""
    by_region: bool = False
    """Whether it knows all nodes of its region instead [E2DF 4.2]."""
    response_figure: str = "response_mean_ms"
    """Response time that the application manager uses."""
    hidden: set[str] = field(default_factory=set)
    """Nodes the infrastructure manager wants back."""
    shown: frozenset[str] | None = None
    """The only nodes this application may use; None for all."""
    settled_at_seconds: float = float("-inf")
    """No manager proposes anything until then: the application starts, or a change settles."""
    settling: dict[str, float] = field(default_factory=dict)
    """The same for single operators."""
    _snapshot: DeploymentSnapshot | None = None
    _near: tuple[Infrastructure, NDArray[np.intp]] | None = None
    _cpu: dict[str, float | None] = field(default_factory=dict)

    def refresh(self, now_seconds: float) -> DeploymentSnapshot:
        """Looks again; what has not changed is not computed again."""
        if now_seconds != self.monitor.now_seconds:
            self.monitor.refresh(now_seconds)
            self._cpu.clear()
        return self.snapshot()

    def snapshot(self) -> DeploymentSnapshot:
        """Snapshot of the deployment that runs now."""
        deployment, infrastructure = self.monitor.probe.deployment(), self.monitor.probe.infrastructure()
        known = self._snapshot
        if known is None or known.deployment is not deployment or known.infrastructure is not infrastructure:
            self._snapshot = known = DeploymentSnapshot(self.application, deployment, infrastructure)
        return known

    def cpu(self, node: str) -> float | None:
        """CPU use of a node; every neighbour asks, so it is looked up once."""
        if node not in self._cpu:
            self._cpu[node] = self.monitor.value(Subject.node(node), "cpu")
        return self._cpu[node]

    def settle(self, until_seconds: float, operators: Collection[str] | None = None) -> None:
        """Lets a change (of these operators, or of everything) settle: no proposals, and no sample counts."""
        self.monitor.exclude(until_seconds, operators)
        self._cpu.clear()
        if operators is None:
            self.settled_at_seconds = max(self.settled_at_seconds, until_seconds)
        for operator in operators or ():
            self.settling[operator] = max(self.settling.get(operator, until_seconds), until_seconds)

    def unsettled_seconds(self, operator: str, now_seconds: float) -> float:
        """Seconds until an operator has settled; 0 if it has."""
        return max(0.0, self.settled_at_seconds - now_seconds, self.settling.get(operator, 0.0) - now_seconds)

    def may_use(self, node: str) -> bool:
        """Whether new replicas may go there."""
        return node not in self.hidden and (self.shown is None or node in self.shown)

    def response_ms(self) -> float | None:
        """Response time of the application."""
        return self.monitor.value(Subject.application(self.application.name), self.response_figure)

    def operator_view(self, name: str) -> OperatorView:
        """One operator."""
        operator, replicas = self.application.by_name[name], self.snapshot().replicas[name]
        subject, value = Subject.operator(name), self.monitor.value
        rate = value(subject, "input_rate")
        if rate is None and not self.application.inputs[name]:
            rate = value(subject, "output_rate")
        return OperatorView(
            name,
            self.monitor.now_seconds,
            len(replicas),
            operator.min_replicas,
            operator.max_replicas,
            self._of_replicas(name, replicas, "utilization"),
            rate,
            value(subject, "latency_ms"),
            value(subject, "true_rate"),
            value(subject, "backlog"),
        )

    def silences(self, view: OperatorView) -> dict[str, float | None]:
        """Seconds since the last value of each unknown figure of an operator; None for a figure never measured."""
        figures = {
            "utilization": bool(view.utilizations),
            "input_rate": view.input_rate_tps is not None,
            "latency_ms": view.latency_ms is not None,
        }
        subject = Subject.operator(view.operator)
        return {name: self.monitor.silence(subject, name) for name, known in figures.items() if not known}

    def busy_replicas(self, name: str) -> float | None:
        """Number of replicas that an operator alone would keep fully busy; None if that is unknown."""
        replicas = self.snapshot().replicas[name]
        alone = self._of_replicas(name, replicas, "own_utilization")
        return sum(alone) if alone else None

    def _of_replicas(self, name: str, replicas: Replicas, figure: str) -> tuple[float, ...]:
        """A figure of every replica: its node's, or the operator's where the node has none."""
        whole = self.monitor.value(Subject.operator(name), figure)
        found: list[float] = []
        for node, count in replicas.counts:
            own = self.monitor.value(Subject.instance(name, node), figure)
            known = whole if own is None else own
            if known is None:
                return ()
            found += [known] * count
        return tuple(found)

    def application_view(self) -> ApplicationView:
        """All operators, and how much of what one receives the next one gets."""
        views = tuple(self.operator_view(name) for name in self.application.flow)
        rates = {view.operator: view.input_rate_tps for view in views}
        streams = tuple(
            (stream.source, stream.target, self._selectivity(stream.source, stream.target, rates[stream.source]))
            for stream in self.application.streams
        )
        return ApplicationView(self.monitor.now_seconds, views, streams, self.response_ms())

    def _selectivity(self, source: str, target: str, received_tps: float | None) -> float:
        """Selectivity of a stream: measured, or else declared."""
        flows = self.monitor.value(Subject.stream(source, target), "output_rate")
        if flows is not None and received_tps:
            return flows / received_tps
        rates = self.application.rates
        declared = rates.operators[source]
        stream = next(s for s in self.application.outputs[source] if s.target == target)
        return rates.streams[source, target] / declared if declared > 0 else stream.selectivity

    def node_views(self, operator: str) -> tuple[NodeView, ...]:
        """Nodes an operator could grow to, as seen from where most of it runs; itself included."""
        snapshot = self.snapshot()
        replicas = snapshot.replicas[operator]
        home = max(replicas.counts, key=lambda pair: (pair[1], pair[0]))[0]
        declared = self.application.by_name[operator]
        return tuple(
            self._node_view(node, delay, operator)
            for node, delay in self._nearest(home)
            if declared.may_run_on(node) and self.may_use(node)
        )

    def _node_view(self, node: str, delay_ms: float, operator: str) -> NodeView:
        snapshot = self.snapshot()
        busy = self.cpu(node)
        return NodeView(node, delay_ms, snapshot.room(node, operator), busy, snapshot.replicas[operator][node])

    def _nearest(self, home: str) -> list[tuple[str, float]]:
        """The nodes a manager on `home` knows, nearest first; from a node that is lost nothing is far."""
        infrastructure = self.snapshot().infrastructure
        if home not in infrastructure.index:
            return [(node.name, 0.0) for node in infrastructure.nodes[: self.neighbours]]
        if self.by_region:
            region = infrastructure.nodes[infrastructure.index[home]].region
            return [(node.name, 0.0) for node in infrastructure.nodes if node.region == region]
        if self._near is None or self._near[0] is not infrastructure:
            order = np.argsort(infrastructure.network.delay_ms, axis=1, kind="stable")
            self._near = infrastructure, order[:, : max(self.neighbours, 1)]
        here = infrastructure.index[home]
        nodes, delays = infrastructure.nodes, infrastructure.network.delay_ms[here]
        return [(nodes[there].name, float(delays[there])) for there in self._near[1][here]]

    def replica_views(self, operator: str) -> tuple[ReplicaView, ...]:
        """Every replica of an operator, as one who has to choose sees it."""
        replicas = self.snapshot().replicas[operator]
        busy = self._of_replicas(operator, replicas, "utilization")
        nodes = [node for node, count in replicas.counts for _ in range(count)]
        return tuple(ReplicaView(node, busy[i] if busy else None, self.cpu(node)) for i, node in enumerate(nodes))

    def host_view(self, node: str) -> HostView:
        """A node and what of it could move, for its node manager."""
        snapshot = self.snapshot()
        hosted = tuple(
            (operator, count)
            for operator, count in sorted(snapshot.hosted.get(node, {}).items())
            if self.application.by_name[operator].pin is None
        )
        busy = self.cpu(node)
        return HostView(node, self.monitor.now_seconds, busy, hosted, self._neighbours_of(node))

    def _neighbours_of(self, node: str) -> tuple[NodeView, ...]:
        snapshot = self.snapshot()
        views = []
        for other, delay in self._nearest(node):
            if other != node and self.may_use(other):
                free = int(snapshot.capacities[other] - snapshot.used[other] + 1e-9)
                busy = self.cpu(other)
                views.append(NodeView(other, delay, max(0, free), busy, len(snapshot.hosted.get(other, {}))))
        return tuple(views)
