"""The messages between a controller and an agent, all of them: one typed question and one typed answer per call.

Every question goes from a controller to an agent, and every answer from the agent back. Where `by_peer` is true, other
agents may ask as well: they measure the instances that their managers look after.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import GetCoreSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema, core_schema

from rheostat.control.remote.manager_messages import Orders, Report
from rheostat.runtime.channels.hold_file import HoldOrder
from rheostat.runtime.channels.records.offset import format_offset, parse_offset
from rheostat.runtime.checkpoints.capabilities import StateKind
from rheostat.runtime.checkpoints.checkpoint_port import CheckpointName
from rheostat.runtime.checkpoints.state_job import StateJob
from rheostat.runtime.nodes.agent_snapshot import AgentSnapshot
from rheostat.runtime.nodes.node_usage import Usage
from rheostat.runtime.plan.columns import Columns
from rheostat.runtime.plan.instance_spec import InstanceSpec, InstanceStatus
from rheostat.runtime.query.progress_report import BatchReport

Question = TypeVar("Question")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class _AsPlain:
    """Annotation of a value that has a plain form of its own, and checks itself when it is read from it."""

    read: Callable[[dict[str, Any]], Any]
    write: Callable[[Any], dict[str, Any]]

    def __get_pydantic_core_schema__(self, source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """A schema made of both forms, without a look into the fields of the value."""

        def checked(given: dict[str, Any]) -> Any:
            try:
                return self.read(given)
            except (KeyError, TypeError) as wrong:
                raise ValueError(f"this is no {source.__name__}: {wrong!r}") from wrong

        plain = core_schema.no_info_after_validator_function(checked, core_schema.dict_schema())
        return core_schema.union_schema(
            [core_schema.is_instance_schema(source), plain],
            serialization=core_schema.plain_serializer_function_ser_schema(self.write),
        )


PlainOrders = Annotated[Orders, _AsPlain(Orders.from_plain, Orders.to_plain)]
PlainReport = Annotated[Report, _AsPlain(Report.from_plain, Report.to_plain)]
PlainSnapshot = Annotated[AgentSnapshot, _AsPlain(AgentSnapshot.from_plain, AgentSnapshot.to_plain)]


@dataclass(frozen=True, slots=True)
class Nothing:
    """A question without content, or an answer that only says that the order was carried out."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A sign of life of an agent."""

    node: str
    warm: bool
    """Whether its Spark has run a small application, or has found that it cannot."""


@dataclass(frozen=True, slots=True)
class StopOrder:
    """An instance to be stopped."""

    instance: str
    gently: bool = False
    """Between two batches, if there is such a moment soon."""


@dataclass(frozen=True, slots=True)
class HoldMessage:
    """An order for an instance: to plan nothing new, to go exactly to some offsets, or to go on."""

    instance: str
    hold: bool = False
    limits: tuple[str, ...] = ()
    """Offsets as text."""
    token: str = ""
    starting: bool = False

    @classmethod
    def of(cls, instance: str, order: HoldOrder) -> "HoldMessage":
        """The message of an order."""
        limits = tuple(format_offset(limit) for limit in order.limits)
        return cls(instance, order.hold, limits, order.token, order.starting)

    @property
    def order(self) -> HoldOrder:
        """The order in the message."""
        return HoldOrder(self.hold, tuple(parse_offset(limit) for limit in self.limits), self.token, self.starting)


@dataclass(frozen=True, slots=True)
class BatchesAfter:
    """A question for the batches of an instance with a greater number."""

    instance: str
    after: int = -1


@dataclass(frozen=True, slots=True)
class ApplicationText:
    """An application as a document, to find the columns of its streams."""

    text: str


@dataclass(frozen=True, slots=True)
class ManagerQuestion:
    """Orders for the managers on a node; without orders only their report is asked for."""

    orders: PlainOrders | None = None
    fingerprint: str = ""
    """Of the snapshot that the orders are about."""
    snapshot: PlainSnapshot | None = None
    """Given when the agent does not know it yet."""


@dataclass(frozen=True, slots=True)
class ManagerAnswer:
    """The report of the managers on a node; none if the agent does not know the snapshot of the question."""

    report: PlainReport | None = None


@dataclass(frozen=True, slots=True)
class Call(Generic[Question, Answer]):
    """One question and its answer, both checked on arrival."""

    path: str
    question: TypeAdapter[Question]
    answer: TypeAdapter[Answer]
    by_peer: bool = False


NOTHING = TypeAdapter(Nothing)

HEARTBEAT = Call("heartbeat", NOTHING, TypeAdapter(Heartbeat), by_peer=True)
STATUSES = Call("statuses", NOTHING, TypeAdapter(Sequence[InstanceStatus]), by_peer=True)
PROGRESS = Call("progress", TypeAdapter(BatchesAfter), TypeAdapter(Sequence[BatchReport]), by_peer=True)
USAGE = Call("usage", NOTHING, TypeAdapter(Usage), by_peer=True)
START = Call("start", TypeAdapter(InstanceSpec), NOTHING)
STOP = Call("stop", TypeAdapter(StopOrder), NOTHING)
HOLD = Call("hold", TypeAdapter(HoldMessage), NOTHING)
QUIESCE = Call("quiesce", NOTHING, NOTHING)
COLUMNS = Call("columns", TypeAdapter(ApplicationText), TypeAdapter(dict[str, Columns]))
MANAGERS = Call("managers", TypeAdapter(ManagerQuestion), TypeAdapter(ManagerAnswer))
NAMES = Call("checkpoints/names", NOTHING, TypeAdapter(Sequence[CheckpointName]))
OFFSETS = Call("checkpoints/offsets", TypeAdapter(CheckpointName), TypeAdapter(tuple[str, ...] | None))
STATE_KIND = Call("checkpoints/state-kind", TypeAdapter(CheckpointName), TypeAdapter(StateKind | None))
TAKE = Call("checkpoints/take", TypeAdapter(InstanceSpec), NOTHING)
PLACE_AHEAD = Call("checkpoints/place-ahead", TypeAdapter(StateJob), NOTHING)
BUILD = Call("checkpoints/build", TypeAdapter(StateJob), NOTHING)
REMOVE = Call("checkpoints/remove", TypeAdapter(Sequence[CheckpointName]), NOTHING)

CALLS: tuple[Call[Any, Any], ...] = (
    HEARTBEAT, STATUSES, PROGRESS, USAGE, START, STOP, HOLD, QUIESCE, COLUMNS, MANAGERS,
    NAMES, OFFSETS, STATE_KIND, TAKE, PLACE_AHEAD, BUILD, REMOVE,
)  # fmt: skip
"""Every message; an agent refuses everything else."""
