"""Recorded rates from a CSV file of two columns, time and count, as monitoring systems export them.

```
timestamp,value
2014-07-01 00:00:00,10844
2014-07-01 00:30:00,8127
```

The first column is a date with time or a number of seconds, the second a count or a rate: only its shape matters if it
is scaled. Every line that cannot be used is reported with its number, and so is every gap, since a gap would change the
workload.
"""

import csv
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise
from math import isfinite
from pathlib import Path
from statistics import median

from rheostat.errors import InvalidDocument, Located
from rheostat.simulation.load.workload import TraceWorkload

MOST_TOLD = 50
"""Most mistakes listed; the last line says how many there are in all."""


def read_trace(path: Path, gap_factor: float = 1.5) -> TraceWorkload:
    """The rates of a file; a step longer than `gap_factor` times the median step is a gap."""
    found: list[Located] = []
    points: list[tuple[int, float, float]] = []
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            reader = csv.reader(lines)
            for row in reader:
                if row and not (reader.line_num == 1 and _is_header(row)):
                    _take(row, reader.line_num, str(path), points, found)
    except (UnicodeDecodeError, csv.Error) as wrong:
        raise InvalidDocument([Located(str(path), 1, f"this is not CSV text: {wrong}")]) from wrong
    found += _steps(str(path), points, gap_factor)
    if not found and len(points) < 2:
        found.append(Located(str(path), 1, "a trace needs at least two lines of `when,how many`"))
    if found:
        raise InvalidDocument(_most(found))
    return TraceWorkload.of([when for _, when, _ in points], [rate for _, _, rate in points])


def _is_header(row: list[str]) -> bool:
    return not any(character.isdigit() for character in "".join(row))


def _take(row: list[str], line: int, file: str, points: list[tuple[int, float, float]], found: list[Located]) -> None:
    """Parses a line and adds its point, or its mistakes."""
    if len(row) < 2:
        found.append(Located(file, line, f"{row[0]!r} is one column where two are needed", "write `when,how many`"))
        return
    when, rate = _moment(row[0]), _number(row[1])
    if when is None:
        found.append(Located(file, line, f"{row[0]!r} is neither a date with time nor a number of seconds"))
    if rate is None or rate < 0:
        found.append(Located(file, line, f"{row[1]!r} is not a rate", "write a number >= 0"))
    if when is not None and rate is not None and rate >= 0:
        points.append((line, when, rate))


def _moment(text: str) -> float | None:
    seconds = _number(text)
    if seconds is not None:
        return seconds
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    # A time without a zone is local time; one fixed zone keeps days 24 hours long.
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _steps(file: str, points: list[tuple[int, float, float]], gap_factor: float) -> Iterable[Located]:
    """Mistakes of times: steps backwards, and gaps."""
    steps = [later[1] - earlier[1] for earlier, later in pairwise(points)]
    forward = [step for step in steps if step > 0]
    usual = median(forward) if forward else 0.0
    for (line, _, _), step in zip(points[1:], steps, strict=True):
        if step <= 0:
            yield Located(file, line, "this is not later than the line before", "sort the file, remove repetitions")
        elif step > gap_factor * usual:
            yield Located(file, line, f"{step:g} s are missing before this line: lines are {usual:g} s apart")


def _most(found: list[Located]) -> list[Located]:
    told = sorted(found)[:MOST_TOLD]
    if len(found) > MOST_TOLD:
        last = told[-1]
        told.append(Located(last.file, last.line, f"and {len(found) - MOST_TOLD} more lines that cannot be used"))
    return told
