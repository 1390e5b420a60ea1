"""Stalls, lags and silence are told, with since when; a deliberate pause is not."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.model.observation import Sample, Subject
from rheostat.runtime.metrics.round_trips import RoundTrip, delays_ms, folded
from rheostat.runtime.metrics.stalls import InstanceState, StallPatience, StallWatch, SymptomKind, silent_nodes
from rheostat.runtime.nodes.node_usage import Heartbeats, Usage, UsageMeter, measured_usage
from rheostat.runtime.plan.instance_spec import InstanceStatus

COUNT = Subject.instance("count", "n1")


def doing(planned=5, committed=5, backlog=0, lag=0.0, state="running", **more):
    return InstanceState(COUNT, InstanceStatus("count@n1", state, planned, committed, **more), backlog, lag)


def told(*moments, patience=None):
    """The symptoms at the last of (time, doing) moments."""
    watch, found = StallWatch(patience or StallPatience(stall_seconds=20, lag_seconds=15)), []
    for now, one in moments:
        found = watch.look([one], now)
    return found


@pytest.mark.parametrize(
    ("moments", "words"),
    [
        pytest.param([(0, doing(6)), (19, doing(6))], None, id="a batch may take its time"),
        pytest.param([(0, doing(6)), (21, doing(6))], "batch 6 was planned 21 s ago", id="a batch that does not end"),
        pytest.param([(0, doing(6)), (15, doing(7, 6)), (30, doing(7, 6))], None, id="the next batch has its own time"),
        pytest.param([(0, doing()), (15, doing(6)), (30, doing(6))], None, id="idleness is not the batch's time"),
        pytest.param([(0, doing()), (21, doing())], None, id="nothing to do is no stall"),
        pytest.param([(0, doing(backlog=5)), (25, doing(backlog=90))], "grew from 5 to 90", id="nobody reads"),
        pytest.param([(0, doing(backlog=50)), (25, doing(backlog=9))], None, id="somebody reads"),
        pytest.param(
            [(0, doing(resting=True, backlog=5)), (25, doing(resting=True, backlog=90, lag=25))],
            None,
            id="held on purpose",
        ),
        pytest.param([(0, doing(lag=16, backlog=7))], "oldest of 7 rows has waited for 16 s", id="lag"),
        pytest.param([(0, doing(state="failed", error="boom"))], "boom", id="a failure needs no patience"),
        pytest.param([(0, doing(state="stopped"))], None, id="a change stops instances for a while"),
        pytest.param(
            [(0, doing(state="stopped")), (30, doing(state="stopped"))], "does not run", id="but not for long"
        ),
    ],
)
def test_symptoms(moments, words):
    found = told(*moments)
    assert [words in str(symptom) for symptom in found] == ([] if words is None else [True])


def test_a_symptom_says_since_when_and_of_which_kind():
    (stalled,) = told((100, doing(6)), (130, doing(6)))
    assert (stalled.since_seconds, stalled.kind) == (100, SymptomKind.STALLED)
    assert told((0, doing(lag=16, backlog=7)))[0].kind is SymptomKind.LAGGING
    assert told((0, doing(state="failed", error="boom")))[0].kind is SymptomKind.DOWN
    assert silent_nodes({"n1": 12.0}, 100.0, 10.0)[0].kind is SymptomKind.SILENT
    (late,) = told((100, doing(lag=40.0, backlog=1)))
    assert late.since_seconds == 60


def test_an_instance_that_is_gone_is_forgotten():
    watch = StallWatch(StallPatience(stall_seconds=20))
    watch.look([doing(6)], 0)
    watch.look([], 10)
    assert watch.look([doing(6)], 25) == []


def test_a_silent_node_is_a_symptom():
    (one,) = silent_nodes({"n1": 3.0, "n2": 30.0}, 100.0, 10.0)
    assert (one.subject, one.since_seconds) == (Subject.node("n2"), 70.0)


def test_availability_is_the_share_of_heartbeats_in_time():
    beats = Heartbeats(0.0)
    beats.beat(1.0, in_time=True)
    beats.beat(2.0, in_time=False)
    beats.beat(3.0, in_time=False, answered=False)
    beats.beat(4.0, in_time=True)
    assert beats.figures(9.0) == {"heartbeat_age": 5.0, "availability": 0.5}
    assert Heartbeats(2.0).figures(9.0) == {"heartbeat_age": 7.0}


def test_a_node_is_measured_with_its_children():
    first = measured_usage()
    second = measured_usage()
    figures = second.figures(first)
    assert figures["memory_bytes"] > 1e6
    Sample(Subject.node("n1"), 1.0, figures)
    assert Usage.from_dict(second.to_dict()) == second


def test_nodes_of_one_process_are_measured_together_and_memory_now_and_then():
    now = [0.0]
    meter = UsageMeter(fresh_seconds=0.3, memory_seconds=10.0, clock=lambda: now[0])
    first = meter.usage()
    assert meter.usage() is first, "the next node asks the same at the same moment"
    kept = bytearray(b"x") * 50_000_000
    now[0] = 1.0
    second = meter.usage()
    assert second.at_seconds > first.at_seconds
    assert second.cpu_seconds >= first.cpu_seconds
    assert second.memory_bytes == first.memory_bytes
    now[0] = 10.0
    assert meter.usage().memory_bytes > first.memory_bytes + len(kept) / 2


def test_the_share_of_the_processors_needs_two_measurements_of_one_process():
    old = Usage(100.0, 50.0, 1.0, 9.0, 4.0)
    assert Usage(110.0, 70.0, 1.0, 9.0, 4.0).figures(old)["cpu"] == pytest.approx(0.5)
    assert "cpu" not in old.figures(None)
    assert "cpu" not in Usage(110.0, 2.0, 1.0, 9.0, 4.0).figures(old), "the process was started again"


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=3, max_size=6, unique=True), st.integers(0, 9)
)
def test_round_trips_of_a_plane_are_learned(places, seed):
    nodes = {f"n{number}": place for number, place in enumerate(places)}

    def trip(u, v):
        (a, b), (c, d) = nodes[u], nodes[v]
        return 1.0 + ((a - c) ** 2 + (b - d) ** 2) ** 0.5

    trips = [RoundTrip(u, v, trip(u, v)) for u in nodes for v in nodes if u != v]
    coordinates, random = {}, Random(seed)
    for _ in range(60):
        random.shuffle(trips)
        coordinates = folded(coordinates, trips, random)
    found = delays_ms(coordinates, nodes)
    assert found.keys() == {(u, v) for u in nodes for v in nodes if u != v}
    errors = sorted(abs(2 * delay - trip(*pair)) for pair, delay in found.items())
    assert errors[len(errors) // 2] <= 0.2 * max(trip(*pair) for pair in found)


def test_a_round_trip_that_is_none_moves_nobody():
    trips = [RoundTrip("a", "a", 5.0), RoundTrip("a", "b", 0.0), RoundTrip("a", "b", float("nan"))]
    assert folded({}, trips, Random(0)) == {}
