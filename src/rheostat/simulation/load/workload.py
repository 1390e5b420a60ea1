"""Workload of a source: cumulative number of tuples over time, from a curve or from recorded rates.

A workload gives the number of tuples up to a moment, not the rate at one: however time is cut into pieces, no tuple is
lost or counted twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rheostat.model.graph.rate_curve import Curve, parse_curve

Values = NDArray[np.float64]


class Workload(Protocol):
    """Cumulative number of tuples of each source of an application."""

    def tuples_until(self, seconds: Values) -> Values:
        """Tuples from time 0 to each of these moments; never decreasing."""
        ...


@dataclass(frozen=True, slots=True)
class CurveWorkload:
    """Workload of a rate curve: linear, phases, sine, spikes, days.

    >>> CurveWorkload.of("120 for 900; 350").tuples_until(np.array([900.0, 910.0])).tolist()
    [108000.0, 111500.0]
    """

    curve: Curve

    @classmethod
    def of(cls, text: str) -> Self:
        """The workload of a curve given as text."""
        return cls(parse_curve(text))

    def tuples_until(self, seconds: Values) -> Values:
        """Integral of the curve."""
        return np.array([self.curve.integral(max(0.0, moment)) for moment in seconds.tolist()])


@dataclass(frozen=True)
class TraceWorkload:
    """Workload of recorded rates, interpolated linearly; before the first and after the last they stay constant."""

    seconds: tuple[float, ...]
    """Time of each recorded rate, strictly increasing."""
    rates_tps: tuple[float, ...]
    """Tuples per second at each time."""

    def __post_init__(self) -> None:
        """Rejects sequences that are not a function of time."""
        if not self.seconds or len(self.seconds) != len(self.rates_tps):
            raise ValueError(f"a trace needs as many rates as moments, got {len(self.rates_tps)}, {len(self.seconds)}")
        if any(not later > earlier for earlier, later in pairwise(self.seconds)):
            raise ValueError("the moments of a trace must increase")
        if not all(isfinite(rate) and rate >= 0 for rate in self.rates_tps):
            raise ValueError("the rates of a trace must be finite and >= 0")

    @classmethod
    def of(cls, seconds: Sequence[float], rates_tps: Sequence[float]) -> Self:
        """The workload of two sequences, with the first moment as time 0."""
        return cls(tuple(float(moment - seconds[0]) for moment in seconds), tuple(map(float, rates_tps)))

    @property
    def duration_seconds(self) -> float:
        """Seconds from the first to the last recorded rate."""
        return self.seconds[-1] - self.seconds[0]

    def scaled(self, least_tps: float, greatest_tps: float) -> "TraceWorkload":
        """The workload scaled linearly to a least and a greatest rate."""
        if not 0 <= least_tps <= greatest_tps < np.inf:
            raise ValueError(f"need 0 <= least <= greatest, got {least_tps} and {greatest_tps}")
        low, high = min(self.rates_tps), max(self.rates_tps)
        factor = (greatest_tps - least_tps) / (high - low) if high > low else 0.0
        return TraceWorkload(self.seconds, tuple(least_tps + factor * (rate - low) for rate in self.rates_tps))

    def faster(self, factor: float) -> "TraceWorkload":
        """The same rates in 1/factor of the time, as EDF replays five days in twelve hours."""
        if not (isfinite(factor) and factor > 0):
            raise ValueError(f"a speed must be > 0, got {factor}")
        return TraceWorkload(tuple(moment / factor for moment in self.seconds), self.rates_tps)

    def between(self, begin_seconds: float, end_seconds: float) -> "TraceWorkload":
        """A part of the workload, with its start as time 0."""
        kept = [i for i, moment in enumerate(self.seconds) if begin_seconds <= moment <= end_seconds]
        if not kept:
            raise ValueError(f"nothing was recorded between {begin_seconds} and {end_seconds} s")
        return TraceWorkload.of([self.seconds[i] for i in kept], [self.rates_tps[i] for i in kept])

    @cached_property
    def _points(self) -> tuple[Values, Values, Values]:
        """Times, rates, and cumulative tuples at each time."""
        moments, rates = np.array(self.seconds), np.array(self.rates_tps)
        brought = np.concatenate([[0.0], np.cumsum(np.diff(moments) * (rates[:-1] + rates[1:]) / 2)])
        return moments, rates, brought + rates[0] * moments[0]

    def tuples_until(self, seconds: Values) -> Values:
        """Integral of the interpolated rates."""
        moments, rates, brought = self._points
        at = np.maximum(seconds, 0.0)
        before = np.clip(np.searchsorted(moments, at, side="right") - 1, 0, len(moments) - 1)
        rate = np.interp(at, moments, rates)
        return np.asarray(brought[before] + (at - moments[before]) * (rates[before] + rate) / 2)
