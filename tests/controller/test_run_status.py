"""The state of a run as it is shown: figures from samples, symptoms, and failures that restarts do not mend."""

import pytest
from tests.cli.quiet_nodes import WORDS

from rheostat.controller.run_status import RunStatus
from rheostat.model.graph.deployment import Deployment
from rheostat.model.observation import Sample, Subject
from rheostat.runtime.metrics.stalls import Symptom, SymptomKind
from rheostat.runtime.plan.instance_spec import InstanceStatus
from rheostat.runtime.plan.physical_plan import physical_plan

APART = physical_plan(WORDS, Deployment.of({"lines": {"n1": 1}, "split": {"n2": 2}, "out": {"n3": 1}}), 4)
TOGETHER = physical_plan(WORDS, Deployment.of({name: {"n1": 1} for name in ("lines", "split", "out")}), 4)
RUNNING = {one.name: InstanceStatus(one.name, "running", planned=4, committed=3) for one in APART.instances}


def status(*samples, now=100.0):
    looked = RunStatus(WORDS)
    looked.take([Sample(*sample) for sample in samples], now)
    return looked


def seen(*samples, plan=APART, statuses=RUNNING, now=100.0, **more):
    return status(*samples, now=now).look(plan, statuses, more.get("stand_ins", {}), more.get("symptoms", ()))


def test_rates_are_means_of_the_samples_of_the_last_ten_seconds():
    lines = Subject.operator("lines")
    rates = [(lines, at, {"output_rate": rate}) for at, rate in ((80, 900.0), (94, 40.0), (99, 60.0))]
    assert seen(*rates).sources == {"lines": 50.0}


def test_a_source_or_sink_that_does_not_tell_what_it_emits_is_told_by_what_it_takes_in():
    found = seen((Subject.operator("out"), 99, {"input_rate": 20.0}))
    assert (found.sources, found.sinks) == ({"lines": None}, {"out": 20.0})


def test_streams_tell_rate_and_backlog_and_nothing_waits_inside_a_query():
    first, second = Subject.stream("lines", "split"), Subject.stream("split", "out")
    known = [(first, 99, {"output_rate": 40.0, "backlog": 7.0}), (second, 99, {"backlog": 3.0})]
    one, other = seen(*known).streams
    assert one == {"from": "lines", "to": "split", "inside": False, "rate_tps": 40.0, "lag_rows": 7}
    assert other == {"from": "split", "to": "out", "inside": False, "rate_tps": None, "lag_rows": 3}
    one, _ = seen(*known, plan=TOGETHER).streams
    assert one == {"from": "lines", "to": "split", "inside": True, "rate_tps": None, "lag_rows": 0}


def test_what_was_measured_too_long_ago_is_not_shown():
    old = [
        (Subject.operator("split"), 10, {"utilization": 0.9}),
        (Subject.stream("lines", "split"), 10, {"output_rate": 1.0, "backlog": 5.0}),
    ]
    found = seen(*old)
    assert found.operators["split"] == {}
    assert (found.streams[0]["rate_tps"], found.streams[0]["lag_rows"]) == (None, None)


def test_response_times_are_those_of_the_application():
    figures = {"response_mean_ms": 500.04, "response_p50_ms": 400.0, "response_p95_ms": 900.0, "response_p99_ms": 950.0}
    found = seen((Subject.application("words"), 99, figures))
    assert found.response_ms == {"mean": 500.0, "p50": 400.0, "p95": 900.0, "p99": 950.0}
    assert seen().response_ms is None


def test_counters_and_sizes_are_not_averaged():
    split = Subject.operator("split")
    told = [(split, at, {"cpu_seconds": at, "state_rows": at, "lag_seconds": at, "utilization": at}) for at in (95, 99)]
    figures = seen(*told).operators["split"]
    assert figures == {"cpu_seconds": 99, "state_rows": 99, "lag_seconds": 99, "utilization": 97}


def test_instances_tell_where_they_run_and_one_that_is_not_known_is_starting():
    found = seen(statuses={}, stand_ins={"split@n2": "n3"}).instances
    places = {one["name"]: (one["state"], one["node"], one["runs_on"]) for one in found}
    assert places["split@n2"] == ("starting", "n2", "n3")
    assert places["out@n3"] == ("starting", "n3", "n3")


def test_symptoms_are_told_with_their_age():
    lag = Symptom(Subject.instance("split", "n2"), SymptomKind.LAGGING, "lag: the oldest of 9 rows", 84.0)
    (told,) = seen(symptoms=[lag]).symptoms
    assert told == {
        "subject": "instance split n2", "kind": "lagging", "what": "lag: the oldest of 9 rows", "seconds": 16.0
    }  # fmt: skip


@pytest.mark.parametrize(
    ("by_user", "told"),
    [pytest.param(True, ["no", "no"], id="the user's code"), pytest.param(False, ["", "no"], id="a restart may help")],
)
def test_a_failure_counts_at_once_if_no_restart_can_help_and_else_at_the_second_look(by_user, told):
    looked = status()
    failed = {"split@n2": InstanceStatus("split@n2", "failed", error="no", by_user=by_user)}
    looks = [looked.look(APART, failed, {}, ()).failures for _ in range(2)]
    assert ["".join(failures) for failures in looks] == told
    assert looked.look(APART, RUNNING, {}, ()).failures == []
