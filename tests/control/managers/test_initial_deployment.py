"""First deployment of an application."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.control.still_world import APPLICATION, nodes
from tests.strategies import applications, infrastructures

from rheostat.control.managers.initial_deployment import balanced, near_its_inputs
from rheostat.errors import InvalidModel
from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Replicas
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node


def line(count=6, resources=1.0):
    delays = 10.0 * abs(np.subtract.outer(np.arange(count), np.arange(count)))
    return Infrastructure(
        "line", tuple(Node(f"n{i}", resources) for i in range(count)), delays_ms=DelayMatrix.of(delays)
    )


def test_edf_begins_as_near_to_the_source_as_there_is_room():
    assert near_its_inputs(APPLICATION, line()).items() == (
        ("count", Replicas.on("n2")),
        ("source", Replicas.on("n0")),
        ("split", Replicas.on("n1")),
    )


def test_where_everything_fits_on_one_node_it_is_put_there():
    assert near_its_inputs(APPLICATION, line(resources=3.0)).nodes() == ("n0",)


def test_a_pinned_operator_draws_what_leads_to_it():
    application = Application(
        "drawn",
        (
            Operator("source", Kind.SOURCE, pin="n2"),
            Operator("map"),
            Operator("sink", Kind.SINK, pin="n4"),
        ),
        (Stream("source", "map"), Stream("map", "sink")),
    )
    assert near_its_inputs(application, line())["map"] == Replicas.on("n3")


def test_the_farthest_of_its_inputs_decides():
    application = Application(
        "joined",
        (Operator("a", Kind.SOURCE, pin="n0"), Operator("b", Kind.SOURCE, pin="n4"), Operator("join")),
        (Stream("a", "join"), Stream("b", "join")),
    )
    assert near_its_inputs(application, line(resources=2.0))["join"] == Replicas.on("n2")


def test_e2df_begins_evenly_on_the_first_nodes():
    deployment = balanced(APPLICATION, nodes(8, 4.0), first=5, degrees={"split": 4, "count": 5})
    held = [sum(replicas[f"n{i}"] for _, replicas in deployment.items()) for i in range(8)]
    assert held == [2, 2, 2, 2, 2, 0, 0, 0]


def test_a_pin_beyond_the_first_nodes_is_used_for_what_is_pinned_there():
    pinned = Application(
        "pinned", (Operator("source", Kind.SOURCE, pin="n7"), Operator("map")), (Stream("source", "map"),)
    )
    deployment = balanced(pinned, nodes(8), first=1)
    assert (deployment["source"], deployment["map"]) == (Replicas.on("n7"), Replicas.on("n0"))


def test_who_is_pinned_goes_first():
    held = Application("held", (Operator("source", Kind.SOURCE), Operator("map", pin="n0")), (Stream("source", "map"),))
    assert balanced(held, nodes(2, 1.0), first=2)["source"] == Replicas.on("n1")


def test_by_default_there_are_as_few_replicas_as_allowed():
    assert all(len(replicas) == 1 for _, replicas in balanced(APPLICATION, nodes(8), first=3).items())


@pytest.mark.parametrize("begin", [near_its_inputs, balanced])
def test_what_does_not_fit_is_told(begin):
    with pytest.raises(InvalidModel, match="there is no room for operator"):
        begin(APPLICATION, nodes(2, 1.0))


def test_no_nodes_are_too_few_to_begin_on():
    with pytest.raises(ValueError, match="at least 1 node"):
        balanced(APPLICATION, nodes(), first=0)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_beginning_is_a_deployment_that_fits_or_there_is_no_room(data):
    infrastructure = data.draw(infrastructures(1, 4))
    application = data.draw(applications(tuple(infrastructure.index), 4))
    for begin in (near_its_inputs, balanced):
        try:
            deployment = begin(application, infrastructure)
        except InvalidModel as full:
            assert "no room" in str(full)
            continue
        assert deployment.mistakes(application, infrastructure.index) == []
        for node in infrastructure.nodes:
            used = sum(
                application.by_name[name].resources * replicas[node.name] for name, replicas in deployment.items()
            )
            assert used <= node.capacity + 1e-6
