"""Networks: paths by shortest-path routing, loops perfect, mistakes told at once."""

from math import inf, nan

import numpy as np
import pytest

from rheostat.errors import InvalidModel
from rheostat.model.graph.application import Application, Kind, Operator
from rheostat.model.network.links import Link, LinkQuality
from rheostat.model.network.resources import DelayMatrix, Infrastructure, Node, StoreAccess

THREE = (Node("a"), Node("b"), Node("c"))


def test_a_path_adds_delays_and_prices_multiplies_availabilities_and_is_as_narrow_as_its_narrowest_link():
    network = Infrastructure(
        "line",
        THREE,
        (
            Link("a", "b", LinkQuality(10, 100, 0.1, 0.9, 50)),
            Link("b", "c", LinkQuality(5, 10, 0.2, 0.5, 80)),
            Link("a", "c", LinkQuality(100)),
        ),
    ).network
    assert network.delay_ms[0, 2] == 15
    assert network.price[0, 2] == pytest.approx(0.3)
    assert network.availability[2, 0] == pytest.approx(0.45)
    assert network.transfer_mbps[0, 2] == 10
    assert network.bandwidth_tps[0, 2] == 50


def test_links_may_go_one_way_and_the_way_back_is_another():
    ring = Infrastructure(
        "ring",
        THREE,
        tuple(Link(u, v, LinkQuality(10), both_ways=False) for u, v in (("a", "b"), ("b", "c"), ("c", "a"))),
    )
    assert ring.network.delay_ms.tolist() == [[0, 10, 20], [20, 0, 10], [10, 20, 0]]


def test_a_link_without_delay_is_a_link():
    line = Infrastructure("line", THREE, (Link("a", "b", LinkQuality(0)), Link("b", "c", LinkQuality(0))))
    assert line.network.delay_ms.tolist() == np.zeros((3, 3)).tolist()
    assert line.network.transfer_mbps[0, 2] == 100


def test_loops_are_perfect():
    network = Infrastructure("one", THREE, default_link=LinkQuality(9, 9, 9, 0.9, 9)).network
    assert np.diag(network.delay_ms).tolist() == [0] * 3
    assert np.diag(network.availability).tolist() == [1] * 3
    assert np.diag(network.bandwidth_tps).tolist() == [inf] * 3
    assert network.delay_ms[0, 1] == 9


def test_capacity_is_given_or_slots_times_executors():
    assert Node("a", worker_slots=2, executors_per_slot=4).capacity == 8
    assert Node("a", 2.5, worker_slots=9).capacity == 2.5


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        pytest.param({"nodes": ()}, "there is no node", id="empty"),
        pytest.param({"nodes": (*THREE, Node("a"))}, "used twice", id="a name twice"),
        pytest.param({"links": (Link("a", "d"),)}, "no node 'd'", id="a link to nowhere"),
        pytest.param({"links": (Link("a", "b"),)}, "'a' to 'c' and back", id="a node cut off"),
        pytest.param({"delays_ms": DelayMatrix(((0, 1), (1, 0)))}, "for each of the 3 nodes", id="a small matrix"),
        pytest.param({"delays_ms": DelayMatrix.of(np.full((3, 3), nan))}, "delays_ms.0.1: nan", id="no number"),
        pytest.param(
            {"delays_ms": DelayMatrix.of(np.ones((3, 3))), "links": (Link("a", "b"),)}, "both given", id="both"
        ),
        pytest.param({"store": StoreAccess(at="x")}, "store.at: there is no node 'x'", id="a store nowhere"),
        pytest.param({"nodes": (Node("a", speedup=0),)}, "speedup: 0", id="no speed"),
        pytest.param({"nodes": (Node("a", availability=1.5),)}, "not a probability", id="more than always up"),
        pytest.param({"default_link": LinkQuality(-1)}, "default_link.delay_ms: -1", id="a negative delay"),
        pytest.param({"default_link": LinkQuality(transfer_mbps=0)}, "not a number > 0", id="no rate"),
    ],
)
def test_what_contradicts_itself_is_refused(wrong, reason):
    with pytest.raises(InvalidModel, match=reason):
        Infrastructure(**{"name": "wrong", "nodes": THREE, **wrong})


def test_pins_and_candidates_elsewhere_are_told():
    application = Application(
        "pinned",
        (Operator("s", Kind.SOURCE, pin="aa"), Operator("t", Kind.SOURCE, candidates=("b", "z"))),
    )
    told = [str(mistake) for mistake in Infrastructure("net", THREE).mistakes_of(application)]
    assert [text.split(":")[0] for text in told] == ["operators.0.pin", "operators.1.candidates.1"]
