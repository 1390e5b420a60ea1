"""DS2's one step through the graph and Flink's capacity formula, worked out."""

import pytest
from tests.contracts.policy import ApplicationPolicyContract

from rheostat.policies.contract.policy_views import ApplicationView, OperatorView
from rheostat.policies.operators import flink
from rheostat.policies.operators.flink import Flink
from rheostat.policies.operators.true_rate import TrueRate, distance, replicas_for, target_rates


def operator(name, replicas=1, *, rate=None, true_rate=None, backlog=0.0, most=50, at=0.0):
    return OperatorView(name, at, replicas, 1, most, (), rate, None, true_rate, backlog)


def chain(*operators, factors=None, at=0.0):
    streams = zip(operators, operators[1:], factors or [1.0] * (len(operators) - 1), strict=False)
    return ApplicationView(at, operators, tuple((one.operator, two.operator, factor) for one, two, factor in streams))


class TestTrueRate:
    def wanted(self, view, **settings):
        proposals, _ = TrueRate(**settings).decide_all(view, None)
        return {name: proposal.wanted for name, proposal in proposals.items()}

    def test_all_operators_are_scaled_in_one_step_from_the_rate_of_the_source(self):
        view = chain(
            operator("source", rate=1000, true_rate=2000),
            # What it receives now is held back by its own slowness: that does not matter.
            operator("split", rate=300, true_rate=300),
            operator("count", rate=3000, true_rate=2500),
            factors=[1.0, 10.0],
        )
        assert self.wanted(view, utilization=1.0) == {"source": 1, "split": 4, "count": 4}

    def test_less_than_all_of_the_time_needs_more_replicas(self):
        view = chain(operator("source", rate=1000, true_rate=5000), operator("count", true_rate=100))
        assert self.wanted(view, utilization=0.5) == {"source": 1, "count": 20}

    def test_it_scales_in_by_the_same_rule(self):
        assert self.wanted(chain(operator("source", 9, rate=100, true_rate=100)), utilization=1.0) == {"source": 1}

    def test_rates_add_up_where_streams_meet(self):
        views = tuple(operator(name, rate=rate) for name, rate in (("a", 10), ("b", 5), ("c", None)))
        view = ApplicationView(0.0, views, (("a", "c", 2.0), ("b", "c", 4.0)))
        assert target_rates(view) == {"a": 10, "b": 5, "c": 40}

    def test_behind_an_unknown_source_nothing_is_known(self):
        view = chain(operator("source"), operator("count", rate=50, true_rate=10))
        assert target_rates(view) == {"source": None, "count": None}
        assert self.wanted(view) == {"source": 1, "count": 1}

    def test_bounds_are_kept(self):
        assert self.wanted(chain(operator("source", rate=1e9, true_rate=1, most=7))) == {"source": 7}

    @pytest.mark.parametrize("share", [0.0, 1.1])
    def test_a_utilization_that_is_none_is_refused(self, share):
        with pytest.raises(ValueError, match="utilization"):
            TrueRate(share)


@pytest.mark.parametrize(
    ("rate", "each", "replicas"),
    [(0.6, 0.2, 3), (100, 30, 4), (90, 30, 3), (0, 5, 1), (5, 0, 10**9), (1e308, 1e-308, 10**9)],
)
def test_an_exact_fit_needs_no_extra_replica(rate, each, replicas):
    assert replicas_for(rate, each) == replicas


def test_the_farther_the_greater_the_score():
    assert (distance(2, 2), distance(2, 4), distance(4, 1)) == (0, 0.5, 0.75)


class TestFlink:
    def decided(self, *views, **settings):
        policy = Flink(**{"scale_down_delay_seconds": 0.0, "restart_seconds": 0.0, **settings})
        memory, found = policy.begin(), []
        for view in views:
            proposals, memory = policy.decide_all(view, memory)
            found.append(proposals["count"].wanted)
        return found

    def seen(self, replicas, rate, at=0.0, backlog=0.0, true_rate=100):
        return chain(operator("count", replicas, rate=rate, true_rate=true_rate, backlog=backlog, at=at), at=at)

    def test_capacity_is_for_the_lag_the_restart_and_the_rate(self):
        assert flink.capacity(700, 1800, 1800, 0.7, 300) == pytest.approx(1 + 700 / 6 + 1000)
        assert flink.capacity(700, 0, 1800, 0.7) == pytest.approx(1000)

    @pytest.mark.parametrize(
        ("replicas", "rate", "wanted"),
        [
            pytest.param(10, 700, 10, id="at the target: hold"),
            pytest.param(10, 990, 10, id="within the band: hold"),
            pytest.param(10, 1010, 15, id="above the band: up to the target"),
            pytest.param(10, 410, 10, id="still within the band"),
            pytest.param(10, 390, 6, id="below the band: down to the target"),
            pytest.param(10, 0, 4, id="not more than 60 % less at once"),
        ],
    )
    def test_the_band(self, replicas, rate, wanted):
        assert self.decided(self.seen(replicas, rate)) == [wanted]

    def test_it_makes_room_for_what_a_restart_will_leave(self):
        assert self.decided(self.seen(10, 1050), restart_seconds=900.0) == [21]

    def test_a_lag_needs_capacity_to_catch_up(self):
        assert self.decided(self.seen(10, 900, backlog=198_000)) == [14]

    def test_a_little_backlog_is_no_lag(self):
        assert self.decided(self.seen(10, 390, backlog=400)) == [6]

    def test_it_never_scales_down_while_it_catches_up(self):
        assert self.decided(self.seen(10, 300, backlog=20_000)) == [10]

    def test_a_step_up_is_capped(self):
        assert self.decided(self.seen(2, 5000), max_scale_up_factor=1.0) == [4]
        assert self.decided(self.seen(1, 5000), max_scale_up_factor=0.5) == [2]

    def test_a_scale_down_waits_and_then_goes_to_the_most_that_was_recommended(self):
        views = [self.seen(10, rate, at=600.0 * i) for i, rate in enumerate([100, 350, 200, 100])]
        assert self.decided(*views, scale_down_delay_seconds=1800.0) == [10, 10, 10, 5]

    def test_a_scale_down_that_was_interrupted_begins_to_wait_again(self):
        views = [self.seen(10, rate, at=600.0 * i) for i, rate in enumerate([100, 700, 100, 100, 100])]
        assert self.decided(*views, scale_down_delay_seconds=1200.0) == [10, 10, 10, 10, 4]

    @pytest.mark.parametrize(
        "wrong",
        [
            {"utilization": 0.0},
            {"boundary": 0.7},
            {"catch_up_seconds": 0.0},
            {"restart_seconds": -1.0},
            {"max_scale_down_factor": 1.5},
        ],
    )
    def test_settings_that_make_no_sense_are_refused(self, wrong):
        with pytest.raises(ValueError, match="need"):
            Flink(**wrong)


class TestTrueRateContract(ApplicationPolicyContract):
    @pytest.fixture
    def policy(self):
        return TrueRate()


class TestFlinkContract(ApplicationPolicyContract):
    @pytest.fixture
    def policy(self):
        return Flink(scale_down_delay_seconds=40)
