"""Application graph: operators joined by streams, with every parameter that the papers use.

An `Application` is G_dsp of the papers: an acyclic graph. It is the same value whether it was written in Python or in a
document. It is validated when it is created, so every existing one is valid.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from math import isfinite

from rheostat.errors import InvalidModel, Mistake
from rheostat.model.graph.flow_order import did_you_mean, edge_mistakes, flow_order, reach_mistakes, repeated_names
from rheostat.model.graph.latency import Constant, LatencyModel

RESULTS_SINK = "rheostat.sinks:results"
"""Code of the sink that stores its input among the application's own files, exactly once."""


class Kind(StrEnum):
    """Kinds of operators."""

    SOURCE = "source"
    """Produces data; has no incoming stream."""
    STATELESS = "stateless"
    """Its output depends on the tuple alone."""
    STATEFUL = "stateful"
    """Keeps state per key, which has to move with it."""
    SINK = "sink"
    """Writes data out; has no outgoing stream and keeps no state of its own."""


class OutputMode(StrEnum):
    """Output modes of a stateful operator, in Spark's terms."""

    APPEND = "append"
    UPDATE = "update"


class Grouping(StrEnum):
    """Distribution of tuples over the replicas of the next operator."""

    SHUFFLE = "shuffle"
    """To any replica: the load is spread evenly."""
    KEY = "key"
    """To the replica that owns the tuple's key."""
    BROADCAST = "broadcast"
    """To all replicas, in every key group."""
    SINGLE = "single"
    """Always to the same replica."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One vertex of the application [EDRP 3.2, ODP 3.1]."""

    name: str
    """Unique within the application."""
    kind: Kind = Kind.STATELESS
    """Source, stateless, stateful or sink."""
    key: tuple[str, ...] = ()
    """Columns that partition the state of a stateful operator."""
    output_mode: OutputMode = OutputMode.APPEND
    """Append, or update where rows replace earlier rows of the same key."""
    min_replicas: int = 1
    """Least number of replicas."""
    max_replicas: int = 1
    """k_i: greatest number of replicas."""
    pin: str | None = None
    """The only node it may run on, if it is pinned."""
    candidates: tuple[str, ...] = ()
    """V_res^i: nodes it may run on; empty for all."""
    resources: float = 1.0
    """Res_i (C_i in ODP): units of a node's capacity that one replica takes."""
    cost_per_hour: float = 1.0
    """C_i: price of a unit of resources for one replica, in $ per hour."""
    code_bytes: int = 0
    """I_C,i: bytes of code that a node downloads before it runs the operator for the first time."""
    state_bytes: int = 0
    """I_S,i: size of the whole state, all replicas together."""
    latency: LatencyModel = field(default_factory=Constant)
    """R_i(load of one replica)."""
    rate_tps: float = 0.0
    """Tuples per second that a source emits."""
    code: str = ""
    """Import path of the user's function, `package.module:function`."""
    event_time: str = ""
    """Column of its output that holds the event time, if it has one."""
    watermark_seconds: float | None = None
    """Allowed lateness of its input; the runtime sets the watermark, so that all instances of the operator agree."""
    parameters: tuple[tuple[str, str | int | float | bool], ...] = ()
    """Arguments for the user's function."""

    @property
    def is_foreign_sink(self) -> bool:
        """Whether it writes to an external system, which knows what was written by batch number only."""
        return self.kind is Kind.SINK and self.code not in {"", RESULTS_SINK}

    @property
    def is_stateful(self) -> bool:
        """Whether a move has to carry state: the kind is stateful, or the state has a size."""
        return self.kind is Kind.STATEFUL or self.state_bytes > 0

    def may_run_on(self, node: str) -> bool:
        """Whether u is in V_res^i."""
        return node == self.pin if self.pin is not None else not self.candidates or node in self.candidates

    def mistakes(self, where: tuple[str | int, ...] = ()) -> list[Mistake]:
        """Mistakes of this operator by itself."""
        return [*self._bad_names(where), *self._bad_numbers(where), *self._bad_roles(where)]

    def _bad_names(self, where: tuple[str | int, ...]) -> list[Mistake]:
        if not self.name or self.name != self.name.strip():
            return [Mistake((*where, "name"), f"the name {self.name!r} is empty or padded", "write a plain name")]
        return []

    def _bad_numbers(self, where: tuple[str | int, ...]) -> list[Mistake]:
        found = []
        for name in ("resources", "cost_per_hour", "code_bytes", "state_bytes", "rate_tps"):
            value = getattr(self, name)
            if not (isfinite(value) and value >= 0):
                found.append(Mistake((*where, name), f"{value} is not a finite number >= 0", "write a number >= 0"))
        late = self.watermark_seconds
        if late is not None and not (isfinite(late) and late >= 0):
            found.append(Mistake((*where, "watermark_seconds"), f"{late} is not a finite number >= 0", "write seconds"))
        if self.min_replicas < 1:
            found.append(Mistake((*where, "min_replicas"), f"{self.min_replicas} is below 1", "write at least 1"))
        if self.max_replicas < max(1, self.min_replicas):
            what = f"max_replicas {self.max_replicas} is below min_replicas {max(1, self.min_replicas)}"
            found.append(Mistake((*where, "max_replicas"), what, "raise it, or lower min_replicas"))
        return found

    def _bad_roles(self, where: tuple[str | int, ...]) -> list[Mistake]:
        found = []
        if self.kind is Kind.STATEFUL and not self.key:
            what = f"stateful operator {self.name!r} has no key"
            found.append(Mistake((*where, "key"), what, "write key: [column, ...], its state is partitioned by it"))
        if self.rate_tps and self.kind is not Kind.SOURCE:
            found.append(Mistake((*where, "rate_tps"), "only a source emits at a rate", "give the stream a rate_tps"))
        if self.pin is not None and self.candidates and self.pin not in self.candidates:
            what = f"pinned to {self.pin!r}, which is not among its candidates"
            found.append(Mistake((*where, "pin"), what, did_you_mean(self.pin, self.candidates)))
        return found


@dataclass(frozen=True, slots=True)
class Stream:
    """One edge of the application: the stream from one operator to the next."""

    source: str
    """Name of the operator that produces it."""
    target: str
    """Name of the operator that consumes it."""
    grouping: Grouping = Grouping.SHUFFLE
    """Distribution of its tuples over the replicas of the target."""
    selectivity: float = 1.0
    """Tuples on this stream per tuple that its producer receives (for a source: emits)."""
    rate_tps: float | None = None
    """λ_(i,j) where it is known or fixed; the selectivity is ignored then."""

    @property
    def ends(self) -> tuple[str, str]:
        """(i, j)."""
        return self.source, self.target

    def mistakes(self, where: tuple[str | int, ...] = ()) -> list[Mistake]:
        """Mistakes of this stream by itself."""
        found = []
        for name, value in (("selectivity", self.selectivity), ("rate_tps", self.rate_tps or 0.0)):
            if not (isfinite(value) and value >= 0):
                found.append(Mistake((*where, name), f"{value} is not a finite number >= 0", "write a number >= 0"))
        return found


@dataclass(frozen=True, slots=True)
class Rates:
    """Tuples per second on every stream and into every operator."""

    streams: Mapping[tuple[str, str], float]
    """λ_(i,j)."""
    operators: Mapping[str, float]
    """λ_i = Σ_j λ_(j,i); for a source, what it emits."""


@dataclass(frozen=True)
class Application:
    """G_dsp: operators joined by streams, acyclic, every operator reached from a source."""

    name: str
    operators: tuple[Operator, ...]
    streams: tuple[Stream, ...] = ()

    def __post_init__(self) -> None:
        """Rejects an invalid graph and lists every mistake."""
        if mistakes := self._mistakes():
            raise InvalidModel(f"application {self.name!r}", mistakes)

    def _mistakes(self) -> list[Mistake]:
        names, edges = [op.name for op in self.operators], [stream.ends for stream in self.streams]
        found = [m for i, op in enumerate(self.operators) for m in op.mistakes(("operators", i))]
        found += [m for i, stream in enumerate(self.streams) for m in stream.mistakes(("streams", i))]
        found += repeated_names(names, "operators", "operator") + edge_mistakes(names, edges)
        return found + reach_mistakes({op.name: op.kind.value for op in self.operators}, names, edges)

    @cached_property
    def by_name(self) -> dict[str, Operator]:
        """Operators by their names."""
        return {op.name: op for op in self.operators}

    @cached_property
    def flow(self) -> tuple[str, ...]:
        """Operator names such that every stream points forward."""
        return flow_order([op.name for op in self.operators], [stream.ends for stream in self.streams])

    @cached_property
    def inputs(self) -> dict[str, tuple[Stream, ...]]:
        """Streams into each operator."""
        return {op.name: tuple(s for s in self.streams if s.target == op.name) for op in self.operators}

    @cached_property
    def outputs(self) -> dict[str, tuple[Stream, ...]]:
        """Streams out of each operator."""
        return {op.name: tuple(s for s in self.streams if s.source == op.name) for op in self.operators}

    @cached_property
    def rates(self) -> Rates:
        """The rates that follow from the sources, the selectivities and the known rates."""
        streams: dict[tuple[str, str], float] = {}
        operators: dict[str, float] = {}
        for name in self.flow:
            received = sum(streams[stream.ends] for stream in self.inputs[name])
            operators[name] = received if self.inputs[name] else self.by_name[name].rate_tps
            for stream in self.outputs[name]:
                fixed = stream.rate_tps
                streams[stream.ends] = operators[name] * stream.selectivity if fixed is None else fixed
        return Rates(streams, operators)

    def with_source_rate(self, rate_tps: float) -> "Application":
        """The same application with every source emitting at this rate."""
        changed = (replace(op, rate_tps=rate_tps) if op.kind is Kind.SOURCE else op for op in self.operators)
        return replace(self, operators=tuple(changed))
