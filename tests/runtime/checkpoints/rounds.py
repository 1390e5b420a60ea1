"""The input of the state-moving tests: rows in rounds of one minute of event time, none of them late."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
GROUPS = 8
ROUND_SECONDS = 60
DELAY_SECONDS = 20
END = "end"
"""The key of the row that moves every watermark past everything else; its own results are not compared."""


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """A row of the stream; `second` is its event time."""

    key: str
    value: int
    second: int

    @property
    def time(self) -> datetime:
        return EPOCH + timedelta(seconds=self.second)


def at(second: float) -> datetime:
    return EPOCH + timedelta(seconds=second)


def round_of(row: Row) -> int:
    return row.second // ROUND_SECONDS


def make_rounds(pulse_keys: Sequence[str], rounds: int = 5, seed: int = 7) -> list[list[Row]]:
    """Random rows, a third of the keys silent in each round, and in every key group one row near the end of the round.

    The last makes every instance's watermark end a round at the same second or so, whichever groups it owns.
    """
    chance = random.Random(seed)
    made: list[list[Row]] = []
    for number in range(rounds):
        start = number * ROUND_SECONDS
        keys = [f"k{i}" for i in range(60) if (i + number) % 3]
        rows = [
            Row(chance.choice(keys), chance.randrange(5), start + chance.randrange(5, ROUND_SECONDS))
            for _ in range(120)
        ]
        rows += [Row(key, 9, start + ROUND_SECONDS - 1) for key in pulse_keys]
        made.append(rows)
    made.append([Row(END, 0, (rounds + 60) * ROUND_SECONDS)])
    return made


def compared(rows: Iterable[Row]) -> list[Row]:
    """All rows but the one that only moves the watermark."""
    return sorted(row for row in rows if row.key != END)
