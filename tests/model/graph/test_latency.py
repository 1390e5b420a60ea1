"""R_i(load): infinite when saturated, never negative, never falling with the load."""

from math import inf, isinf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import latency_models

from rheostat.model.graph.latency import MM1, Constant, Polynomial, Tabulated

LOADS = st.floats(0, 2000)


@given(latency_models(), LOADS, LOADS)
def test_more_load_is_never_quicker(model, one, other):
    assert model.latency_ms(min(one, other)) <= model.latency_ms(max(one, other)) + 1e-9


@given(latency_models(), LOADS)
def test_a_latency_is_never_negative(model, load):
    assert model.latency_ms(load) >= 0


@pytest.mark.parametrize(("load", "milliseconds"), [(0, 10.0), (50, 20.0), (99, 1000.0), (100, inf), (500, inf)])
def test_a_queue_is_infinite_from_saturation_on(load, milliseconds):
    assert MM1(100).latency_ms(load) == pytest.approx(milliseconds)


def test_a_polynomial_is_fitted_by_least_squares_and_ends_where_nothing_was_measured():
    curve = Polynomial.fit([0, 10, 20, 30], [1, 2, 5, 10], degree=2)
    assert curve.coefficients == pytest.approx((1.0, 0.0, 0.01), abs=1e-9)
    assert curve.latency_ms(20) == pytest.approx(5)
    assert isinf(curve.latency_ms(30.1))


def test_a_fit_takes_no_higher_degree_than_its_points_carry():
    assert Polynomial.fit([10, 10, 10], [4, 6, 5]).coefficients == pytest.approx((5.0,))
    assert Polynomial.fit([0, 10], [1, 2], degree=5).latency_ms(5) == pytest.approx(1.5)


def test_a_curve_that_dips_is_cut_off_at_zero():
    assert Polynomial((-5.0, 1.0)).latency_ms(2) == 0


def test_a_table_is_joined_by_lines():
    table = Tabulated((10, 20), (1, 3))
    assert [table.latency_ms(load) for load in (0, 10, 15, 20, 21)] == [1, 1, 2, 3, inf]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Constant(-1),
        lambda: Constant(float("nan")),
        lambda: MM1(0),
        lambda: MM1(inf),
        lambda: Polynomial(()),
        lambda: Polynomial((float("nan"),)),
        lambda: Polynomial((1.0,), 0),
        lambda: Tabulated((1, 1), (1, 2)),
        lambda: Tabulated((1, 2), (2, 1)),
        lambda: Tabulated((1,), (1, 2)),
        lambda: Tabulated((), ()),
        lambda: Polynomial.fit([], []),
    ],
)
def test_what_is_no_latency_is_refused(wrong):
    with pytest.raises(ValueError, match=r"need|must"):
        wrong()
