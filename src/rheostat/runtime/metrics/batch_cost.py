"""Cost of a micro-batch: batch time = a + b x rows, by least squares.

A micro-batch has a fixed cost `a` (planning, two log entries, starting tasks) that looks busy and is not load; it is
paid however few rows there are, and paid less often when there are more. Only `b` is load.

The k replicas of an instance are k partitions that run at the same time, so a batch of n rows lasts a + b x n / k:
`b` is the time of a row *in one replica*, fitted over rows per replica. It does not change when k does. From it follow
the utilisation of k replicas at a rate λ, b x λ / k, and the rate of one replica that is always busy, 1/b.
Partitions of unequal size make `b` greater than the time of a row: the largest decides when a batch ends, and that is
the capacity the operator really has.

Where operators have Python code of their own, its time is measured from inside (`own_code`): a row costs at least that.
It is worth more than any line. On a machine with more processes than cores a batch takes now one second and now three,
whatever it holds, and no line through such points says what a row costs; a clock around the row still does.

The operators of a chain run in the same replicas and the same batches, one after the other: what the chain costs is the
sum of what they do. Whose part is how large is known where it is time in their own code (`Shares`); else they share it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import sqrt

FEWEST_BATCHES, FEWEST_LONG = 6, 2
LEAST_SPREAD = 0.1
"""Standard deviation of the rows over their mean; batches of one size say nothing about what a row costs."""
OUTLIER = 4.0
"""Batches that are so many typical deviations off (a collection, a compilation) are left out of the fit."""
LEAST_CERTAINTY = 3.0
"""A cost per row below so many of its standard errors could as well be nothing (at 2, rows that cost nothing would be
given a rate in 3 of 100 fits; at 3, in 3 of 1000)."""

LONG_MS = 3000.0
"""A batch whose work takes so long is load, but for `UNLOADED_MS` at most, whatever a line through others would say."""
UNLOADED_MS = 300.0

SPARKS_ROW_MS = 1.0
"""Upper estimate of Spark's own work per row: reading, handing it to Python and back, its state."""
MOSTLY = 0.5
"""If so much of the cost was measured in the operators' own code, who causes how much is known well enough."""


@dataclass(frozen=True, slots=True)
class BatchCost:
    """The fitted line."""

    fixed_ms: float
    """a, at least 0."""
    row_ms: float
    """b: time of a row in one replica, at least 0."""
    row_error_ms: float
    """Standard error of b."""
    fixed_error_ms: float = 0.0
    """Standard error of a."""

    @property
    def is_significant(self) -> bool:
        """Whether a row is known to cost something."""
        return self.row_ms > LEAST_CERTAINTY * self.row_error_ms

    def is_clearly_above(self, other: "BatchCost") -> bool:
        """Whether a row is known to cost more than that."""
        return self.row_ms - other.row_ms > LEAST_CERTAINTY * self.row_error_ms

    def utilization(self, rate_tps: float, replicas: int) -> float:
        """Share of their time that k replicas need for a rate."""
        return self.row_ms / 1000 * rate_tps / replicas

    def uncertainty(self, rate_tps: float, replicas: int) -> float:
        """Standard error of the utilisation."""
        return self.row_error_ms / 1000 * rate_tps / replicas

    @property
    def true_rate(self) -> float | None:
        """Tuples per second one replica could process; None if rows cost too little to tell."""
        return 1000 / self.row_ms if self.is_significant else None


def fitted(points: Sequence[tuple[float, float]]) -> BatchCost | None:
    """The cost from (rows per replica, milliseconds) of batches; None if they are too few or too much alike.

    >>> cost = fitted([(n, 100 + 2 * n) for n in (10, 20, 30, 40, 50, 60)])
    >>> round(cost.fixed_ms, 6), round(cost.row_ms, 6)
    (100.0, 2.0)
    """
    line = _line(points)
    if line is None:
        return None
    off = [abs(y - line.fixed_ms - line.row_ms * x) for x, y in points]
    typical = sorted(off)[len(off) // 2]
    kept = [point for point, error in zip(points, off, strict=True) if error <= OUTLIER * typical]
    again = _line(kept) if typical > 0 and len(kept) < len(points) else None
    line = again or line
    return BatchCost(max(0.0, line.fixed_ms), max(0.0, line.row_ms), line.row_error_ms, line.fixed_error_ms)


def fitted_after(
    points: Sequence[tuple[float, float]], before: BatchCost | None, inside: BatchCost | None = None
) -> BatchCost | None:
    """The cost, helped by what was measured inside the rows, and by what earlier batches of the same operators told.

    Batches of one size do not tell what a row costs; who knows `a` from before does know. And `b` is a row's own cost,
    for any number of replicas: if the batches say nothing at all, it is what it was, less certainly.

    >>> earlier = BatchCost(100.0, 2.0, 0.01, 1.0)
    >>> round(fitted_after([(50, 200.0)] * 6, earlier).row_ms, 6)
    2.0
    """
    now = fitted(points)
    if inside is not None:
        return inside if now is None else _of_both(now, inside)
    now = now or _all_load(points)
    if before is None or (now is not None and now.is_significant):
        return now
    found = [now, _given_fixed(points, before), replace(before, row_error_ms=2 * before.row_error_ms)]
    return min((cost for cost in found if cost is not None), key=lambda cost: cost.row_error_ms)


def _of_both(line: BatchCost, inside: BatchCost) -> BatchCost:
    """The line if it is clearly above, since Spark's part then is no trifle; else what is more certain.

    >>> inside = BatchCost(100.0, 20.0, 1.0)
    >>> lines = [BatchCost(100.0, 26.0, 4.0), BatchCost(100.0, 26.0, 1.5), BatchCost(100.0, 19.0, 0.1)]
    >>> [_of_both(line, inside).row_ms for line in lines]
    [20.0, 26.0, 20.0]
    """
    if not line.is_clearly_above(inside) and inside.row_error_ms <= line.row_error_ms:
        return inside
    alone = inside.row_ms - (inside.row_error_ms - SPARKS_ROW_MS)
    return replace(line, row_ms=max(line.row_ms, alone))


@dataclass(frozen=True, slots=True)
class Timed:
    """A batch whose rows were timed inside the operators' own code."""

    rows: float
    work_ms: float
    own_ms: tuple[tuple[float, ...], ...]
    """Time of each operator, in each partition."""


def timed_inside(batches: Sequence[Timed], replicas: int) -> BatchCost | None:
    """The cost by the clock around the rows; None if that is too little to be all that matters.

    Operators of a chain work one after the other: Spark hands a whole batch to Python, up to 10,000 rows, and has it
    back before the next operator gets any of it (measured for every kind of Python code, with 50 to 1,500 rows).

    >>> cost = timed_inside([Timed(20, 350.0, ((200.0, 200.0),)), Timed(60, 750.0, ((600.0, 600.0),))], 2)
    >>> cost.fixed_ms, cost.row_ms, cost.row_error_ms
    (150.0, 20.0, 1.0)
    """
    rows = sum(batch.rows for batch in batches) / replicas
    if rows <= 0:
        return None
    row_ms = sum(own_row_ms(batches, replicas))
    fixed = (sum(batch.work_ms for batch in batches) - row_ms * rows) / len(batches)
    cost = BatchCost(max(0.0, fixed), row_ms, SPARKS_ROW_MS, SPARKS_ROW_MS * rows / len(batches))
    return cost if cost.is_significant else None


def own_row_ms(batches: Sequence[Timed], replicas: int) -> list[float]:
    """Time in each operator's own code per row that the chain takes in, in the partition that has most to do."""
    rows = sum(batch.rows for batch in batches) / replicas
    return [_of_the_busiest(parts, replicas) / rows for parts in zip(*(b.own_ms for b in batches), strict=True)]


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of the operators of a chain in its cost."""

    row_ms: Mapping[str, float]
    """Time per row that the chain takes in, by operator."""

    @property
    def heaviest(self) -> str:
        """The one to begin with if the chain is too busy: only without it is the rest as quick as can be."""
        return max(self.row_ms, key=lambda name: self.row_ms[name])


def shares_of(names: Sequence[str], own_ms: Sequence[float], cost: BatchCost) -> Shares | None:
    """Shares by the time in the operators' own code; None if that is too little of the whole.

    What Spark does itself is counted to the heaviest.

    >>> shares_of(("parse", "judge"), (2.0, 16.0), BatchCost(100.0, 20.0, 1.0)).row_ms
    {'parse': 2.0, 'judge': 18.0}
    >>> shares_of(("parse", "judge"), (2.0, 6.0), BatchCost(100.0, 20.0, 1.0)) is None  # 12 of 20 ms are Spark's
    True
    """
    known = sum(own_ms)
    if known <= 0 or known < MOSTLY * cost.row_ms:
        return None
    row_ms = dict(zip(names, own_ms, strict=True))
    heaviest = Shares(row_ms).heaviest
    return Shares({**row_ms, heaviest: row_ms[heaviest] + max(0.0, cost.row_ms - known)})


def _of_the_busiest(parts: Sequence[tuple[float, ...]], replicas: int) -> float:
    """Time in the partition that has most to do in all batches together; more of them than replicas queue."""
    by_partition = [sum(times) for times in zip_longest(*parts, fillvalue=0.0)]
    return max(sum(by_partition) / replicas, *by_partition, 0.0)


def _all_load(points: Sequence[tuple[float, float]]) -> BatchCost | None:
    """b from few or equal batches that are too long to be anything but load: of an operator that does not keep up.

    >>> cost = _all_load([(200, 4500.0), (200, 4500.0)])
    >>> cost.row_ms, cost.row_error_ms
    (22.5, 1.5)
    """
    rows, milliseconds = sum(x for x, _ in points), sum(y for _, y in points)
    if len(points) < FEWEST_LONG or rows <= 0 or min(y for _, y in points) < LONG_MS:
        return None
    error = UNLOADED_MS * len(points) / rows
    return BatchCost(0.0, milliseconds / rows, error, UNLOADED_MS)


def _given_fixed(points: Sequence[tuple[float, float]], before: BatchCost) -> BatchCost | None:
    """b from batches of any size, if a is known."""
    count = len(points)
    rows = sum(x for x, _ in points)
    if count < FEWEST_BATCHES or rows <= 0:
        return None
    slope = (sum(y for _, y in points) - count * before.fixed_ms) / rows
    left = sum((y - before.fixed_ms - slope * x) ** 2 for x, y in points) / (count - 1)
    error = sqrt(left / count + before.fixed_error_ms**2) * count / rows
    return BatchCost(before.fixed_ms, max(0.0, slope), error, before.fixed_error_ms)


def _line(points: Sequence[tuple[float, float]]) -> BatchCost | None:
    """Ordinary least squares, unclipped."""
    count = len(points)
    if count < FEWEST_BATCHES:
        return None
    mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    if mean_x <= 0 or sqrt(spread / count) < LEAST_SPREAD * mean_x:
        return None
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    fixed = mean_y - slope * mean_x
    left = sum((y - fixed - slope * x) ** 2 for x, y in points)
    error = sqrt(left / (count - 2) / spread)
    return BatchCost(fixed, slope, error, error * sqrt(sum(x * x for x, _ in points) / count))
