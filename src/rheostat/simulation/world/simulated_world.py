"""Simulated world behind the ports: a clock, a probe, an actuator and a provider of nodes.

Waiting advances time: `wait_until` computes everything that happens until then. A change pauses the changed operators
for as long as the downtime model says, and `apply` returns when it is done, as the runtime's does: time has passed
then, and tuples that arrived meanwhile wait.
"""

from collections.abc import Collection, Sequence
from math import floor

import numpy as np

from rheostat.control.loop.effects import effect_parts
from rheostat.control.loop.ports import Done, Effect, Refused, RolledBack
from rheostat.model.downtime.downtime_model import CurrentDeployment, downtime_seconds, operator_downtime_seconds
from rheostat.model.graph.deployment import Deployment
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.model.observation import Sample
from rheostat.report.recording import Note, Recorder
from rheostat.simulation.queues.interval_flow import Interval, IntervalFlow
from rheostat.simulation.queues.lookahead import STRETCH_SECONDS, Ahead
from rheostat.simulation.queues.measurement import Measurement, measure
from rheostat.simulation.queues.noise import MeasurementNoise, RateNoise
from rheostat.simulation.queues.queue_formulas import Values
from rheostat.simulation.queues.server_layout import ServerLayout
from rheostat.simulation.queues.servers import Servers
from rheostat.simulation.world.node_supply import SimulatedNodes
from rheostat.simulation.world.sampler import Sampler
from rheostat.simulation.world.scenario import Scenario, reasons_against

LONGEST = 3600
"""Greatest number of steps computed at once; more would only take more memory."""
_TINY = 1e-9
"""Moments within this distance count as equal."""


class SimulatedWorld:
    """One run of a scenario, deterministic by seed."""

    def __init__(self, scenario: Scenario, seed: int = 0) -> None:
        self.scenario = scenario
        application = scenario.application
        servers = Servers(application.operators, scenario.behaviours)
        self._nodes = SimulatedNodes(scenario.infrastructure, scenario.supply, scenario.failures)
        layout = ServerLayout(
            application, scenario.infrastructure, scenario.deployment, servers, frozenset(), scenario.hop_ms
        )
        self._flow, self._sampler = IntervalFlow(layout), Sampler(layout)
        self._rates = RateNoise(scenario.noise, scenario.step_seconds, seed)
        self._errors = MeasurementNoise(scenario.noise, seed)
        self._now = self._downtime = 0.0
        self._ahead: Ahead | None = None
        self._pending: Measurement | None = None
        self._samples: list[Sample] = []
        self.recorder = Recorder([operator.name for operator in application.operators])

    def now_seconds(self) -> float:
        """Seconds since the start of the run."""
        return self._now

    def wait_until(self, seconds: float) -> None:
        """Advances time."""
        self._pass_time(seconds, ())

    def samples(self) -> Sequence[Sample]:
        """Samples since the last call."""
        taken, self._samples = self._samples, []
        return taken

    def deployment(self) -> Deployment:
        """The current deployment, including lost nodes until the replicas on them are moved."""
        return self._flow.layout.deployment

    def infrastructure(self) -> Infrastructure:
        """The nodes that are up."""
        return self._nodes.view()

    def kinds(self) -> Sequence[Node]:
        """Available kinds of nodes."""
        return self._nodes.kinds()

    def start(self, kind: str, region: str) -> str:
        """Requests a node; it is up after the supply's start time."""
        name = self._nodes.start(kind, region, self._now)
        self._rearrange(self.deployment())
        return name

    def failure(self, node: str) -> str | None:  # noqa: ARG002 - the protocol
        """None: a simulated node always starts."""
        return None

    def stop(self, node: str) -> None:
        """Releases an empty node."""
        if node in self.deployment().nodes():
            raise ValueError(f"node {node!r} is not empty: move its replicas away first")
        self._nodes.stop(node, self._now)
        self.recorder.note(Note(self._now, "node", f"node {node} is released"))
        self._rearrange(self.deployment())

    def apply(self, change: Reconfiguration) -> Effect:
        """Carries out a change; time passes, and tuples wait meanwhile."""
        began = self._now
        effect = self._applied(change) if change else Done(0.0)
        parts = effect_parts(effect)
        if change:
            told = f"{change} ({parts.reason})" if parts.reasons else str(change)
            paused = self._now - began if isinstance(effect, RolledBack) else parts.downtime_seconds
            self.recorder.note(Note(began, parts.outcome, told, "", paused))
        return effect

    @property
    def downtime_seconds(self) -> float:
        """Total time for which the application was paused."""
        return self._downtime

    def _applied(self, change: Reconfiguration) -> Effect:
        current, layout = self.deployment(), self._flow.layout
        try:
            wanted = change.apply(current)
        except ValueError as wrong:
            return Refused((str(wrong),))
        if reasons := self._forbidden(change, wanted):
            return Refused(reasons)
        pauses = self._pauses(CurrentDeployment(layout.application, layout.infrastructure, current), wanted)
        began, longest = self._now, max(pauses.values())
        touched = frozenset(node for part in change.changes for node in (*part.before, *part.after))
        failure = self._nodes.first_failure(touched & self._nodes.up, began + longest)
        end = began + longest if failure is None else failure.at_seconds
        for moment in sorted({began + seconds for seconds in pauses.values()} | {end}):
            waiting = [i for i, seconds in pauses.items() if began + seconds >= moment - _TINY]
            self._pass_time(min(moment, end), waiting)
        self._downtime += self._now - began
        if failure is not None:
            return RolledBack(f"node {failure.node} was lost")
        self._rearrange(wanted)
        return Done(longest)

    def _forbidden(self, change: Reconfiguration, wanted: Deployment) -> tuple[str, ...]:
        """Reasons against a change; replicas on a lost node may stay, but no new ones start there."""
        found = reasons_against(self.scenario.application, self._nodes.known, wanted)
        gone = sorted({node for part in change.changes for node in part.added if node not in self._nodes.up})
        return (*found, *(f"node {node!r} does not run" for node in gone))

    def _pauses(self, situation: CurrentDeployment, wanted: Deployment) -> dict[int, float]:
        """Seconds for which each operator is paused, by position; if all restart, all wait for the slowest."""
        model, operators = self.scenario.downtime, situation.application.operators
        whole = downtime_seconds(model, situation, wanted)
        if any(model.unchanged_seconds(situation, operator) > 0 for operator in operators):
            return dict.fromkeys(range(len(operators)), whole)
        return {
            i: operator_downtime_seconds(model, situation, operator.name, wanted[operator.name])
            for i, operator in enumerate(operators)
            if wanted[operator.name] != situation.current[operator.name]
        }

    def _pass_time(self, until: float, paused: Collection[int]) -> None:
        """Computes the flow piece by piece: a piece ends at a sample or at a node event."""
        while self._now < until - _TINY:
            sampled = self._next_sample()
            end = min(until, sampled, self._nodes.next_event(), self._now + LONGEST * self.scenario.step_seconds)
            self._compute(end, paused)
            if told := self._nodes.pass_time(self._now):
                for what in told:
                    self.recorder.note(Note(self._now, "node", what))
                self._rearrange(self.deployment())
            if self._now >= sampled - _TINY:
                self._measured()

    def _next_sample(self) -> float:
        period = self.scenario.sample_seconds
        return (floor(self._now / period + _TINY) + 1) * period

    def _compute(self, end: float, paused: Collection[int]) -> None:
        """Computes one piece: no change, no sample and no node event inside."""
        if end <= self._now:
            return
        interval = None if paused else self._calm_interval(end)
        if interval is None:
            edges = self._edges(end)
            interval = self._flow.advance(edges, self._brought(edges), paused)
        piece = measure(self._flow.layout, interval, self._flow.lags(end))
        self._pending = piece if self._pending is None else self._pending.plus(piece)
        self._now = end

    def _calm_interval(self, end: float) -> Interval | None:
        """The part of the stretch computed ahead; None if tuples wait, or would have to within the stretch."""
        known = self._ahead.part(self._flow.layout, self._now, end) if self._ahead else None
        if known is not None:
            return known
        off_the_grid = end / self.scenario.step_seconds
        if self._flow.has_waiting or abs(off_the_grid - round(off_the_grid)) > _TINY:
            return None
        edges = self._edges(max(end, self._now + STRETCH_SECONDS))
        stretch = self._flow.calm_interval(edges, self._brought(edges))
        self._ahead = None if stretch is None else Ahead(self._flow.layout, stretch)
        return self._ahead.part(self._flow.layout, self._now, end) if self._ahead else None

    def _brought(self, edges: Values) -> Values:
        """Tuples of every source in each step, including noise."""
        first = floor(edges[0] / self.scenario.step_seconds + _TINY)
        brought = np.diff(self.scenario.workload.tuples_until(edges))
        return brought * self._rates.factors(first, len(brought))

    def _edges(self, end: float) -> Values:
        """Step edges from now to the end, on a grid independent of the calls."""
        step = self.scenario.step_seconds
        first, last = floor(self._now / step + _TINY) + 1, floor(end / step - _TINY)
        inner = np.arange(first, last + 1) * step
        return np.concatenate([[self._now], inner, [end]])

    def _rearrange(self, deployment: Deployment) -> None:
        """Switches to another deployment or other nodes: emits the measurement so far, then moves the queues."""
        if self._pending is not None:
            self._measured()
        layout = self._flow.layout
        # Nodes just requested are known by name, and hold nothing until they are up.
        self._flow.rearrange(layout.on(deployment, self._nodes.known, self._nodes.down), self._now)
        self._sampler = Sampler(self._flow.layout)

    def _measured(self) -> None:
        """Turns the measurement since the last call into samples and a line of the recording."""
        measured, self._pending = self._pending, None
        if measured is None:
            return
        layout = self._flow.layout
        self._samples += self._sampler.samples(measured, self._now, self._downtime, self._errors)
        cost = layout.replicas_cost + float(measured.streams @ layout.prices) + self._nodes.price_per_hour
        figures = {
            "rate_tps": float(measured.arrived[sorted(layout.sources)].sum()),
            "backlog": float(measured.row_waiting.sum()),
            "nodes": float(len(self._nodes.up)),
            "cost_per_hour": cost,
            **measured.responses_ms,
        }
        replicas = {name: len(replicas) for name, replicas in layout.deployment.items()}
        times = zip(layout.application.operators, measured.served.tolist(), measured.latency.tolist(), strict=True)
        latencies = {operator.name: 1000 * latency for operator, served, latency in times if served > 0}
        self.recorder.add(self._now, figures, replicas, latencies)
