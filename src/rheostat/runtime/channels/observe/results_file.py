"""Export of results as one file that other programs read: Parquet, CSV or lines of JSON."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from rheostat.errors import RuntimeFault

SUFFIXES = (".parquet", ".csv", ".jsonl")


def write_results(tables: Iterable[pa.Table], schema: pa.Schema, path: Path) -> int:
    """Writes one table after the other, as the name of the file says, and tells how many rows.

    The file is there when it is whole: one that was there before stays if something goes wrong.
    """
    part = path.with_name(f".{path.name}.part")
    rows = 0
    try:
        with _writer(part, schema, path.suffix) as write:
            for table in tables:
                write(table.cast(schema))
                rows += table.num_rows
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return rows


def common_schema(schemas: Iterable[pa.Schema]) -> pa.Schema:
    """The columns of all: what may be null in one of them may be null."""
    return pa.unify_schemas(list(dict.fromkeys(schemas)), promote_options="default")


def plain(value: Any) -> Any:
    """A value as JSON can hold it: times as ISO 8601, bytes as base 64, exact decimals as texts, no number as null.

    >>> plain({"at": datetime(2024, 2, 29, 12), "n": [1, Decimal("0.10"), float("nan")]})
    {'at': '2024-02-29T12:00:00', 'n': [1, '0.10', None]}
    """
    match value:
        case dict():
            return {str(name): plain(one) for name, one in value.items()}
        case list() | tuple():
            return [plain(one) for one in value]
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return _plain_atom(value)


def _plain_atom(value: Any) -> Any:
    match value:
        case Decimal() | timedelta():
            return str(value)
        case bytes():
            return b64encode(value).decode()
        case float() if not isfinite(value):
            return None
        case _:
            return value


@contextmanager
def _writer(path: Path, schema: pa.Schema, suffix: str) -> Iterator[Any]:
    if suffix == ".parquet":
        with parquet.ParquetWriter(path, schema) as file:
            yield file.write_table
    elif suffix == ".csv":
        if nested := [field.name for field in schema if pa.types.is_nested(field.type)]:
            names = ", ".join(nested)
            raise RuntimeFault(f"CSV has no way to write {names}; give the file the ending .parquet or .jsonl")
        with csv.CSVWriter(path, schema) as file:
            yield file.write_table
    else:
        with path.open("w", encoding="utf-8") as lines:
            yield lambda table: lines.writelines(f"{json.dumps(plain(row))}\n" for row in table.to_pylist())
