"""Collector of metrics: asks nodes and channels once per period, and makes samples of the answers.

One pass per period, on demand: `samples` is empty until the period is over. Figures that could not be measured are left
out; stalls, lags and silent nodes become symptoms.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from rheostat.errors import RuntimeFault
from rheostat.model.graph.application import RESULTS_SINK, Kind
from rheostat.model.observation import Sample, Subject
from rheostat.model.quality.capacity_use import used_capacity
from rheostat.runtime.metrics.batch_cost import BatchCost
from rheostat.runtime.metrics.channel_probe import ChannelProbe, Hops
from rheostat.runtime.metrics.instance_rates import IDLE_MS, InstanceRates, MeasuredRates, OperatorChain, together
from rheostat.runtime.metrics.node_probe import Figures, NodeAnswers, NodeProbe
from rheostat.runtime.metrics.response_times import ResponseTimes
from rheostat.runtime.metrics.stalls import InstanceState, StallPatience, StallWatch, Symptom, silent_nodes
from rheostat.runtime.nodes.node_port import NodePort
from rheostat.runtime.plan.blueprint import Blueprint
from rheostat.runtime.plan.instance_spec import InstanceStatus
from rheostat.runtime.plan.physical_plan import Instance, PhysicalPlan

BUSYNESS = ("utilization", "own_utilization")
FAR_BEHIND_SECONDS = 5.0
"""By what has waited for so long it is known well enough what arrives."""


@dataclass(frozen=True, slots=True)
class CollectorSettings:
    """Periods and patience of the collector."""

    period_seconds: float = 5.0
    """Time between two samples of everything. Spark remembers a hundred batches: what is older is not counted."""
    heartbeat_seconds: float = 1.0
    """A node that answers within this answers in time."""
    silence_seconds: float = 10.0
    """A node that has not answered for so long is silent."""
    patience: StallPatience = StallPatience()

    def __post_init__(self) -> None:
        """Refuses periods that are none."""
        if min(self.period_seconds, self.heartbeat_seconds, self.silence_seconds) <= 0:
            raise ValueError(f"periods must be > 0 s, got {self}")


@dataclass(slots=True)
class _Period:
    """Measurements of one period, on their way to samples."""

    now: float
    figures: Figures
    states: list[InstanceState] = field(default_factory=list)
    responses: list[ResponseTimes] = field(default_factory=list)
    hops: dict[Subject, Hops] = field(default_factory=dict)
    _operators: dict[str, list[Mapping[str, float]]] = field(default_factory=dict)
    _streams: dict[tuple[Subject, str], float] = field(default_factory=dict)
    _parts: Counter[tuple[Subject, str]] = field(default_factory=Counter)

    def add(self, subject: Subject, figures: Mapping[str, float]) -> None:
        """Figures of one thing as they are."""
        self.figures.setdefault(subject, {}).update(figures)

    def add_instance(self, operator: str, node: str, figures: Mapping[str, float]) -> None:
        """Figures of an operator on a node, which are a part of the operator's."""
        self.add(Subject.instance(operator, node), figures)
        self._operators.setdefault(operator, []).append(figures)

    def add_stream(self, source: str, target: str, figure: str, value: float) -> None:
        """Adds the part that one instance contributes to a stream."""
        key = (Subject.stream(source, target), figure)
        self._streams[key] = self._streams.get(key, 0.0) + value
        self._parts[key] += 1

    def samples(self, instances: Mapping[str, int]) -> list[Sample]:
        """Everything; sums only where every instance of the operator in question has told its part."""
        for name, parts in self._operators.items():
            self.add(Subject.operator(name), together(parts))
        for (stream, figure), value in self._streams.items():
            end = stream.names[0] if figure == "output_rate" else stream.names[1]
            if self._parts[stream, figure] == instances[end]:
                self.add(stream, {figure: value})
        for subject, hops in self.hops.items():
            if hops.mean_ms is not None:
                self.add(subject, {"hop_ms": hops.mean_ms})
        return [Sample(subject, self.now, figures) for subject, figures in sorted(self.figures.items()) if figures]


def more_to_do(read_tps: float, arriving_tps: float) -> float:
    """Ratio of arrival rate to read rate, at least 1.

    >>> more_to_do(5.0, 25.0), more_to_do(25.0, 24.0), more_to_do(0.0, 24.0)
    (5.0, 1.0, 1.0)
    """
    return max(1.0, arriving_tps / read_tps) if read_tps > 0 else 1.0


class MetricsCollector:
    """Collector for one application on its nodes."""

    def __init__(
        self,
        blueprint: Blueprint,
        nodes: Mapping[str, NodePort],
        settings: CollectorSettings | None = None,
        place: Callable[[Instance], str] = lambda instance: instance.node,
        concerns: Callable[[Instance], bool] | None = None,
    ) -> None:
        """`concerns` selects instances, without results of sinks: for managers with a local view."""
        self.settings = settings or CollectorSettings()
        self.symptoms: tuple[Symptom, ...] = ()
        """Symptoms as of the last samples."""
        self.blueprint, self.nodes, self._place = blueprint, nodes, place
        self._concerns = concerns
        self._last: float | None = None
        self._flows: dict[int, InstanceRates] = {}
        self._costs: dict[tuple[str, ...], BatchCost] = {}
        """Costs of batches by chain, for its next instances."""
        self._cpu_seconds: dict[tuple[str, str], float] = {}
        """Processor time in each operator's own code on each node since the start."""
        self._node_watch, self._channels, self._watch = NodeProbe(), ChannelProbe(), StallWatch()

    def samples(self, plan: PhysicalPlan, now_seconds: float) -> list[Sample]:
        """Samples since the last call; empty until the period is over."""
        if self._last is not None and now_seconds - self._last < self.settings.period_seconds:
            return []
        since = now_seconds - self.settings.period_seconds if self._last is None else self._last
        self._last = now_seconds
        answers = self._node_watch.ask(self.blueprint, self.nodes, self.settings.heartbeat_seconds, now_seconds)
        period = _Period(now_seconds, answers.figures)
        used = used_capacity(self.blueprint.application, plan.deployment)
        for name in self.nodes:
            period.add(Subject.node(name), {"slots_used": used.get(name, 0.0)})
        self._look_at_instances(period, plan, answers)
        self._add_cpu_seconds(period)
        if self._concerns is None:
            self._look_at_results(period, since * 1000)
        self.symptoms = self._find_symptoms(period)
        return period.samples(Counter(name for instance in plan.instances for name in instance.operators))

    def _look_at_instances(self, period: _Period, plan: PhysicalPlan, answers: NodeAnswers) -> None:
        instances = [i for i in plan.instances if self._concerns is None or self._concerns(i)]
        self._channels.look({c.address: c for i in instances for c in self.blueprint.inputs_of(i)}.values())
        for flow in self._flows.values():
            if (work := flow.work()) is not None and work.is_significant:
                flow.before = self._costs[flow.chain.operators] = work
        self._flows = {
            i.number: self._flows.get(i.number) or InstanceRates(self._chain(i), self._costs.get(i.operators))
            for i in instances
        }
        nodes = {instance.producer: instance.node for instance in plan.instances}
        for instance in instances:
            reached = self._place(instance) in answers.reached
            status = answers.statuses.get(instance.name, InstanceStatus(instance.name, "stopped"))
            flowed = self._take_reports(period, instance, status) if reached else MeasuredRates()
            waits = self._take_backlog(period, instance)
            more, lag_seconds = self._behind(instance, flowed, waits)
            arriving = waits.pop("arriving", 0.0)
            for name in instance.operators:
                figures = {**flowed.figures.get(name, {}), **(waits if name == instance.head else {})}
                if lag_seconds >= FAR_BEHIND_SECONDS:
                    # One that has just come to a node that was never used reads little: it looks idle, and is not.
                    figures |= {busy: more * figures[busy] for busy in BUSYNESS if busy in figures}
                # What operators that do not keep up read is what they can do, not what they would have to.
                if name == instance.head:
                    figures |= {"input_rate": arriving} if arriving > figures.get("input_rate", 0.0) else {}
                elif "input_rate" in figures:
                    figures["input_rate"] *= more
                if waits.get("backlog") and not flowed.batches:
                    # No batch has ended, so nothing was measured; but what waits takes as long as it has waited.
                    figures |= self._flows[instance.number].part_of(name, 1000 * waits["lag_seconds"])
                period.add_instance(name, instance.node, figures)
            self._add_rates(period, flowed)
            for name, seconds in flowed.cpu_seconds.items():
                self._cpu_seconds[name, instance.node] = self._cpu_seconds.get((name, instance.node), 0.0) + seconds
            self._add_hops(period, instance, flowed, nodes)
            if reached:
                subject = Subject.instance(instance.head, instance.node)
                behind = waits or flowed.figures.get(instance.head, {})
                state = InstanceState(subject, status, int(behind.get("backlog", 0)), behind.get("lag_seconds", 0.0))
                period.states.append(state)

    def _behind(self, instance: Instance, flowed: MeasuredRates, waits: Mapping[str, float]) -> tuple[float, float]:
        """Ratio of arrival rate to read rate, and seconds that the oldest row has waited."""
        if self.blueprint.application.inputs[instance.head]:
            return more_to_do(flowed.read_tps, waits["arriving"]), waits["lag_seconds"]
        source = flowed.figures.get(instance.head, {})
        return more_to_do(flowed.read_tps, source.get("input_rate", 0.0)), source.get("lag_seconds", 0.0)

    def _take_reports(self, period: _Period, instance: Instance, status: InstanceStatus) -> MeasuredRates:
        flow = self._flows[instance.number]
        try:
            reports = self.nodes[self._place(instance)].progress(instance.name, flow.last_batch)
        except RuntimeFault:
            return MeasuredRates()
        # Between two triggers every instance is idle; one that has done nothing for longer has nothing to do.
        quiet = max(self.settings.period_seconds, 2 * self.blueprint.settings.trigger_ms / 1000)
        is_idle = status.state == "running" and status.planned == status.committed
        return flow.take(reports, period.now - quiet if is_idle else None)

    def _take_backlog(self, period: _Period, instance: Instance) -> dict[str, float]:
        """Backlog and lag of the head, which alone reads channels, and what arrives if it is behind."""
        rows, lag, arriving = 0, 0.0, 0.0
        streams = self.blueprint.application.inputs[instance.head]
        for stream, channel in zip(streams, self.blueprint.inputs_of(instance), strict=True):
            found = self._channels.waiting(channel, instance)
            rows, lag = rows + found.rows, max(lag, found.lag_seconds(period.now))
            arriving += found.arriving_tps(period.now) or 0.0
            period.add_stream(stream.source, stream.target, "backlog", found.rows)
        return {"backlog": float(rows), "lag_seconds": lag, "arriving": arriving} if streams else {}

    def _add_cpu_seconds(self, period: _Period) -> None:
        """Adds processor time since the start, also on nodes that an operator has left."""
        for name in {operator for operator, _ in self._cpu_seconds}:
            on = {node: used for (operator, node), used in self._cpu_seconds.items() if operator == name}
            period.add(Subject.operator(name), {"cpu_seconds": sum(on.values())})
            for node, used in on.items():
                period.add(Subject.instance(name, node), {"cpu_seconds": used})

    def _add_rates(self, period: _Period, flowed: MeasuredRates) -> None:
        for (source, target), rate in flowed.received.items():
            period.add_stream(source, target, "input_rate", rate)
        for name, rate in flowed.emitted.items():
            for stream in self.blueprint.application.outputs[name]:
                period.add_stream(name, stream.target, "output_rate", rate)

    def _add_hops(self, period: _Period, instance: Instance, flowed: MeasuredRates, nodes: Mapping[str, str]) -> None:
        streams = self.blueprint.application.inputs[instance.head]
        writes_channels = bool(self.blueprint.outputs_of(instance))
        for number, channel in enumerate(self.blueprint.inputs_of(instance)):
            passed = self._channels.passed(channel, flowed.batches)
            for producer, hops in passed.hops.items():
                _count(period.hops, Subject.stream(streams[number].source, streams[number].target), hops)
                if nodes.get(producer, instance.node) != instance.node:
                    _count(period.hops, Subject.link(nodes[producer], instance.node), hops)
            if not writes_channels:
                # A sink of the user's: what it consumed has arrived.
                period.responses.append(passed.responses)

    def _look_at_results(self, period: _Period, since_ms: float) -> None:
        for operator in self.blueprint.application.operators:
            channel = self.blueprint.results(operator.name)
            if operator.kind is Kind.SINK and channel.exists():
                period.responses.append(self._channels.results(channel, since_ms))
        subject = Subject.application(self.blueprint.application.name)
        period.add(subject, ResponseTimes.merged(period.responses).figures())

    def _find_symptoms(self, period: _Period) -> tuple[Symptom, ...]:
        self._watch.patience = self.settings.patience
        ages = self._node_watch.ages_seconds(period.now)
        silent: Iterable[Symptom] = silent_nodes(ages, period.now, self.settings.silence_seconds)
        return (*silent, *self._watch.look(period.states, period.now))

    def _chain(self, instance: Instance) -> OperatorChain:
        application = self.blueprint.application
        stateful = [name for name in instance.operators if application.by_name[name].is_stateful]
        sources = (stream.source for stream in application.inputs[instance.head])
        channels = (channel.spec.name for channel in self.blueprint.inputs_of(instance))
        return OperatorChain(
            instance.operators,
            instance.replicas,
            dict(zip(sources, channels, strict=True)),
            stateful[0] if stateful else "",
            max(IDLE_MS, 2.0 * self.blueprint.settings.trigger_ms),
            ends_in_results=application.by_name[instance.operators[-1]].code == RESULTS_SINK,
        )


def _count(hops: dict[Subject, Hops], subject: Subject, more: Hops) -> None:
    hops[subject] = hops.get(subject, Hops()) + more
