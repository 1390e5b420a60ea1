"""The columns of an operator's output, as every node is told them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Columns:
    """What an operator's output looks like."""

    schema: str
    """JSON of Spark's StructType."""
    event_time: str = ""
    """The column of the event time, if there is one: its own, or the one of its only input that it has kept."""
