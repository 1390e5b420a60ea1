"""Infrastructure from a CSV table of delays in ms; its first row and first column name the nodes.

The entry in row u, column v is the one-way delay from u to v. The diagonal may be empty, the corner is ignored.
"""

import csv
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from rheostat.errors import InvalidDocument, Located
from rheostat.model.documents.text.text_files import text_of
from rheostat.model.graph.flow_order import did_you_mean
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node

_FORM = "write a first row ,n1,n2,... and then one row n1,0,12,... for each node"


@dataclass(frozen=True, slots=True)
class _Line:
    """One row of the table."""

    number: int
    name: str
    cells: tuple[str, ...]


def read_delay_matrix(path: Path) -> Infrastructure:
    """The infrastructure in a CSV file; its nodes have default settings, its name is that of the file."""
    lines = _lines(text_of(path), str(path))
    if not lines or len(lines[0].cells) == 0:
        raise InvalidDocument([Located(str(path), 1, "this is not a table of delays", _FORM)])
    header, rows = lines[0], lines[1:]
    if found := [*_header_mistakes(header, rows, str(path))] or _row_mistakes(header, rows, str(path)):
        raise InvalidDocument(found)
    by_name = {row.name: row for row in rows}
    delays = [[_number(cell) or 0.0 for cell in by_name[name].cells] for name in header.cells]
    return Infrastructure(path.stem, tuple(Node(name) for name in header.cells), delays_ms=DelayMatrix.of(delays))


def _lines(text: str, file: str) -> list[_Line]:
    """Rows that are not blank, with their line numbers."""
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    lines = []
    try:
        for row in reader:
            cells = tuple(cell.strip() for cell in row)
            if any(cells):
                lines.append(_Line(reader.line_num, cells[0], cells[1:]))
    except csv.Error as error:
        mistake = Located(file, reader.line_num, f"this is not CSV: {error}", "check the quotes")
        raise InvalidDocument([mistake]) from None
    return lines


def _header_mistakes(header: _Line, rows: list[_Line], file: str) -> list[Located]:
    """Mistakes in the header: unnamed or repeated columns, or rows and columns with different names."""
    found = []
    for column, name in enumerate(header.cells):
        if not name:
            what = f"column {column + 2} has no name"
            found.append(Located(file, header.number, what, "name a node, or remove the column"))
        elif name in header.cells[:column]:
            found.append(Located(file, header.number, f"the column {name!r} is there twice", "remove one of them"))
    if rows and not any(row.name in header.cells for row in rows):
        what = f"no row has the name of a column: not a table of delays between {', '.join(header.cells[:3])}, ..."
        found.append(Located(file, header.number, what, _FORM))
    return found


def _row_mistakes(header: _Line, rows: list[_Line], file: str) -> list[Located]:
    found, seen = [], set[str]()
    for row in rows:
        if row.name not in header.cells:
            remedy = did_you_mean(row.name, header.cells)
            found.append(Located(file, row.number, f"the row {row.name!r} is not a column", remedy))
        elif row.name in seen:
            found.append(Located(file, row.number, f"the row {row.name!r} is there twice", "remove one of them"))
        seen.add(row.name)
        if len(row.cells) != len(header.cells):
            what = f"the row {row.name!r} has {len(row.cells)} entries for {len(header.cells)} columns"
            found.append(Located(file, row.number, what, "write one entry for each column"))
        found += [_bad_entry(header, row, v, file) for v in range(len(row.cells)) if not _is_delay(header, row, v)]
    unknown = any(row.name not in header.cells for row in rows)
    for name in header.cells if not unknown else ():
        if name not in seen:
            found.append(Located(file, header.number, f"the column {name!r} has no row", f"add a row {name},..."))
    return found


def _is_delay(header: _Line, row: _Line, v: int) -> bool:
    if v < len(header.cells) and header.cells[v] == row.name:
        return True  # the diagonal does not count
    delay = _number(row.cells[v])
    return delay is not None and isfinite(delay) and delay >= 0


def _bad_entry(header: _Line, row: _Line, v: int, file: str) -> Located:
    column = repr(header.cells[v]) if v < len(header.cells) else str(v + 2)
    what = f"the entry {row.cells[v]!r} in row {row.name!r}, column {column} is not a delay"
    return Located(file, row.number, what, "write milliseconds >= 0")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
