"""Laws of the pictures' geometry."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.cli.pictures.graph_layout import layer_of, layers, spread
from rheostat.cli.pictures.map_layout import neighbours, positions, without_overlaps
from rheostat.cli.views.graph_text import lanes
from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.reference import APPLICATIONS


@st.composite
def applications(draw: st.DrawFn) -> Application:
    """Any acyclic graph whose operators are reached."""
    size = draw(st.integers(1, 9))
    names = [f"o{i}" for i in range(size)]
    edges = [(i, j) for j in range(size) for i in range(j) if draw(st.booleans())]
    fed = {j for _, j in edges}
    operators = tuple(Operator(n, Kind.STATELESS if i in fed else Kind.SOURCE) for i, n in enumerate(names))
    return Application("any", operators, tuple(Stream(names[i], names[j]) for i, j in edges))


@given(applications())
def test_every_stream_points_to_a_later_layer(application):
    depth = layer_of(application)
    assert all(depth[stream.source] < depth[stream.target] for stream in application.streams)


@given(applications())
def test_no_two_operators_are_drawn_over_each_other(application):
    drawn = layers(application)
    by_layer: dict[float, list[float]] = {}
    for layer, row in drawn.places.values():
        by_layer.setdefault(layer, []).append(row)
    for rows in by_layer.values():
        assert all(b - a > 1 - 1e-6 for a, b in pairwise(sorted(rows)))


@given(applications())
def test_a_stream_takes_one_step_per_layer(application):
    drawn = layers(application)
    for (source, target), route in drawn.routes.items():
        assert route[0] == drawn.places[source]
        assert route[-1] == drawn.places[target]
        assert [layer for layer, _ in route] == list(np.arange(route[0][0], route[-1][0] + 1))


def test_a_chain_is_a_straight_line():
    drawn = layers(APPLICATIONS["sequential"]())
    rows = [row for layer, row in drawn.places.values() if 0 < layer < drawn.depth - 1]
    assert np.ptp(rows) < 1e-6


@given(applications())
def test_the_graph_in_the_terminal_has_every_operator_once_in_the_order_of_flow(application):
    drawn = lanes(application)
    assert [lane.operator for lane in drawn] == list(application.flow)
    assert all(lane.line.count("●") == 1 for lane in drawn)
    assert "│" not in drawn[-1].line or len(application.outputs[drawn[-1].operator]) > 0
    joins = sum(len(application.inputs[lane.operator]) > 1 for lane in drawn)
    assert sum(lane.join is not None for lane in drawn) == joins


@given(st.lists(st.tuples(st.floats(-9, 9), st.integers(1, 5)), min_size=1, max_size=12))
def test_spreading_keeps_order_and_distance(wanted):
    values, weights = zip(*wanted, strict=True)
    placed = spread(values, weights)
    assert all(b - a > 1 - 1e-6 for a, b in pairwise(placed))


@given(st.integers(1, 12), st.integers(0, 5))
def test_a_map_of_points_keeps_their_distances(size, seed):
    points = np.random.default_rng(seed).random((size, 2))
    delays = np.linalg.norm(points[:, None] - points[None], axis=-1)
    drawn = positions(delays)
    assert drawn.shape == (size, 2)
    assert np.isfinite(drawn).all()
    if size > 2:
        found = np.linalg.norm(drawn[:, None] - drawn[None], axis=-1)
        order = np.corrcoef(delays.ravel(), found.ravel())[0, 1]
        assert order > 0.8


@given(st.permutations(range(7)))
def test_the_order_of_the_nodes_does_not_turn_the_map(order):
    points = np.random.default_rng(3).random((7, 2))
    delays = np.linalg.norm(points[:, None] - points[None], axis=-1)
    assert np.allclose(positions(delays[np.ix_(order, order)]), positions(delays)[order], atol=1e-6)


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_a_network_without_shape_is_drawn_all_the_same(size):
    delays = np.full((size, size), 5.0)
    np.fill_diagonal(delays, 0.0)
    drawn = positions(delays)
    assert len({tuple(point) for point in drawn.round(6)}) == size


def test_boxes_are_clear_of_each_other():
    boxes = np.full((9, 4), 0.5)
    moved = without_overlaps(np.zeros((9, 2)), boxes)
    gaps = np.abs(moved[:, None] - moved[None]).max(axis=-1) + 9 * np.eye(9)
    assert gaps.min() > 1 - 1e-3


def test_neighbours_join_everything():
    points = np.random.default_rng(1).random((12, 2))
    pairs = neighbours(np.linalg.norm(points[:, None] - points[None], axis=-1))
    reached, frontier = {0}, [0]
    while frontier:
        here = frontier.pop()
        for pair in pairs:
            if here in pair:
                frontier += [end for end in pair if end not in reached]
                reached |= set(pair)
    assert reached == set(range(12))
