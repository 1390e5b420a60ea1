"""Capabilities of each kind of state: the ways it can be moved, known when a change is planned.

Every line is backed by a test in `tests/runtime/checkpoints`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from rheostat.errors import CannotMove
from rheostat.runtime.checkpoints.checkpoint import Checkpoint
from rheostat.runtime.checkpoints.state_operators import OperatorState


class StateWay(StrEnum):
    """A way to move state."""

    REPARTITION = "repartition"
    """Another number of partitions in the same directory."""
    RELOCATE = "relocate"
    """All of an instance to another directory."""
    REBUILD = "rebuild"
    """Some key groups of some instances to a new one: split, merge, rebalance."""


class StateKind(StrEnum):
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


_KINDS: Mapping[str, StateKind] = MappingProxyType(
    {
        "stateStoreSave": StateKind.AGGREGATION,
        "sessionWindowStateStoreSaveExec": StateKind.SESSION_WINDOW,
        "dedupe": StateKind.DEDUPLICATION,
        "dedupeWithinWatermark": StateKind.DEDUPLICATION_WITHIN_WATERMARK,
        "symmetricHashJoin": StateKind.JOIN,
        "flatMapGroupsWithState": StateKind.MAP_GROUPS,
        "applyInPandasWithState": StateKind.MAP_GROUPS,
        "transformWithStateExec": StateKind.TRANSFORM,
        "transformWithStateInPandasExec": StateKind.TRANSFORM,
        "transformWithStateInPySparkExec": StateKind.TRANSFORM,
        "globalLimit": StateKind.GLOBAL_LIMIT,
    }
)
"""Spark's names of its operators, as they stand in the operator metadata."""

_SINGLE = "its state is one row in one partition whatever the number of partitions is"
_REFUSED: Mapping[tuple[StateKind, StateWay], str] = MappingProxyType(
    {
        (StateKind.GLOBAL_AGGREGATION, StateWay.REPARTITION): f"{_SINGLE}, and Spark's repartitioning would lose it",
        (StateKind.GLOBAL_AGGREGATION, StateWay.REBUILD): f"{_SINGLE}; it has no key to split by",
        (StateKind.GLOBAL_LIMIT, StateWay.REPARTITION): f"{_SINGLE}, and Spark refuses to repartition it",
        (StateKind.GLOBAL_LIMIT, StateWay.REBUILD): f"{_SINGLE}; it has no key to split by",
        (StateKind.STATELESS, StateWay.REPARTITION): "it has no state; start it with another number of partitions",
        (StateKind.STATELESS, StateWay.REBUILD): "it has no state; start it elsewhere with an edited offset",
        (StateKind.UNKNOWN, StateWay.REPARTITION): "its operator is not known here",
        (StateKind.UNKNOWN, StateWay.REBUILD): "its operator is not known here",
    }
)


@dataclass(frozen=True, slots=True)
class Description:
    """What a checkpoint holds."""

    kind: StateKind
    operators: tuple[OperatorState, ...]
    partitions: int | None
    """State partitions of its last batch; None before the first."""
    batch: int | None
    """Its last committed batch."""


def kind_of(operator: OperatorState) -> StateKind:
    """The kind of an operator found in a checkpoint."""
    kind = _KINDS.get(operator.name, StateKind.UNKNOWN)
    return StateKind.GLOBAL_AGGREGATION if kind is StateKind.AGGREGATION and not operator.has_key else kind


def describe(checkpoint: Checkpoint) -> Description:
    """What is in a checkpoint. With several stateful operators it is of unknown kind: a fragment has one at most."""
    operators = checkpoint.operators()
    kinds = {kind_of(operator) for operator in operators}
    kind = StateKind.STATELESS if not kinds else kinds.pop() if len(operators) == 1 else StateKind.UNKNOWN
    last = checkpoint.last_committed
    return Description(kind, operators, None if last is None else checkpoint.planned(last).partitions, last)


def why_not(kind: StateKind, way: StateWay, output_mode: str = "append") -> str | None:
    """Why the state of a kind of operator cannot be moved this way; None if it can."""
    if output_mode == "complete" and way is StateWay.REBUILD:
        return "in complete mode every instance would write its own part as if it were the whole result"
    return _REFUSED.get((kind, way))


def require(way: StateWay, checkpoint: Checkpoint) -> None:
    """Refuses a change that the checkpoint's operator does not allow."""
    kind = describe(checkpoint).kind
    reason = why_not(kind, way)
    if reason is not None:
        raise CannotMove(f"{checkpoint.path} ({kind})", reason)
