"""Schema of application documents, and its conversion to an `Application`."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from rheostat.model.documents.shapes.latency_shape import LatencyShape, latency_of
from rheostat.model.documents.text.shape import Amount, Count, Names, Shape, Size
from rheostat.model.graph.application import Application, Grouping, Kind, Operator, OutputMode, Stream
from rheostat.model.graph.latency import Constant

Parameter = str | int | float | bool


def _argument(value: Any) -> Parameter:
    """Validates an argument of a function: one of the plain types."""
    if isinstance(value, str | int | float):
        return value
    remedy = "write a text, a number, true or false"
    raise PydanticCustomError("argument", "a parameter must be a single value", {"remedy": remedy})


class OperatorShape(Shape):
    """One operator."""

    name: str = Field(examples=["count"])
    """Unique within the application."""
    kind: Annotated[Kind, Field(strict=False)] = Kind.STATELESS
    """source, stateless, stateful or sink."""
    key: Names = Field([])
    """Columns that partition the state of a stateful operator."""
    output_mode: Annotated[OutputMode, Field(strict=False)] = OutputMode.APPEND
    """append, or update where rows replace earlier rows of the same key."""
    min_replicas: Count = 1
    """Least number of replicas."""
    max_replicas: Count = 1
    """Greatest number of replicas."""
    pin: str | None = None
    """The only node it may run on, if it is pinned."""
    candidates: Names = Field([])
    """Nodes it may run on; all nodes if empty."""
    resources: Amount = 1.0
    """Units of a node's capacity that one replica takes."""
    cost_per_hour: Amount = 1.0
    """Price of a unit of resources for one replica, in $ per hour."""
    code_bytes: Size = 0
    """Bytes of code that a node downloads before it runs the operator for the first time."""
    state_bytes: Size = 0
    """Size of the whole state, all replicas together."""
    latency: LatencyShape | None = None
    """Latency model: time of a tuple, given the load of one replica."""
    rate_tps: Amount = 0.0
    """Tuples per second that a source emits."""
    code: str = Field("", json_schema_extra={"pattern": r"^[^:]+:[^:]+$"})
    """Import path of the function, package.module:function."""
    event_time: str = ""
    """Column of its output that holds the event time."""
    watermark_seconds: Amount | None = None
    """Allowed lateness of its input, in seconds."""
    parameters: dict[
        str,
        Annotated[Any, BeforeValidator(_argument), WithJsonSchema({"type": ["string", "number", "boolean"]})],
    ] = Field({})
    """Arguments for the function."""

    def value(self) -> Operator:
        """The operator; the application reports its mistakes."""
        return Operator(
            latency=Constant() if self.latency is None else latency_of(self.latency),
            **self.plain_fields(),
        )

    def plain_fields(self) -> dict[str, Any]:
        """Every field of the operator but its latency."""
        plain = {name: getattr(self, name) for name in type(self).model_fields if name != "latency"}
        plain["parameters"] = tuple(self.parameters.items())
        return plain | {"key": tuple(self.key), "candidates": tuple(self.candidates)}


class StreamShape(Shape):
    """A stream from one operator to the next."""

    source: str = Field(alias="from", examples=["parser"])
    """Name of the operator that produces it."""
    target: str = Field(alias="to", examples=["count"])
    """Name of the operator that consumes it."""
    grouping: Annotated[Grouping, Field(strict=False)] = Grouping.SHUFFLE
    """Distribution of tuples over replicas: shuffle, key, broadcast or single."""
    selectivity: Amount = 1.0
    """Tuples on this stream per tuple that its producer receives."""
    rate_tps: Amount | None = None
    """Tuples per second, if known or fixed; the selectivity is ignored then."""

    def value(self) -> Stream:
        """The stream."""
        return Stream(self.source, self.target, self.grouping, self.selectivity, self.rate_tps)


def _arrow(value: Any) -> Any:
    """Expands the short form `a -> b`."""
    if not isinstance(value, str):
        return value
    ends = [end.strip() for end in value.split("->")]
    if len(ends) == 2 and all(ends):
        return {"from": ends[0], "to": ends[1]}
    remedy = "write from -> to, such as parser -> count"
    raise PydanticCustomError("arrow", "this is not a stream between two operators", {"remedy": remedy})


class ApplicationShape(Shape):
    """An application: operators joined by streams."""

    kind: Literal["application"]
    name: str = Field(examples=["word-count"])
    """Name of the application."""
    operators: list[OperatorShape] = Field(examples=[[]])
    """The operators."""
    streams: list[
        Annotated[
            StreamShape,
            BeforeValidator(_arrow, json_schema_input_type=StreamShape | Annotated[str, Field(pattern="^.+->.+$")]),
        ]
    ] = Field([])
    """The streams between operators; `a -> b` is short for {from: a, to: b}."""

    def value(self) -> Application:
        """The application; InvalidModel if it contradicts itself."""
        operators = tuple(operator.value() for operator in self.operators)
        return Application(self.name, operators, tuple(stream.value() for stream in self.streams))
