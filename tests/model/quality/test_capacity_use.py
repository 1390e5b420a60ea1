"""Used capacity counts every replica on its node, with the resources of its operator."""

import pytest

from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.graph.deployment import Deployment
from rheostat.model.network.resources import Infrastructure, Node
from rheostat.model.quality.capacity_use import used_capacity
from rheostat.model.quality.placed import Placed
from rheostat.model.quality.qos import resource_use

WORDS = Application(
    "words",
    (Operator("lines", Kind.SOURCE, rate_tps=1), Operator("count", resources=0.5, max_replicas=9)),
    (Stream("lines", "count"),),
)
DEPLOYED = Deployment.of({"lines": {"a": 1}, "count": {"a": 3, "c": 2}})


def test_every_replica_counts_where_it_is_and_an_empty_node_is_not_there():
    assert used_capacity(WORDS, DEPLOYED) == {"a": 2.5, "c": 1.0}


def test_the_formula_of_the_papers_is_the_same_by_the_order_of_nodes():
    network = Infrastructure("three", (Node("c", 4), Node("b", 4), Node("a", 4)))
    assert resource_use(Placed(WORDS, network, DEPLOYED)) == pytest.approx([1.0, 0.0, 2.5])
