"""Samples of the simulated application, in the form that the monitor of a real one makes them.

Operators, their instances, streams, nodes and the application have figures; links have none, since the infrastructure
gives their delays. A figure that could not be measured is left out: the response time while nothing leaves, the latency
of an operator that is paused.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from rheostat.model.observation import Sample, Subject
from rheostat.simulation.queues.measurement import Measurement
from rheostat.simulation.queues.noise import MeasurementNoise
from rheostat.simulation.queues.queue_formulas import Values
from rheostat.simulation.queues.server_layout import ServerLayout

Figures = Iterator[tuple[Subject, dict[str, float]]]


class Sampler:
    """Maker of samples for one layout; constant figures are computed once."""

    def __init__(self, layout: ServerLayout) -> None:
        self.layout = layout

    def samples(
        self, measured: Measurement, at_seconds: float, downtime_seconds: float, noise: MeasurementNoise
    ) -> list[Sample]:
        """One sample for every subject, except lost ones."""
        seen = measured.with_errors(noise) if noise.has_errors else measured
        return [
            Sample(subject, at_seconds, figures)
            for subject, figures in self._figures(seen, downtime_seconds)
            if not noise.draw_loss()
        ]

    def _figures(self, measured: Measurement, downtime_seconds: float) -> Figures:
        yield from self._operators(measured)
        yield from self._instances(measured)
        for stream, rate in zip(self._streams, measured.streams.tolist(), strict=True):
            yield stream, {"input_rate": rate, "output_rate": rate}
        yield from self._nodes(measured)
        yield self._application, {**measured.responses_ms, "downtime_seconds": downtime_seconds}

    @cached_property
    def _application(self) -> Subject:
        return Subject.application(self.layout.application.name)

    @cached_property
    def _streams(self) -> list[Subject]:
        return [Subject.stream(*stream.ends) for stream in self.layout.application.streams]

    @cached_property
    def _degrees(self) -> Values:
        """|𝒰| of every operator."""
        return np.asarray(np.add.reduceat(self.layout.counts, self.layout.starts))

    @cached_property
    def _known(self) -> list[tuple[Subject, dict[str, float]]]:
        """Constant figures: replicas, state size, and the true rate of a replica."""
        layout = self.layout
        able = layout.rows.capacity[:, 0] * layout.rows.speed[:, 0] * layout.counts
        true_rates = np.add.reduceat(able, self.layout.starts) / self._degrees
        known = []
        for i, operator in enumerate(layout.application.operators):
            figures = {"replicas": float(self._degrees[i]), "state_bytes": float(operator.state_bytes)}
            if np.isfinite(true_rates[i]):
                figures["true_rate"] = float(true_rates[i])
            known.append((Subject.operator(operator.name), figures))
        return known

    def _operators(self, measured: Measurement) -> Figures:
        starts, producers = self.layout.starts, list(self.layout.producers)
        sent = np.bincount(producers, measured.streams, minlength=len(starts)) if producers else np.zeros(len(starts))
        busy = np.add.reduceat(self.layout.counts * measured.utilization, starts) / self._degrees
        waiting = np.add.reduceat(measured.row_waiting, starts)
        columns = (measured.arrived, sent, busy, waiting, measured.lags, measured.served, 1000 * measured.latency)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for (subject, known), (arrived, output, used, backlog, age, served, latency) in zip(
            self._known, rows, strict=True
        ):
            figures = {
                "input_rate": arrived,
                "output_rate": output,
                "utilization": used,
                "backlog": backlog,
                "lag_seconds": age,
                **known,
            }
            if served > 0:
                figures["latency_ms"] = latency
            yield subject, figures

    @cached_property
    def _pairs(self) -> list[Subject]:
        return [Subject.instance(operator, node) for operator, node in self.layout.pairs]

    def _instances(self, measured: Measurement) -> Figures:
        columns = (measured.row_served, measured.utilization, measured.row_waiting, self.layout.counts, self.layout.up)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for subject, (rate, busy, backlog, count, up) in zip(self._pairs, rows, strict=True):
            if up > 0:
                yield subject, {"input_rate": rate, "utilization": busy, "backlog": backlog, "replicas": count}

    @cached_property
    def _hosts(self) -> list[tuple[Subject, int, float, float]]:
        """Nodes that are up: subject, position, capacity, and resources taken by replicas."""
        layout = self.layout
        return [
            (Subject.node(node.name), i, node.capacity, layout.slots_used[node.name])
            for i, node in enumerate(layout.infrastructure.nodes)
            if node.name not in layout.down
        ]

    @cached_property
    def _needs(self) -> tuple[list[int], Values]:
        """Node of every row, and the resources its replicas take together."""
        layout = self.layout
        needs = np.array([operator.resources for operator in layout.application.operators])
        return [layout.infrastructure.index[node] for _, node in layout.pairs], layout.counts * needs[layout.owner]

    def _nodes(self, measured: Measurement) -> Figures:
        hosts, needs = self._needs
        busy = np.bincount(hosts, measured.utilization * needs, minlength=len(self.layout.infrastructure.nodes))
        for subject, position, capacity, taken in self._hosts:
            share = float(busy[position]) / capacity if capacity > 0 else 0.0
            figures = {"cpu": min(share, 1.0), "slots_used": taken, "availability": 1.0, "heartbeat_age": 0.0}
            yield subject, figures
