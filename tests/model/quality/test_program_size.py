from itertools import combinations_with_replacement

import pytest

from rheostat.model.graph.application import Application, Kind, Operator, Stream
from rheostat.model.quality.program_size import ProgramSize, edrp_variables, multisets, odp_variables
from rheostat.reference.generators import fat, sequential
from rheostat.reference.taxi import taxi


def nodes(count):
    return [f"u{number}" for number in range(count)]


@pytest.mark.parametrize(("count", "replicas"), [(1, 1), (1, 4), (3, 2), (5, 3), (8, 4), (4, 0), (0, 3)])
def test_multisets_are_as_many_as_can_be_listed(count, replicas):
    listed = [m for size in range(1, replicas + 1) for m in combinations_with_replacement(range(count), size)]
    assert multisets(count, replicas) == len(listed)


@pytest.mark.parametrize(("count", "replicas"), [(-1, 2), (3, -1)])
def test_multisets_of_less_than_nothing_are_refused(count, replicas):
    with pytest.raises(ValueError, match=">= 0"):
        multisets(count, replicas)


@pytest.mark.parametrize("count", [2, 8, 15])
@pytest.mark.parametrize("replicas", [1, 2, 3])
def test_the_taxi_application_has_the_formula_fitted_to_table_iv(count, replicas):
    many = multisets(count, replicas)
    size = edrp_variables(taxi(max_replicas=replicas), nodes(count))
    assert size == ProgramSize(5 * many + 3 * count, 4 * many**2 + 4 * many * count + count**2)


@pytest.mark.parametrize(
    ("count", "replicas", "printed", "rounded"),
    [
        pytest.param(8, 2, 9.4, 9.5, id="8 nodes, k=2: 9.460 is printed as 9.4, cut off rather than rounded"),
        pytest.param(12, 2, 37.3, 37.4, id="12 nodes, k=2: 37.350 is a tie, printed as 37.3"),
        pytest.param(16, 2, 103.2, 103.2, id="16 nodes, k=2"),
        pytest.param(20, 2, 231.6, 231.6, id="20 nodes, k=2"),
        pytest.param(24, 2, 453.3, 453.3, id="24 nodes, k=2"),
        pytest.param(8, 3, 113.7, 113.7, id="8 nodes, k=3"),
        pytest.param(12, 3, 848.7, 848.7, id="12 nodes, k=3"),
        pytest.param(8, 4, 994.5, 994.5, id="8 nodes, k=4"),
    ],
)
def test_table_iv_of_edrp_in_thousands(count, replicas, printed, rounded):
    total = edrp_variables(taxi(max_replicas=replicas), nodes(count)).total
    assert (total + 50) // 100 / 10 == rounded  # half up
    assert printed in {rounded, total // 100 / 10}


@pytest.mark.parametrize(
    ("application", "count", "operator_variables", "stream_variables"),
    [
        pytest.param(sequential(50), 20, 1_000, 19_600, id="sequential, 50 operators on 20 nodes"),
        pytest.param(fat(50), 20, 1_000, 38_400, id="fat, 50 operators on 20 nodes"),
        pytest.param(sequential(20), 100, 2_000, 190_000, id="sequential, 20 operators on 100 nodes"),
        pytest.param(fat(20), 100, 2_000, 360_000, id="fat, 20 operators on 100 nodes"),
    ],
)
def test_the_counts_of_odp_7_3(application, count, operator_variables, stream_variables):
    assert odp_variables(application, nodes(count)) == ProgramSize(operator_variables, stream_variables)


def test_more_nodes_and_fewer_operators_give_2_38_times_the_stream_variables_as_odp_7_3_says_of_both_shapes_together():
    def growth(build):
        larger, smaller = odp_variables(build(20), nodes(50)), odp_variables(build(50), nodes(20))
        assert larger.operator_variables == smaller.operator_variables == 1_000
        return larger.stream_variables / smaller.stream_variables

    assert [round(growth(build), 2) for build in (sequential, fat)] == [2.42, 2.34]
    assert round((growth(sequential) + growth(fat)) / 2, 2) == 2.38


def test_pins_candidates_and_least_replicas_leave_fewer_variables():
    application = Application(
        "small",
        (
            Operator("a", Kind.SOURCE, pin="u0", max_replicas=3),
            Operator("b", candidates=("u1", "u2"), max_replicas=2),
            Operator("c", Kind.SINK, min_replicas=2, max_replicas=2),
        ),
        (Stream("a", "b"), Stream("b", "c")),
    )
    # a: u0 once, twice, thrice; b: two nodes once, three pairs; c: six pairs of three nodes.
    assert edrp_variables(application, nodes(3)) == ProgramSize(3 + 5 + 6, 3 * 5 + 5 * 6)
    assert odp_variables(application, nodes(3)) == ProgramSize(1 + 2 + 3, 2 + 6)


def test_a_pinned_taxi_application_does_not_fit_table_iv():
    many, count = multisets(8, 2), 8
    pinned = edrp_variables(taxi(pins=("u0", "u1")), nodes(count))
    assert pinned == ProgramSize(5 * many + count + 2, 4 * many**2 + 2 * many * count + 2 * many + count)
    assert pinned.total == 8_774  # where the paper has 9.4 thousand
