"""The key group of a row of state.

A stream is routed by `pmod(xxhash64(key columns), G)`. A state row is moved by the same expression over the key columns
inside its `partition_key`, which Spark's state reader delivers with every row. They agree only if the same types are
hashed: a join that compares an int with a bigint keeps a bigint, whose hash is another one. So a key may name its
columns' types, and the state's values are cast back to them.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rheostat.errors import CannotMove

KEY_GROUP = "key_group"
"""The reserved column that holds the key group itself: as a key it is taken as it is, not hashed."""
PARTITION_KEY = "partition_key"
_NAMELESS = re.compile(r"(field|_)?\d+")
"""What Spark calls the key's fields where it has dropped their names: a join's are "field0", "field1", ..."""


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """One column of the key a stream is routed by."""

    name: str
    type: str | None = None
    """The type the producer hashed, in Spark's words such as "bigint"; None if the state holds the same type."""
    position: int | None = None
    """Its place in the state's key, for operators that drop the names (a join: the order of the equalities)."""


@dataclass(frozen=True, slots=True)
class Key:
    """How a row finds its key group."""

    columns: tuple[KeyColumn, ...]
    groups: int
    """The number of key groups, G."""

    def __post_init__(self) -> None:
        """Refuses keys that route nothing."""
        if not self.columns or self.groups < 1:
            raise ValueError(f"a key needs columns and at least one group, got {self}")
        if len({column.name for column in self.columns}) < len(self.columns):
            raise ValueError(f"a key names each column once, got {self.columns}")

    @classmethod
    def of(cls, *names: str, groups: int) -> "Key":
        """A key of columns whose types the state keeps."""
        return cls(tuple(KeyColumn(name) for name in names), groups)

    @property
    def is_group(self) -> bool:
        """Whether the key is the key group itself."""
        return [column.name for column in self.columns] == [KEY_GROUP]

    def of_row(self) -> str:
        """The SQL expression of the key group of a row of the stream."""
        return self._group([_quoted(column.name) for column in self.columns])

    def of_state(self, fields: Sequence[str]) -> str:
        """The SQL expression of the key group of a state row whose `partition_key` has these fields."""
        places = self._places(fields)
        return self._group([f"{PARTITION_KEY}.{_quoted(fields[place])}" for place in places])

    def _group(self, values: Sequence[str]) -> str:
        if self.is_group:
            return f"CAST({values[0]} AS INT)"
        typed = [
            f"CAST({value} AS {column.type})" if column.type else value
            for value, column in zip(values, self.columns, strict=True)
        ]
        return f"CAST(pmod(xxhash64({', '.join(typed)}), {self.groups}L) AS INT)"

    def _places(self, fields: Sequence[str]) -> list[int]:
        """By position where one is given, by name where the state has names, in order where it has none."""
        names = [column.name for column in self.columns]
        if all(column.position is not None for column in self.columns):
            places = [column.position for column in self.columns if column.position is not None]
            if max(places) < len(fields):
                return places
        elif set(names) <= set(fields):
            return [fields.index(name) for name in names]
        elif len(fields) == len(names) and all(_NAMELESS.fullmatch(field) for field in fields):
            return list(range(len(names)))
        raise CannotMove(
            f"an operator keyed by {', '.join(names)}",
            f"its state is keyed by ({', '.join(fields)}); the routing key must be part of it"
            " (give the columns' positions if the names were lost)",
        )


def among(group: str, groups: Collection[int]) -> str:
    """The SQL condition that a key group is one of these; as few comparisons as the set allows."""
    if not groups:
        return "false"
    runs = _runs(sorted(groups))
    tests = [f"{group} = {first}" if first == last else f"{group} BETWEEN {first} AND {last}" for first, last in runs]
    listed = f"{group} IN ({', '.join(str(one) for one in sorted(groups))})"
    return " OR ".join(tests) if len(tests) <= 4 else listed


def _runs(ordered: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in ordered:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
