"""Small helpers of the tests of state."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.runtime.checkpoints.instances import Instance
from tests.runtime.checkpoints.kinds import KINDS
from tests.runtime.checkpoints.rounds import GROUPS

ALL = frozenset(range(GROUPS))
COUNT = KINDS[0]


@contextmanager
def configured(spark, name: str, value: str) -> Iterator[None]:
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.unset(name)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def interrupted(*_) -> None:
    raise KeyboardInterrupt


def some(name: str, owned: str, partitions: int) -> Instance:
    return Instance(name, frozenset(int(digit) for digit in owned), partitions)
