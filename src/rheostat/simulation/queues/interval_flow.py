"""Flow of tuples through the application between two changes: arrival, waiting, service, departure.

An interval is cut into steps of about a second. Operator by operator, in the order of flow, all steps are computed at
once: what arrives, what waits at the end of every step, what was served and goes on. Then, in the same order, how old
tuples are when they leave: the age they came with, how long they waited in line, and what the queueing formulas say of
a replica with their load. A paused operator serves nothing, and what arrives for it waits.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from rheostat.simulation.queues.queue_formulas import Values, backlogs
from rheostat.simulation.queues.server_layout import ServerLayout
from rheostat.simulation.queues.waiting_lines import Ages, WaitingLine


@dataclass(frozen=True, slots=True)
class Interval:
    """Results of an interval by step; operators and streams in their order, rates in tuples per second."""

    edges: Values
    """Start and end times of the steps."""
    arrived: Values
    """Tuples per second into every operator, (operators, steps)."""
    served: Values
    streams: Values
    """Tuples per second sent on every stream, (streams, steps)."""
    row_served: Values
    """Tuples per second served by every row, (rows, steps)."""
    row_waiting: Values
    """Tuples waiting in front of every row at the end of every step."""
    latency: Values
    """Mean time of a tuple in every operator, waiting and service, in seconds."""
    response: Ages
    """Time from source to end of the tuples that leave in each step."""

    @property
    def steps(self) -> Values:
        """Length of every step in seconds."""
        return np.diff(self.edges)

    def part(self, first: int, last: int) -> "Interval":
        """The steps from the edge `first` to the edge `last`."""
        steps = slice(first, last)
        return Interval(
            self.edges[first : last + 1],
            self.arrived[:, steps],
            self.served[:, steps],
            self.streams[:, steps],
            self.row_served[:, steps],
            self.row_waiting[:, steps],
            self.latency[:, steps],
            Ages(self.response.mean[steps], self.response.variance[steps]),
        )


@dataclass(frozen=True, slots=True)
class _Passed:
    """First half of an interval: numbers of tuples, without their times."""

    edges: Values
    arrived: Values
    served: Values
    streams: Values
    row_served: Values
    row_waiting: Values


class IntervalFlow:
    """Queues of an application between two intervals."""

    def __init__(self, layout: ServerLayout) -> None:
        self.layout = layout
        self._waiting = np.zeros(len(layout.pairs))
        self._stuck_since: dict[int, float] = {}
        self._lines = [WaitingLine() for _ in layout.application.operators]

    def advance(self, edges: Values, brought: Values, paused: Collection[int] = ()) -> Interval:
        """Advances time; `brought` is the number of tuples of every source in each step."""
        calm = None if paused else self.calm_interval(edges, brought)
        return self._timed(self._with_waiting(edges, brought, paused), calm=False) if calm is None else calm

    @property
    def has_waiting(self) -> bool:
        """Whether any tuple waits."""
        return bool(self._waiting.any())

    def calm_interval(self, edges: Values, brought: Values) -> Interval | None:
        """The flow if nothing is changed; None if tuples wait or will have to. It does not advance time."""
        passed = None if self.has_waiting else self._calm(edges, brought)
        return None if passed is None else self._timed(passed, calm=True)

    def _interval(self, passed: _Passed, latency: Values, response: Ages) -> Interval:
        return Interval(
            passed.edges,
            passed.arrived,
            passed.served,
            passed.streams,
            passed.row_served,
            passed.row_waiting,
            latency,
            response,
        )

    def _calm(self, edges: Values, brought: Values) -> _Passed | None:
        """The usual case that no tuple waits or has to: then all flows are proportional to the sources."""
        layout = self.layout
        slope, constant, stream_slope, stream_constant = layout.gains
        rates = brought / np.diff(edges)
        arrived = slope * rates + constant
        mine = layout.shares[:, None] * arrived[layout.owner]
        if (mine.max(axis=1) >= layout.capacities).any():
            return None
        streams = stream_slope * rates + stream_constant
        return _Passed(edges, arrived, arrived, streams, mine, np.zeros_like(mine))

    def _with_waiting(self, edges: Values, brought: Values, paused: Collection[int]) -> _Passed:
        """Flow with waiting tuples, computed operator by operator in the order of flow."""
        layout, steps = self.layout, np.diff(edges)
        size, count = len(layout.application.operators), len(steps)
        arrived, served = np.zeros((size, count)), np.zeros((size, count))
        streams = np.zeros((len(layout.application.streams), count))
        row_served, row_waiting = np.zeros((len(layout.pairs), count)), np.zeros((len(layout.pairs), count))
        for i in layout.order:
            got = brought if i in layout.sources else streams[list(layout.inputs[i])].sum(axis=0) * steps
            rows = layout.slices[i]
            before = self._waiting[rows].copy()
            mine = layout.shares[rows][:, None] * got
            able = np.zeros_like(mine) if i in paused else _limited(layout.capacities[rows], steps, before, mine)
            waiting = backlogs(before, mine, able)
            done = np.maximum(mine + np.concatenate([before[:, None], waiting[:, :-1]], axis=1) - waiting, 0.0)
            arrived[i], served[i] = got / steps, done.sum(axis=0) / steps
            row_served[rows], row_waiting[rows] = done / steps, waiting
            for s in layout.outputs[i]:
                streams[s] = self._sent(s, served[i], 0.0 if i in paused else 1.0)
        self._waiting = row_waiting[:, -1].copy()
        return _Passed(edges, arrived, served, streams, row_served, row_waiting)

    def _sent(self, stream: int, served: Values, running: float) -> Values:
        """λ_(i,j): by selectivity, or at the stream's own rate while its producer runs."""
        described = self.layout.application.streams[stream]
        if described.rate_tps is None:
            return served * described.selectivity
        alive = float(self.layout.up[self.layout.slices[self.layout.producers[stream]]].any())
        return np.full_like(served, described.rate_tps * running * alive)

    def _timed(self, passed: _Passed, *, calm: bool) -> Interval:
        """Adds the times in every operator, and from the sources to the ends by the longest path."""
        layout = self.layout
        service, spread = self._services(passed)
        distance, widening = layout.distances
        latency, count = np.zeros_like(passed.arrived), passed.arrived.shape[1]
        ages: dict[int, Ages] = {}
        nothing = Ages.none(count)
        for i in layout.order:
            came = nothing
            for number, s in enumerate(layout.inputs[i]):
                along = ages[layout.producers[s]].later(distance[s], widening[s])
                came = along if number == 0 else came.or_later(along)
            waited = nothing
            if not calm:
                waited, came = self._lined_up(i, passed, came)
            latency[i] = waited.mean + service[i]
            ages[i] = came.later(latency[i], waited.variance + spread[i])
        first, *others = (ages[i] for i in layout.ends)
        for other in others:
            first = first.or_later(other)
        return self._interval(passed, latency, first)

    def _services(self, passed: _Passed) -> tuple[Values, Values]:
        """Mean and variance of the time in a replica, over the replicas of every operator that are up."""
        layout = self.layout
        means, variances = layout.servers.times(layout.rows, passed.row_served / layout.counts[:, None])
        weights = layout.working
        mean = np.add.reduceat(weights * means, layout.starts)
        square = np.add.reduceat(weights * (variances + means**2), layout.starts)
        return mean, np.maximum(square - mean**2, 0.0)

    def _lined_up(self, operator: int, passed: _Passed, came: Ages) -> tuple[Ages, Ages]:
        """Ages of the tuples in front of nodes that are up; when the others will be served is unknown."""
        rows = self.layout.slices[operator]
        up = self.layout.up[rows]
        arrivals = float(up @ self.layout.shares[rows]) * passed.arrived[operator] * np.diff(passed.edges)
        return self._lines[operator].pass_through(passed.edges, arrivals, up @ passed.row_waiting[rows], came)

    def rearrange(self, layout: ServerLayout, now: float) -> None:
        """Switches to another layout: waiting tuples are distributed anew among an operator's replicas."""
        old, totals = self.layout, self.waiting()
        waiting = np.zeros(len(layout.pairs))
        for i, (rows, operator) in enumerate(zip(layout.slices, layout.application.operators, strict=True)):
            moved = old.deployment[operator.name] != layout.deployment[operator.name]
            # Tuples in front of a node that is down stay there until the replicas are moved away.
            waiting[rows] = totals[i] * layout.shares[rows] if moved else self._waiting[old.slices[i]]
            up = layout.up[rows]
            if moved or (up != old.up[old.slices[i]]).any():
                oldest = self._lines[i].oldest(now)
                if up.all():
                    oldest = min(oldest, self._stuck_since.get(i, now))
                self._lines[i].restart(float(up @ waiting[rows]), oldest, now)
            if up.all():
                self._stuck_since.pop(i, None)
            else:
                self._stuck_since.setdefault(i, now)
        self.layout, self._waiting = layout, waiting

    def waiting(self) -> Values:
        """Tuples waiting in front of every operator."""
        return np.array([self._waiting[rows].sum() for rows in self.layout.slices])

    def lags(self, now: float) -> Values:
        """Age in line of the first waiting tuple of every operator, in seconds; 0 if none waits."""
        if not self.has_waiting:
            return np.zeros(len(self._lines))
        return np.array([now - line.oldest(now) for line in self._lines])


def _limited(capacities: Values, steps: Values, before: Values, arrivals: Values) -> Values:
    """Tuples that rows can serve in every step; without a limit, as many as can arrive."""
    everything = before + arrivals.sum(axis=1)
    return np.asarray(np.minimum(capacities[:, None] * steps, (everything + 1.0)[:, None]))
