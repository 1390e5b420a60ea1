"""A tick is a row of nothing but event time, whatever columns there are."""

import pyarrow as pa
import pytest

from rheostat.runtime.channels.streaming.data_source import TICK, _tick

KINDS = [
    pa.string(), pa.int32(), pa.int64(), pa.float64(), pa.bool_(), pa.binary(), pa.date32(), pa.timestamp("us", "UTC"),
    pa.decimal128(10, 2), pa.list_(pa.string()), pa.map_(pa.string(), pa.int64()), pa.struct([("a", pa.string())]),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("nullable", [True, False])
def test_a_column_that_may_not_be_null_is_not(kind, nullable):
    wanted = pa.schema(
        [
            pa.field("ts", pa.timestamp("us", "UTC")),
            pa.field("data", kind, nullable=nullable),
            pa.field(TICK, pa.bool_()),
        ]
    )
    row = _tick(wanted, "ts", 5)
    assert row.schema.equals(wanted)
    assert row.column("data").null_count == (1 if nullable else 0)
    assert row.column("ts").cast(pa.int64()).to_pylist() == [5]
    assert row.column(TICK).to_pylist() == [True]
