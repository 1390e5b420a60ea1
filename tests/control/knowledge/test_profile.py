"""Profile of an application, learned from running it."""

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.control.still_world import APPLICATION, START

from rheostat.control.history.journal import from_line, to_line
from rheostat.control.knowledge.measured_values import MeasuredValues
from rheostat.control.knowledge.profile import FEWEST_HOPS, OperatorProfile, Profile
from rheostat.control.loop.ports import Entry
from rheostat.model.downtime.measured_pauses import ChangeWay, Measured, Pause
from rheostat.model.downtime.pause_and_resume import PauseAndResume
from rheostat.model.graph.latency import MM1, Constant, MicroBatch, Polynomial
from rheostat.model.graph.reconfiguration import Reconfiguration
from rheostat.model.observation import Sample, Subject

TRUE = MicroBatch(80.0, 200.0)


def samples(rate, *, replicas=1, response=None, true_rate=80.0, **others):
    figures = {"input_rate": rate, "latency_ms": TRUE.latency_ms(rate / replicas), **others}
    found = [Sample(Subject.operator("split"), 0.0, figures | ({"true_rate": true_rate} if true_rate else {}))]
    if response is not None:
        found.append(Sample(Subject.application("words"), 0.0, {"response_mean_ms": response}))
    return found


def learned(**others):
    profile = Profile()
    for rate in (10, 20, 30, 40, 50, 60):
        profile.add(samples(rate, **others), START)
    return profile


def test_micro_batches_are_recognised_by_their_points():
    fit = learned().operators["split"].fit()
    assert isinstance(fit.model, MicroBatch)
    assert (fit.model.capacity_tps, fit.model.fixed_ms) == (80.0, pytest.approx(200.0))
    assert fit.error_ms == pytest.approx(0.0, abs=1e-9)


def test_loads_are_per_replica():
    profile = Profile()
    two = START.having("split", START["split"].plus("n2"))
    for rate in (20, 40, 60, 80, 100, 120):
        profile.add(samples(rate, replicas=2), two)
    assert profile.operators["split"].fit().model.fixed_ms == pytest.approx(200.0)


def test_without_a_capacity_a_line_holds_as_far_as_it_was_measured():
    fit = learned(true_rate=None).operators["split"].fit()
    assert isinstance(fit.model, Polynomial)
    assert fit.model.latency_ms(61) == float("inf")


def test_too_little_says_nothing_and_the_declared_model_stays():
    profile = Profile()
    profile.add(samples(10), START)
    assert profile.operators["split"].fit() is None
    assert profile.applied_to(APPLICATION) == APPLICATION


def test_planners_get_what_was_measured():
    profile = learned(state_bytes=5000.0)
    measured = profile.applied_to(APPLICATION).by_name["split"]
    assert measured.latency.latency_ms(40) == pytest.approx(TRUE.latency_ms(40))
    assert measured.state_bytes == 5000.0
    assert profile.applied_to(APPLICATION).by_name["count"] == APPLICATION.by_name["count"]


def test_an_operator_that_is_behind_is_no_measurement():
    profile = Profile()
    profile.add(samples(10, lag_seconds=60.0), START)
    assert profile.operators["split"].points == []


def test_the_bound_of_an_operator_is_what_it_took_when_the_response_time_was_close_to_its_own():
    profile = Profile()
    for rate, response in ((10, 400.0), (40, 950.0), (70, 4000.0)):
        profile.add(samples(rate, response=response), START)
    assert profile.bounds_ms(1000.0) == {"split": pytest.approx(TRUE.latency_ms(40) * 1000 / 950)}
    assert Profile().bounds_ms(1000.0) == {}


def test_what_is_measured_at_different_looks_belongs_together_if_it_is_not_long_ago():
    """Batches are longer than the time between two looks: few looks see a response time and every operator."""
    profile = Profile()
    split, count = ({"latency_ms": ms} for ms in (50.0, 20.0))
    profile.add([Sample(Subject.operator("split"), 100.0, split)], START)
    profile.add([Sample(Subject.application("words"), 104.0, {"response_mean_ms": 990.0})], START)
    profile.add([Sample(Subject.operator("count"), 106.0, count)], START)
    assert profile.responses == [(990.0, {"split": 50.0}), (990.0, {"count": 20.0})]
    profile.add([Sample(Subject.operator("split"), 130.0, split)], START)
    assert len(profile.responses) == 2, "the response time is half a minute old"


def test_an_operator_that_is_not_measured_at_every_moment_has_a_bound_by_those_it_was():
    profile = Profile(responses=[(990.0, {"split": 50.0}), (500.0, {"count": 20.0}), (4000.0, {"count": 900.0})])
    bounds = profile.bounds_ms(1000.0)
    assert bounds == {"count": pytest.approx(40.0), "split": pytest.approx(50.0 * 1000 / 990)}


def test_downtimes_are_kept_by_kind():
    profile = Profile()
    more = START.having("split", START["split"].plus("n2"))
    profile.changed(Reconfiguration.between(START, more), 1.5, APPLICATION)
    assert profile.downtimes == {"scale-out": [1.5]}


def test_pauses_are_what_planners_expect_of_the_next_ones():
    profile = learned(state_bytes=2e6)
    spread = START.having("count", START["count"].plus("n3"))
    profile.operators["count"] = OperatorProfile(state_bytes=2e6)
    profile.changed(Reconfiguration.between(START, spread), 3.0, APPLICATION)
    profile.changed(Reconfiguration.between(START, START.having("split", START["split"].plus("n2"))), 1.5, APPLICATION)
    model = profile.knowledge(APPLICATION).downtime(PauseAndResume(99.0))
    assert isinstance(model, Measured)
    assert model.pauses[ChangeWay.REDISTRIBUTE].fixed_seconds == 3.0
    assert model.pauses[ChangeWay.STATELESS].fixed_seconds == 1.5
    assert model.unknown.fixed_seconds == 3.0, "a way that was never gone may be as bad as the worst"
    assert Profile().knowledge(APPLICATION).downtime(PauseAndResume(99.0)) == PauseAndResume(99.0)


def test_one_odd_measurement_of_the_capacity_is_outvoted():
    profile = learned()
    profile.add(samples(60, true_rate=400.0), START)
    assert profile.applied_to(APPLICATION).by_name["split"].latency.capacity_tps == 80.0


def test_until_the_capacity_is_known_the_declared_one_holds():
    profile = learned(true_rate=None)
    measured = profile.applied_to(APPLICATION).by_name["split"].latency
    assert measured.capacity_tps == APPLICATION.by_name["split"].latency.service_rate_tps
    assert measured.fixed_ms > 100.0, "but a batch takes what it took"
    undeclared = replace(
        APPLICATION, operators=tuple(replace(op, latency=Constant(1.0)) for op in APPLICATION.operators)
    )
    assert profile.applied_to(undeclared) == undeclared


@given(
    st.fixed_dictionaries(
        {
            "a": st.builds(Constant, st.floats(0, 1e4)) | st.builds(MM1, st.floats(0.1, 1e4)),
            "b": st.builds(MicroBatch, st.floats(0.1, 1e4), st.floats(0, 1e4)),
            "c": st.builds(
                Polynomial, st.lists(st.floats(0, 100), min_size=1).map(tuple), st.just(inf) | st.floats(1, 1e4)
            ),
        }
    ),
    st.none() | st.floats(0, 1e4),
    st.dictionaries(st.sampled_from(ChangeWay), st.builds(Pause, st.floats(0, 100), st.floats(0, 10))),
)
def test_what_a_plan_was_based_on_comes_back_from_the_journal(latencies, hop_ms, pauses):
    known = MeasuredValues(latencies, {"a": 7}, pauses, hop_ms)
    line = to_line(Entry("plan", 0.0, {"knowledge": known.to_plain()}))
    assert MeasuredValues.from_plain(from_line(line).facts["knowledge"]) == known


def test_a_profile_is_plain_data_and_comes_back(tmp_path):
    profile = learned(response=500.0)
    profile.changed(Reconfiguration.between(START, START.having("split", START["split"].plus("n2"))), 1.5, APPLICATION)
    profile.save(tmp_path / "profile.json")
    assert Profile.load(tmp_path / "profile.json") == profile
    assert Profile.load(tmp_path / "none.json") == Profile()


def test_it_does_not_grow_for_ever():
    profile = Profile()
    for number in range(2000):
        profile.add(samples(10 + number % 50, response=500.0), START)
    assert len(profile.operators["split"].points) <= 400
    assert len(profile.responses) <= 400


def test_hops_of_a_spark_that_is_not_warm_are_not_believed():
    profile, hop = Profile(), Subject.stream("split", "count")
    for number in range(FEWEST_HOPS):
        assert profile.knowledge(APPLICATION).hop_ms is None
        profile.add([Sample(hop, 0.0, {"hop_ms": 2000.0 if number < 10 else 120.0})], START)
    assert profile.knowledge(APPLICATION).hop_ms == 120.0


def test_in_a_chain_an_operator_is_as_slow_as_the_chain_and_only_alone_it_is_itself():
    profile = Profile()
    for rate in (2, 3, 4, 5, 6, 7):
        profile.add(samples(rate, true_rate=8.0), START, fused={"split"})
    assert profile.applied_to(APPLICATION).by_name["split"].latency.capacity_tps == 8.0, "nothing better is known"
    single = replace(APPLICATION, operators=tuple(replace(op, max_replicas=1) for op in APPLICATION.operators))
    assert profile.applied_to(single) == single, "who cannot be scaled is not blamed for others"
    for rate in (10, 20, 30, 40, 50, 60):
        profile.add(samples(rate), START)
    profile.add(samples(7, true_rate=8.0), START, fused={"split"})
    assert profile.applied_to(APPLICATION).by_name["split"].latency.capacity_tps == 80.0
    assert Profile.from_plain(profile.to_plain()) == profile
