"""A state row belongs to the key group its rows were routed to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.errors import CannotMove
from rheostat.runtime.checkpoints.state_keys import Key, KeyColumn, among


@pytest.mark.parametrize(
    ("key", "fields", "expression"),
    [
        pytest.param(
            Key.of("k", groups=8),
            ["window", "k"],
            "CAST(pmod(xxhash64(partition_key.`k`), 8L) AS INT)",
            id="by name, wherever it is",
        ),
        pytest.param(
            Key.of("a", "b", groups=8),
            ["b", "a"],
            "CAST(pmod(xxhash64(partition_key.`a`, partition_key.`b`), 8L) AS INT)",
            id="in the key's order, not the state's",
        ),
        pytest.param(
            Key.of("k", groups=8),
            ["field0"],
            "CAST(pmod(xxhash64(partition_key.`field0`), 8L) AS INT)",
            id="names lost",
        ),
        pytest.param(
            Key((KeyColumn("k", "int", 1),), 8),
            ["field0", "field1"],
            "CAST(pmod(xxhash64(CAST(partition_key.`field1` AS int)), 8L) AS INT)",
            id="by position, as the type that was routed",
        ),
        pytest.param(
            Key.of("key_group", groups=8), ["v", "key_group"], "CAST(partition_key.`key_group` AS INT)", id="reserved"
        ),
    ],
)
def test_the_group_of_a_state_row(key, fields, expression):
    assert key.of_state(fields) == expression


@pytest.mark.parametrize(
    ("key", "fields"),
    [
        pytest.param(Key.of("k", groups=8), ["city"], id="another key"),
        pytest.param(Key.of("k", groups=8), ["field0", "field1"], id="names lost, which one is it"),
        pytest.param(Key.of("a", "b", groups=8), ["a"], id="only half of the key"),
        pytest.param(Key((KeyColumn("k", position=2),), 8), ["a", "b"], id="beyond the end"),
    ],
)
def test_a_state_that_does_not_hold_the_routing_key_is_refused(key, fields):
    with pytest.raises(CannotMove, match="routing key"):
        key.of_state(fields)


def test_a_key_needs_columns_groups_and_names_each_once():
    for columns, groups in (((), 8), ((KeyColumn("k"),), 0), ((KeyColumn("k"), KeyColumn("k")), 8)):
        with pytest.raises(ValueError, match="key"):
            Key(columns, groups)


@given(st.frozensets(st.integers(0, 40)))
def test_membership_is_true_for_the_groups_and_no_other(groups):
    condition = among("g", groups).replace(" = ", " == ").replace(" OR ", " or ").replace("false", "False")
    condition = condition.replace(" IN ", " in ")
    if "BETWEEN" in condition:
        import re  # noqa: PLC0415

        condition = re.sub(r"g BETWEEN (\d+) AND (\d+)", r"\1 <= g <= \2", condition)
    condition = condition.replace(")", ",)") if " in (" in condition else condition
    assert {g for g in range(41) if eval(condition, {"g": g})} == groups  # noqa: S307
