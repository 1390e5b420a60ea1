"""Schema of latency models in documents: `{model: mm1, service_rate_tps: 284}`."""

from typing import Annotated, Literal

from pydantic import Field

from rheostat.errors import Mistake
from rheostat.model.documents.text.shape import Amount, Positive, Shape
from rheostat.model.documents.text.written import Path
from rheostat.model.graph.latency import MM1, Constant, LatencyModel, MicroBatch, Polynomial, Tabulated


class ConstantShape(Shape):
    """The same latency at any load."""

    model: Literal["constant"]
    milliseconds: Amount = Field(examples=[5])
    """Execution time of a tuple."""


class MM1Shape(Shape):
    """An M/M/1 queue."""

    model: Literal["mm1"]
    service_rate_tps: Positive = Field(examples=[284])
    """Tuples per second that one replica can serve on the reference processor."""


class MicroBatchShape(Shape):
    """Micro-batches, one after the other."""

    model: Literal["micro-batch"]
    capacity_tps: Positive = Field(examples=[50])
    """Tuples per second that one replica can process if its batches are very large."""
    fixed_ms: Amount = Field(examples=[200])
    """Milliseconds that a batch takes regardless of its number of rows."""


class PolynomialShape(Shape):
    """A polynomial in the load, fitted to measured points."""

    model: Literal["polynomial"]
    coefficients: list[float] = Field(examples=[[1, 0.1]])
    """c0, c1, ...: latency = c0 + c1 load + c2 load² + ..., in milliseconds."""
    saturation_tps: Positive = float("inf")
    """Largest load for which the curve is valid; beyond it the replica counts as saturated."""


class TabulatedShape(Shape):
    """Measured points joined by straight lines."""

    model: Literal["tabulated"]
    loads_tps: list[Amount] = Field(examples=[[0, 100]])
    """Loads in tuples per second, strictly increasing."""
    latencies_ms: list[Amount] = Field(examples=[[1, 5]])
    """Latency in milliseconds at each load, not decreasing."""


LatencyShape = Annotated[
    ConstantShape | MM1Shape | MicroBatchShape | PolynomialShape | TabulatedShape,
    Field(discriminator="model"),
]


def latency_of(shape: LatencyShape) -> LatencyModel:
    """The latency model; ValueError if its numbers are invalid."""
    if isinstance(shape, ConstantShape):
        return Constant(shape.milliseconds)
    if isinstance(shape, MM1Shape):
        return MM1(shape.service_rate_tps)
    if isinstance(shape, MicroBatchShape):
        return MicroBatch(shape.capacity_tps, shape.fixed_ms)
    if isinstance(shape, PolynomialShape):
        return Polynomial(tuple(shape.coefficients), shape.saturation_tps)
    return Tabulated(tuple(shape.loads_tps), tuple(shape.latencies_ms))


def latency_mistakes(shape: LatencyShape, where: Path) -> list[Mistake]:
    """Every invalid number of a latency model: each field is tried with valid values for the others."""
    if isinstance(shape, TabulatedShape):
        return _table_mistakes(shape, where)
    if isinstance(shape, PolynomialShape):
        curve = shape.model_copy(update={"saturation_tps": 1.0})
        limit = shape.model_copy(update={"coefficients": [0.0]})
        return [
            *_tried(curve, (*where, "coefficients"), "write finite numbers, at least one"),
            *_tried(limit, (*where, "saturation_tps"), "write a number > 0, or leave it out"),
        ]
    if isinstance(shape, MM1Shape):
        return _tried(shape, (*where, "service_rate_tps"), "write a number > 0")
    if isinstance(shape, MicroBatchShape):
        return [
            *_tried(shape.model_copy(update={"fixed_ms": 0.0}), (*where, "capacity_tps"), "write a number > 0"),
            *_tried(shape.model_copy(update={"capacity_tps": 1.0}), (*where, "fixed_ms"), "write a number >= 0"),
        ]
    return _tried(shape, (*where, "milliseconds"), "write a number >= 0")


def _table_mistakes(shape: TabulatedShape, where: Path) -> list[Mistake]:
    loads, latencies = shape.loads_tps, shape.latencies_ms
    if len(loads) != len(latencies):
        what = f"the table has {len(loads)} loads and {len(latencies)} latencies"
        return [Mistake((*where, "latencies_ms"), what, "write one latency for each load")]
    flat = shape.model_copy(update={"latencies_ms": [0.0] * len(loads)})
    even = shape.model_copy(update={"loads_tps": [float(i) for i in range(len(loads))]})
    found = _tried(flat, (*where, "loads_tps"), "write loads >= 0, at least one, each greater than the one before")
    # Without any point both checks would report the same mistake.
    return found + (
        _tried(even, (*where, "latencies_ms"), "write latencies >= 0 that do not decrease") if loads else []
    )


def _tried(shape: LatencyShape, where: Path, remedy: str) -> list[Mistake]:
    try:
        latency_of(shape)
    except ValueError as error:
        return [Mistake(where, str(error), remedy)]
    return []
