"""Averages over an interval: rates, utilizations, latencies, and response times from source to sink.

The response time of a tuple is the longest way from a source to the end: its times of waiting, service and travel.
Steps are weighted by how many tuples left the application in them, and percentiles are those of a gamma distribution
with the mean and variance of the mixture.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from rheostat.simulation.queues.interval_flow import Interval
from rheostat.simulation.queues.noise import MeasurementNoise
from rheostat.simulation.queues.queue_formulas import Values, quantile
from rheostat.simulation.queues.server_layout import ServerLayout

LEVELS = {"response_p50_ms": 0.5, "response_p95_ms": 0.95, "response_p99_ms": 0.99}
"""Percentiles that are reported."""


@dataclass(frozen=True)
class Measurement:
    """Averages over a time without changes; operators, rows and streams in the order of the layout."""

    seconds: float
    arrived: Values
    """Tuples per second into every operator."""
    served: Values
    streams: Values
    utilization: Values
    """Utilization of every row."""
    row_served: Values
    row_waiting: Values
    """Tuples waiting in front of every row at the end."""
    lags: Values
    """Waiting time of the first tuple in front of every operator at the end, in seconds."""
    latency: Values
    """Mean time of a tuple in every operator, waiting included, in seconds; 0 where none was served."""
    left: float
    """Number of tuples that left the application."""
    response: float
    """Mean time from source to end in seconds; 0 if none left."""
    response_square: float
    """Mean of the squared time."""

    def plus(self, later: "Measurement") -> "Measurement":
        """The averages over both times together."""
        whole = self.seconds + later.seconds
        first, second = self.seconds / whole, later.seconds / whole
        left = self.left + later.left
        share = self.left / left if left > 0 else 0.0
        processed, following = self.served * self.seconds, later.served * later.seconds
        total = np.maximum(processed + following, 1e-12)
        return Measurement(
            whole,
            first * self.arrived + second * later.arrived,
            first * self.served + second * later.served,
            first * self.streams + second * later.streams,
            first * self.utilization + second * later.utilization,
            first * self.row_served + second * later.row_served,
            later.row_waiting,
            later.lags,
            (processed * self.latency + following * later.latency) / total,
            left,
            share * self.response + (1 - share) * later.response,
            share * self.response_square + (1 - share) * later.response_square,
        )

    @cached_property
    def responses_ms(self) -> dict[str, float]:
        """Mean, p50, p95 and p99 in milliseconds, by the names of the figures; empty if no tuple left."""
        if self.left <= 0:
            return {}
        variance = self.response_square - self.response**2
        found = {name: 1000 * quantile(self.response, variance, level) for name, level in LEVELS.items()}
        return {"response_mean_ms": 1000 * self.response, **found}

    def with_errors(self, noise: MeasurementNoise) -> "Measurement":
        """The measurement with measurement errors; counted figures stay exact."""
        columns = (self.arrived, self.streams, self.utilization, self.row_served, self.lags, self.latency)
        ends = list(accumulate((len(column) for column in columns), initial=1))
        # Drawn at once: gives the same numbers as drawing column by column.
        factors = noise.factors(ends[-1])
        arrived, streams, utilization, row_served, lags, latency = (
            column * factors[begin:end] for column, (begin, end) in zip(columns, pairwise(ends), strict=True)
        )
        error = float(factors[0])
        return replace(
            self,
            arrived=arrived,
            streams=streams,
            utilization=np.minimum(utilization, 1.0),
            row_served=row_served,
            lags=lags,
            latency=latency,
            response=self.response * error,
            response_square=self.response_square * error**2,
        )


def measure(layout: ServerLayout, interval: Interval, lags: Values) -> Measurement:
    """The averages of an interval."""
    steps = interval.steps
    length = float(steps.sum())
    weights = steps / length
    row_served = interval.row_served @ weights
    served = interval.served * steps
    left = served[layout.ends].sum(axis=0)
    leaving = float(left.sum())
    share = left / leaving if leaving > 0 else np.zeros_like(left)
    return Measurement(
        length,
        interval.arrived @ weights,
        interval.served @ weights,
        interval.streams @ weights,
        np.minimum(row_served / layout.full_work, 1.0),
        row_served,
        interval.row_waiting[:, -1],
        lags,
        (interval.latency * served).sum(axis=1) / np.maximum(served.sum(axis=1), 1e-12),
        leaving,
        float(interval.response.mean @ share),
        float(interval.response.square @ share),
    )
