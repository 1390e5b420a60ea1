"""Latency models of an operator instance as a function of its load: the R_i(λ) of the papers.

All values that can be written in a document: M/M/1 (EDRP 7.2), curves fitted by least squares (EDRP 7.3), a constant
(ODP), and micro-batches, which none of the papers has. Loads are tuples per second of one replica on the reference
processor, latencies are milliseconds. A latency is infinite when the replica is saturated and never negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite
from typing import ClassVar, Protocol, Self

import numpy as np


class LatencyModel(Protocol):
    """R_i as a function of the load of one replica; increasing, never negative."""

    kind: ClassVar[str]

    def latency_ms(self, load_tps: float) -> float:
        """Waiting and execution time of a tuple at this load, on the reference processor."""
        ...


@dataclass(frozen=True, slots=True)
class Constant:
    """The same latency at any load: ODP's execution time per data unit."""

    kind: ClassVar[str] = "constant"

    milliseconds: float = 0.0
    """Execution time of a tuple."""

    def __post_init__(self) -> None:
        """Rejects an invalid duration."""
        if not (isfinite(self.milliseconds) and self.milliseconds >= 0):
            raise ValueError(f"a constant latency needs a finite number of milliseconds >= 0, got {self.milliseconds}")

    def latency_ms(self, load_tps: float) -> float:  # noqa: ARG002 - the load does not matter, that is the model
        """The constant."""
        return self.milliseconds


@dataclass(frozen=True, slots=True)
class MM1:
    """An M/M/1 queue: R(λ) = 1 / (μ - λ), infinite from λ = μ on [EDRP 7.2].

    >>> round(MM1(284).latency_ms(70), 3)
    4.673
    >>> MM1(284).latency_ms(284)
    inf
    """

    kind: ClassVar[str] = "mm1"

    service_rate_tps: float = 1.0
    """μ: tuples per second that one replica can serve on the reference processor."""

    def __post_init__(self) -> None:
        """Rejects an invalid service rate."""
        if not (isfinite(self.service_rate_tps) and self.service_rate_tps > 0):
            raise ValueError(f"an M/M/1 queue needs a finite service rate > 0, got {self.service_rate_tps}")

    def latency_ms(self, load_tps: float) -> float:
        """Mean time in the system."""
        spare = self.service_rate_tps - load_tps
        return 1000.0 / spare if spare > 0 else inf


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Micro-batches of duration a + b rows, one after the other: R(λ) = 1.5 a / (1 - λ/μ) with μ = 1/b.

    A batch holds what has arrived during the one before: T = a + b λ T, so T = a / (1 - b λ). A tuple waits half a
    batch on average and is done with the end of the next. Infinite from λ = μ on, like a queue, but much longer
    before: the fixed part of a batch is what a tuple waits for.

    >>> MicroBatch(50, 200).latency_ms(25)
    600.0
    >>> MicroBatch(50, 200).latency_ms(50)
    inf
    """

    kind: ClassVar[str] = "micro-batch"

    capacity_tps: float = 1.0
    """μ: tuples per second that one replica can process if its batches are very large."""
    fixed_ms: float = 0.0
    """a: milliseconds that a batch takes regardless of its number of rows."""

    def __post_init__(self) -> None:
        """Rejects an invalid capacity or fixed part."""
        if not (isfinite(self.capacity_tps) and self.capacity_tps > 0):
            raise ValueError(f"micro-batches need a finite capacity > 0, got {self.capacity_tps}")
        if not (isfinite(self.fixed_ms) and self.fixed_ms >= 0):
            raise ValueError(f"micro-batches need a finite fixed part >= 0, got {self.fixed_ms}")

    def latency_ms(self, load_tps: float) -> float:
        """Waiting for half a batch, and processing of the next."""
        spare = 1 - load_tps / self.capacity_tps
        return 1.5 * self.fixed_ms / spare if spare > 0 else inf

    @classmethod
    def fit(cls, loads_tps: Sequence[float], latencies_ms: Sequence[float], capacity_tps: float) -> Self:
        """Least-squares fit of the fixed part to measured points, where the capacity is known."""
        loads, latencies = _checked_points(loads_tps, latencies_ms)
        points = [(1.5 / (1 - x / capacity_tps), y) for x, y in zip(loads, latencies, strict=True) if x < capacity_tps]
        if not points:
            raise ValueError(f"no load is below the capacity of {capacity_tps:g} tuples/s")
        return cls(capacity_tps, sum(x * y for x, y in points) / sum(x * x for x, _ in points))


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A polynomial in the load, as EDRP 7.3 fits it to measured points.

    It holds up to `saturation_tps`, the largest load it was fitted on; beyond that nothing was measured and the
    latency is infinite: a planner must not extrapolate into a queue that may not be stable.
    """

    kind: ClassVar[str] = "polynomial"

    coefficients: tuple[float, ...] = (0.0,)
    """c0, c1, ...: R(λ) = c0 + c1 λ + c2 λ² + ..., in milliseconds."""
    saturation_tps: float = inf
    """Largest load for which the curve is valid."""

    def __post_init__(self) -> None:
        """Rejects invalid coefficients."""
        if not self.coefficients or not all(isfinite(c) for c in self.coefficients):
            raise ValueError(f"a polynomial needs finite coefficients, got {self.coefficients}")
        if not self.saturation_tps > 0:
            raise ValueError(f"a polynomial needs a saturation load > 0, got {self.saturation_tps}")

    def latency_ms(self, load_tps: float) -> float:
        """Value of the curve, at least zero."""
        if load_tps > self.saturation_tps:
            return inf
        value = 0.0
        for coefficient in reversed(self.coefficients):
            value = value * load_tps + coefficient
        return max(0.0, value)

    @classmethod
    def fit(cls, loads_tps: Sequence[float], latencies_ms: Sequence[float], degree: int = 2) -> Self:
        """Least-squares fit to measured points; the degree is lowered if there are few points."""
        loads, latencies = _checked_points(loads_tps, latencies_ms)
        usable = min(degree, len(set(loads)) - 1)
        solution = np.polynomial.Polynomial.fit(loads, latencies, usable).convert().coef
        return cls(tuple(float(c) for c in solution), max(loads))


@dataclass(frozen=True, slots=True)
class Tabulated:
    """Measured points joined by straight lines; flat before the first, infinite after the last."""

    kind: ClassVar[str] = "tabulated"

    loads_tps: tuple[float, ...] = (0.0,)
    """Loads, strictly increasing."""
    latencies_ms: tuple[float, ...] = (0.0,)
    """Latency at each load, not decreasing."""

    def __post_init__(self) -> None:
        """Rejects a table that is not an increasing function."""
        loads, latencies = _checked_points(self.loads_tps, self.latencies_ms)
        if any(b <= a for a, b in pairwise(loads)):
            raise ValueError(f"loads must increase strictly, got {loads}")
        if any(b < a for a, b in pairwise(latencies)):
            raise ValueError(f"latencies must not decrease with the load, got {latencies}")

    def latency_ms(self, load_tps: float) -> float:
        """Linear interpolation."""
        if load_tps > self.loads_tps[-1]:
            return inf
        return float(np.interp(load_tps, self.loads_tps, self.latencies_ms))


def _checked_points(loads: Sequence[float], latencies: Sequence[float]) -> tuple[list[float], list[float]]:
    """The points as floats; ValueError if they are invalid."""
    if not loads or len(loads) != len(latencies):
        raise ValueError(f"need as many latencies as loads, and at least one, got {len(loads)} and {len(latencies)}")
    if not all(isfinite(x) and x >= 0 for x in (*loads, *latencies)):
        raise ValueError("loads and latencies must be finite and >= 0")
    return [float(x) for x in loads], [float(x) for x in latencies]
