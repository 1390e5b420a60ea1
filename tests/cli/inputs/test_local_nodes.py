"""Nodes of a run without an infrastructure: as wide as the machine, and wide enough for the application."""

import pytest
from tests.cli.quiet_nodes import WORDS

from rheostat.cli.inputs.local_nodes import available_cores, local_infrastructure
from rheostat.cli.inputs.run_inputs import RunRequest, first_deployment


@pytest.mark.parametrize(
    ("count", "cores", "slots"),
    [
        pytest.param(1, 16, [16.0], id="one node has all cores"),
        pytest.param(3, 16, [6.0] * 3, id="several share them, rounded up"),
        pytest.param(1, 2, [6.0], id="three operators need room to grow on two cores"),
        pytest.param(3, 2, [2.0] * 3, id="and have it on three nodes together"),
        pytest.param(40, 2, [1.0] * 40, id="every node has a slot"),
    ],
)
def test_slots_follow_cores_and_the_application(count, cores, slots):
    found = local_infrastructure(WORDS, count, cores)
    assert [node.capacity for node in found.nodes] == slots
    assert [node.name for node in found.nodes] == [f"n{i + 1}" for i in range(count)]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_an_application_has_room_on_any_number_of_them(count):
    nodes = local_infrastructure(WORDS, count, 1)
    assert set(first_deployment(RunRequest(WORDS, nodes, None))) == set(WORDS.by_name)


def test_the_machine_has_cores():
    assert available_cores() >= 1
