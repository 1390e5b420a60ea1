"""What can be done with the state of which kind of operator? Known when a change is planned, never found out half-way.

Every line is backed by a test in `tests/spark/state`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from rheostat.errors import CannotMove
from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.checkpoints.state_operators import OperatorState


class Way(StrEnum):
    """A way to move state."""

    REPARTITION = "repartition"
    """Another number of partitions in the same directory."""
    RELOCATE = "relocate"
    """All of an instance to another directory."""
    REBUILD = "rebuild"
    """Some key groups of some instances to a new one: split, merge, rebalance."""


class Kind(StrEnum):
    """A kind of stateful operator."""

    AGGREGATION = "aggregation"
    """groupBy with a key, also by a tumbling or sliding window."""
    GLOBAL_AGGREGATION = "aggregation without a key"
    SESSION_WINDOW = "session window"
    DEDUPLICATION = "dropDuplicates"
    DEDUPLICATION_WITHIN_WATERMARK = "dropDuplicatesWithinWatermark"
    JOIN = "stream-stream join"
    MAP_GROUPS = "applyInPandasWithState"
    TRANSFORM = "transformWithState"
    GLOBAL_LIMIT = "limit"
    STATELESS = "no state"
    UNKNOWN = "unknown"


_KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "stateStoreSave": Kind.AGGREGATION,
        "sessionWindowStateStoreSaveExec": Kind.SESSION_WINDOW,
        "dedupe": Kind.DEDUPLICATION,
        "dedupeWithinWatermark": Kind.DEDUPLICATION_WITHIN_WATERMARK,
        "symmetricHashJoin": Kind.JOIN,
        "flatMapGroupsWithState": Kind.MAP_GROUPS,
        "applyInPandasWithState": Kind.MAP_GROUPS,
        "transformWithStateExec": Kind.TRANSFORM,
        "transformWithStateInPandasExec": Kind.TRANSFORM,
        "transformWithStateInPySparkExec": Kind.TRANSFORM,
        "globalLimit": Kind.GLOBAL_LIMIT,
    }
)
"""Spark's names of its operators, as they stand in the operator metadata."""

_SINGLE = "its state is one row in one partition whatever the number of partitions is"
_REFUSED: Mapping[tuple[Kind, Way], str] = MappingProxyType(
    {
        (Kind.GLOBAL_AGGREGATION, Way.REPARTITION): f"{_SINGLE}, and Spark's repartitioning would lose it",
        (Kind.GLOBAL_AGGREGATION, Way.REBUILD): f"{_SINGLE}; it has no key to split by",
        (Kind.GLOBAL_LIMIT, Way.REPARTITION): f"{_SINGLE}, and Spark refuses to repartition it",
        (Kind.GLOBAL_LIMIT, Way.REBUILD): f"{_SINGLE}; it has no key to split by",
        (Kind.STATELESS, Way.REPARTITION): "it has no state; start it with another number of partitions",
        (Kind.STATELESS, Way.REBUILD): "it has no state; start it elsewhere with an edited offset",
        (Kind.UNKNOWN, Way.REPARTITION): "its operator is not known here",
        (Kind.UNKNOWN, Way.REBUILD): "its operator is not known here",
    }
)


@dataclass(frozen=True, slots=True)
class Description:
    """What a checkpoint holds."""

    kind: Kind
    operators: tuple[OperatorState, ...]
    partitions: int | None
    """State partitions of its last batch; None before the first."""
    batch: int | None
    """Its last committed batch."""


def kind_of(operator: OperatorState) -> Kind:
    """The kind of an operator found in a checkpoint."""
    kind = _KINDS.get(operator.name, Kind.UNKNOWN)
    return Kind.GLOBAL_AGGREGATION if kind is Kind.AGGREGATION and not operator.has_key else kind


def describe(checkpoint: Checkpoint) -> Description:
    """What is in a checkpoint. With several stateful operators it is of unknown kind: a fragment has one at most."""
    operators = checkpoint.operators()
    kinds = {kind_of(operator) for operator in operators}
    kind = Kind.STATELESS if not kinds else kinds.pop() if len(operators) == 1 else Kind.UNKNOWN
    last = checkpoint.last_committed
    return Description(kind, operators, None if last is None else checkpoint.planned(last).partitions, last)


def why_not(kind: Kind, way: Way, output_mode: str = "append") -> str | None:
    """Why the state of a kind of operator cannot be moved this way; None if it can."""
    if output_mode == "complete" and way is Way.REBUILD:
        return "in complete mode every instance would write its own part as if it were the whole result"
    return _REFUSED.get((kind, way))


def require(way: Way, checkpoint: Checkpoint) -> None:
    """Refuses a change that the checkpoint's operator does not allow."""
    kind = describe(checkpoint).kind
    reason = why_not(kind, way)
    if reason is not None:
        raise CannotMove(f"{checkpoint.path} ({kind})", reason)
