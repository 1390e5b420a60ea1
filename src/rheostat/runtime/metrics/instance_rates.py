"""Rates and utilization of the operators of one instance, from Spark's batch reports.

A batch holds what arrived between the planning of the batch before and its own. So rows over the time from one
planning to another are an arrival rate, however long the batches are and wherever the period's ends fall. The first
batch an instance is seen with only marks where counting begins.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from rheostat.runtime.metrics.batch_cost import (
    BatchCost,
    Shares,
    Timed,
    fitted_after,
    own_row_ms,
    shares_of,
    timed_inside,
)
from rheostat.runtime.query.progress_report import BatchReport, CodeTime, CountedBatches
from rheostat.runtime.query.row_counts import channel_observation, input_observation

BATCHES_FITTED = 300
BATCHES_TIMED = 30
"""Batches for directly timed costs: few suffice, and they follow changes sooner."""
MOST_UNCERTAIN = 0.1
"""A utilisation with a greater standard error is not told; one above 1 may be as much less certain."""
IDLE_MS = 1000.0


@dataclass(frozen=True, slots=True)
class OperatorChain:
    """The operators of an instance and what they are connected to."""

    operators: tuple[str, ...]
    replicas: int
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Producer and channel of each input of the head; none if it is a source."""
    stateful: str = ""
    """The operator that has the state, if one has."""
    idle_ms: float = IDLE_MS
    """Time between two batches from which an instance counts as idle; longer than a trigger."""
    ends_in_results: bool = False
    """The last operator keeps what it is given: it takes in what the sink of the query is given."""

    def received(self, batch: BatchReport) -> dict[tuple[str, str], int | None]:
        """Rows by stream (source, target) that a batch moved into operators, also inside the chain."""
        head = self.operators[0]
        found = {(source, head): self._taken(source, batch) for source in self.inputs}
        return found | {(a, b): self._into(b, batch) for a, b in pairwise(self.operators)}

    def rows_in(self, operator: str, batch: BatchReport) -> int | None:
        """Rows an operator took in; of a source, what it brought."""
        if operator != self.operators[0]:
            return self._into(operator, batch)
        if not self.inputs:
            return batch.rows_read
        return _sum([self._taken(source, batch) for source in self.inputs])

    def rows_out(self, operator: str, batch: BatchReport) -> int | None:
        """Rows an operator emitted; None for a user's sink that does not count them."""
        position = self.operators.index(operator) + 1
        if position < len(self.operators):
            return self._into(self.operators[position], batch)
        if self.ends_in_results and self.operators[1:]:
            return self._into(operator, batch)
        return batch.written

    def _taken(self, source: str, batch: BatchReport) -> int | None:
        """Observed where rows are read that are none (ticks of event time), else what Spark says was read."""
        observed = batch.counted.get(channel_observation(self.inputs[source]))
        if observed is not None:
            return observed
        read = batch.read_of(self.inputs[source])
        return None if read is None else read.rows

    def _into(self, operator: str, batch: BatchReport) -> int | None:
        is_kept = self.ends_in_results and operator == self.operators[-1]
        return batch.written if is_kept and batch.written is not None else batch.rows(input_observation(operator))


@dataclass(frozen=True, slots=True)
class MeasuredRates:
    """Measurements of one instance in a period; unknown figures are left out."""

    batches: tuple[BatchReport, ...] = ()
    """The batches of the period, each in one period only."""
    received: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Tuples per second by stream (source, target)."""
    emitted: Mapping[str, float] = field(default_factory=dict)
    """Tuples per second by operator."""
    figures: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Figures by operator."""
    cpu_seconds: Mapping[str, float] = field(default_factory=dict)
    """Processor time in the own Python code of those operators that have any."""
    read_tps: float = 0.0
    """Rate at which the head reads, also of a source at which more arrives."""


@dataclass(slots=True)
class InstanceRates:
    """Counter of one instance through its life."""

    chain: OperatorChain
    before: BatchCost | None = None
    """Last known cost of a batch of the same operators, without the part beside the work."""
    _ledger: CountedBatches = field(default_factory=CountedBatches)
    _since: float | None = None
    """Up to when everything was counted."""
    _recent: deque[BatchReport] = field(default_factory=lambda: deque(maxlen=BATCHES_FITTED))
    _last: BatchReport | None = None
    """The last batch of the periods before."""
    _shares: Shares | None = None
    """Shares of the operators in the cost; None while unknown."""

    @property
    def last_batch(self) -> int:
        """The last batch that was counted."""
        return self._ledger.last()

    def take(self, reports: Iterable[BatchReport], idle_until: float | None = None) -> MeasuredRates:
        """Counts new reports and gives their rates. `idle_until`: the instance has had nothing to do until then."""
        before = self.last_batch
        fresh = self._ledger.take_new(reports)
        counted, since = fresh, self._since
        if fresh and (since is None or (before >= 0 and fresh[0].number > before + 1)):
            # The beginning, or reports were lost: the first batch only says from when on everything is known.
            since, counted = fresh[0].start_seconds, fresh[1:]
        self._recent.extend(counted)
        seconds = 0.0
        if counted and since is not None:
            seconds = counted[-1].start_seconds - since
            self._since = counted[-1].start_seconds
        elif not fresh and idle_until is not None and since is not None and idle_until > since:
            seconds = idle_until - since
            self._since = idle_until
        else:
            self._since = since
        return self._count(fresh, counted, seconds)

    def _count(self, fresh: Sequence[BatchReport], counted: Sequence[BatchReport], seconds: float) -> MeasuredRates:
        received: dict[tuple[str, str], float] = {}
        inputs: dict[str, float] = {}
        emitted: dict[str, float] = {}
        if seconds > 0:
            for stream in [(s, self.chain.operators[0]) for s in self.chain.inputs] + list(
                pairwise(self.chain.operators)
            ):
                if (rows := _sum([self.chain.received(batch)[stream] for batch in counted])) is not None:
                    received[stream] = rows / seconds
            for name in self.chain.operators:
                if (rows := _sum([self.chain.rows_in(name, batch) for batch in counted])) is not None:
                    inputs[name] = rows / seconds
                if (rows := _sum([self.chain.rows_out(name, batch) for batch in counted])) is not None:
                    emitted[name] = rows / seconds
        figures = {name: self._figures(name, fresh, inputs, emitted) for name in self.chain.operators}
        if not self.chain.inputs:
            head = self.chain.operators[0]
            figures[head] = {**figures[head], **self._at_the_source(fresh)}
        told = self._with_the_one_before(fresh) if fresh else []
        self._last = fresh[-1] if fresh else self._last
        cost = self.cost() if fresh else None
        if cost is not None:
            self._shares = self._shares_of(cost)
            figures = {name: {**known, **self._costs(name, cost, inputs)} for name, known in figures.items()}
        if (latency := time_in_chain_ms(told, self.chain.idle_ms)) is not None:
            figures = {name: {**known, **self.part_of(name, latency)} for name, known in figures.items()}
        read_tps = inputs.get(self.chain.operators[0], 0.0)
        return MeasuredRates(tuple(fresh), received, emitted, figures, _cpu_seconds(fresh), read_tps)

    def _at_the_source(self, fresh: Sequence[BatchReport]) -> dict[str, float]:
        """Backlog, arrival rate and lag of a source, where it reports them.

        A query from source to sink has nothing else before it: what it reads is what it can do.
        """
        if not fresh or (waiting := fresh[-1].behind) is None:
            return {}
        found = {"backlog": float(waiting)}
        # Without the batch just before, the rows read meanwhile are unknown.
        first = self._with_the_one_before(fresh)[0]
        rows = sum(batch.rows_read for batch in fresh if batch is not first)
        seconds = fresh[-1].end_seconds - first.end_seconds
        if first.behind is not None and seconds > 0 and (arrived := rows + waiting - first.behind) > 0:
            found |= {"input_rate": arrived / seconds, "lag_seconds": waiting * seconds / arrived}
        return found

    def _figures(
        self, name: str, fresh: Sequence[BatchReport], inputs: Mapping[str, float], emitted: Mapping[str, float]
    ) -> dict[str, float]:
        found = {"replicas": float(self.chain.replicas)}
        if name in inputs:
            found["input_rate"] = inputs[name]
        if name in emitted:
            found["output_rate"] = emitted[name]
        if fresh:
            found["batch_ms"] = sum(batch.duration_ms for batch in fresh) / len(fresh)
            if (own := self._own_code_ms(name, fresh)) is not None:
                found["user_code_ms"] = own
            if name == self.chain.stateful and fresh[-1].state_rows is not None:
                found["state_rows"] = float(fresh[-1].state_rows)
                found["state_bytes"] = float(fresh[-1].state_bytes or 0)
        return found

    def _with_the_one_before(self, fresh: Sequence[BatchReport]) -> list[BatchReport]:
        """A batch tells how long its rows had waited by the one before, which may be of the last period."""
        last = self._last
        return [last, *fresh] if last is not None and fresh[0].number == last.number + 1 else list(fresh)

    def _own_code_ms(self, name: str, batches: Sequence[BatchReport]) -> float | None:
        """Time in an operator's own Python code per tuple it took in; None if it has none or nothing came."""
        told = [batch for batch in batches if name in batch.own_code]
        rows = _sum([self.chain.rows_in(name, batch) for batch in told])
        return sum(batch.own_code[name].wall_ms for batch in told) / rows if rows else None

    def part_of(self, name: str, latency_ms: float) -> dict[str, float]:
        """The operator's share of chain latency; shares sum to it.

        By the cost that it causes. If that is unknown, one operator is charged with everything: the first that is no
        source, since a source cannot be scaled.
        """
        if self._shares is None:
            first = self.chain.operators[0 if self.chain.inputs or not self.chain.operators[1:] else 1]
            return {"latency_ms": latency_ms} if name == first else {}
        part = self._shares.row_ms[name] / sum(self._shares.row_ms.values())
        return {"latency_ms": part * latency_ms} if part > 0 else {}

    def _costs(self, name: str, cost: BatchCost, inputs: Mapping[str, float]) -> dict[str, float]:
        """The chain's cost in terms of this operator's input; see `batch_cost` for what it means.

        Where it is known who causes how much of it, the heaviest operator is as busy as the whole chain, which it could
        relieve, and each of the others as busy as it would be without the chain.
        """
        found = {"batch_fixed_ms": cost.fixed_ms}
        head, own = inputs.get(self.chain.operators[0]), inputs.get(name)
        if head is None or own is None:
            return found
        busy, shares = cost.utilization(head, self.chain.replicas), self._shares
        part_ms = cost.row_ms if shares is None else shares.row_ms[name]
        row_ms = cost.row_ms if shares is None or name == shares.heaviest else part_ms
        if cost.uncertainty(head, self.chain.replicas) <= MOST_UNCERTAIN * max(1.0, busy):
            found["utilization"] = busy * row_ms / cost.row_ms if cost.row_ms else 0.0
            found["own_utilization"] = busy * part_ms / cost.row_ms if cost.row_ms else 0.0
        if head > 0 and own > 0 and cost.is_significant and row_ms > 0:
            found["true_rate"] = 1000 / row_ms * own / head
            found["batch_row_ms"] = row_ms * head / own
        return found

    def _shares_of(self, cost: BatchCost) -> Shares | None:
        """Shares of the operators in the cost; None if unknown."""
        timed = self._timed()
        return shares_of(self.chain.operators, own_row_ms(timed, self.chain.replicas), cost) if timed else None

    def work(self) -> BatchCost | None:
        """Cost of the work of a batch per row of the head's input; None if unknown."""
        inside = timed_inside(self._timed(), self.chain.replicas)
        return fitted_after([point for point, _ in self._points()], self.before, inside)

    def cost(self) -> BatchCost | None:
        """The same with planning and logging, which come beside the work of every batch."""
        line, points = self.work(), self._points()
        if line is None:
            return None
        beside = sum(other for _, other in points) / len(points) if points else 0.0
        return replace(line, fixed_ms=line.fixed_ms + beside)

    def _timed(self) -> list[Timed]:
        """The last batches that had something to do in the operators' own code."""
        found: list[Timed] = []
        for batch in reversed(self._recent):
            rows = self.chain.rows_in(self.chain.operators[0], batch)
            if rows and batch.own_code and len(found) < BATCHES_TIMED:
                own_ms = tuple(batch.own_code.get(name, CodeTime()).by_partition for name in self.chain.operators)
                found.append(Timed(rows, batch.work_ms, own_ms))
        return found

    def _points(self) -> list[tuple[tuple[float, float], float]]:
        """Rows per replica and milliseconds of work, and the milliseconds beside it, of the recent batches."""
        found = []
        for batch in self._recent:
            rows = self.chain.rows_in(self.chain.operators[0], batch)
            if rows is not None:
                found.append(((rows / self.chain.replicas, batch.work_ms), batch.duration_ms - batch.work_ms))
        return found


def time_in_chain_ms(batches: Sequence[BatchReport], idle_ms: float = IDLE_MS) -> float | None:
    """Mean time of a row from its arrival to the commit of its batch; None if it cannot be told.

    Rows of a batch arrived evenly since the batch before was planned: on average half that time ago. Between two
    batches that are far apart there was nothing to do, so what the later one holds has just arrived. To its queue a
    chain is one operator: the rows are in all of it at once.
    """
    pairs = [(before, batch) for before, batch in pairwise(batches) if batch.rows_read]
    rows = sum(batch.rows_read for _, batch in pairs)
    if not rows:
        return None
    apart = ((min(1000 * (b.start_seconds - a.start_seconds), max(a.duration_ms, idle_ms)), b) for a, b in pairs)
    return sum((ms / 2 + b.duration_ms) * b.rows_read for ms, b in apart) / rows


def _cpu_seconds(batches: Iterable[BatchReport]) -> dict[str, float]:
    found: dict[str, float] = {}
    for batch in batches:
        for name, worked in batch.own_code.items():
            found[name] = found.get(name, 0.0) + worked.cpu_ms / 1000
    return found


SUMS = ("input_rate", "output_rate", "backlog", "replicas", "state_rows", "state_bytes")
MEANS = (
    "utilization",
    "own_utilization",
    "true_rate",
    "batch_ms",
    "latency_ms",
    "batch_fixed_ms",
    "batch_row_ms",
    "user_code_ms",
)
"""By replica: an instance with twice the replicas counts twice."""


def together(instances: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The figures of an operator from those of its instances.

    A figure that one of them does not know is not known of the whole: half a rate would look like a fall.
    """
    known = {name for name in instances[0] if all(name in part for part in instances)} if instances else set()
    found = {name: sum(part[name] for part in instances) for name in SUMS if name in known}
    replicas = [part.get("replicas", 1.0) for part in instances]
    for name in MEANS:
        if name in known:
            found[name] = sum(part[name] * k for part, k in zip(instances, replicas, strict=True)) / sum(replicas)
    if "lag_seconds" in known:
        found["lag_seconds"] = max(part["lag_seconds"] for part in instances)
    return found


def _sum(parts: Iterable[int | None]) -> int | None:
    total = 0
    for part in parts:
        if part is None:
            return None
        total += part
    return total
