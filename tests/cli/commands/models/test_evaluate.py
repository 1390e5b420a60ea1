"""`rheostat evaluate`: every metric, the change, and a verdict."""

import pytest

PEAK = ("clicks.yaml", "sites.yaml", "peak.yaml")
LEAN = ("clicks.yaml", "sites.yaml", "lean.yaml")


def test_the_metrics_are_those_of_the_formulas(rheostat):
    told = rheostat("evaluate", *PEAK, "--json").json
    latency = {"clicks": 0.2, "parse": 1000 / 800, "sessions": 1000 / 380, "alerts": 1000 / 860, "dashboard": 1 / 1.5}
    path = latency["clicks"] + 6 + latency["parse"] + 28 + latency["sessions"] + 22 + latency["dashboard"]
    assert told["ok"] is True
    assert told["operator_latency_ms"] == pytest.approx(latency)
    assert told["response_time_ms"] == pytest.approx(path)
    assert [step["operator"] for step in told["critical_path"]] == ["clicks", "parse", "sessions", "dashboard"]
    assert [step["delay_to_next_ms"] for step in told["critical_path"]] == [6, 28, 22, 0]
    assert told["cost_per_hour"] == pytest.approx(8 + 0.0005 * 600)


def test_the_keys_of_the_json_are_stable(rheostat):
    told = rheostat("evaluate", *PEAK, "--current", "lean.yaml", "--objective", "goals.yaml", "--json").json
    assert list(told) == [
        "ok",
        "reasons",
        "response_time_ms",
        "availability",
        "cost_per_hour",
        "traffic_tps",
        "network_usage",
        "elastic_energy",
        "critical_path",
        "operator_latency_ms",
        "saturated",
        "overloaded_nodes",
        "overloaded_links",
        "objective",
        "change",
        "mistakes",
    ]


def test_a_saturated_operator_is_a_no_and_its_latency_null(rheostat):
    answer = rheostat("evaluate", *LEAN, "--rate", 700, "--json")
    assert answer.code == 1
    assert answer.json["response_time_ms"] is None
    assert answer.json["saturated"] == ["sessions"]
    assert "operator sessions is saturated" in answer.json["reasons"][0]
    text = rheostat("evaluate", *LEAN, "--rate", 700)
    assert text.code == 1
    assert "no: operator sessions is saturated" in text.out


def test_overloaded_nodes_and_links_are_told(rheostat, tmp_path):
    crowded = tmp_path / "crowded.yaml"
    crowded.write_text(
        "kind: deployment\n"
        "operators: {clicks: edge, parse: {edge: 2}, sessions: {metro: 2}, alerts: edge, dashboard: cloud-a}\n"
    )
    answer = rheostat("evaluate", "clicks.yaml", "sites.yaml", crowded, "--rate", 900)
    assert answer.code == 1
    assert "no: node edge is overloaded: 4 of 2 resources" in answer.out
    assert rheostat("evaluate", *PEAK, "--rate", 2300, "--json").json["overloaded_links"] == []
    (link,) = rheostat("evaluate", *PEAK, "--rate", 2400, "--json").json["overloaded_links"]
    assert link == {"from": "edge", "to": "metro", "load_tps": pytest.approx(2040), "bandwidth_tps": 2000}
    assert (
        "no: link edge -> metro is overloaded: 2,040 of 2,000 tuples/s"
        in rheostat("evaluate", *PEAK, "--rate", 2400).out
    )


def test_an_objective_has_a_value_and_its_bounds_count(rheostat, tmp_path):
    told = rheostat("evaluate", *PEAK, "--objective", "goals.yaml", "--json").json
    assert told["objective"]["cost"] == pytest.approx(
        0.5 * told["response_time_ms"] / 120 + 0.2 * told["cost_per_hour"] / 12
    )
    strict = tmp_path / "strict.yaml"
    strict.write_text("kind: objective\nform: edrp\nweights: {response_time: 1}\nbounds: {response_time_ms: 50}\n")
    answer = rheostat("evaluate", *PEAK, "--objective", strict)
    assert answer.code == 1
    assert "no: bound broken: response_time_ms 60.7482 exceeds 50" in answer.out


def test_an_objective_without_normalisers_has_no_value_but_bounds(rheostat, tmp_path):
    goals = tmp_path / "goals.yaml"
    goals.write_text("kind: objective\nform: odp\nweights: {response_time: 1}\nbounds: {availability: 0.999}\n")
    answer = rheostat("evaluate", *PEAK, "--objective", goals, "--json")
    assert answer.code == 1
    assert answer.json["objective"]["utility"] is None
    assert "response_time_ms" in answer.json["objective"]["unknown"]
    assert answer.json["objective"]["broken_bounds"] == ["availability 0.984888 is below 0.999"]


def test_a_change_has_a_price(rheostat):
    told = rheostat("evaluate", *PEAK, "--current", "lean.yaml", "--json").json["change"]
    assert [(change["operator"], change["kind"]) for change in told["operators"]] == [
        ("parse", "scale-out"),
        ("sessions", "scale-out"),
    ]
    slower = rheostat("evaluate", *PEAK, "--current", "lean.yaml", "--sync-seconds", 3, "--json").json["change"]
    assert slower["downtime_seconds"] == pytest.approx(told["downtime_seconds"] + 2.75)
    restart = rheostat("evaluate", *PEAK, "--current", "lean.yaml", "--downtime", "full-restart", "--json").json[
        "change"
    ]
    assert restart["downtime_seconds"] > slower["downtime_seconds"]


def test_no_change_has_none(rheostat):
    answer = rheostat("evaluate", *PEAK, "--current", "peak.yaml")
    assert "change: none" in answer.out
    assert answer.code == 0


def test_a_hop_is_paid_between_queries_alone(rheostat):
    free = rheostat("evaluate", *LEAN, "--json").json["response_time_ms"]
    paid = rheostat("evaluate", *LEAN, "--hop-ms", 10, "--json").json["response_time_ms"]
    assert paid == pytest.approx(free + 20)


def test_the_verdict_comes_last(rheostat):
    assert rheostat("evaluate", *PEAK).out.splitlines()[-1] == "yes: every operator, node, link and bound is kept"


def test_the_order_of_files_does_not_matter(rheostat):
    swapped = rheostat("evaluate", "peak.yaml", "clicks.yaml", "sites.yaml", "--json")
    assert swapped.out == rheostat("evaluate", *PEAK, "--json").out
    assert "documents were taken by their kind" in swapped.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param((*PEAK, "--rate", "-1"), "--rate", id="a negative rate"),
        pytest.param((*PEAK, "--rate", "nan"), "--rate", id="a rate that is no number"),
        pytest.param((*PEAK, "--rate", "fast"), "--rate", id="a rate in words"),
        pytest.param((*PEAK, "--hop-ms", "inf"), "--hop-ms", id="an endless hop"),
        pytest.param((*PEAK, "--downtime", "full-restart"), "--current", id="the downtime of no change"),
        pytest.param((*PEAK, "--downtime", "never"), "full-restart", id="an unknown model"),
        pytest.param((*PEAK, "--current", "goals.yaml"), "not a deployment", id="a current that is none"),
        pytest.param((*PEAK, "--objective", "lean.yaml"), "not an objective", id="an objective that is none"),
        pytest.param(("clicks.yaml", "sites.yaml", "ansnet"), "and so does", id="two networks"),
        pytest.param(("clicks.yaml", "sites.yaml", "taxi-calm.yaml"), "is not deployed", id="of something else"),
        pytest.param(PEAK[:2], "Missing argument", id="too few"),
        pytest.param((*PEAK, "--current", "absent.yaml"), "no such file", id="a missing file"),
    ],
)
def test_wrong_use_is_told_without_a_traceback(rheostat, arguments, told):
    answer = rheostat("evaluate", *arguments)
    assert answer.code == 2
    assert told.lower() in " ".join(answer.err.lower().split())
    assert "Traceback" not in answer.err
    as_json = rheostat("evaluate", *arguments, "--json")
    assert as_json.code == 2
    assert as_json.json["ok"] is False
    assert as_json.json["mistakes"][0]["what"]
